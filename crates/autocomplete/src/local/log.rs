//! What was edited lately: keystrokes coalesced into edits, each as pairs of token sequences.
//!
//! Must not know: the clock; every change comes with its time. Keystrokes at one place with short pauses are one edit,
//! which stays open until the next one begins elsewhere; its pairs are told at every key.
//! Invariant: the work for a key depends on the edit and on the number of logged edits, never on the file.
//! Invariant: at most `MOST_EDITS` edits are kept, each with at most `MOST_EDIT_BYTES` of either text.

mod frames;
mod pairs;
mod turns;

use std::collections::VecDeque;
use std::sync::Arc;

use base::{AbsPath, Bias, ByteOffset, Span};
use syntax::SyntaxSnapshot;
use text::{Change, Snapshot, Splice, Timestamp};

use crate::Cause;

pub(crate) use frames::{Frame, LoggedToken};
use pairs::hunks;
pub(crate) use turns::{EDGE, MOST_BESIDE, Turn};

/// One change of an open text, as the log is told of it.
#[derive(Clone)]
pub struct Edited {
    /// The file; none for a text that has none yet.
    pub path: Option<AbsPath>,
    /// The text before the change.
    pub before: Snapshot,
    /// The text behind it.
    pub after: Snapshot,
    /// What leads from the one to the other.
    pub change: Change,
    /// The tree behind the change, with the offsets of `after`; its structure may be older.
    pub syntax: Option<SyntaxSnapshot>,
    /// When it happened.
    pub at: Timestamp,
    /// How it came about.
    pub cause: Cause,
}

/// An edit of the log.
#[derive(Clone, Debug)]
pub struct LoggedEdit {
    /// Counts the edits of this log.
    pub id: u64,
    /// The file; none for a text that has none yet.
    pub path: Option<AbsPath>,
    /// Where its new text stands now.
    pub span: Span,
    /// What went away, widened to whole tokens.
    pub old: Arc<str>,
    /// What came instead, widened to whole tokens.
    pub new: Arc<str>,
    /// When it ended.
    pub at: Timestamp,
    /// How it came about.
    pub cause: Cause,
    /// Whether it was taken back.
    pub is_undone: bool,
    /// What it changed, normalised.
    pub(crate) pieces: Vec<Piece>,
    /// What it changed, row by row.
    pub(crate) turns: Vec<Arc<Turn>>,
}

/// One changed place of an edit.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Where its new text begins, in bytes from the start of the edit's new text.
    pub(crate) offset: usize,
    /// The change alone, then with more and more of what stands around it.
    pub(crate) frames: Vec<Frame>,
    /// The two tokens before it, the nearest last.
    pub(crate) lead: [Arc<str>; 2],
    /// What it is within: see `around`.
    pub(crate) around: [Arc<str>; 2],
}

/// An edit that may still go on.
struct OpenEdit {
    path: Option<AbsPath>,
    before: Snapshot,
    after: Snapshot,
    /// Where it happens: one place, or one for each of several carets that do the same. By place.
    places: Vec<Place>,
    /// The tree of `before`; none where the first change of a text is the first that was heard of it.
    syntax: Option<SyntaxSnapshot>,
    /// The tree of `after`.
    later: Option<SyntaxSnapshot>,
    at: Timestamp,
    cause: Cause,
}

/// A place of an edit.
#[derive(Clone, Copy)]
struct Place {
    /// In the text before.
    old: Span,
    /// In the text behind.
    new: Span,
}

/// Edits that are remembered.
const MOST_EDITS: usize = 64;

/// Of larger edits neither text nor pairs are remembered.
const MOST_EDIT_BYTES: usize = 2048;

/// A pause of so many milliseconds ends an edit, even at the same place.
const PAUSE: u64 = 4000;

/// Changes in one row, at most so many bytes apart, are one edit: a call wrapped around something takes two.
const MOST_GAP: usize = 64;

/// Edits whose words are remembered, and how many words of each.
const MOST_BROUGHT: usize = 8;
const MOST_WORDS: usize = 40;

/// What more carets than this do is not remembered: its pieces are told anew at every key.
const MOST_PLACES: usize = 16;

/// Texts whose newest tree is remembered.
const MOST_TREES: usize = 64;

/// The edits of all open texts, the oldest first.
#[derive(Default)]
pub struct EditLog {
    open: Option<OpenEdit>,
    /// The open edit as if it were over, told anew at every key.
    told: Option<LoggedEdit>,
    closed: VecDeque<LoggedEdit>,
    next: u64,
    /// The words that the last edits brought in, the newest last.
    brought: VecDeque<Vec<Arc<str>>>,
    /// The newest tree of each text.
    trees: VecDeque<(Option<AbsPath>, SyntaxSnapshot)>,
}

