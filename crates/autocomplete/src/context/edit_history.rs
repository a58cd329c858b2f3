//! The user's recent edits in all texts, with keystrokes grouped into edits, as unified diffs.
//!
//! Invariant: holds at most `MOST` edits; each keeps snapshots of the text before and after it,
//! which share structure.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::time::Duration;

use base::{AbsPath, Row};
use text::{Change, RowHunk, Snapshot};

use super::{PromptWindow, shown_path};
use crate::{ChangeCause, EditorState};

/// Maximum number of edits kept.
const MAX_EDITS: usize = 16;
/// Maximum distance in rows between changes of one edit.
const NEAR: u32 = 2;
/// After this pause a change starts a new edit.
const PAUSE: Duration = Duration::from_secs(10);
/// Context lines around a change in a diff.
const CONTEXT: u32 = 3;
/// Longest diff that is shown to a model, in bytes.
const MAX_DIFF_BYTES: usize = 4_096;

/// History of the user's recent edits.
#[derive(Debug, Default)]
pub struct EditHistory {
    edits: VecDeque<EditHistoryEntry>,
}

/// A past edit as shown to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastEdit {
    /// Path of the file.
    pub path: String,
    /// Hunks of a unified diff without file headers; ends in a line feed.
    pub diff: String,
    /// Changed rows before the edit.
    pub old: String,
    /// Changed rows after the edit.
    pub new: String,
    /// Whether the edit is an accepted suggestion.
    pub was_accepted: bool,
}

#[derive(Debug)]
struct EditHistoryEntry {
    file: Option<AbsPath>,
    before: Snapshot,
    after: Snapshot,
    change: Change,
    was_accepted: bool,
    last: Duration,
    told: OnceCell<Option<(String, String, String)>>,
}

impl EditHistory {
    /// Records a change. Changes that the user did not make are not shown to models, but end the
    /// current edit.
    pub fn edited(
        &mut self,
        file: Option<&AbsPath>,
        (before, after): (&Snapshot, &Snapshot),
        change: &Change,
        (cause, now): (ChangeCause, Duration),
    ) {
        // Skipping the change breaks the revision chain, so the next edit does not join the last
        // one.
        if change.is_empty() || cause == ChangeCause::Other {
            return;
        }
        let was_accepted = cause == ChangeCause::Accepted;
        let joins = |last: &&mut EditHistoryEntry| {
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
        if self.edits.len() == MAX_EDITS {
            self.edits.pop_front();
        }
        self.edits.push_back(EditHistoryEntry {
            file: file.cloned(),
            before: before.clone(),
            after: after.clone(),
            change: change.clone(),
            was_accepted,
            last: now,
            told: OnceCell::new(),
        });
    }

    /// Returns the edits, the newest first, with paths relative to `root`.
    pub fn newest_first(&self, root: Option<&AbsPath>) -> impl Iterator<Item = PastEdit> {
        self.edits.iter().rev().filter_map(move |entry| {
            let (diff, old, new) = entry.rendered_diff()?.clone();
            Some(PastEdit {
                path: shown_path(entry.file.as_ref(), root),
                diff,
                old,
                new,
                was_accepted: entry.was_accepted,
            })
        })
    }

    /// Returns the editable part of a window as it was before the newest edit, if that edit lies
    /// inside it.
    pub(super) fn before(&self, state: &EditorState, window: &PromptWindow) -> Option<String> {
        let last = self.edits.back()?;
        let is_here = last.file == state.path && last.after.revision() == state.snapshot.revision();
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

impl EditHistoryEntry {
    /// Whether a change of the text after this edit is near enough to continue it.
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

    /// Returns the diff and the changed rows before and after; `None` if the edit has no net effect
    /// or its diff is too long.
    fn rendered_diff(&self) -> Option<&(String, String, String)> {
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
            (diff.len() <= MAX_DIFF_BYTES).then_some((diff, old, new))
        });
        told.as_ref()
    }
}

/// Formats the hunks of a unified diff, merging those whose context overlaps.
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

/// Returns the number of rows that a diff counts: the empty row after a final line feed is not one.
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
