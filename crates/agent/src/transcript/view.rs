//! What compaction looks at: the conversation as a list, with where each piece can be cut.

use model::{Content, Part};

use super::{Answer, CallSlot, Item, Transcript};
use crate::outcome::Outcome;
use crate::record::Origin;

/// The conversation as compaction looks at it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View<'a> {
    /// In order. A call's result comes after all calls of its answer.
    pub items: Vec<ViewItem<'a>>,
}

/// A piece of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewItem<'a> {
    /// The record that it came with.
    pub seq: u64,
    /// Which answer it belongs to, counted from 1: its words, its calls and their results have the same number. What
    /// comes before an answer has the number of that answer.
    pub step: u64,
    /// What it is.
    pub kind: ViewKind<'a>,
    /// The call that it is, or answers.
    pub call: Option<&'a str>,
    /// Its bytes in the prompt.
    pub bytes: u64,
    /// Its text: of a call its arguments, of pictures nothing.
    pub text: &'a str,
}

/// What a piece of the conversation is.
#[derive(Clone, Debug, PartialEq)]
pub enum ViewKind<'a> {
    /// Said to the model by nobody else than its origin tells.
    Said(&'a Origin),
    /// The model's words.
    Model,
    /// The model's thought.
    Thought,
    /// A call of a tool, by the model's word for it.
    Call {
        /// The word.
        name: &'a str,
        /// The tool's own name; the model's word for it where the call has no result yet.
        tool: &'a str,
    },
    /// A call's result.
    Result {
        /// The tool's own name.
        tool: &'a str,
        /// How the call ended.
        outcome: Outcome,
    },
}

impl Transcript {
    /// The conversation as compaction looks at it. Calls that still run have no result in it.
    pub fn view(&self) -> View<'_> {
        let mut view = View::default();
        let mut step = 1;
        for item in &self.items {
            match item {
                Item::Said(said) => view.items.push(ViewItem {
                    seq: said.seq,
                    step,
                    kind: ViewKind::Said(&said.origin),
                    call: None,
                    bytes: super::pieces::part_bytes(&said.part),
                    text: text_of(&said.part),
                }),
                Item::Answer(answer) => {
                    answer.view(step, &mut view.items);
                    step += 1;
                }
            }
        }
        view
    }
}

impl Answer {
    fn view<'a>(&'a self, step: u64, items: &mut Vec<ViewItem<'a>>) {
        for part in &self.parts {
            let (kind, call) = match &part.content {
                Content::ToolCall { id, name, .. } if self.is_sent(id) => {
                    let tool = self.tool_of(id).unwrap_or(name);
                    (ViewKind::Call { name, tool }, Some(id.as_str()))
                }
                Content::ToolCall { .. } => continue,
                Content::Reasoning(_) => (ViewKind::Thought, None),
                _ => (ViewKind::Model, None),
            };
            items.push(ViewItem {
                seq: self.seq,
                step,
                kind,
                call,
                bytes: super::pieces::part_bytes(part),
                text: text_of(part),
            });
        }
        let slots = self.calls.iter().filter(|slot| !slot.is_dropped);
        items.extend(slots.filter_map(|slot| slot.view(step)));
    }

    fn tool_of(&self, id: &str) -> Option<&str> {
        let slot = self.calls.iter().find(|slot| slot.id == id)?;
        Some(slot.result.as_ref()?.tool.as_str())
    }
}

impl CallSlot {
    fn view(&self, step: u64) -> Option<ViewItem<'_>> {
        let result = self.result.as_ref()?;
        let texts = result.content().iter().filter_map(|content| match content {
            Content::Text(text) => Some(text.as_str()),
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
            bytes: super::pieces::part_bytes(&result.part),
            text: texts.max_by_key(|text| text.len()).unwrap_or_default(),
        })
    }
}

fn text_of(part: &Part) -> &str {
    match &part.content {
        Content::Text(text) | Content::Reasoning(text) => text,
        Content::ToolCall { arguments, .. } => arguments,
        _ => "",
    }
}
