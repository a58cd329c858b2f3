//! Gliding to where a command scrolls far, so that the eye can follow.
//!
//! The scroll position is the new one at once; only what is painted lags behind for a moment.

use std::time::Duration;

use gpui_kit::Context;

use super::Editor;

/// How long it takes.
const TIME: Duration = Duration::from_millis(120);

/// Shorter ways, in rows, are not glided.
const SHORTEST: f64 = 4.0;

/// A glide under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Glide {
    /// Rows from where it ends to where it began.
    rows: f64,
    start: Duration,
}

impl Glide {
    /// A glide over so many rows, at most a window's height; `None` when that is too little.
    pub(crate) fn over(rows: f64, window: f64, now: Duration) -> Option<Self> {
        let rows = rows.clamp(-window, window);
        (rows.abs() >= SHORTEST).then_some(Self { rows, start: now })
    }

    /// The rows still to go; `None` when it is over.
    pub(crate) fn rest(&self, now: Duration) -> Option<f64> {
        let part = now.saturating_sub(self.start).as_secs_f64() / TIME.as_secs_f64();
        (part < 1.0).then(|| self.rows * (1.0 - part).powi(3))
    }
}

impl Editor {
    /// Whether anything may move by itself in this view.
    pub(crate) fn may_move(&self, cx: &Context<Self>) -> bool {
        !self.is_still && !cx.reduce_motion()
    }

    /// Begins to glide from a top to where the view is scrolled now.
    pub(super) fn glide_from(&mut self, top: f64, cx: &Context<Self>) {
        if self.settings.smooth_scroll && self.may_move(cx) {
            let now = self.model.read(cx).environment().clock.elapsed();
            let rows = top - self.scroll.top(&self.display);
            self.glide = Glide::over(rows, self.viewport().rows, now);
        }
    }

    /// The rows by which what is painted lags behind.
    pub(crate) fn glide_rest(&mut self, cx: &Context<Self>) -> f64 {
        let Some(glide) = self.glide else {
            return 0.0;
        };
        let rest = glide.rest(self.model.read(cx).environment().clock.elapsed());
        if rest.is_none() {
            self.glide = None;
        }
        rest.unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Glide;

    #[test]
    fn a_glide_slows_down_and_ends() {
        let at = |ms: u64| Duration::from_millis(1000 + ms);
        assert_eq!(Glide::over(2.0, 40.0, at(0)), None);
        let glide = Glide::over(-100.0, 40.0, at(0)).unwrap();
        assert_eq!(glide.rest(at(0)), Some(-40.0));
        assert!(
            glide
                .rest(at(60))
                .is_some_and(|rest| -10.0 < rest && rest < 0.0)
        );
        assert_eq!(glide.rest(at(120)), None);
    }
}
