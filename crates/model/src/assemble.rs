//! Assembles a message from stream events.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::{
    Failure, Message, MessagePart, ModelId, Opaque, PartContent, Role, StopReason, StreamEvent,
    Usage,
};

/// Assembles an answer while it streams.
///
/// Tolerates irregularities that providers produce: a reused call id gets a new one, a fragment of
/// a call that never started starts one, and events after the end are ignored. Each is recorded in
/// `ModelResponse::problems`.
#[derive(Debug)]
pub struct Assembler {
    response: ModelResponse,
    /// Ids of all calls in this conversation.
    used: HashSet<String>,
    /// Open calls by their index on the wire.
    open: HashMap<u32, PartSlot>,
    /// Whether the last text or reasoning part accepts further deltas.
    is_open: bool,
    is_over: bool,
}

/// A model's answer, assembled from its stream: the message, and all that the stream reported about
/// it. The answer may be partial.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelResponse {
    /// The parts in the order in which they began.
    pub message: Message,
    /// The provider's id for the answer.
    pub id: Option<String>,
    /// The model name that the provider reports.
    pub model: Option<String>,
    /// The last reported usage.
    pub usage: Option<Usage>,
    /// Reason why the answer ended; `None` if it is unfinished or failed.
    pub stop: Option<StopReason>,
    /// The failure that ended the answer.
    pub failure: Option<Failure>,
    /// Ids of calls with incomplete arguments. They must not run.
    pub incomplete: Vec<String>,
    /// Irregularities in the stream, as sentences.
    pub problems: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
struct PartSlot {
    part: usize,
    has_ended: bool,
}

impl Assembler {
    /// Marks further call ids as used, in addition to the ids known to `new`: the ids of earlier
    /// calls that are no longer sent. A new call with a used id gets another id.
    #[must_use]
    pub fn with_used(mut self, ids: impl IntoIterator<Item = String>) -> Self {
        self.used.extend(ids);
        self
    }

    /// Creates an assembler for an answer to `messages`, whose call ids count as used.
    pub fn new(messages: &[Message]) -> Self {
        let parts = messages.iter().flat_map(|message| &message.parts);
        let used = parts.filter_map(|part| match &part.content {
            PartContent::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        });
        Self {
            response: ModelResponse::empty(),
            used: used.collect(),
            open: HashMap::new(),
            is_open: false,
            is_over: false,
        }
    }

    /// Adds the next event of the stream. Returns the id of the tool call to which the event
    /// belongs. This is the id in the message, which can differ from the id in the event. Returns
    /// `None` for other events and after the end.
    pub fn push(&mut self, event: &StreamEvent) -> Option<&str> {
        if self.is_over {
            return None;
        }
        match event {
            StreamEvent::Start { id, model } => {
                self.response.id = Some(id.clone());
                self.response.model = Some(model.clone());
            }
            StreamEvent::Restart => self.restart(),
            StreamEvent::TextDelta(text) => self.write(text, DeltaKind::Text),
            StreamEvent::ReasoningDelta(text) => self.write(text, DeltaKind::Reasoning),
            StreamEvent::Signature { index, opaque } => self.sign(*index, opaque),
            StreamEvent::ToolStart { index, id, name } => return self.start(*index, id, name),
            StreamEvent::ToolArgsDelta { index, fragment } => return self.extend(*index, fragment),
            StreamEvent::ToolEnd { index } => return self.end_call(*index),
            StreamEvent::Usage(usage) => self.response.usage = Some(*usage),
            StreamEvent::RateLimits(_) => {}
            StreamEvent::Stop { reason, .. } => {
                self.response.stop = Some(*reason);
                self.is_over = true;
            }
            StreamEvent::Failed(failure) => {
                self.response.failure = Some(failure.clone());
                self.is_over = true;
            }
        }
        None
    }

    /// Returns the answer so far.
    pub fn answer(&self) -> &ModelResponse {
        &self.response
    }

