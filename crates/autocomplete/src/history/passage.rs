//! Successive edits within a few rows, as a unified diff.

use std::cell::OnceCell;
use std::time::Duration;

use base::{AbsPath, Row, Span};
use text::{Change, RowHunk, Snapshot};

use super::DocumentEdit;
use crate::ChangeCause;

/// Maximum distance in rows between changes of one passage.
const NEAR: u32 = 2;
/// After this pause a change begins a new passage.
const PAUSE: Duration = Duration::from_secs(10);
/// Context lines around a change in a diff.
const CONTEXT: u32 = 3;
/// Longest diff that is shown to a model, in bytes.
const MAX_DIFF_BYTES: usize = 4_096;

/// Successive edits of one text within a few rows, as one change from the text before the first to
/// the text after the last.
pub(crate) struct Passage {
    pub(crate) path: Option<AbsPath>,
    pub(crate) before: Snapshot,
    pub(crate) after: Snapshot,
    /// Change from `before` to `after`.
    pub(crate) change: Change,
    /// Whether the edits are accepted suggestions.
    pub(crate) was_accepted: bool,
    last: Duration,
    diff: OnceCell<Option<PassageDiff>>,
}

/// The net effect of a passage.
pub(crate) struct PassageDiff {
    /// Hunks of a unified diff without file headers; ends in a line feed.
    pub(crate) diff: String,
    /// Changed rows before the passage.
    pub(crate) old: String,
    /// Changed rows after the passage.
    pub(crate) new: String,
}

impl Passage {
    pub(super) fn begin(edit: &DocumentEdit, now: Duration) -> Self {
        Self {
            path: edit.state.path.clone(),
            before: edit.before.clone(),
            after: edit.after().clone(),
            change: edit.change.clone(),
            was_accepted: edit.cause == ChangeCause::Accepted,
            last: now,
            diff: OnceCell::new(),
        }
    }

    /// Whether a change that begins an edit continues this passage.
    pub(super) fn is_continued_by(&self, edit: &DocumentEdit, now: Duration) -> bool {
        self.path == edit.state.path
            && self.after.revision() == edit.change.before
            && self.was_accepted == (edit.cause == ChangeCause::Accepted)
            && now.saturating_sub(self.last) < PAUSE
            && self.is_near(&edit.change, &edit.before)
    }

    pub(super) fn join(&mut self, edit: &DocumentEdit, now: Duration) {
        self.change = self.change.compose(&edit.change);
        self.after = edit.after().clone();
        self.last = now;
        self.diff = OnceCell::new();
    }

    /// Whether a change of the text after this passage lies within its rows or near them.
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

    /// Returns the diff; `None` if the passage has no net effect or its diff is too long. The first
    /// call after a change takes time proportional to the text.
    pub(crate) fn diff(&self) -> Option<&PassageDiff> {
        let diff = self.diff.get_or_init(|| {
            let hunks = self.before.diff_rows(&self.after);
            let (first, last) = (hunks.first()?, hunks.last()?);
            let rows = |text: &Snapshot, first: Row, end: Row| {
                let span = Span::new(text.row_start(first), text.row_start(end));
                text.text(span).into_owned()
            };
            let diff = PassageDiff {
                diff: unified(&self.before, &self.after, &hunks),
                old: rows(&self.before, first.before.start, last.before.end),
                new: rows(&self.after, first.after.start, last.after.end),
            };
            (diff.diff.len() <= MAX_DIFF_BYTES).then_some(diff)
        });
        diff.as_ref()
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
