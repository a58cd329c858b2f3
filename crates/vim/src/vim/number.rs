//! Counting numbers up and down (`Ctrl-A`, `Ctrl-X`).

use std::ops::Range;

use super::block::BlockPart;
use super::exec::Exec;
use super::region::{Region, RegionShape};
use crate::error::{Done, Error};
use crate::lines::Pos;

/// The notation of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notation {
    Decimal { is_negative: bool },
    Hex,
    Binary,
    Octal,
    Letter,
}

/// A number in a line.
struct NumberText {
    range: Range<usize>,
    /// The bytes of the digits alone.
    digits: Range<usize>,
    notation: Notation,
}

/// Adds to the number at or behind the caret.
pub(super) fn add_here(exec: &mut Exec, by: i64) -> Done {
    let at = exec.pos();
    let line = exec.lines.line(at.row).into_owned();
    let finder = NumberFinder::of(exec, &line);
    let number = finder.around(at.col).ok_or(Error::Beep)?;
    let new = changed(&line, &number, by);
    let range = number.range;
    let (from, to) = (Pos::new(at.row, range.start), Pos::new(at.row, range.end));
    exec.replace(from, to, &new)?;
    let last = Pos::new(at.row, range.start + new.len() - 1);
    exec.set_change_marks(from, last);
    exec.set_pos(last);
    Ok(())
}

/// Adds to the first number of each line of a selection; with `is_progressive`, each time more.
pub(super) fn add_in(exec: &mut Exec, region: &Region, by: i64, is_progressive: bool) -> Done {
    let mut step = by;
    let mut first_number = None;
    exec.note_rows(region.start.row, region.end.row);
    let (first, last) = (region.start.row, region.end.row);
    for row in first..=last {
        let line = exec.lines.line(row).into_owned();
        let within = match region.shape {
            RegionShape::Lines => 0..line.len(),
            RegionShape::Chars => {
                let start = if row == first { region.start.col } else { 0 };
                let end = if row == last {
                    region.end.col.min(line.len())
                } else {
                    line.len()
                };
                start.min(end)..end
            }
            RegionShape::Block(cells) => {
                let part = BlockPart::of(&line, cells, exec.lines.tab_width());
                part.inner_from..part.inner_to
            }
        };
        let finder = NumberFinder::of(exec, &line);
        let Some(number) = finder.within(within) else {
            continue;
        };
        let new = changed(&line, &number, step);
        let range = number.range;
        let (from, to) = (Pos::new(row, range.start), Pos::new(row, range.end));
        exec.replace(from, to, &new)?;
        first_number = first_number.or(Some(from));
        if is_progressive {
            step = step.saturating_add(by);
        }
    }
    if region.shape == RegionShape::Lines {
        exec.set_pos(region.start);
    }
    let Some(first_number) = first_number else {
        return Err(Error::Beep);
    };
    let start = if region.shape == RegionShape::Lines {
        region.start
    } else {
        region.caret
    };
    exec.set_pos(start);
    exec.set_change_marks(first_number, exec.lines.clamp(region.end, false));
    Ok(())
}

struct NumberFinder<'a> {
    line: &'a str,
    counts_octal: bool,
    counts_letters: bool,
}

impl<'a> NumberFinder<'a> {
    fn of(exec: &Exec, line: &'a str) -> Self {
        Self {
            line,
            counts_octal: exec.globals.options.octal_numbers,
            counts_letters: exec.globals.options.alphabetic_numbers,
        }
    }

    fn byte(&self, ix: usize) -> u8 {
        self.line.as_bytes().get(ix).copied().unwrap_or(0)
    }

    /// The number that contains a column, or the next one.
    fn around(&self, col: usize) -> Option<NumberText> {
        if self.counts_letters && self.byte(col).is_ascii_alphabetic() {
            return Some(self.letter(col));
        }
        let bytes = self.line.as_bytes();
        // A column in a prefixed number, or before any number.
        for (marker, is_digit) in [
            (b'x', u8::is_ascii_hexdigit as fn(&u8) -> bool),
            (b'b', is_binary),
        ] {
            let mut start = col.min(bytes.len());
            while start > 0 && bytes.get(start).is_some_and(is_digit) && is_digit(&bytes[start - 1])
            {
                start -= 1;
            }
            let at = |ix: usize| self.byte(ix);
            let candidates = [
                start.checked_sub(2),
                start.checked_sub(1),
                Some(start),
                col.checked_sub(1),
                Some(col),
            ];
            for zero in candidates.into_iter().flatten() {
                let is_prefix = at(zero) == b'0' && at(zero + 1).to_ascii_lowercase() == marker;
                if is_prefix && is_digit(&at(zero + 2)) {
                    let number = self.prefixed(zero, is_digit, marker);
                    if number.range.contains(&col) {
                        return Some(number);
                    }
                }
            }
        }
        let mut start = col;
        if !self.byte(start).is_ascii_digit() {
            while start < bytes.len() && !self.byte(start).is_ascii_digit() {
                if self.counts_letters && self.byte(start).is_ascii_alphabetic() {
                    return Some(self.letter(start));
                }
                start += 1;
            }
        }
        while start > 0
            && self.byte(start).is_ascii_digit()
            && self.byte(start - 1).is_ascii_digit()
        {
            start -= 1;
        }
        self.at(start, 0)
    }

