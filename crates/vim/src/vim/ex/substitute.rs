//! `:s`, `:&` and `:~`.
//!
//! Start at `run`.

use base::Span;
use text::Edit;

use super::{ExCommand, ExName};
use crate::error::{Done, Error};
use crate::lines::Pos;
use crate::pattern::{Pattern, PatternMatch, Replacement, resolve_tilde};
use crate::search::split_pattern;
use crate::vim::exec::Exec;
use crate::vim::searching;

/// Substitutions that are reported, as Vim's option `report` has it.
const REPORTED: usize = 3;

/// The flags of a substitution.
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    is_global: bool,
    ignores_errors: bool,
    only_counts: bool,
    ignore_case: Option<bool>,
    uses_search: bool,
}

/// A substitution with everything it needs.
struct Substitution {
    pattern: Pattern,
    source: String,
    replacement: Replacement,
    flags: Flags,
}

/// Runs a substitution; `None` for another command. Returns the rest of the line behind `|`.
#[expect(
    clippy::option_option,
    reason = "another command, no further command, or one"
)]
pub(super) fn run<'a>(exec: &mut Exec, command: &ExCommand<'a>) -> Done<Option<Option<&'a str>>> {
    let arguments = command.arguments;
    let delimiter = arguments
        .chars()
        .next()
        .filter(|char| !char.is_alphanumeric() && !char.is_whitespace() && !"|\"&".contains(*char));
    let (source, replacement, rest) = match (command.name, delimiter) {
        (ExName::Substitute, Some(delimiter)) => {
            let (source, replacement, rest) = split(exec, arguments, delimiter);
            (
                source.ok_or(Error::NoPreviousPattern)?,
                Some(replacement),
                rest,
            )
        }
        (ExName::Substitute | ExName::SubstituteAgain, _) => {
            let source = exec.globals.substitute.pattern.clone();
            (source.ok_or(Error::NoPreviousSubstitute)?, None, arguments)
        }
        (ExName::SubstituteSearched, _) => {
            let source = exec.globals.search.pattern.clone();
            (source.ok_or(Error::NoPreviousPattern)?, None, arguments)
        }
        _ => return Ok(None),
    };
    let replacement = match replacement {
        Some(replacement) => {
            let last = exec
                .globals
                .substitute
                .replacement
                .clone()
                .unwrap_or_default();
            resolve_tilde(&replacement, &last)
        }
        None => {
            let last = exec.globals.substitute.replacement.clone();
            last.ok_or(Error::NoPreviousSubstitute)?
        }
    };
    let (flags, rest) = read_flags(exec, rest);
    let (count, rest) = read_count(rest);
    let next = match rest.chars().next() {
        None | Some('"') => None,
        Some('|') => Some(&rest[1..]),
        Some(_) => return Err(Error::Trailing(rest.to_owned())),
    };
    let source = match exec.globals.search.pattern.clone() {
        Some(searched) if flags.uses_search => searched,
        _ => source,
    };
    let substitution = Substitution {
        pattern: compile(exec, &source, flags)?,
        replacement: Replacement::parse(&replacement)?,
        source,
        flags,
    };
    remember(exec, &substitution, replacement);
    let range = command.range.counted(count, exec);
    let (first, last) = range.rows(exec);
    substitute(exec, &substitution, first, last)?;
    Ok(Some(next))
}

fn compile(exec: &Exec, source: &str, flags: Flags) -> Done<Pattern> {
    match flags.ignore_case {
        None => searching::compile(exec, source, true),
        Some(true) => searching::compile(exec, &format!("\\c{source}"), true),
        Some(false) => searching::compile(exec, &format!("\\C{source}"), true),
    }
}

fn remember(exec: &mut Exec, substitution: &Substitution, replacement: String) {
    exec.globals.substitute.pattern = Some(substitution.source.clone());
    exec.globals.substitute.replacement = Some(replacement);
    exec.globals.search.pattern = Some(substitution.source.clone());
    exec.globals.search.uses_smart_case = true;
}

