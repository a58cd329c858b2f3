//! Hovers: descriptions of a symbol.

use base::{AbsPath, ByteOffset, Span};
use serde_json::{Value, json};

use crate::answer::{AnswerError, Reading, parse_value};
use crate::markup::MarkupText;
use crate::range::position_value;
use crate::request::Request;
use crate::request_document::RequestDocument;
use crate::server::LanguageServer;
use crate::violations::Violations;

/// The description of a part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The description.
    pub text: MarkupText,
    /// The described part of the request's text; `None` if the server does not name it.
    pub span: Option<Span>,
}

impl LanguageServer {
    /// Asks for a description of the symbol at `offset` of the text that was passed on last. The
    /// answer is `None` where there is nothing to describe.
    pub fn hover(&self, path: &AbsPath, offset: ByteOffset) -> Option<Request<Option<Hover>>> {
        let params = |document: &RequestDocument| position_params(document, offset);
        self.ask_document("textDocument/hover", path, params, read_hover)
    }
}

/// Returns the parameters that name a position.
pub(crate) fn position_params(document: &RequestDocument, offset: ByteOffset) -> Option<Value> {
    let position = position_value(&document.text, offset, document.encoding);
    Some(json!({ "position": position }))
}

fn read_hover(
    json: &str,
    document: &RequestDocument,
    violations: &mut Violations,
) -> Result<Option<Hover>, AnswerError> {
    let hover = parse_value(json)?;
    let contents = match &hover {
        Value::Null => return Ok(None),
        Value::Object(hover) => hover.get("contents").unwrap_or(&Value::Null),
        _ => return Err(AnswerError::new("neither an object nor null")),
    };
    let Some(text) = MarkupText::contents(contents) else {
        return Ok(None);
    };
    let range = hover.get("range").filter(|range| !range.is_null());
    let span = range.and_then(|range| Reading::new(document, violations).span(range));
    Ok(Some(Hover { text, span }))
}

#[cfg(test)]
mod tests {
    use base::Span;
    use serde_json::{Value, json};

    use super::read_hover;
    use crate::testing::{document, violations_of};

    fn check(answer: Value, text: Option<&str>, span: Option<Span>, violations: &[&str]) {
        let (hover, counted) = violations_of(|violations| {
            read_hover(&answer.to_string(), &document("let é = 1\n"), violations).expect("a hover")
        });
        let hover = hover.as_ref();
        assert_eq!(hover.map(|it| it.text.value.as_str()), text, "{answer}");
        assert_eq!(hover.and_then(|it| it.span), span, "{answer}");
        assert_eq!(counted, violations, "{answer}");
    }

    fn range(row: u32, start: u32, end: u32) -> Value {
        json!({ "start": { "line": row, "character": start }, "end": { "line": row, "character": end } })
    }

    #[test]
    fn a_hover_covers_its_range() {
        check(Value::Null, None, None, &[]);
        check(json!({ "contents": [] }), None, None, &[]);
        check(json!({ "contents": "a" }), Some("a"), None, &[]);
        let span = Some(Span::from(4..6));
        check(
            json!({ "contents": "a", "range": range(0, 4, 5) }),
            Some("a"),
            span,
            &[],
        );
        let clamped = Some(Span::from(4..10));
        check(
            json!({ "contents": "a", "range": range(0, 4, 99) }),
            Some("a"),
            clamped,
            &[],
        );
    }

    #[test]
    fn a_range_beyond_the_text_is_omitted() {
        let beyond = json!({ "contents": "a", "range": range(7, 0, 1) });
        check(beyond, Some("a"), None, &["1 out-of-range position"]);
        let malformed = json!({ "contents": "a", "range": 7 });
        check(malformed, Some("a"), None, &["1 malformed item"]);
    }

    #[test]
    fn an_answer_of_another_type_is_an_error() {
        let (result, _) = violations_of(|violations| read_hover("7", &document(""), violations));
        assert!(result.is_err());
    }
}
