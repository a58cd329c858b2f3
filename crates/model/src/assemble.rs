//! Events become a message.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::{Content, Event, Failure, Message, ModelId, Opaque, Part, Role, StopReason, Usage};

/// Puts an answer together while it streams.
///
/// Robust against what providers send now and then: a call's id that was used before gets a new one, fragments of
/// a call that never began begin one, what comes after the end is ignored. Each is noted in `Answer::problems`.
#[derive(Debug)]
pub struct Assembler {
    answer: Answer,
    /// Ids of calls in this conversation.
    used: HashSet<String>,
    /// Open calls by their index on the wire.
    open: HashMap<u32, Slot>,
    /// Whether the last text or reasoning part may grow.
    is_open: bool,
    is_over: bool,
}

/// An answer, as far as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The parts in the order in which they began.
    pub message: Message,
    /// The provider's name for the answer.
    pub id: Option<String>,
    /// The model as the provider names it.
    pub model: Option<String>,
    /// What it used, as last told.
    pub usage: Option<Usage>,
    /// Why it ended; `None` while it has not, and where it failed.
    pub stop: Option<StopReason>,
    /// Why it was not completed.
    pub failure: Option<Failure>,
    /// Ids of calls whose arguments are not complete. They must not run.
    pub incomplete: Vec<String>,
    /// What was odd, in sentences.
    pub problems: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    part: usize,
    has_ended: bool,
}

impl Assembler {
    /// The same where further ids are taken: those of calls that are not sent any more.
    #[must_use]
    pub fn with_used(mut self, ids: impl IntoIterator<Item = String>) -> Self {
        self.used.extend(ids);
        self
    }

    /// For an answer to `messages`, whose calls' ids are taken.
    pub fn new(messages: &[Message]) -> Self {
        let parts = messages.iter().flat_map(|message| &message.parts);
        let used = parts.filter_map(|part| match &part.content {
            Content::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        });
        Self {
            answer: Answer::empty(),
            used: used.collect(),
            open: HashMap::new(),
            is_open: false,
            is_over: false,
        }
    }

    /// Takes the next event. Returns the id of the call that it belongs to, as the message names it.
    pub fn push(&mut self, event: &Event) -> Option<&str> {
        if self.is_over {
            return None;
        }
        match event {
            Event::Start { id, model } => {
                self.answer.id = Some(id.clone());
                self.answer.model = Some(model.clone());
            }
            Event::Restart => self.restart(),
            Event::TextDelta(text) => self.write(text, Kind::Text),
            Event::ReasoningDelta(text) => self.write(text, Kind::Reasoning),
            Event::Signature { index, opaque } => self.sign(*index, opaque),
            Event::ToolStart { index, id, name } => return self.start(*index, id, name),
            Event::ToolArgsDelta { index, fragment } => return self.extend(*index, fragment),
            Event::ToolEnd { index } => return self.end(*index),
            Event::Usage(usage) => self.answer.usage = Some(*usage),
            Event::RateLimits(_) => {}
            Event::Stop { reason, .. } => {
                self.answer.stop = Some(*reason);
                self.is_over = true;
            }
            Event::Failed(failure) => {
                self.answer.failure = Some(failure.clone());
                self.is_over = true;
            }
        }
        None
    }

    /// The answer so far.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// The answer, at the stream's end or when it was given up. Calls that did not end are named in
    /// `Answer::incomplete`.
    pub fn finish(mut self) -> Answer {
        let mut open: Vec<usize> = self
            .open
            .values()
            .filter(|slot| !slot.has_ended)
            .map(|slot| slot.part)
            .collect();
        open.sort_unstable();
        let ids = open
            .into_iter()
            .filter_map(|part| self.answer.call_id(part));
        self.answer.incomplete = ids.map(str::to_owned).collect();
        self.answer
    }

    fn restart(&mut self) {
        let calls = std::mem::replace(&mut self.answer, Answer::empty()).message;
        for part in calls.parts {
            if let Content::ToolCall { id, .. } = &part.content {
                self.used.remove(id);
            }
        }
        self.open.clear();
        self.is_open = false;
    }

    fn write(&mut self, text: &str, kind: Kind) {
        let parts = &mut self.answer.message.parts;
        let last = parts.last_mut().filter(|_| self.is_open);
        match (last.map(|part| &mut Arc::make_mut(part).content), kind) {
            (Some(Content::Text(last)), Kind::Text)
            | (Some(Content::Reasoning(last)), Kind::Reasoning) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => {
                let text = text.to_owned();
                let part = Part::new(match kind {
                    Kind::Text => Content::Text(text),
                    Kind::Reasoning => Content::Reasoning(text),
                });
                parts.push(part.into());
                self.is_open = true;
            }
        }
    }

    fn sign(&mut self, index: Option<u32>, opaque: &Opaque) {
        let parts = &mut self.answer.message.parts;
        let target = match index {
            Some(index) => self.open.get(&index).map(|slot| slot.part),
            None if self.is_open => parts.len().checked_sub(1),
            None => None,
        };
        match target.and_then(|part| parts.get_mut(part)) {
            Some(part) => Arc::make_mut(part).opaque = Some(opaque.clone()),
            None => {
                let part = Part {
                    content: Content::Reasoning(String::new()),
                    opaque: Some(opaque.clone()),
                };
                parts.push(part.into());
            }
        }
        if index.is_none() {
            self.is_open = false;
        }
    }

