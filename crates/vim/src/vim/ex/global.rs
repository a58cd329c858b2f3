//! `:g` and `:v`: lines are marked first, then the command runs on each that is still there.
//!
//! Start at `run`.

use std::collections::VecDeque;

use text::Change;

use super::ExCommand;
use crate::error::{Done, Error};
use crate::lines::{Lines, Pos};
use crate::search::split_pattern;
use crate::vim::exec::Exec;
use crate::vim::searching;

/// Lines that wait for the command of `:g`, moved along with edits.
///
/// Most commands edit at or before the first waiting line, so that all others move by the same number of
/// lines; that number is added when a line is taken.
#[derive(Clone, Debug, Default)]
pub(in crate::vim) struct GlobalRows {
    /// Rows near edits, as they are now.
    near: VecDeque<u32>,
    /// Rows without the shift, all behind those near.
    far: VecDeque<u32>,
    shift: i64,
}

impl GlobalRows {
    fn new(rows: Vec<u32>) -> Self {
        Self {
            near: VecDeque::new(),
            far: rows.into(),
            shift: 0,
        }
    }

    fn next(&mut self) -> Option<u32> {
        if let Some(row) = self.near.pop_front() {
            return Some(row);
        }
        let row = self.far.pop_front()?;
        Some((i64::from(row) + self.shift).max(0) as u32)
    }

    /// Moves the rows through a change. Rows whose whole line is gone are removed.
    pub(in crate::vim) fn follow(&mut self, before: &Lines, after: &Lines, change: &Change) {
        for splice in &change.splices {
            let row_of = |lines: &Lines, offset| lines.text().point_at(offset).row.0;
            let start = row_of(before, splice.old.start);
            let end = row_of(before, splice.old.end);
            let new_start = row_of(after, splice.new.start);
            let new_end = row_of(after, splice.new.end);
            let grown = i64::from(new_end - new_start) - i64::from(end - start);
            if grown == 0 && start == end {
                continue;
            }
            // Positions of earlier splices of this change are those of the text after it.
            let shift_before = i64::from(new_start) - i64::from(start);
            let (start, end) = (
                (i64::from(start) + shift_before) as u32,
                (i64::from(end) + shift_before) as u32,
            );
            let at_start =
                splice.old.start == before.text().row_start(row_at(before, splice.old.start));
            self.splice(start, end, at_start, grown);
        }
    }

    /// Applies a splice from one row to another. `at_start` says that the first row is replaced
    /// from its start.
    fn splice(&mut self, start: u32, end: u32, at_start: bool, grown: i64) {
        while let Some(row) = self.far.front().map(|row| i64::from(*row) + self.shift) {
            if row > i64::from(end) {
                break;
            }
            self.far.pop_front();
            self.near.push_back(row.max(0) as u32);
        }
        self.shift += grown;
        self.near.retain_mut(|row| {
            // A line that was joined to the one before is gone.
            if *row == end && end > start && grown < 0 && !at_start {
                return false;
            }
            let is_inside = (*row > start || *row == start && at_start) && *row < end;
            if is_inside && grown < 0 {
                return false;
            }
            let is_behind = *row > start || *row == start && at_start;
            if is_behind {
                *row = (i64::from(*row) + grown).max(0) as u32;
            }
            true
        });
    }
}

fn row_at(lines: &Lines, offset: base::ByteOffset) -> base::Row {
    lines.text().point_at(offset).row
}

/// Runs a command on each line that matches, or with `is_inverse` on each other line.
pub(super) fn run(exec: &mut Exec, command: &ExCommand, is_inverse: bool) -> Done {
    if exec.is_global {
        return Err(Error::Unsupported(
            "E147: cannot run :global in :global".to_owned(),
        ));
    }
    let delimiter = command
        .arguments
        .chars()
        .next()
        .ok_or(Error::ArgumentRequired)?;
    if delimiter.is_alphanumeric() {
        return Err(Error::InvalidArgument(command.arguments.to_owned()));
    }
    let (pattern, line) = split_pattern(&command.arguments[delimiter.len_utf8()..], delimiter);
    let source = if pattern.is_empty() {
        exec.globals
            .search
            .pattern
            .clone()
            .ok_or(Error::NoPreviousPattern)?
    } else {
        pattern
    };
    exec.globals.search.pattern = Some(source.clone());
    exec.globals.search.uses_smart_case = true;
    exec.globals.substitute.pattern = Some(source.clone());
    let rows = matching_rows(exec, command, &source, is_inverse)?;
    if rows.is_empty() {
        return Err(Error::PatternNotFound(source));
    }
    let line = line.filter(|line| !line.is_empty()).unwrap_or("print");
    run_on(exec, rows, line)
}

/// The rows of the range that match, or that do not.
fn matching_rows(
    exec: &mut Exec,
    command: &ExCommand,
    source: &str,
    is_inverse: bool,
) -> Done<Vec<u32>> {
    let compiled = searching::compile(exec, source, true)?;
    let (first, last) = command.range.or_all(exec).rows(exec);
    let text = exec.lines.text();
    let mut matching = Vec::new();
    if compiled.is_multi_line() {
        let mut row = first;
        while let Some(found) = compiled.first_from(text, text.row_start(base::Row(row))) {
            let begins = text.point_at(found.full.start).row.0;
            if begins > last {
                break;
            }
            if found.span.start <= text.row_end(base::Row(begins)) {
                matching.push(begins);
            }
            row = begins + 1;
            if row > last {
                break;
            }
        }
    } else {
        let start = text.row_start(base::Row(first));
        let end = text.row_end(base::Row(last));
        for found in compiled.matches(text, base::Span::new(start, end)) {
            let row = text.point_at(found.span.start).row.0;
            if matching.last() != Some(&row) {
                matching.push(row);
            }
        }
    }
    if !is_inverse {
        return Ok(matching);
    }
    let mut rows = (first..=last).collect::<Vec<u32>>();
    let mut matching = matching.into_iter().peekable();
    rows.retain(|row| matching.next_if_eq(row).is_none());
    Ok(rows)
}

/// Runs a command line on rows, in one undo step.
fn run_on(exec: &mut Exec, rows: Vec<u32>, line: &str) -> Done {
    exec.vim.drop_other_carets();
    exec.note_jump();
    exec.open_step_for_all();
    exec.global_rows = Some(GlobalRows::new(rows));
    exec.is_global = true;
    let mut failure = None;
    while let Some(row) = exec.global_rows.as_mut().and_then(GlobalRows::next) {
        exec.set_pos(Pos::new(row.min(exec.lines.last()), 0));
        match super::run_line(exec, line) {
            Ok(()) => {}
            Err(error @ Error::TooManyKeys(_)) => {
                failure = Some(error);
                break;
            }
            Err(Error::Beep) => {}
            Err(error) => failure = Some(error),
        }
    }
    exec.is_global = false;
    exec.global_rows = None;
    exec.holds_step = false;
    let at = exec.lines.clamp(exec.pos(), false);
    exec.set_pos(at);
    match failure {
        Some(error) => Err(error),
        None => Ok(()),
    }
}
