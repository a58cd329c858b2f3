//! Smooth scrolling for commands that scroll far, so that the eye can follow.
//!
//! The scroll position changes immediately; only the painted position lags behind briefly.

use std::time::Duration;

use gpui_kit::Context;

use super::Editor;

/// Duration of the animation.
const TIME: Duration = Duration::from_millis(120);

/// Minimum distance that is animated, in rows.
const SHORTEST: f64 = 4.0;

/// A running scroll animation. The scroll position is already the final one, and the painted
/// position approaches it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Glide {
    /// Rows from the end position to the start position.
    rows: f64,
    start: Duration,
}

impl Glide {
    /// Starts an animation over `rows` line heights, limited to one window height. Returns `None`
    /// if the distance is too small to animate.
    pub(crate) fn start(rows: f64, window: f64, now: Duration) -> Option<Self> {
        let rows = rows.clamp(-window, window);
        (rows.abs() >= SHORTEST).then_some(Self { rows, start: now })
    }

    /// Returns the number of line heights by which the painted position lags behind the scroll
    /// position at `now`. Returns `None` when the animation is over.
    pub(crate) fn remaining_rows(&self, now: Duration) -> Option<f64> {
        let part = now.saturating_sub(self.start).as_secs_f64() / TIME.as_secs_f64();
        (part < 1.0).then(|| self.rows * (1.0 - part).powi(3))
    }
}

impl Editor {
    /// Returns whether animations are enabled for this view. They are disabled if the user prefers
    /// reduced motion or the CPU renders the window.
    pub(crate) fn may_move(&self, cx: &Context<Self>) -> bool {
        !self.blink.is_still && !cx.reduce_motion()
    }
}

/// Starts an animation from `top` to the current scroll position.
pub(super) fn glide_from(editor: &mut Editor, top: f64, cx: &Context<Editor>) {
    if editor.settings.smooth_scroll && editor.may_move(cx) {
        let now = editor.model.read(cx).environment().clock.elapsed();
        let rows = top - editor.scroll.top(&editor.display);
        editor.glide = Glide::start(rows, editor.viewport().rows, now);
    }
}

/// Returns the number of line heights by which the painted position lags behind the scroll
/// position. Returns 0 when no animation is running.
pub(crate) fn glide_rest(editor: &mut Editor, cx: &Context<Editor>) -> f64 {
    let Some(glide) = editor.glide else {
        return 0.0;
    };
    let rest = glide.remaining_rows(editor.model.read(cx).environment().clock.elapsed());
    if rest.is_none() {
        editor.glide = None;
    }
    rest.unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Glide;

    #[test]
    fn a_glide_slows_down_and_ends() {
        let at = |ms: u64| Duration::from_millis(1000 + ms);
        assert_eq!(Glide::start(2.0, 40.0, at(0)), None);
        let glide = Glide::start(-100.0, 40.0, at(0)).unwrap();
        assert_eq!(glide.remaining_rows(at(0)), Some(-40.0));
        assert!(
            glide
                .remaining_rows(at(60))
                .is_some_and(|rest| -10.0 < rest && rest < 0.0)
        );
        assert_eq!(glide.remaining_rows(at(120)), None);
    }
}
