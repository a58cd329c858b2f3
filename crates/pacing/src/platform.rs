//! The toolkit's platform with paced X11 windows; everything else is forwarded.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures::channel::oneshot;
use gpui_kit::{
    Action, ActivityGuard, AnyWindowHandle, BackgroundExecutor, ClipboardItem, CursorStyle,
    ForegroundExecutor, GraphicalEnvironment, Keymap, Menu, MenuItem, OwnedMenu, PathPromptOptions,
    Platform, PlatformDisplay, PlatformInfo, PlatformKeyboardLayout, PlatformKeyboardMapper,
    PlatformTextSystem, PlatformWindow, PowerMode, Result, ScreenCaptureSource, SystemNotification,
    SystemNotificationResponse, Task, ThermalState, WindowAppearance, WindowButtonLayout,
    WindowParams, WindowingRequest,
};
use raw_window_handle::{HasWindowHandle as _, RawWindowHandle};

use crate::pacer::Pacer;
use crate::source::{FrameTimer, XConnection};
use crate::window::PacedWindow;

/// Interval at which a paused window's connection receives an event.
///
/// Code that waits for a reply of the server may read events off the connection, and they stay
/// unprocessed until further events arrive. The toolkit's frame timer hides this while it runs.
const REMINDER: Duration = Duration::from_secs(1);

/// Wraps `inner` so that its X11 windows request frames only while they need some.
pub(crate) fn paced(inner: Rc<dyn Platform>) -> Rc<dyn Platform> {
    Rc::new(PacedPlatform {
        inner,
        server: Rc::default(),
    })
}

struct PacedPlatform {
    inner: Rc<dyn Platform>,
    server: Rc<XConnection>,
}

impl PacedPlatform {
    fn remind(&self, pacer: &Rc<Pacer<FrameTimer>>) {
        let pacer = Rc::downgrade(pacer);
        let background = self.inner.background_executor();
        self.inner
            .foreground_executor()
            .spawn(async move {
                loop {
                    background.timer(REMINDER).await;
                    let Some(pacer) = pacer.upgrade() else { return };
                    pacer.remind();
                }
            })
            .detach();
    }
}

macro_rules! hand_through {
    ($(fn $name:ident($($argument:ident: $kind:ty),*) $(-> $answer:ty)?;)*) => {
        $(fn $name(&self $(, $argument: $kind)*) $(-> $answer)? {
            self.inner.$name($($argument),*)
        })*
    };
}

impl Platform for PacedPlatform {
    fn open_window(
        &self,
        handle: AnyWindowHandle,
        options: WindowParams,
    ) -> Result<Box<dyn PlatformWindow>> {
        let inner = self.inner.open_window(handle, options)?;
        let Ok(RawWindowHandle::Xcb(raw)) = inner.window_handle().map(|handle| handle.as_raw())
        else {
            return Ok(inner);
        };
        let timer = FrameTimer {
            server: self.server.clone(),
            window: raw.window.get(),
        };
        let pacer = Rc::new(Pacer::new(timer, inner.visibility()));
        self.remind(&pacer);
        Ok(Box::new(PacedWindow { inner, pacer }))
    }

