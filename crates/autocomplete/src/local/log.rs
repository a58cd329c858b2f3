//! Log of recent edits: groups keystrokes into edits, each as pairs of token sequences.
//!
//! Must not know: the clock; every change carries its time. Keystrokes at one place with short
//! pauses form one edit, which stays open until the next one begins elsewhere; its pairs are
//! recomputed at every keystroke.
//! Invariant: the work per keystroke depends on the edit and the number of logged edits, never on
//! the file.
//! Invariant: keeps at most `MOST_EDITS` edits, each with at most `MOST_EDIT_BYTES` of either text.

mod frames;
mod pairs;
mod rewrites;

use std::collections::VecDeque;
use std::sync::Arc;

use base::{AbsPath, Bias, ByteOffset, Span};
use syntax::SyntaxSnapshot;
use text::{Change, Snapshot, Splice, Timestamp};

use crate::ChangeCause;

pub(crate) use frames::{ChangeFrame, LoggedToken};
use pairs::hunks;
pub(crate) use rewrites::{EDGE, MAX_CONTEXT_TOKENS, TokenRewrite};

/// One change of an open text, as reported to the log.
#[derive(Clone)]
pub struct ObservedEdit {
    /// Path of the file; `None` for an unsaved text.
    pub path: Option<AbsPath>,
    /// Text before the change.
    pub before: Snapshot,
    /// Text after the change.
    pub after: Snapshot,
    /// The change from `before` to `after`.
    pub change: Change,
    /// Syntax tree after the change, with the offsets of `after`; its structure may be older.
    pub syntax: Option<SyntaxSnapshot>,
    /// Time of the change.
    pub at: Timestamp,
    /// Origin of the change.
    pub cause: ChangeCause,
}

/// An edit of the log.
#[derive(Clone, Debug)]
pub struct LoggedEdit {
    /// Sequence number of the edit in this log.
    pub id: u64,
    /// Path of the file; `None` for an unsaved text.
    pub path: Option<AbsPath>,
    /// Current span of its new text.
    pub span: Span,
    /// Replaced text, widened to whole tokens.
    pub old: Arc<str>,
    /// New text, widened to whole tokens.
    pub new: Arc<str>,
    /// Time at which it ended.
    pub at: Timestamp,
    /// Origin of the edit.
    pub cause: ChangeCause,
    /// Whether it was undone.
    pub is_undone: bool,
    /// Its changes as token sequences.
    pub(crate) pieces: Vec<LoggedChange>,
    /// Its changes row by row.
    pub(crate) turns: Vec<Arc<TokenRewrite>>,
}

/// One changed place of an edit.
#[derive(Clone, Debug)]
pub(crate) struct LoggedChange {
    /// Offset of its new text from the start of the edit's new text, in bytes.
    pub(crate) offset: usize,
    /// The change alone, then with successively larger syntax nodes around it.
    pub(crate) frames: Vec<ChangeFrame>,
    /// The two tokens before it, the nearest last.
    pub(crate) lead: [Arc<str>; 2],
    /// The call that encloses it: see `around`.
    pub(crate) around: [Arc<str>; 2],
}

/// An edit that may continue.
struct OpenEdit {
    path: Option<AbsPath>,
    before: Snapshot,
    after: Snapshot,
    /// Changed places: one, or one for each of several carets with the same edit. Sorted by
    /// position.
    places: Vec<SpanChange>,
    /// Syntax tree of `before`; `None` if the log had none when the text first changed.
    syntax: Option<SyntaxSnapshot>,
    /// Syntax tree of `after`.
    later: Option<SyntaxSnapshot>,
    at: Timestamp,
    cause: ChangeCause,
}

/// A changed place of an edit.
#[derive(Clone, Copy)]
struct SpanChange {
    /// Span in the text before.
    old: Span,
    /// Span in the text after.
    new: Span,
}

/// Maximum number of edits kept.
const MAX_EDITS: usize = 64;

/// Maximum bytes of an edit whose text and pairs are kept.
const MAX_EDIT_BYTES: usize = 2048;

/// Pause in milliseconds that ends an edit, even at the same place.
const PAUSE: u64 = 4000;

/// Maximum distance in bytes between changes in one row that form one edit, such as the two ends of
/// a call wrapped around an expression.
const MAX_GAP_BYTES: usize = 64;

