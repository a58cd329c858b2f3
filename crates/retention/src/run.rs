//! A run: the tokens that a change inserted or removed at one place, carried through later changes.
//!
//! The tokens of a run that are in the text form pieces; where tokens are missing, the run has a hole, a span of the
//! text in which they would be. A hole grows with what is written there. If the missing tokens come back in it, by an
//! undo or typed again, they are the same tokens.
//!
//! Invariant: the pieces contain each token of the run once, in order, at ascending places that do not overlap.
//! Limitations: a part of a large hole that comes back is recognized once it is at least a third of the missing
//! tokens.

use std::ops::Range;
use std::sync::Arc;

use base::{ByteOffset, Span};
use text::Snapshot;

use crate::alignment;
use crate::splice::TokenSplice;
use crate::token::{Token, symbols, tokens};
use crate::writer::{Fate, WriterKind};

/// Whether the tokens of a run were inserted or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunKind {
    /// The tokens were inserted, and are kept while they are in the text.
    Insertion,
    /// The tokens were removed, and are kept while they are not in the text.
    Removal,
}

/// A run of tokens.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// Name of the document in which the run is.
    pub(crate) document: Arc<str>,
    pub(crate) kind: RunKind,
    /// Whether the run was moved here from another place.
    pub(crate) is_moved: bool,
    /// The state of each token.
    pub(crate) states: Vec<TokenState>,
    /// The tokens with their places in the text in which they were written or from which they were removed.
    tokens: Vec<Token>,
    pieces: Vec<RunPiece>,
    /// Symbols of the tokens that an insertion replaced.
    replaced: Vec<u64>,
}

/// The state of a token of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenState {
    /// The change has not been taken back for this token.
    Kept,
    /// The token was changed, or brought back after its removal.
    Lost {
        /// Time of the loss, in milliseconds.
        at_ms: u64,
        fate: Fate,
    },
    /// The token was moved to another run of the unit.
    Elsewhere,
}

/// Consecutive tokens of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RunPiece {
    /// Tokens that are in the text, as far from each other as at first; their place is that of the first one.
    Present { tokens: Range<usize>, start: usize },
    /// Tokens that are missing, and the span where they would be.
    Hole {
        tokens: Range<usize>,
        span: Range<usize>,
    },
}

/// Tokens of a run whose state a change changed.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    /// The tokens that an insertion lost, with their places in the text before.
    pub(crate) lost: Vec<(usize, usize)>,
    /// The places of tokens that came back, in the text after.
    pub(crate) returned: Vec<usize>,
    /// The places of tokens that went and came back in the same change, in the text before.
    pub(crate) stayed: Vec<usize>,
}

/// A change of a document, as runs are carried through it.
pub(crate) struct AppliedChange<'a> {
    pub(crate) splices: &'a [TokenSplice],
    pub(crate) after: &'a Snapshot,
    pub(crate) writer: WriterKind,
    /// Time of the change, in milliseconds.
    pub(crate) at_ms: u64,
    /// Growth of the text by the splices before each one; one more than splices.
    shifts: Vec<isize>,
}

impl<'a> AppliedChange<'a> {
    pub(crate) fn new(
        splices: &'a [TokenSplice],
        after: &'a Snapshot,
        writer: WriterKind,
        at_ms: u64,
    ) -> Self {
        let mut shifts = vec![0];
        let mut shift = 0;
        shifts.extend(splices.iter().map(|splice| {
            shift += splice.new.len() as isize - splice.old.len() as isize;
            shift
        }));
        Self {
            splices,
            after,
            writer,
            at_ms,
            shifts,
        }
    }

    /// Index of the first splice that ends after an offset.
    fn first_after(&self, offset: usize) -> usize {
        self.splices
            .partition_point(|splice| splice.old.end <= offset)
    }

    /// Moves an offset by the splices that end at it or before.
    fn shifted(&self, offset: usize) -> usize {
        offset.saturating_add_signed(self.shifts[self.first_after(offset)])
    }

