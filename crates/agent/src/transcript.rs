//! The conversation as a model reads it: records folded into messages.
//!
//! Knows: records. Must not know: timing, the origin of requests, how results came about.
//! Invariant: the same records give the same messages, byte for byte.
//! Invariant: the part sealed by an `Asked` record never changes afterwards, except by a
//! `Compacted`, a `SummaryEdited` or an `Omitted` record; later records only append. A provider thus finds its cached
//! prefix again.
//! Invariant: for any records, truncated anywhere, the messages are valid for every wire format:
//! see `check`.
//! Start at `Transcript::apply` and `Transcript::messages`.

mod check;
mod compacted;
mod omitted;
mod pinned;
mod segments;
mod sizes;
mod view;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use model::{Message, MessagePart, PartContent, SystemBlock};

use crate::outcome::CallOutcome;
use crate::record::{
    PromptOrigin, PromptPosition, SessionRecord, Stored, StoredContent, StoredPart,
};
use crate::stored_parts;

pub use check::problems;
pub use omitted::SentPicture;
pub use segments::{PromptFingerprint, PromptSegment, SegmentRole};
pub use view::{ConversationView, ViewItem, ViewKind};

use segments::hash_of;

/// The result of a call whose fate is unknown.
pub const INTERRUPTED: &str = "Interrupted: it is not known whether this call ran and what it did. Look at how things \
                               stand before doing it again.";
/// The text of an otherwise empty result.
const NO_OUTPUT: &str = "(no output)";

/// The conversation as a model reads it. Grows with the conversation until it is compacted.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    system: Vec<PromptPart>,
    items: Vec<TranscriptItem>,
    /// The position of each call: the index of its answer among the items, and of the call in the
    /// answer.
    places: HashMap<String, (usize, usize)>,
    /// Whether a request was already sent, so that the system prompt stays unchanged.
    was_asked: bool,
    /// Omitted images and their replacement texts.
    pictures: omitted::Pictures,
    /// The pinned texts, by their records.
    pins: BTreeMap<u64, pinned::Pin>,
}

#[derive(Clone, Debug)]
enum TranscriptItem {
    Said(PromptPart),
    Answer(AssistantMessage),
}

/// A part of a user message, or a block of the system prompt.
#[derive(Clone, Debug)]
struct PromptPart {
    seq: u64,
    origin: PromptOrigin,
    part: Arc<MessagePart>,
    hash: u64,
}

/// A model's answer with the results of its calls.
#[derive(Clone, Debug)]
struct AssistantMessage {
    seq: u64,
    model: String,
    parts: Vec<Arc<MessagePart>>,
    hashes: Vec<u64>,
    /// In the order in which the model made them.
    calls: Vec<CallSlot>,
    /// Whether a later request was sent: results that arrive afterwards are ignored.
    is_sealed: bool,
}

#[derive(Clone, Debug)]
struct CallSlot {
    id: String,
    /// The model's name for the tool.
    name: String,
    result: Option<CallResult>,
    /// Whether it is no longer sent.
    is_dropped: bool,
}

#[derive(Clone, Debug)]
struct CallResult {
    seq: u64,
    tool: String,
    outcome: CallOutcome,
    /// The result as a part with the content `PartContent::ToolResult`.
    part: Arc<MessagePart>,
    hash: u64,
}

