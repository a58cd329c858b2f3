//! Target of the wire readers: maintains the event order that `StreamEvent` promises.
//!
//! Invariant: nothing is written after the last event.

use model::{Failure, FailureClass, ModelId, Opaque, RateLimits, StopReason, StreamEvent, Usage};
use serde_json::Value;

use super::calls::{ArgumentForm, Contradiction, ToolCalls};
use super::failure::RequestTarget;

/// An answer under construction.
pub(crate) struct ResponseBuilder {
    pub(crate) target: RequestTarget,
    model: ModelId,
    events: Vec<StreamEvent>,
    calls: ToolCalls,
    part: OpenPart,
    has_started: bool,
    has_ended: bool,
}

/// The last part of the answer, if further deltas would extend it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenPart {
    None,
    Text(usize),
    Reasoning(usize),
}

impl ResponseBuilder {
    /// Creates an answer without events.
    pub(crate) fn new(model: ModelId, calls: ToolCalls, target: RequestTarget) -> Self {
        Self {
            target,
            model,
            events: Vec::new(),
            calls,
            part: OpenPart::None,
            has_started: false,
            has_ended: false,
        }
    }

    /// Returns whether the last event is written.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Returns whether the provider has sent any part of an answer.
    pub(crate) fn has_started(&self) -> bool {
        self.has_started
    }

    /// Returns the number of calls started.
    pub(crate) fn calls(&self) -> usize {
        self.calls.len()
    }

    /// Returns the number of bytes in the open text part; `None` if none is open.
    pub(crate) fn open_text(&self) -> Option<usize> {
        match self.part {
            OpenPart::Text(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns the number of bytes in the open reasoning part; `None` if none is open.
    pub(crate) fn open_reasoning(&self) -> Option<usize> {
        match self.part {
            OpenPart::Reasoning(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Removes and returns the events written since the last call, in order; empty if there are
    /// none. Writing can go on afterwards.
    pub(crate) fn take(&mut self) -> Vec<StreamEvent> {
        std::mem::take(&mut self.events)
    }

    /// Writes the start event; later ones are ignored.
    pub(crate) fn start(&mut self, id: &str, model: &str) {
        if self.has_ended || self.has_started {
            return;
        }
        self.has_started = true;
        self.events.push(StreamEvent::Start {
            id: id.to_owned(),
            model: model.to_owned(),
        });
    }

    /// Adds to the open text part, or opens one. Ignored if `text` is empty or the answer has
    /// ended.
    pub(crate) fn text(&mut self, text: &str) {
        if self.has_ended || text.is_empty() {
            return;
        }
        let before = self.open_text().unwrap_or_default();
        self.part = OpenPart::Text(before + text.len());
        self.events.push(StreamEvent::TextDelta(text.to_owned()));
    }

    /// Adds to the open reasoning part, or opens one. Ignored if `text` is empty or the answer has
    /// ended.
    pub(crate) fn reasoning(&mut self, text: &str) {
        if self.has_ended || text.is_empty() {
            return;
        }
        let before = self.open_reasoning().unwrap_or_default();
        self.part = OpenPart::Reasoning(before + text.len());
        self.events
            .push(StreamEvent::ReasoningDelta(text.to_owned()));
    }

    /// Opens a reasoning part, possibly without text, so that a signature does not apply to the
    /// text before it.
    pub(crate) fn open_thought(&mut self) {
        if self.has_ended || self.open_text().is_none() {
            return;
        }
        self.part = OpenPart::Reasoning(0);
        self.events.push(StreamEvent::ReasoningDelta(String::new()));
    }

    /// Signs the open part, or an empty reasoning part if none is open.
    pub(crate) fn sign(&mut self, data: &Value) {
        self.signature(None, data);
        self.part = OpenPart::None;
    }

    /// Adds a signature to the tool call with this index.
    pub(crate) fn sign_call(&mut self, index: u32, data: &Value) {
        self.signature(Some(index), data);
    }

    fn signature(&mut self, index: Option<u32>, data: &Value) {
        if self.has_ended {
            return;
        }
        self.events.push(StreamEvent::Signature {
            index,
            opaque: Opaque {
                model: self.model.clone(),
                data: data.to_string(),
            },
        });
    }

    /// Starts a tool call, which closes the open part. Returns its index, counted from 0 in the
    /// answer.
    pub(crate) fn start_call(&mut self, id: &str, name: &str, form: ArgumentForm) -> u32 {
        self.part = OpenPart::None;
        self.calls.start(id, name, form, &mut self.events)
    }

    /// Adds a fragment of a call's arguments. Ignored if it is empty or the call is unknown or
    /// ended.
    pub(crate) fn arguments(&mut self, index: u32, fragment: &str) {
        self.calls.fragment(index, fragment, &mut self.events);
    }

    /// Sets the complete arguments of a call; fails if they contradict the streamed ones.
    pub(crate) fn whole_arguments(&mut self, index: u32, arguments: &str) -> Result<(), Failure> {
        let events = &mut self.events;
        let whole = self.calls.set_arguments(index, arguments, events);
        whole.map_err(|Contradiction| {
            self.malformed("the arguments of a tool call changed after they were streamed")
        })
    }

    /// Ends a call; ignored if it is unknown or ended. If its arguments are truncated, no end is
    /// written, and `stop` decides whether that is an error.
    pub(crate) fn end_call(&mut self, index: u32) {
        self.calls.finish_call(index, &mut self.events);
    }

    /// Writes the usage, unless the answer has ended.
    pub(crate) fn usage(&mut self, usage: Usage) {
        if !self.has_ended {
            self.events.push(StreamEvent::Usage(usage));
        }
    }

    /// Writes the rate limits, unless the answer has ended.
    pub(crate) fn rate_limits(&mut self, limits: RateLimits) {
        if !self.has_ended {
            self.events.push(StreamEvent::RateLimits(limits));
        }
    }

    /// Completes the answer. A turn that ends in calls waits for their results, whatever the wire's
    /// stop reason.
    pub(crate) fn stop(&mut self, reason: StopReason, raw: &str) {
        if self.has_ended {
            return;
        }
        let reason = match reason {
            StopReason::EndTurn if self.calls.len() > 0 => StopReason::ToolUse,
            StopReason::ToolUse if self.calls.len() == 0 => StopReason::EndTurn,
            reason => reason,
        };
        if self.calls.close(reason, &mut self.events).is_err() {
            let failure = self.malformed("a tool call's text is truncated in a complete answer");
            return self.fail(failure);
        }
        self.has_ended = true;
        self.events.push(StreamEvent::Stop {
            reason,
            raw: raw.to_owned(),
        });
    }

    /// Ends the answer with a failure, unless it has ended.
    pub(crate) fn fail(&mut self, failure: Failure) {
        if self.has_ended {
            return;
        }
        self.has_ended = true;
        self.events.push(StreamEvent::Failed(failure));
    }

    /// Creates the failure for a violation of the protocol.
    pub(crate) fn malformed(&self, what: &str) -> Failure {
        let message = format!(
            "{} violated its protocol: {what}. Sending the request again may help.",
            self.target.name()
        );
        Failure::new(FailureClass::Malformed, message)
    }

    /// Creates the failure for a stream that ended too early.
    pub(crate) fn truncated(&self) -> Failure {
        let message = format!(
            "The connection to {} ended before the answer was complete.",
            self.target.name()
        );
        Failure::new(FailureClass::Torn, message)
    }
}
