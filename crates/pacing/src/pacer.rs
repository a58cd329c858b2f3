//! When a window's source of frames runs and when it rests.

use std::cell::Cell;

use gpui_kit::WindowVisibility;

/// Frames asked for in a row that nobody wanted before the source rests: an eighth of a second at
/// sixty a second, so that typing and streaming never stop it between two changes.
const STILL: u32 = 8;

/// What asks a window for its frames.
pub(crate) trait Source {
    /// Stops asking. Returns whether that could be said.
    fn rest(&self) -> bool;
    /// Asks again, at once.
    fn resume(&self);
}

/// Runs and rests the source of one window by what the window wants.
///
/// Invariant: after [`Pacer::demand`] the source runs until a frame was asked for.
pub(crate) struct Pacer<S> {
    source: S,
    resting: Cell<bool>,
    /// Whether the window wanted a frame since the last one that was asked for.
    wanted: Cell<bool>,
    /// Frames in a row that were asked for and not wanted.
    still: Cell<u32>,
    /// Whether the next word of the window being hidden is our own doing.
    hides: Cell<bool>,
    told: Cell<WindowVisibility>,
}

impl<S: Source> Pacer<S> {
    /// The pacer of a window that starts as `visibility` and whose source runs.
    pub(crate) fn new(source: S, visibility: WindowVisibility) -> Self {
        Self {
            source,
            resting: Cell::new(false),
            wanted: Cell::new(true),
            still: Cell::new(0),
            hides: Cell::new(false),
            told: Cell::new(visibility),
        }
    }

    /// The window wants a frame.
    pub(crate) fn demand(&self) {
        self.wanted.set(true);
        if self.resting.take() {
            self.still.set(0);
            self.source.resume();
        }
    }

    /// The source asked for a frame and the window answered. `required` says whether the system
    /// wanted that frame, whatever the window wants.
    ///
    /// A source that asks although it should rest was started by someone else, as happens when a
    /// covered window is laid free; it is stopped again like any other.
    pub(crate) fn served(&self, required: bool) {
        if self.wanted.take() || required {
            self.still.set(0);
            return;
        }
        self.still.set(self.still.get() + 1);
        if self.still.get() >= STILL {
            self.still.set(0);
            let rests = self.source.rest();
            self.hides.set(rests && !self.resting.get());
            self.resting.set(rests);
        }
    }

    /// Says once more that the source rests, if it does.
    pub(crate) fn remind(&self) {
        if self.resting.get() {
            self.source.rest();
        }
    }

    /// What the window is to be told when the system says that it is `visibility`: nothing where
    /// that is our own doing.
    pub(crate) fn heard(&self, visibility: WindowVisibility) -> Option<WindowVisibility> {
        let ours = visibility == WindowVisibility::Hidden && self.hides.take();
        if ours || self.told.get() == visibility {
            return None;
        }
        self.told.set(visibility);
        Some(visibility)
    }

    /// What the window was told last.
    pub(crate) fn visibility(&self) -> WindowVisibility {
        self.told.get()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    use WindowVisibility::{Hidden, Visible};

    /// Writes down what it is told.
    #[derive(Default)]
    struct Told {
        deaf: bool,
        words: RefCell<Vec<&'static str>>,
    }

    impl Source for Told {
        fn rest(&self) -> bool {
            self.words.borrow_mut().push("rest");
            !self.deaf
        }

        fn resume(&self) {
            self.words.borrow_mut().push("resume");
        }
    }

    fn pacer() -> Pacer<Told> {
        Pacer::new(Told::default(), Visible)
    }

    fn resting() -> Pacer<Told> {
        let pacer = pacer();
        ticks(&pacer, STILL + 1);
        assert_eq!(words(&pacer), ["rest"]);
        assert_eq!(pacer.heard(Hidden), None);
        pacer
    }

    fn ticks(pacer: &Pacer<Told>, count: u32) {
        for _ in 0..count {
            pacer.served(false);
        }
    }

    fn words(pacer: &Pacer<Told>) -> Vec<&'static str> {
        pacer.source.words.take()
    }

    #[test]
    fn a_window_that_wants_nothing_rests() {
        let pacer = pacer();
        ticks(&pacer, STILL);
        assert_eq!(words(&pacer), [""; 0]);
        ticks(&pacer, 1);
        assert_eq!(words(&pacer), ["rest"]);
    }

    #[test]
    fn a_window_that_wants_frames_now_and_then_does_not_rest() {
        let pacer = pacer();
        for _ in 0..10 {
            pacer.demand();
            ticks(&pacer, STILL);
        }
        for _ in 0..10 {
            pacer.served(true);
            ticks(&pacer, STILL - 1);
        }
        assert_eq!(words(&pacer), [""; 0]);
    }

    #[test]
    fn the_first_wish_wakes_the_source_once() {
        let pacer = resting();
        pacer.demand();
        pacer.demand();
        assert_eq!(words(&pacer), ["resume"]);
        ticks(&pacer, STILL);
        assert_eq!(words(&pacer), [""; 0]);
        ticks(&pacer, 1);
        assert_eq!(words(&pacer), ["rest"]);
    }

    #[test]
    fn a_source_that_somebody_else_started_is_stopped_again() {
        let pacer = resting();
        assert_eq!(pacer.heard(Visible), None);
        ticks(&pacer, STILL);
        assert_eq!(words(&pacer), ["rest"]);
    }

    #[test]
    fn a_source_that_cannot_be_stopped_runs_on() {
        let pacer = Pacer::new(
            Told {
                deaf: true,
                ..Told::default()
            },
            Visible,
        );
        ticks(&pacer, STILL + 1);
        words(&pacer);
        pacer.demand();
        pacer.remind();
        assert_eq!(words(&pacer), [""; 0]);
        assert_eq!(pacer.heard(Hidden), Some(Hidden));
    }

    #[test]
    fn a_reminder_is_for_those_at_rest() {
        let awake = pacer();
        awake.remind();
        assert_eq!(words(&awake), [""; 0]);
        let resting = resting();
        resting.remind();
        assert_eq!(words(&resting), ["rest"]);
    }

    #[test]
    fn a_window_is_told_of_what_others_do_only() {
        let pacer = resting();
        pacer.demand();
        assert_eq!(pacer.heard(Visible), None);
        assert_eq!(pacer.heard(Hidden), Some(Hidden));
        assert_eq!(pacer.visibility(), Hidden);
        assert_eq!(pacer.heard(Visible), Some(Visible));
    }
}
