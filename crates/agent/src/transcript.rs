//! What a model reads of a session: records folded into messages.
//!
//! Knows: records. Must not know: who asks, when, or how results came about.
//! Invariant: the same records give the same messages, byte for byte.
//! Invariant: what an `Asked` record sealed never changes afterwards, but by a `Compacted` or an `Omitted` record;
//! later records only add behind it. So a provider finds its cached prefix again.
//! Invariant: whatever the records are and wherever they break off, the messages are valid for every wire: see
//! `check`.
//! Start at `Transcript::apply` and `Transcript::messages`.

mod check;
mod compacted;
mod omitted;
mod pieces;
mod view;

use std::collections::HashMap;
use std::sync::Arc;

use model::{Content, Message, Part, SystemBlock};

use crate::outcome::Outcome;
use crate::parts;
use crate::record::{Origin, PromptPlace, Record, Stored, StoredContent, StoredPart};

pub use check::problems;
pub use omitted::SentPicture;
pub use pieces::{Fingerprint, Piece, PieceRole};
pub use view::{View, ViewItem, ViewKind};

use pieces::hash_of;

/// What stands for the result of a call of which nobody knows what became.
pub const INTERRUPTED: &str = "Interrupted: it is not known whether this call ran and what it did. Look at how things \
                               stand before doing it again.";
/// What stands for an answer that says nothing.
const NO_OUTPUT: &str = "(no output)";

/// The records of a session as a model reads them. Grows with the conversation until it is compacted.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    system: Vec<Said>,
    items: Vec<Item>,
    /// Where each call stands: its answer among the items, and which of its calls it is.
    places: HashMap<String, (usize, usize)>,
    /// Whether a model was asked already, so that the system prompt stays as it is.
    was_asked: bool,
    /// Pictures that are not sent, and what stands for them.
    pictures: omitted::Pictures,
}

#[derive(Clone, Debug)]
enum Item {
    Said(Said),
    Answer(Answer),
}

/// Something in a user message, or a block of the system prompt.
#[derive(Clone, Debug)]
struct Said {
    seq: u64,
    origin: Origin,
    part: Arc<Part>,
    hash: u64,
}

/// A model's answer with the results of its calls.
#[derive(Clone, Debug)]
struct Answer {
    seq: u64,
    model: String,
    parts: Vec<Arc<Part>>,
    hashes: Vec<u64>,
    /// In the order in which the model made them.
    calls: Vec<CallSlot>,
    /// Whether a model was asked since: results that come later are too late.
    is_sealed: bool,
}

#[derive(Clone, Debug)]
struct CallSlot {
    id: String,
    /// The model's word for the tool.
    name: String,
    result: Option<CallResult>,
    /// Whether it is not sent any more.
    is_dropped: bool,
}

#[derive(Clone, Debug)]
struct CallResult {
    seq: u64,
    tool: String,
    outcome: Outcome,
    /// A `Content::ToolResult`.
    part: Arc<Part>,
    hash: u64,
}

