//! The frames of the protocol: a header with the length of the body, and the body.
//!
//! Must not know: JSON.
//! Invariant: memory grows with the bytes received, never with the length that a header announces.
//! Start at `FrameReader::read`.

use std::io::{self, BufRead, BufReader, Read};

use base::{LineFeeds, printable};

/// Maximum length of a body, in bytes.
pub(crate) const MAX_BODY: usize = 64 << 20;
/// Maximum length of all headers of a message, in bytes.
const MAX_HEADER: usize = 8 << 10;
/// Characters of a malformed header that an error quotes.
const MAX_QUOTED: usize = 80;

/// A violation of the framing. The bytes after it cannot be read as messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FramingError {
    /// The stream ended within a message.
    #[error("its output ended within a message")]
    Torn,
    /// The headers of a message exceed 8 KiB.
    #[error("the header of a message exceeds {MAX_HEADER} bytes")]
    HeaderTooLong,
    /// A header line is not a header of the protocol; servers that print to their standard output cause this.
    #[error("it wrote \"{text}\" instead of a message")]
    MalformedHeader {
        /// Start of the line, made printable.
        text: String,
    },
    /// The headers lack a length.
    #[error("a message has no Content-Length")]
    MissingLength,
    /// A body is longer than 64 MiB.
    #[error("a message of {length} bytes exceeds {MAX_BODY} bytes")]
    BodyTooLong {
        /// Announced length in bytes.
        length: u64,
    },
    /// The body has an encoding other than UTF-8.
    #[error("a message has the charset \"{charset}\", not UTF-8")]
    UnsupportedCharset {
        /// Announced encoding, made printable.
        charset: String,
    },
    /// The stream cannot be read.
    #[error("its output cannot be read: {0:?}")]
    Unreadable(io::ErrorKind),
}

/// Reads frames from the output of a server.
pub(crate) struct FrameReader<R> {
    reader: BufReader<R>,
}

impl<R: Read> FrameReader<R> {
    /// Creates a reader of frames.
    pub(crate) fn new(output: R) -> Self {
        Self {
            reader: BufReader::with_capacity(64 << 10, output),
        }
    }

    /// Reads the next body; `None` if the stream ends before a message.
    ///
    /// # Errors
    /// A violation of the framing. The reader must not be used afterwards.
    pub(crate) fn read(&mut self) -> Result<Option<Vec<u8>>, FramingError> {
        match self.read_length()? {
            Some(length) => self.read_body(length).map(Some),
            None => Ok(None),
        }
    }

    /// Reads the headers and returns the length of the body; `None` if the stream has ended.
    fn read_length(&mut self) -> Result<Option<usize>, FramingError> {
        let mut remaining = MAX_HEADER;
        let mut length = None;
        let mut has_header = false;
        loop {
            let line = self.read_line(remaining)?;
            remaining -= line.len();
            if line.is_empty() {
                if has_header {
                    return Err(FramingError::Torn);
                }
                return Ok(None);
            }
            let line = line.trim_ascii();
            if !line.is_empty() {
                has_header = true;
                length = header_length(line)?.or(length);
            } else if has_header {
                return length.map(Some).ok_or(FramingError::MissingLength);
            }
        }
    }

    /// Reads a line of at most `limit` bytes with its end; empty at the end of the stream.
    fn read_line(&mut self, limit: usize) -> Result<Vec<u8>, FramingError> {
        let mut line = Vec::new();
        // One byte beyond the limit tells a long line from the end of the stream.
        let mut bounded = (&mut self.reader).take(limit as u64 + 1);
        bounded.read_until(b'\n', &mut line).map_err(unreadable)?;
        if line.len() > limit {
            return Err(FramingError::HeaderTooLong);
        }
        if !line.is_empty() && !line.ends_with(b"\n") {
            return Err(FramingError::Torn);
        }
        Ok(line)
    }

    fn read_body(&mut self, length: usize) -> Result<Vec<u8>, FramingError> {
        // The header is not trusted: a large buffer grows as its bytes arrive.
        let mut body = Vec::with_capacity(length.min(64 << 10));
        let mut bounded = (&mut self.reader).take(length as u64);
        bounded.read_to_end(&mut body).map_err(unreadable)?;
        if body.len() < length {
            return Err(FramingError::Torn);
        }
        Ok(body)
    }
}

/// Returns a message with its header.
pub(crate) fn frame(body: &str) -> Vec<u8> {
    let mut bytes = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body.as_bytes());
    bytes
}

fn unreadable(error: io::Error) -> FramingError {
    FramingError::Unreadable(error.kind())
}

/// Returns the length that a header line announces; `None` for another header.
fn header_length(line: &[u8]) -> Result<Option<usize>, FramingError> {
    let text = String::from_utf8_lossy(line);
    let malformed = || FramingError::MalformedHeader { text: quote(&text) };
    let (name, value) = text.split_once(':').ok_or_else(malformed)?;
    let value = value.trim();
    if name.eq_ignore_ascii_case("content-length") {
        let length: u64 = value.parse().map_err(|_| malformed())?;
        return match usize::try_from(length) {
            Ok(bytes) if bytes <= MAX_BODY => Ok(Some(bytes)),
            _ => Err(FramingError::BodyTooLong { length }),
        };
    }
    if name.eq_ignore_ascii_case("content-type") {
        check_charset(value)?;
    } else if name.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
        return Err(malformed());
    }
    Ok(None)
}

fn check_charset(content_type: &str) -> Result<(), FramingError> {
    let is_charset = |parameter: &&str| parameter.to_ascii_lowercase().starts_with("charset=");
    let Some(parameter) = content_type.split(';').map(str::trim).find(is_charset) else {
        return Ok(());
    };
    let charset = parameter["charset=".len()..].trim_matches('"');
    // `utf8` is the spelling of an early version of the protocol.
    match charset.to_ascii_lowercase().as_str() {
        "utf-8" | "utf8" => Ok(()),
        _ => Err(FramingError::UnsupportedCharset {
            charset: quote(charset),
        }),
    }
}

/// Returns the start of a foreign text, fit for a sentence.
fn quote(text: &str) -> String {
    let start: String = text.chars().take(MAX_QUOTED).collect();
    printable(&start, LineFeeds::Escape).into_owned()
}

#[cfg(test)]
mod tests;
