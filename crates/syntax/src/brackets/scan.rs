//! Matches brackets by scanning the text, for places the tree does not cover.
//!
//! Invariant: reads at most `MAX_SCANNED_BYTES` in each direction.

use std::cell::RefCell;
use std::ops::Range;

use base::{ByteOffset, Span};
use text::Snapshot;

use super::BracketPair;
use crate::scope::SyntaxScope;
use crate::snapshot::{SyntaxSnapshot, TreeView};

/// Maximum distance of a scan from its start, in bytes.
const MAX_SCANNED_BYTES: usize = 100 * 1024;

/// Finds brackets in the text, ignoring those in strings and comments if a tree is available.
pub(crate) struct Scanner<'a> {
    text: &'a Snapshot,
    view: Option<TreeView<'a>>,
    pairs: &'static [(char, char)],
    /// Scopes of the bytes of one stretch, from the tree; queried stretch by stretch.
    scopes: RefCell<(Range<usize>, Vec<SyntaxScope>)>,
}

/// Scopes are read from the tree so many bytes at a time.
const STRETCH: usize = 1024;

impl<'a> Scanner<'a> {
    /// Creates a scanner with the brackets of the language at `at`.
    pub(crate) fn new(syntax: &'a SyntaxSnapshot, text: &'a Snapshot, at: ByteOffset) -> Self {
        let view = syntax.views_at(text, at).pop();
        let language = view
            .as_ref()
            .map_or(syntax.language(), |view| view.language);
        Self {
            text,
            view,
            pairs: language.config().brackets,
            scopes: RefCell::new((0..0, Vec::new())),
        }
    }

    /// Returns the index in the language's list of the bracket pair to which the character `c` at
    /// `at` belongs, and whether `c` is the opening bracket. Returns `None` if `c` is not a
    /// bracket, or is in a string or comment.
    pub(crate) fn bracket(&self, c: char, at: usize) -> Option<(usize, bool)> {
        let ix = self
            .pairs
            .iter()
            .position(|(open, close)| c == *open || c == *close)?;
        self.is_code(at).then_some((ix, c == self.pairs[ix].0))
    }

    /// Whether the byte at an offset is neither in a string nor in a comment.
    pub(crate) fn is_code(&self, at: usize) -> bool {
        self.scope(at) == SyntaxScope::Code
    }

    /// Returns the scope of the byte at an offset.
    pub(crate) fn scope(&self, at: usize) -> SyntaxScope {
        let Some(view) = &self.view else {
            return SyntaxScope::Code;
        };
        let mut scopes = self.scopes.borrow_mut();
        if !scopes.0.contains(&at) {
            let stretch = at - at % STRETCH..at - at % STRETCH + STRETCH;
            *scopes = (stretch.clone(), view.scopes(stretch));
        }
        let ix = at - scopes.0.start;
        scopes.1.get(ix).copied().unwrap_or(SyntaxScope::Code)
    }

    /// The bracket behind `from` that closes pair `ix`, when `depth` openers are open.
    fn closer(&self, from: usize, ix: usize) -> Option<usize> {
        let mut depth = 0;
        let mut at = from;
        for c in self.text.chars_at(ByteOffset(from)) {
            if at - from > MAX_SCANNED_BYTES {
                return None;
            }
            let is_of_pair = c == self.pairs[ix].0 || c == self.pairs[ix].1;
            if is_of_pair && self.is_code(at) {
                if c == self.pairs[ix].0 {
                    depth += 1;
                } else if depth == 0 {
                    return Some(at);
                } else {
                    depth -= 1;
                }
            }
            at += c.len_utf8();
        }
        None
    }

    /// The bracket before `from` that opens pair `ix`.
    fn opener(&self, from: usize, ix: usize) -> Option<usize> {
        let mut depth = 0;
        let mut at = from;
        for c in self.text.chars_before(ByteOffset(from)) {
            at -= c.len_utf8();
            if from - at > MAX_SCANNED_BYTES {
                return None;
            }
            let is_of_pair = c == self.pairs[ix].0 || c == self.pairs[ix].1;
            if is_of_pair && self.is_code(at) {
                if c == self.pairs[ix].1 {
                    depth += 1;
                } else if depth == 0 {
                    return Some(at);
                } else {
                    depth -= 1;
                }
            }
        }
        None
    }

    /// Returns the innermost bracket that is still open at `from`, searching backwards, as its
    /// offset and the index of its pair. Returns `None` if a bounded distance contains no such
    /// bracket.
    pub(crate) fn open_before(&self, from: usize) -> Option<(usize, usize)> {
        let mut open: Vec<usize> = Vec::new();
        let mut at = from;
        for c in self.text.chars_before(ByteOffset(from)) {
            at -= c.len_utf8();
            if from - at > MAX_SCANNED_BYTES {
                return None;
            }
            if let Some((ix, opens)) = self.bracket(c, at) {
                if !opens {
                    open.push(ix);
                } else if open.pop().is_none() {
                    return Some((at, ix));
                }
            }
        }
        None
    }

    fn pair(&self, open: usize, close: usize, ix: usize) -> BracketPair {
        let (opener, closer) = self.pairs[ix];
        BracketPair {
            open: Span::from(open..open + opener.len_utf8()),
            close: Span::from(close..close + closer.len_utf8()),
        }
    }
}

/// Returns the pair of the bracket at `at` by scanning the text, for places where the tree has
/// errors. Returns `None` if `at` is not at a bracket, or the partner is not found within a bounded
/// distance.
pub(crate) fn text_matching_bracket(
    syntax: &SyntaxSnapshot,
    text: &Snapshot,
    at: ByteOffset,
) -> Option<BracketPair> {
    let scanner = Scanner::new(syntax, text, at);
    let c = text.chars_at(at).next()?;
    let (ix, opens) = scanner.bracket(c, at.0)?;
    let (open, close) = if opens {
        (at.0, scanner.closer(at.0 + c.len_utf8(), ix)?)
    } else {
        (scanner.opener(at.0, ix)?, at.0)
    };
    Some(scanner.pair(open, close, ix))
}

/// Returns the innermost pair of brackets around a span by scanning the text. Returns `None` if no
/// pair is found within a bounded distance.
pub(crate) fn text_enclosing_brackets(
    syntax: &SyntaxSnapshot,
    text: &Snapshot,
    span: Span,
) -> Option<BracketPair> {
    let scanner = Scanner::new(syntax, text, span.start);
    let (open, ix) = scanner.open_before(span.start.0)?;
    let close = scanner.closer(span.end.0, ix)?;
    Some(scanner.pair(open, close, ix))
}
