//! Places at which an unfinished text may stop: those at which people break a line.
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

/// Whether the last row of the new text opens the string that `quote` closes, in a language whose
/// strings end with the row.
fn opens_string(trial: &Trial, row: &str, quote: &str) -> bool {
    // Some grammars read an open string as a whole one.
    let quote = if quote.is_empty() { "\"" } else { quote };
    let multi_row = trial.language.config().multi_row_quotes;
    if !matches!(quote, "\"" | "'") || quote.chars().any(|sign| multi_row.contains(sign)) {
        return false;
    }
    let begun = if trial.new.contains('\n') {
        ""
    } else {
        trial.begun()
    };
    is_odd(row, quote) && !is_odd(begun, quote)
}

#[cfg(test)]
mod tests;
