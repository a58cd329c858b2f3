//! The conversation as a list, for compaction, with the positions at which it can be cut.

use model::{MessagePart, PartContent};

use super::{AssistantMessage, CallSlot, Transcript, TranscriptItem};
use crate::outcome::CallOutcome;
use crate::record::PromptOrigin;

/// The conversation as compaction sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConversationView<'a> {
    /// In order. A call's result comes after all calls of its answer.
    pub items: Vec<ViewItem<'a>>,
}

/// A segment of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewItem<'a> {
    /// The record that contains it.
    pub seq: u64,
    /// The number of its answer, from 1: the texts, calls and results of an answer share it.
    /// Segments before an answer have the number of that answer.
    pub step: u64,
    /// The kind of the segment.
    pub kind: ViewKind<'a>,
    /// The id of the call or of the answered call.
    pub call: Option<&'a str>,
    /// Its size in the prompt, in bytes.
    pub bytes: u64,
    /// Its text: the arguments of a call; empty for images.
    pub text: &'a str,
}

/// The kind of a segment.
#[derive(Clone, Debug, PartialEq)]
pub enum ViewKind<'a> {
    /// A message to the model, with its origin.
    Said(&'a PromptOrigin),
    /// Text of the model.
    Model,
    /// Reasoning of the model.
    Thought,
    /// A tool call of the model.
    Call {
        /// The model's name for the tool.
        name: &'a str,
        /// The tool's own name; the model's name if the call has no result yet.
        tool: &'a str,
    },
    /// The result of a call.
    Result {
        /// The tool's own name.
        tool: &'a str,
        /// The class of the result.
        outcome: CallOutcome,
    },
}

impl Transcript {
    /// Returns the conversation for compaction. Running calls have no result in it.
    pub fn view(&self) -> ConversationView<'_> {
        let mut view = ConversationView::default();
        let mut step = 1;
        for item in &self.items {
            match item {
                TranscriptItem::Said(said) => view.items.push(ViewItem {
                    seq: said.seq,
                    step,
                    kind: ViewKind::Said(&said.origin),
                    call: None,
                    bytes: super::segments::part_bytes(&said.part),
                    text: text_of(&said.part),
                }),
                TranscriptItem::Answer(answer) => {
                    answer.view(step, &mut view.items);
                    step += 1;
                }
            }
        }
        view
    }
}

impl AssistantMessage {
    fn view<'a>(&'a self, step: u64, items: &mut Vec<ViewItem<'a>>) {
        for part in &self.parts {
            let (kind, call) = match &part.content {
                PartContent::ToolCall { id, name, .. } if self.is_sent(id) => {
                    let tool = self.tool_of(id).unwrap_or(name);
                    (ViewKind::Call { name, tool }, Some(id.as_str()))
                }
                PartContent::ToolCall { .. } => continue,
                PartContent::Reasoning(_) => (ViewKind::Thought, None),
                _ => (ViewKind::Model, None),
            };
            items.push(ViewItem {
                seq: self.seq,
                step,
                kind,
                call,
                bytes: super::segments::part_bytes(part),
                text: text_of(part),
            });
        }
        let slots = self.calls.iter().filter(|slot| !slot.is_dropped);
        items.extend(slots.filter_map(|slot| slot.view(step)));
    }

    /// Returns the own name of the tool of the call `id`; `None` if the message has no such call or
    /// it has no result yet.
    fn tool_of(&self, id: &str) -> Option<&str> {
        let slot = self.calls.iter().find(|slot| slot.id == id)?;
        Some(slot.result.as_ref()?.tool.as_str())
    }
}

impl CallSlot {
    /// Returns the call's result as an item of the step `step`, with the longest of its texts;
    /// `None` if it has no result yet.
    fn view(&self, step: u64) -> Option<ViewItem<'_>> {
        let result = self.result.as_ref()?;
        let texts = result.content().iter().filter_map(|content| match content {
            PartContent::Text(text) => Some(text.as_str()),
            _ => None,
        });
        Some(ViewItem {
            seq: result.seq,
            step,
            kind: ViewKind::Result {
                tool: &result.tool,
                outcome: result.outcome,
            },
            call: Some(&self.id),
            bytes: super::segments::part_bytes(&result.part),
            text: texts.max_by_key(|text| text.len()).unwrap_or_default(),
        })
    }
}

fn text_of(part: &MessagePart) -> &str {
    match &part.content {
        PartContent::Text(text) | PartContent::Reasoning(text) => text,
        PartContent::ToolCall { arguments, .. } => arguments,
        _ => "",
    }
}