    /// Returns whether a splice overlaps or touches a span.
    fn touches(&self, span: &Range<usize>) -> bool {
        let first = self
            .splices
            .partition_point(|splice| splice.old.end < span.start);
        let first = self.splices.get(first);
        first.is_some_and(|splice| splice.old.start <= span.end)
    }

    /// Returns the new span of the splices that replace a token; `None` if the token stays.
    fn replacement(&self, token: &Range<usize>) -> Option<Range<usize>> {
        let rest = &self.splices[self.first_after(token.start)..];
        let mut replacing = rest
            .iter()
            .take_while(|splice| splice.old.start < token.end);
        let first = replacing.next()?;
        let last = replacing.last().unwrap_or(first);
        Some(first.new.start..last.new.end)
    }

    /// Carries the span of a hole, with what the splices wrote into it. Returns whether they did.
    fn carried_hole(&self, span: &Range<usize>) -> (Range<usize>, bool) {
        let first = self
            .splices
            .partition_point(|splice| splice.old.end < span.start);
        let is_within = |splice: &&TokenSplice| {
            splice.old.is_empty() || splice.old.start < span.end && span.start < splice.old.end
        };
        let near = self.splices[first..].iter();
        let near = near.take_while(|splice| splice.old.start <= span.end);
        let within: Vec<&TokenSplice> = near.filter(is_within).collect();
        let start = match within.first() {
            Some(splice) if splice.old.start <= span.start => splice.new.start,
            _ => self.shifted(span.start),
        };
        let end = match within.last() {
            Some(splice) if span.end <= splice.old.end => splice.new.end,
            _ => self.shifted(span.end),
        };
        (start..end.max(start), !within.is_empty())
    }
}

impl Run {
    /// Creates the run of tokens that a change inserted, with the symbols of those that they replaced.
    pub(crate) fn inserted(document: Arc<str>, tokens: Vec<Token>, replaced: Vec<u64>) -> Self {
        let start = tokens.first().map_or(0, |token| token.start);
        let piece = RunPiece::Present {
            tokens: 0..tokens.len(),
            start,
        };
        Self::new(document, RunKind::Insertion, tokens, (piece, replaced))
    }

    /// Creates the run of tokens that a change removed; `span` is their place in the text after.
    pub(crate) fn removed(
        document: Arc<str>,
        tokens: Vec<Token>,
        span: Range<usize>,
        after: &Snapshot,
    ) -> Self {
        let piece = RunPiece::Hole {
            tokens: 0..tokens.len(),
            span: with_blanks(after, span),
        };
        Self::new(document, RunKind::Removal, tokens, (piece, Vec::new()))
    }

    fn new(
        document: Arc<str>,
        kind: RunKind,
        tokens: Vec<Token>,
        (piece, replaced): (RunPiece, Vec<u64>),
    ) -> Self {
        Self {
            document,
            kind,
            is_moved: false,
            states: vec![TokenState::Kept; tokens.len()],
            tokens,
            pieces: vec![piece],
            replaced,
        }
    }

    /// Carries the run through a change of its document.
    pub(crate) fn carry(&mut self, change: &AppliedChange<'_>) -> Carried {
        let Some(extent) = self.extent() else {
            return Carried::default();
        };
        if !change.touches(&extent) {
            let shift = change.shifts[change.first_after(extent.start)];
            self.pieces.iter_mut().for_each(|piece| piece.shift(shift));
            return Carried::default();
        }
        let mut lost = Vec::new();
        let mut touched = Vec::new();
        for piece in std::mem::take(&mut self.pieces) {
            match piece {
                RunPiece::Present { tokens, start } => {
                    self.carry_present(tokens, start, change, &mut touched, &mut lost);
                }
                RunPiece::Hole { tokens, span } => {
                    let (span, is_written) = change.carried_hole(&span);
                    self.push_hole(tokens, span, is_written, &mut touched);
                }
            }
        }
        let returned = self.fill_holes(&touched, change);
        let stayed = lost.iter().filter(|(ix, _)| !self.is_lost(*ix));
        let stayed = stayed.map(|(_, place)| *place).collect();
        lost.retain(|(ix, _)| self.is_lost(*ix));
        if !lost.is_empty() && self.reads_as_before(change) {
            let fate = Fate::of_reversal(change.writer);
            let at_ms = change.at_ms;
            lost.iter()
                .for_each(|(ix, _)| self.states[*ix] = TokenState::Lost { at_ms, fate });
        }
        Carried {
            lost,
            returned,
            stayed,
        }
    }

