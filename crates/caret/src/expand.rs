//! Widening selections by syntax, and taking that back.
//!
//! Start at `expand`.

use base::Span;
use text::Selection;

use crate::brackets;
use crate::context::{Context, Memory, Plan};
use crate::motion::{border_behind, on_border};
use crate::words::Words;

/// Widenings that can be taken back.
const LIMIT: usize = 100;

/// Widens every selection to the next larger piece of syntax.
pub(crate) fn expand(ctx: &Context) -> Plan {
    let selections = ctx.selections.transform(|selection| {
        let span = wider(ctx, selection.span());
        Selection {
            goal: None,
            ..selection.with_span(span)
        }
    });
    if selections == *ctx.selections {
        return Plan::nothing(ctx);
    }
    let mut expanded_from = ctx
        .memory()
        .map_or_else(Vec::new, |memory| memory.expanded_from.clone());
    if expanded_from.len() == LIMIT {
        expanded_from.remove(0);
    }
    expanded_from.push(ctx.selections.clone());
    let memory = Memory {
        expanded_from,
        ..Memory::default()
    };
    Plan::select_and_remember(ctx, selections, memory)
}

/// Takes the last widening back.
pub(crate) fn shrink(ctx: &Context) -> Plan {
    let Some(memory) = ctx.memory() else {
        return Plan::nothing(ctx);
    };
    let mut expanded_from = memory.expanded_from.clone();
    let Some(selections) = expanded_from.pop() else {
        return Plan::nothing(ctx);
    };
    let memory = Memory {
        expanded_from,
        ..Memory::default()
    };
    Plan::select_and_remember(ctx, selections, memory)
}

/// The next larger piece: a word, what the tree says, else brackets, row, everything.
fn wider(ctx: &Context, span: Span) -> Span {
    let snapshot = ctx.snapshot;
    let is_wider = |other: &Span| other.covers(span) && *other != span;
    let word = Words::of(ctx).word_at(span.start);
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

/// What lies between the brackets around every selection; where that is selected, the brackets too.
pub(crate) fn in_brackets(ctx: &Context) -> Plan {
    Plan::select(ctx.selections.transform(|selection| {
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
