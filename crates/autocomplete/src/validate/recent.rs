//! Recently removed text, which suggestions must not restore at once.
//!
//! A suggestion brings a text back if it leaves the whole text at the place where the user deleted
//! it, undid it or rejected it, with nothing but closing characters added to its row. After the user
//! has deleted `f(a)`, `f(a)` and `f(a);` bring it back; `f(a, b)`, which only begins like it, does
//! not. Rows that were deleted as rows also come back above or below the place. As soon as the user
//! types anything at the place that the removed text does not begin with, it may come back.
//!
//! Must not know: which keystrokes belong together; `EditHistory` joins successive deletions.
//! Invariant: at most `MAX_ENTRIES` entries of at most `MAX_ENTRY_BYTES`; a longer one is cut at its
//! end.
//! Limitations: unsaved texts share their entries; an entry that applies to the wrong one only
//! suppresses a suggestion.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use base::{AbsPath, Bias, ByteOffset, Row, Span};
use text::{Change, Snapshot, Splice};

use super::suffix::{is_closer, is_word};
use super::{TypeMembers, is_distinctive};
use crate::history::{DeletionRun, start_of};
use crate::{ChangeCause, DocumentEdit, EditHistory, EditorState, Suggestion};

/// Maximum number of entries kept.
const MAX_ENTRIES: usize = 32;
/// Maximum bytes kept of one entry's text.
const MAX_ENTRY_BYTES: usize = 4_096;
/// Maximum bytes of a row after an entry that are compared.
const MAX_REST_BYTES: usize = 512;
/// Time for which an entry stays effective.
const LASTS: Duration = Duration::from_secs(30);
/// Blanks within a row.
const BLANKS: [char; 2] = [' ', '\t'];

/// Text that was deleted, undone or rejected in the last seconds, which suggestions must not
/// restore.
#[derive(Clone, Debug, Default)]
pub struct RecentEdits {
    entries: VecDeque<RecentReplacement>,
    names: Option<Arc<TypeMembers>>,
}

/// A replacement that must not be reverted.
#[derive(Clone, Debug)]
struct RecentReplacement {
    file: Option<AbsPath>,
    /// Position of the change, in the current text.
    at: Span,
    /// Text that must not be restored; may be empty.
    removed: String,
    /// The last deletion of the run, which must not be restored either; may be empty.
    last: String,
    /// Text that must not be removed again; may be empty.
    kept: String,
    /// Number of the deletion run that it holds; the run may grow.
    run: Option<u64>,
    since: Duration,
}

impl RecentEdits {
    /// Records the text that a change removed, and maps earlier entries through the change.
    /// `history` must have recorded this change last. `now` is the time of the change.
    pub fn edited(&mut self, edit: &DocumentEdit, history: &EditHistory, now: Duration) {
        let (path, change) = (edit.path(), &edit.change);
        self.entries
            .retain(|entry| now.saturating_sub(entry.since) < LASTS);
        for entry in self
            .entries
            .iter_mut()
            .filter(|it| it.file.as_ref() == path)
        {
            // Text typed at an entry's position belongs to the entry.
            let start = change.map(entry.at.start, Bias::Left);
            let end = change.map(entry.at.end, Bias::Right);
            entry.at = Span::new(start, end.max(start));
        }
        match history.deletion() {
            Some(run) => self.deleted(edit, run, now),
            None => self.replaced(edit, now),
        }
        // Text that the user typed again is no longer removed, and other text in its place means
        // that the user went on.
        self.entries.retain(|entry| {
            let is_here = entry.file.as_ref() == path;
            !(is_here && (entry.has_come_back(edit.after()) || entry.is_contradicted_by(edit)))
        });
    }

    /// Records that the user rejected a suggestion at `now`. For a while after that, the same text
    /// is not offered again.
    pub fn rejected(&mut self, state: &EditorState, suggestion: &Suggestion, now: Duration) {
        for edit in &suggestion.edits {
            // Rejecting a deletion means that the text stays.
            let what = if edit.new.trim().is_empty() {
                ("", edit.old.as_ref())
            } else {
                (edit.new.as_ref(), "")
            };
            self.note(state.path.as_ref(), edit.span, what, now);
        }
    }

    /// Sets the member names of a text's types, computed in the background.
    pub fn set_names(&mut self, names: Arc<TypeMembers>) {
        self.names = Some(names);
    }

    /// Returns the member names last set by `set_names`; `None` before the first call.
    pub(super) fn names(&self) -> Option<&TypeMembers> {
        self.names.as_deref()
    }

    /// Whether a proposed change would restore removed text or remove restored text.
    pub(super) fn brings_back(
        &self,
        file: Option<&AbsPath>,
        before: &Snapshot,
        after: &Snapshot,
        change: &Change,
    ) -> bool {
        let here = self
            .entries
            .iter()
            .filter(|entry| entry.file.as_ref() == file);
        here.filter(|entry| entry.at.end <= before.len())
            .any(|entry| entry.comes_back(before, after, change))
    }

