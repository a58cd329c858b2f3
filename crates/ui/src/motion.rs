//! Whether anything may move: not where the settings say so, and not where windows are drawn in software,
//! because there every frame costs a tenth of a second.

use gpui_kit::base::Root;
use gpui_kit::{App, Global};
use settings::ReducedMotion;

use crate::active_settings::ActiveSettings as _;

/// Whether the last window opened is drawn in software. On a Mac nothing is known, and nothing is.
struct DrawnInSoftware(bool);

impl Global for DrawnInSoftware {}

/// Asks each new window how it is drawn.
pub(crate) fn init(cx: &mut App) {
    settle(cx);
    cx.observe_new(|_: &mut Root, window, cx| {
        if let Some(window) = window {
            let in_software = window
                .gpu_specs()
                .is_some_and(|specs| specs.is_software_emulated);
            cx.set_global(DrawnInSoftware(in_software));
            settle(cx);
        }
    })
    .detach();
}

/// Follows the settings and the graphics.
pub(crate) fn settle(cx: &mut App) {
    let in_software = cx
        .try_global::<DrawnInSoftware>()
        .is_some_and(|drawn| drawn.0);
    let unwanted = cx.settings().ui.reduced_motion == ReducedMotion::On;
    cx.set_reduce_motion(in_software || unwanted);
}
