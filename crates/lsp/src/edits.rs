//! Edits of one document as servers write them, and formatting.
//!
//! Invariant: the edits of one answer are all taken or all refused, since a part of them would break
//! the text.

use base::{AbsPath, Span};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use text::Snapshot;

use crate::answer::{AnswerError, Reading};
use crate::bounded::RawItems;
use crate::range::{ServerRange, WireRange, range_value};
use crate::request::Request;
use crate::server::LanguageServer;
use crate::session::RequestDocument;
use crate::violations::{Violation, Violations};

/// Maximum number of edits in one answer.
pub(crate) const MAX_EDITS: usize = 100_000;
/// Maximum length of an answer with edits, in bytes.
pub(crate) const MAX_EDITS_BYTES: usize = 64 << 20;

/// The edits of one document.
#[derive(Clone, Debug)]
pub struct DocumentEdits {
    /// The text to which the spans refer: the text at the time of the request.
    pub text: Snapshot,
    /// The replaced spans with the new texts: sorted, not overlapping, insertions at one offset in
    /// the order in which they follow each other in the new text.
    pub edits: Vec<(Span, String)>,
}

/// The style in which a server formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatOptions {
    /// The width of a level of indentation, in columns.
    pub tab_size: u32,
    /// Whether spaces indent, rather than tabs.
    pub inserts_spaces: bool,
}

/// An edit of the protocol.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireEdit {
    pub(crate) range: WireRange,
    pub(crate) new_text: String,
    /// The name of an annotation, in workspace edits.
    #[serde(default)]
    pub(crate) annotation_id: Option<String>,
}

/// The reason for which edits cannot be applied to a text; a clause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// An edit starts beyond the end of the text.
    #[error("an edit starts in row {row}, beyond the text")]
    BeyondText {
        /// The row, counted from 0.
        row: u32,
    },
    /// Two edits change the same part of the text.
    #[error("two edits overlap in row {row}")]
    Overlapping {
        /// The row in which the later edit starts, counted from 0.
        row: u32,
    },
}

impl From<EditError> for AnswerError {
    fn from(error: EditError) -> Self {
        Self::new(error.to_string())
    }
}

impl DocumentEdits {
    /// Converts edits to spans of `text`. Returns them with the number of ends beyond the text.
    pub(crate) fn convert(
        edits: impl IntoIterator<Item = (ServerRange, String)>,
        text: &Snapshot,
    ) -> Result<(Self, usize), EditError> {
        let mut clamped = 0;
        let mut spans = Vec::new();
        for (range, new) in edits {
            let row = range.row().0;
            let (span, is_clamped) = range
                .clamped_span(text)
                .ok_or(EditError::BeyondText { row })?;
            clamped += usize::from(is_clamped);
            spans.push((span, new));
        }
        // Stable, so that insertions at one offset keep their order; they come before a replacement
        // that starts there.
        spans.sort_by_key(|(span, _)| (span.start, span.end));
        for pair in spans.windows(2) {
            if pair[0].0.end > pair[1].0.start {
                let row = text.point_at(pair[1].0.start).row.0;
                return Err(EditError::Overlapping { row });
            }
        }
        let text = text.clone();
        Ok((Self { text, edits: spans }, clamped))
    }
}

impl WireEdit {
    /// Parses an edit, which must be an object.
    pub(crate) fn parse(item: &RawValue) -> Result<Self, AnswerError> {
        if item.get().starts_with('[') {
            return Err(AnswerError::new("a list instead of an edit"));
        }
        Ok(serde_json::from_str(item.get())?)
    }
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

/// Reads the edits that an item makes besides its main edit; none if one is malformed or beyond the
/// text.
pub(crate) fn additional_edits(edits: &Value, reading: &mut Reading<'_>) -> Vec<(Span, String)> {
    let edits = edits.as_array().into_iter().flatten().take(MAX_EDITS);
    let ranges: Option<Vec<(ServerRange, String)>> = edits
        .map(|edit| {
            let edit = WireEdit::deserialize(edit).ok()?;
            Some((edit.range.server_range(reading.encoding), edit.new_text))
        })
        .collect();
    let Some(ranges) = ranges else {
        reading.violations.count(Violation::MalformedItem, 1);
        return Vec::new();
    };
    match DocumentEdits::convert(ranges, reading.text) {
        Ok((edits, clamped)) => {
            reading
                .violations
                .count(Violation::PositionBeyondText, clamped);
            edits.edits
        }
        Err(_) => {
            reading.violations.count(Violation::MalformedItem, 1);
            Vec::new()
        }
    }
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