impl Transcript {
    /// The transcript of these records.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a Stored>) -> Self {
        let mut transcript = Self::default();
        for stored in records {
            transcript.apply(stored);
        }
        transcript
    }

    /// Takes the next record.
    pub fn apply(&mut self, stored: &Stored) {
        let seq = stored.seq;
        match &stored.record {
            Record::Prompted { parts, .. } => {
                for part in parts {
                    self.say(seq, Origin::Person, parts::part(part));
                }
            }
            Record::Joined {
                place: PromptPlace::System,
                origin,
                text,
            } if !self.was_asked => {
                let said = Said::new(
                    seq,
                    origin.clone(),
                    Part::text(text.as_str()),
                    PieceRole::System,
                );
                self.system.extend(said);
            }
            Record::Joined { origin, text, .. } => {
                self.say(seq, origin.clone(), Part::text(text.as_str()));
            }
            Record::Asked { .. } => {
                self.was_asked = true;
                self.seal();
            }
            Record::Answered { model, parts, .. } => self.answer(seq, model, parts),
            Record::CallEnded {
                call,
                tool,
                outcome,
                content,
                ..
            } => self.end_call(seq, call, tool, *outcome, content),
            Record::Compacted {
                through,
                reduced,
                dropped,
                summary,
                ..
            } => self.compact(seq, *through, reduced, dropped, summary),
            Record::Omitted { what, text } => self.omit(seq, what, text),
            Record::Began { .. }
            | Record::Failed { .. }
            | Record::LeaveAsked { .. }
            | Record::LeaveGiven { .. }
            | Record::CallBegan { .. }
            | Record::Planned { .. }
            | Record::Switched { .. }
            | Record::ModeSet { .. }
            | Record::Titled { .. }
            | Record::Noted { .. }
            | Record::TurnEnded { .. } => {}
        }
    }

    /// The system prompt; a cached prefix may end after its last block.
    pub fn system(&self) -> Vec<SystemBlock> {
        let last = self.system.len().saturating_sub(1);
        let blocks = self.system.iter().enumerate();
        blocks
            .filter_map(|(ix, said)| match &said.part.content {
                Content::Text(text) => Some(SystemBlock {
                    text: text.clone(),
                    cache: match ix == last {
                        true => model::CacheMark::Short,
                        false => model::CacheMark::None,
                    },
                }),
                _ => None,
            })
            .collect()
    }

    /// The conversation.
    pub fn messages(&self) -> Vec<Message> {
        let mut messages: Vec<Message> = Vec::new();
        self.walk(&mut |piece| {
            let role = match piece.role {
                PieceRole::System => return,
                PieceRole::User => model::Role::User,
                PieceRole::Assistant => model::Role::Assistant,
            };
            match messages.last_mut().filter(|last| last.role == role) {
                Some(last) => last.parts.push(piece.part),
                None => messages.push(Message::new(role, [piece.part])),
            }
        });
        messages
    }

    /// The model that answered last, as `provider/model`.
    pub fn last_model(&self) -> Option<&str> {
        self.items.iter().rev().find_map(|item| match item {
            Item::Answer(answer) => Some(answer.model.as_str()),
            Item::Said(_) => None,
        })
    }

    /// The ids of all calls so far, those that are not sent any more included: none may be used again.
    pub fn call_ids(&self) -> impl Iterator<Item = String> {
        self.places.keys().cloned()
    }

    /// The names by which tools were called so far, each once, sorted.
    pub fn called(&self) -> Vec<&str> {
        let answers = self.items.iter().filter_map(|item| match item {
            Item::Answer(answer) => Some(answer),
            Item::Said(_) => None,
        });
        let calls = answers.flat_map(|answer| &answer.calls);
        let mut names: Vec<&str> = calls
            .filter(|slot| !slot.is_dropped)
            .map(|slot| slot.name.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The text of the last answer.
    pub fn last_text(&self) -> String {
        let last = self.items.iter().rev().find_map(|item| match item {
            Item::Answer(answer) => Some(answer),
            Item::Said(_) => None,
        });
        let parts = last.map_or(&[][..], |answer| answer.parts.as_slice());
        let texts = parts.iter().filter_map(|part| match &part.content {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    fn say(&mut self, seq: u64, origin: Origin, part: Part) {
        if matches!(
            part.content,
            Content::ToolCall { .. } | Content::ToolResult { .. } | Content::Reasoning(_)
        ) {
            return;
        }
        let part = Part {
            content: self.pictures.shown(part.content),
            ..part
        };
        let said = Said::new(seq, origin, part, PieceRole::User);
        self.items.extend(said.map(Item::Said));
    }

    fn answer(&mut self, seq: u64, model: &str, stored: &[StoredPart]) {
        self.seal();
        let mut answer = Answer {
            seq,
            model: model.to_owned(),
            parts: Vec::new(),
            hashes: Vec::new(),
            calls: Vec::new(),
            is_sealed: false,
        };
        for piece in stored {
            if let StoredContent::Call { id, name, .. } = &piece.content {
                // Two calls of one id could not be told apart by any wire.
                let is_new = !self.places.contains_key(id);
                if !is_new || name.is_empty() {
                    continue;
                }
                let place = (self.items.len(), answer.calls.len());
                self.places.insert(id.clone(), place);
                answer.calls.push(CallSlot {
                    id: id.clone(),
                    name: name.clone(),
                    result: None,
                    is_dropped: false,
                });
            }
            let part = parts::part(piece);
            if !is_blank(&part) {
                answer.hashes.push(hash_of(PieceRole::Assistant, &part));
                answer.parts.push(part.into());
            }
        }
        if answer.says_something() {
            self.items.push(Item::Answer(answer));
        }
    }

    fn end_call(
        &mut self,
        seq: u64,
        call: &str,
        tool: &str,
        outcome: Outcome,
        stored: &[StoredPart],
    ) {
        let Some(&(item, slot)) = self.places.get(call) else {
            return;
        };
        let Some(Item::Answer(answer)) = self.items.get_mut(item) else {
            return;
        };
        let is_late = answer.is_sealed;
        if let Some(slot) = answer.calls.get_mut(slot)
            && slot.result.is_none()
            && !is_late
        {
            let content = stored.iter().map(|part| parts::content(&part.content));
            let content = content.map(|content| self.pictures.shown(content));
            slot.result = Some(CallResult::new(seq, call, tool, outcome, content));
        }
    }

    fn seal(&mut self) {
        for item in self.items.iter_mut().rev() {
            if let Item::Answer(answer) = item {
                if answer.is_sealed {
                    return;
                }
                answer.is_sealed = true;
            }
        }
    }
}

impl Said {
    /// `None` where it says nothing: no wire takes empty texts.
    fn new(seq: u64, origin: Origin, part: Part, role: PieceRole) -> Option<Self> {
        if is_blank(&part) {
            return None;
        }
        let hash = hash_of(role, &part);
        Some(Self {
            seq,
            origin,
            part: part.into(),
            hash,
        })
    }
}

impl Answer {
    /// Whether there is more to it than hidden thought, which alone is no message.
    fn says_something(&self) -> bool {
        self.parts.iter().any(|part| match &part.content {
            Content::Reasoning(_) => false,
            Content::Text(text) => !text.trim().is_empty(),
            Content::ToolCall { id, .. } => self.is_sent(id),
            _ => true,
        })
    }

    fn is_sent(&self, id: &str) -> bool {
        let mut slots = self.calls.iter();
        slots.any(|slot| slot.id == id && !slot.is_dropped)
    }
}

impl CallResult {
    fn new(
        seq: u64,
        call: &str,
        tool: &str,
        outcome: Outcome,
        content: impl Iterator<Item = Content>,
    ) -> Self {
        let mut content: Vec<Content> = content
            .filter(|content| match content {
                Content::Text(text) => !text.trim().is_empty(),
                Content::Image { .. } => true,
                _ => false,
            })
            .collect();
        if content.is_empty() {
            content.push(Content::Text(NO_OUTPUT.to_owned()));
        }
        let part = Part::new(Content::ToolResult {
            call: call.to_owned(),
            content,
            is_error: outcome.is_error(),
        });
        Self {
            seq,
            tool: tool.to_owned(),
            outcome,
            hash: hash_of(PieceRole::User, &part),
            part: part.into(),
        }
    }

    /// What the model is told.
    fn content(&self) -> &[Content] {
        match &self.part.content {
            Content::ToolResult { content, .. } => content,
            _ => &[],
        }
    }
}

/// Whether a part would be an empty text on the wire.
fn is_blank(part: &Part) -> bool {
    match &part.content {
        Content::Text(text) => text.trim().is_empty() && part.opaque.is_none(),
        Content::Reasoning(text) => text.is_empty() && part.opaque.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
