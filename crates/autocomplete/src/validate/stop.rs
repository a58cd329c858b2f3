//! Where a text that is unfinished may stop: where people break a line.
//!
//! People break a line after an opening bracket, a separator or an operator, or between whole parts
//! of an expression, but not after the first element of a bracket that the same line opens, nor
//! inside a string of one line.

use super::suffix::is_word;
use super::trial::Trial;

/// Whether an unfinished suggestion stops where a line can end. `own` are the brackets that it
/// leaves open, the outermost first.
pub(super) fn is_line_end(trial: &Trial, own: &[(usize, char)]) -> bool {
    let new = trial.new.trim_end();
    let last_row = new.rfind('\n').map_or(0, |at| at + 1);
    let row_start = trial.prefix.len() + last_row;
    let ends_in_operand = new
        .chars()
        .next_back()
        .is_some_and(|ch| is_word(ch) || matches!(ch, '"' | '\'' | '`' | ')' | ']' | '}'));
    let is_within = own.iter().any(|(at, _)| *at >= row_start);
    let is_cut = is_within && ends_in_operand || is_in_string(trial, &new[last_row..]);
    !is_cut
}

/// Whether the new text opens a string on its last row and does not close it, in a language whose
/// strings end with the row.
fn is_in_string(trial: &Trial, row: &str) -> bool {
    if trial.language.config().multi_row_quotes.contains('"') {
        return false;
    }
    let head = if trial.new.contains('\n') {
        ""
    } else {
        trial.begun()
    };
    quotes(row) % 2 == 1 && (quotes(head) + quotes(row)) % 2 == 1
}

/// Returns the number of double quotes in a row, without escaped and threefold ones.
fn quotes(row: &str) -> usize {
    row.replace("\"\"\"", "")
        .replace("\\\\", "")
        .replace("\\\"", "")
        .matches('"')
        .count()
}

#[cfg(test)]
mod tests;
