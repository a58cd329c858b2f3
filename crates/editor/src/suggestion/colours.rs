//! Highlights of inserted text: parses the text with the suggestion applied, on another thread.
//!
//! A copy of the document's syntax tree is parsed again with the inserted text. If the document has
//! no tree, or the parse exceeds its budget, only the rows near the suggestion are parsed; constructs
//! that begin above them are then unknown to the parser.

use std::sync::Arc;

use autocomplete::{AcceptGranularity, Suggestion};
use base::{ByteOffset, Row, Span};
use syntax::{Budget, Language, ParseStatus, SyntaxSnapshot, SyntaxTree};
use text::{Buffer, EditOrigin, Snapshot, Timestamp};

use super::InsertedText;
use crate::frame::RowHighlight;

/// Maximum bytes of the text parsed before the first change.
const BEFORE: usize = 12 * 1024;

/// Bytes of the text parsed after the last change.
const BEHIND: usize = 2 * 1024;

/// Maximum length of the parsed text, in bytes; later changes get no highlights.
const MAX_BYTES: usize = 64 * 1024;

/// Maximum number of progress checks of the parser, one per hundred steps, when it parses a copy of
/// the document's tree again: fewer than parsing a part of the text takes.
const MAX_CHECKS: u32 = 100;

/// A suggested text with its highlights, as offsets from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HighlightedText {
    pub(crate) text: Arc<str>,
    pub(crate) colours: Arc<[RowHighlight]>,
}

impl HighlightedText {
    /// Returns the known highlights of `text`, and the number of bytes that they cover; `None`
    /// unless `text` is what remains of this text after typing, or an extension of that.
    pub(crate) fn of_text(&self, text: &str) -> Option<(Arc<[RowHighlight]>, usize)> {
        let mut starts = self.text.char_indices().map(|(at, _)| at);
        let from = starts.find(|from| {
            let rest = &self.text[*from..];
            text.starts_with(rest) || rest.starts_with(text)
        })?;
        let known = (self.text.len() - from).min(text.len());
        if from == 0 && known == self.text.len() {
            return Some((self.colours.clone(), known));
        }
        let (from, end) = (from as u32, (from + known) as u32);
        let inside = self
            .colours
            .iter()
            .filter(|it| it.end > from && it.start < end);
        let moved = inside.map(|it| RowHighlight {
            start: it.start.max(from) - from,
            end: it.end.min(end) - from,
            kind: it.kind,
        });
        Some((moved.collect(), known))
    }
}

/// A job that parses the text with the suggestion in it and computes the highlights of the inserted
/// pieces, on another thread.
pub(crate) struct ColourJob {
    language: Language,
    snapshot: Snapshot,
    /// The tree of the document.
    syntax: Option<SyntaxSnapshot>,
    suggestion: Suggestion,
    pieces: Vec<InsertedText>,
}

/// Part of the text with the suggestion applied.
struct PlainRun {
    text: String,
    /// Offset in the whole text with the suggestion applied.
    start: usize,
}

impl ColourJob {
    /// Captures the input of the job.
    pub(crate) fn new(
        language: Language,
        (snapshot, syntax): (Snapshot, Option<SyntaxSnapshot>),
        suggestion: Suggestion,
        pieces: Vec<InsertedText>,
    ) -> Self {
        Self {
            language,
            snapshot,
            syntax,
            suggestion,
            pieces,
        }
    }

    /// Returns the highlights of each inserted piece, or an empty list if parsing fails.
    pub(crate) fn run(self) -> Vec<HighlightedText> {
        self.in_document().unwrap_or_else(|| self.in_stretch())
    }

