//! The messages that wait in a session: a fold over its records, the same for engine and views.
//!
//! Knows: records. Must not know: turns, channels, the disk.
//! Invariant: an entry leaves the queue in the group of records that writes it into the
//! conversation, or when the user removes it; a crash loses none and repeats none.
//! Start at `PromptQueue::apply`.

use crate::record::{Delivery, QueueChange, QueuedPrompt, SessionRecord, Stored};
use crate::session::UserPrompt;
use crate::stored_parts;

impl QueuedPrompt {
    /// Returns the message as the user wrote it.
    pub fn prompt(&self) -> UserPrompt {
        let images = self.parts.iter().map(stored_parts::to_part);
        UserPrompt {
            text: stored_parts::texts(&self.parts),
            images: images
                .map(|part| part.content)
                .filter(|content| matches!(content, model::PartContent::Image { .. }))
                .collect(),
        }
    }
}

/// The messages that wait in a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptQueue {
    entries: Vec<QueuedPrompt>,
    is_held: bool,
    last_id: u64,
}

impl PromptQueue {
    /// Returns the queue that these records leave.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a Stored>) -> Self {
        let mut queue = Self::default();
        for stored in records {
            queue.apply_record(&stored.record);
        }
        queue
    }

    /// Applies a record. Returns whether the queue changed.
    pub fn apply_record(&mut self, record: &SessionRecord) -> bool {
        match record {
            SessionRecord::Queued { change } => self.apply(change),
            _ => false,
        }
    }

    /// Applies a change. Returns whether the queue changed.
    pub fn apply(&mut self, change: &QueueChange) -> bool {
        let before = (self.entries.len(), self.is_held);
        match change {
            QueueChange::Added { entry } => {
                self.last_id = self.last_id.max(entry.id);
                self.entries.push(entry.clone());
            }
            QueueChange::Removed { id } | QueueChange::Sent { id } => {
                self.entries.retain(|entry| entry.id != *id);
            }
            QueueChange::Moved { id, before } => return self.move_before(*id, *before),
            QueueChange::Promoted { id } => {
                let first = self.entries.first().map(|entry| entry.id);
                let Some(ix) = self.position(*id) else {
                    return false;
                };
                self.entries[ix].delivery = Delivery::NextRequest;
                if first != Some(*id) {
                    self.move_before(*id, first);
                }
                return true;
            }
            QueueChange::Held => self.is_held = true,
            QueueChange::Released => self.is_held = false,
        }
        if self.entries.is_empty() {
            self.is_held = false;
        }
        before != (self.entries.len(), self.is_held)
    }

    /// The waiting messages, next first.
    pub fn entries(&self) -> &[QueuedPrompt] {
        &self.entries
    }

    /// Returns the entry with this id, unless it has left the queue.
    pub fn entry(&self, id: u64) -> Option<&QueuedPrompt> {
        self.entries.get(self.position(id)?)
    }

    /// Whether the messages wait until the user sends them, since a turn did not end well.
    pub fn is_held(&self) -> bool {
        self.is_held
    }

    /// Whether a turn begins by itself once the session is idle.
    pub fn sends_next(&self) -> bool {
        !self.is_held && !self.entries.is_empty()
    }

    /// Creates an entry for a message; `Added` adds it.
    pub(crate) fn new_entry(&self, prompt: &UserPrompt, delivery: Delivery) -> QueuedPrompt {
        let images = prompt.images.iter().cloned();
        let images = images.map(model::MessagePart::new);
        let images = images.filter_map(|part| stored_parts::to_stored(&part));
        QueuedPrompt {
            id: self.last_id + 1,
            parts: std::iter::once(stored_parts::text(prompt.text.as_str()))
                .chain(images)
                .collect(),
            delivery,
        }
    }

    fn move_before(&mut self, id: u64, before: Option<u64>) -> bool {
        let Some(from) = self.position(id) else {
            return false;
        };
        if before == Some(id) {
            return false;
        }
        let entry = self.entries.remove(from);
        let to = before.and_then(|before| self.position(before));
        let to = to.unwrap_or(self.entries.len());
        self.entries.insert(to, entry);
        from != to
    }

    fn position(&self, id: u64) -> Option<usize> {
        self.entries.iter().position(|entry| entry.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(texts: &[&str]) -> PromptQueue {
        let mut queue = PromptQueue::default();
        for text in texts {
            let prompt = UserPrompt {
                text: (*text).to_owned(),
                images: Vec::new(),
            };
            let entry = queue.new_entry(&prompt, Delivery::NextTurn);
            queue.apply(&QueueChange::Added { entry });
        }
        queue
    }

    fn check(changes: &[QueueChange], expected: &str) {
        let mut queue = queue(&["a", "b", "c"]);
        for change in changes {
            queue.apply(change);
        }
        let entries = queue.entries().iter();
        let shown: String = entries.map(|entry| entry.prompt().text).collect();
        let hold = if queue.is_held() { "!" } else { "" };
        assert_eq!(format!("{shown}{hold}"), expected, "{changes:?}");
    }

    #[test]
    fn changes_apply_in_order() {
        use QueueChange::{Held, Moved, Promoted, Released, Removed, Sent};
        check(&[], "abc");
        check(
            &[Moved {
                id: 3,
                before: Some(1),
            }],
            "cab",
        );
        check(
            &[Moved {
                id: 1,
                before: None,
            }],
            "bca",
        );
        check(
            &[Moved {
                id: 2,
                before: Some(2),
            }],
            "abc",
        );
        check(&[Promoted { id: 3 }], "cab");
        check(&[Promoted { id: 1 }], "abc");
        check(&[Removed { id: 2 }, Sent { id: 9 }], "ac");
        check(&[Held], "abc!");
        check(&[Held, Released], "abc");
        let sent = |id| Sent { id };
        check(&[Held, sent(1), sent(2), sent(3)], "");
    }

    #[test]
    fn removed_ids_are_not_used_again() {
        let mut queue = queue(&["a", "b"]);
        queue.apply(&QueueChange::Removed { id: 2 });
        let entry = queue.new_entry(&UserPrompt::default(), Delivery::NextTurn);
        assert_eq!(entry.id, 3);
    }
}
