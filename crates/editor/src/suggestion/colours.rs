//! The colours of put-in text: a stretch of the text around it, as it will stand, is parsed on another thread.
//!
//! Only so much of the text is parsed that the cost does not grow with it; constructs that begin further up are
//! guessed by the parser from what it sees.

use std::sync::Arc;

use autocomplete::Suggestion;
use base::{ByteOffset, Row, Span};
use syntax::{Budget, Language, ParseStatus, SyntaxTree};
use text::Snapshot;

use super::Piece;
use crate::element::RowHighlight;

/// Bytes of the text parsed before the first change, at most.
const BEFORE: usize = 12 * 1024;

/// Bytes of the text parsed behind the last change.
const BEHIND: usize = 2 * 1024;

/// Changes further apart than this are coloured up to there.
const MOST: usize = 64 * 1024;

/// A text with its colours, whose offsets count from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Coloured {
    pub(crate) text: Arc<str>,
    pub(crate) colours: Arc<[RowHighlight]>,
}

impl Coloured {
    /// What is known of a text that is what is left of this one after some was typed, or goes on where this one ends:
    /// colours of its beginning, and how many bytes that is.
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

/// Everything that finding colours takes; to be run on another thread.
pub(crate) struct ColourJob {
    language: Language,
    snapshot: Snapshot,
    suggestion: Suggestion,
    pieces: Vec<Piece>,
}

/// A stretch of the text as it will stand.
struct Stretch {
    text: String,
    /// Where it begins in the text that will stand.
    start: usize,
}

impl ColourJob {
    pub(crate) fn new(
        language: Language,
        snapshot: Snapshot,
        suggestion: Suggestion,
        pieces: Vec<Piece>,
    ) -> Self {
        Self {
            language,
            snapshot,
            suggestion,
            pieces,
        }
    }

    pub(crate) fn run(self) -> Vec<Coloured> {
        let stretch = self.stretch();
        let text = Snapshot::new(&stretch.text);
        let mut tree = SyntaxTree::new(self.language);
        match tree.parse(&text, &mut Budget::unlimited()) {
            ParseStatus::Done | ParseStatus::Unsettled => {}
            ParseStatus::Running | ParseStatus::Pending(_) => return Vec::new(),
        }
        let syntax = tree.snapshot();
        let colours_of = |piece: &Piece| {
            let start = piece.after.0.checked_sub(stretch.start)?;
            let end = (start + piece.text.len() - piece.lead()).min(stretch.text.len());
            let inside = Span::new(ByteOffset(start.min(end)), ByteOffset(end));
            let found = syntax.highlights(&text, inside);
            let place = |offset: ByteOffset| (offset.0 - start + piece.lead()) as u32;
            let colours = found.iter().map(|highlight| RowHighlight {
                start: place(highlight.span.start),
                end: place(highlight.span.end),
                kind: highlight.kind,
            });
            Some(Coloured {
                text: piece.text.clone(),
                colours: colours.collect(),
            })
        };
        self.pieces.iter().filter_map(colours_of).collect()
    }

    /// The text around the changes with the changes made.
    fn stretch(&self) -> Stretch {
        let first = self.suggestion.start();
        let start = self.first_row(first);
        let mut text = String::new();
        let mut at = start;
        for edit in &self.suggestion.edits {
            if edit.span.start - start > MOST {
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
        Stretch {
            text,
            start: start.0,
        }
    }

    /// Where to begin: at the furthest row that is not indented, or else as far up as allowed.
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