/// Number of recent edits whose new words are kept, and of words kept for each.
const MAX_WORD_EDITS: usize = 8;
const MAX_WORDS: usize = 40;

/// Maximum number of simultaneous carets; the pairs of each are recomputed at every keystroke.
const MAX_CHANGES: usize = 16;

/// Maximum number of texts whose latest tree is kept.
const MAX_TREES: usize = 64;

/// Edits of all open texts, the oldest first.
#[derive(Default)]
pub struct EditLog {
    open: Option<OpenEdit>,
    /// The open edit in its logged form, recomputed at every keystroke.
    told: Option<LoggedEdit>,
    closed: VecDeque<LoggedEdit>,
    next: u64,
    /// Words introduced by the latest edits, the newest last.
    brought: VecDeque<Vec<Arc<str>>>,
    /// Latest tree of each text.
    trees: VecDeque<(Option<AbsPath>, SyntaxSnapshot)>,
}

impl EditLog {
    /// Creates an empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores the tree of a text, so that the next change of the text has a tree to refer to.
    pub fn note_tree(&mut self, path: &Option<AbsPath>, syntax: &SyntaxSnapshot) {
        self.trees.retain(|(other, _)| other != path);
        self.trees.push_back((path.clone(), syntax.clone()));
        if self.trees.len() > MAX_TREES {
            self.trees.pop_front();
        }
    }

    /// Records a change of a text.
    pub fn edited(&mut self, edit: &ObservedEdit) {
        let tree = self.tree_before(edit);
        let joined = self.open.as_mut().is_some_and(|open| open.join(edit));
        if !joined {
            self.close();
            self.follow(&edit.path, &edit.change);
            self.note(edit, tree);
        } else {
            self.follow(&edit.path, &edit.change);
        }
        self.told = self.open.as_ref().and_then(|open| open.logged(self.next));
        if let Some(syntax) = &edit.syntax {
            self.note_tree(&edit.path, syntax);
        }
    }

    /// Returns the closed edits, the oldest first, followed by the open one.
    pub fn edits(&self) -> Vec<LoggedEdit> {
        self.all().cloned().collect()
    }

    /// Returns the closed edits, the oldest first.
    pub(crate) fn closed(&self) -> impl DoubleEndedIterator<Item = &LoggedEdit> {
        self.closed.iter()
    }

    /// Returns the open edit in its logged form.
    pub(crate) fn open_edit(&self) -> Option<&LoggedEdit> {
        self.told.as_ref()
    }

    /// Like `edits`, without copying.
    pub(crate) fn all(&self) -> impl Iterator<Item = &LoggedEdit> {
        self.closed.iter().chain(&self.told)
    }

    /// Returns how many edits ago a word was introduced, if one of the latest did.
    pub(crate) fn brought(&self, word: &str) -> Option<usize> {
        let mut edits = self.brought.iter().rev();
        edits.position(|words| words.iter().any(|it| it.as_ref() == word))
    }

    /// Returns the sequence number of the next edit.
    pub(crate) fn next_id(&self) -> u64 {
        self.next
    }

    fn tree_before(&self, edit: &ObservedEdit) -> Option<SyntaxSnapshot> {
        let (_, tree) = self.trees.iter().find(|(path, _)| *path == edit.path)?;
        (tree.revision() == edit.before.revision()).then(|| tree.clone())
    }

    fn close(&mut self) {
        self.open = None;
        let Some(edit) = self.told.take() else {
            return;
        };
        self.next += 1;
        self.brought.push_back(words_brought(&edit));
        if self.brought.len() > MAX_WORD_EDITS {
            self.brought.pop_front();
        }
        self.closed.push_back(edit);
        if self.closed.len() > MAX_EDITS {
            self.closed.pop_front();
        }
    }

    /// Maps the spans of logged edits through a change of their text.
    fn follow(&mut self, path: &Option<AbsPath>, change: &Change) {
        for edit in self.closed.iter_mut().filter(|edit| edit.path == *path) {
            edit.span = Span::new(
                change.map(edit.span.start, Bias::Left),
                change.map(edit.span.end, Bias::Right),
            );
        }
    }

