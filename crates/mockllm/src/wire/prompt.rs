//! Functions shared by the wires' parsers: fields, texts of blocks, pairing of calls and results.

use serde_json::Value;

use crate::{
    api_error::ApiError,
    request::{CacheSegment, HistoryEvent, PromptRequest},
    wire::Incoming,
    wire_format::WireFormat,
};

/// Creates a request with its model and headers, without a conversation.
pub(super) fn new_request(
    wire: WireFormat,
    incoming: &Incoming,
    missing: &str,
) -> Result<PromptRequest, ApiError> {
    let Some(model) = text(incoming.body, "model").filter(|model| !model.is_empty()) else {
        return Err(ApiError::invalid(missing));
    };
    let mut request = PromptRequest::new(wire, model);
    request.headers = incoming.headers.to_vec();
    request.stream = flag(incoming.body, "stream");
    Ok(request)
}

/// Returns a string field of an object.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

/// Returns a boolean field; false if it is left out.
pub(super) fn flag(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// Returns the items of an array field; none if it is left out or not an array.
pub(super) fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value
        .get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Returns the text of a content field: a string, or the `text` of its blocks.
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

/// Returns the stop texts of a field: one string or a list of them.
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

/// A segment of the prompt after which no cached prefix ends.
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
    for event in history {
        match event {
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
