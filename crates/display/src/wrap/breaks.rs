//! Finds the end of a row of a wrapped line.
//!
//! Rows end after line feeds, which only inlays bring into a line, otherwise between words, at
//! either side of an ideograph, or anywhere if a word is wider than a row. One blank may exceed the
//! edge, so that words can fill a row to its last cell.

use crate::cells::{Meter, plain_prefix};
use crate::limits::ROW_BYTES;

/// Width of a row and of a tab, in cells, for wrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrapOptions {
    /// Cells in a row.
    pub(crate) cells: u32,
    pub(crate) tab_width: u32,
}

/// Indents in cells of the next row of a line that is being wrapped, and of the rows after this
/// next row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indent {
    /// For the row to come.
    pub(crate) row: u32,
    /// For those after it, until the next break.
    pub(crate) hanging: u32,
}

impl WrapOptions {
    /// Returns the indents for the first row of a line, or of the text after a line feed. `text` is
    /// the beginning of the line or of this text.
    pub(crate) fn first_indent(&self, text: &str) -> Indent {
        Indent {
            row: 0,
            hanging: self.indent(text),
        }
    }

    /// Returns the indent of the row after `row`; `rest` is the text it begins with.
    pub(crate) fn next_indent(&self, indent: Indent, row: &str, rest: &str) -> Indent {
        if row.ends_with('\n') {
            self.first_indent(rest)
        } else {
            Indent {
                row: indent.hanging,
                ..indent
            }
        }
    }

    /// Returns the indent of the continuation rows of a line, in cells: the width of the blanks at
    /// the start of the line, but at most half a row.
    pub(crate) fn indent(&self, line: &str) -> u32 {
        let cap = self.cells / 2;
        let mut meter = Meter::new(0, self.tab_width);
        for (ix, ch) in line.char_indices() {
            if ix >= ROW_BYTES || meter.cell >= cap || !is_blank(ch) {
                break;
            }
            meter.advance(ch);
        }
        meter.cell.min(cap)
    }

    /// Returns the number of bytes of `text` that fit into a row after `indent` cells, broken at a
    /// word if possible. Returns `None` if all of `text` fits. `text` must reach to the end of its
    /// line, or be longer than the row by at least `ROW_BYTES` and a char.
    pub(crate) fn row_len(&self, text: &str, indent: u32) -> Option<usize> {
        match self.plain_row_len(text.as_bytes(), indent) {
            Some(len) => len,
            None => self.walked_row_len(text, indent),
        }
    }

    /// Like `row_len`, for any text: measures it char by char.
    fn walked_row_len(&self, text: &str, indent: u32) -> Option<usize> {
        let mut meter = Meter::new(indent, self.tab_width);
        let mut opportunity = None;
        let mut has_word = false;
        let mut hangs = false;
        let mut prior = '\0';
        for (ix, ch) in text.char_indices() {
            let cells = meter.advance(ch);
            if ix >= ROW_BYTES {
                return Some(ix);
            }
            if ch == '\n' {
                return (ix + 1 < text.len()).then_some(ix + 1);
            }
            if ix > 0 && cells > 0 {
                if has_word && may_break(prior, ch) {
                    opportunity = Some(ix);
                }
                if meter.cell > self.cells {
                    if ch == ' ' && !hangs {
                        hangs = true;
                    } else if ch == ' ' {
                        return Some(ix);
                    } else {
                        return Some(opportunity.unwrap_or(ix));
                    }
                }
            }
            if cells > 0 {
                has_word |= !is_blank(ch);
                prior = ch;
            }
        }
        None
    }

    /// Like `row_len`, for a row of printable ASCII. The outer `None` means that the row has other
    /// bytes, or is too narrow or too wide for this.
    fn plain_row_len(&self, text: &[u8], indent: u32) -> Option<Option<usize>> {
        let room = self.cells.saturating_sub(indent) as usize;
        if room < 2 || room + 2 >= ROW_BYTES {
            return None;
        }
        let head = &text[..text.len().min(room + 2)];
        if plain_prefix(head) < head.len() {
            return None;
        }
        if text.len() <= room {
            return Some(None);
        }
        if text[room] == b' ' {
            return Some((text.len() > room + 1).then_some(room + 1));
        }
        let first_word = head.iter().position(|byte| *byte != b' ').unwrap_or(room);
        let boundary = (first_word + 1..=room)
            .rev()
            .find(|ix| text[ix - 1] == b' ' && text[*ix] != b' ');
        Some(Some(boundary.unwrap_or(room)))
    }
}

/// Whether a char is a blank at which a row may end: a space, a tab or the ideographic space.
fn is_blank(ch: char) -> bool {
    matches!(ch, ' ' | '\t' | '\u{3000}')
}

/// Whether a row may end between two characters.
fn may_break(prior: char, ch: char) -> bool {
    if is_blank(ch) {
        return false;
    }
    if is_blank(prior) {
        return true;
    }
    (is_ideograph(prior) || is_ideograph(ch)) && !clings_to_next(prior) && !clings_to_prior(ch)
}

/// Ideographs, kana, hangul syllables and their punctuation.
fn is_ideograph(ch: char) -> bool {
    matches!(ch,
        '\u{2E80}'..='\u{303E}' | '\u{3041}'..='\u{33FF}' | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}' | '\u{A000}'..='\u{A4CF}' | '\u{AC00}'..='\u{D7A3}'
        | '\u{F900}'..='\u{FAFF}' | '\u{FF01}'..='\u{FF60}' | '\u{20000}'..='\u{3FFFD}')
}

/// Opening brackets, which never end a row.
fn clings_to_next(ch: char) -> bool {
    matches!(
        ch,
        '(' | '[' | '{' | '「' | '『' | '（' | '［' | '｛' | '【' | '《' | '〈' | '〔'
    )
}

/// Closing brackets, full stops and small kana, which never begin a row.
fn clings_to_prior(ch: char) -> bool {
    matches!(
        ch,
        ')' | ']'
            | '}'
            | ','
            | '.'
            | ';'
            | ':'
            | '!'
            | '?'
            | '、'
            | '。'
            | '，'
            | '．'
            | '」'
            | '』'
            | '）'
            | '］'
            | '｝'
            | '】'
            | '》'
            | '〉'
            | '〕'
            | '！'
            | '？'
            | '：'
            | '；'
            | '・'
            | 'ー'
            | 'ぁ'
            | 'ぃ'
            | 'ぅ'
            | 'ぇ'
            | 'ぉ'
            | 'っ'
            | 'ゃ'
            | 'ゅ'
            | 'ょ'
            | 'ァ'
            | 'ィ'
            | 'ゥ'
            | 'ェ'
            | 'ォ'
            | 'ッ'
            | 'ャ'
            | 'ュ'
            | 'ョ'
    )
}

#[cfg(test)]
mod tests;