/// Splits pattern and replacement off. An empty pattern means the last one.
fn split<'a>(
    exec: &Exec,
    arguments: &'a str,
    delimiter: char,
) -> (Option<String>, String, &'a str) {
    let body = &arguments[delimiter.len_utf8()..];
    let (pattern, rest) = split_pattern(body, delimiter);
    let source = if pattern.is_empty() {
        exec.globals.search.pattern.clone()
    } else {
        Some(pattern)
    };
    let (replacement, rest) = split_replacement(rest.unwrap_or_default(), delimiter);
    (source, replacement, rest)
}

/// Splits a replacement off at a delimiter that is not escaped.
fn split_replacement(text: &str, delimiter: char) -> (String, &str) {
    let mut replacement = String::new();
    let mut chars = text.char_indices();
    while let Some((ix, char)) = chars.next() {
        if char == delimiter {
            return (replacement, &text[ix + char.len_utf8()..]);
        }
        if char == '\\' {
            match chars.next() {
                Some((_, next)) if next == delimiter => replacement.push(next),
                Some((_, next)) => replacement.extend(['\\', next]),
                None => replacement.push('\\'),
            }
            continue;
        }
        replacement.push(char);
    }
    (replacement, "")
}

/// Reads the flags. `&` first keeps those of the last substitution.
fn read_flags<'a>(exec: &mut Exec, text: &'a str) -> (Flags, &'a str) {
    let mut rest = text;
    let mut letters = String::new();
    if let Some(behind) = rest.strip_prefix('&') {
        letters.clone_from(&exec.globals.substitute.flags);
        rest = behind;
    }
    let end = rest
        .find(|char| !"cegiInp#lr".contains(char))
        .unwrap_or(rest.len());
    letters.push_str(&rest[..end]);
    let mut flags = Flags {
        is_global: exec.globals.options.global_default,
        ..Flags::default()
    };
    for letter in letters.chars() {
        match letter {
            'g' => flags.is_global = !flags.is_global,
            'e' => flags.ignores_errors = true,
            'n' => flags.only_counts = true,
            'i' => flags.ignore_case = Some(true),
            'I' => flags.ignore_case = Some(false),
            'r' => flags.uses_search = true,
            _ => {}
        }
    }
    exec.globals.substitute.flags = letters;
    (flags, rest[end..].trim_start())
}

fn read_count(text: &str) -> (Option<u32>, &str) {
    let end = text
        .find(|char: char| !char.is_ascii_digit())
        .unwrap_or(text.len());
    (text[..end].parse().ok(), text[end..].trim_start())
}

/// The edits of a substitution.
#[derive(Default)]
struct Outcome {
    edits: Vec<Edit>,
    count: usize,
    lines: usize,
    /// The row of the last replaced line, in the text before.
    last_row: u32,
    /// Lines that the replacements before that row and in it add.
    grown: i64,
}

fn substitute(exec: &mut Exec, substitution: &Substitution, first: u32, last: u32) -> Done {
    let outcome = if substitution.pattern.is_multi_line() {
        over_lines(exec, substitution, first, last)
    } else {
        within_lines(exec, substitution, first, last)
    };
    if outcome.count == 0 {
        if substitution.flags.ignores_errors || exec.is_global {
            return Ok(());
        }
        return Err(Error::PatternNotFound(substitution.source.clone()));
    }
    let (count, lines) = (outcome.count, outcome.lines);
    if substitution.flags.only_counts {
        exec.message(format!("{count} matches on {lines} lines"));
        exec.set_row(exec.pos().row);
        return Ok(());
    }
    if !exec.is_global {
        exec.note_jump();
    }
    exec.edit(outcome.edits)?;
    let row = (i64::from(outcome.last_row) + outcome.grown).max(0) as u32;
    exec.set_row(row);
    exec.set_change_marks(Pos::new(first, 0), Pos::new(row.min(exec.lines.last()), 0));
    if count >= REPORTED && !exec.is_global {
        exec.message(format!("{count} substitutions on {lines} lines"));
    }
    Ok(())
}

