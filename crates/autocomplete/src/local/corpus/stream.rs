//! A text as a row of numbers: for each token its word, and the blanks before it.
//!
//! Indents are told as steps from one line to the next, so that what was found in one place can be written down in
//! another one with another indent.

use crate::local::token::{Token, TokenKind, Tokens};

/// Stands between files and matches nothing.
pub(crate) const BOUNDARY: u32 = 0;

/// The word of a line end.
pub(crate) const NEWLINE: u32 = 1;

/// The word of a token that no text is kept of.
pub(crate) const UNKNOWN: u32 = 2;

/// Words below this number mean the three above.
pub(crate) const FIRST_WORD: u32 = 3;

/// A token: its word and the blanks before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item(u32);

/// What stands before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gap {
    /// So many spaces.
    Spaces(usize),
    /// A line end, with so many steps more indent behind it, and whether a blank line lies between.
    Line { steps: i32, is_blank: bool },
    /// Something that cannot be written down elsewhere: tabs between words, an indent that is no whole step.
    Odd,
}

const ODD: u32 = 255;
/// Steps of indent are stored with this added.
const STEP_ZERO: i32 = 32;

impl Item {
    pub(crate) fn new(word: u32, gap: Gap) -> Self {
        let blanks = match gap {
            Gap::Spaces(count) if (count as u32) < ODD => count as u32,
            Gap::Line { steps, is_blank } if (-STEP_ZERO..STEP_ZERO).contains(&steps) => {
                ((steps + STEP_ZERO) as u32) << 1 | u32::from(is_blank)
            }
            _ => ODD,
        };
        Self(word << 8 | blanks)
    }

    pub(crate) fn word(self) -> u32 {
        self.0 >> 8
    }

    pub(crate) fn gap(self) -> Gap {
        match (self.word(), self.0 & 255) {
            (_, ODD) => Gap::Odd,
            (NEWLINE, blanks) => Gap::Line {
                steps: (blanks >> 1) as i32 - STEP_ZERO,
                is_blank: blanks & 1 == 1,
            },
            (_, blanks) => Gap::Spaces(blanks as usize),
        }
    }
}

/// The items of a text. `number` tells the word of a token's text.
pub(crate) fn items(text: &str, mut number: impl FnMut(&str) -> u32) -> Vec<Item> {
    let unit = indent_unit(text);
    let mut indent = first_indent(text);
    let mut end = 0;
    let mut items = Vec::with_capacity(text.len() / 4);
    for token in Tokens::new(text) {
        let gap = match token.kind {
            TokenKind::Newline => line_gap(token, text, unit, &mut indent),
            _ => spaces(text.get(end..token.start).unwrap_or_default()),
        };
        end = token.end;
        let word = match token.kind {
            TokenKind::Newline => NEWLINE,
            _ => number(token.text(text)),
        };
        items.push(Item::new(word, gap));
    }
    items
}

fn spaces(blanks: &str) -> Gap {
    match blanks.bytes().all(|byte| byte == b' ') {
        true => Gap::Spaces(blanks.len()),
        false => Gap::Odd,
    }
}

/// The indent of a line in columns, as far as it is known: a tab is as wide as a unit.
fn line_gap(token: Token, text: &str, unit: usize, indent: &mut usize) -> Gap {
    let blanks = token.text(text);
    let lines = blanks.bytes().filter(|byte| *byte == b'\n').count();
    let last = blanks.rsplit('\n').next().unwrap_or_default();
    // The end of the text has no next line.
    if token.end == text.len() && last.is_empty() {
        return Gap::Line {
            steps: 0,
            is_blank: lines > 1,
        };
    }
    let now = columns(last, unit);
    let (more, less) = (now.saturating_sub(*indent), indent.saturating_sub(now));
    *indent = now;
    if more % unit != 0 || less % unit != 0 {
        return Gap::Odd;
    }
    Gap::Line {
        steps: (more / unit) as i32 - (less / unit) as i32,
        is_blank: lines > 1,
    }
}

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

fn first_indent(text: &str) -> usize {
    let line = text.lines().next().unwrap_or_default();
    columns(
        &line[..line.len() - line.trim_start().len()],
        indent_unit(text),
    )
}

/// How wide one step of indent is in a text: the commonest step from one line to a deeper one.
pub(crate) fn indent_unit(text: &str) -> usize {
    const MOST_LINES: usize = 400;
    let mut counts = [0_usize; 9];
    let mut before = 0;
    for line in text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(MOST_LINES)
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
