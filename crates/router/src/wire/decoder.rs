//! Bytes of an answer to events: frames, then the wire's own reader, then exactly one last event.

use std::time::SystemTime;

use model::{Event, Failure, Request};
use serde_json::Value;

use super::answer::Answer;
use super::calls::Calls;
use super::failure::{Site, refused};
use super::frames::{Divider, Frame, FrameError, Framing};
use super::limits::rate_limits;

/// How much of a body is kept until its first frame, to say what it was if none comes.
const OPENING: usize = 4096;

/// Understands the frames of one wire.
pub(crate) trait Reader: Send {
    /// One frame. Unknown events and members are no error: wires grow.
    fn frame(&mut self, event: &str, value: &Value, answer: &mut Answer) -> Result<(), Failure>;

    /// The wire's `[DONE]`, where it has one.
    fn done(&mut self, answer: &mut Answer) -> Result<(), Failure> {
        self.end(answer)
    }

    /// The body ended without a last event.
    fn end(&mut self, answer: &mut Answer) -> Result<(), Failure> {
        Err(answer.torn())
    }
}

/// Reads one answer.
pub struct Decoder {
    divider: Divider,
    reader: Box<dyn Reader>,
    answer: Answer,
    /// The body's first bytes, until a frame is read.
    opening: Option<Vec<u8>>,
}

impl Decoder {
    /// Reads the answer to `request`.
    pub(crate) fn new(reader: impl Reader + 'static, request: &Request, site: Site) -> Self {
        let calls = Calls::new(request);
        let answer = Answer::new(request.model.clone(), calls, site);
        Self::with(Framing::Events, reader, answer)
    }

    pub(crate) fn with(framing: Framing, reader: impl Reader + 'static, answer: Answer) -> Self {
        Self {
            divider: Divider::new(framing),
            reader: Box::new(reader),
            answer,
            opening: Some(Vec::new()),
        }
    }

    /// What a success's headers say, before the first byte of the body. `now` dates the limits' resets.
    pub fn headers(&mut self, headers: &[(String, String)], now: SystemTime) -> Vec<Event> {
        if let Some(limits) = rate_limits(headers, now) {
            self.answer.rate_limits(limits);
        }
        self.answer.take()
    }

    /// Takes more of the body.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        if !self.answer.has_ended() {
            if let Some(opening) = &mut self.opening {
                let room = OPENING.saturating_sub(opening.len());
                opening.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            let mut frames = Vec::new();
            let divided = self.divider.feed(bytes, &mut frames);
            self.read(&frames, divided);
        }
        self.answer.take()
    }

    /// The body ended. Afterwards the last event has been given.
    pub fn finish(&mut self) -> Vec<Event> {
        if !self.answer.has_ended() {
            let mut frames = Vec::new();
            let divided = self.divider.finish(&mut frames);
            // What is cut is not wrong: the reader says that the body is torn.
            self.read(&frames, divided.or(Ok(())));
        }
        if !self.answer.has_ended() {
            let ended = match self.opening.take() {
                Some(opening) => Err(self.no_answer(&opening)),
                None => self.reader.end(&mut self.answer),
            };
            match ended {
                Err(failure) => self.answer.fail(failure),
                Ok(()) if !self.answer.has_ended() => {
                    let failure = self.answer.torn();
                    self.answer.fail(failure);
                }
                Ok(()) => {}
            }
        }
        self.answer.take()
    }

    /// The body will not go on, for a reason outside of it.
    pub fn fail(&mut self, failure: Failure) -> Vec<Event> {
        self.answer.fail(failure);
        self.answer.take()
    }

    /// Whether the last event has been given.
    pub fn has_ended(&self) -> bool {
        self.answer.has_ended()
    }

    fn read(&mut self, frames: &[Frame], divided: Result<(), FrameError>) {
        for frame in frames {
            if let Err(failure) = self.read_one(frame) {
                self.answer.fail(failure);
            }
            if self.answer.has_ended() {
                return;
            }
        }
        if let Err(error) = divided {
            let what = match error {
                FrameError::NotText => "a line is not UTF-8",
                FrameError::TooLong => "a line is longer than 64 MiB",
            };
            let failure = self.answer.malformed(what);
            self.answer.fail(failure);
        }
    }

    fn read_one(&mut self, frame: &Frame) -> Result<(), Failure> {
        if frame.data.trim() == "[DONE]" {
            self.opening = None;
            return self.reader.done(&mut self.answer);
        }
        match serde_json::from_str::<Value>(&frame.data) {
            Ok(value) => {
                self.opening = None;
                self.reader.frame(&frame.event, &value, &mut self.answer)
            }
            Err(_) if frame.is_tail => Ok(()),
            Err(error) => Err(self
                .answer
                .malformed(&format!("a frame is not JSON ({error})"))),
        }
    }

    /// The failure of a body without one frame: an error page, an error object, nothing.
    fn no_answer(&self, opening: &[u8]) -> Failure {
        let text = String::from_utf8_lossy(opening);
        let text = text.trim_start_matches('\u{feff}').trim();
        let is_answer = text.is_empty() || text.starts_with("data") || text.starts_with("event");
        if is_answer || text.starts_with(':') {
            return self.answer.torn();
        }
        refused(
            &self.answer.site,
            200,
            &[],
            opening,
            &[],
            SystemTime::UNIX_EPOCH,
        )
    }
}

#[cfg(test)]
mod tests;
