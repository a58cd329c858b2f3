//! Records network traffic, and replays it byte for byte.
//!
//! Invariant: a recording contains no key, neither in the request nor in the response.
//! Start at `Recorder` and `ReplayTransport`.

mod recorder;
mod replay;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::error::Error;

pub use recorder::Recorder;
pub use replay::{ReplayPace, ReplayTransport};

/// One request and its response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Method and address: `POST https://host/path`.
    pub line: String,
    /// Request headers; the value of a key is masked.
    pub request_headers: Vec<(String, String)>,
    /// Body of the request.
    pub request_body: Vec<u8>,
    /// Status of the response; 0 if there was none.
    pub status: u16,
    /// Headers of the response.
    pub headers: Vec<(String, String)>,
    /// Chunks of the response body, as they arrived.
    pub chunks: Vec<BodyChunk>,
    /// Outcome of the response.
    pub end: RecordingEnd,
}

/// A chunk of a response body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyChunk {
    /// Arrival time, measured from the request.
    pub at: Duration,
    /// Bytes of the chunk.
    pub bytes: Vec<u8>,
}

/// Outcome of a recorded response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordingEnd {
    /// The server completed the response.
    Complete,
    /// We closed the connection.
    Dropped,
    /// The connection broke, with this cause.
    Broken(String),
    /// There was no response, with this reason.
    Offline(String),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordingFile {
    version: u32,
    request: RequestFile,
    response: ResponseFile,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestFile {
    line: String,
    headers: Vec<(String, String)>,
    body: BytesFile,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResponseFile {
    status: u16,
    headers: Vec<(String, String)>,
    chunks: Vec<ChunkFile>,
    end: RecordingEnd,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChunkFile {
    /// Microseconds since the request.
    at_us: u64,
    data: BytesFile,
}

/// UTF-8 as text, so that a recording is readable; other bytes in base64.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum BytesFile {
    Text(String),
    Base64(String),
}

impl Recording {
    /// Serializes to JSON, one recording per file. Equal recordings yield equal bytes.
    pub fn to_json(&self) -> String {
        let chunks = self.chunks.iter().map(|chunk| ChunkFile {
            at_us: u64::try_from(chunk.at.as_micros()).unwrap_or(u64::MAX),
            data: BytesFile::of(&chunk.bytes),
        });
        let file = RecordingFile {
            version: 1,
            request: RequestFile {
                line: self.line.clone(),
                headers: self.request_headers.clone(),
                body: BytesFile::of(&self.request_body),
            },
            response: ResponseFile {
                status: self.status,
                headers: self.headers.clone(),
                chunks: chunks.collect(),
                end: self.end.clone(),
            },
        };
        let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Parses the output of `to_json`. Fails for another format or version, or broken data.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let file: RecordingFile = serde_json::from_str(text)
            .map_err(|error| invalid(format!("not a recording: {error}")))?;
        if file.version != 1 {
            return Err(invalid(format!(
                "unsupported recording version {}, expected 1; record it again",
                file.version
            )));
        }
        let mut chunks = Vec::new();
        for chunk in file.response.chunks {
            chunks.push(BodyChunk {
                at: Duration::from_micros(chunk.at_us),
                bytes: chunk.data.bytes()?,
            });
        }
        Ok(Self {
            line: file.request.line,
            request_headers: file.request.headers,
            request_body: file.request.body.bytes()?,
            status: file.response.status,
            headers: file.response.headers,
            chunks,
            end: file.response.end,
        })
    }

    /// Concatenates the chunks of the body.
    pub fn body(&self) -> Vec<u8> {
        let chunks = self.chunks.iter().map(|chunk| chunk.bytes.as_slice());
        chunks.collect::<Vec<_>>().concat()
    }
}

impl BytesFile {
    fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Base64(STANDARD.encode(bytes)),
        }
    }

    /// Returns the bytes of the text, or the decoded base64. Fails if the base64 is invalid.
    fn bytes(self) -> Result<Vec<u8>, Error> {
        match self {
            Self::Text(text) => Ok(text.into_bytes()),
            Self::Base64(text) => STANDARD.decode(text).map_err(|error| {
                invalid(format!("the recording contains invalid base64: {error}"))
            }),
        }
    }
}

fn invalid(text: String) -> Error {
    Error::Recording(text)
}

#[cfg(test)]
mod tests;
