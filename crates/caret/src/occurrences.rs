//! Selecting what occurs again: the next one, the one before, all of them.
//!
//! The first use on a mere caret selects its word; from then on only whole words count. A selection
//! made by hand is looked for anywhere. Letters must be equal either way. Start at `add`.

use std::sync::atomic::AtomicBool;

use base::{ByteOffset, Span};
use text::{Selection, SelectionSet};

use crate::context::{Context, Memory, Plan};
use crate::find::{Limit, Matcher, Query, WordBounds};
use crate::words::Words;

/// The most occurrences that are selected at once; more are for find and replace.
const LIMIT: Limit = Limit(100_000);

/// Bytes of the longest text that is looked for, and of the longest word.
const LONGEST: usize = 64 * 1024;
const LONGEST_WORD: usize = 256;

/// Which way the next occurrence is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Forward,
    Backward,
}

/// Selects the words at mere carets, or adds the next occurrence of what is selected.
pub(crate) fn add(ctx: &Context, way: Way) -> Plan {
    if ctx.selections.iter().any(Selection::is_empty) {
        return select_words(ctx);
    }
    let all: Vec<Selection> = ctx.selections.iter().copied().collect();
    add_to(ctx, all, way)
}

/// Drops the newest selection and adds the next occurrence instead.
pub(crate) fn skip(ctx: &Context) -> Plan {
    if ctx.selections.iter().any(Selection::is_empty) {
        return select_words(ctx);
    }
    let newest = ctx.selections.primary_ix();
    let others = ctx
        .selections
        .iter()
        .enumerate()
        .filter(|(ix, _)| *ix != newest);
    add_to(ctx, others.map(|(_, other)| *other).collect(), Way::Forward)
}

/// Selects every occurrence of the newest selection, or of the word at its caret.
pub(crate) fn all(ctx: &Context) -> Plan {
    let primary = ctx.selections.primary();
    let (span, bounds) = match primary.is_empty() {
        true => (Words::of(ctx).word_at(primary.head), WordBounds::Whole),
        false => (primary.span(), bounds(ctx)),
    };
    let Some(matcher) = matcher(ctx, span, bounds) else {
        return Plan::nothing(ctx);
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
        return Plan::nothing(ctx);
    }
    remembering(ctx, SelectionSet::new(selections, at), bounds)
}

fn select_words(ctx: &Context) -> Plan {
    let words = Words::of(ctx);
    let selections = ctx
        .selections
        .transform(|selection| match selection.is_empty() {
            true => {
                let span = words.word_at(selection.head);
                Selection::new(span.start, span.end)
            }
            false => *selection,
        });
    remembering(ctx, selections, WordBounds::Whole)
}

/// Adds the occurrence next to the newest selection that is none of `kept`.
fn add_to(ctx: &Context, mut kept: Vec<Selection>, way: Way) -> Plan {
    let newest = ctx.selections.primary();
    let bounds = bounds(ctx);
    let Some(matcher) = matcher(ctx, newest.span(), bounds) else {
        return Plan::nothing(ctx);
    };
    let Some(found) = next_free(ctx, &matcher, newest.span(), way) else {
        return Plan::nothing(ctx);
    };
    kept.push(directed(found, newest.is_reversed()));
    let primary = kept.len() - 1;
    remembering(ctx, SelectionSet::new(kept, primary), bounds)
}

/// The nearest occurrence that overlaps no selection, going round at the end of the text.
fn next_free(ctx: &Context, matcher: &Matcher, from: Span, way: Way) -> Option<Span> {
    let taken = ctx.selections.as_slice();
    let is_free = |found: &Span| {
        let ix = taken.partition_point(|selection| selection.end() <= found.start);
        taken
            .get(ix)
            .is_none_or(|selection| selection.start() >= found.end)
    };
    let (snapshot, start, end) = (ctx.snapshot, ByteOffset(0), ctx.snapshot.len());
    match way {
        Way::Forward => {
            let behind = matcher.matches(snapshot, Span::new(from.end, end));
            let before = || matcher.matches(snapshot, Span::new(start, from.start));
            behind
                .into_iter()
                .find(is_free)
                .or_else(|| before().find(is_free))
        }
        Way::Backward => {
            let before = matcher.matches(snapshot, Span::new(start, from.start));
            let behind = || matcher.matches(snapshot, Span::new(from.end, end));
            before
                .filter(is_free)
                .last()
                .or_else(|| behind().filter(is_free).last())
        }
    }
}

fn matcher(ctx: &Context, span: Span, bounds: WordBounds) -> Option<Matcher> {
    let longest = match bounds {
        WordBounds::Whole => LONGEST_WORD,
        WordBounds::Anywhere => LONGEST,
    };
    if span.is_empty() || span.len() > longest {
        return None;
    }
    let query = Query {
        words: bounds,
        ..Query::literal(ctx.snapshot.text(span))
    };
    query.compile().ok()
}

fn bounds(ctx: &Context) -> WordBounds {
    match ctx.memory().is_some_and(|memory| memory.whole_words) {
        true => WordBounds::Whole,
        false => WordBounds::Anywhere,
    }
}

fn remembering(ctx: &Context, selections: SelectionSet, bounds: WordBounds) -> Plan {
    let memory = Memory {
        whole_words: bounds == WordBounds::Whole,
        ..Memory::default()
    };
    Plan::select_and_remember(ctx, selections, memory)
}

fn directed(span: Span, is_reversed: bool) -> Selection {
    match is_reversed {
        true => Selection::new(span.end, span.start),
        false => Selection::new(span.start, span.end),
    }
}
