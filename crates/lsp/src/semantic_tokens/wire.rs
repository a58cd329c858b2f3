//! Semantic tokens in the form of the protocol: five numbers for each, relative to the token before.

use base::{Row, Span};
use gen_lsp_types::Position;
use serde::Deserialize;

use super::SemanticToken;
use crate::answer::AnswerError;
use crate::request_document::RequestDocument;
use crate::violations::{Violation, Violations};

/// Maximum length of an answer, in bytes.
const MAX_JSON: usize = 32 << 20;
/// Maximum number of tokens.
const MAX_TOKENS: usize = 500_000;
/// Maximum number of edits in one answer.
const MAX_EDITS: usize = 100_000;
/// Numbers of one token.
const NUMBERS: usize = 5;

/// The tokens of an answer.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireTokens {
    #[serde(default)]
    pub(super) result_id: Option<String>,
    #[serde(default)]
    pub(super) data: Vec<u32>,
}

/// The difference from an earlier answer, or all tokens.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireEdits {
    #[serde(default)]
    result_id: Option<String>,
    /// Present if the server sends all tokens.
    #[serde(default)]
    data: Option<Vec<u32>>,
    #[serde(default)]
    edits: Vec<WireEdit>,
}

/// A replacement of numbers of the earlier answer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireEdit {
    start: usize,
    delete_count: usize,
    #[serde(default)]
    data: Vec<u32>,
}

impl WireTokens {
    /// Reads an answer; no tokens for `null`.
    pub(super) fn read(json: &str) -> Result<Self, AnswerError> {
        let tokens: Option<Self> = parse(json)?;
        tokens.unwrap_or_default().checked()
    }

    fn checked(self) -> Result<Self, AnswerError> {
        if self.data.len() > MAX_TOKENS * NUMBERS {
            return Err(AnswerError::new("it has too many tokens"));
        }
        Ok(self)
    }
}

impl WireEdits {
    /// Reads an answer; no tokens for `null`.
    pub(super) fn read(json: &str) -> Result<Self, AnswerError> {
        let edits: Option<Self> = parse(json)?;
        let no_tokens = || Self {
            data: Some(Vec::new()),
            ..Self::default()
        };
        Ok(edits.unwrap_or_else(no_tokens))
    }

    /// Returns all tokens, given the numbers of the earlier answer.
    pub(super) fn applied_to(self, before: &[u32]) -> Result<WireTokens, AnswerError> {
        let result_id = self.result_id;
        if let Some(data) = self.data {
            return WireTokens { result_id, data }.checked();
        }
        let mut edits = self.edits;
        if edits.len() > MAX_EDITS {
            return Err(AnswerError::new("it has too many edits"));
        }
        // All edits refer to the earlier answer. The sort is stable for insertions at one place.
        edits.sort_by_key(|edit| edit.start);
        let mut data = Vec::with_capacity(before.len());
        let mut copied = 0;
        for edit in &edits {
            let kept = before.get(copied..edit.start);
            let end = edit.start.checked_add(edit.delete_count);
            let end = end.filter(|end| *end <= before.len());
            let (Some(kept), Some(end)) = (kept, end) else {
                return Err(AnswerError::new("an edit lies beyond the tokens"));
            };
            data.extend_from_slice(kept);
            data.extend_from_slice(&edit.data);
            copied = end;
        }
        data.extend_from_slice(&before[copied..]);
        WireTokens { result_id, data }.checked()
    }
}

fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, AnswerError> {
    if json.len() > MAX_JSON {
        return Err(AnswerError::new("it is too long"));
    }
    if json.trim_start().starts_with('[') {
        return Err(AnswerError::new("a list instead of an object"));
    }
    Ok(serde_json::from_str(json)?)
}

