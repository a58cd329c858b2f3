//! Recordings of what went over the wire, and their replay, byte for byte.
//!
//! Invariant: a recording holds no key, neither in what was sent nor in what came back.
//! Start at `Recorder` and `Replay`.

mod recorder;
mod replay;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

pub use recorder::Recorder;
pub use replay::{Pace, Replay};

/// One request and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// How it was sent, and where: `POST https://host/path`.
    pub line: String,
    /// The request's headers; a key's value is a mask.
    pub request_headers: Vec<(String, String)>,
    /// The request's body.
    pub request_body: Vec<u8>,
    /// The response's status; 0 if there was none.
    pub status: u16,
    /// The response's headers.
    pub headers: Vec<(String, String)>,
    /// The response's body as it came.
    pub chunks: Vec<Chunk>,
    /// How it ended.
    pub end: End,
}

/// A piece of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// When it came, counted from the request.
    pub at: Duration,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// How a recorded answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The server ended it.
    Complete,
    /// We closed the connection.
    Dropped,
    /// The connection broke, for this cause.
    Broken(String),
    /// There was no response, for this reason.
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
    end: End,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChunkFile {
    /// Microseconds from the request.
    at_us: u64,
    data: BytesFile,
}

/// Text as text, so that a recording can be read; what is no text in base64.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum BytesFile {
    Text(String),
    Base64(String),
}

impl Recording {
    /// As JSON, one recording a file. Equal recordings give equal bytes.
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

    /// Reads what `to_json` wrote. Fails with a sentence.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let file: RecordingFile =
            serde_json::from_str(text).map_err(|error| format!("this is no recording: {error}"))?;
        if file.version != 1 {
            return Err(format!(
                "this recording is of version {}, and we read version 1; record it again",
                file.version
            ));
        }
        let mut chunks = Vec::new();
        for chunk in file.response.chunks {
            chunks.push(Chunk {
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

    /// The body in one piece.
    pub fn body(&self) -> Vec<u8> {
        let pieces = self.chunks.iter().map(|chunk| chunk.bytes.as_slice());
        pieces.collect::<Vec<_>>().concat()
    }
}

impl BytesFile {
    fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Base64(STANDARD.encode(bytes)),
        }
    }

    fn bytes(self) -> Result<Vec<u8>, String> {
        match self {
            Self::Text(text) => Ok(text.into_bytes()),
            Self::Base64(text) => STANDARD.decode(text).map_err(|error| {
                format!("this recording holds bytes that cannot be read: {error}")
            }),
        }
    }
}

#[cfg(test)]
mod tests;
