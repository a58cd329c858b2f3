//! Requests for edits that format a document.

use base::{AbsPath, ByteOffset, Span};
use serde_json::{Value, json};

use crate::answer::AnswerError;
use crate::bounded::RawItems;
use crate::document_edits::{DocumentEdits, MAX_EDITS, MAX_EDITS_BYTES, WireEdit};
use crate::hover::position_params;
use crate::range::range_value;
use crate::request::Request;
use crate::request_document::RequestDocument;
use crate::server::LanguageServer;
use crate::violations::{Violation, Violations};

/// Name of the request for edits after a typed character.
const ON_TYPE_FORMATTING: &str = "textDocument/onTypeFormatting";

/// The style in which a server formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatOptions {
    /// The width of a level of indentation, in columns.
    pub tab_size: u32,
    /// Whether spaces indent, rather than tabs.
    pub inserts_spaces: bool,
}

impl LanguageServer {
    /// Asks for edits that format a document. No edits mean that it is formatted, or that the server
    /// cannot format it.
    pub fn format(&self, path: &AbsPath, options: FormatOptions) -> Option<Request<DocumentEdits>> {
        let params = |_: &RequestDocument| Some(json!({ "options": options.value() }));
        self.ask_document("textDocument/formatting", path, params, read_edits)
    }

    /// Asks for edits that format a part of the text that was passed on last.
    pub fn format_range(
        &self,
        path: &AbsPath,
        span: Span,
        options: FormatOptions,
    ) -> Option<Request<DocumentEdits>> {
        let params = |document: &RequestDocument| {
            let range = range_value(&document.text, span, document.encoding);
            Some(json!({ "range": range, "options": options.value() }))
        };
        self.ask_document("textDocument/rangeFormatting", path, params, read_edits)
    }

    /// Asks for edits that format the text around `offset`, before which `typed` was typed.
    pub fn format_on_type(
        &self,
        path: &AbsPath,
        offset: ByteOffset,
        typed: char,
        options: FormatOptions,
    ) -> Option<Request<DocumentEdits>> {
        let params = |document: &RequestDocument| {
            let mut params = position_params(document, offset)?;
            params["ch"] = json!(typed);
            params["options"] = options.value();
            Some(params)
        };
        self.ask_document(ON_TYPE_FORMATTING, path, params, read_edits)
    }

    /// Returns the chars after which a document should be formatted as it is typed.
    pub fn format_on_type_triggers(&self, path: &AbsPath) -> Vec<char> {
        let names = ["firstTriggerCharacter", "moreTriggerCharacter"];
        self.connection()
            .with(|session| session.trigger_characters(ON_TYPE_FORMATTING, &names, path))
    }
}

impl FormatOptions {
    fn value(self) -> Value {
        json!({ "tabSize": self.tab_size, "insertSpaces": self.inserts_spaces })
    }
}

/// Reads the edits of a document.
fn read_edits(
    json: &str,
    document: &RequestDocument,
    violations: &mut Violations,
) -> Result<DocumentEdits, AnswerError> {
    if json.len() > MAX_EDITS_BYTES {
        return Err(AnswerError::new("it is too long"));
    }
    let items: RawItems<'_, MAX_EDITS> = serde_json::from_str(json)?;
    if items.dropped() > 0 {
        return Err(AnswerError::new("it has too many edits"));
    }
    let mut edits = Vec::new();
    for item in items.iter() {
        let edit = WireEdit::parse(item)?;
        edits.push((edit.range.server_range(document.encoding), edit.new_text));
    }
    let (edits, clamped) = DocumentEdits::convert(edits, &document.text)?;
    violations.count(Violation::PositionBeyondText, clamped);
    Ok(edits)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::read_edits;
    use crate::testing::{document, violations_of};

    fn edit(start: (u32, u32), end: (u32, u32), text: &str) -> Value {
        let position = |(line, character)| json!({ "line": line, "character": character });
        json!({ "range": { "start": position(start), "end": position(end) }, "newText": text })
    }

    /// Applies the edits of an answer to a text; an error is returned as its text.
    fn check(before: &str, answer: Value, after: Result<&str, &str>, violations: &[&str]) {
        let (result, counted) = violations_of(|violations| {
            read_edits(&answer.to_string(), &document(before), violations)
        });
        let applied = result.map(|edits| {
            let mut text = before.to_owned();
            for (span, new) in edits.edits.iter().rev() {
                text.replace_range(span.start.0..span.end.0, new);
            }
            text
        });
        let applied = applied.map_err(|error| error.to_string());
        assert_eq!(
            applied.as_deref().map_err(String::as_str),
            after,
            "{answer}"
        );
        assert_eq!(counted, violations, "{answer}");
    }

    #[test]
    fn edits_refer_to_the_text_before_them() {
        let edits = json!([edit((1, 0), (1, 1), "é"), edit((0, 1), (0, 2), "long")]);
        check("語b\nc", edits, Ok("語long\né"), &[]);
        check("a", Value::Null, Ok("a"), &[]);
        check("a", json!([]), Ok("a"), &[]);
    }

    #[test]
    fn insertions_at_one_offset_keep_their_order() {
        let insert = |text| edit((0, 1), (0, 1), text);
        let edits = json!([insert("1"), edit((0, 1), (0, 2), "B"), insert("2")]);
        check("ab", edits, Ok("a12B"), &[]);
    }

    #[test]
    fn overlapping_edits_are_refused() {
        let edits = json!([edit((0, 0), (0, 2), "x"), edit((0, 1), (0, 3), "y")]);
        check("abc", edits, Err("two edits overlap in row 0"), &[]);
    }

    #[test]
    fn an_end_beyond_the_text_is_clamped() {
        let edits = json!([edit((0, 0), (99, 0), "x")]);
        check("ab\nc", edits, Ok("x"), &["1 out-of-range position"]);
        let edits = json!([edit((0, 1), (0, 99), "x")]);
        check("ab\nc", edits, Ok("ax\nc"), &[]);
    }

    #[test]
    fn one_bad_edit_refuses_all() {
        let good = edit((0, 0), (0, 1), "x");
        let beyond = json!([good, edit((9, 0), (9, 0), "y")]);
        check(
            "ab",
            beyond,
            Err("an edit starts in row 9, beyond the text"),
            &[],
        );
        let list = json!([good, [1, 2]]);
        check("ab", list, Err("a list instead of an edit"), &[]);
    }
}
