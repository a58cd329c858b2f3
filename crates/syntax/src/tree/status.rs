//! How long a parse may take on the caller's thread, and how it ended.

use super::ParseJob;

/// What a parse on the caller's thread may cost. Time is the caller's: it says when it is spent.
pub struct Budget<'a>(Option<&'a mut dyn FnMut() -> bool>);

impl<'a> Budget<'a> {
    /// However long it takes, as tests and background threads have it.
    pub fn unlimited() -> Self {
        Self(None)
    }

    /// Until `is_spent` says so. It is asked before the first and then every hundred steps of the parser, some
    /// microseconds apart, so it should be quick: `|| clock.now() >= deadline`.
    pub fn until(is_spent: &'a mut dyn FnMut() -> bool) -> Self {
        Self(Some(is_spent))
    }

    pub(crate) fn is_limited(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn is_spent(&mut self) -> bool {
        self.0.as_mut().is_some_and(|is_spent| is_spent())
    }
}

/// How far a parse came.
#[must_use]
#[derive(Debug)]
pub enum ParseStatus {
    /// The tree is that of the newest text, as a fresh parse would make it.
    Done,
    /// The tree is that of the newest text, but near errors it may differ from a fresh parse.
    /// Show it, and call `SyntaxTree::settle` when the user pauses.
    Unsettled,
    /// The budget was spent. Run the job on another thread and hand its result to
    /// `SyntaxTree::accept`; meanwhile the older tree is shown.
    Pending(ParseJob),
    /// An earlier job is still out; its `accept` comes first.
    Running,
}
