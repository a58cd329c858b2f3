//! Inlay hints: texts that an editor shows between the chars of a document.

use base::{AbsPath, ByteOffset, Span};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::{Reading, flag_member, read_list};
use crate::markup::MarkupText;
use crate::range::{WirePosition, range_value};
use crate::request::Request;
use crate::request_document::RequestDocument;
use crate::server::LanguageServer;

/// Maximum number of hints in one answer.
const MAX_HINTS: usize = 100_000;
/// Maximum length of a label, in bytes.
const MAX_LABEL: usize = 4 << 10;

/// A text to show within a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlayHint {
    /// The place in the request's text.
    pub at: ByteOffset,
    /// The text, without line breaks.
    pub label: String,
    /// The kind; `None` if the server gave none that is known.
    pub kind: Option<InlayHintKind>,
    /// Whether a space precedes the text.
    pub padding_before: bool,
    /// Whether a space follows the text.
    pub padding_after: bool,
    /// A text about the hint.
    pub tooltip: Option<MarkupText>,
}

/// The kind of an inlay hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InlayHintKind {
    /// A type.
    Type,
    /// The name of a parameter.
    Parameter,
}

impl LanguageServer {
    /// Asks for the hints in a span of the text that was passed on last. They are sorted by their
    /// places, those at one place as the server sorted them.
    pub fn inlay_hints(&self, path: &AbsPath, span: Span) -> Option<Request<Vec<InlayHint>>> {
        let params = |document: &RequestDocument| {
            let range = range_value(&document.text, span, document.encoding);
            Some(json!({ "range": range }))
        };
        let method = "textDocument/inlayHint";
        self.ask_document(method, path, params, |json, document, violations| {
            let hints = read_list::<_, MAX_HINTS>(json, violations, |item, violations| {
                read_hint(item, &mut Reading::new(document, violations))
            });
            let mut hints: Vec<InlayHint> = hints?.into_iter().flatten().collect();
            hints.sort_by_key(|hint| hint.at);
            Ok(hints)
        })
    }
}

/// Reads a hint; `None` if it is malformed, `Some(None)` if it lies beyond the text or has no label.
fn read_hint(item: &Value, reading: &mut Reading<'_>) -> Option<Option<InlayHint>> {
    let position = WirePosition::deserialize(item.get("position")?).ok()?;
    let (label, part_tooltip) = label(item.get("label")?)?;
    let tooltip = item.get("tooltip").and_then(MarkupText::documentation);
    let at = reading.offset(position).filter(|_| !label.is_empty());
    Some(at.map(|at| InlayHint {
        at,
        label,
        kind: match item.get("kind").and_then(Value::as_u64) {
            Some(1) => Some(InlayHintKind::Type),
            Some(2) => Some(InlayHintKind::Parameter),
            _ => None,
        },
        padding_before: flag_member(item, "paddingLeft"),
        padding_after: flag_member(item, "paddingRight"),
        tooltip: tooltip.or(part_tooltip),
    }))
}

/// Reads a label: a text, or parts, of which the first tooltip is returned.
fn label(label: &Value) -> Option<(String, Option<MarkupText>)> {
    let mut text = String::new();
    let mut tooltip = None;
    match label {
        Value::String(label) => text.push_str(label),
        Value::Array(parts) => {
            for part in parts {
                text.push_str(part.get("value")?.as_str()?);
                let own = part.get("tooltip").and_then(MarkupText::documentation);
                tooltip = tooltip.or(own);
            }
        }
        _ => return None,
    }
    text.truncate(text.floor_char_boundary(MAX_LABEL));
    Some((text.replace(['\r', '\n'], " "), tooltip))
}

#[cfg(test)]
mod tests {
    use base::ByteOffset;
    use serde_json::{Value, json};

    use super::{InlayHintKind, read_hint};
    use crate::answer::Reading;
    use crate::testing::{document, violations_of};

    fn check(item: Value, expected: Option<Option<(usize, &str)>>) {
        let document = document("let é = 1");
        let (hint, _) = violations_of(|it| read_hint(&item, &mut Reading::new(&document, it)));
        let hint = hint.map(|hint| hint.map(|hint| (hint.at.0, hint.label)));
        let expected = expected.map(|hint| hint.map(|(at, label)| (at, label.to_owned())));
        assert_eq!(hint, expected, "{item}");
    }

    #[test]
    fn a_label_is_a_text_or_parts() {
        let position = json!({ "line": 0, "character": 5 });
        check(
            json!({ "position": position, "label": ": i32" }),
            Some(Some((6, ": i32"))),
        );
        let parts = json!([{ "value": ": " }, { "value": "a\nb" }]);
        check(
            json!({ "position": position, "label": parts }),
            Some(Some((6, ": a b"))),
        );
        check(json!({ "position": position, "label": "" }), Some(None));
        check(json!({ "position": position, "label": [7] }), None);
        check(json!({ "label": "x" }), None);
        check(
            json!({ "position": { "line": 9, "character": 0 }, "label": "x" }),
            Some(None),
        );
    }

    #[test]
    fn details_of_a_hint_are_read() {
        let item = json!({
            "position": { "line": 0, "character": 99 }, "kind": 2, "paddingLeft": true,
            "label": [{ "value": "x", "tooltip": "part" }],
        });
        let document = document("abc");
        let (hint, _) = violations_of(|it| read_hint(&item, &mut Reading::new(&document, it)));
        let hint = hint.flatten().expect("a hint");
        assert_eq!(
            (hint.at, hint.kind),
            (ByteOffset(3), Some(InlayHintKind::Parameter))
        );
        assert!(hint.padding_before && !hint.padding_after);
        assert_eq!(hint.tooltip.expect("a text").value, "part");
    }
}
