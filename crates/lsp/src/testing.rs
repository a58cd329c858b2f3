//! Documents and counts for tests of answers.

use serde_json::Value;
use text::Snapshot;

use crate::position::PositionEncoding;
use crate::request_document::RequestDocument;
use crate::violations::Violations;

/// Returns a document whose positions are counted in UTF-16.
pub(crate) fn document(text: &str) -> RequestDocument {
    RequestDocument {
        text: Snapshot::new(text),
        version: 1,
        encoding: PositionEncoding::Utf16,
        options: Value::Bool(true),
    }
}

/// Calls `read` and returns its result with the phrases of the violations.
pub(crate) fn violations_of<T>(read: impl FnOnce(&mut Violations) -> T) -> (T, Vec<String>) {
    let mut violations = Violations::default();
    let result = read(&mut violations);
    (result, violations.phrases())
}