impl EditLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells the log of a tree, so that the next change of its text is understood.
    pub fn see(&mut self, path: &Option<AbsPath>, syntax: &SyntaxSnapshot) {
        self.trees.retain(|(other, _)| other != path);
        self.trees.push_back((path.clone(), syntax.clone()));
        if self.trees.len() > MOST_TREES {
            self.trees.pop_front();
        }
    }

    /// Notes a change.
    pub fn edited(&mut self, edit: &Edited) {
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
            self.see(&edit.path, syntax);
        }
    }

    /// The edits that are over, the oldest first, and the one that may go on behind them.
    pub fn edits(&self) -> Vec<LoggedEdit> {
        self.all().cloned().collect()
    }

    /// The edits that are over, the oldest first.
    pub(crate) fn closed(&self) -> impl DoubleEndedIterator<Item = &LoggedEdit> {
        self.closed.iter()
    }

    /// The edit that may go on, as if it were over.
    pub(crate) fn open_edit(&self) -> Option<&LoggedEdit> {
        self.told.as_ref()
    }

    /// As `edits`, without copies.
    pub(crate) fn all(&self) -> impl Iterator<Item = &LoggedEdit> {
        self.closed.iter().chain(&self.told)
    }

    /// How many edits ago a word was brought in, if one of the last did.
    pub(crate) fn brought(&self, word: &str) -> Option<usize> {
        let mut edits = self.brought.iter().rev();
        edits.position(|words| words.iter().any(|it| it.as_ref() == word))
    }

    /// The number that the next edit gets.
    pub(crate) fn next_id(&self) -> u64 {
        self.next
    }

    fn tree_before(&self, edit: &Edited) -> Option<SyntaxSnapshot> {
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
        if self.brought.len() > MOST_BROUGHT {
            self.brought.pop_front();
        }
        self.closed.push_back(edit);
        if self.closed.len() > MOST_EDITS {
            self.closed.pop_front();
        }
    }

    /// Keeps the places of logged edits in step with a change of their text.
    fn follow(&mut self, path: &Option<AbsPath>, change: &Change) {
        for edit in self.closed.iter_mut().filter(|edit| edit.path == *path) {
            edit.span = Span::new(
                change.map(edit.span.start, Bias::Left),
                change.map(edit.span.end, Bias::Right),
            );
        }
    }

    fn note(&mut self, edit: &Edited, syntax: Option<SyntaxSnapshot>) {
        match (edit.cause, edit.change.splices.as_slice()) {
            (Cause::Undone, splices) => self.undo(edit, splices),
            (Cause::Typed | Cause::Accepted, splices) if is_alike(edit) => {
                let places = splices.iter().map(|splice| Place {
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

    /// Marks the edits whose new text a change took back.
    fn undo(&mut self, edit: &Edited, splices: &[Splice]) {
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
    /// Takes a change in, if it goes on where this edit is.
    fn join(&mut self, edit: &Edited) -> bool {
        let splices = &edit.change.splices;
        let is_same = self.path == edit.path
            && self.cause == edit.cause
            && edit.cause == Cause::Typed
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
        let Some(places) = joined.collect::<Option<Vec<Place>>>() else {
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

    /// This edit with its pairs; `None` when nothing is left of it.
    fn logged(&self, id: u64) -> Option<LoggedEdit> {
        let is_large = |place: &Place| place.old.len().max(place.new.len()) > MOST_EDIT_BYTES;
        let (first, last) = (self.places.first()?, self.places.last()?);
        if self.places.iter().any(is_large) {
            let all = Span::new(first.new.start, last.new.end);
            return Some(self.bare(id, all, "", ""));
        }
        let widened: Vec<Place> = self.places.iter().map(|it| self.widened(it)).collect();
        let (first, last) = (widened.first()?, widened.last()?);
        let old = Span::new(first.old.start, last.old.end);
        let new = Span::new(first.new.start, last.new.end);
        let mut edit = match old.len().max(new.len()) > MOST_EDIT_BYTES {
            true => self.bare(id, new, "", ""),
            false => {
                let (old, new_text) = (self.before.text(old), self.after.text(new));
                self.bare(id, new, &old, &new_text)
            }
        };
        for place in &widened {
            edit.pieces.extend(self.pieces(place, new.start));
        }
        for (place, widened) in self.places.iter().zip(&widened) {
            let old = (&self.before, place.old, self.syntax.as_ref());
            let new = (&self.after, widened.new, self.later.as_ref());
            edit.turns
                .extend(turns::turns(old, new).into_iter().map(Arc::new));
        }
        let is_same = |place: &Place| self.before.text(place.old) == self.after.text(place.new);
        (!widened.iter().all(is_same)).then_some(edit)
    }

    /// What changed at a place, in an edit whose new text begins at `start`.
    fn pieces(&self, place: &Place, start: ByteOffset) -> Vec<Piece> {
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
            let whole = frames::Whole {
                span: Span::new(
                    place.old.start + whole.old.start,
                    place.old.start + whole.old.end,
                ),
                new: &new[whole.new],
            };
            Piece {
                offset: place.new.start.0 - start.0 + hunk.new.start,
                lead: lead(before, from),
                around: around(before, from),
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

    /// A place with the unchanged words that belong to it on either side, so that it covers whole words.
    fn widened(&self, place: &Place) -> Place {
        let is_word = super::token::is_word_char;
        let first = |text: &Snapshot, span: Span| text.chars_at(span.start).next();
        let last = |text: &Snapshot, span: Span| text.chars_before(span.end).next();
        // Of an empty side, its neighbour is what would be joined.
        let starts = [
            first(&self.before, place.old),
            first(&self.after, place.new),
        ];
        let ends = [last(&self.before, place.old), last(&self.after, place.new)];
        let run = |chars: &mut dyn Iterator<Item = char>| {
            let run = chars.take_while(|ch| is_word(*ch)).take(MOST_GAP);
            run.map(char::len_utf8).sum::<usize>()
        };
        let left = match starts.iter().flatten().any(|ch| is_word(*ch)) {
            true => run(&mut self.before.chars_before(place.old.start)),
            false => 0,
        };
        let right = match ends.iter().flatten().any(|ch| is_word(*ch)) {
            true => run(&mut self.before.chars_at(place.old.end)),
            false => 0,
        };
        let wider = |span: Span| Span::new(ByteOffset(span.start.0 - left), span.end + right);
        Place {
            old: wider(place.old),
            new: wider(place.new),
        }
    }
}

impl Place {
    /// With a further change that is near it.
    fn joined(&self, splice: &Splice) -> Option<Self> {
        let hull = self.new.union(splice.old);
        let before_start = self.new.start.0 - hull.start.0;
        let behind_end = hull.end.0 - self.new.end.0;
        let old_start = self.old.start.0.checked_sub(before_start)?;
        // Of several places, those before have moved this one.
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
            return a.len() + splice.new.len() <= MOST_EDIT_BYTES;
        }
        let (left, right) = if a.end < b.start {
            (a.end, b.start)
        } else {
            (b.end, a.start)
        };
        right.0 - left.0 <= MOST_GAP
            && before.point_at(left).row == before.point_at(right).row
            && splice.new.len() <= MOST_GAP
    }
}

/// What several carets do is worth remembering where all of them do the same.
fn is_alike(edit: &Edited) -> bool {
    let splices = &edit.change.splices;
    let texts = |splice: &Splice| (edit.before.text(splice.old), edit.after.text(splice.new));
    let is_small = |splice: &Splice| splice.old.len().max(splice.new.len()) <= MOST_EDIT_BYTES;
    match splices.as_slice() {
        [] => false,
        [_] => true,
        [first, others @ ..] => {
            splices.len() <= MOST_PLACES
                && splices.iter().all(is_small)
                && others.iter().all(|other| texts(other) == texts(first))
        }
    }
}

/// The words of an edit that were not there before it.
fn words_brought(edit: &LoggedEdit) -> Vec<Arc<str>> {
    let is_word = super::token::is_word_char;
    let words = edit.new.split(|ch: char| !is_word(ch));
    let words = words.filter(|word| word.len() > 2 && !edit.old.contains(word));
    let mut brought: Vec<Arc<str>> = Vec::new();
    for word in words {
        if !brought.iter().any(|it| it.as_ref() == word) {
            brought.push(Arc::from(word));
        }
        if brought.len() == MOST_WORDS {
            break;
        }
    }
    brought
}

/// The two tokens before a place of a text, the nearest last; empty where there are none near.
pub(crate) fn lead(text: &Snapshot, at: ByteOffset) -> [Arc<str>; 2] {
    let start = ByteOffset(at.0.saturating_sub(MOST_GAP));
    let text = text.text(Span::new(start, at));
    let tokens = super::token::solid_tokens(&text);
    let nth = |back: usize| {
        let ix = tokens.len().checked_sub(back);
        let token = ix.and_then(|ix| tokens.get(ix));
        Arc::from(token.map_or("", |token| token.text(&text)))
    };
    [nth(2), nth(1)]
}

/// What is called with a place of a text as an argument; the two tokens before it where that is no call.
pub(crate) fn around(text: &Snapshot, at: ByteOffset) -> [Arc<str>; 2] {
    const MOST_CALL: usize = 200;
    let start = ByteOffset(at.0.saturating_sub(MOST_CALL));
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
