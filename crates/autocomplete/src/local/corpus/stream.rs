//! Encodes a text as numbers: for each token its word and the blanks before it.
//!
//! Indentation is stored as steps relative to the previous line, so text found at one indentation
//! can be written at another.

use crate::local::token::{CodeToken, CodeTokens, TokenKind};

/// Word number of the token that separates files. It never matches a word of a text.
pub(crate) const BOUNDARY: u32 = 0;

/// Word number of a line break.
pub(crate) const NEWLINE: u32 = 1;

/// Word number of every token whose text is not stored.
pub(crate) const UNKNOWN: u32 = 2;

/// First word number of a stored text; smaller numbers are reserved.
pub(crate) const FIRST_WORD: u32 = 3;

/// A token in 32 bits: the number of its word and the white space before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackedToken(u32);

/// Whitespace before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenGap {
    /// A number of spaces.
    Spaces(usize),
    /// A line break, with the change of indentation in steps, and whether a blank line precedes the
    /// next line.
    Line { steps: i32, is_blank: bool },
    /// Whitespace that cannot be reproduced elsewhere: tabs between words, or a fraction of an
    /// indentation step.
    Odd,
}

const ODD: u32 = 255;
/// Offset added to the stored indentation steps.
const STEP_ZERO: i32 = 32;

impl PackedToken {
    /// Encodes a token. A gap that does not fit becomes `TokenGap::Odd`. `word` must be below 2^24.
    pub(crate) fn new(word: u32, gap: TokenGap) -> Self {
        let blanks = match gap {
            TokenGap::Spaces(count) if (count as u32) < ODD => count as u32,
            TokenGap::Line { steps, is_blank } if (-STEP_ZERO..STEP_ZERO).contains(&steps) => {
                ((steps + STEP_ZERO) as u32) << 1 | u32::from(is_blank)
            }
            _ => ODD,
        };
        Self(word << 8 | blanks)
    }

    /// Returns the white space before the token, packed.
    pub(crate) fn packed_gap(self) -> u8 {
        (self.0 & 255) as u8
    }

    /// Returns the white space that `packed_gap` packed, before a line break or another token.
    pub(crate) fn unpacked(is_newline: bool, gap: u8) -> TokenGap {
        let word = if is_newline { NEWLINE } else { FIRST_WORD };
        Self(word << 8 | u32::from(gap)).gap()
    }

    /// Returns the number of the token's word, in the numbering of the corpus.
    pub(crate) fn word_number(self) -> u32 {
        self.0 >> 8
    }

    /// Returns the white space before the token. For a line break, returns the change of
    /// indentation.
    pub(crate) fn gap(self) -> TokenGap {
        match (self.word_number(), self.0 & 255) {
            (_, ODD) => TokenGap::Odd,
            (NEWLINE, blanks) => TokenGap::Line {
                steps: (blanks >> 1) as i32 - STEP_ZERO,
                is_blank: blanks & 1 == 1,
            },
            (_, blanks) => TokenGap::Spaces(blanks as usize),
        }
    }
}

/// Splits a text into packed tokens. `number` returns the word number of a token's text.
pub(crate) fn items(text: &str, mut number: impl FnMut(&str) -> u32) -> Vec<PackedToken> {
    let unit = indent_unit(text);
    let mut indent = first_indent(text);
    let mut end = 0;
    let mut items = Vec::with_capacity(text.len() / 4);
    for token in CodeTokens::new(text) {
        let gap = match token.kind {
            TokenKind::Newline => line_gap(token, text, unit, &mut indent),
            _ => spaces(text.get(end..token.start).unwrap_or_default()),
        };
        end = token.end;
        let word = match token.kind {
            TokenKind::Newline => NEWLINE,
            _ => number(token.text(text)),
        };
        items.push(PackedToken::new(word, gap));
    }
    items
}

fn spaces(blanks: &str) -> TokenGap {
    if blanks.bytes().all(|byte| byte == b' ') {
        TokenGap::Spaces(blanks.len())
    } else {
        TokenGap::Odd
    }
}

/// Computes the gap of a line break and updates `indent`, the indentation in columns. A tab counts
/// as one unit.
fn line_gap(token: CodeToken, text: &str, unit: usize, indent: &mut usize) -> TokenGap {
    let blanks = token.text(text);
    let lines = blanks.bytes().filter(|byte| *byte == b'\n').count();
    let last = blanks.rsplit('\n').next().unwrap_or_default();
    // No line follows the end of the text.
    if token.end == text.len() && last.is_empty() {
        return line_break(lines, 0, 0, unit);
    }
    let now = columns(last, unit);
    let gap = line_break(lines, *indent, now, unit);
    *indent = now;
    gap
}

/// Returns the gap of `lines` line breaks between two indentations, in columns.
pub(crate) fn line_break(lines: usize, from: usize, to: usize, unit: usize) -> TokenGap {
    let (more, less) = (to.saturating_sub(from), from.saturating_sub(to));
    if more % unit != 0 || less % unit != 0 {
        return TokenGap::Odd;
    }
    TokenGap::Line {
        steps: (more / unit) as i32 - (less / unit) as i32,
        is_blank: lines > 1,
    }
}

/// Splits a part of one row into packed tokens. `number` returns the word number of a token's text.
/// The gap of the first token begins at `start`.
pub(crate) fn row_items(
    row: &str,
    start: usize,
    mut number: impl FnMut(&str) -> u32,
) -> Vec<PackedToken> {
    let mut end = start;
    let solid = CodeTokens::new(row).filter(|token| token.kind != TokenKind::Newline);
    solid
        .map(|token| {
            let gap = spaces(row.get(end..token.start).unwrap_or_default());
            end = token.end;
            PackedToken::new(number(token.text(row)), gap)
        })
        .collect()
}

/// Returns the width in columns of the spaces and tabs in `blanks`, with tabs of `unit` columns.
pub(crate) fn columns(blanks: &str, unit: usize) -> usize {
    let width = |byte: u8| {
        if byte == b'\t' {
            unit
        } else {
            usize::from(byte == b' ')
        }
    };
    blanks.bytes().map(width).sum()
}

/// Returns the indentation of the first line in columns; 0 for an empty text.
fn first_indent(text: &str) -> usize {
    let line = text.lines().next().unwrap_or_default();
    columns(
        &line[..line.len() - line.trim_start().len()],
        indent_unit(text),
    )
}

/// Detects the width of one indentation step in columns: the most common increase from one line to
/// the next. For a text indented by tabs, returns 4.
pub(crate) fn indent_unit(text: &str) -> usize {
    const MAX_INDENT_SAMPLE_LINES: usize = 400;
    let mut counts = [0_usize; 9];
    let mut before = 0;
    for line in text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(MAX_INDENT_SAMPLE_LINES)
    {
        let blanks = &line[..line.len() - line.trim_start().len()];
        if blanks.starts_with('\t') {
            return 4;
        }
        let step = blanks.len().saturating_sub(before);
        if let Some(count) = counts.get_mut(step).filter(|_| step > 1) {
            *count += 1;
        }
        before = blanks.len();
    }
    let best = (2..counts.len()).max_by_key(|step| (counts[*step], 8 - step));
    best.filter(|step| counts[*step] > 0).unwrap_or(4)
}