    /// Carries tokens that are in the text. Adds those that the change replaced to `lost`, and the
    /// indices of the pieces with their holes to `touched`.
    fn carry_present(
        &mut self,
        tokens: Range<usize>,
        start: usize,
        change: &AppliedChange<'_>,
        touched: &mut Vec<usize>,
        lost: &mut Vec<(usize, usize)>,
    ) {
        let first = self.tokens[tokens.start].start;
        let last = self.tokens[tokens.end - 1].end;
        if !change.touches(&(start..start + last - first)) {
            let start = change.shifted(start);
            self.push_present(tokens, start);
            return;
        }
        for ix in tokens {
            let token = self.tokens[ix];
            let place = start + token.start - first..start + token.end - first;
            match change.replacement(&place) {
                None => self.push_present(ix..ix + 1, change.shifted(place.start)),
                Some(span) => {
                    self.push_hole(ix..ix + 1, span, true, touched);
                    match self.kind {
                        RunKind::Insertion => {
                            self.states[ix] = TokenState::Lost {
                                at_ms: change.at_ms,
                                fate: Fate::by(change.writer),
                            };
                            lost.push((ix, place.start));
                        }
                        // A token that had come back is gone again.
                        RunKind::Removal => self.states[ix] = TokenState::Kept,
                    }
                }
            }
        }
    }

    fn push_present(&mut self, tokens: Range<usize>, start: usize) {
        if let Some(RunPiece::Present {
            tokens: before,
            start: first,
        }) = self.pieces.last_mut()
        {
            let distance = self.tokens[tokens.start].start - self.tokens[before.start].start;
            if *first + distance == start {
                before.end = tokens.end;
                return;
            }
        }
        self.pieces.push(RunPiece::Present { tokens, start });
    }

    /// Adds a hole, or extends the hole before it. Adds its index to `touched` if a change wrote there.
    fn push_hole(
        &mut self,
        tokens: Range<usize>,
        span: Range<usize>,
        is_written: bool,
        touched: &mut Vec<usize>,
    ) {
        match self.pieces.last_mut() {
            Some(RunPiece::Hole {
                tokens: before,
                span: place,
            }) => {
                before.end = tokens.end;
                *place = place.start.min(span.start)..place.end.max(span.end);
            }
            _ => self.pieces.push(RunPiece::Hole { tokens, span }),
        }
        let last = self.pieces.len() - 1;
        if is_written && touched.last() != Some(&last) {
            touched.push(last);
        }
    }

    /// Looks in the holes that a change touched for tokens that came back. Returns their places.
    fn fill_holes(&mut self, touched: &[usize], change: &AppliedChange<'_>) -> Vec<usize> {
        let mut returned = Vec::new();
        if touched.is_empty() {
            return returned;
        }
        let pieces = std::mem::take(&mut self.pieces);
        for (ix, piece) in pieces.into_iter().enumerate() {
            match piece {
                RunPiece::Hole { tokens, span } if touched.contains(&ix) => {
                    let span = with_blanks(change.after, span);
                    self.fill_hole(tokens, span, change, &mut returned);
                }
                RunPiece::Hole { tokens, span } => {
                    self.push_hole(tokens, span, false, &mut Vec::new());
                }
                RunPiece::Present { tokens, start } => self.push_present(tokens, start),
            }
        }
        returned
    }

