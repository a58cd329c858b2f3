//! Delays work until a window has drawn its first frame, so that the frame has the CPU to itself.

use gpui_kit::{App, Global};

/// Closed after the first frame; nothing is ever sent.
#[derive(Clone)]
pub(super) struct FirstFrame(async_channel::Receiver<()>);

impl Global for FirstFrame {}

/// A guard that holds back background parsing until it is dropped, so that the first frame comes
/// early.
#[must_use = "work goes on as soon as it is dropped"]
pub struct HeldWork(
    #[expect(dead_code, reason = "its end is what is heard")] async_channel::Sender<()>,
);

/// Holds back parsing in all documents while the returned guard lives. Drop it soon: texts have no
/// highlighting until then.
pub fn hold_work(cx: &mut App) -> HeldWork {
    let (sender, receiver) = async_channel::bounded(1);
    cx.set_global(FirstFrame(receiver));
    HeldWork(sender)
}

impl FirstFrame {
    /// Returns the event to wait for; `None` if no work is held back, or no longer.
    pub(super) fn of(cx: &App) -> Option<Self> {
        cx.try_global::<Self>()
            .filter(|it| !it.0.is_closed())
            .cloned()
    }

    /// Waits until work may begin.
    pub(super) async fn wait(self) {
        // The channel is only ever closed.
        self.0.recv().await.ok();
    }
}
