//! What may be shown: the last check of a suggestion, and the rules that end an answer while it streams.
//!
//! Must not know: who made the suggestion; whether anything is shown at all just now lies in the engine.
//! Invariant: what passes, applied, parses no worse than the text did, and brings nothing back that went away lately.
//! Invariant: the cheap questions come first, and parsing ends within a bounded number of steps.
//! Start at `check`; answers that stream go through `Stream` first.

mod names;
mod parse;
mod recent;
mod repeat;
mod stream;
mod suffix;

use std::fmt;

use base::ByteOffset;
use text::{Buffer, Change, Origin, Snapshot, Timestamp};

use crate::{Part, Replacement, Scene, Suggestion};

pub use names::Names;
pub(crate) use parse::parses_no_worse;
pub use recent::Recent;
pub use stream::{Flow, Stream};
pub(crate) use suffix::joined;

/// Why a suggestion is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The text it replaces stands there no more.
    Stale,
    /// It changes nothing, or blanks alone.
    Blank,
    /// It says what stands behind it anyway.
    RepeatsSuffix,
    /// It says the same over and over, or what stands right above.
    Repeats,
    /// It brings back what was just deleted, undone or turned down.
    JustGone,
    /// It uses a name that the type does not have.
    UnknownName(String),
    /// The text would parse worse than it does.
    Breaks,
}

/// Whether a suggestion may be shown in a scene, the one of the file that it changes.
///
/// Takes well under a millisecond for files of some thousand lines; where the tree is missing, or parsing takes longer
/// than its bound, the tree's word is not asked for.
pub fn check(scene: &Scene, suggestion: &Suggestion, recent: &Recent) -> Result<(), Refused> {
    let snapshot = &scene.snapshot;
    if suggestion.revision != snapshot.revision() || !suggestion.stands_in(snapshot) {
        return Err(Refused::Stale);
    }
    if suggestion.edits.iter().all(is_blank) {
        return Err(Refused::Blank);
    }
    let mut is_closing = false;
    for edit in &suggestion.edits {
        match suffix::repeats(snapshot, edit) {
            suffix::Repeats::No => {}
            suffix::Repeats::Closers => is_closing = true,
            suffix::Repeats::Words => return Err(Refused::RepeatsSuffix),
        }
        if repeat::repeats(snapshot, edit) {
            return Err(Refused::Repeats);
        }
    }
    let (change, after) = applied(snapshot, suggestion);
    if recent.brings_back(scene.path.as_ref(), snapshot, &after, &change) {
        return Err(Refused::JustGone);
    }
    if let Some(name) = recent.names().and_then(|it| it.unknown(scene, suggestion)) {
        return Err(Refused::UnknownName(name));
    }
    match parse::verdict(scene, &after, &change) {
        // A closer before the same closer is only right where one was missing.
        Some(verdict) if is_closing && !verdict.is_better() => Err(Refused::RepeatsSuffix),
        Some(verdict) if verdict.is_worse() => Err(Refused::Breaks),
        None if is_closing => Err(Refused::RepeatsSuffix),
        _ => Ok(()),
    }
}

/// The text with a suggestion taken.
pub(crate) fn applied(snapshot: &Snapshot, suggestion: &Suggestion) -> (Change, Snapshot) {
    let mut buffer = Buffer::from_snapshot(snapshot.clone());
    let edits = suggestion.taking(Part::All);
    let change = buffer.edit(&edits, &Origin::user(Timestamp(0)));
    (change, buffer.snapshot())
}

/// Whether a replacement changes blanks alone.
fn is_blank(edit: &Replacement) -> bool {
    let solid = |text: &str| -> String { text.split_whitespace().collect() };
    solid(&edit.old) == solid(&edit.new)
}

/// Lines that say something: with some letters or digits, not brackets and short words alone.
fn says_something(line: &str) -> bool {
    line.chars().filter(|ch| ch.is_alphanumeric()).count() >= 4
}

/// The text from an offset on, at most so many bytes, on a char boundary.
fn text_from(snapshot: &Snapshot, from: ByteOffset, most: usize) -> String {
    let end = snapshot.clip(from + most, base::Bias::Left);
    snapshot.text(base::Span::new(from, end)).into_owned()
}

/// The text up to an offset, at most so many bytes, on a char boundary.
fn text_up_to(snapshot: &Snapshot, to: ByteOffset, most: usize) -> String {
    let start = snapshot.clip(to - most, base::Bias::Right);
    snapshot.text(base::Span::new(start, to)).into_owned()
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale => f.write_str("the text has changed under it"),
            Self::Blank => f.write_str("it changes nothing but blanks"),
            Self::RepeatsSuffix => f.write_str("it repeats what stands behind it"),
            Self::Repeats => f.write_str("it repeats itself"),
            Self::JustGone => f.write_str("it brings back what just went away"),
            Self::UnknownName(name) => write!(f, "nothing here is called {name}"),
            Self::Breaks => f.write_str("the text would parse worse with it"),
        }
    }
}

#[cfg(test)]
mod tests;