    fn note(&mut self, edit: &ObservedEdit, syntax: Option<SyntaxSnapshot>) {
        match (edit.cause, edit.change.splices.as_slice()) {
            (ChangeCause::Undone, splices) => self.undo(edit, splices),
            (ChangeCause::Typed | ChangeCause::Accepted, splices) if is_alike(edit) => {
                let places = splices.iter().map(|splice| SpanChange {
                    old: splice.old,
                    new: splice.new,
                });
                self.open = Some(OpenEdit {
                    path: edit.path.clone(),
                    before: edit.before.clone(),
                    after: edit.after.clone(),
                    places: places.collect(),
                    syntax,
                    later: edit.syntax.clone(),
                    at: edit.at,
                    cause: edit.cause,
                });
            }
            _ => {}
        }
    }

    /// Marks the edits whose new text a change removed.
    fn undo(&mut self, edit: &ObservedEdit, splices: &[Splice]) {
        for logged in self.closed.iter_mut().filter(|it| it.path == edit.path) {
            let is_touched = splices.iter().any(|splice| {
                splice.new.start <= logged.span.end && logged.span.start <= splice.new.end
            });
            let is_gone = edit.after.text(logged.span) != *logged.new;
            logged.is_undone |= is_touched && is_gone;
        }
    }
}

impl OpenEdit {
    /// Joins a change to this edit if it continues it.
    fn join(&mut self, edit: &ObservedEdit) -> bool {
        let splices = &edit.change.splices;
        let is_same = self.path == edit.path
            && self.cause == edit.cause
            && edit.cause == ChangeCause::Typed
            && self.after.revision() == edit.before.revision();
        let is_soon = edit.at.0.saturating_sub(self.at.0) <= PAUSE;
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
        self.after = edit.after.clone();
        self.later = edit.syntax.clone();
        self.at = edit.at;
        true
    }

    /// Returns this edit with its pairs; `None` if it has no net effect.
    fn logged(&self, id: u64) -> Option<LoggedEdit> {
        let is_large = |place: &SpanChange| place.old.len().max(place.new.len()) > MAX_EDIT_BYTES;
        let (first, last) = (self.places.first()?, self.places.last()?);
        if self.places.iter().any(is_large) {
            let all = Span::new(first.new.start, last.new.end);
            return Some(self.bare(id, all, "", ""));
        }
        let widened: Vec<SpanChange> = self.places.iter().map(|it| self.widened(it)).collect();
        let (first, last) = (widened.first()?, widened.last()?);
        let old = Span::new(first.old.start, last.old.end);
        let new = Span::new(first.new.start, last.new.end);
        let mut edit = if old.len().max(new.len()) > MAX_EDIT_BYTES {
            self.bare(id, new, "", "")
        } else {
            let (old, new_text) = (self.before.text(old), self.after.text(new));
            self.bare(id, new, &old, &new_text)
        };
        for place in &widened {
            edit.pieces.extend(self.logged_changes(place, new.start));
        }
        for (place, widened) in self.places.iter().zip(&widened) {
            let old = (&self.before, place.old, self.syntax.as_ref());
            let new = (&self.after, widened.new, self.later.as_ref());
            edit.turns
                .extend(rewrites::row_rewrites(old, new).into_iter().map(Arc::new));
        }
        let is_same =
            |place: &SpanChange| self.before.text(place.old) == self.after.text(place.new);
        (!widened.iter().all(is_same)).then_some(edit)
    }

    /// Returns the changes at a place of an edit whose new text begins at `start`.
    fn logged_changes(&self, place: &SpanChange, start: ByteOffset) -> Vec<LoggedChange> {
        let (old, new) = (self.before.text(place.old), self.after.text(place.new));
        let hunks = hunks(&old, &new).into_iter();
        let piece = hunks.map(|hunk| {
            let from = place.old.start + hunk.old.start;
            let span = Span::new(from, place.old.start + hunk.old.end);
            let later = |at: usize| {
                let at = place.new.start + hunk.new.start + at;
                Some(self.later.as_ref()?.token_at(&self.after, at)?.role)
            };
            let (before, syntax) = (&self.before, self.syntax.as_ref());
            let whole = hunk.with_blanks(&old, &new);
            let whole = frames::PaddedChange {
                span: Span::new(
                    place.old.start + whole.old.start,
                    place.old.start + whole.old.end,
                ),
                new: &new[whole.new],
            };
            LoggedChange {
                offset: place.new.start.0 - start.0 + hunk.new.start,
                lead: lead(before, from),
                around: enclosing_call(before, from),
                frames: frames::frames(
                    before,
                    syntax,
                    (span, &new[hunk.new.clone()]),
                    whole,
                    later,
                ),
            }
        });
        piece.collect()
    }

