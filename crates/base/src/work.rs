//! Counts of work, for tests that the cost of an edit does not grow with the text.
//!
//! Invariant: counting costs nothing without debug assertions; the counts are then zero.

use std::cell::Cell;

/// A kind of work that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Reading bytes of a text.
    TextBytes,
    /// Steps of a parser, which also read the text.
    ParserSteps,
    /// Steps of a query, or of a walk through a syntax tree.
    TreeSteps,
    /// Visiting rows, marks, or entries of a list.
    Entries,
}

/// Work done by one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounts {
    /// Bytes of texts that were read, except by parsers.
    pub text_bytes: u64,
    /// Steps of parsers, counted in hundreds.
    pub parser_steps: u64,
    /// Steps through syntax trees; queries are counted in hundreds.
    pub tree_steps: u64,
    /// Rows, marks and entries that were visited.
    pub entries: u64,
}

thread_local! {
    static COUNTS: Cell<WorkCounts> = const {
        Cell::new(WorkCounts {
            text_bytes: 0,
            parser_steps: 0,
            tree_steps: 0,
            entries: 0,
        })
    };
}

/// Adds work of this thread. Does nothing without debug assertions.
#[inline]
pub fn count_work(work: Work, amount: usize) {
    if cfg!(debug_assertions) {
        let mut counts = COUNTS.get();
        let count = match work {
            Work::TextBytes => &mut counts.text_bytes,
            Work::ParserSteps => &mut counts.parser_steps,
            Work::TreeSteps => &mut counts.tree_steps,
            Work::Entries => &mut counts.entries,
        };
        *count = count.saturating_add(amount as u64);
        COUNTS.set(counts);
    }
}

/// Calls `action` and returns its result with the work that this thread did in it. Without debug
/// assertions the counts are zero.
pub fn counting<R>(action: impl FnOnce() -> R) -> (R, WorkCounts) {
    let before = COUNTS.get();
    let result = action();
    let after = COUNTS.get();
    let counts = WorkCounts {
        text_bytes: after.text_bytes - before.text_bytes,
        parser_steps: after.parser_steps - before.parser_steps,
        tree_steps: after.tree_steps - before.tree_steps,
        entries: after.entries - before.entries,
    };
    (result, counts)
}

#[cfg(test)]
mod tests {
    use super::{Work, count_work, counting};

    #[test]
    fn work_within_an_action_is_counted() {
        count_work(Work::Entries, 7);
        let ((), counts) = counting(|| {
            count_work(Work::Entries, 2);
            count_work(Work::TextBytes, 5);
            count_work(Work::Entries, 1);
        });
        let expected = if cfg!(debug_assertions) {
            (3, 5)
        } else {
            (0, 0)
        };
        assert_eq!((counts.entries, counts.text_bytes), expected);
    }
}
