//! Decides whether animations are enabled: not if the settings disable them, and not with software
//! rendering, where every frame costs a tenth of a second.

use gpui_kit::base::Root;
use gpui_kit::{App, Global};
use settings::ReducedMotion;

use crate::active_settings::ActiveSettings as _;

/// Whether the last opened window uses software rendering. Unknown, and false, on macOS.
struct DrawnInSoftware(bool);

impl Global for DrawnInSoftware {}

/// Queries the renderer of each new window.
pub(crate) fn init(cx: &mut App) {
    apply_reduced_motion(cx);
    cx.observe_new(|_: &mut Root, window, cx| {
        if let Some(window) = window {
            let in_software = window
                .gpu_specs()
                .is_some_and(|specs| specs.is_software_emulated);
            cx.set_global(DrawnInSoftware(in_software));
            apply_reduced_motion(cx);
        }
    })
    .detach();
}

/// Applies the settings and the renderer to the animation setting.
pub(crate) fn apply_reduced_motion(cx: &mut App) {
    let in_software = cx
        .try_global::<DrawnInSoftware>()
        .is_some_and(|drawn| drawn.0);
    let unwanted = cx.settings().ui.reduced_motion == ReducedMotion::On;
    cx.set_reduce_motion(in_software || unwanted);
}
