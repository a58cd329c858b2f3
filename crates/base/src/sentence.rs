//! Turns an error or a reason into a sentence.

/// Returns a text with a capital first letter and a full stop, unless it already ends a sentence. An
/// empty text stays empty.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else {
        return String::new();
    };
    let stop = if text.ends_with(['.', '!', '?', '\u{2026}']) {
        ""
    } else {
        "."
    };
    format!("{}{}{stop}", first.to_uppercase(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_has_a_capital_and_one_stop() {
        for (text, expected) in [
            ("", ""),
            ("it runs a program", "It runs a program."),
            ("Already whole.", "Already whole."),
            ("which one?", "Which one?"),
            ("\u{e9}t\u{e9}", "\u{c9}t\u{e9}."),
        ] {
            assert_eq!(sentence(text), expected);
        }
    }
}
