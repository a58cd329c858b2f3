//! Linked editing: spans of a document that have the same text and change together.

use base::{AbsPath, ByteOffset, Span};
use serde_json::Value;

use crate::answer::{AnswerError, Reading, parse_value};
use crate::hover::position_params;
use crate::range::WireRange;
use crate::request::Request;
use crate::request_document::RequestDocument;
use crate::server::LanguageServer;
use crate::violations::{Violation, Violations};

/// Maximum number of spans in one answer.
const MAX_SPANS: usize = 100;

impl LanguageServer {
    /// Asks for the spans that change together with the one at `offset`, such as the names of an
    /// opening and a closing tag. They are sorted; empty if there are none.
    pub fn linked_spans(&self, path: &AbsPath, offset: ByteOffset) -> Option<Request<Vec<Span>>> {
        let params = |document: &RequestDocument| position_params(document, offset);
        let method = "textDocument/linkedEditingRange";
        self.ask_document(method, path, params, read_spans)
    }
}

/// Reads the spans. Since they must change together, a part of them is of no use.
fn read_spans(
    json: &str,
    document: &RequestDocument,
    violations: &mut Violations,
) -> Result<Vec<Span>, AnswerError> {
    let answer = parse_value(json)?;
    if !answer.is_object() && !answer.is_null() {
        return Err(AnswerError::new("neither an object nor null"));
    }
    let ranges = answer.get("ranges").and_then(Value::as_array);
    let ranges = ranges.map_or(&[][..], Vec::as_slice);
    if ranges.len() > MAX_SPANS {
        return Ok(Vec::new());
    }
    let mut spans = Vec::with_capacity(ranges.len());
    for range in ranges {
        let Some(range) = WireRange::of(range) else {
            violations.count(Violation::MalformedItem, 1);
            return Ok(Vec::new());
        };
        match Reading::new(document, violations).wire_span(range) {
            Some(span) => spans.push(span),
            None => return Ok(Vec::new()),
        }
    }
    spans.sort();
    Ok(spans)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::read_spans;
    use crate::testing::{document, violations_of};

    fn check(answer: Value, expected: &[(usize, usize)]) {
        let document = document("<é></é>");
        let read = |it: &mut _| read_spans(&answer.to_string(), &document, it);
        let (spans, _) = violations_of(|it| read(it).expect("an answer"));
        let spans: Vec<_> = spans.iter().map(|it| (it.start.0, it.end.0)).collect();
        assert_eq!(spans, expected, "{answer}");
    }

    #[test]
    fn all_spans_are_read_or_none() {
        let range = |from: u32, to: u32| json!({ "start": { "line": 0, "character": from }, "end": { "line": 0, "character": to } });
        check(
            json!({ "ranges": [range(5, 6), range(1, 2)] }),
            &[(1, 3), (6, 8)],
        );
        check(json!({ "ranges": [range(1, 2), { "start": 7 }] }), &[]);
        check(json!({ "ranges": 7 }), &[]);
        check(Value::Null, &[]);
    }
}