/// Replaces matches that do not pass the ends of lines. Each line has one edit.
fn within_lines(exec: &Exec, substitution: &Substitution, first: u32, last: u32) -> Outcome {
    let text = exec.lines.text();
    let mut outcome = Outcome::default();
    let start = text.row_start(base::Row(first));
    let end = text.row_end(base::Row(last));
    let mut last_row = None;
    let mut previous: Option<Span> = None;
    for found in substitution.pattern.matches(text, Span::new(start, end)) {
        let row = text.point_at(found.span.start).row.0;
        if row > last {
            break;
        }
        let is_further = last_row == Some(row);
        if is_further && !substitution.flags.is_global {
            continue;
        }
        let is_at_end = found.span.is_empty() && found.span.start == text.row_end(base::Row(row));
        if is_further && is_at_end && previous.is_some_and(|last| reaches_end(text, last)) {
            continue;
        }
        previous = Some(found.span);
        let new = expanded(exec, substitution, &found);
        outcome.grown += new.matches('\n').count() as i64;
        outcome.count += 1;
        outcome.last_row = row;
        match outcome.edits.last_mut().filter(|_| is_further) {
            Some(edit) => {
                edit.text
                    .push_str(&text.text(Span::new(edit.span.end, found.span.start)));
                edit.text.push_str(&new);
                edit.span.end = found.span.end;
            }
            None => {
                outcome.edits.push(Edit::new(found.span, new));
                outcome.lines += 1;
            }
        }
        last_row = Some(row);
    }
    outcome
}

/// Whether the search behind a match would begin at the end of its line, where nothing is matched
/// any more.
fn reaches_end(text: &text::Snapshot, found: Span) -> bool {
    let row = text.point_at(found.end).row;
    let next = if found.is_empty() {
        text.next_grapheme(found.end)
    } else {
        found.end
    };
    next >= text.row_end(row)
}

fn expanded(exec: &Exec, substitution: &Substitution, found: &PatternMatch) -> String {
    let groups = substitution.pattern.group_texts(exec.lines.text(), found);
    substitution.replacement.expand(&groups)
}

/// Replaces matches that may pass the ends of lines.
fn over_lines(exec: &Exec, substitution: &Substitution, first: u32, last: u32) -> Outcome {
    let text = exec.lines.text();
    let mut outcome = Outcome::default();
    let mut at = text.row_start(base::Row(first));
    let limit = text.row_end(base::Row(last));
    let mut previous: Option<Span> = None;
    while at <= limit {
        let Some(found) = substitution.pattern.first_from(text, at) else {
            break;
        };
        if found.span.start > limit {
            break;
        }
        if previous.is_some_and(|previous| found.span.is_empty() && previous.end == found.span.end)
        {
            let Some(char) = text.chars_at(at).next() else {
                break;
            };
            at += char.len_utf8();
            continue;
        }
        // The final line ending ends no line that could be joined.
        let end = found.span.end.min(
            exec.lines
                .offset(Pos::new(exec.lines.last(), usize::MAX >> 1)),
        );
        let span = Span::new(found.span.start.min(end), end);
        let new = expanded(exec, substitution, &found);
        let rows = |offset| text.point_at(offset).row.0;
        let removed = i64::from(rows(span.end) - rows(span.start));
        outcome.last_row = rows(span.end);
        outcome.grown += new.matches('\n').count() as i64 - removed;
        outcome.count += 1;
        outcome.lines += 1;
        outcome.edits.push(Edit::new(span, new));
        previous = Some(span);
        // A line that was joined is searched again behind the match.
        let crosses = rows(found.span.end) > rows(found.span.start);
        at = if substitution.flags.is_global || crosses {
            found.full.end
        } else {
            text.row_start(base::Row(rows(span.end) + 1))
        };
        if at == text.len() {
            break;
        }
    }
    outcome
}