    fn fill_hole(
        &mut self,
        hole: Range<usize>,
        span: Range<usize>,
        change: &AppliedChange<'_>,
        places: &mut Vec<usize>,
    ) {
        let mut untouched = Vec::new();
        let missing: Vec<usize> = hole
            .clone()
            .filter(|ix| self.states[*ix] != TokenState::Elsewhere)
            .collect();
        let (written, pairs) = returned(&symbols_of(&self.tokens, &missing), &span, change.after);
        let (mut next, mut place) = (hole.start, span.start);
        for (missing_ix, written_ix) in pairs {
            let (ix, token) = (missing[missing_ix], written[written_ix]);
            if next < ix {
                self.push_hole(next..ix, place..token.start, false, &mut untouched);
            }
            self.push_present(ix..ix + 1, token.start);
            places.push(token.start);
            self.states[ix] = match self.kind {
                RunKind::Insertion => TokenState::Kept,
                RunKind::Removal => TokenState::Lost {
                    at_ms: change.at_ms,
                    fate: Fate::of_reversal(change.writer),
                },
            };
            (next, place) = (ix + 1, token.end);
        }
        if next < hole.end {
            self.push_hole(next..hole.end, place..span.end, false, &mut untouched);
        }
    }

    /// Returns whether an insertion is gone and its place reads as before it.
    fn reads_as_before(&self, change: &AppliedChange<'_>) -> bool {
        let is_gone = self.kind == RunKind::Insertion
            && !self.is_moved
            && self
                .states
                .iter()
                .all(|state| matches!(state, TokenState::Lost { .. }));
        let Some(extent) = self.extent().filter(|_| is_gone) else {
            return false;
        };
        let span = Span::from(with_blanks(change.after, extent));
        symbols(&tokens(&change.after.text(span), 0)) == self.replaced
    }

    /// Returns whether a token is lost.
    pub(crate) fn is_lost(&self, token: usize) -> bool {
        matches!(self.states[token], TokenState::Lost { .. })
    }

    /// Returns the number of rows with tokens of a newly inserted run; 0 for a removal.
    pub(crate) fn inserted_rows(&self, text: &Snapshot) -> u32 {
        if self.kind == RunKind::Removal {
            return 0;
        }
        let (mut rows, mut last) = (0, None);
        for token in &self.tokens {
            let row = text.point_at(ByteOffset(token.start)).row;
            rows += u32::from(last != Some(row));
            last = Some(row);
        }
        rows
    }

    /// Takes a token out of the run, because it was moved elsewhere.
    pub(crate) fn take_away(&mut self, token: usize) {
        self.states[token] = TokenState::Elsewhere;
    }

    /// Changes the fate of tokens that seemed to be taken back at a time, because others of the run were moved.
    pub(crate) fn rework(&mut self, at_ms: u64, writer: WriterKind) {
        let fate = Fate::Reverted;
        let reverted = TokenState::Lost { at_ms, fate };
        for state in self.states.iter_mut().filter(|it| **it == reverted) {
            let fate = Fate::by(writer);
            *state = TokenState::Lost { at_ms, fate };
        }
    }

    /// Returns a newly inserted run without some of its tokens, because the writer did not write them; `None` if
    /// no token is left.
    pub(crate) fn without(mut self, is_foreign: &[bool]) -> Option<Self> {
        let own = self
            .tokens
            .iter()
            .zip(is_foreign)
            .filter(|(_, is_foreign)| !**is_foreign);
        let own: Vec<Token> = own.map(|(token, _)| *token).collect();
        let start = own.first()?.start;
        self.states.truncate(own.len());
        self.pieces = vec![RunPiece::Present {
            tokens: 0..own.len(),
            start,
        }];
        self.tokens = own;
        Some(self)
    }

    /// Returns some tokens of a newly inserted run as a run that was moved here.
    pub(crate) fn moved_part(&self, indices: &[usize]) -> Self {
        let tokens = indices.iter().map(|ix| self.tokens[*ix]).collect();
        Self {
            is_moved: true,
            ..Self::inserted(self.document.clone(), tokens, Vec::new())
        }
    }

