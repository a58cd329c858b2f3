//! Log of recent edits as pairs of token sequences.
//!
//! Must not know: which keystrokes form an edit; `EditHistory` decides that. Its open edit stays the
//! open edit of the log, whose pairs are recomputed at every keystroke.
//! Invariant: the work per keystroke depends on the edit and the number of logged edits, never on
//! the file.
//! Invariant: keeps at most `MAX_EDITS` edits, each with at most `MAX_EDIT_BYTES` of either text.

mod frames;
mod pairs;
mod rewrites;

use std::collections::VecDeque;
use std::sync::Arc;

use base::{AbsPath, Bias, ByteOffset, Span};
use syntax::SyntaxSnapshot;
use text::{Change, Snapshot};

use super::line_ending::text_before;
use crate::history::{MAX_EDIT_BYTES, MAX_GAP_BYTES, OpenEdit, SpanChange};
use crate::{ChangeCause, DocumentEdit, EditHistory};

pub(crate) use frames::{ChangeFrame, LoggedToken};
use pairs::hunks;
pub(crate) use rewrites::{EDGE, MAX_CONTEXT_TOKENS, TokenRewrite};

/// An edit of the log, with its changes as token sequences. Its span follows later changes of the
/// text.
#[derive(Clone, Debug)]
pub(crate) struct LoggedEdit {
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

/// Syntax trees around the open edit.
struct OpenTrees {
    /// Number of the edit in its history.
    number: u64,
    /// Tree of the text before it; `None` if the log had none when the text first changed.
    before: Option<SyntaxSnapshot>,
    /// Tree of the text after it.
    after: Option<SyntaxSnapshot>,
}

/// Maximum number of edits kept.
const MAX_EDITS: usize = 64;

/// Number of recent edits whose new words are kept, and of words kept for each.
const MAX_WORD_EDITS: usize = 8;
const MAX_WORDS: usize = 40;

/// Maximum number of texts whose latest tree is kept.
const MAX_TREES: usize = 64;

/// The recent edits of all open texts as token sequences, the oldest first. Repeated edits are
/// detected in this log.
#[derive(Default)]
pub(crate) struct EditLog {
    /// The open edit, recomputed at every keystroke.
    open: Option<LoggedEdit>,
    open_trees: Option<OpenTrees>,
    closed: VecDeque<LoggedEdit>,
    next: u64,
    /// Words introduced by the latest edits, the newest last.
    brought: VecDeque<Vec<Arc<str>>>,
    /// Latest tree of each text.
    trees: VecDeque<(Option<AbsPath>, SyntaxSnapshot)>,
}

impl EditLog {
    /// Stores the tree of a text, so that the next change of the text has a tree to refer to.
    pub(crate) fn note_tree(&mut self, path: &Option<AbsPath>, syntax: &SyntaxSnapshot) {
        self.trees.retain(|(other, _)| other != path);
        self.trees.push_back((path.clone(), syntax.clone()));
        if self.trees.len() > MAX_TREES {
            self.trees.pop_front();
        }
    }

    /// Records the change that `history` has recorded last. Recomputes the open edit, or closes the
    /// open edit and starts another. Moves the spans of earlier edits.
    pub(crate) fn edited(&mut self, edit: &DocumentEdit, history: &EditHistory) {
        let open = history.open_edit();
        let known = self.open_trees.as_ref().map(|trees| trees.number);
        if open.is_none() || open.map(|open| open.number) != known {
            let before = self.tree_before(edit);
            self.close();
            self.open_trees = open.map(|open| OpenTrees {
                number: open.number,
                before,
                after: None,
            });
        }
        self.follow(&edit.state.path, &edit.change);
        if edit.cause == ChangeCause::Undone {
            self.undo(edit);
        }
        if let (Some(open), Some(trees)) = (open, &mut self.open_trees) {
            trees.after.clone_from(&edit.state.syntax);
            self.open = open.logged(self.next, trees);
        }
        if let Some(syntax) = &edit.state.syntax {
            self.note_tree(&edit.state.path, syntax);
        }
    }

    /// Returns copies of the closed edits, the oldest first, followed by the open one.
    #[cfg(test)]
    pub(crate) fn edits(&self) -> Vec<LoggedEdit> {
        self.all().cloned().collect()
    }

