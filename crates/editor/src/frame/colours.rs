//! Highlights of a text: those of its tree, under the semantic tokens of language servers.
//!
//! Invariant: highlights are sorted and disjoint.
//! Start at `TextColours::of_rows`.

use std::ops::Range;

use base::{Row, Span};
use syntax::{Highlight, HighlightKind, SyntaxSnapshot};
use text::Snapshot;

use super::rows::{LONG_ROW, RowHighlight, RowHighlights};
use crate::model::AnnotationSet;

/// The sources of the highlights of one text, for any thread.
#[derive(Clone)]
pub(crate) struct TextColours {
    pub(crate) syntax: Option<SyntaxSnapshot>,
    pub(crate) tokens: Option<AnnotationSet<HighlightKind>>,
}

impl TextColours {
    /// Returns the highlights of a tree alone.
    pub(crate) fn of_syntax(syntax: SyntaxSnapshot) -> Self {
        Self {
            syntax: Some(syntax),
            tokens: None,
        }
    }

    /// Computes the highlights of a span of `text`, clipped to it.
    pub(crate) fn of_span(&self, text: &Snapshot, span: Span) -> Vec<Highlight> {
        let syntax = self.syntax.as_ref();
        let highlights = syntax.map_or_else(Vec::new, |syntax| syntax.highlights(text, span));
        match &self.tokens {
            Some(tokens) => overlaid(&highlights, &clipped(tokens.touching(span), span)),
            None => highlights,
        }
    }

    /// Computes the highlights of rows. Long rows get none here: they are computed for the visible
    /// part.
    pub(crate) fn of_rows(&self, snapshot: &Snapshot, rows: Range<Row>) -> Vec<RowHighlights> {
        let is_long = |row: u32| snapshot.row_len(Row(row)).0 > LONG_ROW;
        let mut result = Vec::with_capacity((rows.end.0 - rows.start.0) as usize);
        let mut next = rows.start.0;
        while next < rows.end.0 {
            if is_long(next) {
                result.push(RowHighlights::default());
                next += 1;
                continue;
            }
            // One query for as many consecutive rows as possible.
            let end = (next..rows.end.0)
                .find(|row| is_long(*row))
                .unwrap_or(rows.end.0);
            let span = Span::new(
                snapshot.row_start(Row(next)),
                snapshot.row_end(Row(end - 1)),
            );
            let found = self.of_span(snapshot, span);
            let mut first = 0;
            for row in next..end {
                let span = snapshot.row_span(Row(row));
                first += found[first..]
                    .iter()
                    .take_while(|highlight| highlight.span.end <= span.start)
                    .count();
                result.push(within_row(&found[first..], span));
            }
            next = end;
        }
        result
    }
}

/// Returns the part of sorted highlights within a row. A comment over several rows is part of each.
fn within_row(found: &[Highlight], row: Span) -> RowHighlights {
    found
        .iter()
        .take_while(|highlight| highlight.span.start < row.end)
        .filter(|highlight| highlight.span.end > row.start)
        .map(|highlight| RowHighlight {
            start: (highlight.span.start.max(row.start) - row.start) as u32,
            end: (highlight.span.end.min(row.end) - row.start) as u32,
            kind: highlight.kind,
        })
        .collect()
}

/// Returns tokens as disjoint highlights within a span. Of two that overlap, the later starts behind the earlier.
fn clipped(tokens: Vec<(Span, HighlightKind)>, span: Span) -> Vec<Highlight> {
    let mut at = span.start;
    let mut highlights = Vec::with_capacity(tokens.len());
    for (token, kind) in tokens {
        let (start, end) = (token.start.max(at), token.end.min(span.end));
        if start < end {
            let span = Span::new(start, end);
            highlights.push(Highlight { span, kind });
            at = end;
        }
    }
    highlights
}