    /// Parses a copy of the document's tree again, with the suggestion. Returns `None` if the document
    /// has no tree of this text, or if the parse exceeds its budget.
    fn in_document(&self) -> Option<Vec<HighlightedText>> {
        let syntax = self.syntax.as_ref()?;
        if syntax.parsed_revision() != Some(self.snapshot.revision()) {
            return None;
        }
        let mut buffer = Buffer::from_snapshot(self.snapshot.clone());
        let edits = self.suggestion.accept_edits(AcceptGranularity::All);
        let change = buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
        let after = buffer.snapshot();
        let mut checks = 0;
        let mut is_spent = || {
            checks += 1;
            checks > MAX_CHECKS
        };
        let budget = &mut Budget::until(&mut is_spent);
        let syntax = syntax.with_change(&self.snapshot, &after, &change, budget)?;
        Some(self.colours(&syntax, &after, 0))
    }

    /// Parses a stretch of the text around the suggestion.
    fn in_stretch(&self) -> Vec<HighlightedText> {
        let stretch = self.stretch();
        let text = Snapshot::new(&stretch.text);
        let mut tree = SyntaxTree::new(self.language);
        match tree.parse(&text, &mut Budget::unlimited()) {
            ParseStatus::Done | ParseStatus::Unsettled => {
                self.colours(&tree.snapshot(), &text, stretch.start)
            }
            ParseStatus::Running | ParseStatus::Pending(_) => Vec::new(),
        }
    }

    /// Returns the highlights of each piece in a text that begins at `from` of the text with the
    /// suggestion applied.
    fn colours(
        &self,
        syntax: &SyntaxSnapshot,
        text: &Snapshot,
        from: usize,
    ) -> Vec<HighlightedText> {
        let colours_of = |piece: &InsertedText| {
            let start = piece.after.0.checked_sub(from)?;
            let end = (start + piece.text.len() - piece.lead_bytes()).min(text.len().0);
            let inside = Span::new(ByteOffset(start.min(end)), ByteOffset(end));
            let found = syntax.highlights(text, inside);
            let place = |offset: ByteOffset| (offset.0 - start + piece.lead_bytes()) as u32;
            let colours = found.iter().map(|highlight| RowHighlight {
                start: place(highlight.span.start),
                end: place(highlight.span.end),
                kind: highlight.kind,
            });
            Some(HighlightedText {
                text: piece.text.clone(),
                colours: colours.collect(),
            })
        };
        self.pieces.iter().filter_map(colours_of).collect()
    }

    /// Returns the text around the changes with the changes applied.
    fn stretch(&self) -> PlainRun {
        let first = self.suggestion.start();
        let start = self.first_row(first);
        let mut text = String::new();
        let mut at = start;
        for edit in &self.suggestion.edits {
            if edit.span.start - start > MAX_BYTES {
                break;
            }
            text.push_str(&self.snapshot.text(Span::new(at, edit.span.start)));
            text.push_str(&edit.new);
            at = edit.span.end;
        }
        let end = self
            .snapshot
            .clip((at + BEHIND).min(self.snapshot.len()), base::Bias::Left);
        text.push_str(&self.snapshot.text(Span::new(at, end.max(at))));
        PlainRun {
            text,
            start: start.0,
        }
    }

    /// Returns where to begin: at the furthest row without indentation, or else as far up as
    /// allowed.
    fn first_row(&self, offset: ByteOffset) -> ByteOffset {
        let lowest = ByteOffset(offset.0.saturating_sub(BEFORE));
        let last = self.snapshot.point_at(offset).row;
        let mut row = self
            .snapshot
            .point_at(self.snapshot.clip(lowest, base::Bias::Left))
            .row;
        if lowest.0 == 0 {
            return ByteOffset(0);
        }
        row = Row((row.0 + 1).min(last.0));
        let is_outer = |row: &Row| {
            let start = self.snapshot.row_start(*row);
            let next = self.snapshot.chars_at(start).next();
            next.is_some_and(|char| char.is_alphanumeric() || char == '#' || char == '@')
        };
        let outer = (row.0..=last.0).map(Row).find(is_outer);
        self.snapshot.row_start(outer.unwrap_or(row))
    }
}
