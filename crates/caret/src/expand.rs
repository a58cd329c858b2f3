//! Expands selections by syntax, and shrinks them again.
//!
//! Start at `expand`.

use base::Span;
use text::Selection;

use crate::brackets;
use crate::context::{CaretPlan, CommandContext, CommandMemory};
use crate::motion::{border_behind, on_border};
use crate::words::WordScanner;

/// Number of expansions that can be undone.
const LIMIT: usize = 100;

/// Expands every selection to the next larger syntax node, word or pair of brackets, and remembers
/// the previous selections for `shrink`.
pub(crate) fn expand(ctx: &CommandContext) -> CaretPlan {
    expand_each(ctx, |span| next_larger(ctx, span))
}

/// Expands every selection as `Command::ExpandSelection` does, but to the smallest larger one of the
/// spans that were found for it: `spans` has a list for each selection, in their order. Without a
/// larger span, the text decides.
pub fn expand_within(ctx: &CommandContext, spans: &[Vec<Span>]) -> CaretPlan {
    let mut spans = spans.iter();
    expand_each(ctx, |span| {
        let word = WordScanner::of(ctx).word_at(span.start);
        let spans = spans.next().into_iter().flatten().copied();
        let wider = spans
            .chain([word])
            .filter(|it| it.covers(span) && *it != span);
        let smallest = wider.min_by_key(Span::len);
        smallest.unwrap_or_else(|| next_larger(ctx, span))
    })
}

/// Expands every selection to the span that `larger` returns for its span, in their order.
fn expand_each(ctx: &CommandContext, mut larger: impl FnMut(Span) -> Span) -> CaretPlan {
    let selections = ctx.selections.transform(|selection| {
        let span = larger(selection.span());
        Selection {
            goal: None,
            ..selection.with_span(span)
        }
    });
    if selections == *ctx.selections {
        return CaretPlan::nothing(ctx);
    }
    let mut expanded_from = ctx
        .memory()
        .map_or_else(Vec::new, |memory| memory.expanded_from.clone());
    if expanded_from.len() == LIMIT {
        expanded_from.remove(0);
    }
    expanded_from.push(ctx.selections.clone());
    let memory = CommandMemory {
        expanded_from,
        ..CommandMemory::default()
    };
    CaretPlan::select_and_remember(ctx, selections, memory)
}

/// Restores the selections before the last expansion. Does nothing if the text or the selections
/// have changed since.
pub(crate) fn shrink(ctx: &CommandContext) -> CaretPlan {
    let Some(memory) = ctx.memory() else {
        return CaretPlan::nothing(ctx);
    };
    let mut expanded_from = memory.expanded_from.clone();
    let Some(selections) = expanded_from.pop() else {
        return CaretPlan::nothing(ctx);
    };
    let memory = CommandMemory {
        expanded_from,
        ..CommandMemory::default()
    };
    CaretPlan::select_and_remember(ctx, selections, memory)
}

/// Returns the next larger span: word, syntax node, else brackets, row, whole text.
fn next_larger(ctx: &CommandContext, span: Span) -> Span {
    let snapshot = ctx.snapshot;
    let is_wider = |other: &Span| other.covers(span) && *other != span;
    let word = WordScanner::of(ctx).word_at(span.start);
    let tree = || {
        let span = ctx.syntax?.expand(snapshot, span)?;
        Some(Span::new(
            on_border(snapshot, span.start),
            border_behind(snapshot, span.end),
        ))
        .filter(is_wider)
    };
    let row = || {
        let row = snapshot.point_at(span.start).row;
        let start = crate::motion::horizontal::first_non_blank(snapshot, row);
        Some(Span::new(start, snapshot.row_end(row).max(start))).filter(is_wider)
    };
    let pair = || {
        let (open, close) = brackets::enclosing(ctx, span)?;
        let inner = Span::new(open.end, close.start);
        [inner, Span::new(open.start, close.end)]
            .into_iter()
            .find(is_wider)
    };
    let nearest = || match (row(), pair()) {
        (Some(row), Some(pair)) => Some(if row.len() < pair.len() { row } else { pair }),
        (row, pair) => row.or(pair),
    };
    Some(word)
        .filter(is_wider)
        .or_else(tree)
        .or_else(nearest)
        .unwrap_or(snapshot.full_span())
}

/// Selects the text inside the brackets around every selection. If this text is already selected,
/// selects the brackets as well. A selection outside of brackets stays as it is.
pub(crate) fn in_brackets(ctx: &CommandContext) -> CaretPlan {
    CaretPlan::select(ctx.selections.transform(|selection| {
        let span = selection.span();
        let Some((open, close)) = brackets::enclosing(ctx, span) else {
            return *selection;
        };
        let inner = Span::new(open.end, close.start);
        let chosen = if inner == span && !span.is_empty() {
            Span::new(open.start, close.end)
        } else {
            inner
        };
        Selection::new(chosen.start, chosen.end)
    }))
}