    /// Returns the number of tokens that were not moved elsewhere.
    pub(crate) fn count(&self) -> u32 {
        let own = self
            .states
            .iter()
            .filter(|state| **state != TokenState::Elsewhere);
        own.count() as u32
    }

    /// Returns all symbols of the run.
    pub(crate) fn symbols(&self) -> Vec<u64> {
        symbols(&self.tokens)
    }

    /// Returns the span from the first piece to the last; `None` for a run without tokens.
    fn extent(&self) -> Option<Range<usize>> {
        let start = match self.pieces.first()? {
            RunPiece::Present { start, .. } => *start,
            RunPiece::Hole { span, .. } => span.start,
        };
        let end = match self.pieces.last()? {
            RunPiece::Present { tokens, start } => {
                start + self.tokens[tokens.end - 1].end - self.tokens[tokens.start].start
            }
            RunPiece::Hole { span, .. } => span.end,
        };
        Some(start..end)
    }

    #[cfg(test)]
    pub(crate) fn assert_invariants(&self, text: &Snapshot) {
        let (mut next, mut place) = (0, 0);
        for piece in &self.pieces {
            let (covered, end) = match piece {
                RunPiece::Present { tokens: own, start } => {
                    assert!(place <= *start, "pieces ascend: {:?}", self.pieces);
                    let mut end = *start;
                    for ix in own.clone() {
                        let token = self.tokens[ix];
                        let at = start + token.start - self.tokens[own.start].start;
                        end = at + token.end - token.start;
                        let found = tokens(&text.text(Span::from(at..end)), 0);
                        assert_eq!(symbols(&found), [token.symbol], "a present token");
                    }
                    (own, end)
                }
                RunPiece::Hole { tokens, span } => {
                    assert!(place <= span.start, "pieces ascend: {:?}", self.pieces);
                    (tokens, span.end)
                }
            };
            assert_eq!(covered.start, next, "tokens in order");
            (next, place) = (covered.end, end);
        }
        assert_eq!(next, self.tokens.len(), "every token is in a piece");
    }
}

impl RunPiece {
    fn shift(&mut self, shift: isize) {
        match self {
            Self::Present { start, .. } => *start = start.saturating_add_signed(shift),
            Self::Hole { span, .. } => {
                let moved = |offset: usize| offset.saturating_add_signed(shift);
                *span = moved(span.start)..moved(span.end);
            }
        }
    }
}

fn symbols_of(tokens: &[Token], indices: &[usize]) -> Vec<u64> {
    indices.iter().map(|ix| tokens[*ix].symbol).collect()
}

/// Returns the tokens in a span, and the pairs of missing and written tokens that are the same. Without pairs
/// unless at least half of all tokens agree.
fn returned(
    missing: &[u64],
    span: &Range<usize>,
    after: &Snapshot,
) -> (Vec<Token>, Vec<(usize, usize)>) {
    let text = after.text(Span::from(span.clone()));
    let written = tokens(&text, span.start);
    let (one, two) = (missing.len(), written.len());
    // With more tokens on one side, less than half can agree.
    if one > 3 * two || two > 3 * one {
        return (written, Vec::new());
    }
    let mut pairs = alignment::pairs(missing, &symbols(&written));
    if 4 * pairs.len() < one + two {
        pairs.clear();
    }
    (written, pairs)
}

/// Extends a span over the white space around it.
fn with_blanks(text: &Snapshot, span: Range<usize>) -> Range<usize> {
    let before = text.chars_before(ByteOffset(span.start));
    let before = before.take_while(|char| char.is_whitespace());
    let after = text.chars_at(ByteOffset(span.end));
    let after = after.take_while(|char| char.is_whitespace());
    let (before, after): (usize, usize) = (
        before.map(char::len_utf8).sum(),
        after.map(char::len_utf8).sum(),
    );
    span.start.saturating_sub(before)..span.end + after
}
