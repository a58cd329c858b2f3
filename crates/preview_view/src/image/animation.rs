//! The pictures of an animation, one after the other.

use std::time::Duration;

use gpui_kit::Context;

use super::ImagePreview;
use crate::actions::ToggleAnimation;

impl ImagePreview {
    /// Shows the next picture when its time has come, as long as the animation plays. An image without an animation
    /// requests no frames.
    pub(super) fn play(&mut self, cx: &mut Context<Self>) {
        self.playing = None;
        let Some(image) = self.content.ready().filter(|image| image.delays.len() > 1) else {
            return;
        };
        if !self.is_playing {
            return;
        }
        let count = image.delays.len();
        let delay = image.delays.get(self.frame).copied().unwrap_or_default();
        let delay = Duration::from_millis(u64::from(delay.max(20)));
        self.playing = Some(cx.spawn(async move |this, cx| {
            cx.background_executor().timer(delay).await;
            let shown = this.update(cx, |this, cx| {
                this.frame = (this.frame + 1) % count;
                cx.notify();
                this.play(cx);
            });
            // The view may have been closed.
            shown.ok();
        }));
    }

    pub(super) fn toggle_animation(
        &mut self,
        _: &ToggleAnimation,
        _: &mut gpui_kit::Window,
        cx: &mut Context<Self>,
    ) {
        self.is_playing = !self.is_playing;
        self.play(cx);
        cx.notify();
    }
}
