//! Reading of answers: bounds, and the text to which the positions of an answer refer.
//!
//! Invariant: an element of a list that is malformed, too long, or beyond the text is omitted and
//! counted; it hides no other.

use base::{ByteOffset, Span};
use serde_json::Value;
use text::Snapshot;

use crate::bounded::RawItems;
use crate::position::PositionEncoding;
use crate::range::{WirePosition, WireRange};
use crate::request_document::RequestDocument;
use crate::violations::{Violation, Violations};

/// Maximum length of an answer that is read as a whole, in bytes.
const MAX_VALUE: usize = 4 << 20;
/// Maximum length of an element of a list, in bytes.
const MAX_ITEM: usize = 512 << 10;

/// The reason for which an answer has no meaning; a clause that follows "in a wrong form:".
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct AnswerError(String);

/// The conversion of positions to offsets of one text, with the violations that it meets.
pub(crate) struct Reading<'a> {
    pub(crate) text: &'a Snapshot,
    pub(crate) encoding: PositionEncoding,
    pub(crate) violations: &'a mut Violations,
}

impl AnswerError {
    /// Creates an error from a clause.
    pub(crate) fn new(detail: impl Into<String>) -> Self {
        Self(detail.into())
    }
}

impl From<serde_json::Error> for AnswerError {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

impl<'a> Reading<'a> {
    /// Creates the reading of an answer about a document.
    pub(crate) fn new(document: &'a RequestDocument, violations: &'a mut Violations) -> Self {
        Self {
            text: &document.text,
            encoding: document.encoding,
            violations,
        }
    }

    /// Converts a range; `None`, and a violation, if a row lies beyond the text or the value is no
    /// range.
    pub(crate) fn span(&mut self, range: &Value) -> Option<Span> {
        let Some(range) = WireRange::of(range) else {
            self.violations.count(Violation::MalformedItem, 1);
            return None;
        };
        self.wire_span(range)
    }

    /// Converts a range; `None`, and a violation, if a row lies beyond the text.
    pub(crate) fn wire_span(&mut self, range: WireRange) -> Option<Span> {
        let span = range.server_range(self.encoding).span(self.text);
        if span.is_none() {
            self.violations.count(Violation::PositionBeyondText, 1);
        }
        span
    }

    /// Converts a position; `None`, and a violation, if its row lies beyond the text.
    pub(crate) fn offset(&mut self, position: WirePosition) -> Option<ByteOffset> {
        let offset = self.encoding.offset(self.text, position.position()).ok();
        if offset.is_none() {
            self.violations.count(Violation::PositionBeyondText, 1);
        }
        offset
    }
}

/// Parses an answer as a whole.
pub(crate) fn parse_value(json: &str) -> Result<Value, AnswerError> {
    if json.len() > MAX_VALUE {
        return Err(AnswerError::new("it is too long"));
    }
    Ok(serde_json::from_str(json)?)
}

/// Reads the elements of a list, or the only element of an object; nothing for `null`. `read` returns
/// `None` for a malformed element.
pub(crate) fn read_list<T, const MAX: usize>(
    json: &str,
    violations: &mut Violations,
    mut read: impl FnMut(&Value, &mut Violations) -> Option<T>,
) -> Result<Vec<T>, AnswerError> {
    if json.trim_start().starts_with('{') {
        let item = parse_value(json)?;
        let item =
            read(&item, violations).ok_or_else(|| AnswerError::new("a member is missing"))?;
        return Ok(vec![item]);
    }
    let items: RawItems<'_, MAX> = serde_json::from_str(json)?;
    violations.count(Violation::ItemBeyondBound, items.dropped());
    let mut result = Vec::new();
    for item in items.iter() {
        if item.get().len() > MAX_ITEM {
            violations.count(Violation::ItemBeyondBound, 1);
            continue;
        }
        let item: Option<Value> = serde_json::from_str(item.get()).ok();
        match item.and_then(|item| read(&item, violations)) {
            Some(item) => result.push(item),
            None => violations.count(Violation::MalformedItem, 1),
        }
    }
    Ok(result)
}

/// Returns a member that is a text.
pub(crate) fn text_member(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}

/// Returns a member that is a flag; false if it is absent.
pub(crate) fn flag_member(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or_default()
}

/// Returns whether the tags of an item, or its old flag, mark it as deprecated.
pub(crate) fn is_deprecated(item: &Value) -> bool {
    let tags = item.get("tags").and_then(Value::as_array);
    let has_tag = tags.is_some_and(|tags| tags.iter().any(|tag| tag.as_u64() == Some(1)));
    has_tag || flag_member(item, "deprecated")
}
