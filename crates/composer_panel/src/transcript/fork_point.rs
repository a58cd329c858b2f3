//! The records that a fork from an item of the transcript copies.

use agent::{AgentEvent, SessionRecord};

use super::{ItemChange, Transcript, TranscriptEntry};

/// The part of a session that a fork from an item copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForkPoint {
    /// The records up to and including this number.
    After(u64),
    /// The turns before the message; up to and including this record, or nothing.
    Before(Option<u64>),
}

impl Transcript {
    /// Returns the part of the session that a fork from an item copies: up to the item, or the turns
    /// before a message of the user. Returns `None` while the item is streaming.
    pub fn fork_point(&self, at: usize) -> Option<ForkPoint> {
        self.fork_points.get(at).copied().flatten()
    }

    /// Returns the number of the record that ended the last turn; `None` before the end of the first.
    pub fn last_turn_end(&self) -> Option<u64> {
        self.last_end
    }

    pub(super) fn update_fork_points(&mut self, change: &ItemChange, event: &AgentEvent) {
        let seq = match event {
            // A pin changes how an item is shown, and not the record that it shows.
            AgentEvent::Recorded(stored) if !is_pin(&stored.record) => Some(stored.seq),
            _ => None,
        };
        let last_end = self.last_end;
        let point = |item: &TranscriptEntry| match item {
            TranscriptEntry::Context(_)
            | TranscriptEntry::User {
                is_steering: false, ..
            } => ForkPoint::Before(last_end),
            _ => ForkPoint::After(seq.unwrap_or_default()),
        };
        match change {
            ItemChange::Replaced(old, count) => {
                let new = self.items.get(old.start..old.start + count);
                let new = new.unwrap_or_default().iter();
                let new: Vec<_> = new.map(|item| seq.map(|_| point(item))).collect();
                self.fork_points.splice(old.clone(), new);
                let records = std::iter::repeat_n(seq, *count);
                self.item_records.splice(old.clone(), records);
            }
            ItemChange::Changed(at) => {
                if let (Some(_), Some(item), Some(known)) =
                    (seq, self.items.get(*at), self.fork_points.get_mut(*at))
                {
                    *known = Some(point(item));
                }
                if let (Some(seq), Some(record)) = (seq, self.item_records.get_mut(*at)) {
                    *record = Some(seq);
                }
            }
        }
    }
}

fn is_pin(record: &SessionRecord) -> bool {
    matches!(
        record,
        SessionRecord::Pinned { .. } | SessionRecord::Unpinned { .. }
    )
}