    /// Returns the answer at the end of the stream or on cancellation. `ModelResponse::incomplete`
    /// lists unfinished calls.
    pub fn finish(mut self) -> ModelResponse {
        let mut open: Vec<usize> = self
            .open
            .values()
            .filter(|slot| !slot.has_ended)
            .map(|slot| slot.part)
            .collect();
        open.sort_unstable();
        let ids = open
            .into_iter()
            .filter_map(|part| self.response.call_id(part));
        self.response.incomplete = ids.map(str::to_owned).collect();
        self.response
    }

    fn restart(&mut self) {
        let calls = std::mem::replace(&mut self.response, ModelResponse::empty()).message;
        for part in calls.parts {
            if let PartContent::ToolCall { id, .. } = &part.content {
                self.used.remove(id);
            }
        }
        self.open.clear();
        self.is_open = false;
    }

    fn write(&mut self, text: &str, kind: DeltaKind) {
        let parts = &mut self.response.message.parts;
        let last = parts.last_mut().filter(|_| self.is_open);
        match (last.map(|part| &mut Arc::make_mut(part).content), kind) {
            (Some(PartContent::Text(last)), DeltaKind::Text)
            | (Some(PartContent::Reasoning(last)), DeltaKind::Reasoning) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => {
                let text = text.to_owned();
                let part = MessagePart::new(match kind {
                    DeltaKind::Text => PartContent::Text(text),
                    DeltaKind::Reasoning => PartContent::Reasoning(text),
                });
                parts.push(part.into());
                self.is_open = true;
            }
        }
    }

    fn sign(&mut self, index: Option<u32>, opaque: &Opaque) {
        let parts = &mut self.response.message.parts;
        let target = match index {
            Some(index) => self.open.get(&index).map(|slot| slot.part),
            None if self.is_open => parts.len().checked_sub(1),
            None => None,
        };
        match target.and_then(|part| parts.get_mut(part)) {
            Some(part) => Arc::make_mut(part).opaque = Some(opaque.clone()),
            None => {
                let part = MessagePart {
                    content: PartContent::Reasoning(String::new()),
                    opaque: Some(opaque.clone()),
                };
                parts.push(part.into());
            }
        }
        if index.is_none() {
            self.is_open = false;
        }
    }

    /// Starts a tool call at `index` and returns its id, which differs from `id` if that is empty
    /// or used. An unfinished call at the same index stays as an incomplete one.
    fn start(&mut self, index: u32, id: &str, name: &str) -> Option<&str> {
        if self.open.get(&index).is_some_and(|slot| !slot.has_ended) {
            self.note(format!(
                "call {index} started twice; the first one never ended"
            ));
        }
        // A second call at the same index is a new call: the first one remains, incomplete.
        if let Some(slot) = self.open.remove(&index).filter(|slot| !slot.has_ended) {
            let spare = (0..u32::MAX)
                .rev()
                .find(|spare| !self.open.contains_key(spare));
            self.open.extend(spare.map(|spare| (spare, slot)));
        }
        let id = self.free_id(id);
        let call = MessagePart::new(PartContent::ToolCall {
            id: id.clone(),
            name: name.to_owned(),
            arguments: String::new(),
        });
        self.response.message.parts.push(call.into());
        self.used.insert(id);
        self.is_open = false;
        let part = self.response.message.parts.len() - 1;
        let slot = PartSlot {
            part,
            has_ended: false,
        };
        self.open.insert(index, slot);
        self.response.call_id(part)
    }

    /// Appends a piece of the arguments to the call at `index` and returns the id of the call.
    /// Starts a call without a name if there is none. `None` if the call has ended; the piece is
    /// dropped then.
    fn extend(&mut self, index: u32, fragment: &str) -> Option<&str> {
        if !self.open.contains_key(&index) {
            self.note(format!(
                "received arguments for call {index}, which never started"
            ));
            self.start(index, "", "");
        }
        let slot = *self.open.get(&index)?;
        if slot.has_ended {
            self.note(format!("ignored arguments for call {index} after its end"));
            return None;
        }
        let part = self.response.message.parts.get_mut(slot.part)?;
        if let PartContent::ToolCall { arguments, .. } = &mut Arc::make_mut(part).content {
            arguments.push_str(fragment);
        }
        self.response.call_id(slot.part)
    }

