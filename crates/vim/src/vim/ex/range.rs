//! Line ranges of ex commands: `%`, `.,$`, `'a,/pattern/+1`.
//!
//! Start at `parse`.

use crate::error::{Done, Error};
use crate::lines::Pos;
use crate::search::{self, SearchWay, split_pattern};
use crate::vim::exec::Exec;
use crate::vim::{marking, searching};

/// A range of lines, counted from 1; 0 is the place before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ExRange {
    pub(super) first: u32,
    pub(super) last: u32,
    /// Number of typed addresses: 0, 1 or 2.
    pub(super) addresses: u32,
}

impl ExRange {
    /// The rows from 0 of the range.
    pub(super) fn rows(&self, exec: &Exec) -> (u32, u32) {
        let last = exec.lines.last();
        let row = |line: u32| line.saturating_sub(1).min(last);
        (row(self.first), row(self.last))
    }

    /// The range, or the whole text without addresses.
    pub(super) fn or_all(self, exec: &Exec) -> Self {
        if self.addresses > 0 {
            return self;
        }
        Self {
            first: 1,
            last: exec.lines.count(),
            addresses: 0,
        }
    }

    /// The lines from the last one on, by a count behind a command.
    pub(super) fn counted(self, count: Option<u32>, exec: &Exec) -> Self {
        match count {
            None => self,
            Some(count) => Self {
                first: self.last,
                last: self
                    .last
                    .saturating_add(count.max(1) - 1)
                    .min(exec.lines.count()),
                addresses: 2,
            },
        }
    }
}

/// Reads the range at the start of a line, and returns what follows.
pub(super) fn parse<'a>(exec: &mut Exec, line: &'a str) -> Done<(ExRange, &'a str)> {
    let current = exec.pos().row + 1;
    let mut range = ExRange {
        first: current,
        last: current,
        addresses: 0,
    };
    if let Some(rest) = line.strip_prefix('%') {
        range = ExRange {
            first: 1,
            last: exec.lines.count(),
            addresses: 2,
        };
        return Ok((range, rest));
    }
    if let Some(rest) = line.strip_prefix('*').filter(|rest| !rest.is_empty()) {
        let row = |name| Ok(marking::place(exec, name)?.row + 1);
        range = ExRange {
            first: row('<')?,
            last: row('>')?,
            addresses: 2,
        };
        return Ok((range, rest));
    }
    let start = exec.pos();
    let mut rest = line;
    let done = loop {
        let here = exec.pos().row + 1;
        let (address, behind) = address(exec, rest)?;
        let behind = behind.trim_start_matches([' ', '\t']);
        let separator = behind
            .chars()
            .next()
            .filter(|char| matches!(char, ',' | ';'));
        if address.is_some() || separator.is_some() || range.addresses > 0 {
            range.first = range.last;
            range.last = address.unwrap_or(here);
            if range.addresses == 0 {
                range.first = range.last;
            }
            range.addresses = (range.addresses + 1).min(2);
        }
        let Some(separator) = separator else {
            break behind;
        };
        if separator == ';' {
            let row = range.last.saturating_sub(1).min(exec.lines.last());
            exec.set_pos(Pos::new(row, 0));
        }
        rest = behind[1..].trim_start_matches([' ', '\t']);
    };
    if exec.pos() != start {
        exec.set_pos(start);
    }
    if range.first > range.last {
        std::mem::swap(&mut range.first, &mut range.last);
    }
    if range.last > exec.lines.count() {
        return Err(Error::InvalidRange);
    }
    Ok((range, done))
}

/// Reads one address with its offsets. `None` if there is none.
pub(super) fn address<'a>(exec: &mut Exec, text: &'a str) -> Done<(Option<u32>, &'a str)> {
    let (mut line, mut rest) = base(exec, text)?;
    loop {
        let trimmed = rest.trim_start_matches([' ', '\t']);
        let sign = match trimmed.chars().next() {
            Some('+') => 1,
            Some('-') => -1,
            Some('0'..='9') if line.is_some() => 1,
            _ => return Ok((line, rest)),
        };
        let digits = trimmed.trim_start_matches(['+', '-']);
        let digits = if trimmed.starts_with(['+', '-']) {
            &trimmed[1..]
        } else {
            digits
        };
        let end = digits
            .find(|char: char| !char.is_ascii_digit())
            .unwrap_or(digits.len());
        let count = if end == 0 {
            1
        } else {
            digits[..end].parse::<i64>().unwrap_or(i64::from(u32::MAX))
        };
        let from = line.unwrap_or(exec.pos().row + 1);
        let target = i64::from(from) + sign * count;
        if target < 0 {
            return Err(Error::InvalidRange);
        }
        line = Some(target.min(i64::from(u32::MAX)) as u32);
        rest = &digits[end..];
    }
}

/// Reads an address without offsets.
fn base<'a>(exec: &mut Exec, text: &'a str) -> Done<(Option<u32>, &'a str)> {
    let Some(char) = text.chars().next() else {
        return Ok((None, text));
    };
    let rest = &text[char.len_utf8()..];
    match char {
        '.' => Ok((Some(exec.pos().row + 1), rest)),
        '$' => Ok((Some(exec.lines.count()), rest)),
        '0'..='9' => {
            let end = text
                .find(|char: char| !char.is_ascii_digit())
                .unwrap_or(text.len());
            let line = text[..end].parse::<u32>().unwrap_or(u32::MAX);
            Ok((Some(line), &text[end..]))
        }
        '\'' | '`' => {
            let name = rest.chars().next().ok_or(Error::InvalidRange)?;
            let pos = marking::place(exec, name)?;
            Ok((Some(pos.row + 1), &rest[name.len_utf8()..]))
        }
        '/' | '?' => {
            let (pattern, behind) = split_pattern(rest, char);
            let line = search_row(exec, &pattern, char == '/')?;
            Ok((Some(line), behind.unwrap_or_default()))
        }
        '\\' => {
            let sign = rest.chars().next().ok_or(Error::InvalidRange)?;
            let source = match sign {
                '/' | '?' => exec.globals.search.pattern.clone(),
                '&' => exec.globals.substitute.pattern.clone(),
                _ => return Err(Error::InvalidRange),
            };
            let source = source.ok_or(Error::NoPreviousPattern)?;
            let line = search_row(exec, &source, sign != '?')?;
            Ok((Some(line), &rest[1..]))
        }
        _ => Ok((None, text)),
    }
}

/// The line of the next or previous match outside the caret's line.
fn search_row(exec: &mut Exec, pattern: &str, is_forward: bool) -> Done<u32> {
    let source = if pattern.is_empty() {
        exec.globals
            .search
            .pattern
            .clone()
            .ok_or(Error::NoPreviousPattern)?
    } else {
        exec.globals.search.pattern = Some(pattern.to_owned());
        exec.globals.search.uses_smart_case = true;
        pattern.to_owned()
    };
    let compiled = searching::compile(exec, &source, true)?;
    let row = exec.pos().row;
    let from = if is_forward {
        Pos::new(row, exec.lines.len(row))
    } else {
        Pos::new(row, 0)
    };
    let way = SearchWay {
        is_forward,
        wraps: exec.globals.options.wrap_scan,
        by_end: false,
        accepts_here: false,
    };
    let found = search::find(&exec.lines, &compiled, from, way, &source)?;
    Ok(exec.lines.pos(found.span.start).row + 1)
}
