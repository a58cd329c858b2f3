//! Selects occurrences: the next, the previous, or all.
//!
//! On a caret, the first use selects its word; from then on only whole words match. A manual
//! selection matches anywhere. Case always matters. Start at `add`.

use std::sync::atomic::AtomicBool;

use base::{ByteOffset, Span};
use text::{Selection, SelectionSet};

use crate::context::{CaretPlan, CommandContext, CommandMemory};
use crate::find::{FindQuery, MatchLimit, Matcher, WordBounds};
use crate::words::WordScanner;

/// Maximum number of occurrences selected at once; find and replace handles more.
const LIMIT: MatchLimit = MatchLimit(100_000);

/// Maximum length of a search text and of a word, in bytes.
const LONGEST: usize = 64 * 1024;
const LONGEST_WORD: usize = 256;

/// Direction of the search for another occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchDirection {
    Forward,
    Backward,
}

/// If a selection is empty, selects the words at the carets; otherwise adds the next occurrence of
/// the newest selection in the given direction, wrapping around.
pub(crate) fn add(ctx: &CommandContext, way: SearchDirection) -> CaretPlan {
    if ctx.selections.iter().any(Selection::is_empty) {
        return select_words(ctx);
    }
    let all: Vec<Selection> = ctx.selections.iter().copied().collect();
    add_to(ctx, all, way)
}

/// Drops the newest selection and adds the next occurrence of its text instead; if a selection is
/// empty, selects the words at the carets.
pub(crate) fn skip(ctx: &CommandContext) -> CaretPlan {
    if ctx.selections.iter().any(Selection::is_empty) {
        return select_words(ctx);
    }
    let newest = ctx.selections.primary_ix();
    let others = ctx
        .selections
        .iter()
        .enumerate()
        .filter(|(ix, _)| *ix != newest);
    add_to(
        ctx,
        others.map(|(_, other)| *other).collect(),
        SearchDirection::Forward,
    )
}

/// Replaces all selections by every occurrence of the newest selection, or of the word at its caret
/// if that selection is empty. Does nothing if there is no word at the caret.
pub(crate) fn all(ctx: &CommandContext) -> CaretPlan {
    let primary = ctx.selections.primary();
    let (span, bounds) = if primary.is_empty() {
        (
            WordScanner::of(ctx).word_at(primary.head),
            WordBounds::Whole,
        )
    } else {
        (primary.span(), bounds(ctx))
    };
    let Some(matcher) = matcher(ctx, span, bounds) else {
        return CaretPlan::nothing(ctx);
    };
    let found = matcher.find_all(
        ctx.snapshot,
        &[ctx.snapshot.full_span()],
        LIMIT,
        &AtomicBool::new(false),
    );
    let at = found
        .spans
        .partition_point(|found| found.start < span.start);
    let is_reversed = primary.is_reversed();
    let selections = found
        .spans
        .iter()
        .map(|found| directed(*found, is_reversed))
        .collect::<Vec<_>>();
    if selections.is_empty() {
        return CaretPlan::nothing(ctx);
    }
    remembering(ctx, SelectionSet::new(selections, at), bounds)
}

fn select_words(ctx: &CommandContext) -> CaretPlan {
    let words = WordScanner::of(ctx);
    let selections = ctx.selections.transform(|selection| {
        if selection.is_empty() {
            let span = words.word_at(selection.head);
            Selection::new(span.start, span.end)
        } else {
            *selection
        }
    });
    remembering(ctx, selections, WordBounds::Whole)
}

/// Adds the occurrence next to the newest selection that is none of `kept`.
fn add_to(ctx: &CommandContext, mut kept: Vec<Selection>, way: SearchDirection) -> CaretPlan {
    let newest = ctx.selections.primary();
    let bounds = bounds(ctx);
    let Some(matcher) = matcher(ctx, newest.span(), bounds) else {
        return CaretPlan::nothing(ctx);
    };
    let Some(found) = next_free(ctx, &matcher, newest.span(), way) else {
        return CaretPlan::nothing(ctx);
    };
    kept.push(directed(found, newest.is_reversed()));
    let primary = kept.len() - 1;
    remembering(ctx, SelectionSet::new(kept, primary), bounds)
}

/// Returns the nearest occurrence that overlaps no selection, wrapping around.
fn next_free(
    ctx: &CommandContext,
    matcher: &Matcher,
    from: Span,
    way: SearchDirection,
) -> Option<Span> {
    let selections = ctx.selections.as_slice();
    let is_free = |found: &Span| {
        let ix = selections.partition_point(|selection| selection.end() <= found.start);
        selections
            .get(ix)
            .is_none_or(|selection| selection.start() >= found.end)
    };
    let (snapshot, start, end) = (ctx.snapshot, ByteOffset(0), ctx.snapshot.len());
    match way {
        SearchDirection::Forward => {
            let behind = matcher.matches(snapshot, Span::new(from.end, end));
            let before = || matcher.matches(snapshot, Span::new(start, from.start));
            behind
                .into_iter()
                .find(is_free)
                .or_else(|| before().find(is_free))
        }
        SearchDirection::Backward => {
            let before = matcher.matches(snapshot, Span::new(start, from.start));
            let behind = || matcher.matches(snapshot, Span::new(from.end, end));
            before
                .filter(is_free)
                .last()
                .or_else(|| behind().filter(is_free).last())
        }
    }
}

/// Compiles a case-sensitive search for the text of `span`. `None` if the span is empty or longer
/// than `LONGEST`, or `LONGEST_WORD` for whole words.
fn matcher(ctx: &CommandContext, span: Span, bounds: WordBounds) -> Option<Matcher> {
    let longest = match bounds {
        WordBounds::Whole => LONGEST_WORD,
        WordBounds::Anywhere => LONGEST,
    };
    if span.is_empty() || span.len() > longest {
        return None;
    }
    let query = FindQuery {
        words: bounds,
        ..FindQuery::literal(ctx.snapshot.text(span))
    };
    query.compile().ok()
}

fn bounds(ctx: &CommandContext) -> WordBounds {
    if ctx.memory().is_some_and(|memory| memory.whole_words) {
        WordBounds::Whole
    } else {
        WordBounds::Anywhere
    }
}

fn remembering(ctx: &CommandContext, selections: SelectionSet, bounds: WordBounds) -> CaretPlan {
    let memory = CommandMemory {
        whole_words: bounds == WordBounds::Whole,
        ..CommandMemory::default()
    };
    CaretPlan::select_and_remember(ctx, selections, memory)
}

fn directed(span: Span, is_reversed: bool) -> Selection {
    if is_reversed {
        Selection::new(span.end, span.start)
    } else {
        Selection::new(span.start, span.end)
    }
}