    /// Records successive deletions as one entry.
    fn deleted(&mut self, edit: &DocumentEdit, run: &DeletionRun, now: Duration) {
        let is_run = |last: &&mut RecentReplacement| last.run == Some(run.number);
        if let Some(last) = self.entries.back_mut().filter(is_run) {
            clipped(&run.text).clone_into(&mut last.removed);
            last.last = text_of(edit);
            last.since = now;
            return;
        }
        let at = edit.change.splices.first().map(|splice| splice.new);
        // A blank starts an entry too, since the letters before it may be deleted next.
        if let Some(at) = at {
            self.push(edit.path(), at, (&run.text, ""), (Some(run.number), now));
        }
    }

    /// Records each replacement of a change that does not delete at one offset alone.
    fn replaced(&mut self, edit: &DocumentEdit, now: Duration) {
        for splice in &edit.change.splices {
            let removed = start_of(&edit.before, splice.old, MAX_ENTRY_BYTES);
            match edit.cause {
                ChangeCause::Typed if splice.new.is_empty() => {
                    self.push(edit.path(), splice.new, (&removed, ""), (None, now));
                }
                ChangeCause::Typed => self.note(edit.path(), splice.new, (&removed, ""), now),
                ChangeCause::Undone => {
                    let came = start_of(edit.after(), splice.new, MAX_ENTRY_BYTES);
                    self.note(edit.path(), splice.new, (&removed, &came), now);
                }
                ChangeCause::Accepted | ChangeCause::Other => {}
            }
        }
    }

    fn note(
        &mut self,
        file: Option<&AbsPath>,
        at: Span,
        (removed, kept): (&str, &str),
        now: Duration,
    ) {
        if !removed.trim().is_empty() || !kept.trim().is_empty() {
            self.push(file, at, (removed, kept), (None, now));
        }
    }

    fn push(
        &mut self,
        file: Option<&AbsPath>,
        at: Span,
        (removed, kept): (&str, &str),
        (run, now): (Option<u64>, Duration),
    ) {
        if self.entries.len() == MAX_ENTRIES {
            self.entries.pop_front();
        }
        self.entries.push_back(RecentReplacement {
            file: file.cloned(),
            at,
            removed: clipped(removed).to_owned(),
            last: String::new(),
            kept: clipped(kept).to_owned(),
            run,
            since: now,
        });
    }
}

impl RecentReplacement {
    /// Whether the text at the start of the entry is exactly the removed text. `false` if nothing
    /// was removed.
    fn has_come_back(&self, text: &Snapshot) -> bool {
        let end = text.clip(self.at.start + self.removed.len(), Bias::Left);
        !self.removed.is_empty()
            && text.text(Span::new(self.at.start, end)) == self.removed.as_str()
    }

    /// Whether the user typed something at the place of the entry that the removed text does not
    /// begin with.
    fn is_contradicted_by(&self, edit: &DocumentEdit) -> bool {
        let is_here = |splice: &Splice| {
            !splice.new.is_empty()
                && self.at.start <= splice.new.start
                && splice.new.end <= self.at.end
        };
        let is_typed = edit.cause == ChangeCause::Typed && edit.change.splices.iter().any(is_here);
        if !is_typed {
            return false;
        }
        let typed = start_of(edit.after(), self.at, MAX_ENTRY_BYTES);
        !self.removed.starts_with(typed.as_ref())
    }

    /// Whether a proposed change from `before` to `after` would restore the removed text or remove
    /// the kept text.
    fn comes_back(&self, before: &Snapshot, after: &Snapshot, change: &Change) -> bool {
        let texts = [solid(&self.removed), solid(&self.last)];
        let mut texts = texts.into_iter().filter(|text| !text.is_empty());
        texts.any(|removed| {
            self.is_inserted(removed, after, change)
                || self.stands_again(removed, (before, after), change)
        }) || self.is_row_restored(before, after, change)
            || self.is_kept_text_removed(before, after, change)
    }

    /// Whether the change inserts exactly the removed text at its place.
    fn is_inserted(&self, removed: &str, after: &Snapshot, change: &Change) -> bool {
        let is_here =
            |splice: &&Splice| self.at.start <= splice.old.end && splice.old.start <= self.at.end;
        let mut here = change.splices.iter().filter(is_here);
        here.any(|splice| solid(&after.text(splice.new)) == removed)
    }

    /// Whether the removed text would be at its place again, with nothing but closing characters
    /// added to its row.
    fn stands_again(
        &self,
        removed: &str,
        (before, after): (&Snapshot, &Snapshot),
        change: &Change,
    ) -> bool {
        let rest_of = |text: &Snapshot, at: ByteOffset| {
            let end = text.clip(at + removed.len() + MAX_REST_BYTES, Bias::Left);
            let text = text.text(Span::new(at, end));
            let rest = text.trim_start_matches(BLANKS).strip_prefix(removed)?;
            Some(rest.split('\n').next().unwrap_or_default().to_owned())
        };
        let start = change.map(self.at.start, Bias::Left);
        if rest_of(before, self.at.start).is_some() {
            return false;
        }
        let Some(rest) = rest_of(after, start) else {
            return false;
        };
        let row_end = before.row_end(before.point_at(self.at.end).row);
        let known = start_of(before, Span::new(self.at.end, row_end), MAX_REST_BYTES);
        let added = rest.trim_end().strip_suffix(known.trim()).unwrap_or(&rest);
        added.chars().all(|ch| ch.is_whitespace() || is_closer(ch))
    }

