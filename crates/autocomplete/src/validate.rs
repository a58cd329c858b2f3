//! Validation of suggestions before they are shown, and the rules that end a response while it
//! streams.
//!
//! Must not know: the origin of a suggestion; whether suggestions are shown at all is decided by
//! the engine.
//!
//! A check refuses text that is wrong whatever follows. It must not refuse text that is right so
//! far: a model ends a response at a line or a word, so most right responses stop inside a
//! construct, and the text after the caret is often not the text that will follow.
//!
//! | refused as | for example | shown |
//! |---|---|---|
//! | `Stale` | the text that it replaces has changed | |
//! | `Blank` | only blanks | |
//! | `RepeatsSuffix` | `f(ˇb)` + `b`; a row that equals the next one; rows that end with the next one; `)` where `)` follows and all is closed | `use` before a row that begins with `use`; `)` where one is missing |
//! | `Repeats` | the row above; `x.go(ˇ` + `x.go(1)`; `compˇ` + `compute()`; a line three times | a row that resembles the one above |
//! | `JustGone` | `f(a)` or `f(a);` where the user deleted, undid or rejected `f(a)` | `f(a, b)` there; `f(a)` in a new row or block; anything after the user has typed something else there |
//! | `UnknownName` | `Shape::Triangle` if the text defines `Shape` without it | the same while the text is newer than the known names |
//! | `CutsWord` | `comp` where `compute` is near and `comp` is not; the engine shows the text before the word | a new word; `user` beside `users` or `user_id` |
//! | `Breaks` | `f(a]`; `def f():` in Rust; `}` that the next row closes; `f(a, b` at the end of a line; `let x = 1; ˇ2 + y` + `let z` | `if x {`; `f(`; `f(a,`; `let x = a`; `(` in front of `b + c`; `}` that closes part of what is open, or in front of a row |
//!
//! Invariant: the work depends on the suggestion and what surrounds it, never on the length of the
//! text, and parsing ends within a bounded number of steps.
//! Start at `check`; streaming responses go through `CompletionStream` first.

mod brackets;
mod literals;
mod names;
mod parse;
mod recent;
mod repeat;
mod stop;
mod stream;
mod suffix;
mod trial;
mod word;

use std::fmt;

use base::ByteOffset;
use text::{Buffer, Change, EditOrigin, Snapshot, Timestamp};

use crate::{AcceptGranularity, EditorState, SuggestedEdit, Suggestion};

pub use names::TypeMembers;
use parse::SyntaxFit;
pub(crate) use parse::parses_no_worse;
pub use recent::RecentEdits;
pub use stream::{CompletionStream, StreamControl};
pub(crate) use suffix::joined;
pub(crate) use word::without_last_word;

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
    /// It stops within a word.
    CutsWord,
    /// The text would parse worse with it.
    Breaks,
}

impl RejectReason {
    /// Returns the name under which refusals are counted.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Blank => "blank",
            Self::RepeatsSuffix => "repeats suffix",
            Self::Repeats => "repeats",
            Self::JustGone => "just gone",
            Self::UnknownName(_) => "unknown name",
            Self::CutsWord => "cuts a word",
            Self::Breaks => "breaks",
        }
    }
}

/// Checks whether a suggestion may be shown. `state` is the state of the file that it changes.
///
/// Takes well under a millisecond. If there is no tree, or parsing exceeds its bound, the syntax
/// check is skipped.
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
    if suggestion
        .edits
        .last()
        .is_some_and(|edit| word::is_cut(state, edit))
    {
        return Err(RejectReason::CutsWord);
    }
    let fit = parse::fit(state, &suggestion.edits);
    if is_closing && !closes(suggestion, fit) {
        return Err(RejectReason::RepeatsSuffix);
    }
    match fit {
        Some(SyntaxFit::Breaks) => Err(RejectReason::Breaks),
        _ => Ok(()),
    }
}

/// Whether closing characters that also follow the suggestion were missing. Only brackets can be
/// told apart from those that follow.
fn closes(suggestion: &Suggestion, fit: Option<SyntaxFit>) -> bool {
    let mut edits = suggestion.edits.iter();
    let has_brackets = edits.any(|edit| edit.new.contains([')', ']', '}']));
    match fit {
        Some(SyntaxFit::Mends) => true,
        Some(SyntaxFit::Unfinished) => has_brackets,
        Some(SyntaxFit::Keeps | SyntaxFit::Breaks) | None => false,
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
            Self::CutsWord => f.write_str("it stops within a word"),
            Self::Breaks => f.write_str("the text would parse worse with it"),
        }
    }
}

#[cfg(test)]
mod tests;
