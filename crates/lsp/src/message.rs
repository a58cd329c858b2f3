//! Messages as they arrive: only the envelope is read, the rest stays raw.
//!
//! Parameters and results are parsed by the part that needs them, so that a large answer costs the
//! reader thread one scan.
//! Invariant: unknown members are tolerated, and no message is copied.

use std::ops::Range;

use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// A message from a server.
#[derive(Debug)]
pub(crate) enum Message {
    /// A request, which must be answered.
    Request {
        /// Identifier as the server wrote it, echoed in the answer.
        id: RawId,
        method: String,
        params: Payload,
    },
    Notification {
        method: String,
        params: Payload,
    },
    /// A response to a client request.
    Response {
        id: u64,
        result: Result<Payload, ResponseError>,
    },
}

/// The identifier of a server's request: the JSON text of a number or a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawId(String);

/// The error in a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResponseError {
    pub(crate) code: i64,
    pub(crate) message: String,
    /// JSON text of the member `data`.
    pub(crate) data: Payload,
}

/// JSON text within the message that brought it; `null` if the member was absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Payload {
    body: String,
    range: Range<usize>,
}

/// A body that is no message of the protocol.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed message")]
pub(crate) struct MalformedMessage;

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: Option<String>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct WireError<'a> {
    #[serde(default)]
    code: serde_json::Value,
    #[serde(default)]
    message: serde_json::Value,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

impl Message {
    /// Reads the envelope of a body. Bytes outside UTF-8 are replaced.
    pub(crate) fn parse(body: Vec<u8>) -> Result<Self, MalformedMessage> {
        let body = String::from_utf8(body)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        // The parser would take a list for an object without names.
        if !body.trim_start().starts_with('{') {
            return Err(MalformedMessage);
        }
        let envelope: Envelope<'_> = serde_json::from_str(&body).map_err(|_| MalformedMessage)?;
        let id = envelope.id.map(|id| id.get().to_owned());
        if let Some(method) = envelope.method {
            let range = range_in(&body, envelope.params);
            let params = Payload { body, range };
            return match id {
                Some(id) => Ok(Self::Request {
                    id: RawId::new(id)?,
                    method,
                    params,
                }),
                None => Ok(Self::Notification { method, params }),
            };
        }
        let id = id.as_deref().and_then(own_id).ok_or(MalformedMessage)?;
        let result = match envelope.error {
            Some(error) => Err(ResponseError::parse(error)?),
            None => {
                let range = range_in(&body, envelope.result);
                Ok(Payload { body, range })
            }
        };
        Ok(Self::Response { id, result })
    }
}

impl RawId {
    fn new(text: String) -> Result<Self, MalformedMessage> {
        let is_id =
            text.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit());
        is_id.then_some(Self(text)).ok_or(MalformedMessage)
    }
}

impl ResponseError {
    /// Creates an error that this client sends, without data.
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: Payload::null(),
        }
    }

    fn parse(error: &RawValue) -> Result<Self, MalformedMessage> {
        let wire: WireError<'_> =
            serde_json::from_str(error.get()).map_err(|_| MalformedMessage)?;
        let message = match wire.message {
            serde_json::Value::String(message) => message,
            other => other.to_string(),
        };
        Ok(Self {
            code: wire.code.as_i64().unwrap_or_default(),
            message,
            data: wire
                .data
                .map_or_else(Payload::null, |data| Payload::of(data.get())),
        })
    }
}

impl Payload {
    fn null() -> Self {
        Self::of("null")
    }

    /// Creates a payload of its own from JSON text.
    pub(crate) fn of(json: &str) -> Self {
        Self {
            body: json.to_owned(),
            range: 0..json.len(),
        }
    }

    /// Returns the JSON text.
    pub(crate) fn json(&self) -> &str {
        self.body.get(self.range.clone()).unwrap_or("null")
    }

    /// Parses the payload.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.json())
    }
}

/// Returns the JSON text of a client request.
pub(crate) fn request(
    id: u64,
    method: &str,
    params: &impl Serialize,
) -> serde_json::Result<String> {
    Ok(format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{}}}"#,
        member("params", params)?
    ))
}

/// Returns the JSON text of a client notification.
pub(crate) fn notification(method: &str, params: &impl Serialize) -> serde_json::Result<String> {
    Ok(format!(
        r#"{{"jsonrpc":"2.0","method":"{method}"{}}}"#,
        member("params", params)?
    ))
}

/// Returns the answer to a request of a server.
pub(crate) fn response(id: &RawId, result: &Result<serde_json::Value, ResponseError>) -> String {
    let id = &id.0;
    match result {
        Ok(value) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{value}}}"#),
        Err(error) => {
            let message = serde_json::Value::from(error.message.as_str());
            let code = error.code;
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#
            )
        }
    }
}

/// Returns a member of an object with the comma before it; nothing for `null`, since parameters
/// must be an object or absent.
fn member(name: &str, value: &impl Serialize) -> serde_json::Result<String> {
    let json = serde_json::to_string(value)?;
    if json == "null" {
        return Ok(String::new());
    }
    Ok(format!(r#","{name}":{json}"#))
}

/// Returns the id of a client request; some servers send it back as a string.
fn own_id(json: &str) -> Option<u64> {
    json.trim_matches('"').parse().ok()
}

/// Returns the location of a member in the body that it borrows from; empty if it is absent.
fn range_in(body: &str, member: Option<&RawValue>) -> Range<usize> {
    let Some(member) = member.map(RawValue::get) else {
        return usize::MAX..usize::MAX;
    };
    let start = (member.as_ptr() as usize).saturating_sub(body.as_ptr() as usize);
    start..start + member.len()
}

#[cfg(test)]
mod tests;
