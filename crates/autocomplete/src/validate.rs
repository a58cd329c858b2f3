//! Validation of suggestions before they are shown, and the rules that end a response while it
//! streams.
//!
//! Must not know: the origin of a suggestion; whether suggestions are shown at all is decided by
//! the engine.
//! Invariant: applying a valid suggestion does not make the text parse worse and does not restore
//! recently removed text.
//! Invariant: cheap checks come first, and parsing ends within a bounded number of steps.
//! Start at `check`; streaming responses go through `CompletionStream` first.

mod names;
mod parse;
mod recent;
mod repeat;
mod stream;
mod suffix;

use std::fmt;

use base::ByteOffset;
use text::{Buffer, Change, EditOrigin, Snapshot, Timestamp};

use crate::{AcceptGranularity, EditorState, SuggestedEdit, Suggestion};

pub use names::TypeMembers;
pub(crate) use parse::parses_no_worse;
pub use recent::RecentEdits;
pub use stream::{CompletionStream, StreamControl};
pub(crate) use suffix::joined;

/// Reason why a suggestion is not shown, found by `check`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RejectReason {
    /// The text that it replaces has changed.
    Stale,
    /// It changes nothing but whitespace.
    Blank,
    /// It repeats the text after it.
    RepeatsSuffix,
    /// It repeats itself or the lines right above.
    Repeats,
    /// It restores text that was just deleted, undone or rejected.
    JustGone,
    /// It uses a member that the type does not have.
    UnknownName(String),
    /// The text would parse worse with it.
    Breaks,
}

/// Checks whether a suggestion may be shown. `state` is the state of the file that it changes.
///
/// Takes well under a millisecond for files of some thousand lines. If there is no tree, or parsing
/// exceeds its bound, the syntax check is skipped.
pub fn check(
    state: &EditorState,
    suggestion: &Suggestion,
    recent: &RecentEdits,
) -> Result<(), RejectReason> {
    let snapshot = &state.snapshot;
    if suggestion.revision != snapshot.revision() || !suggestion.applies_to(snapshot) {
        return Err(RejectReason::Stale);
    }
    if suggestion.edits.iter().all(is_blank) {
        return Err(RejectReason::Blank);
    }
    let mut is_closing = false;
    for edit in &suggestion.edits {
        match suffix::repeats(snapshot, edit) {
            suffix::SuffixRepeat::No => {}
            suffix::SuffixRepeat::Closers => is_closing = true,
            suffix::SuffixRepeat::Words => return Err(RejectReason::RepeatsSuffix),
        }
        if repeat::repeats(snapshot, edit) {
            return Err(RejectReason::Repeats);
        }
    }
    let (change, after) = applied(snapshot, suggestion);
    if recent.brings_back(state.path.as_ref(), snapshot, &after, &change) {
        return Err(RejectReason::JustGone);
    }
    if let Some(name) = recent.names().and_then(|it| it.unknown(state, suggestion)) {
        return Err(RejectReason::UnknownName(name));
    }
    match parse::verdict(state, &after, &change) {
        // Repeating a closer is only right if one was missing.
        Some(verdict) if is_closing && !verdict.is_better() => Err(RejectReason::RepeatsSuffix),
        Some(verdict) if verdict.is_worse() => Err(RejectReason::Breaks),
        None if is_closing => Err(RejectReason::RepeatsSuffix),
        _ => Ok(()),
    }
}

/// Applies a whole suggestion to a copy of the text. Returns the change and the text after the
/// change.
pub(crate) fn applied(snapshot: &Snapshot, suggestion: &Suggestion) -> (Change, Snapshot) {
    let mut buffer = Buffer::from_snapshot(snapshot.clone());
    let edits = suggestion.accept_edits(AcceptGranularity::All);
    let change = buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
    (change, buffer.snapshot())
}

/// Whether an edit changes nothing but whitespace.
fn is_blank(edit: &SuggestedEdit) -> bool {
    let solid = |text: &str| -> String { text.split_whitespace().collect() };
    solid(&edit.old) == solid(&edit.new)
}

/// Whether a line is distinctive: it has at least four letters or digits.
fn is_distinctive(line: &str) -> bool {
    line.chars().filter(|ch| ch.is_alphanumeric()).count() >= 4
}

/// Returns at most `most` bytes of the text from an offset, cut at a char boundary.
fn text_from(snapshot: &Snapshot, from: ByteOffset, most: usize) -> String {
    let end = snapshot.clip(from + most, base::Bias::Left);
    snapshot.text(base::Span::new(from, end)).into_owned()
}

/// Returns at most `most` bytes of the text up to an offset, cut at a char boundary.
fn text_up_to(snapshot: &Snapshot, to: ByteOffset, most: usize) -> String {
    let start = snapshot.clip(to - most, base::Bias::Right);
    snapshot.text(base::Span::new(start, to)).into_owned()
}

impl fmt::Display for RejectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale => f.write_str("the text has changed"),
            Self::Blank => f.write_str("it changes nothing but whitespace"),
            Self::RepeatsSuffix => f.write_str("it repeats the text after it"),
            Self::Repeats => f.write_str("it repeats itself"),
            Self::JustGone => f.write_str("it restores text that was just removed"),
            Self::UnknownName(name) => write!(f, "{name} does not exist"),
            Self::Breaks => f.write_str("the text would parse worse with it"),
        }
    }
}

#[cfg(test)]
mod tests;
