//! Wrapping in the background.
//!
//! A job holds a snapshot of its lines; edits during its run are recorded, and only the results for
//! unchanged lines are used.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use sum_tree::SumTree;

use crate::shown_text::{LineEdit, ShownText};
use crate::wrap::{
    AtColumn, LineReplacement, WrapItem, WrapOptions, WrapSummary, plain, wrap_lines,
};

/// A run of lines to wrap on another thread. `DisplayMap::wrap_job` creates it.
pub struct WrapJob {
    pub(crate) id: u64,
    pub(crate) shown: ShownText,
    pub(crate) lines: Range<u32>,
    pub(crate) options: WrapOptions,
    pub(crate) generation: u32,
}

/// The rows of a run of wrapped lines, to be passed to `DisplayMap::accept`.
pub struct WrapDone {
    pub(crate) id: u64,
    items: SumTree<WrapItem>,
}

impl WrapJob {
    /// Wraps the lines. Takes time proportional to their length. Returns `None` if `cancel` was
    /// set.
    pub fn run(self, cancel: &AtomicBool) -> Option<WrapDone> {
        let items = wrap_lines(
            &self.shown,
            self.lines,
            self.options,
            self.generation,
            cancel,
        )?;
        Some(WrapDone { id: self.id, items })
    }
}

/// The running job, and those of its lines that have not been edited since the job started.
pub(crate) struct PendingWrapJob {
    pub(crate) id: u64,
    pub(crate) generation: u32,
    /// Unchanged lines, sorted by number.
    parts: Vec<LineMapping>,
}

/// Lines in the job's numbering, and their current first line.
struct LineMapping {
    lines: Range<u32>,
    now: u32,
}

impl PendingWrapJob {
    /// Records a job that starts now, with all of its lines unchanged.
    pub(crate) fn new(job: &WrapJob) -> Self {
        let part = LineMapping {
            lines: 0..job.lines.len() as u32,
            now: job.lines.start,
        };
        Self {
            id: job.id,
            generation: job.generation,
            parts: vec![part],
        }
    }

    /// Applies line edits, which must be sorted and disjoint. Removes edited lines from the job,
    /// and moves the lines after them.
    pub(crate) fn edit(&mut self, edits: &[LineEdit]) {
        let mut parts = Vec::new();
        let mut next_edit = 0;
        for part in self.parts.drain(..) {
            let part_end = part.now + part.lines.len() as u32;
            // An edit before the part only moves it; one at its border may not touch it.
            while edits
                .get(next_edit)
                .is_some_and(|edit| edit.old.end <= part.now)
            {
                next_edit += 1;
            }
            let mut at = part.now;
            let mut ix = next_edit;
            loop {
                let edit = edits.get(ix).filter(|edit| edit.old.start < part_end);
                let untouched_end = edit.map_or(part_end, |edit| edit.old.start);
                if untouched_end > at {
                    let from = part.lines.start + (at - part.now);
                    let before = ix.checked_sub(1).map(|before| &edits[before]);
                    parts.push(LineMapping {
                        lines: from..from + (untouched_end - at),
                        now: before.map_or(at, |edit| at - edit.old.end + edit.new.end),
                    });
                }
                match edit {
                    Some(edit) => at = edit.old.end.max(at),
                    None => break,
                }
                ix += 1;
            }
        }
        self.parts = parts;
    }

    /// Returns the results for the lines that are still unchanged.
    pub(crate) fn replacements(self, done: &WrapDone) -> Vec<LineReplacement> {
        let parts = self.parts.into_iter().map(|part| LineReplacement {
            old_lines: part.now..part.now + part.lines.len() as u32,
            items: lines_of(&done.items, part.lines),
        });
        parts.collect()
    }
}

/// Some lines out of wrapped ones.
fn lines_of(items: &SumTree<WrapItem>, lines: Range<u32>) -> SumTree<WrapItem> {
    let mut cursor = items.cursor::<WrapSummary>(());
    cursor.seek(&AtColumn(lines.start, 0), sum_tree::Bias::Right);
    let mut found = SumTree::new(());
    if let Some(WrapItem::Plain { generation, .. }) = cursor.item() {
        let end = cursor.end().lines.min(lines.end);
        found = plain(end - lines.start, *generation);
        if end == lines.end {
            return found;
        }
        cursor.next();
    }
    found.append(
        cursor.slice(&AtColumn(lines.end, 0), sum_tree::Bias::Right),
        (),
    );
    if let Some(WrapItem::Plain { generation, .. }) = cursor.item() {
        let start = cursor.start().lines;
        found.append(plain(lines.end.saturating_sub(start), *generation), ());
    }
    found
}