    /// Returns the closed edits, the oldest first.
    pub(crate) fn closed(&self) -> impl DoubleEndedIterator<Item = &LoggedEdit> {
        self.closed.iter()
    }

    /// Returns the edit that the next keystroke may continue. Returns `None` if the next keystroke
    /// starts a new edit.
    pub(crate) fn open_edit(&self) -> Option<&LoggedEdit> {
        self.open.as_ref()
    }

    /// Returns the closed edits, the oldest first, followed by the open one.
    pub(crate) fn all(&self) -> impl Iterator<Item = &LoggedEdit> {
        self.closed.iter().chain(&self.open)
    }

    /// Returns how many edits ago `word` was first written; 0 means by the newest edit. Returns
    /// `None` if no recent edit wrote this word first.
    pub(crate) fn brought(&self, word: &str) -> Option<usize> {
        let mut edits = self.brought.iter().rev();
        edits.position(|words| words.iter().any(|it| it.as_ref() == word))
    }

    /// Returns the sequence number that the next edit will get.
    pub(crate) fn next_id(&self) -> u64 {
        self.next
    }

    /// Returns the tree of the text before an edit. Returns `None` if the log has no tree of this
    /// file or only one of another revision.
    fn tree_before(&self, edit: &DocumentEdit) -> Option<SyntaxSnapshot> {
        let path = &edit.state.path;
        let (_, tree) = self.trees.iter().find(|(other, _)| other == path)?;
        (tree.revision() == edit.before.revision()).then(|| tree.clone())
    }

    fn close(&mut self) {
        let Some(edit) = self.open.take() else {
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

    /// Marks the edits whose new text a change removed.
    fn undo(&mut self, edit: &DocumentEdit) {
        let path = &edit.state.path;
        for logged in self.closed.iter_mut().filter(|it| it.path == *path) {
            let is_touched = edit.change.splices.iter().any(|splice| {
                splice.new.start <= logged.span.end && logged.span.start <= splice.new.end
            });
            let is_gone = edit.after().text(logged.span) != *logged.new;
            logged.is_undone |= is_touched && is_gone;
        }
    }
}

impl OpenEdit {
    /// Returns this edit with its pairs; `None` if it has no net effect.
    fn logged(&self, id: u64, trees: &OpenTrees) -> Option<LoggedEdit> {
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
            edit.pieces
                .extend(self.logged_changes(place, new.start, trees));
        }
        for (place, widened) in self.places.iter().zip(&widened) {
            let old = (&self.before, place.old, trees.before.as_ref());
            let new = (&self.after, widened.new, trees.after.as_ref());
            edit.turns
                .extend(rewrites::row_rewrites(old, new).into_iter().map(Arc::new));
        }
        let is_same =
            |place: &SpanChange| self.before.text(place.old) == self.after.text(place.new);
        (!widened.iter().all(is_same)).then_some(edit)
    }

    /// Returns the changes at a place of an edit whose new text begins at `start`.
    fn logged_changes(
        &self,
        place: &SpanChange,
        start: ByteOffset,
        trees: &OpenTrees,
    ) -> Vec<LoggedChange> {
        let (old, new) = (self.before.text(place.old), self.after.text(place.new));
        let hunks = hunks(&old, &new).into_iter();
        let piece = hunks.map(|hunk| {
            let from = place.old.start + hunk.old.start;
            let span = Span::new(from, place.old.start + hunk.old.end);
            let later = |at: usize| {
                let at = place.new.start + hunk.new.start + at;
                Some(trees.after.as_ref()?.token_at(&self.after, at)?.role)
            };
            let (before, syntax) = (&self.before, trees.before.as_ref());
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

/// Returns the texts of the two tokens before an offset, the nearest last. A missing token yields
/// an empty text.
pub(crate) fn lead(text: &Snapshot, at: ByteOffset) -> [Arc<str>; 2] {
    let text = text_before(text, at, MAX_GAP_BYTES);
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
    const MAX_CALL_BYTES: usize = 200;
    let before = text_before(text, at, MAX_CALL_BYTES);
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
