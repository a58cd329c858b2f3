//! What is not sent any more because a provider refused it: pictures, thoughts, the middles of long texts.

use std::collections::HashMap;
use std::sync::Arc;

use host::ContentHash;
use model::{Content, Part};

use super::{Answer, Item, PieceRole, Transcript, hash_of, is_blank};
use crate::compact::ends;
use crate::record::{Omission, Origin};

/// A picture that is sent with every request.
#[derive(Clone, Debug, PartialEq)]
pub struct SentPicture {
    /// The hash of its bytes.
    pub hash: String,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
    /// What it is and where it comes from: `picture (image/png, 120 bytes) in the result of read`.
    pub name: String,
    /// Whether no model has answered since it came, so that no provider is known to take it.
    pub is_new: bool,
}

/// Pictures that are not sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Pictures {
    /// By the hashes of their bytes: what stands for them.
    texts: HashMap<String, String>,
    /// What stands for every picture.
    all: Option<String>,
}

impl Pictures {
    /// A content as it is sent.
    pub(super) fn shown(&self, content: Content) -> Content {
        let Content::Image { bytes, .. } = &content else {
            return content;
        };
        let text = match &self.all {
            Some(text) => Some(text),
            None if self.texts.is_empty() => None,
            None => self.texts.get(&hash(bytes)),
        };
        text.map_or(content, |text| Content::Text(text.clone()))
    }
}

impl Transcript {
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

    /// The pictures that are sent, the oldest first.
    pub fn pictures(&self) -> Vec<SentPicture> {
        let last = self
            .items
            .iter()
            .rposition(|item| matches!(item, Item::Answer(_)));
        let mut pictures = Vec::new();
        for (ix, item) in self.items.iter().enumerate() {
            let is_new = last.is_none_or(|last| ix >= last);
            match item {
                Item::Said(said) => {
                    let place = match &said.origin {
                        Origin::Person => "in a prompt",
                        _ => "in an attachment",
                    };
                    pictures.extend(sent(&said.part.content, place, is_new));
                }
                Item::Answer(answer) => {
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

    /// Texts of results and of what was said that have more than `keep` bytes: the records they come from.
    pub fn longer_than(&self, keep: usize) -> Vec<u64> {
        let is_long = |content: &Content| match content {
            Content::Text(text) => text.len() > keep,
            _ => false,
        };
        let mut found = Vec::new();
        for item in &self.items {
            match item {
                Item::Said(said) if is_long(&said.part.content) => found.push(said.seq),
                Item::Said(_) => {}
                Item::Answer(answer) => {
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

    /// Whether thoughts or signatures of models are sent.
    pub fn has_thoughts(&self) -> bool {
        self.items.iter().any(|item| match item {
            Item::Answer(answer) => answer.parts.iter().any(|part| is_thought(part)),
            Item::Said(_) => false,
        })
    }

    fn show_pictures(&mut self) {
        let pictures = std::mem::take(&mut self.pictures);
        self.change(&mut |_, content| {
            if matches!(content, Content::Image { .. }) {
                *content = pictures.shown(std::mem::replace(content, Content::Text(String::new())));
            }
        });
        self.pictures = pictures;
    }

    fn cut_middle(&mut self, of: u64, keep: usize) {
        self.change(&mut |seq, content| {
            if let Content::Text(text) = content
                && seq == of
                && text.len() > keep
            {
                *text = ends(text, keep);
            }
        });
    }

    /// Hands over every content that was said or answered, with its record's number, and hashes what changed anew.
    fn change(&mut self, change: &mut dyn FnMut(u64, &mut Content)) {
        for item in &mut self.items {
            match item {
                Item::Said(said) => {
                    let part = Arc::make_mut(&mut said.part);
                    change(said.seq, &mut part.content);
                    said.hash = hash_of(PieceRole::User, part);
                }
                Item::Answer(answer) => {
                    let slots = answer.calls.iter_mut();
                    for result in slots.filter_map(|slot| slot.result.as_mut()) {
                        let part = Arc::make_mut(&mut result.part);
                        if let Content::ToolResult { content, .. } = &mut part.content {
                            for content in content {
                                change(result.seq, content);
                            }
                        }
                        result.hash = hash_of(PieceRole::User, part);
                    }
                }
            }
        }
    }

    fn forget_thoughts(&mut self, before: u64) {
        self.items.retain_mut(|item| match item {
            Item::Answer(answer) if answer.seq < before => {
                answer.forget_thoughts();
                answer.says_something()
            }
            _ => true,
        });
        self.find_places();
    }
}

impl Answer {
    fn forget_thoughts(&mut self) {
        self.parts
            .retain(|part| !matches!(part.content, Content::Reasoning(_)));
        for part in &mut self.parts {
            if part.opaque.is_some() {
                Arc::make_mut(part).opaque = None;
            }
        }
        self.parts.retain(|part| !is_blank(part));
        let parts = self.parts.iter();
        self.hashes = parts
            .map(|part| hash_of(PieceRole::Assistant, part))
            .collect();
    }
}

fn is_thought(part: &Part) -> bool {
    matches!(part.content, Content::Reasoning(_)) || part.opaque.is_some()
}

fn sent(content: &Content, place: &str, is_new: bool) -> Option<SentPicture> {
    let Content::Image { media_type, bytes } = content else {
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
