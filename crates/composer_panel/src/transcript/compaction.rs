//! The compactions of a conversation: the dropped parts, the sizes, the summary.

use agent::compact::SummaryOutline;
use agent::{SessionRecord, Stored};

use super::{ItemChange, Transcript, TranscriptEntry};

/// A compaction in the transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionItem {
    /// The number of its record.
    pub seq: u64,
    /// The reason, as a clause; empty if it is not recorded.
    pub why: String,
    /// Tokens of the prompt before and after; `None` if they are not recorded.
    pub tokens: Option<(u64, u64)>,
    /// Bytes of the prompt before and after.
    pub bytes: (u64, u64),
    /// Titles of the calls whose results were shortened.
    pub reduced: Vec<String>,
    /// Titles of the calls that are no longer sent.
    pub dropped: Vec<String>,
    /// The summary in place of older messages; `None` if only results were shortened.
    pub summary: Option<SummaryOutline>,
    /// Whether the user edited the summary.
    pub is_edited: bool,
    /// Whether requests still contain the summary: no later compaction replaced it.
    pub is_current: bool,
}

impl Transcript {
    /// Returns the latest compaction whose summary is still sent.
    pub fn current_summary(&self) -> Option<&CompactionItem> {
        let mut items = self.items.iter().rev();
        items.find_map(|item| match item {
            TranscriptEntry::Compacted(it) if it.is_current && it.summary.is_some() => Some(&**it),
            _ => None,
        })
    }

    /// Applies the record of a compaction, or of an edit of its summary.
    pub(super) fn compaction_record(&mut self, stored: &Stored) -> Vec<ItemChange> {
        match &stored.record {
            SessionRecord::Compacted {
                reduced,
                dropped,
                summary,
                bytes,
                tokens,
                why,
                ..
            } => {
                let has_summary = !summary.trim().is_empty();
                let mut changes = Vec::new();
                if has_summary {
                    changes = self.change_compactions(|it| std::mem::take(&mut it.is_current));
                }
                let item = CompactionItem {
                    seq: stored.seq,
                    why: why.clone(),
                    tokens: *tokens,
                    bytes: *bytes,
                    reduced: reduced
                        .iter()
                        .map(|(call, _)| self.call_title(call))
                        .collect(),
                    dropped: dropped.iter().map(|call| self.call_title(call)).collect(),
                    summary: has_summary.then(|| SummaryOutline::of(summary)),
                    is_edited: false,
                    is_current: has_summary,
                };
                changes.extend(self.add(TranscriptEntry::Compacted(Box::new(item))));
                changes
            }
            SessionRecord::SummaryEdited {
                compaction,
                summary,
            } => self.change_compactions(|it| {
                let is_it = it.seq == *compaction && it.is_current;
                if is_it {
                    it.summary = Some(SummaryOutline::of(summary));
                    it.is_edited = true;
                }
                is_it
            }),
            _ => Vec::new(),
        }
    }

    /// Changes the compactions for which `change` returns true.
    fn change_compactions(
        &mut self,
        mut change: impl FnMut(&mut CompactionItem) -> bool,
    ) -> Vec<ItemChange> {
        let items = self.items.iter_mut().enumerate();
        let changed = items.filter_map(|(at, item)| match item {
            TranscriptEntry::Compacted(it) => change(it).then_some(ItemChange::Changed(at)),
            _ => None,
        });
        changed.collect()
    }

    /// Returns the title of a call, or its id if the transcript lacks it.
    fn call_title(&self, call: &str) -> String {
        let item = self.calls.get(call).and_then(|at| self.items.get(*at));
        match item {
            Some(TranscriptEntry::Call(it)) => it.title.clone(),
            _ => call.to_owned(),
        }
    }
}
