//! Decides whether a typed quote begins a string, ends one, or is part of its text.
//!
//! The tree knows closed strings. An unclosed string leaves an unpaired quote, which is searched
//! for in the text before the caret. Start at `open_before`.

use std::iter::Peekable;
use std::str::CharIndices;

use base::{Bias, ByteOffset, Row, Span};
use syntax::SyntaxScope;

use crate::auto_close::{pairs, scope};
use crate::context::CommandContext;
use crate::motion::horizontal::is_blank;

/// Bytes before the caret that are searched for an unpaired quote.
const LOOK_BACK: usize = 2_000;

/// With more carets than this only the row of each is searched.
const MAX_CARETS: usize = 8;

/// Letters of string prefixes.
const PREFIXES: &str = "bfruBFRUL8";

/// Returns the opening quote of the string that contains an offset. Uses the text before the offset
/// in its row, and the tree. Returns `None` outside of strings.
pub(crate) fn open_before(ctx: &CommandContext, offset: ByteOffset) -> Option<char> {
    let start = search_start(ctx, offset);
    let text = ctx.snapshot.text(Span::new(start, offset));
    let mut chars = text.char_indices().peekable();
    let mut open: Option<Delimiter> = None;
    // The end of the last closed string that the tree knows.
    let mut known_end = start;
    while let Some((at, char)) = chars.next() {
        if start + at < known_end {
            continue;
        }
        if open.is_some_and(|open| open.quote == char) && starts_string(ctx, start + at) {
            // The tree starts another string here, so the earlier quote did not open one.
            open = None;
        }
        match open {
            _ if char == '\\' => {
                chars.next();
            }
            Some(delimiter) if delimiter.ends_at(ctx, char, &mut chars) => open = None,
            None if is_quote(ctx, char) && !is_apostrophe(&text, at, char) => {
                match string_at(ctx, start + at) {
                    Some(string) if offset < string.end => return Some(char),
                    Some(string) => known_end = string.end,
                    None if !is_comment(ctx, start + at) => {
                        open = Delimiter::read(char, &mut chars);
                    }
                    None => {}
                }
            }
            _ => {}
        }
    }
    open.map(|delimiter| delimiter.quote)
}

/// Returns whether the run of `quote` characters after an offset ends the string around the offset.
/// Returns `false` without a syntax tree.
pub(crate) fn ends_string(ctx: &CommandContext, offset: ByteOffset, quote: char) -> bool {
    let quotes = ctx.snapshot.chars_at(offset);
    let count = quotes.take_while(|char| *char == quote).count();
    let end = offset + count * quote.len_utf8();
    count > 0
        && ctx.indent_tree().is_some()
        && scope(ctx, offset) == SyntaxScope::String
        && scope(ctx, end) != SyntaxScope::String
}

/// The opening quote of a string, or three of them.
#[derive(Clone, Copy)]
struct Delimiter {
    quote: char,
    is_triple: bool,
}

impl Delimiter {
    /// Reads the quotes behind the first one. `None` for two quotes, which are an empty string.
    fn read(quote: char, chars: &mut Peekable<CharIndices<'_>>) -> Option<Self> {
        let mut more = || chars.next_if(|(_, char)| *char == quote).is_some();
        match (more(), more()) {
            (false, _) => Some(Delimiter {
                quote,
                is_triple: false,
            }),
            (true, false) => None,
            (true, true) => Some(Delimiter {
                quote,
                is_triple: true,
            }),
        }
    }

    /// Whether `char` and the characters behind it end the string.
    fn ends_at(
        self,
        ctx: &CommandContext,
        char: char,
        chars: &mut Peekable<CharIndices<'_>>,
    ) -> bool {
        if char == '\n' {
            return !self.is_triple && !goes_over_rows(ctx, self.quote);
        }
        let mut more = || chars.next_if(|(_, char)| *char == self.quote).is_some();
        char == self.quote && (!self.is_triple || more() && more())
    }
}

/// Returns whether `char` both opens and closes a pair that the language closes automatically.
fn is_quote(ctx: &CommandContext, char: char) -> bool {
    let is_pair = |open: &str, close: &str| open == close && open.chars().eq([char]);
    pairs(ctx).iter().any(|pair| is_pair(pair.open, pair.close))
}

/// Returns whether a quote is an apostrophe within a word, as in `don't`, not a quote after a
/// prefix, as in `f'text'`.
fn is_apostrophe(text: &str, at: usize, quote: char) -> bool {
    let before = &text[..at];
    let word = before.trim_end_matches(char::is_alphanumeric);
    let word = &before[word.len()..];
    let is_prefix = word.len() <= 2 && word.chars().all(|char| PREFIXES.contains(char));
    let next = text[at + 1..].chars().next();
    quote == '\'' && !is_prefix && next.is_some_and(char::is_alphanumeric)
}

/// Whether strings in this quote may span rows.
fn goes_over_rows(ctx: &CommandContext, quote: char) -> bool {
    let config = ctx.language.map(|language| language.config());
    is_prose(ctx) || config.is_some_and(|config| config.multi_row_quotes.contains(quote))
}

/// The start of the search: the paragraph in prose, the embedded code within a string, else `LOOK_BACK` bytes
/// with a tree and the row without one.
fn search_start(ctx: &CommandContext, offset: ByteOffset) -> ByteOffset {
    let snapshot = ctx.snapshot;
    let nearest = snapshot.clip(offset - LOOK_BACK, Bias::Left);
    let mut row = snapshot.point_at(offset).row;
    if is_prose(ctx) {
        while row.0 > 0 && snapshot.row_start(row) > nearest && !is_blank(snapshot, row - 1) {
            row = Row(row.0 - 1);
        }
        return snapshot.row_start(row).max(nearest);
    }
    let is_few = ctx.selections.len() <= MAX_CARETS;
    match ctx.indent_tree().filter(|_| is_few) {
        Some(syntax) => syntax
            .embedded_code_start(snapshot, offset)
            .map_or(nearest, |start| start.max(nearest)),
        None => snapshot.row_start(row).max(nearest),
    }
}

/// Returns whether the text is prose (plain text or Markdown), where quotations span rows.
pub(crate) fn is_prose(ctx: &CommandContext) -> bool {
    ctx.language
        .is_none_or(|language| language.name().starts_with("Markdown"))
}

/// Returns the span, quotes included, of the closed string that contains the byte at `offset`;
/// `None` if there is none or no tree.
fn string_at(ctx: &CommandContext, offset: ByteOffset) -> Option<Span> {
    ctx.indent_tree()?.string_at(ctx.snapshot, offset)
}

/// Returns whether a closed string starts at `offset`; false without a tree.
fn starts_string(ctx: &CommandContext, offset: ByteOffset) -> bool {
    string_at(ctx, offset).is_some_and(|string| string.start == offset)
}

/// Returns whether a caret at `offset` is in a comment; false without a tree.
fn is_comment(ctx: &CommandContext, offset: ByteOffset) -> bool {
    let tree = ctx.indent_tree();
    tree.is_some_and(|syntax| syntax.scope_at(ctx.snapshot, offset) == SyntaxScope::Comment)
}
