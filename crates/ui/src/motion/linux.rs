//! Reduced motion as the desktop portal reports it.

use ashpd::desktop::settings::{ReducedMotion, Settings};
use futures::StreamExt as _;
use gpui_kit::{App, AsyncApp};

/// Reads the setting and follows its changes. A desktop without the portal keeps its animations.
pub(super) fn follow(cx: &mut App) {
    cx.spawn(async move |cx| {
        if let Err(error) = listen(cx).await {
            log::info!("the desktop reports no setting for reduced motion: {error}");
        }
    })
    .detach();
}

async fn listen(cx: &mut AsyncApp) -> Result<(), ashpd::Error> {
    let settings = Settings::new().await?;
    let mut changes = Box::pin(settings.receive_reduced_motion_changed().await?);
    note(settings.reduced_motion().await?, cx);
    while let Some(motion) = changes.next().await {
        note(motion, cx);
    }
    Ok(())
}

fn note(motion: ReducedMotion, cx: &mut AsyncApp) {
    let is_reduced = motion == ReducedMotion::ReducedMotion;
    cx.update(|cx| super::note_system(is_reduced, cx));
}
