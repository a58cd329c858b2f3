//! The person's recent edits in all texts, keystrokes taken together, as unified diffs.
//!
//! Invariant: at most `MOST` edits; each remembers the text before and behind it, which share what they have in common.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::time::Duration;

use base::{AbsPath, Row};
use text::{Change, RowHunk, Snapshot};

use super::{Window, shown_path};
use crate::{Cause, Scene};

/// Edits that are remembered.
const MOST: usize = 16;
/// Changes so many rows apart are one edit.
const NEAR: u32 = 2;
/// So much later it is another edit, wherever it is.
const PAUSE: Duration = Duration::from_secs(10);
/// Lines around a change that a diff shows.
const CONTEXT: u32 = 3;
/// Longer diffs are not told, in bytes.
const MOST_DIFF: usize = 4_096;

/// What changed lately.
#[derive(Debug, Default)]
pub struct EditTrail {
    edits: VecDeque<Entry>,
}

/// An edit as a model is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastEdit {
    /// The file's path.
    pub path: String,
    /// The hunks of a unified diff, without the lines that name the file; ends in a line feed.
    pub diff: String,
    /// The rows that changed, as they were.
    pub old: String,
    /// The same rows now.
    pub new: String,
    /// Whether it was a suggestion that the person took.
    pub was_accepted: bool,
}

#[derive(Debug)]
struct Entry {
    file: Option<AbsPath>,
    before: Snapshot,
    after: Snapshot,
    change: Change,
    was_accepted: bool,
    last: Duration,
    told: OnceCell<Option<(String, String, String)>>,
}

impl EditTrail {
    /// Takes note of a change. What the person did not do is not told to models, but ends the edit before it.
    pub fn edited(
        &mut self,
        file: Option<&AbsPath>,
        (before, after): (&Snapshot, &Snapshot),
        change: &Change,
        (cause, now): (Cause, Duration),
    ) {
        // The next edit starts from another text than the last one led to, so it will not join it.
        if change.is_empty() || cause == Cause::Other {
            return;
        }
        let was_accepted = cause == Cause::Accepted;
        let joins = |last: &&mut Entry| {
            last.file.as_ref() == file
                && last.after.revision() == change.before
                && last.was_accepted == was_accepted
                && now.saturating_sub(last.last) < PAUSE
                && last.is_near(change, before)
        };
        if let Some(last) = self.edits.back_mut().filter(joins) {
            last.change = last.change.compose(change);
            last.after = after.clone();
            last.last = now;
            last.told = OnceCell::new();
            return;
        }
        if self.edits.len() == MOST {
            self.edits.pop_front();
        }
        self.edits.push_back(Entry {
            file: file.cloned(),
            before: before.clone(),
            after: after.clone(),
            change: change.clone(),
            was_accepted,
            last: now,
            told: OnceCell::new(),
        });
    }

    /// The edits, the newest first, with paths below `root`.
    pub fn newest_first(&self, root: Option<&AbsPath>) -> impl Iterator<Item = PastEdit> {
        self.edits.iter().rev().filter_map(move |entry| {
            let (diff, old, new) = entry.told()?.clone();
            Some(PastEdit {
                path: shown_path(entry.file.as_ref(), root),
                diff,
                old,
                new,
                was_accepted: entry.was_accepted,
            })
        })
    }

    /// What the editable part of a window was before the newest edit, if that was in it.
    pub(super) fn before(&self, scene: &Scene, window: &Window) -> Option<String> {
        let last = self.edits.back()?;
        let is_here = last.file == scene.path && last.after.revision() == scene.snapshot.revision();
        let start = window.region_start();
        let region = base::Span::new(start, start + window.region().len());
        let touches = last
            .change
            .splices
            .iter()
            .any(|splice| region.start <= splice.new.start && splice.new.end <= region.end);
        if !is_here || !touches {
            return None;
        }
        let back = last.change.inverse();
        let start = back.map(region.start, base::Bias::Left);
        let end = back.map(region.end, base::Bias::Right);
        Some(last.before.text(base::Span::new(start, end)).into_owned())
    }
}

impl Entry {
    /// Whether a change of its later text is so near that it goes on with the edit.
    fn is_near(&self, change: &Change, text: &Snapshot) -> bool {
        let row = |offset| text.point_at(offset).row.0;
        let (Some(first), Some(last)) = (self.change.splices.first(), self.change.splices.last())
        else {
            return false;
        };
        let (top, bottom) = (row(first.new.start), row(last.new.end));
        change.splices.iter().all(|splice| {
            row(splice.old.start) + NEAR >= top && row(splice.old.end) <= bottom + NEAR
        })
    }

    /// The diff, and the rows before and behind; `None` where nothing is left of the edit, or too much.
    fn told(&self) -> Option<&(String, String, String)> {
        let told = self.told.get_or_init(|| {
            let hunks = self.before.diff_rows(&self.after);
            let (first, last) = (hunks.first()?, hunks.last()?);
            let diff = unified(&self.before, &self.after, &hunks);
            let rows = |text: &Snapshot, first: Row, end: Row| {
                let span = base::Span::new(text.row_start(first), text.row_start(end));
                text.text(span).into_owned()
            };
            let old = rows(&self.before, first.before.start, last.before.end);
            let new = rows(&self.after, first.after.start, last.after.end);
            (diff.len() <= MOST_DIFF).then_some((diff, old, new))
        });
        told.as_ref()
    }
}

/// The hunks of a unified diff, those near each other in one.
fn unified(before: &Snapshot, after: &Snapshot, hunks: &[RowHunk]) -> String {
    let mut text = String::new();
    let mut rest = hunks;
    while let Some(first) = rest.first() {
        let near = |pair: &&[RowHunk]| pair[1].before.start.0 <= pair[0].before.end.0 + 2 * CONTEXT;
        let count = 1 + rest.windows(2).take_while(near).count();
        let (group, later) = rest.split_at(count);
        rest = later;
        let end = group.last().unwrap_or(first);
        let from = first.before.start.0.saturating_sub(CONTEXT);
        let lead = first.before.start.0 - from;
        let to = (end.before.end.0 + CONTEXT).min(rows_of(before));
        let trail = to - end.before.end.0;
        let new_from = first.after.start.0 - lead;
        let new_to = end.after.end.0 + trail;
        text.push_str(&format!(
            "@@ -{},{} +{},{} @@\n",
            from + 1,
            to - from,
            new_from + 1,
            new_to - new_from
        ));
        let mut row = from;
        for hunk in group {
            push_rows(&mut text, ' ', before, row..hunk.before.start.0);
            push_rows(
                &mut text,
                '-',
                before,
                hunk.before.start.0..hunk.before.end.0,
            );
            push_rows(&mut text, '+', after, hunk.after.start.0..hunk.after.end.0);
            row = hunk.before.end.0;
        }
        push_rows(&mut text, ' ', before, row..to);
    }
    text
}

/// How many rows a diff counts: the empty one behind a last line feed is none.
fn rows_of(text: &Snapshot) -> u32 {
    let last = text.last_row();
    last.0 + u32::from(text.row_len(last).0 > 0)
}

fn push_rows(diff: &mut String, sign: char, text: &Snapshot, rows: std::ops::Range<u32>) {
    for row in rows {
        diff.push(sign);
        diff.push_str(&text.row_text(Row(row)));
        diff.push('\n');
    }
}

#[cfg(test)]
mod tests;