    /// The first number in a range of the line.
    fn within(&self, range: Range<usize>) -> Option<NumberText> {
        let mut start = range.start;
        while start < range.end && !self.byte(start).is_ascii_digit() {
            if self.counts_letters && self.byte(start).is_ascii_alphabetic() {
                return Some(self.letter(start));
            }
            start += 1;
        }
        if start >= range.end {
            return None;
        }
        let cut = NumberFinder {
            line: &self.line[..range.end],
            counts_octal: self.counts_octal,
            counts_letters: self.counts_letters,
        };
        cut.at(start, range.start)
    }

    /// The number whose digits begin at a byte. A sign before `from` does not count.
    fn at(&self, start: usize, from: usize) -> Option<NumberText> {
        if !self.byte(start).is_ascii_digit() {
            return None;
        }
        let kind = self.byte(start + 1).to_ascii_lowercase();
        if self.byte(start) == b'0' && kind == b'x' && self.byte(start + 2).is_ascii_hexdigit() {
            return Some(self.prefixed(start, u8::is_ascii_hexdigit, b'x'));
        }
        if self.byte(start) == b'0' && kind == b'b' && is_binary(&self.byte(start + 2)) {
            return Some(self.prefixed(start, is_binary, b'b'));
        }
        let end = self.end_of(start, u8::is_ascii_digit);
        let digits = start..end;
        let is_octal = self.counts_octal
            && self.byte(start) == b'0'
            && digits.len() > 1
            && self.line[digits.clone()].bytes().all(|byte| byte < b'8');
        if is_octal {
            return Some(NumberText {
                range: digits.clone(),
                digits,
                notation: Notation::Octal,
            });
        }
        let is_negative = start > from && self.byte(start - 1) == b'-';
        Some(NumberText {
            range: start - usize::from(is_negative)..end,
            digits,
            notation: Notation::Decimal { is_negative },
        })
    }

    fn prefixed(&self, zero: usize, is_digit: fn(&u8) -> bool, marker: u8) -> NumberText {
        let digits = zero + 2..self.end_of(zero + 2, is_digit);
        NumberText {
            range: digits.clone(),
            digits,
            notation: if marker == b'x' {
                Notation::Hex
            } else {
                Notation::Binary
            },
        }
        .from(zero)
    }

    fn letter(&self, col: usize) -> NumberText {
        NumberText {
            range: col..col + 1,
            digits: col..col + 1,
            notation: Notation::Letter,
        }
    }

    fn end_of(&self, start: usize, is_digit: fn(&u8) -> bool) -> usize {
        let rest = &self.line.as_bytes()[start..];
        start + rest.iter().take_while(|byte| is_digit(byte)).count()
    }
}

impl NumberText {
    /// The same number with its range from a byte on.
    fn from(self, start: usize) -> Self {
        Self {
            range: start..self.range.end,
            ..self
        }
    }
}

fn is_binary(byte: &u8) -> bool {
    matches!(byte, b'0' | b'1')
}

/// Returns the text of a number after an addition; the width of numbers with zeros stays.
fn changed(line: &str, number: &NumberText, by: i64) -> String {
    let digits = &line[number.digits.clone()];
    let prefix = &line[number.range.start..number.digits.start];
    match number.notation {
        Notation::Letter => letter_changed(digits, by),
        Notation::Decimal { is_negative } => decimal_changed(digits, is_negative, by),
        Notation::Hex => {
            let value = u64::from_str_radix(digits, 16).unwrap_or(u64::MAX);
            let value = value.wrapping_add_signed(by);
            let width = digits.len();
            let last_letter = digits.bytes().rfind(u8::is_ascii_alphabetic);
            if last_letter.is_some_and(|byte| byte.is_ascii_uppercase()) {
                format!("{prefix}{value:0width$X}")
            } else {
                format!("{prefix}{value:0width$x}")
            }
        }
        Notation::Binary => {
            let value = u64::from_str_radix(digits, 2).unwrap_or(u64::MAX);
            let width = digits.len();
            format!("{prefix}{:0width$b}", value.wrapping_add_signed(by))
        }
        Notation::Octal => {
            let value = u64::from_str_radix(digits, 8).unwrap_or(u64::MAX);
            let width = digits.len();
            format!("{:0width$o}", value.wrapping_add_signed(by))
        }
    }
}

fn letter_changed(letter: &str, by: i64) -> String {
    let byte = letter.bytes().next().unwrap_or(b'a');
    let (low, high) = if byte.is_ascii_uppercase() {
        (b'A', b'Z')
    } else {
        (b'a', b'z')
    };
    let moved = i64::from(byte)
        .saturating_add(by)
        .clamp(i64::from(low), i64::from(high));
    char::from(moved as u8).to_string()
}

fn decimal_changed(digits: &str, is_negative: bool, by: i64) -> String {
    let value = digits.parse::<u64>().unwrap_or(u64::MAX);
    let value = i128::from(value) * if is_negative { -1 } else { 1 };
    let sum = value + i128::from(by);
    let limit = i128::from(u64::MAX);
    let sum = sum.clamp(-limit, limit);
    // Leading zeros are kept, as many as there were digits.
    let has_zeros = digits.len() > 1 && digits.starts_with('0');
    let width = if has_zeros { digits.len() } else { 0 };
    let sign = if sum < 0 { "-" } else { "" };
    format!("{sign}{:0width$}", sum.unsigned_abs())
}
