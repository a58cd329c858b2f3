//! Work that can wait until a window shows its first frame, so that the frame has the processor to itself.

use gpui_kit::{App, Global};

/// Closed when the first frame is there; nothing is ever sent.
#[derive(Clone)]
pub(super) struct FirstFrame(async_channel::Receiver<()>);

impl Global for FirstFrame {}

/// Holds background work back until it is dropped.
#[must_use = "work goes on as soon as it is dropped"]
pub struct HeldWork(
    #[expect(dead_code, reason = "its end is what is heard")] async_channel::Sender<()>,
);

/// Holds the parsing of texts back. Whoever holds must drop in time: texts stay plain until then.
pub fn hold_work(cx: &mut App) -> HeldWork {
    let (sender, receiver) = async_channel::bounded(1);
    cx.set_global(FirstFrame(receiver));
    HeldWork(sender)
}

impl FirstFrame {
    pub(super) fn of(cx: &App) -> Option<Self> {
        cx.try_global::<Self>()
            .filter(|it| !it.0.is_closed())
            .cloned()
    }

    /// Returns when work may begin.
    pub(super) async fn wait(self) {
        // Closing is the only thing that happens to it.
        self.0.recv().await.ok();
    }
}