/// Paints tokens over the highlights of a tree.
fn overlaid(tree: &[Highlight], tokens: &[Highlight]) -> Vec<Highlight> {
    let mut painted = HighlightList(Vec::with_capacity(tree.len() + tokens.len()));
    let mut tree = tree.iter().copied();
    let mut under = tree.next();
    for token in tokens {
        let mut at = token.span.start;
        while let Some(highlight) = under.filter(|it| it.span.start < at) {
            let end = highlight.span.end.min(at);
            painted.add(Span::new(highlight.span.start, end), highlight.kind);
            under = rest_of(highlight, end).or_else(|| tree.next());
        }
        while at < token.span.end {
            let Some(highlight) = under.filter(|it| it.span.start < token.span.end) else {
                painted.add(Span::new(at, token.span.end), token.kind);
                break;
            };
            painted.add(Span::new(at, highlight.span.start), token.kind);
            let end = highlight.span.end.min(token.span.end);
            let both = Span::new(highlight.span.start, end);
            painted.add(both, token.kind.over(highlight.kind));
            at = end;
            under = rest_of(highlight, end).or_else(|| tree.next());
        }
    }
    for highlight in under.into_iter().chain(tree) {
        painted.add(highlight.span, highlight.kind);
    }
    painted.0
}

/// Returns the part of a highlight from `start` on; `None` if it ends there.
fn rest_of(highlight: Highlight, start: base::ByteOffset) -> Option<Highlight> {
    (start < highlight.span.end).then(|| Highlight {
        span: Span::new(start, highlight.span.end),
        ..highlight
    })
}

/// Highlights in which neighbours of one kind are joined.
struct HighlightList(Vec<Highlight>);

impl HighlightList {
    fn add(&mut self, span: Span, kind: HighlightKind) {
        match self.0.last_mut() {
            _ if span.is_empty() => {}
            Some(last) if last.span.end == span.start && last.kind == kind => {
                last.span.end = span.end
            }
            _ => self.0.push(Highlight { span, kind }),
        }
    }
}

#[cfg(test)]
mod tests {
    use base::Span;
    use syntax::{Highlight, HighlightKind};

    use super::{clipped, overlaid};

    /// Returns highlights from a picture with one letter for each byte.
    fn highlights(picture: &str) -> Vec<Highlight> {
        let kind = |letter: u8| match letter {
            b'v' => Some(HighlightKind::Variable),
            b't' => Some(HighlightKind::Type),
            b'b' => Some(HighlightKind::TypeBuiltin),
            b's' => Some(HighlightKind::String),
            b'p' => Some(HighlightKind::VariableParameter),
            _ => None,
        };
        let mut found = Vec::new();
        let mut at = 0;
        for run in picture.as_bytes().chunk_by(|a, b| a == b) {
            let span = Span::from(at..at + run.len());
            at += run.len();
            if let Some(kind) = kind(run[0]) {
                found.push(Highlight { span, kind });
            }
        }
        found
    }

    fn check(tree: &str, tokens: &str, expected: &str) {
        let painted = overlaid(&highlights(tree), &highlights(tokens));
        assert_eq!(painted, highlights(expected), "{tree} under {tokens}");
    }

    #[test]
    fn tokens_are_painted_over_the_tree() {
        check("vvv  vv", "tt    p", "ttv  vp");
        check("       ", " tt  pp", " tt  pp");
        check("vvvvvvv", "  tt   ", "vvttvvv");
        check("vv vv v", "ttttttt", "ttttttt");
        check("vv vvss", "       ", "vv vvss");
        check("vvss vv", " tttt  ", "vttttvv");
    }

    #[test]
    fn a_token_does_not_hide_the_details_of_the_tree() {
        check("bb v", "tttt", "bbtt");
        check("vv v", "ssss", "vvsv");
    }

    #[test]
    fn tokens_are_clipped_to_the_span() {
        let token = |start: usize, end: usize| (Span::from(start..end), HighlightKind::Type);
        let tokens = vec![token(0, 4), token(3, 6), token(6, 20)];
        let spans = clipped(tokens, Span::from(2..8)).into_iter();
        let spans: Vec<_> = spans.map(|it| (it.span.start.0, it.span.end.0)).collect();
        assert_eq!(spans, [(2, 4), (4, 6), (6, 8)]);
    }
}
