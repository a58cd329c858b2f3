//! Matching brackets: from the syntax tree if there is one, otherwise by counting.
//!
//! Limits: counting reads `LOOK_AROUND` characters and includes brackets in strings.
//! Start at `pair_at` and `enclosing`.

use base::{ByteOffset, Span};

use crate::context::CommandContext;

/// Brackets of a text without a language.
const PLAIN: &[(char, char)] = &[('(', ')'), ('[', ']'), ('{', '}')];

/// Maximum number of characters scanned for the partner of a bracket without a syntax tree.
pub(crate) const LOOK_AROUND: usize = 100_000;

/// The spans of an opening and a closing bracket that belong together.
pub(crate) type Pair = (Span, Span);

/// Returns the bracket pairs of the language, or common ones for plain text.
pub(crate) fn kinds(ctx: &CommandContext) -> &'static [(char, char)] {
    ctx.language
        .map_or(PLAIN, |language| language.config().brackets)
}

/// Returns the opening bracket for a closing one. Returns `None` if `close` is not a closing
/// bracket of the language.
pub(crate) fn opener_of(ctx: &CommandContext, close: char) -> Option<char> {
    kinds(ctx)
        .iter()
        .find(|kind| kind.1 == close)
        .map(|kind| kind.0)
}

/// Returns the offset to which a caret jumps from a bracket: the matching bracket. Jumping twice
/// returns to the first bracket. From a caret that is not beside a bracket, returns the offset of
/// the closing bracket of the innermost pair around the caret, or `head` outside of brackets.
pub(crate) fn other_end(ctx: &CommandContext, head: ByteOffset) -> ByteOffset {
    match pair_at(ctx, head) {
        Some((open, close)) if head == close.start || head == close.end => open.start,
        Some((_, close)) => close.start,
        None => enclosing(ctx, Span::at(head)).map_or(head, |(_, close)| close.start),
    }
}

/// Returns the same target as `other_end`, adjusted for extending a selection: the span from `head`
/// to the result includes both brackets.
pub(crate) fn other_edge(ctx: &CommandContext, head: ByteOffset) -> ByteOffset {
    match pair_at(ctx, head) {
        Some((open, close)) if head == open.start => close.end,
        Some((open, close)) if head == close.end => open.start,
        Some((open, close)) if head == close.start => open.end,
        Some((_, close)) => close.start,
        None => enclosing(ctx, Span::at(head)).map_or(head, |(_, close)| close.start),
    }
}

/// Returns the pair of the bracket after an offset, or else of the bracket before the offset.
/// Returns `None` if neither character is a bracket with a partner.
pub(crate) fn pair_at(ctx: &CommandContext, offset: ByteOffset) -> Option<Pair> {
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

/// Returns the innermost pair of brackets around a span. Returns `None` if no pair is found within
/// a bounded distance.
pub(crate) fn enclosing(ctx: &CommandContext, span: Span) -> Option<Pair> {
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

/// Returns the nearest bracket `open` before an offset that is still open at this offset. Returns
/// `None` if the `LOOK_AROUND` characters before the offset contain no such bracket.
pub(crate) fn unclosed_before(
    ctx: &CommandContext,
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

/// Returns the nearest closing bracket after an offset that is unopened there.
fn unopened_behind(
    ctx: &CommandContext,
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

/// Returns the pair of the bracket `char` at an offset.
fn pair_of(ctx: &CommandContext, at: ByteOffset, char: char) -> Option<Pair> {
    let (open, close) = *kinds(ctx)
        .iter()
        .find(|(open, close)| char == *open || char == *close)?;
    if char == open {
        let end = unopened_behind(ctx, at + open.len_utf8(), open, close)?;
        Some((sized(at, open), sized(end, close)))
    } else {
        let start = unclosed_before(ctx, at, open, close)?;
        Some((sized(start, open), sized(at, close)))
    }
}

fn sized(at: ByteOffset, char: char) -> Span {
    Span::new(at, at + char.len_utf8())
}
