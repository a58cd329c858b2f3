//! Brackets: which belong together, by the syntax where it knows, by counting where it does not.
//!
//! Limits: counting looks at `LOOK_AROUND` characters and takes those in strings for brackets too.
//! Start at `pair_at` and `enclosing`.

use base::{ByteOffset, Span};

use crate::context::Context;

/// The brackets of a text of no language.
const PLAIN: &[(char, char)] = &[('(', ')'), ('[', ']'), ('{', '}')];

/// Characters counted through without a syntax tree.
pub(crate) const LOOK_AROUND: usize = 100_000;

/// An opening and a closing bracket.
pub(crate) type Pair = (Span, Span);

/// The kinds of brackets of the language.
pub(crate) fn kinds(ctx: &Context) -> &'static [(char, char)] {
    ctx.language
        .map_or(PLAIN, |language| language.config().brackets)
}

/// The bracket that a closing one closes.
pub(crate) fn opener_of(ctx: &Context, close: char) -> Option<char> {
    kinds(ctx)
        .iter()
        .find(|kind| kind.1 == close)
        .map(|kind| kind.0)
}

/// Where a caret goes from the bracket at its side to the other one, or to the end of the brackets
/// around it. Going there twice comes back.
pub(crate) fn other_end(ctx: &Context, head: ByteOffset) -> ByteOffset {
    match pair_at(ctx, head) {
        Some((open, close)) if head == close.start || head == close.end => open.start,
        Some((_, close)) => close.start,
        None => enclosing(ctx, Span::at(head)).map_or(head, |(_, close)| close.start),
    }
}

/// Like `other_end`, for spans that should take both brackets along.
pub(crate) fn other_edge(ctx: &Context, head: ByteOffset) -> ByteOffset {
    match pair_at(ctx, head) {
        Some((open, close)) if head == open.start => close.end,
        Some((open, close)) if head == close.end => open.start,
        Some((open, close)) if head == close.start => open.end,
        Some((_, close)) => close.start,
        None => enclosing(ctx, Span::at(head)).map_or(head, |(_, close)| close.start),
    }
}

/// The pair of the bracket behind an offset, else of the one before it.
pub(crate) fn pair_at(ctx: &Context, offset: ByteOffset) -> Option<Pair> {
    let by_syntax = ctx
        .syntax
        .and_then(|syntax| syntax.matching_bracket(ctx.snapshot, offset));
    if let Some(pair) = by_syntax {
        return Some((pair.open, pair.close));
    }
    let behind = ctx.snapshot.chars_at(offset).next();
    let before = ctx.snapshot.chars_before(offset).next();
    let at_behind = behind.and_then(|char| pair_of(ctx, offset, char));
    at_behind.or_else(|| before.and_then(|char| pair_of(ctx, offset - char.len_utf8(), char)))
}

/// The innermost pair around a span.
pub(crate) fn enclosing(ctx: &Context, span: Span) -> Option<Pair> {
    let by_syntax = ctx
        .syntax
        .and_then(|syntax| syntax.enclosing_brackets(ctx.snapshot, span));
    if let Some(pair) = by_syntax {
        return Some((pair.open, pair.close));
    }
    let pairs = kinds(ctx).iter().filter_map(|(open, close)| {
        let start = unclosed_before(ctx, span.start, *open, *close)?;
        let end = unopened_behind(ctx, span.end, *open, *close)?;
        Some((sized(start, *open), sized(end, *close)))
    });
    pairs.max_by_key(|(open, _)| open.start)
}

/// The nearest opening bracket before an offset that nothing before the offset closes.
pub(crate) fn unclosed_before(
    ctx: &Context,
    offset: ByteOffset,
    open: char,
    close: char,
) -> Option<ByteOffset> {
    let mut at = offset;
    let mut depth = 0usize;
    for char in ctx.snapshot.chars_before(offset).take(LOOK_AROUND) {
        at -= char.len_utf8();
        if char == close {
            depth += 1;
        } else if char == open {
            match depth {
                0 => return Some(at),
                _ => depth -= 1,
            }
        }
    }
    None
}

/// Counts the `counted` brackets that no `other` bracket earlier in `chars` pairs with.
pub(crate) fn unpaired(chars: impl Iterator<Item = char>, other: char, counted: char) -> usize {
    let (mut depth, mut count) = (0usize, 0);
    for char in chars {
        if char == other {
            depth += 1;
        } else if char == counted {
            match depth {
                0 => count += 1,
                _ => depth -= 1,
            }
        }
    }
    count
}

/// The nearest closing bracket behind an offset that nothing behind the offset opens.
fn unopened_behind(
    ctx: &Context,
    offset: ByteOffset,
    open: char,
    close: char,
) -> Option<ByteOffset> {
    let mut at = offset;
    let mut depth = 0usize;
    for char in ctx.snapshot.chars_at(offset).take(LOOK_AROUND) {
        if char == open {
            depth += 1;
        } else if char == close {
            match depth {
                0 => return Some(at),
                _ => depth -= 1,
            }
        }
        at += char.len_utf8();
    }
    None
}

/// The pair of the bracket `char` at an offset, if it is one.
fn pair_of(ctx: &Context, at: ByteOffset, char: char) -> Option<Pair> {
    let (open, close) = *kinds(ctx)
        .iter()
        .find(|(open, close)| char == *open || char == *close)?;
    match char == open {
        true => {
            let end = unopened_behind(ctx, at + open.len_utf8(), open, close)?;
            Some((sized(at, open), sized(end, close)))
        }
        false => {
            let start = unclosed_before(ctx, at, open, close)?;
            Some((sized(start, open), sized(at, close)))
        }
    }
}

fn sized(at: ByteOffset, char: char) -> Span {
    Span::new(at, at + char.len_utf8())
}
