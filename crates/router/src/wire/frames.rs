//! Bytes to frames: server-sent events, and one JSON value a line.
//!
//! Invariant: the frames do not depend on how the bytes are cut into chunks.

use memchr::memchr2;

/// The longest line and the longest event we hold. A picture in base64 fits; a runaway server does not.
const LONGEST: usize = 64 << 20;

/// How a body is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `text/event-stream`.
    Events,
    /// A frame a line.
    Lines,
}

/// One event or line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The event's name; empty where it has none.
    pub(crate) event: String,
    /// Its data.
    pub(crate) data: String,
    /// Whether the body ended before the frame did: it may be cut.
    pub(crate) is_tail: bool,
}

/// Why no frame can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameError {
    /// A line is not UTF-8.
    NotText,
    /// A line or an event is longer than we hold.
    TooLong,
}

/// Divides bytes as they come.
pub(crate) struct Divider {
    framing: Framing,
    line: Vec<u8>,
    /// The last byte was `\r`: a `\n` that follows belongs to it.
    after_return: bool,
    is_first_line: bool,
    event: String,
    data: Option<String>,
}

impl Divider {
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

    /// Takes more bytes; the frames they complete go to `frames`.
    pub(crate) fn feed(
        &mut self,
        mut bytes: &[u8],
        frames: &mut Vec<Frame>,
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

    /// The body ended: what is left, which may be cut.
    pub(crate) fn finish(&mut self, frames: &mut Vec<Frame>) -> Result<(), FrameError> {
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

    fn check_length(&self) -> Result<(), FrameError> {
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held > LONGEST {
            return Err(FrameError::TooLong);
        }
        Ok(())
    }

    fn end_line(&mut self, frames: &mut Vec<Frame>) -> Result<(), FrameError> {
        let bytes = std::mem::take(&mut self.line);
        let mut line = std::str::from_utf8(&bytes).map_err(|_| FrameError::NotText)?;
        if std::mem::take(&mut self.is_first_line) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        match self.framing {
            Framing::Events => self.field(line, frames),
            Framing::Lines if line.trim().is_empty() => {}
            Framing::Lines => frames.push(Frame {
                event: String::new(),
                data: line.to_owned(),
                is_tail: false,
            }),
        }
        // The next line is as long as this one, more or less.
        self.line = bytes;
        self.line.clear();
        Ok(())
    }

    fn field(&mut self, line: &str, frames: &mut Vec<Frame>) {
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
            // A comment, or a field of reconnection: we never reconnect.
            _ => {}
        }
    }

    fn dispatch(&mut self, frames: &mut Vec<Frame>) {
        let event = std::mem::take(&mut self.event);
        let Some(data) = self.data.take() else {
            return;
        };
        if data.is_empty() {
            return;
        }
        frames.push(Frame {
            event,
            data,
            is_tail: false,
        });
    }
}

#[cfg(test)]
mod tests;
