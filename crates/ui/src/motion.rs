//! Decides whether animations are enabled: not if the settings or the system disable them, and not
//! with software rendering, where every frame costs a tenth of a second.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use gpui_kit::base::Root;
use gpui_kit::{App, Global};
use settings::ReducedMotion;

use crate::active_settings::ActiveSettings as _;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;

/// Whether the last opened window uses software rendering. Unknown, and false, on macOS.
struct DrawnInSoftware(bool);

impl Global for DrawnInSoftware {}

/// Whether the user asked the system for less motion; false until the system has answered.
struct SystemMotion {
    is_reduced: bool,
}

impl Global for SystemMotion {}

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

/// Follows the system's setting for reduced motion from now on: on Linux that of the desktop portal
/// (`org.freedesktop.appearance`, `reduced-motion`), on macOS Reduce Motion of Accessibility. Does
/// not wait for the answer. Call once, after `init`.
pub fn follow_system_motion(cx: &mut App) {
    system::follow(cx);
}

/// Notes what the system asks for.
fn note_system(is_reduced: bool, cx: &mut App) {
    cx.set_global(SystemMotion { is_reduced });
    apply_reduced_motion(cx);
}

/// Applies the settings, the system and the renderer to the animation setting.
pub(crate) fn apply_reduced_motion(cx: &mut App) {
    let in_software = cx
        .try_global::<DrawnInSoftware>()
        .is_some_and(|drawn| drawn.0);
    let system = cx
        .try_global::<SystemMotion>()
        .is_some_and(|system| system.is_reduced);
    let unwanted = match cx.settings().ui.reduced_motion {
        ReducedMotion::System => system,
        ReducedMotion::On => true,
        ReducedMotion::Off => false,
    };
    cx.set_reduce_motion(in_software || unwanted);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gpui_kit::TestAppContext;
    use settings::{ReducedMotion, Settings};

    use super::note_system;

    #[gpui_kit::test]
    fn the_systems_wish_counts_unless_the_settings_decide(cx: &mut TestAppContext) {
        cx.update(|cx| {
            gpui_kit::init(cx);
            crate::init(base::Platform::Linux, cx);
            for (setting, system, expected) in [
                (ReducedMotion::System, false, false),
                (ReducedMotion::System, true, true),
                (ReducedMotion::On, false, true),
                (ReducedMotion::Off, true, false),
            ] {
                let mut settings = Settings::builtin();
                settings.ui.reduced_motion = setting;
                crate::set_settings(Arc::new(settings), cx);
                note_system(system, cx);
                assert_eq!(cx.reduce_motion(), expected, "{setting:?}, {system}");
            }
        });
    }
}
