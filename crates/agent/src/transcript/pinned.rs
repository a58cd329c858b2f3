//! Texts that the user pinned: after a compaction they are sent again, word for word.
//!
//! Invariant: as long as a text is pinned, every prompt has all of it: at its place, or after the
//! summary.
//! Start at `Transcript::pin` and `Transcript::restore_pins`.

use model::{MessagePart, PartContent};

use super::{CallResult, PromptPart, SegmentRole, Transcript, TranscriptItem};
use crate::record::PromptOrigin;

/// A pinned text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pin {
    /// Its author: "user", "agent" or a tool.
    by: String,
    text: String,
}

impl Transcript {
    /// Returns whether the text of a record is pinned.
    pub(crate) fn is_pinned(&self, record: u64) -> bool {
        self.pins.contains_key(&record)
    }

    /// Pins the text of a record. A text that is not sent any more is added again. `seq` is the number
    /// of the record of the pin.
    pub(super) fn pin(&mut self, seq: u64, record: u64, by: &str, text: &str) {
        let pin = Pin {
            by: by.to_owned(),
            text: text.to_owned(),
        };
        if !self.holds(record, &pin) {
            self.items
                .extend(pin.part(seq, record).map(TranscriptItem::Said));
        }
        self.pins.insert(record, pin);
    }

    /// Unpins the text of a record. A copy of it stays until the next compaction, so that the prefix
    /// of the prompt does not change.
    pub(super) fn unpin(&mut self, record: u64) {
        self.pins.remove(&record);
    }

    /// Adds the pinned texts that the compaction with the record `seq` took out, after its summary.
    pub(super) fn restore_pins(&mut self, seq: u64) {
        let pins = std::mem::take(&mut self.pins);
        self.items.retain(|item| match item {
            TranscriptItem::Said(said) => match said.origin {
                PromptOrigin::Pinned { record } => pins.contains_key(&record),
                _ => true,
            },
            TranscriptItem::Answer(_) => true,
        });
        let missing = pins
            .iter()
            .filter(|(record, pin)| !self.holds(**record, pin));
        let missing: Vec<TranscriptItem> = missing
            .filter_map(|(record, pin)| pin.part(seq, *record))
            .map(TranscriptItem::Said)
            .collect();
        let is_summary = |item: &TranscriptItem| matches!(item, TranscriptItem::Said(said) if said.origin == PromptOrigin::Summary);
        let at = usize::from(self.items.first().is_some_and(is_summary));
        self.items.splice(at..at, missing);
        self.pins = pins;
    }

    /// Returns whether the prompt has all of a pinned text: in its record, in a copy, or in the
    /// summary, which keeps messages of the user.
    fn holds(&self, record: u64, pin: &Pin) -> bool {
        let kept = format!("\n{}\n</said", pin.text);
        self.items.iter().any(|item| match item {
            TranscriptItem::Said(said) => match (&said.origin, &said.part.content) {
                (PromptOrigin::Pinned { record: of }, _) => *of == record,
                (PromptOrigin::Summary, PartContent::Text(text)) => text.contains(&kept),
                (PromptOrigin::Summary, _) => false,
                _ => said.seq == record,
            },
            TranscriptItem::Answer(answer) => {
                let mut slots = answer.calls.iter().filter(|slot| !slot.is_dropped);
                answer.seq == record
                    || slots.any(|slot| {
                        let result = slot.result.as_ref();
                        result.is_some_and(|it| it.seq == record && it.text() == pin.text)
                    })
            }
        })
    }
}

impl Pin {
    /// Returns the text in a frame that a text with such a tag cannot close.
    fn part(&self, seq: u64, record: u64) -> Option<PromptPart> {
        let Self { by, text } = self;
        let text =
            format!("<pinned by=\"{by}\" nth=\"{record}\">\n{text}\n</pinned nth=\"{record}\">\n");
        let origin = PromptOrigin::Pinned { record };
        PromptPart::new(seq, origin, MessagePart::text(text), SegmentRole::User)
    }
}

impl CallResult {
    /// Returns the texts of the result, as `stored_parts::texts` joins them.
    fn text(&self) -> String {
        let texts = self.content().iter().filter_map(|content| match content {
            PartContent::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}