    fn bare(&self, id: u64, span: Span, old: &str, new: &str) -> LoggedEdit {
        LoggedEdit {
            id,
            path: self.path.clone(),
            span,
            old: Arc::from(old),
            new: Arc::from(new),
            at: self.at,
            cause: self.cause,
            is_undone: false,
            pieces: Vec::new(),
            turns: Vec::new(),
        }
    }

    /// Widens a place to whole words by adding the unchanged word characters on either side.
    fn widened(&self, place: &SpanChange) -> SpanChange {
        let is_word = super::token::is_word_char;
        let first = |text: &Snapshot, span: Span| text.chars_at(span.start).next();
        let last = |text: &Snapshot, span: Span| text.chars_before(span.end).next();
        // If one side is empty, the other side decides whether a word is touched.
        let starts = [
            first(&self.before, place.old),
            first(&self.after, place.new),
        ];
        let ends = [last(&self.before, place.old), last(&self.after, place.new)];
        let run = |chars: &mut dyn Iterator<Item = char>| {
            let run = chars.take_while(|ch| is_word(*ch)).take(MAX_GAP_BYTES);
            run.map(char::len_utf8).sum::<usize>()
        };
        let left = if starts.iter().flatten().any(|ch| is_word(*ch)) {
            run(&mut self.before.chars_before(place.old.start))
        } else {
            0
        };
        let right = if ends.iter().flatten().any(|ch| is_word(*ch)) {
            run(&mut self.before.chars_at(place.old.end))
        } else {
            0
        };
        let wider = |span: Span| Span::new(ByteOffset(span.start.0 - left), span.end + right);
        SpanChange {
            old: wider(place.old),
            new: wider(place.new),
        }
    }
}

impl SpanChange {
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

/// Whether all carets make the same change; other simultaneous changes are not logged.
fn is_alike(edit: &ObservedEdit) -> bool {
    let splices = &edit.change.splices;
    let texts = |splice: &Splice| (edit.before.text(splice.old), edit.after.text(splice.new));
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

/// Returns the words of an edit that its old text does not contain.
fn words_brought(edit: &LoggedEdit) -> Vec<Arc<str>> {
    let is_word = super::token::is_word_char;
    let words = edit.new.split(|ch: char| !is_word(ch));
    let words = words.filter(|word| word.len() > 2 && !edit.old.contains(word));
    let mut brought: Vec<Arc<str>> = Vec::new();
    for word in words {
        if !brought.iter().any(|it| it.as_ref() == word) {
            brought.push(Arc::from(word));
        }
        if brought.len() == MAX_WORDS {
            break;
        }
    }
    brought
}

/// Returns the two tokens before an offset, the nearest last; empty if there are none nearby.
pub(crate) fn lead(text: &Snapshot, at: ByteOffset) -> [Arc<str>; 2] {
    let start = ByteOffset(at.0.saturating_sub(MAX_GAP_BYTES));
    let text = text.text(Span::new(start, at));
    let tokens = super::token::solid_tokens(&text);
    let nth = |back: usize| {
        let ix = tokens.len().checked_sub(back);
        let token = ix.and_then(|ix| tokens.get(ix));
        Arc::from(token.map_or("", |token| token.text(&text)))
    };
    [nth(2), nth(1)]
}

/// Returns the callee and `(` of the call whose arguments contain an offset, or the two tokens
/// before it outside a call.
pub(crate) fn enclosing_call(text: &Snapshot, at: ByteOffset) -> [Arc<str>; 2] {
    const MAX_CALL_TOKENS: usize = 200;
    let start = ByteOffset(at.0.saturating_sub(MAX_CALL_TOKENS));
    let before = text.text(Span::new(start, at));
    let tokens = super::token::solid_tokens(&before);
    let mut depth = 0;
    for (ix, token) in tokens.iter().enumerate().rev() {
        match token.text(&before) {
            ")" | "]" | "}" => depth += 1,
            "(" if depth == 0 => {
                let callee = ix.checked_sub(1).and_then(|ix| tokens.get(ix));
                let callee = callee.map_or("", |token| token.text(&before));
                return [Arc::from(callee), Arc::from("(")];
            }
            "(" | "[" | "{" if depth > 0 => depth -= 1,
            "[" | "{" | ";" => break,
            _ => {}
        }
    }
    lead(text, at)
}

#[cfg(test)]
mod tests;
