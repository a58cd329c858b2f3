//! Where a text that is unfinished may stop: where people break a line.
//!
//! People break a line after an opening bracket, a separator or an operator, or between whole parts
//! of an expression, but not after the first element of a bracket that the same line opens, nor
//! inside a string of one line.

use super::literals::is_odd;
use super::suffix::is_word;
use super::trial::Trial;

/// Whether an unfinished suggestion stops where a line can end. `own` are the brackets that it
/// leaves open, the outermost first; `literal` closes the comment or the string in which it stops.
pub(super) fn is_line_end(trial: &Trial, own: &[(usize, char)], literal: &str) -> bool {
    let new = trial.new.trim_end();
    let last_row = new.rfind('\n').map_or(0, |at| at + 1);
    let row_start = trial.prefix.len() + last_row;
    let ends_in_operand = new
        .chars()
        .next_back()
        .is_some_and(|ch| is_word(ch) || matches!(ch, '"' | '\'' | '`' | ')' | ']' | '}'));
    let is_within = own.iter().any(|(at, _)| *at >= row_start);
    let is_cut = is_within && ends_in_operand || opens_string(trial, &new[last_row..], literal);
    !is_cut
}

/// Whether the last row of the new text opens a string and does not close it, in a language whose
/// strings end with the row. A single quote may also be an apostrophe, so it counts only if
/// `literal`, which closes what is open, is one.
fn opens_string(trial: &Trial, row: &str, literal: &str) -> bool {
    let quote = if literal == "'" { "'" } else { "\"" };
    if trial.language.config().multi_row_quotes.contains(quote) {
        return false;
    }
    let begun = if trial.new.contains('\n') {
        ""
    } else {
        trial.begun()
    };
    let opens = |text: &str| is_odd(&text.replace("\"\"\"", ""), quote);
    opens(row) && !opens(begun)
}

#[cfg(test)]
mod tests;
