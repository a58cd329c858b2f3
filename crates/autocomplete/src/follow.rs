//! A suggestion after the text has changed: typed a little further, moved along, or dropped.
//!
//! Invariant: what is left after typing into a suggestion, applied, gives the text that the whole would have given.
//! Invariant: a change that the suggestion did not foresee, at one of its places, drops it.

use std::sync::Arc;

use base::{Bias, Span};
use text::{Change, Snapshot, Splice};

use crate::{Replacement, Suggestion};

/// What became of a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The change was elsewhere; the suggestion moved with the text.
    Moved,
    /// The change was its own beginning; the rest is left.
    Consumed,
    /// Nothing is left: all of it stands in the text now.
    Completed,
    /// The text is another now; the suggestion is worth nothing.
    Dropped,
}

/// Closing letters that an editor puts behind the caret by itself.
const CLOSERS: &[char] = &[')', ']', '}', '>', '"', '\'', '`'];

impl Suggestion {
    /// Takes the suggestion along a change of its text. `after` is the text behind the change.
    pub fn follow(&mut self, change: &Change, after: &Snapshot) -> Fate {
        if change.before != self.revision {
            return Fate::Dropped;
        }
        let mut fate = Fate::Moved;
        let mut edits = Vec::with_capacity(self.edits.len());
        for edit in &self.edits {
            match follow_one(edit, change, after) {
                Some((edit, is_consumed)) => {
                    if is_consumed {
                        fate = Fate::Consumed;
                    }
                    if !edit.is_empty() {
                        edits.push(edit);
                    }
                }
                None => return Fate::Dropped,
            }
        }
        self.edits = edits;
        self.revision = change.after;
        if self.edits.is_empty() {
            Fate::Completed
        } else if self.stands_in(after) {
            fate
        } else {
            Fate::Dropped
        }
    }
}

/// One replacement behind the change, and whether some of it was typed.
fn follow_one(
    edit: &Replacement,
    change: &Change,
    after: &Snapshot,
) -> Option<(Replacement, bool)> {
    let meets =
        |splice: &&Splice| splice.old.start <= edit.span.end && edit.span.start <= splice.old.end;
    let mut meeting = change.splices.iter().filter(meets);
    let Some(splice) = meeting.next() else {
        let start = change.map(edit.span.start, Bias::Right);
        let moved = Replacement {
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

/// What is left of a replacement when `splice` was made at its beginning.
fn typed_into(edit: &Replacement, splice: &Splice, after: &Snapshot) -> Option<Replacement> {
    // Something before the place went away, or more than the place holds: that was not foreseen.
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
    // A bracket typed brings its partner, which then stands behind the caret and is part of what is to come.
    let is_foreseen = surplus.is_empty()
        || alike > 0 && surplus.chars().all(|ch| CLOSERS.contains(&ch)) && new.contains(surplus);
    if !is_foreseen || typed.is_empty() && splice.old.is_empty() {
        return None;
    }
    let start = splice.new.start + alike;
    let old: Arc<str> = Arc::from(format!("{surplus}{old}"));
    Some(Replacement {
        span: Span::new(start, start + old.len()),
        old,
        new: Arc::from(new),
    })
}

#[cfg(test)]
mod tests;
