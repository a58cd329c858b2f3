//! Updates a suggestion after a text change: partly typed, moved, or dropped.
//!
//! Invariant: applying the rest of a partly typed suggestion gives the same text as applying the
//! whole.
//! Invariant: a change at one of its edits that the suggestion does not predict drops it.

use std::sync::Arc;

use base::{Bias, Span};
use text::{Change, Snapshot, Splice};

use crate::{SuggestedEdit, Suggestion};

/// Result of updating a suggestion after a change: moved, typed in part, typed in whole, or no
/// longer applicable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowResult {
    /// The change was elsewhere; the suggestion moved with the text.
    Moved,
    /// The change typed the beginning of the suggestion; the rest remains.
    Consumed,
    /// The whole suggestion is in the text now.
    Completed,
    /// The change contradicts the suggestion, which no longer applies.
    Dropped,
}

/// Closing characters that an editor inserts after the caret automatically.
const CLOSERS: &[char] = &[')', ']', '}', '>', '"', '\'', '`'];

impl Suggestion {
    /// Updates the suggestion in place after a change of its text: moves its spans, and removes the
    /// part that the change typed. `after` is the text after the change. Returns `Dropped` if the
    /// change does not start at the suggestion's revision.
    pub fn follow(&mut self, change: &Change, after: &Snapshot) -> FollowResult {
        if change.before != self.revision {
            return FollowResult::Dropped;
        }
        let mut result = FollowResult::Moved;
        let mut edits = Vec::with_capacity(self.edits.len());
        for edit in &self.edits {
            match follow_one(edit, change, after) {
                Some((edit, is_consumed)) => {
                    if is_consumed {
                        result = FollowResult::Consumed;
                    }
                    if !edit.is_empty() {
                        edits.push(edit);
                    }
                }
                None => return FollowResult::Dropped,
            }
        }
        self.edits = edits;
        self.revision = change.after;
        if self.edits.is_empty() {
            FollowResult::Completed
        } else if self.applies_to(after) {
            result
        } else {
            FollowResult::Dropped
        }
    }
}

/// Returns an edit after the change, and whether part of it was typed.
fn follow_one(
    edit: &SuggestedEdit,
    change: &Change,
    after: &Snapshot,
) -> Option<(SuggestedEdit, bool)> {
    let meets =
        |splice: &&Splice| splice.old.start <= edit.span.end && edit.span.start <= splice.old.end;
    let mut meeting = change.splices.iter().filter(meets);
    let Some(splice) = meeting.next() else {
        let start = change.map(edit.span.start, Bias::Right);
        let moved = SuggestedEdit {
            span: Span::new(start, start + edit.old.len()),
            ..edit.clone()
        };
        return Some((moved, false));
    };
    if meeting.next().is_some() {
        return None;
    }
    typed_into(edit, splice, after).map(|edit| (edit, true))
}

/// Returns the rest of an edit when `splice` was made at its beginning.
fn typed_into(edit: &SuggestedEdit, splice: &Splice, after: &Snapshot) -> Option<SuggestedEdit> {
    // Deleting text before the edit, or more than it replaces, is not predicted by it.
    if splice.old.start != edit.span.start || splice.old.end > edit.span.end {
        return None;
    }
    let old = &edit.old[splice.old.len()..];
    let typed = after.text(splice.new);
    let alike: usize = typed
        .chars()
        .zip(edit.new.chars())
        .take_while(|(typed, new)| typed == new)
        .map(|(ch, _)| ch.len_utf8())
        .sum();
    let (surplus, new) = (&typed[alike..], &edit.new[alike..]);
    // Typing an opening bracket inserts its partner after the caret, which is part of the remaining
    // text.
    let is_foreseen = surplus.is_empty()
        || alike > 0 && surplus.chars().all(|ch| CLOSERS.contains(&ch)) && new.contains(surplus);
    if !is_foreseen || typed.is_empty() && splice.old.is_empty() {
        return None;
    }
    let start = splice.new.start + alike;
    let old: Arc<str> = Arc::from(format!("{surplus}{old}"));
    Some(SuggestedEdit {
        span: Span::new(start, start + old.len()),
        old,
        new: Arc::from(new),
    })
}

#[cfg(test)]
mod tests;
