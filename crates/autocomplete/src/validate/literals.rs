//! Comments and strings that are still open at the end of a text.
//!
//! Limitation: quotes are counted without the parser, so a quote in a comment counts as well. A
//! wrong closer costs a parse and changes no verdict.

use syntax::Language;

/// Returns the closers of what may be open at the end of a text: a block comment, or a string of
/// several rows or of the last one.
pub(super) fn closers(language: Language, text: &str) -> Vec<&'static str> {
    let last_row = text.rsplit('\n').next().unwrap_or_default();
    let config = language.config();
    let mut closers: Vec<&str> = config
        .block_comment
        .filter(|(open, close)| is_open(text, open, close))
        .map(|(_, close)| close)
        .into_iter()
        .collect();
    let thrice = ["\"\"\"", "\'\'\'"];
    closers.extend(thrice.into_iter().filter(|quote| is_odd(text, quote)));
    for (quote, sign) in [("`", '`'), ("\"", '"'), ("'", '\'')] {
        let is_long = sign == '`' || config.multi_row_quotes.contains(sign);
        let within = if is_long { text } else { last_row };
        if is_odd(within, quote) {
            closers.push(quote);
        }
    }
    closers
}

/// Whether the last opener of a comment has no closer after it.
fn is_open(text: &str, open: &str, close: &str) -> bool {
    let start = text.rfind(open);
    start.is_some_and(|start| !text[start + open.len()..].contains(close))
}

/// Whether a text has an odd number of these quotes, without escaped ones.
pub(super) fn is_odd(text: &str, quote: &str) -> bool {
    let is_escaped = |at: usize| {
        let before = text[..at].bytes().rev();
        before.take_while(|byte| *byte == b'\\').count() % 2 == 1
    };
    let quotes = text.match_indices(quote);
    quotes.filter(|(at, _)| !is_escaped(*at)).count() % 2 == 1
}

#[cfg(test)]
mod tests;
