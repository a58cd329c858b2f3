//! The document that a request is about, as the server knew it.

use serde_json::Value;
use text::Snapshot;

use crate::position::PositionEncoding;

/// An open document as a server knew it when a request was sent.
#[derive(Clone, Debug)]
pub(crate) struct RequestDocument {
    pub(crate) text: Snapshot,
    pub(crate) version: i32,
    pub(crate) encoding: PositionEncoding,
    /// The options of the provider that is asked.
    pub(crate) options: Value,
}

impl RequestDocument {
    /// Returns whether the provider names the members that its items omit.
    pub(crate) fn offers_resolve(&self) -> bool {
        self.options.get("resolveProvider") == Some(&Value::Bool(true))
    }
}