    /// Whether the removed text is whole rows, and the change would insert those rows near its
    /// place, indented as they were.
    fn is_row_restored(&self, before: &Snapshot, after: &Snapshot, change: &Change) -> bool {
        let Some(head) = self.head_of_rows(before) else {
            return false;
        };
        let removed = format!("{head}{}", self.removed);
        if !is_distinctive(&removed) {
            return false;
        }
        let near = before.text(self.window(before));
        let then = after.text(self.window_behind(before, after, change));
        count_rows(&then, &removed) > count_rows(&near, &removed)
    }

    /// Returns the indentation before the removed text if it was one or more rows, as the place of
    /// the entry shows; empty if it begins with a line break. `None` if it was not rows.
    fn head_of_rows(&self, text: &Snapshot) -> Option<String> {
        let (start, end) = (
            text.point_at(self.at.start).row,
            text.point_at(self.at.end).row,
        );
        let head = text.text(Span::new(text.row_start(start), self.at.start));
        let rest = start_of(
            text,
            Span::new(self.at.end, text.row_end(end)),
            MAX_REST_BYTES,
        );
        let ends = self.removed.ends_with('\n') || rest.trim().is_empty();
        let head = if self.removed.starts_with('\n') {
            "".into()
        } else {
            head
        };
        (head.trim().is_empty() && ends).then(|| head.into_owned())
    }

    /// Whether the change deletes something, and text that an undo restored is gone after it.
    fn is_kept_text_removed(&self, before: &Snapshot, after: &Snapshot, change: &Change) -> bool {
        let kept = self.kept.trim();
        let deletes = change.splices.iter().any(|splice| !splice.old.is_empty());
        if kept.is_empty() || !deletes {
            return false;
        }
        let near = before.text(self.window(before));
        let then = after.text(self.window_behind(before, after, change));
        count(&then, kept) < count(&near, kept)
    }

    /// Returns the rows of the entry. For entries of several rows it adds a row on each side, since
    /// the text may be restored one line above or below.
    fn window(&self, text: &Snapshot) -> Span {
        let first = text.point_at(self.at.start).row;
        let last = text.point_at(self.at.end).row;
        let more = u32::from(self.removed.contains('\n') || self.kept.contains('\n'));
        rows(text, first, last, more)
    }

    /// Returns the same rows after a change, including the text it inserts there.
    fn window_behind(&self, before: &Snapshot, after: &Snapshot, change: &Change) -> Span {
        let near = self.window(before);
        let start = change.map(near.start, Bias::Left);
        let end = change.map(near.end, Bias::Right);
        Span::new(start, end.min(after.len()))
    }
}

/// Returns the text that the last splice of a change removed.
fn text_of(edit: &DocumentEdit) -> String {
    let splice = edit.change.splices.last();
    let removed = splice.map(|splice| start_of(&edit.before, splice.old, MAX_ENTRY_BYTES));
    removed.unwrap_or_default().into_owned()
}

/// Returns the span of a range of rows, extended by some rows on each side.
fn rows(text: &Snapshot, first: Row, last: Row, more: u32) -> Span {
    let start = text.row_start(Row(first.0.saturating_sub(more)));
    let end = text.row_end(Row((last.0 + more).min(text.last_row().0)));
    Span::new(start, end)
}

/// Counts the occurrences of a text as whole words.
fn count(text: &str, part: &str) -> usize {
    let begins = part.starts_with(is_word);
    let ends = part.ends_with(is_word);
    text.match_indices(part)
        .filter(|(at, found)| {
            let before = text[..*at].ends_with(is_word);
            let after = text[at + found.len()..].starts_with(is_word);
            !(begins && before || ends && after)
        })
        .count()
}

/// Counts the places where successive rows of a text equal those of a part, with their indentation.
/// Blank rows do not count.
fn count_rows(text: &str, part: &str) -> usize {
    let rows = |text: &str| -> Vec<String> {
        let rows = text.lines().map(str::trim_end);
        let rows = rows.filter(|row| !row.is_empty());
        rows.map(str::to_owned).collect()
    };
    let (text, part) = (rows(text), rows(part));
    text.windows(part.len().max(1))
        .filter(|run| *run == part)
        .count()
}

/// Returns a text without the blanks around it. A line break before it stays, since it puts the text
/// in another row.
fn solid(text: &str) -> &str {
    text.trim_end().trim_start_matches(BLANKS)
}

fn clipped(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_ENTRY_BYTES)]
}

#[cfg(test)]
mod tests;