impl Transcript {
    /// Builds the transcript of a session from its records, which must be complete and in order.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a Stored>) -> Self {
        let mut transcript = Self::default();
        for stored in records {
            transcript.apply(stored);
        }
        transcript
    }

    /// Applies the next record. Records that do not change the prompt have no effect.
    pub fn apply(&mut self, stored: &Stored) {
        let seq = stored.seq;
        match &stored.record {
            SessionRecord::Prompted { parts, .. } => {
                for part in parts {
                    self.push_prompt_part(seq, PromptOrigin::Person, stored_parts::to_part(part));
                }
            }
            SessionRecord::Joined {
                place: PromptPosition::System,
                origin,
                text,
            } if !self.was_asked => {
                let said = PromptPart::new(
                    seq,
                    origin.clone(),
                    MessagePart::text(text.as_str()),
                    SegmentRole::System,
                );
                self.system.extend(said);
            }
            SessionRecord::Joined { origin, text, .. } => {
                self.push_prompt_part(seq, origin.clone(), MessagePart::text(text.as_str()));
            }
            SessionRecord::Asked { .. } => {
                self.was_asked = true;
                self.seal();
            }
            SessionRecord::Answered { model, parts, .. } => self.answer(seq, model, parts),
            SessionRecord::CallEnded {
                call,
                tool,
                outcome,
                content,
                ..
            } => self.end_call(seq, call, tool, *outcome, content),
            SessionRecord::Compacted {
                through,
                reduced,
                dropped,
                summary,
                ..
            } => self.compact(seq, *through, reduced, dropped, summary),
            SessionRecord::SummaryEdited {
                compaction,
                summary,
            } => self.edit_summary(*compaction, summary),
            SessionRecord::Pinned { record, by, text } => self.pin(seq, *record, by, text),
            SessionRecord::Unpinned { record } => self.unpin(*record),
            SessionRecord::Omitted { what, text } => self.omit(seq, what, text),
            SessionRecord::Began { .. }
            | SessionRecord::Failed { .. }
            | SessionRecord::LeaveAsked { .. }
            | SessionRecord::LeaveGiven { .. }
            | SessionRecord::CallBegan { .. }
            | SessionRecord::Planned { .. }
            | SessionRecord::Switched { .. }
            | SessionRecord::EffortSet { .. }
            | SessionRecord::Routed { .. }
            | SessionRecord::ModeSet { .. }
            | SessionRecord::Titled { .. }
            | SessionRecord::Queued { .. }
            | SessionRecord::Noted { .. }
            | SessionRecord::TerminalControl { .. }
            | SessionRecord::Hosted { .. }
            | SessionRecord::Offered { .. }
            | SessionRecord::TurnEnded { .. } => {}
        }
    }

    /// Returns the system prompt; a cached prefix may end after its last block.
    pub fn system(&self) -> Vec<SystemBlock> {
        let last = self.system.len().saturating_sub(1);
        let blocks = self.system.iter().enumerate();
        blocks
            .filter_map(|(ix, said)| match &said.part.content {
                PartContent::Text(text) => Some(SystemBlock {
                    text: text.clone(),
                    cache: if ix == last {
                        model::CacheMark::Short
                    } else {
                        model::CacheMark::None
                    },
                }),
                _ => None,
            })
            .collect()
    }

    /// Returns the conversation after the system prompt as messages whose roles alternate:
    /// neighbouring segments of the same role are joined.
    pub fn messages(&self) -> Vec<Message> {
        let mut messages: Vec<Message> = Vec::new();
        self.walk(&mut |piece| {
            let role = match piece.role {
                SegmentRole::System => return,
                SegmentRole::User => model::Role::User,
                SegmentRole::Assistant => model::Role::Assistant,
            };
            match messages.last_mut().filter(|last| last.role == role) {
                Some(last) => last.parts.push(piece.part),
                None => messages.push(Message::new(role, [piece.part])),
            }
        });
        messages
    }

    /// Returns the model that answered last, as `provider/model`; `None` before the first answer.
    pub fn last_model(&self) -> Option<&str> {
        self.items.iter().rev().find_map(|item| match item {
            TranscriptItem::Answer(answer) => Some(answer.model.as_str()),
            TranscriptItem::Said(_) => None,
        })
    }

    /// Returns the ids of all calls so far, including those no longer sent: none may be reused.
    pub fn call_ids(&self) -> impl Iterator<Item = String> {
        self.places.keys().cloned()
    }

    /// Returns the tool names the models have used so far, as the models wrote them, without
    /// duplicates, sorted. Calls that a compaction dropped do not count.
    pub fn called(&self) -> Vec<&str> {
        let answers = self.items.iter().filter_map(|item| match item {
            TranscriptItem::Answer(answer) => Some(answer),
            TranscriptItem::Said(_) => None,
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

    /// Returns the text of the last answer, without reasoning and calls; empty before the first
    /// answer.
    #[cfg(test)]
    pub(crate) fn last_text(&self) -> String {
        let last = self.items.iter().rev().find_map(|item| match item {
            TranscriptItem::Answer(answer) => Some(answer),
            TranscriptItem::Said(_) => None,
        });
        let parts = last.map_or(&[][..], |answer| answer.parts.as_slice());
        let texts = parts.iter().filter_map(|part| match &part.content {
            PartContent::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    fn push_prompt_part(&mut self, seq: u64, origin: PromptOrigin, part: MessagePart) {
        if matches!(
            part.content,
            PartContent::ToolCall { .. }
                | PartContent::ToolResult { .. }
                | PartContent::Reasoning(_)
        ) {
            return;
        }
        let part = MessagePart {
            content: self.pictures.as_sent(part.content),
            ..part
        };
        let said = PromptPart::new(seq, origin, part, SegmentRole::User);
        self.items.extend(said.map(TranscriptItem::Said));
    }

    fn answer(&mut self, seq: u64, model: &str, stored: &[StoredPart]) {
        self.seal();
        let mut answer = AssistantMessage {
            seq,
            model: model.to_owned(),
            parts: Vec::new(),
            hashes: Vec::new(),
            calls: Vec::new(),
            is_sealed: false,
        };
        for piece in stored {
            if let StoredContent::Call { id, name, .. } = &piece.content {
                // Wire formats cannot distinguish two calls with the same id.
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
            let part = stored_parts::to_part(piece);
            if !is_blank(&part) {
                answer.hashes.push(hash_of(SegmentRole::Assistant, &part));
                answer.parts.push(part.into());
            }
        }
        if answer.says_something() {
            self.items.push(TranscriptItem::Answer(answer));
        }
    }

    fn end_call(
        &mut self,
        seq: u64,
        call: &str,
        tool: &str,
        outcome: CallOutcome,
        stored: &[StoredPart],
    ) {
        let Some(&(item, slot)) = self.places.get(call) else {
            return;
        };
        let Some(TranscriptItem::Answer(answer)) = self.items.get_mut(item) else {
            return;
        };
        let is_late = answer.is_sealed;
        if let Some(slot) = answer.calls.get_mut(slot)
            && slot.result.is_none()
            && !is_late
        {
            let content = stored
                .iter()
                .map(|part| stored_parts::content(&part.content));
            let content = content.map(|content| self.pictures.as_sent(content));
            slot.result = Some(CallResult::new(seq, call, tool, outcome, content));
        }
    }

    fn seal(&mut self) {
        for item in self.items.iter_mut().rev() {
            if let TranscriptItem::Answer(answer) = item {
                if answer.is_sealed {
                    return;
                }
                answer.is_sealed = true;
            }
        }
    }
}

impl PromptPart {
    /// Returns `None` for an empty part: wire formats reject empty texts.
    fn new(seq: u64, origin: PromptOrigin, part: MessagePart, role: SegmentRole) -> Option<Self> {
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

impl AssistantMessage {
    /// Returns whether it contains more than hidden reasoning, which alone is not a valid message.
    fn says_something(&self) -> bool {
        self.parts.iter().any(|part| match &part.content {
            PartContent::Reasoning(_) => false,
            PartContent::Text(text) => !text.trim().is_empty(),
            PartContent::ToolCall { id, .. } => self.is_sent(id),
            _ => true,
        })
    }

    /// Returns whether the call `id` is one of this message and not dropped.
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
        outcome: CallOutcome,
        content: impl Iterator<Item = PartContent>,
    ) -> Self {
        let mut content: Vec<PartContent> = content
            .filter(|content| match content {
                PartContent::Text(text) => !text.trim().is_empty(),
                PartContent::Image { .. } => true,
                _ => false,
            })
            .collect();
        if content.is_empty() {
            content.push(PartContent::Text(NO_OUTPUT.to_owned()));
        }
        let part = MessagePart::new(PartContent::ToolResult {
            call: call.to_owned(),
            content,
            is_error: outcome.is_error(),
        });
        Self {
            seq,
            tool: tool.to_owned(),
            outcome,
            hash: hash_of(SegmentRole::User, &part),
            part: part.into(),
        }
    }

    /// Returns the content of the result.
    fn content(&self) -> &[PartContent] {
        match &self.part.content {
            PartContent::ToolResult { content, .. } => content,
            _ => &[],
        }
    }
}

/// Returns whether a part would be an empty text on the wire.
fn is_blank(part: &MessagePart) -> bool {
    match &part.content {
        PartContent::Text(text) => text.trim().is_empty() && part.opaque.is_none(),
        PartContent::Reasoning(text) => text.is_empty() && part.opaque.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
