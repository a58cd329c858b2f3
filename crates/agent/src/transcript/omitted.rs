//! Content that is no longer sent because a provider rejected it: images, reasoning, the middles of
//! long texts.

use std::collections::HashMap;
use std::sync::Arc;

use host::ContentHash;
use model::{MessagePart, PartContent};

use super::{AssistantMessage, SegmentRole, Transcript, TranscriptItem, hash_of, is_blank};
use crate::excerpt::head_and_tail;
use crate::record::{Omission, PromptOrigin};

/// An image that is sent with every request.
#[derive(Clone, Debug, PartialEq)]
pub struct SentPicture {
    /// The hash of its bytes.
    pub hash: String,
    /// The raw bytes of the image.
    pub bytes: Arc<[u8]>,
    /// Its type and source: `picture (image/png, 120 bytes) in the result of read`.
    pub name: String,
    /// Whether no model has answered since it was added, so that no provider is known to accept it.
    pub is_new: bool,
}

/// Images that are no longer sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Pictures {
    /// Replacement texts, by the hashes of the images' bytes.
    texts: HashMap<String, String>,
    /// The replacement text of all images.
    all: Option<String>,
}

impl Pictures {
    /// Returns the content as it is sent.
    pub(super) fn as_sent(&self, content: PartContent) -> PartContent {
        let PartContent::Image { bytes, .. } = &content else {
            return content;
        };
        let text = match &self.all {
            Some(text) => Some(text),
            None if self.texts.is_empty() => None,
            None => self.texts.get(&hash(bytes)),
        };
        text.map_or(content, |text| PartContent::Text(text.clone()))
    }
}

impl Transcript {
    /// Applies an omission from the record `seq`: the content is no longer sent, and `text` takes
    /// its place.
    pub(super) fn omit(&mut self, seq: u64, what: &Omission, text: &str) {
        match what {
            Omission::Image { hash } => {
                let texts = &mut self.pictures.texts;
                texts.insert(hash.clone(), text.to_owned());
                self.show_pictures();
            }
            Omission::Images => {
                self.pictures.all = Some(text.to_owned());
                self.show_pictures();
            }
            Omission::Reasoning => self.forget_thoughts(seq),
            Omission::Middle { seq, keep } => self.cut_middle(*seq, *keep),
            Omission::Tool { .. }
            | Omission::ToolsBeyond { .. }
            | Omission::Member { .. }
            | Omission::Beyond { .. } => {}
        }
    }

    /// Returns the images that are sent, oldest first.
    pub fn pictures(&self) -> Vec<SentPicture> {
        let last = self
            .items
            .iter()
            .rposition(|item| matches!(item, TranscriptItem::Answer(_)));
        let mut pictures = Vec::new();
        for (ix, item) in self.items.iter().enumerate() {
            let is_new = last.is_none_or(|last| ix >= last);
            match item {
                TranscriptItem::Said(said) => {
                    let place = match &said.origin {
                        PromptOrigin::Person => "in a prompt",
                        _ => "in an attachment",
                    };
                    pictures.extend(sent(&said.part.content, place, is_new));
                }
                TranscriptItem::Answer(answer) => {
                    for result in answer.calls.iter().filter_map(|slot| slot.result.as_ref()) {
                        let place = format!("in the result of {}", result.tool);
                        let found = result.content().iter();
                        pictures.extend(found.filter_map(|it| sent(it, &place, is_new)));
                    }
                }
            }
        }
        pictures
    }

    /// Returns the records with results or messages longer than `keep` bytes.
    pub fn longer_than(&self, keep: usize) -> Vec<u64> {
        let is_long = |content: &PartContent| match content {
            PartContent::Text(text) => text.len() > keep,
            _ => false,
        };
        let mut found = Vec::new();
        for item in &self.items {
            match item {
                TranscriptItem::Said(said) if is_long(&said.part.content) => found.push(said.seq),
                TranscriptItem::Said(_) => {}
                TranscriptItem::Answer(answer) => {
                    let results = answer.calls.iter().filter_map(|slot| slot.result.as_ref());
                    let long = results.filter(|result| result.content().iter().any(is_long));
                    found.extend(long.map(|result| result.seq));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns whether reasoning or signatures of models are sent.
    pub fn has_thoughts(&self) -> bool {
        self.items.iter().any(|item| match item {
            TranscriptItem::Answer(answer) => answer.parts.iter().any(|part| is_thought(part)),
            TranscriptItem::Said(_) => false,
        })
    }

    fn show_pictures(&mut self) {
        let pictures = std::mem::take(&mut self.pictures);
        self.change(&mut |_, content| {
            if matches!(content, PartContent::Image { .. }) {
                *content =
                    pictures.as_sent(std::mem::replace(content, PartContent::Text(String::new())));
            }
        });
        self.pictures = pictures;
    }

    fn cut_middle(&mut self, of: u64, keep: usize) {
        self.change(&mut |seq, content| {
            if let PartContent::Text(text) = content
                && seq == of
                && text.len() > keep
            {
                *text = head_and_tail(text, keep);
            }
        });
    }

    /// Passes every content of messages and results to `change`, with its record's number, and
    /// updates the hashes.
    fn change(&mut self, change: &mut dyn FnMut(u64, &mut PartContent)) {
        for item in &mut self.items {
            match item {
                TranscriptItem::Said(said) => {
                    let part = Arc::make_mut(&mut said.part);
                    change(said.seq, &mut part.content);
                    said.hash = hash_of(SegmentRole::User, part);
                }
                TranscriptItem::Answer(answer) => {
                    let slots = answer.calls.iter_mut();
                    for result in slots.filter_map(|slot| slot.result.as_mut()) {
                        let part = Arc::make_mut(&mut result.part);
                        if let PartContent::ToolResult { content, .. } = &mut part.content {
                            for content in content {
                                change(result.seq, content);
                            }
                        }
                        result.hash = hash_of(SegmentRole::User, part);
                    }
                }
            }
        }
    }

    fn forget_thoughts(&mut self, before: u64) {
        self.items.retain_mut(|item| match item {
            TranscriptItem::Answer(answer) if answer.seq < before => {
                answer.forget_thoughts();
                answer.says_something()
            }
            _ => true,
        });
        self.find_places();
    }
}

impl AssistantMessage {
    fn forget_thoughts(&mut self) {
        self.parts
            .retain(|part| !matches!(part.content, PartContent::Reasoning(_)));
        for part in &mut self.parts {
            if part.opaque.is_some() {
                Arc::make_mut(part).opaque = None;
            }
        }
        self.parts.retain(|part| !is_blank(part));
        let parts = self.parts.iter();
        self.hashes = parts
            .map(|part| hash_of(SegmentRole::Assistant, part))
            .collect();
    }
}

/// Returns whether a part is reasoning or has opaque data of its provider.
fn is_thought(part: &MessagePart) -> bool {
    matches!(part.content, PartContent::Reasoning(_)) || part.opaque.is_some()
}

/// Describes an image: `place` ends its name, and `is_new` is passed on. `None` for other content.
fn sent(content: &PartContent, place: &str, is_new: bool) -> Option<SentPicture> {
    let PartContent::Image { media_type, bytes } = content else {
        return None;
    };
    Some(SentPicture {
        hash: hash(bytes),
        name: format!("picture ({media_type}, {} bytes) {place}", bytes.len()),
        bytes: bytes.clone(),
        is_new,
    })
}

fn hash(bytes: &[u8]) -> String {
    format!("{:032x}", ContentHash::of(bytes).0)
}