    fn start(&mut self, index: u32, id: &str, name: &str) -> Option<&str> {
        if self.open.get(&index).is_some_and(|slot| !slot.has_ended) {
            self.note(format!(
                "call {index} began twice; the first one never ended"
            ));
        }
        // A second call under an index is another call: the first keeps what it has, and is incomplete.
        if let Some(slot) = self.open.remove(&index).filter(|slot| !slot.has_ended) {
            let spare = (0..u32::MAX)
                .rev()
                .find(|spare| !self.open.contains_key(spare));
            self.open.extend(spare.map(|spare| (spare, slot)));
        }
        let id = self.free_id(id);
        let call = Part::new(Content::ToolCall {
            id: id.clone(),
            name: name.to_owned(),
            arguments: String::new(),
        });
        self.answer.message.parts.push(call.into());
        self.used.insert(id);
        self.is_open = false;
        let part = self.answer.message.parts.len() - 1;
        let slot = Slot {
            part,
            has_ended: false,
        };
        self.open.insert(index, slot);
        self.answer.call_id(part)
    }

    fn extend(&mut self, index: u32, fragment: &str) -> Option<&str> {
        if !self.open.contains_key(&index) {
            self.note(format!(
                "arguments came for call {index}, which never began"
            ));
            self.start(index, "", "");
        }
        let slot = *self.open.get(&index)?;
        if slot.has_ended {
            self.note(format!(
                "arguments came for call {index} after its end; they are left out"
            ));
            return None;
        }
        let part = self.answer.message.parts.get_mut(slot.part)?;
        if let Content::ToolCall { arguments, .. } = &mut Arc::make_mut(part).content {
            arguments.push_str(fragment);
        }
        self.answer.call_id(slot.part)
    }

    fn end(&mut self, index: u32) -> Option<&str> {
        match self.open.get_mut(&index) {
            Some(slot) => {
                slot.has_ended = true;
                let part = slot.part;
                self.answer.call_id(part)
            }
            None => {
                self.note(format!("call {index} ended, which never began"));
                None
            }
        }
    }

    /// The id itself if it is free, else one made from it.
    fn free_id(&mut self, id: &str) -> String {
        let stem = if id.is_empty() { "call" } else { id };
        if !id.is_empty() && !self.used.contains(id) {
            return id.to_owned();
        }
        if !id.is_empty() {
            self.note(format!(
                "the call id {id} came again; the new call has another"
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
        self.answer.problems.push(problem);
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Reasoning,
}

impl Answer {
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

    fn call_id(&self, part: usize) -> Option<&str> {
        match &self.message.parts.get(part)?.content {
            Content::ToolCall { id, .. } => Some(id),
            _ => None,
        }
    }

    /// The text parts, one after the other.
    pub fn text(&self) -> String {
        let parts = self.message.parts.iter();
        let texts = parts.filter_map(|part| match &part.content {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The calls whose arguments are complete: id, name, arguments.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.message
            .parts
            .iter()
            .filter_map(|part| match &part.content {
                Content::ToolCall {
                    id,
                    name,
                    arguments,
                } if !self.incomplete.contains(id) => {
                    Some((id.as_str(), name.as_str(), arguments.as_str()))
                }
                _ => None,
            })
    }

    /// The message without its incomplete calls, as it may stay in a conversation: a call that cannot be
    /// answered makes a history that no provider takes.
    pub fn into_history(mut self) -> Message {
        let incomplete = std::mem::take(&mut self.incomplete);
        self.message.parts.retain(|part| {
            !matches!(&part.content, Content::ToolCall { id, .. } if incomplete.contains(id))
        });
        self.message
    }
}

/// What `forget_others` took out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// How many opaque parts.
    pub parts: usize,
    /// Which models had made them, in order of appearance.
    pub models: Vec<ModelId>,
}

/// Takes out of a conversation what only other models than `model` can read: their signatures and their hidden
/// thoughts. Thoughts that were signed go as a whole, as they are another's; texts and calls stay.
pub fn forget_others(messages: &mut Vec<Message>, model: &ModelId) -> Forgotten {
    let mut forgotten = Forgotten::default();
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
            forgotten.parts += 1;
            if !forgotten.models.contains(&opaque.model) {
                forgotten.models.push(opaque.model);
            }
            !matches!(part.content, Content::Reasoning(_))
        });
    }
    messages.retain(|message| !message.parts.is_empty());
    forgotten
}

/// Tells a model that takes over a conversation whose work it finds. `None` where nothing was forgotten.
pub fn switch_note(forgotten: &Forgotten) -> Option<Message> {
    if forgotten.models.is_empty() {
        return None;
    }
    let models: Vec<String> = forgotten.models.iter().map(ModelId::to_string).collect();
    Some(Message::text(
        Role::System,
        format!(
            "Until here another model answered ({}). Its private reasoning is not shown to you; its messages, tool \
             calls and their results are. Go on from what is written, and check what you rely on.",
            models.join(", ")
        ),
    ))
}

#[cfg(test)]
mod tests;
