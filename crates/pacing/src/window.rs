//! A toolkit window that reports when it needs a frame; everything else is forwarded.

use std::rc::Rc;
use std::sync::Arc;

use futures::channel::oneshot;
use gpui_kit::{
    A11yCallbacks, Bounds, Capslock, Decorations, DispatchEventResult, ExternalDragPayload,
    GpuSpecs, Modifiers, Pixels, PlatformAtlas, PlatformDisplay, PlatformInput,
    PlatformInputHandler, PlatformWindow, Point, PromptButton, PromptLevel, RequestFrameOptions,
    ResizeEdge, Result, Scene, Size, TextInputConfiguration, WindowAppearance,
    WindowBackgroundAppearance, WindowBounds, WindowControlArea, WindowControls, WindowDecorations,
    WindowVisibility,
};
use raw_window_handle::{
    DisplayHandle, HandleError, HasDisplayHandle, HasWindowHandle, WindowHandle,
};

use crate::pacer::Pacer;
use crate::source::FrameTimer;

/// Wraps `inner`, whose frames are controlled by `pacer`.
pub(crate) struct PacedWindow {
    pub(crate) inner: Box<dyn PlatformWindow>,
    pub(crate) pacer: Rc<Pacer<FrameTimer>>,
}

impl HasWindowHandle for PacedWindow {
    fn window_handle(&self) -> Result<WindowHandle<'_>, HandleError> {
        self.inner.window_handle()
    }
}

impl HasDisplayHandle for PacedWindow {
    fn display_handle(&self) -> Result<DisplayHandle<'_>, HandleError> {
        self.inner.display_handle()
    }
}

macro_rules! hand_through {
    ($(fn $name:ident($($argument:ident: $kind:ty),*) $(-> $answer:ty)?;)*) => {
        $(fn $name(&self $(, $argument: $kind)*) $(-> $answer)? {
            self.inner.$name($($argument),*)
        })*
    };
    (mut $(fn $name:ident($($argument:ident: $kind:ty),*) $(-> $answer:ty)?;)*) => {
        $(fn $name(&mut self $(, $argument: $kind)*) $(-> $answer)? {
            self.inner.$name($($argument),*)
        })*
    };
}

impl PlatformWindow for PacedWindow {
    fn frame_waker(&self) -> Option<Rc<dyn Fn()>> {
        let pacer = self.pacer.clone();
        Some(Rc::new(move || pacer.demand()))
    }

    fn on_request_frame(&self, mut callback: Box<dyn FnMut(RequestFrameOptions)>) {
        let pacer = self.pacer.clone();
        self.inner.on_request_frame(Box::new(move |options| {
            let required = options.require_presentation || options.force_render;
            callback(options);
            pacer.served(required);
        }));
    }

    fn visibility(&self) -> WindowVisibility {
        self.pacer.visibility()
    }

    fn on_visibility_change(&self, mut callback: Box<dyn FnMut(WindowVisibility)>) {
        let pacer = self.pacer.clone();
        self.inner.on_visibility_change(Box::new(move |visibility| {
            if let Some(visibility) = pacer.filter_visibility(visibility) {
                callback(visibility);
            }
        }));
    }

    hand_through! {
        mut
        fn resize(size: Size<Pixels>);
        fn set_input_handler(handler: PlatformInputHandler);
        fn take_input_handler() -> Option<PlatformInputHandler>;
        fn set_text_input_configuration(configuration: TextInputConfiguration);
        fn set_title(title: &str);
        fn set_edited(edited: bool);
        fn set_app_id(id: &str);
        fn map_window() -> Result<()>;
    }

    hand_through! {
        fn bounds() -> Bounds<Pixels>;
        fn is_maximized() -> bool;
        fn window_bounds() -> WindowBounds;
        fn inner_window_bounds() -> WindowBounds;
        fn content_size() -> Size<Pixels>;
        fn visual_viewport_bounds() -> Bounds<Pixels>;
        fn on_visual_viewport_changed(callback: Box<dyn FnMut()>);
        fn prepare_frame() -> bool;
        fn scale_factor() -> f32;
        fn appearance() -> WindowAppearance;
        fn display() -> Option<Rc<dyn PlatformDisplay>>;
        fn mouse_position() -> Point<Pixels>;
        fn modifiers() -> Modifiers;
        fn capslock() -> Capslock;
        fn prompt(
            level: PromptLevel,
            message: &str,
            detail: Option<&str>,
            answers: &[PromptButton]
        ) -> Option<oneshot::Receiver<usize>>;
        fn activate();
        fn request_attention();
        fn is_active() -> bool;
        fn is_hovered() -> bool;
        fn background_appearance() -> WindowBackgroundAppearance;
        fn set_background_appearance(appearance: WindowBackgroundAppearance);
        fn minimize();
        fn zoom();
        fn toggle_fullscreen();
        fn is_fullscreen() -> bool;
        fn on_input(callback: Box<dyn FnMut(PlatformInput) -> DispatchEventResult>);
        fn on_active_status_change(callback: Box<dyn FnMut(bool)>);
        fn on_hover_status_change(callback: Box<dyn FnMut(bool)>);
        fn on_resize(callback: Box<dyn FnMut(Size<Pixels>, f32)>);
        fn on_moved(callback: Box<dyn FnMut()>);
        fn on_display_changed(callback: Box<dyn FnMut()>);
        fn on_should_close(callback: Box<dyn FnMut() -> bool>);
        fn on_hit_test_window_control(callback: Box<dyn FnMut() -> Option<WindowControlArea>>);
        fn on_close(callback: Box<dyn FnOnce()>);
        fn on_appearance_changed(callback: Box<dyn FnMut()>);
        fn on_button_layout_changed(callback: Box<dyn FnMut()>);
        fn draw(scene: &Scene);
        fn schedule_frame();
        fn sprite_atlas() -> Arc<dyn PlatformAtlas>;
        fn is_subpixel_rendering_supported() -> bool;
        fn get_title() -> String;
        fn set_document_path(path: Option<&std::path::Path>);
        fn native_window_state() -> Option<Vec<u8>>;
        fn restore_native_window_state(state: &[u8]);
        fn request_decorations(decorations: WindowDecorations);
        fn show_window_menu(position: Point<Pixels>);
        fn start_window_move();
        fn can_start_external_drag() -> bool;
        fn start_external_drag(payload: &ExternalDragPayload) -> bool;
        fn start_window_resize(edge: ResizeEdge);
        fn set_input_region(region: Option<&[Bounds<Pixels>]>);
        fn window_decorations() -> Decorations;
        fn window_controls() -> WindowControls;
        fn set_client_inset(inset: Pixels);
        fn gpu_specs() -> Option<GpuSpecs>;
        fn update_ime_position(bounds: Bounds<Pixels>);
        fn play_system_bell();
        fn a11y_init(callbacks: A11yCallbacks);
        fn a11y_tree_update(update: accesskit::TreeUpdate);
        fn a11y_update_window_bounds();
    }
}
