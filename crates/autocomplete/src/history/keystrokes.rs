//! Joins keystrokes at one place, with short pauses, into one edit.
//!
//! Several carets that make the same change form one edit with several places.

use std::time::Duration;

use base::{AbsPath, Span};
use text::{Snapshot, Splice};

use super::DocumentEdit;
use crate::ChangeCause;

/// Longest pause within an edit.
const PAUSE: Duration = Duration::from_millis(4_000);

/// Maximum distance in bytes between changes in one row that form one edit, such as the two ends of
/// a call wrapped around an expression.
pub(crate) const MAX_GAP_BYTES: usize = 64;

/// Maximum bytes of the text of an edit; longer text begins another one.
pub(crate) const MAX_EDIT_BYTES: usize = 2048;

/// Maximum number of simultaneous carets.
const MAX_CHANGES: usize = 16;

/// The newest edit, which the next keystroke may continue: one change at one or several carets,
/// from its first keystroke on.
pub(crate) struct OpenEdit {
    /// Number of the edit in its history.
    pub(crate) number: u64,
    pub(crate) path: Option<AbsPath>,
    pub(crate) before: Snapshot,
    pub(crate) after: Snapshot,
    /// Changed places: one, or one for each of several carets with the same edit. Sorted by
    /// position.
    pub(crate) places: Vec<SpanChange>,
    pub(crate) cause: ChangeCause,
    last: Duration,
}

/// A changed place of an edit.
#[derive(Clone, Copy)]
pub(crate) struct SpanChange {
    /// Span in the text before.
    pub(crate) old: Span,
    /// Span in the text after.
    pub(crate) new: Span,
}

impl OpenEdit {
    /// Begins an edit with a change of the user; `None` for any other change, and for simultaneous
    /// changes that differ.
    pub(super) fn begin(edit: &DocumentEdit, number: u64, now: Duration) -> Option<Self> {
        let is_own = matches!(edit.cause, ChangeCause::Typed | ChangeCause::Accepted);
        (is_own && is_alike(edit)).then(|| Self {
            number,
            path: edit.state.path.clone(),
            before: edit.before.clone(),
            after: edit.after().clone(),
            places: edit.change.splices.iter().map(SpanChange::of).collect(),
            cause: edit.cause,
            last: now,
        })
    }

    /// Joins a change to this edit if it continues it, and returns whether it does.
    pub(super) fn join(&mut self, edit: &DocumentEdit, now: Duration) -> bool {
        let splices = &edit.change.splices;
        let is_same = self.path == edit.state.path
            && self.cause == edit.cause
            && edit.cause == ChangeCause::Typed
            && self.after.revision() == edit.before.revision();
        let is_soon = now.saturating_sub(self.last) <= PAUSE;
        if !is_same || !is_soon || splices.len() != self.places.len() {
            return false;
        }
        let joined = self.places.iter().zip(splices).map(|(place, splice)| {
            place
                .is_near(splice, &edit.before)
                .then(|| place.joined(splice))?
        });
        let Some(places) = joined.collect::<Option<Vec<SpanChange>>>() else {
            return false;
        };
        if places
            .windows(2)
            .any(|two| two[0].new.end > two[1].new.start)
        {
            return false;
        }
        self.places = places;
        self.after = edit.after().clone();
        self.last = now;
        true
    }
}

impl SpanChange {
    fn of(splice: &Splice) -> Self {
        Self {
            old: splice.old,
            new: splice.new,
        }
    }

    /// Extends the place by a further change near it.
    fn joined(&self, splice: &Splice) -> Option<Self> {
        let hull = self.new.union(splice.old);
        let before_start = self.new.start.0 - hull.start.0;
        let behind_end = hull.end.0 - self.new.end.0;
        let old_start = self.old.start.0.checked_sub(before_start)?;
        // Earlier places of the same change have shifted this one.
        let start = splice.new.start.0 - (splice.old.start.0 - hull.start.0);
        let length = hull.len() - splice.old.len() + splice.new.len();
        Some(Self {
            old: Span::from(old_start..self.old.end.0 + behind_end),
            new: Span::from(start..start + length),
        })
    }

    /// Whether `splice` touches the changed place, or is within `MAX_GAP_BYTES` of it in the same
    /// row and inserts at most that many bytes. `before` is the text before the splice. `false` if
    /// a touching splice would make the edit longer than `MAX_EDIT_BYTES`.
    fn is_near(&self, splice: &Splice, before: &Snapshot) -> bool {
        let (a, b) = (self.new, splice.old);
        if a.start <= b.end && b.start <= a.end {
            return a.len() + splice.new.len() <= MAX_EDIT_BYTES;
        }
        let (left, right) = if a.end < b.start {
            (a.end, b.start)
        } else {
            (b.end, a.start)
        };
        right.0 - left.0 <= MAX_GAP_BYTES
            && before.point_at(left).row == before.point_at(right).row
            && splice.new.len() <= MAX_GAP_BYTES
    }
}

/// Whether all carets make the same change.
fn is_alike(edit: &DocumentEdit) -> bool {
    let splices = &edit.change.splices;
    let texts = |splice: &Splice| (edit.before.text(splice.old), edit.after().text(splice.new));
    let is_small = |splice: &Splice| splice.old.len().max(splice.new.len()) <= MAX_EDIT_BYTES;
    match splices.as_slice() {
        [] => false,
        [_] => true,
        [first, others @ ..] => {
            splices.len() <= MAX_CHANGES
                && splices.iter().all(is_small)
                && others.iter().all(|other| texts(other) == texts(first))
        }
    }
}
