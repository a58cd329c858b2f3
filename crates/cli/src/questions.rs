//! Questions at a terminal, one at a time; each must be shown in full before a yes counts.
//!
//! Invariant: all foreign text in a question is printable, and each of its lines follows a bar, so
//! that it cannot imitate a question of ours.
//! Invariant: a question appears only after all earlier ones are answered, so a line always answers
//! the question above it.
//! Start at `Questions::ask`.

use std::collections::VecDeque;
use std::io::Write;

use base::{LineFeeds, printable};

/// Columns that a row is counted with where a terminal wraps.
const COLUMNS: usize = 76;
/// Rows that are shown at once.
const ROWS: usize = 20;

/// A question at the terminal, with the foreign text that the user decides on.
pub(crate) struct TerminalQuestion {
    /// The foreign text that is decided on, a page at a time.
    pages: VecDeque<String>,
    /// The number of lines on the remaining pages.
    rest: usize,
    /// The question itself, which follows the last page.
    prompt: String,
    /// Whether only a refusal counts before all pages were shown.
    is_approval: bool,
}

impl TerminalQuestion {
    /// Creates a question whether to approve `details`. The pages of `details` are shown one at a
    /// time, before `prompt`. Before the last page, only a refusal counts as an answer.
    pub(crate) fn approval(details: &str, prompt: String) -> Self {
        let details = printable(details, LineFeeds::Keep);
        let pages = pages(&details);
        Self {
            rest: line_count(&pages),
            pages,
            prompt,
            is_approval: true,
        }
    }

    /// Creates a question with `text` that takes any line as its answer. If `text` is longer than a
    /// page, only a refusal counts as an answer before the last page.
    pub(crate) fn free_text(text: &str) -> Self {
        if pages(&printable(text, LineFeeds::Keep)).len() > 1 {
            return Self::approval(text, "  Your answer: ".to_owned());
        }
        Self {
            pages: VecDeque::new(),
            rest: 0,
            prompt: printable(text, LineFeeds::Keep).into_owned(),
            is_approval: false,
        }
    }

    /// Shows the next page, and the question after the last one.
    fn show(&mut self, out: &mut dyn Write) {
        let page = self.pages.pop_front().unwrap_or_default();
        self.rest = line_count(&self.pages);
        let prompt = match self.rest {
            0 => self.prompt.clone(),
            1 => "  1 more line: press Enter to read it, or [n]o: ".to_owned(),
            rest => format!("  {rest} more lines: press Enter to read on, or [n]o: "),
        };
        // If standard error is closed, the question cannot be asked.
        write!(out, "\n{page}{prompt}").ok();
        out.flush().ok();
    }
}

/// The open questions, each with the value that it is about.
pub(crate) struct Questions<T> {
    /// The oldest first; that one is shown.
    open: VecDeque<(T, TerminalQuestion)>,
}

impl<T> Questions<T> {
    /// Creates an empty queue of questions.
    pub(crate) fn new() -> Self {
        Self {
            open: VecDeque::new(),
        }
    }

    /// Adds a question about `about`. Shows the question at once if no earlier question is open.
    pub(crate) fn ask(&mut self, about: T, question: TerminalQuestion, out: &mut dyn Write) {
        self.open.push_back((about, question));
        if self.open.len() == 1 {
            self.show(out);
        }
    }

    /// Returns whether a question about an equal value is already open.
    pub(crate) fn has(&self, about: &T) -> bool
    where
        T: PartialEq,
    {
        self.open.iter().any(|(it, _)| it == about)
    }

    /// Drops the questions whose values `keep` rejects, because those questions need no answer. If
    /// the shown question is dropped, shows the next question.
    pub(crate) fn retain(&mut self, keep: impl Fn(&T) -> bool, out: &mut dyn Write) {
        let was_shown = self.open.front().is_some_and(|(about, _)| !keep(about));
        self.open.retain(|(about, _)| keep(about));
        if was_shown {
            self.show(out);
        }
    }

    /// Removes the oldest question, unanswered, and returns its value. Returns `None` if no
    /// question is open.
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.open.pop_front().map(|(about, _)| about)
    }

    /// Drops all questions. Returns whether any question was open.
    pub(crate) fn clear(&mut self) -> bool {
        let had_some = !self.open.is_empty();
        self.open.clear();
        had_some
    }

    /// Handles a line of the terminal. If the line answers the shown question, returns the
    /// question's value. Returns `None` if the line asks for the next page or no question is open.
    /// The caller uses the line itself as the answer.
    pub(crate) fn answer(&mut self, line: &str, out: &mut dyn Write) -> Option<T> {
        let (_, question) = self.open.front_mut()?;
        let is_refusal = matches!(line.to_lowercase().as_str(), "n" | "no");
        if question.is_approval && question.rest > 0 && !is_refusal {
            question.show(out);
            return None;
        }
        let (about, _) = self.open.pop_front()?;
        self.show(out);
        Some(about)
    }

    fn show(&mut self, out: &mut dyn Write) {
        if let Some((_, question)) = self.open.front_mut() {
            question.show(out);
        }
    }
}

/// Splits the text into pages of `ROWS` rows with bars. A line longer than a page continues on the
/// next.
fn pages(text: &str) -> VecDeque<String> {
    let mut pages = VecDeque::new();
    let (mut page, mut used) = (String::new(), 0);
    for line in text.split('\n') {
        let mut rest = line;
        loop {
            let (end, columns) = fit_to_width(rest, (ROWS - used) * COLUMNS);
            page.push_str(&format!("  │ {}\n", &rest[..end]));
            used += columns.div_ceil(COLUMNS).max(1);
            rest = &rest[end..];
            if used >= ROWS {
                pages.push_back(std::mem::take(&mut page));
                used = 0;
            }
            if rest.is_empty() {
                break;
            }
        }
    }
    if !page.is_empty() {
        pages.push_back(page);
    }
    pages
}

/// The bytes of a line that fit into `width` columns, and the columns they may take.
fn fit_to_width(line: &str, width: usize) -> (usize, usize) {
    let mut columns = 0;
    for (at, char) in line.char_indices() {
        let wide = match char {
            '\t' => 8,
            _ if char.is_ascii() => 1,
            _ => 2,
        };
        if columns + wide > width {
            return (at, columns);
        }
        columns += wide;
    }
    (line.len(), columns)
}

/// Returns the number of lines on all pages.
fn line_count(pages: &VecDeque<String>) -> usize {
    pages.iter().map(|page| page.lines().count()).sum()
}

#[cfg(test)]
mod tests;
