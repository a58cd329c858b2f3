//! Budget of a parse on the caller's thread, and its outcome.

use super::ParseJob;

/// Time budget of a parse on the caller's thread: either unlimited, or a function that the parser
/// calls often and that returns whether the budget is exhausted.
pub struct Budget<'a>(Option<&'a mut dyn FnMut() -> bool>);

impl<'a> Budget<'a> {
    /// Creates an unlimited budget, for tests and background threads.
    pub fn unlimited() -> Self {
        Self(None)
    }

    /// Creates a budget that ends when `is_spent` returns true. It is called before the first and
    /// then every hundred steps of the parser, some microseconds apart, so it should be quick: `||
    /// clock.now() >= deadline`.
    pub fn until(is_spent: &'a mut dyn FnMut() -> bool) -> Self {
        Self(Some(is_spent))
    }

    /// Returns whether the budget can be exhausted.
    pub(crate) fn is_limited(&self) -> bool {
        self.0.is_some()
    }

    /// Returns whether the budget is exhausted now.
    pub(crate) fn is_spent(&mut self) -> bool {
        self.0.as_mut().is_some_and(|is_spent| is_spent())
    }
}

/// Outcome of a parse.
#[must_use]
#[derive(Debug)]
pub enum ParseStatus {
    /// The tree is that of the latest text and equals a fresh parse.
    Done,
    /// The tree is that of the latest text, but near errors it may differ from a fresh parse. Show
    /// it, and call `SyntaxTree::settle` when the user pauses.
    Unsettled,
    /// The budget is exhausted. Run the job on another thread and pass its result to
    /// `SyntaxTree::accept`; the older tree is used meanwhile.
    Pending(ParseJob),
    /// An earlier job is still running; its `accept` comes first.
    Running,
}
