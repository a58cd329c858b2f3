//! The platform whose keys and menus the interface shows.

use base::Platform;
use gpui_kit::{App, Global};

struct ShownPlatform(Platform);

impl Global for ShownPlatform {}

/// Access to the platform that `init` was called with.
pub trait ActivePlatform {
    /// Returns the platform whose key names, keymaps and menus are shown.
    fn platform(&self) -> Platform;
}

impl ActivePlatform for App {
    fn platform(&self) -> Platform {
        self.try_global::<ShownPlatform>()
            .map_or(Platform::CURRENT, |shown| shown.0)
    }
}

pub(crate) fn init(platform: Platform, cx: &mut App) {
    cx.set_global(ShownPlatform(platform));
}