/// Converts the numbers to tokens. One that is empty, overlaps the token before, or lies beyond the text is omitted
/// and counted.
pub(super) fn decode(
    data: &[u32],
    document: &RequestDocument,
    violations: &mut Violations,
) -> Vec<SemanticToken> {
    let (text, encoding) = (&document.text, document.encoding);
    let mut tokens: Vec<SemanticToken> = Vec::with_capacity(data.len() / NUMBERS);
    let (mut line, mut character) = (0_u32, 0_u32);
    for numbers in data.chunks_exact(NUMBERS) {
        if numbers[0] > 0 {
            character = 0;
        }
        line = line.saturating_add(numbers[0]);
        character = character.saturating_add(numbers[1]);
        if Row(line) > text.last_row() {
            violations.count(Violation::PositionBeyondText, 1);
            continue;
        }
        let at = |character: u32| {
            let position = Position { line, character };
            // The row lies within the text.
            encoding.offset(text, position).unwrap_or(text.len())
        };
        let span = Span::new(at(character), at(character.saturating_add(numbers[2])));
        let is_after = tokens.last().is_none_or(|last| last.span.end <= span.start);
        if span.is_empty() || !is_after {
            violations.count(Violation::MalformedItem, 1);
            continue;
        }
        tokens.push(SemanticToken {
            span,
            token_type: numbers[3],
            modifiers: numbers[4],
        });
    }
    tokens
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{WireEdits, WireTokens, decode};
    use crate::position::PositionEncoding;
    use crate::testing::{document, violations_of};

    fn decoded(text: &str, encoding: PositionEncoding, data: &[u32]) -> (Vec<String>, Vec<String>) {
        let mut document = document(text);
        document.encoding = encoding;
        let (tokens, violations) = violations_of(|it| decode(data, &document, it));
        let texts = tokens.iter().map(|token| {
            let text = document.text.text(token.span);
            format!("{text}:{}:{}", token.token_type, token.modifiers)
        });
        (texts.collect(), violations)
    }

    #[test]
    fn positions_count_in_the_encoding_of_the_server() {
        let text = "let 𝄞é = ab;\n\nfn é()";
        for (encoding, data) in [
            (
                PositionEncoding::Utf8,
                [0, 4, 6, 1, 0, 0, 9, 2, 2, 3, 2, 3, 2, 5, 0],
            ),
            (
                PositionEncoding::Utf16,
                [0, 4, 3, 1, 0, 0, 6, 2, 2, 3, 2, 3, 1, 5, 0],
            ),
            (
                PositionEncoding::Utf32,
                [0, 4, 2, 1, 0, 0, 5, 2, 2, 3, 2, 3, 1, 5, 0],
            ),
        ] {
            let (tokens, violations) = decoded(text, encoding, &data);
            assert_eq!(tokens, ["𝄞é:1:0", "ab:2:3", "é:5:0"], "{encoding:?}");
            assert!(violations.is_empty(), "{violations:?}");
        }
    }

    #[test]
    fn a_bad_token_hides_no_other() {
        let data = [
            0, 0, 2, 1, 0, // ab
            0, 1, 1, 2, 0, // overlaps
            0, 1, 0, 3, 0, // empty
            0, 1, 99, 4, 0, // beyond the end of its row
            9, 0, 1, 5, 0, // beyond the text
            1, 2, // incomplete
        ];
        let (tokens, violations) = decoded("ab cd\n", PositionEncoding::Utf16, &data);
        assert_eq!(tokens, ["ab:1:0", "cd:4:0"]);
        assert_eq!(violations, ["1 out-of-range position", "2 malformed items"]);
    }

    fn check(before: &[u32], answer: Value, expected: Option<&[u32]>) {
        let edits = WireEdits::read(&answer.to_string());
        let applied = edits.and_then(|edits| edits.applied_to(before));
        let data = applied.ok().map(|tokens| tokens.data);
        assert_eq!(data.as_deref(), expected, "{answer}");
    }

    #[test]
    fn edits_refer_to_the_earlier_answer() {
        let before = [1, 2, 3, 4, 5];
        let edit = |start: u32, count: u32, data: &[u32]| json!({ "start": start, "deleteCount": count, "data": data });
        check(&before, json!({ "edits": [] }), Some(&before));
        let edits = json!([edit(4, 1, &[]), edit(0, 2, &[9, 9, 9])]);
        check(
            &before,
            json!({ "resultId": "2", "edits": edits }),
            Some(&[9, 9, 9, 3, 4]),
        );
        check(
            &before,
            json!({ "edits": [{ "start": 5, "deleteCount": 0 }] }),
            Some(&before),
        );
        check(&before, json!({ "data": [7] }), Some(&[7]));
        check(&before, Value::Null, Some(&[]));
        check(&before, json!({ "edits": [edit(4, 2, &[])] }), None);
        check(
            &before,
            json!({ "edits": [edit(0, 3, &[]), edit(2, 1, &[])] }),
            None,
        );
        check(
            &before,
            json!({ "edits": [{ "start": -1, "deleteCount": 0 }] }),
            None,
        );
        check(&before, json!([]), None);
    }

    #[test]
    fn numbers_of_an_answer_are_read_or_refused() {
        let read = |json: &str| WireTokens::read(json).map(|tokens| tokens.data);
        assert!(read("null").expect("none").is_empty());
        assert_eq!(
            read(r#"{"data":[0,1,2,3,4]}"#).expect("five"),
            [0, 1, 2, 3, 4]
        );
        for malformed in [r#"{"data":[-1]}"#, r#"{"data":["a"]}"#, "[[]]", "7"] {
            assert!(read(malformed).is_err(), "{malformed}");
        }
    }
}
