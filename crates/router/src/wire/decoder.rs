//! Decodes a response body: bytes to frames, frames to events by the wire's reader, then exactly
//! one last event.

use std::time::SystemTime;

use model::{Failure, ModelRequest, StreamEvent};
use serde_json::Value;

use super::calls::ToolCalls;
use super::failure::{RequestTarget, refused};
use super::frames::{FrameError, FrameSplitter, Framing, StreamFrame};
use super::limits::rate_limits;
use super::response::ResponseBuilder;

/// Maximum bytes of a body kept until its first frame, to describe a body without frames.
const MAX_EXCERPT: usize = 4096;

/// Interprets the frames of one wire.
pub(crate) trait FrameReader: Send {
    /// Processes one frame: the name of its event, which may be empty, and its JSON. Writes events
    /// to `answer`. Ignores unknown events and members, because protocols grow. A failure ends the
    /// answer.
    fn on_frame(
        &mut self,
        event: &str,
        value: &Value,
        answer: &mut ResponseBuilder,
    ) -> Result<(), Failure>;

    /// Processes the wire's `[DONE]`, if it has one.
    fn on_done(&mut self, answer: &mut ResponseBuilder) -> Result<(), Failure> {
        self.on_end(answer)
    }

    /// Handles the end of a body without a last event. By default, the answer counts as truncated.
    fn on_end(&mut self, answer: &mut ResponseBuilder) -> Result<(), Failure> {
        Err(answer.truncated())
    }
}

/// Decodes the body of one answer.
pub struct Decoder {
    divider: FrameSplitter,
    reader: Box<dyn FrameReader>,
    answer: ResponseBuilder,
    /// The first bytes of the body, until a frame is read.
    opening: Option<Vec<u8>>,
}

impl Decoder {
    /// Creates a decoder for the answer to `request`.
    pub(crate) fn new(
        reader: impl FrameReader + 'static,
        request: &ModelRequest,
        target: RequestTarget,
    ) -> Self {
        let calls = ToolCalls::new(request);
        let answer = ResponseBuilder::new(request.model.clone(), calls, target);
        Self::with(Framing::Events, reader, answer)
    }

    /// Creates a decoder from a framing, a reader and an answer.
    pub(crate) fn with(
        framing: Framing,
        reader: impl FrameReader + 'static,
        answer: ResponseBuilder,
    ) -> Self {
        Self {
            divider: FrameSplitter::new(framing),
            reader: Box::new(reader),
            answer,
            opening: Some(Vec::new()),
        }
    }

    /// Processes the headers of a successful response, before its body. Limits are relative to
    /// `now`.
    pub fn headers(&mut self, headers: &[(String, String)], now: SystemTime) -> Vec<StreamEvent> {
        if let Some(limits) = rate_limits(headers, now) {
            self.answer.rate_limits(limits);
        }
        self.answer.take()
    }

    /// Processes the next bytes of the body, which may be split at any byte, and returns the events
    /// that these bytes complete. Returns no events after the last event.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<StreamEvent> {
        if !self.answer.has_ended() {
            if let Some(opening) = &mut self.opening {
                let room = MAX_EXCERPT.saturating_sub(opening.len());
                opening.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            let mut frames = Vec::new();
            let divided = self.divider.feed(bytes, &mut frames);
            self.read(&frames, divided);
        }
        self.answer.take()
    }

    /// Processes the end of the body and returns the remaining events. After this call, the last
    /// event has been emitted; if the answer is incomplete, the last event is a failure.
    pub fn finish(&mut self) -> Vec<StreamEvent> {
        if !self.answer.has_ended() {
            let mut frames = Vec::new();
            let divided = self.divider.finish(&mut frames);
            // Truncation is not a format error: the reader reports a truncated body.
            self.read(&frames, divided.or(Ok(())));
        }
        if !self.answer.has_ended() {
            let ended = match self.opening.take() {
                Some(opening) => Err(self.no_answer(&opening)),
                None => self.reader.on_end(&mut self.answer),
            };
            match ended {
                Err(failure) => self.answer.fail(failure),
                Ok(()) if !self.answer.has_ended() => {
                    let failure = self.answer.truncated();
                    self.answer.fail(failure);
                }
                Ok(()) => {}
            }
        }
        self.answer.take()
    }

    /// Ends the answer with an external failure, such as a broken connection. Returns no events if
    /// the answer has already ended.
    pub fn fail(&mut self, failure: Failure) -> Vec<StreamEvent> {
        self.answer.fail(failure);
        self.answer.take()
    }

    /// Returns whether the last event has been emitted.
    pub fn has_ended(&self) -> bool {
        self.answer.has_ended()
    }

    fn read(&mut self, frames: &[StreamFrame], divided: Result<(), FrameError>) {
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

    /// Passes a frame to the wire's reader, which adds events to the answer. Ignores a truncated
    /// last frame. Fails if a frame is not JSON, or if the reader rejects it.
    fn read_one(&mut self, frame: &StreamFrame) -> Result<(), Failure> {
        if frame.data.trim() == "[DONE]" {
            self.opening = None;
            return self.reader.on_done(&mut self.answer);
        }
        match serde_json::from_str::<Value>(&frame.data) {
            Ok(value) => {
                self.opening = None;
                self.reader.on_frame(&frame.event, &value, &mut self.answer)
            }
            Err(_) if frame.is_tail => Ok(()),
            Err(error) => Err(self
                .answer
                .malformed(&format!("a frame is not JSON ({error})"))),
        }
    }

    /// Creates the failure for a body without frames: an error page, an error object, or nothing.
    fn no_answer(&self, opening: &[u8]) -> Failure {
        let text = String::from_utf8_lossy(opening);
        let text = text.trim_start_matches('\u{feff}').trim();
        let is_answer = text.is_empty() || text.starts_with("data") || text.starts_with("event");
        if is_answer || text.starts_with(':') {
            return self.answer.truncated();
        }
        refused(
            &self.answer.target,
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
