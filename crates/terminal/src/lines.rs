//! Numbers of lines that stay the same while lines scroll and old ones are trimmed.
//!
//! The core counts lines from the top of the screen and does not tell how many it drops from its scrollback. It therefore
//! gets room for more lines than the scrollback has, and the tracker trims them itself before that room is used up.

use alacritty_terminal::Term;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::Line;
use alacritty_terminal::term::TermMode;

use crate::position::LineNumber;

/// Number of lines that the core keeps beyond the scrollback. It reuses the memory of up to 1,000 dropped lines.
const SLACK: usize = 1_000;

/// Height of a screen in rows, at most; one operation scrolls by at most as many lines.
pub(crate) const MAX_ROWS: u16 = 1_000;

/// Numbers the lines of a terminal.
#[derive(Debug)]
pub(crate) struct LineTracker {
    /// Lines of the scrollback.
    scrollback: usize,
    /// Lines dropped so far: the number of the oldest line.
    trimmed: u64,
    /// The scrollback of the primary screen while the alternate screen is shown.
    parked_history: usize,
    /// Lines that may be scrolled before the next trim.
    budget: usize,
}

/// Returns whether the alternate screen is shown.
pub(crate) fn is_alternate<T>(term: &Term<T>) -> bool {
    term.mode().contains(TermMode::ALT_SCREEN)
}

impl LineTracker {
    pub(crate) fn new(scrollback: usize) -> Self {
        Self {
            scrollback,
            trimmed: 0,
            parked_history: 0,
            budget: 0,
        }
    }

    /// Returns the number of lines of scrollback that the core is created with.
    pub(crate) fn core_history(&self) -> usize {
        self.scrollback + SLACK
    }

    /// Returns the number of lines of scrollback of the primary screen.
    pub(crate) fn history<T>(&self, term: &Term<T>) -> usize {
        if is_alternate(term) {
            self.parked_history
        } else {
            term.history_size()
        }
    }

    /// Returns the oldest line.
    pub(crate) fn oldest(&self) -> LineNumber {
        LineNumber(self.trimmed)
    }

    /// Returns the first line that the next trim keeps.
    pub(crate) fn oldest_kept<T>(&self, term: &Term<T>) -> LineNumber {
        self.screen_top(term).above(self.scrollback as u64)
    }

    /// Returns the number of the first line of the screen.
    pub(crate) fn screen_top<T>(&self, term: &Term<T>) -> LineNumber {
        LineNumber(self.trimmed + self.history(term) as u64)
    }

    /// Returns the number of a line of the core.
    pub(crate) fn number<T>(&self, term: &Term<T>, line: Line) -> LineNumber {
        let top = self.screen_top(term).0;
        LineNumber(top.saturating_add_signed(line.0.into()))
    }

    /// Returns the line of the core with this number; `None` if it was trimmed or does not exist yet.
    pub(crate) fn line<T>(&self, term: &Term<T>, number: LineNumber) -> Option<Line> {
        let offset = number.0.checked_signed_diff(self.screen_top(term).0)?;
        let line = Line(i32::try_from(offset).ok()?);
        (term.topmost_line() <= line && line <= term.bottommost_line()).then_some(line)
    }

    /// Prepares for an operation that scrolls by at most `lines`.
    #[inline]
    pub(crate) fn spend<T>(&mut self, term: &mut Term<T>, lines: usize) {
        if self.budget < lines {
            self.trim(term);
        }
        self.budget = self.budget.saturating_sub(lines);
    }

    /// Drops lines beyond the scrollback.
    #[cold]
    pub(crate) fn trim<T>(&mut self, term: &mut Term<T>) {
        self.budget = SLACK;
        if is_alternate(term) {
            return;
        }
        let surplus = term.history_size().saturating_sub(self.scrollback);
        if surplus > 0 {
            let history = self.core_history();
            term.grid_mut().update_history(self.scrollback);
            term.grid_mut().update_history(history);
            self.trimmed += surplus as u64;
        }
    }

    /// Changes the number of lines of the scrollback. The primary screen is shown.
    pub(crate) fn set_scrollback<T>(&mut self, term: &mut Term<T>, lines: usize) {
        self.scrollback = lines;
        self.trim(term);
        let history = self.core_history();
        term.grid_mut().update_history(history);
    }

    /// Notes that the scrollback was cleared, which had `before` lines.
    pub(crate) fn history_cleared(&mut self, before: usize) {
        self.trimmed += before as u64;
        self.parked_history = 0;
    }

    /// Notes the scrollback of the primary screen, before the alternate screen is shown.
    pub(crate) fn park<T>(&mut self, term: &mut Term<T>) {
        self.trim(term);
        self.parked_history = term.history_size();
    }

    /// Notes the scrollback of the primary screen after a resize behind the alternate screen.
    pub(crate) fn set_parked_history(&mut self, history: usize) {
        self.parked_history = history;
    }
}
