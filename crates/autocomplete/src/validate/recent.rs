//! Recently removed text, which suggestions must not restore at once.
//!
//! Invariant: at most `MOST` entries of at most `MOST_BYTES`; a longer one is cut at its end.
//! Limitations: unsaved texts share their entries; an entry that applies to the wrong one only
//! suppresses a suggestion.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use base::{AbsPath, Bias, ByteOffset, Row, Span};
use text::{Change, Snapshot, Splice};

use super::TypeMembers;
use super::suffix::is_word;
use crate::{ChangeCause, EditorState, Suggestion};

/// Maximum number of entries kept.
const MAX_ENTRIES: usize = 32;
/// Maximum bytes kept of one entry's text.
const MAX_ENTRY_BYTES: usize = 4_096;
/// Time for which an entry stays effective.
const LASTS: Duration = Duration::from_secs(30);
/// Shorter deletions, in bytes, only count at their own position, since a mistyped letter is common
/// elsewhere.
const SHORT: usize = 3;

/// Recently deleted, undone and rejected text.
#[derive(Clone, Debug, Default)]
pub struct RecentEdits {
    gone: VecDeque<RecentReplacement>,
    names: Option<Arc<TypeMembers>>,
}

/// A replacement that must not be reverted.
#[derive(Clone, Debug)]
struct RecentReplacement {
    file: Option<AbsPath>,
    /// Position of the change, in the current text.
    at: Span,
    /// Text that must not be restored; may be empty.
    went: String,
    /// Text that must not be removed again; may be empty.
    stays: String,
    /// Whether characters are being deleted one by one, so that the next deletion joins.
    is_open: bool,
    since: Duration,
}

impl RecentEdits {
    /// Records a change of a text. `now` counts from an arbitrary origin, the same for all calls.
    pub fn edited(
        &mut self,
        file: Option<&AbsPath>,
        (before, after): (&Snapshot, &Snapshot),
        change: &Change,
        (cause, now): (ChangeCause, Duration),
    ) {
        self.gone
            .retain(|gone| now.saturating_sub(gone.since) < LASTS);
        let last = self.gone.back().map(|gone| gone.at.start);
        let is_insertion = change.splices.iter().any(|splice| !splice.new.is_empty());
        for gone in self.gone.iter_mut().filter(|it| it.file.as_ref() == file) {
            gone.is_open &= !is_insertion;
            // Text typed at an entry's position belongs to the entry.
            let start = change.map(gone.at.start, Bias::Left);
            let end = change.map(gone.at.end, Bias::Right);
            gone.at = Span::new(start, end.max(start));
        }
        for splice in &change.splices {
            let went = before.text(splice.old);
            match cause {
                ChangeCause::Typed if splice.new.is_empty() => {
                    let is_forward = last == Some(splice.old.start);
                    self.deleted(file, splice.new, &went, (is_forward, now));
                }
                ChangeCause::Typed => self.note(file, splice.new, (&went, ""), now),
                ChangeCause::Undone => {
                    let came = after.text(splice.new);
                    self.note(file, splice.new, (&went, &came), now);
                }
                ChangeCause::Accepted | ChangeCause::Other => {}
            }
        }
        // Text that the user typed again is no longer removed.
        self.gone.retain(|gone| {
            let is_here = gone.file.as_ref() == file;
            !(is_here && gone.has_come_back(after))
        });
    }

    /// Records that the user rejected a suggestion.
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
        let here = self.gone.iter().filter(|gone| gone.file.as_ref() == file);
        here.filter(|gone| gone.at.end <= before.len())
            .any(|gone| gone.comes_back(before, after, change))
    }

    /// Records a deletion, joining successive deletions into one entry.
    fn deleted(
        &mut self,
        file: Option<&AbsPath>,
        at: Span,
        went: &str,
        (is_forward, now): (bool, Duration),
    ) {
        let last = self.gone.back_mut();
        let joins = |last: &&mut RecentReplacement| {
            last.is_open && last.at == at && last.file.as_ref() == file
        };
        if let Some(last) = last.filter(joins) {
            let both = if is_forward {
                format!("{}{went}", last.went)
            } else {
                format!("{went}{}", last.went)
            };
            last.went = clipped(&both).to_owned();
            last.since = now;
            return;
        }
        // A blank starts an entry too, since the letters before it may be deleted next.
        self.push(file, at, (went, ""), (true, now));
    }

    fn note(
        &mut self,
        file: Option<&AbsPath>,
        at: Span,
        (went, stays): (&str, &str),
        now: Duration,
    ) {
        if !went.trim().is_empty() || !stays.trim().is_empty() {
            self.push(file, at, (went, stays), (false, now));
        }
    }

    fn push(
        &mut self,
        file: Option<&AbsPath>,
        at: Span,
        (went, stays): (&str, &str),
        (is_open, now): (bool, Duration),
    ) {
        if self.gone.len() == MAX_ENTRIES {
            self.gone.pop_front();
        }
        self.gone.push_back(RecentReplacement {
            file: file.cloned(),
            at,
            went: clipped(went).to_owned(),
            stays: clipped(stays).to_owned(),
            is_open,
            since: now,
        });
    }
}

impl RecentReplacement {
    fn has_come_back(&self, text: &Snapshot) -> bool {
        let end = text.clip(self.at.start + self.went.len(), Bias::Left);
        !self.went.is_empty() && text.text(Span::new(self.at.start, end)) == self.went.as_str()
    }

    fn comes_back(&self, before: &Snapshot, after: &Snapshot, change: &Change) -> bool {
        let (near, then) = (
            self.window(before),
            self.window_behind(before, after, change),
        );
        let (near, then) = (before.text(near), after.text(then));
        let went = self.went.trim();
        if !went.is_empty() {
            let start = change.map(self.at.start, Bias::Left);
            let is_there = |text: &Snapshot, at: ByteOffset| {
                let end = text.clip(at + went.len() + 64, Bias::Left);
                text.text(Span::new(at, end)).trim_start().starts_with(went)
            };
            if is_there(after, start) && !is_there(before, self.at.start) {
                return true;
            }
            if went.len() >= SHORT && count(&then, went) > count(&near, went) {
                return true;
            }
            // Restoring part of the removed text at its position counts as well.
            let is_part = |came: &str| went.starts_with(came) || went.ends_with(came);
            let is_here = |splice: &&Splice| {
                self.at.start <= splice.old.end && splice.old.start <= self.at.end
            };
            let mut here = change.splices.iter().filter(is_here);
            if here.any(|splice| {
                let came = after.text(splice.new);
                !came.trim().is_empty() && is_part(came.trim())
            }) {
                return true;
            }
        }
        let stays = self.stays.trim();
        !stays.is_empty() && count(&then, stays) < count(&near, stays)
    }

    /// Returns the rows of the entry. For entries of several rows it adds a row on each side, since
    /// the text may be restored one line above or below.
    fn window(&self, text: &Snapshot) -> Span {
        let first = text.point_at(self.at.start).row;
        let last = text.point_at(self.at.end).row;
        let more = u32::from(self.went.contains('\n') || self.stays.contains('\n'));
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

fn clipped(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_ENTRY_BYTES)]
}

#[cfg(test)]
mod tests;