    hand_through! {
        fn platform_info() -> PlatformInfo;
        fn background_executor() -> BackgroundExecutor;
        fn foreground_executor() -> ForegroundExecutor;
        fn text_system() -> Arc<dyn PlatformTextSystem>;
        fn run(on_finish_launching: Box<dyn 'static + FnOnce()>);
        fn quit();
        fn set_initial_windowing(request: WindowingRequest);
        fn request_windowing(request: WindowingRequest) -> Task<Result<()>>;
        fn restart(binary: Option<PathBuf>, arguments: Vec<OsString>);
        fn activate(ignoring_other_apps: bool);
        fn hide();
        fn hide_other_apps();
        fn unhide_other_apps();
        fn displays() -> Vec<Rc<dyn PlatformDisplay>>;
        fn primary_display() -> Option<Rc<dyn PlatformDisplay>>;
        fn on_displays_changed(callback: Box<dyn FnMut()>);
        fn active_window() -> Option<AnyWindowHandle>;
        fn window_stack() -> Option<Vec<AnyWindowHandle>>;
        fn is_screen_capture_supported() -> bool;
        fn screen_capture_sources() -> oneshot::Receiver<Result<Vec<Rc<dyn ScreenCaptureSource>>>>;
        fn window_appearance() -> WindowAppearance;
        fn set_window_appearance(appearance: Option<WindowAppearance>);
        fn button_layout() -> Option<WindowButtonLayout>;
        fn open_url(url: &str);
        fn on_open_urls(callback: Box<dyn FnMut(Vec<String>)>);
        fn register_url_scheme(url: &str) -> Task<Result<()>>;
        fn prompt_for_paths(
            options: PathPromptOptions
        ) -> oneshot::Receiver<Result<Option<Vec<PathBuf>>>>;
        fn prompt_for_new_path(
            folder: &Path,
            name: Option<&str>
        ) -> oneshot::Receiver<Result<Option<PathBuf>>>;
        fn can_select_mixed_files_and_dirs() -> bool;
        fn reveal_path(path: &Path);
        fn open_with_system(path: &Path);
        fn on_quit(callback: Box<dyn FnMut() -> bool>);
        fn on_reopen(callback: Box<dyn FnMut()>);
        fn on_system_sleep(callback: Box<dyn FnMut()>);
        fn on_system_wake(callback: Box<dyn FnMut()>);
        fn set_menus(menus: Vec<Menu>, keymap: &Keymap);
        fn get_menus() -> Option<Vec<OwnedMenu>>;
        fn set_dock_menu(menu: Vec<MenuItem>, keymap: &Keymap);
        fn add_recent_document(path: &Path);
        fn on_app_menu_action(callback: Box<dyn FnMut(&dyn Action)>);
        fn on_will_open_app_menu(callback: Box<dyn FnMut()>);
        fn on_validate_app_menu_command(callback: Box<dyn FnMut(&dyn Action) -> bool>);
        fn thermal_state() -> ThermalState;
        fn on_thermal_state_change(callback: Box<dyn FnMut()>);
        fn prevent_idle_sleep(reason: &str) -> Task<Result<ActivityGuard>>;
        fn power_mode() -> PowerMode;
        fn on_power_mode_change(callback: Box<dyn FnMut()>);
        fn set_app_identity(identifier: &str, name: &str);
        fn show_system_notification(notification: SystemNotification);
        fn dismiss_system_notification(tag: &str);
        fn on_system_notification_response(callback: Box<dyn FnMut(SystemNotificationResponse)>);
        fn compositor_name() -> &'static str;
        fn graphical_environment() -> Option<GraphicalEnvironment>;
        fn app_path() -> Result<PathBuf>;
        fn path_for_auxiliary_executable(name: &str) -> Result<PathBuf>;
        fn set_cursor_style(style: CursorStyle);
        fn hide_cursor_until_mouse_moves();
        fn is_cursor_visible() -> bool;
        fn should_auto_hide_scrollbars() -> bool;
        fn read_from_clipboard() -> Option<ClipboardItem>;
        fn write_to_clipboard(item: ClipboardItem);
        fn read_from_primary() -> Option<ClipboardItem>;
        fn write_to_primary(item: ClipboardItem);
        fn write_credentials(url: &str, user: &str, password: &[u8]) -> Task<Result<()>>;
        fn read_credentials(url: &str) -> Task<Result<Option<(String, Vec<u8>)>>>;
        fn delete_credentials(url: &str) -> Task<Result<()>>;
        fn keyboard_layout() -> Box<dyn PlatformKeyboardLayout>;
        fn keyboard_mapper() -> Rc<dyn PlatformKeyboardMapper>;
        fn on_keyboard_layout_change(callback: Box<dyn FnMut()>);
    }
}
