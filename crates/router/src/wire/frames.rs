//! Splits bytes into frames: server-sent events, or one JSON value per line.
//!
//! Invariant: the frames do not depend on the division of the bytes into chunks.

use memchr::memchr2;

/// Maximum length of a line and of an event in bytes. A base64 image fits; a runaway server does
/// not.
const MAX_FRAME: usize = 64 << 20;

/// Framing of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events, that is `text/event-stream`.
    Events,
    /// One frame per line.
    Lines,
}

/// One event or one line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StreamFrame {
    /// Name of the event; empty if it has none.
    pub(crate) event: String,
    /// Data of the event.
    pub(crate) data: String,
    /// Whether the body ended before the frame did, so that it may be truncated.
    pub(crate) is_tail: bool,
}

/// Reason why the body cannot be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameError {
    /// A line is not UTF-8.
    NotText,
    /// A line or an event exceeds the maximum length.
    TooLong,
}

/// Splits bytes into frames incrementally.
pub(crate) struct FrameSplitter {
    framing: Framing,
    line: Vec<u8>,
    /// The last byte was `\r`: a following `\n` belongs to it.
    after_return: bool,
    is_first_line: bool,
    event: String,
    data: Option<String>,
}

impl FrameSplitter {
    /// Starts at the beginning of a body.
    pub(crate) fn new(framing: Framing) -> Self {
        Self {
            framing,
            line: Vec::new(),
            after_return: false,
            is_first_line: true,
            event: String::new(),
            data: None,
        }
    }

    /// Processes the next bytes and appends completed frames to `frames`. Keeps an incomplete frame
    /// for the next call. An error is final.
    pub(crate) fn feed(
        &mut self,
        mut bytes: &[u8],
        frames: &mut Vec<StreamFrame>,
    ) -> Result<(), FrameError> {
        while !bytes.is_empty() {
            if self.after_return {
                self.after_return = false;
                if bytes[0] == b'\n' {
                    bytes = &bytes[1..];
                    continue;
                }
            }
            let Some(end) = memchr2(b'\n', b'\r', bytes) else {
                self.line.extend_from_slice(bytes);
                return self.check_length();
            };
            self.line.extend_from_slice(&bytes[..end]);
            self.check_length()?;
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.end_line(frames)?;
        }
        Ok(())
    }

    /// Processes the end of the body: the rest becomes a frame, possibly truncated.
    pub(crate) fn finish(&mut self, frames: &mut Vec<StreamFrame>) -> Result<(), FrameError> {
        let before = frames.len();
        if !self.line.is_empty() {
            self.end_line(frames)?;
        }
        self.dispatch(frames);
        for frame in &mut frames[before..] {
            frame.is_tail = true;
        }
        Ok(())
    }

    /// Fails if the unfinished line and frame together exceed `MAX_FRAME` bytes.
    fn check_length(&self) -> Result<(), FrameError> {
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held > MAX_FRAME {
            return Err(FrameError::TooLong);
        }
        Ok(())
    }

    /// Processes the buffered line, without its line break, and empties the buffer. Appends at most
    /// one frame to `frames`. Fails if the line is not UTF-8.
    fn end_line(&mut self, frames: &mut Vec<StreamFrame>) -> Result<(), FrameError> {
        let bytes = std::mem::take(&mut self.line);
        let mut line = std::str::from_utf8(&bytes).map_err(|_| FrameError::NotText)?;
        if std::mem::take(&mut self.is_first_line) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        match self.framing {
            Framing::Events => self.field(line, frames),
            Framing::Lines if line.trim().is_empty() => {}
            Framing::Lines => frames.push(StreamFrame {
                event: String::new(),
                data: line.to_owned(),
                is_tail: false,
            }),
        }
        // The next line is likely to be about as long as this one.
        self.line = bytes;
        self.line.clear();
        Ok(())
    }

    fn field(&mut self, line: &str, frames: &mut Vec<StreamFrame>) {
        if line.is_empty() {
            return self.dispatch(frames);
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "event" => value.clone_into(&mut self.event),
            // A comment, or a field for reconnecting, which we never do.
            _ => {}
        }
    }

    fn dispatch(&mut self, frames: &mut Vec<StreamFrame>) {
        let event = std::mem::take(&mut self.event);
        let Some(data) = self.data.take() else {
            return;
        };
        if data.is_empty() {
            return;
        }
        frames.push(StreamFrame {
            event,
            data,
            is_tail: false,
        });
    }
}

#[cfg(test)]
mod tests;
