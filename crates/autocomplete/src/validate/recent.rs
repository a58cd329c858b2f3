//! What just went away, so that nobody offers it again at once.
//!
//! Invariant: at most `MOST` entries of at most `MOST_BYTES`; one that grows beyond that is let go from its far end.
//! Limitations: texts without a file share their entries; an offset that strays there only keeps something unsaid.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use base::{AbsPath, Bias, ByteOffset, Row, Span};
use text::{Change, Snapshot, Splice};

use super::Names;
use super::suffix::is_word;
use crate::{Cause, Scene, Suggestion};

/// Entries that are kept.
const MOST: usize = 32;
/// Bytes of one entry's text that are kept.
const MOST_BYTES: usize = 4_096;
/// How long something stays gone.
const LASTS: Duration = Duration::from_secs(30);
/// Deletions of fewer letters only count at their very place: a letter that was mistyped comes back elsewhere.
const SHORT: usize = 3;

/// What was deleted, undone or turned down lately.
#[derive(Clone, Debug, Default)]
pub struct Recent {
    gone: VecDeque<Gone>,
    names: Option<Arc<Names>>,
}

/// One text in place of another, which is not to be turned back.
#[derive(Clone, Debug)]
struct Gone {
    file: Option<AbsPath>,
    /// Where it happened, in the text of now.
    at: Span,
    /// What must not come back; empty if nothing.
    went: String,
    /// What must not go again; empty if anything may.
    stays: String,
    /// Whether letters went one by one, so that the next one joins them.
    is_open: bool,
    since: Duration,
}

impl Recent {
    /// Takes note of a change of a text. `now` counts from any moment, the same for all calls.
    pub fn edited(
        &mut self,
        file: Option<&AbsPath>,
        (before, after): (&Snapshot, &Snapshot),
        change: &Change,
        (cause, now): (Cause, Duration),
    ) {
        self.gone
            .retain(|gone| now.saturating_sub(gone.since) < LASTS);
        let last = self.gone.back().map(|gone| gone.at.start);
        let is_insertion = change.splices.iter().any(|splice| !splice.new.is_empty());
        for gone in self.gone.iter_mut().filter(|it| it.file.as_ref() == file) {
            gone.is_open &= !is_insertion;
            // A place stays where it is when something is typed there: that text belongs to it.
            let start = change.map(gone.at.start, Bias::Left);
            let end = change.map(gone.at.end, Bias::Right);
            gone.at = Span::new(start, end.max(start));
        }
        for splice in &change.splices {
            let went = before.text(splice.old);
            match cause {
                Cause::Typed if splice.new.is_empty() => {
                    let is_forward = last == Some(splice.old.start);
                    self.deleted(file, splice.new, &went, (is_forward, now));
                }
                Cause::Typed => self.note(file, splice.new, (&went, ""), now),
                Cause::Undone => {
                    let came = after.text(splice.new);
                    self.note(file, splice.new, (&went, &came), now);
                }
                Cause::Accepted | Cause::Other => {}
            }
        }
        // What the person wrote again is no longer gone.
        self.gone.retain(|gone| {
            let is_here = gone.file.as_ref() == file;
            !(is_here && gone.has_come_back(after))
        });
    }

    /// Takes note that the person turned a suggestion down.
    pub fn rejected(&mut self, scene: &Scene, suggestion: &Suggestion, now: Duration) {
        for edit in &suggestion.edits {
            // Where nothing came in, a deletion was turned down: what it would have taken away stays.
            let what = match edit.new.trim().is_empty() {
                true => ("", edit.old.as_ref()),
                false => (edit.new.as_ref(), ""),
            };
            self.note(scene.path.as_ref(), edit.span, what, now);
        }
    }

    /// Which names the types of a text have; made in the background.
    pub fn set_names(&mut self, names: Arc<Names>) {
        self.names = Some(names);
    }

    pub(super) fn names(&self) -> Option<&Names> {
        self.names.as_deref()
    }

    /// Whether a change, not made yet, would bring something back, or take it away again.
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

    /// Letters that go one after the other go together.
    fn deleted(
        &mut self,
        file: Option<&AbsPath>,
        at: Span,
        went: &str,
        (is_forward, now): (bool, Duration),
    ) {
        let last = self.gone.back_mut();
        let joins = |last: &&mut Gone| last.is_open && last.at == at && last.file.as_ref() == file;
        if let Some(last) = last.filter(joins) {
            let both = match is_forward {
                true => format!("{}{went}", last.went),
                false => format!("{went}{}", last.went),
            };
            last.went = clipped(&both).to_owned();
            last.since = now;
            return;
        }
        // A blank opens an entry too: the letters before it may go next.
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
        if self.gone.len() == MOST {
            self.gone.pop_front();
        }
        self.gone.push_back(Gone {
            file: file.cloned(),
            at,
            went: clipped(went).to_owned(),
            stays: clipped(stays).to_owned(),
            is_open,
            since: now,
        });
    }
}

impl Gone {
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
            // A part of it at its place is something that went, too.
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

    /// The rows of the place. Of whole rows, those around them too: what is put a line above or below comes back all
    /// the same.
    fn window(&self, text: &Snapshot) -> Span {
        let first = text.point_at(self.at.start).row;
        let last = text.point_at(self.at.end).row;
        let more = u32::from(self.went.contains('\n') || self.stays.contains('\n'));
        rows(text, first, last, more)
    }

    /// The same rows behind a change, and those that it touches there.
    fn window_behind(&self, before: &Snapshot, after: &Snapshot, change: &Change) -> Span {
        let near = self.window(before);
        let start = change.map(near.start, Bias::Left);
        let end = change.map(near.end, Bias::Right);
        Span::new(start, end.min(after.len()))
    }
}

/// The text of rows, with some more on each side.
fn rows(text: &Snapshot, first: Row, last: Row, more: u32) -> Span {
    let start = text.row_start(Row(first.0.saturating_sub(more)));
    let end = text.row_end(Row((last.0 + more).min(text.last_row().0)));
    Span::new(start, end)
}

/// How often a text holds another as whole words.
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
    &text[..text.floor_char_boundary(MOST_BYTES)]
}

#[cfg(test)]
mod tests;
