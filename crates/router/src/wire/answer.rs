//! What a wire's reader writes into: it keeps the order that `Event` promises.
//!
//! Invariant: after the last event nothing is written.

use model::{Event, Failure, FailureClass, ModelId, Opaque, RateLimits, StopReason, Usage};
use serde_json::Value;

use super::calls::{Calls, Contradiction, Form};
use super::failure::Site;

/// An answer as it comes.
pub(crate) struct Answer {
    pub(crate) site: Site,
    model: ModelId,
    events: Vec<Event>,
    calls: Calls,
    part: OpenPart,
    has_started: bool,
    has_ended: bool,
}

/// The last part of the answer, where deltas of its kind would go on with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenPart {
    None,
    Text(usize),
    Reasoning(usize),
}

impl Answer {
    pub(crate) fn new(model: ModelId, calls: Calls, site: Site) -> Self {
        Self {
            site,
            model,
            events: Vec::new(),
            calls,
            part: OpenPart::None,
            has_started: false,
            has_ended: false,
        }
    }

    /// Whether the last event is written.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Whether the provider said anything of an answer.
    pub(crate) fn has_started(&self) -> bool {
        self.has_started
    }

    /// How many calls began.
    pub(crate) fn calls(&self) -> usize {
        self.calls.len()
    }

    /// How many bytes the open text part holds; `None` if none is open.
    pub(crate) fn open_text(&self) -> Option<usize> {
        match self.part {
            OpenPart::Text(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// How many bytes the open reasoning part holds; `None` if none is open.
    pub(crate) fn open_reasoning(&self) -> Option<usize> {
        match self.part {
            OpenPart::Reasoning(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub(crate) fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// The first word of the provider; later ones are ignored.
    pub(crate) fn start(&mut self, id: &str, model: &str) {
        if self.has_ended || self.has_started {
            return;
        }
        self.has_started = true;
        self.events.push(Event::Start {
            id: id.to_owned(),
            model: model.to_owned(),
        });
    }

    pub(crate) fn text(&mut self, text: &str) {
        if self.has_ended || text.is_empty() {
            return;
        }
        let before = self.open_text().unwrap_or_default();
        self.part = OpenPart::Text(before + text.len());
        self.events.push(Event::TextDelta(text.to_owned()));
    }

    pub(crate) fn reasoning(&mut self, text: &str) {
        if self.has_ended || text.is_empty() {
            return;
        }
        let before = self.open_reasoning().unwrap_or_default();
        self.part = OpenPart::Reasoning(before + text.len());
        self.events.push(Event::ReasoningDelta(text.to_owned()));
    }

    /// A thought begins, perhaps without text: what is signed next is not the text before it.
    pub(crate) fn open_thought(&mut self) {
        if self.has_ended || self.open_text().is_none() {
            return;
        }
        self.part = OpenPart::Reasoning(0);
        self.events.push(Event::ReasoningDelta(String::new()));
    }

    /// Signs the open part, or a thought without text if none is open.
    pub(crate) fn sign(&mut self, data: &Value) {
        self.signature(None, data);
        self.part = OpenPart::None;
    }

    /// Signs a tool call.
    pub(crate) fn sign_call(&mut self, index: u32, data: &Value) {
        self.signature(Some(index), data);
    }

    fn signature(&mut self, index: Option<u32>, data: &Value) {
        if self.has_ended {
            return;
        }
        self.events.push(Event::Signature {
            index,
            opaque: Opaque {
                model: self.model.clone(),
                data: data.to_string(),
            },
        });
    }

    pub(crate) fn start_call(&mut self, id: &str, name: &str, form: Form) -> u32 {
        self.part = OpenPart::None;
        self.calls.start(id, name, form, &mut self.events)
    }

    pub(crate) fn arguments(&mut self, index: u32, fragment: &str) {
        self.calls.fragment(index, fragment, &mut self.events);
    }

    /// A call's arguments, whole; fails if they are not what was streamed.
    pub(crate) fn whole_arguments(&mut self, index: u32, arguments: &str) -> Result<(), Failure> {
        let events = &mut self.events;
        let whole = self.calls.whole(index, arguments, events);
        whole.map_err(|Contradiction| {
            self.malformed("the arguments of a tool call changed after they were streamed")
        })
    }

    pub(crate) fn end_call(&mut self, index: u32) {
        self.calls.end(index, &mut self.events);
    }

    pub(crate) fn usage(&mut self, usage: Usage) {
        if !self.has_ended {
            self.events.push(Event::Usage(usage));
        }
    }

    pub(crate) fn rate_limits(&mut self, limits: RateLimits) {
        if !self.has_ended {
            self.events.push(Event::RateLimits(limits));
        }
    }

    /// The answer is complete. A turn that ends in calls waits for their results, whatever the wire calls it.
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
            let failure = self.malformed("a tool call's text is cut, though the answer is not");
            return self.fail(failure);
        }
        self.has_ended = true;
        self.events.push(Event::Stop {
            reason,
            raw: raw.to_owned(),
        });
    }

    pub(crate) fn fail(&mut self, failure: Failure) {
        if self.has_ended {
            return;
        }
        self.has_ended = true;
        self.events.push(Event::Failed(failure));
    }

    /// A failure of the protocol.
    pub(crate) fn malformed(&self, what: &str) -> Failure {
        let message = format!(
            "{} broke off its protocol: {what}. Sending the request again may help.",
            self.site.name()
        );
        Failure::new(FailureClass::Malformed, message)
    }

    /// The failure of a stream that ended too soon.
    pub(crate) fn torn(&self) -> Failure {
        let message = format!(
            "The connection to {} ended before the answer was complete.",
            self.site.name()
        );
        Failure::new(FailureClass::Torn, message)
    }
}
