//! Decides when a window's frame source runs and when it pauses.

use std::cell::Cell;

use gpui_kit::WindowVisibility;

/// Consecutive unneeded frames before the source pauses: an eighth of a second at sixty frames per
/// second, so that typing and streaming never pause it between two changes.
const STILL: u32 = 8;

/// Source of the frame requests of one window.
pub(crate) trait FrameSource {
    /// Pauses the frame requests. Returns whether the request could be sent.
    fn pause(&self) -> bool;
    /// Resumes the frame requests at once.
    fn resume(&self);
}

/// Runs and pauses the frame source of one window, depending on whether the window needs frames.
///
/// Invariant: after [`Pacer::demand`] the source runs until a frame was requested.
pub(crate) struct Pacer<S> {
    source: S,
    resting: Cell<bool>,
    /// Whether the window needed a frame since the last frame request.
    wanted: Cell<bool>,
    /// Number of consecutive unneeded frames.
    still: Cell<u32>,
    /// Whether the next `Hidden` event is caused by pausing the source.
    hides: Cell<bool>,
    reported: Cell<WindowVisibility>,
}

impl<S: FrameSource> Pacer<S> {
    /// Creates the pacer of a window with the given visibility and a running source.
    pub(crate) fn new(source: S, visibility: WindowVisibility) -> Self {
        Self {
            source,
            resting: Cell::new(false),
            wanted: Cell::new(true),
            still: Cell::new(0),
            hides: Cell::new(false),
            reported: Cell::new(visibility),
        }
    }

    /// Notes that the window needs a frame and resumes a paused source. Cheap while the source
    /// runs.
    pub(crate) fn demand(&self) {
        self.wanted.set(true);
        if self.resting.take() {
            self.still.set(0);
            self.source.resume();
        }
    }

    /// Handles a completed frame. `required` says whether the system needed that frame regardless
    /// of the window.
    ///
    /// A source that runs although it is paused was started by the X server, for example when a
    /// covered window became visible; it is paused again like any other.
    pub(crate) fn served(&self, required: bool) {
        if self.wanted.take() || required {
            self.still.set(0);
            return;
        }
        self.still.set(self.still.get() + 1);
        if self.still.get() >= STILL {
            self.still.set(0);
            let rests = self.source.pause();
            self.hides.set(rests && !self.resting.get());
            self.resting.set(rests);
        }
    }

    /// Repeats the pause request if the source is paused.
    pub(crate) fn remind(&self) {
        if self.resting.get() {
            self.source.pause();
        }
    }

    /// Returns the visibility to report to the window after a visibility event; `None` for an event
    /// caused by the pacer itself.
    pub(crate) fn filter_visibility(
        &self,
        visibility: WindowVisibility,
    ) -> Option<WindowVisibility> {
        let ours = visibility == WindowVisibility::Hidden && self.hides.take();
        if ours || self.reported.get() == visibility {
            return None;
        }
        self.reported.set(visibility);
        Some(visibility)
    }

    /// Returns the visibility last reported to the window.
    pub(crate) fn visibility(&self) -> WindowVisibility {
        self.reported.get()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    use WindowVisibility::{Hidden, Visible};

    /// Records the requests that it receives.
    #[derive(Default)]
    struct Told {
        deaf: bool,
        words: RefCell<Vec<&'static str>>,
    }

    impl FrameSource for Told {
        fn pause(&self) -> bool {
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
        assert_eq!(pacer.filter_visibility(Hidden), None);
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
    fn an_idle_window_is_paused() {
        let pacer = pacer();
        ticks(&pacer, STILL);
        assert_eq!(words(&pacer), [""; 0]);
        ticks(&pacer, 1);
        assert_eq!(words(&pacer), ["rest"]);
    }

    #[test]
    fn a_window_with_occasional_frames_is_not_paused() {
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
    fn the_first_demand_resumes_the_source_once() {
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
    fn a_source_started_elsewhere_is_paused_again() {
        let pacer = resting();
        assert_eq!(pacer.filter_visibility(Visible), None);
        ticks(&pacer, STILL);
        assert_eq!(words(&pacer), ["rest"]);
    }

    #[test]
    fn a_source_that_cannot_pause_keeps_running() {
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
        assert_eq!(pacer.filter_visibility(Hidden), Some(Hidden));
    }

    #[test]
    fn a_reminder_is_sent_only_while_paused() {
        let awake = pacer();
        awake.remind();
        assert_eq!(words(&awake), [""; 0]);
        let resting = resting();
        resting.remind();
        assert_eq!(words(&resting), ["rest"]);
    }

    #[test]
    fn own_visibility_events_are_not_reported() {
        let pacer = resting();
        pacer.demand();
        assert_eq!(pacer.filter_visibility(Visible), None);
        assert_eq!(pacer.filter_visibility(Hidden), Some(Hidden));
        assert_eq!(pacer.visibility(), Hidden);
        assert_eq!(pacer.filter_visibility(Visible), Some(Visible));
    }
}
