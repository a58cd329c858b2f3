//! Extracts the context window from refusals of long prompts.

use model::TokenCount;

use super::body::ErrorBody;

/// Phrases before the number.
const BEFORE: &[&str] = &[
    "maximum context length is",
    "maximum context length of",
    "maximum prompt length is",
    "context length of only",
    "context length of",
    "context length is",
    "context length (",
    "context size (",
    "context size of",
    "context size is",
    "context window of",
    "context window is",
    "context window (",
    "context limit of",
    "context limit is",
    "n_ctx =",
    "n_ctx:",
    "n_ctx",
    "number of tokens allowed (",
    "tokens allowed (",
    "limit of",
    "limit is",
];
/// Phrases after the number.
const BEHIND: &[&str] = &[
    " maximum",
    " token limit",
    " tokens maximum",
    " token context",
];
/// Smaller numbers are not a context window.
const MIN_WINDOW_TOKENS: u64 = 256;

/// Returns the context window in tokens; `None` if the refusal does not state it.
pub(super) fn stated_window(body: &ErrorBody) -> Option<TokenCount> {
    let words = body.message.to_lowercase();
    let before = BEFORE.iter().filter_map(|word| {
        let at = words.find(word)? + word.len();
        number(words[at..].trim_start_matches([' ', ':', '=', '(']))
    });
    let behind = BEHIND.iter().filter_map(|word| {
        let at = words.find(word)?;
        let is_digit = |letter: char| letter.is_ascii_digit() || letter == ',';
        let begin = words[..at].trim_end_matches(is_digit).len();
        number(&words[begin..at])
    });
    let mut sizes = body.window.into_iter().chain(before).chain(behind);
    sizes
        .find(|window| *window >= MIN_WINDOW_TOKENS)
        .map(TokenCount)
}

/// Parses a leading number, whose digits may be grouped by commas.
fn number(text: &str) -> Option<u64> {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != ',');
    let digits = text[..end.unwrap_or(text.len())].replace(',', "");
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expected: Option<u64>) {
        let found = stated_window(&ErrorBody::read(body.as_bytes()));
        assert_eq!(found, expected.map(TokenCount), "{body}");
    }

    #[test]
    fn context_window_is_extracted_for_every_server() {
        check(
            "prompt is too long: 210000 tokens > 200000 maximum",
            Some(200_000),
        );
        check(
            "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the \
             messages, 1000 in the completion).",
            Some(4096),
        );
        check(
            r#"{"error":{"message":"the request exceeds the available context size","n_ctx":8192}}"#,
            Some(8192),
        );
        check(
            "the model is loaded with context length of only 4096 tokens",
            Some(4096),
        );
        check(
            "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
            Some(131_072),
        );
        check(
            "The input token count (9000) exceeds the maximum number of tokens allowed (8000).",
            Some(8000),
        );
        check(
            "requested tokens (9) exceed context window of 32,768",
            Some(32_768),
        );
        check("your input exceeds the context window", None);
        check("context window is 12", None);
    }
}