    /// Marks the call at `index` as complete and returns its id; `None` if it never started.
    fn end_call(&mut self, index: u32) -> Option<&str> {
        match self.open.get_mut(&index) {
            Some(slot) => {
                slot.has_ended = true;
                let part = slot.part;
                self.response.call_id(part)
            }
            None => {
                self.note(format!("call {index} ended, but never started"));
                None
            }
        }
    }

    /// Returns `id` if it is unused, otherwise a new id derived from it.
    fn free_id(&mut self, id: &str) -> String {
        let stem = if id.is_empty() { "call" } else { id };
        if !id.is_empty() && !self.used.contains(id) {
            return id.to_owned();
        }
        if !id.is_empty() {
            self.note(format!(
                "the call id {id} was reused; the new call gets a different one"
            ));
        }
        let mut number = if id.is_empty() { 1 } else { 2 };
        loop {
            let new = format!("{stem}-{number}");
            if !self.used.contains(&new) {
                return new;
            }
            number += 1;
        }
    }

    fn note(&mut self, problem: String) {
        self.response.problems.push(problem);
    }
}

#[derive(Clone, Copy)]
enum DeltaKind {
    Text,
    Reasoning,
}

impl ModelResponse {
    fn empty() -> Self {
        Self {
            message: Message {
                role: Role::Assistant,
                parts: Vec::new(),
            },
            id: None,
            model: None,
            usage: None,
            stop: None,
            failure: None,
            incomplete: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Returns the id of the tool call at the index `part` of the message's parts; `None` if there
    /// is no such part or it is not a call.
    fn call_id(&self, part: usize) -> Option<&str> {
        match &self.message.parts.get(part)?.content {
            PartContent::ToolCall { id, .. } => Some(id),
            _ => None,
        }
    }

    /// Concatenates the text parts, without separators and without reasoning.
    pub fn text(&self) -> String {
        let parts = self.message.parts.iter();
        let texts = parts.filter_map(|part| match &part.content {
            PartContent::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the calls with complete arguments, in order: id, name, arguments as sent by the
    /// model (possibly invalid JSON). Reliable only after `Assembler::finish`, which determines the
    /// calls that are incomplete.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.message
            .parts
            .iter()
            .filter_map(|part| match &part.content {
                PartContent::ToolCall {
                    id,
                    name,
                    arguments,
                } if !self.incomplete.contains(id) => {
                    Some((id.as_str(), name.as_str(), arguments.as_str()))
                }
                _ => None,
            })
    }

    /// Returns the message without incomplete calls, fit for the history: providers reject a
    /// history with an unanswered call.
    pub fn into_history(mut self) -> Message {
        let incomplete = std::mem::take(&mut self.incomplete);
        self.message.parts.retain(|part| {
            !matches!(&part.content, PartContent::ToolCall { id, .. } if incomplete.contains(id))
        });
        self.message
    }
}

/// The count of the opaque parts that `strip_foreign_parts` removed, and the models that made them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovedParts {
    /// Number of removed opaque parts.
    pub parts: usize,
    /// The models that created them, in order of appearance.
    pub models: Vec<ModelId>,
}

/// Removes from a conversation everything that only models other than `model` can read: signatures
/// and hidden reasoning. Signed reasoning is removed entirely; texts and calls remain. Messages
/// left without parts are removed.
pub fn strip_foreign_parts(messages: &mut Vec<Message>, model: &ModelId) -> RemovedParts {
    let mut removed = RemovedParts::default();
    for message in messages.iter_mut() {
        message.parts.retain_mut(|part| {
            let is_others = |opaque: &Opaque| opaque.model != *model;
            if !part.opaque.as_ref().is_some_and(is_others) {
                return true;
            }
            let part = Arc::make_mut(part);
            let Some(opaque) = part.opaque.take() else {
                return true;
            };
            removed.parts += 1;
            if !removed.models.contains(&opaque.model) {
                removed.models.push(opaque.model);
            }
            !matches!(part.content, PartContent::Reasoning(_))
        });
    }
    messages.retain(|message| !message.parts.is_empty());
    removed
}

#[cfg(test)]
mod tests;
