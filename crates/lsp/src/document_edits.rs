//! Edits of one document as servers write them.
//!
//! Invariant: the edits of one answer are all taken or all refused, since a part of them would break
//! the text.

use base::Span;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use text::Snapshot;

use crate::answer::{AnswerError, Reading};
use crate::range::{ServerRange, WireRange};
use crate::violations::Violation;

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
