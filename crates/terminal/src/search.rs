//! Search for a pattern in logical lines, with a bounded amount of work for each call.

use std::fmt;

use alacritty_terminal::Term;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Direction, Line, Point};
use alacritty_terminal::term::search::{Match, RegexIter, RegexSearch};

use crate::grid_text::{first_row, last_row};
use crate::lines::LineTracker;
use crate::position::{CellPosition, CellSpan, LineNumber};

/// Rows that one step searches.
const STEP: usize = 2_000;
/// Rows of a logical line that are joined.
const MAX_JOINED_ROWS: usize = 500;
/// Matches that are shown in a view.
const MAX_SHOWN: usize = 2_000;

/// A compiled pattern.
pub struct TerminalSearch {
    /// `None` for an empty pattern, which has no matches.
    regex: Option<RegexSearch>,
    progress: Option<SearchProgress>,
}

impl fmt::Debug for TerminalSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TerminalSearch")
            .field("progress", &self.progress)
            .finish_non_exhaustive()
    }
}

/// The state of a search that is not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SearchProgress {
    from: CellPosition,
    direction: TerminalDirection,
    /// The next line to search, in the direction of the search.
    next: LineNumber,
    /// Whether the search wrapped around.
    has_wrapped: bool,
}

/// The interpretation of a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchOptions {
    /// Whether the pattern is a regular expression.
    pub is_regex: bool,
    /// Whether the case of letters matters.
    pub is_case_sensitive: bool,
    /// Whether matches begin and end at words.
    pub is_whole_word: bool,
}

/// A pattern that cannot be searched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pattern is not valid: {reason}")]
pub struct PatternError {
    /// The reason, in the words of the regular expression parser.
    pub reason: String,
}

/// The direction of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalDirection {
    /// Towards older lines.
    Up,
    /// Towards newer lines.
    Down,
}

/// The result of one bounded step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchStep {
    /// A match.
    Match(CellSpan),
    /// No match so far: the next call with the same arguments goes on.
    Unfinished,
    /// No match in the whole terminal.
    NoMatch,
}

impl TerminalSearch {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// The pattern is not a regular expression, or too large.
    pub fn new(pattern: &str, options: SearchOptions) -> Result<Self, PatternError> {
        let source = if options.is_regex {
            pattern.to_owned()
        } else {
            regex::escape(pattern)
        };
        let source = if options.is_whole_word {
            format!(r"(?-u:\b)(?:{source})(?-u:\b)")
        } else {
            source
        };
        let case = if options.is_case_sensitive {
            "(?-i)"
        } else {
            "(?i)"
        };
        let regex = if pattern.is_empty() {
            None
        } else {
            Some(compile(&format!("{case}(?:{source})"))?)
        };
        Ok(Self {
            regex,
            progress: None,
        })
    }
}

fn compile(source: &str) -> Result<RegexSearch, PatternError> {
    RegexSearch::new(source).map_err(|error| {
        let mut reason = error.to_string();
        let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(&*error);
        while let Some(inner) = cause {
            reason = inner.to_string();
            cause = inner.source();
        }
        PatternError { reason }
    })
}

/// Searches the next rows for a match that starts after `from` (down) or before it (up).
pub(crate) fn step<T>(
    term: &Term<T>,
    lines: &LineTracker,
    search: &mut TerminalSearch,
    from: CellPosition,
    direction: TerminalDirection,
) -> SearchStep {
    let Some(regex) = &mut search.regex else {
        return SearchStep::NoMatch;
    };
    let started = search.progress.take();
    let started =
        started.filter(|progress| (progress.from, progress.direction) == (from, direction));
    let mut progress = started.unwrap_or(SearchProgress {
        from,
        direction,
        next: from.line,
        has_wrapped: false,
    });
    let oldest = lines.number(term, term.topmost_line());
    let newest = lines.number(term, term.bottommost_line());
    let next = progress.next.clamp(oldest, newest);
    let Some(line) = lines.line(term, next) else {
        return SearchStep::NoMatch;
    };
    let (first, last) = chunk(term, line, direction);
    let is_wanted = |span: &CellSpan| match direction {
        TerminalDirection::Down => progress.has_wrapped || span.start > from,
        TerminalDirection::Up => progress.has_wrapped || span.start < from,
    };
    let mut matches = matches(term, lines, regex, first, last).filter(is_wanted);
    let found = match direction {
        TerminalDirection::Down => matches.next(),
        TerminalDirection::Up => matches.last(),
    };
    if let Some(span) = found {
        return SearchStep::Match(span);
    }
    let (first, last) = (lines.number(term, first), lines.number(term, last));
    let (edge, is_at_end, opposite, following) = match direction {
        TerminalDirection::Down => (last, last >= newest, oldest, last.below(1)),
        TerminalDirection::Up => (first, first <= oldest, newest, first.above(1)),
    };
    let has_passed_start = match direction {
        TerminalDirection::Down => edge >= from.line,
        TerminalDirection::Up => edge <= from.line,
    };
    if progress.has_wrapped && (has_passed_start || is_at_end) {
        return SearchStep::NoMatch;
    }
    progress.has_wrapped |= is_at_end;
    progress.next = if is_at_end { opposite } else { following };
    search.progress = Some(progress);
    SearchStep::Unfinished
}

/// Returns the matches in the rows in view.
pub(crate) fn shown_matches<T>(
    term: &Term<T>,
    lines: &LineTracker,
    search: &mut TerminalSearch,
) -> Vec<CellSpan> {
    let Some(regex) = &mut search.regex else {
        return Vec::new();
    };
    let top = Line(-(term.grid().display_offset() as i32));
    let first = first_row(term, top, MAX_JOINED_ROWS);
    let bottom = top + (term.screen_lines() - 1);
    let last = last_row(term, bottom, MAX_JOINED_ROWS);
    let top = lines.number(term, top);
    let bottom = lines.number(term, bottom);
    let is_shown = |span: &CellSpan| span.last.line >= top && span.start.line <= bottom;
    let matches = matches(term, lines, regex, first, last);
    matches.filter(is_shown).take(MAX_SHOWN).collect()
}

/// Returns the first and last row of a step that begins at `line`: whole logical lines, unless they are very long.
fn chunk<T>(term: &Term<T>, line: Line, direction: TerminalDirection) -> (Line, Line) {
    let (first, last) = match direction {
        TerminalDirection::Down => (line, line + STEP),
        TerminalDirection::Up => (line - STEP, line),
    };
    let first = first.max(term.topmost_line());
    let last = last.min(term.bottommost_line());
    (
        first_row(term, first, MAX_JOINED_ROWS),
        last_row(term, last, MAX_JOINED_ROWS),
    )
}

/// Returns the matches in some rows, from top to bottom.
fn matches<'a, T>(
    term: &'a Term<T>,
    lines: &'a LineTracker,
    regex: &'a mut RegexSearch,
    first: Line,
    last: Line,
) -> impl Iterator<Item = CellSpan> + 'a {
    let start = Point::new(first, Column(0));
    let end = Point::new(last, term.last_column());
    let position =
        |point: Point| CellPosition::new(lines.number(term, point.line), point.column.0 as u16);
    RegexIter::new(start, end, Direction::Right, term, regex).map(move |found: Match| CellSpan {
        start: position(*found.start()),
        last: position(*found.end()),
    })
}
