//! Shared parts of the wires' readers: fields, texts of blocks, the rules of a conversation.

use serde_json::Value;

use crate::{
    request::{CacheSegment, HistoryEvent, PromptRequest},
    trouble::ApiError,
    wire::{Incoming, WireFormat},
};

/// A request with its model and headers, and no conversation yet.
pub(super) fn new_request(
    wire: WireFormat,
    incoming: &Incoming,
    missing: &str,
) -> Result<PromptRequest, ApiError> {
    let Some(model) = text(incoming.body, "model").filter(|model| !model.is_empty()) else {
        return Err(ApiError::invalid(missing));
    };
    let mut asked = PromptRequest::new(wire, model);
    asked.headers = incoming.headers.to_vec();
    asked.stream = flag(incoming.body, "stream");
    Ok(asked)
}

/// Returns a string field of an object.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

/// A field that is true; left out is false.
pub(super) fn flag(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// An array's items; none if the field is left out or is no array.
pub(super) fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value
        .get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The text of a content field: a string, or blocks of which those with `text` count.
pub(super) fn content_text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => {
            let texts: Vec<&str> = blocks
                .iter()
                .filter_map(|block| text(block, "text"))
                .collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// Stop texts: one string or a list of them.
pub(super) fn stops(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(stop)) => vec![stop.clone()],
        Some(Value::Array(stops)) => stops
            .iter()
            .filter_map(Value::as_str)
            .filter(|stop| !stop.is_empty())
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

/// A piece of the prompt that is not a cache's end.
pub(super) fn segment(value: &Value) -> CacheSegment {
    CacheSegment {
        text: value.to_string(),
        mark: None,
    }
}

/// Returns the first call without a result before the next user message, or the first result
/// without a call.
pub(super) fn unpaired(history: &[HistoryEvent]) -> Option<Unpaired> {
    let mut open: Vec<&str> = Vec::new();
    for said in history {
        match said {
            HistoryEvent::Call { id, .. } => open.push(id),
            HistoryEvent::Result { call, .. } => match open.iter().position(|id| id == call) {
                Some(at) => {
                    open.remove(at);
                }
                None => return Some(Unpaired::Result(call.clone())),
            },
            HistoryEvent::User(_) => {
                if let Some(id) = open.first() {
                    return Some(Unpaired::Call((*id).to_owned()));
                }
            }
            HistoryEvent::Assistant => {}
        }
    }
    open.first().map(|id| Unpaired::Call((*id).to_owned()))
}

/// A call without a result, or a result without a call.
pub(super) enum Unpaired {
    Call(String),
    Result(String),
}
