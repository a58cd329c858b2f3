//! The windows of a text in which something about it is known, such as its inlay hints.
//!
//! Invariant: the number of windows is bounded, whatever the size of the text and the number of its views.
//! Start at `KnownWindows::knows`.

use std::collections::VecDeque;

use base::{Bias, Span};
use text::Change;

/// Maximum number of windows of one text: a few views of it, each with some scroll positions.
const MAX_WINDOWS: usize = 8;

/// A span of the text about which a source has answered or was asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownWindow {
    pub(super) span: Span,
    /// Whether the answer may be another one now: the text was edited since the request, or the source said so.
    pub(super) is_stale: bool,
}

/// The windows of a text, the oldest first.
#[derive(Debug, Default)]
pub(super) struct KnownWindows(VecDeque<KnownWindow>);

impl KnownWindow {
    /// Creates the window of a request about the present text.
    pub(super) fn new(span: Span) -> Self {
        Self {
            span,
            is_stale: false,
        }
    }

    /// Moves the window with a change, which makes it stale.
    pub(super) fn follow(&mut self, change: &Change) {
        self.is_stale = true;
        self.span = map_window(change, self.span);
    }

    /// Returns whether the present answer about `span` is known.
    pub(super) fn knows(&self, span: Span) -> bool {
        !self.is_stale && self.span.covers(span)
    }
}

impl KnownWindows {
    /// Moves the windows with a change, which makes them stale.
    pub(super) fn follow(&mut self, change: &Change) {
        self.0.iter_mut().for_each(|window| window.follow(change));
    }

    /// Marks all windows as stale: the source has other answers for the same text.
    pub(super) fn mark_stale(&mut self) {
        self.0.iter_mut().for_each(|window| window.is_stale = true);
    }

    /// Returns whether one window contains the present answer about `span`.
    pub(super) fn knows(&self, span: Span) -> bool {
        self.0.iter().any(|window| window.knows(span))
    }

    /// Returns whether one window contains an answer about `span`, be it stale.
    pub(super) fn covers(&self, span: Span) -> bool {
        self.0.iter().any(|window| window.span.covers(span))
    }

    /// Adds the window of an answer, in place of those within it. Removes and returns the oldest window if there are
    /// too many.
    pub(super) fn add(&mut self, window: KnownWindow) -> Option<Span> {
        self.0.retain(|it| !window.span.covers(it.span));
        self.0.push_back(window);
        if self.0.len() <= MAX_WINDOWS {
            return None;
        }
        self.0.pop_front().map(|oldest| oldest.span)
    }

    /// Forgets all windows.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Moves a window with a change. Text that is inserted at its ends becomes part of it.
pub(crate) fn map_window(change: &Change, window: Span) -> Span {
    Span::new(
        change.map(window.start, Bias::Left),
        change.map(window.end, Bias::Right),
    )
}

#[cfg(test)]
mod tests {
    use base::Span;

    use super::{KnownWindow, KnownWindows, MAX_WINDOWS};

    fn span(start: usize) -> Span {
        Span::from(start..start + 10)
    }

    #[test]
    fn a_window_replaces_those_within_it() {
        let mut windows = KnownWindows::default();
        for start in [0, 100, 5] {
            assert_eq!(windows.add(KnownWindow::new(span(start))), None);
        }
        assert!(windows.knows(span(0)) && windows.knows(span(5)) && windows.knows(span(100)));
        assert!(!windows.knows(Span::from(0..15)), "no window contains both");
        windows.mark_stale();
        windows.add(KnownWindow::new(Span::from(0..50)));
        assert!(windows.knows(span(5)) && !windows.knows(span(100)));
        assert!(windows.covers(span(100)));
    }

    #[test]
    fn the_oldest_window_is_forgotten() {
        let mut windows = KnownWindows::default();
        for ix in 0..MAX_WINDOWS {
            assert_eq!(windows.add(KnownWindow::new(span(100 * ix))), None);
        }
        let added = KnownWindow::new(span(100 * MAX_WINDOWS));
        assert_eq!(windows.add(added), Some(span(0)));
        assert!(!windows.covers(span(0)) && windows.knows(span(100)));
    }
}
