//! `:sort`.

use std::cmp::Ordering;

use text::Edit;

use super::ExCommand;
use crate::error::{Done, Error};
use crate::pattern::Pattern;
use crate::search::split_pattern;
use crate::vim::exec::Exec;
use crate::vim::region::Region;
use crate::vim::searching;

/// The order of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SortKind {
    #[default]
    Text,
    Decimal,
    Float,
    Hex,
    Octal,
    Binary,
}

#[derive(Default)]
struct SortOptions {
    kind: SortKind,
    ignores_case: bool,
    is_unique: bool,
    /// Whether the match of the pattern is compared instead of the text behind it.
    uses_match: bool,
    pattern: Option<Pattern>,
}

/// The part of a line that is compared.
#[derive(Clone, Debug, PartialEq)]
enum SortKey {
    Text(String),
    /// `None` for a line without a number, which comes first.
    Number(Option<i128>),
    Float(f64),
}

impl SortKey {
    fn compare(&self, other: &SortKey) -> Ordering {
        match (self, other) {
            (SortKey::Text(a), SortKey::Text(b)) => a.cmp(b),
            (SortKey::Number(a), SortKey::Number(b)) => a.cmp(b),
            (SortKey::Float(a), SortKey::Float(b)) => a.total_cmp(b),
            _ => Ordering::Equal,
        }
    }
}

/// Sorts the lines of a range.
pub(super) fn run(exec: &mut Exec, command: &ExCommand) -> Done {
    let options = parse(exec, command.arguments)?;
    let (first, last) = command.range.or_all(exec).rows(exec);
    if first == last {
        return Ok(());
    }
    let mut lines = Vec::new();
    for row in first..=last {
        let line = exec.lines.line(row).into_owned();
        lines.push((key(&options, &line), line));
    }
    lines.sort_by(|(a, _), (b, _)| a.compare(b));
    if command.has_bang {
        // Equal lines keep their order.
        lines.reverse();
        let mut start = 0;
        for ix in 1..=lines.len() {
            if ix == lines.len() || lines[ix].0.compare(&lines[start].0) != Ordering::Equal {
                lines[start..ix].reverse();
                start = ix;
            }
        }
    }
    if options.is_unique {
        lines.dedup_by(|(a, _), (b, _)| a.compare(b) == Ordering::Equal);
    }
    let sorted: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    let span = Region::lines(first, last).span(&exec.lines);
    let new = sorted.join("\n");
    let old = exec.lines.text().text(span).replace("\r\n", "\n");
    if new != old {
        exec.edit(vec![Edit::new(span, new)])?;
    }
    exec.set_row(first);
    Ok(())
}

fn parse(exec: &mut Exec, arguments: &str) -> Done<SortOptions> {
    let mut options = SortOptions::default();
    let mut rest = arguments.trim();
    while let Some(char) = rest.chars().next() {
        rest = &rest[char.len_utf8()..];
        match char {
            'i' => options.ignores_case = true,
            'u' => options.is_unique = true,
            'r' => options.uses_match = true,
            'n' => options.kind = SortKind::Decimal,
            'f' => options.kind = SortKind::Float,
            'x' => options.kind = SortKind::Hex,
            'o' => options.kind = SortKind::Octal,
            'b' => options.kind = SortKind::Binary,
            'l' | ' ' => {}
            _ if !char.is_alphanumeric() && options.pattern.is_none() => {
                let (pattern, behind) = split_pattern(rest, char);
                let source = if pattern.is_empty() {
                    exec.globals
                        .search
                        .pattern
                        .clone()
                        .ok_or(Error::NoPreviousPattern)?
                } else {
                    pattern
                };
                options.pattern = Some(searching::compile(exec, &source, true)?);
                rest = behind.unwrap_or_default();
            }
            _ => return Err(Error::InvalidArgument(arguments.to_owned())),
        }
    }
    Ok(options)
}

/// The part of a line that is compared.
fn key(options: &SortOptions, line: &str) -> SortKey {
    let mut part = line;
    let mut has_match = true;
    if let Some(pattern) = &options.pattern {
        let text = text::Snapshot::new(line);
        let found = pattern.first_from(&text, base::ByteOffset(0));
        match found {
            Some(found) if options.uses_match => part = &line[found.span.range()],
            Some(found) => part = &line[found.span.end.0..],
            None => has_match = !options.uses_match,
        }
    }
    if !has_match {
        part = "";
    }
    match options.kind {
        SortKind::Text if options.ignores_case => SortKey::Text(part.to_lowercase()),
        SortKind::Text => SortKey::Text(part.to_owned()),
        SortKind::Decimal => SortKey::Number(number(part, 10)),
        SortKind::Hex => SortKey::Number(number(part, 16)),
        SortKind::Octal => SortKey::Number(number(part, 8)),
        SortKind::Binary => SortKey::Number(number(part, 2)),
        SortKind::Float => SortKey::Float(float(part)),
    }
}

/// The first number of a text; a minus sign before it counts for decimal and hexadecimal ones.
fn number(text: &str, radix: u32) -> Option<i128> {
    let start = text.find(|char: char| char.is_digit(radix))?;
    let is_negative = text[..start].ends_with('-') && matches!(radix, 10 | 16);
    let mut digits = &text[start..];
    if radix == 16 {
        let lower = digits.get(..2).map(str::to_lowercase);
        if lower.as_deref() == Some("0x") {
            digits = &digits[2..];
        }
    }
    let mut value: i128 = 0;
    for digit in digits.chars().map_while(|char| char.to_digit(radix)) {
        value = value
            .saturating_mul(i128::from(radix))
            .saturating_add(i128::from(digit));
    }
    Some(if is_negative { -value } else { value })
}

/// The first number of a text with a fraction and an exponent; the lowest without one.
fn float(text: &str) -> f64 {
    let Some(start) = text.find(|char: char| char.is_ascii_digit()) else {
        return f64::MIN;
    };
    let start = if text[..start].ends_with(['-', '+']) {
        start - 1
    } else {
        start
    };
    let rest = &text[start..];
    let longest = rest
        .char_indices()
        .map(|(ix, char)| ix + char.len_utf8())
        .take_while(|end| {
            rest[..*end]
                .chars()
                .all(|char| char.is_ascii_digit() || "+-.eE".contains(char))
        })
        .filter_map(|end| rest[..end].parse::<f64>().ok())
        .last();
    longest.unwrap_or(f64::MIN)
}
