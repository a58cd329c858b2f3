//! Rendering of an image.

use gpui_kit::{
    AnyElement, Bounds, Context, InteractiveElement as _, IntoElement, KeyContext, MouseButton,
    ParentElement as _, Pixels, Render, Role, StatefulInteractiveElement as _, Styled as _,
    TestSupportExt as _, Window, canvas, div, point, px, size,
};
use ui::{ActiveTheme as _, Icon, Menu, MenuExt as _};

use super::ImagePreview;
use crate::actions::{
    ActualSize, Copy, OpenText, Reload, ToggleAnimation, ZoomIn, ZoomOut, ZoomToFit,
};
use crate::event::PreviewEvent;
use crate::loading::render_absent;
use crate::surface::paint_image;

impl ImagePreview {
    /// Notes the place in the window, which decides the zoom of an image that fits into it.
    fn note_bounds(&mut self, bounds: Bounds<Pixels>, screen_scale: f32, cx: &mut Context<Self>) {
        if self.bounds == Some(bounds) && self.screen_scale == screen_scale {
            return;
        }
        self.bounds = Some(bounds);
        self.screen_scale = screen_scale;
        // A request for a frame has no effect while one is made.
        let view = cx.entity();
        cx.defer(move |cx| {
            view.update(cx, |_, cx| {
                cx.emit(PreviewEvent::StatusChanged);
                cx.notify();
            });
        });
    }

    fn render_image(&self, cx: &mut Context<Self>) -> Option<AnyElement> {
        let image = self.content.ready()?;
        let (size_of_image, room) = (image.size, self.room());
        let scale = self.viewport.scale(size_of_image, room);
        let placed = self.viewport.placed(size_of_image, room);
        let part = self.viewport.shown(size_of_image, room);
        let part = part.map(|length| length * image.scale);
        let zoom = scale * self.screen_scale / image.scale;
        let frame = self.frame;
        let tiles = image
            .surface
            .update(cx, |surface, cx| surface.tiles(frame, zoom, part, cx));
        let squares = cx.theme().colors.border;
        let (pixel, view) = (scale / image.scale, cx.weak_entity());
        let picture = canvas(
            move |bounds, window, cx| {
                let screen_scale = window.scale_factor();
                let noted = view.update(cx, |view, cx| view.note_bounds(bounds, screen_scale, cx));
                // The view may have been closed.
                noted.ok();
            },
            move |bounds, (), window, _| {
                let [left, top, width, height] = placed.map(px);
                let placed = Bounds {
                    origin: bounds.origin + point(left, top),
                    size: size(width, height),
                };
                paint_image(&tiles, placed, pixel, squares, window);
            },
        );
        Some(picture.size_full().into_any_element())
    }

    fn key_context(&self) -> KeyContext {
        let mut context = KeyContext::default();
        context.add("Preview");
        context.add("image");
        context
    }

    fn menu(&self) -> Menu {
        let image = self.content.ready();
        let is_animation = image.is_some_and(|image| image.delays.len() > 1);
        let is_text = image.is_some_and(|image| image.format.is_text());
        Menu::new()
            .focus(self.focus.clone())
            .action("Zoom in", Box::new(ZoomIn))
            .action("Zoom out", Box::new(ZoomOut))
            .action("Fit into the view", Box::new(ZoomToFit))
            .action("Actual size", Box::new(ActualSize))
            .separator()
            .action_if("Pause or continue", Box::new(ToggleAnimation), is_animation)
            .action("Copy image", Box::new(Copy))
            .action("Read again", Box::new(Reload))
            .action_if("Open as text", Box::new(OpenText), is_text)
    }
}

impl Render for ImagePreview {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let name = self.source.path.printable_name();
        let content = render_absent(&self.content, &name, Icon::FileImage);
        let content = content.or_else(|| self.render_image(cx));
        let this = cx.weak_entity();
        let picture = div()
            .id("image-surface")
            .flex_1()
            .min_h_0()
            .w_full()
            .overflow_hidden()
            .on_scroll(cx.listener(Self::scrolled))
            .on_pinch(cx.listener(Self::pinched))
            .on_mouse_down(MouseButton::Left, cx.listener(Self::pressed))
            .on_mouse_move(cx.listener(Self::moved))
            .on_mouse_up(MouseButton::Left, cx.listener(Self::released))
            .children(content)
            .menu_on_right_click(move |_, cx| match this.upgrade() {
                Some(view) => view.read(cx).menu(),
                None => Menu::new(),
            });
        div()
            .id("image-preview")
            .role(Role::Image)
            .test_support()
            .aria_label(format!("Image {name}"))
            .key_context(self.key_context())
            .track_focus(&self.focus)
            .on_action(cx.listener(Self::up))
            .on_action(cx.listener(Self::down))
            .on_action(cx.listener(Self::left))
            .on_action(cx.listener(Self::right))
            .on_action(cx.listener(Self::page_up))
            .on_action(cx.listener(Self::page_down))
            .on_action(cx.listener(Self::start))
            .on_action(cx.listener(Self::end))
            .on_action(cx.listener(Self::zoom_in))
            .on_action(cx.listener(Self::zoom_out))
            .on_action(cx.listener(Self::zoom_to_fit))
            .on_action(cx.listener(Self::actual_size))
            .on_action(cx.listener(Self::toggle_animation))
            .on_action(cx.listener(Self::copy))
            .on_action(cx.listener(Self::reload))
            .on_action(cx.listener(Self::cancel))
            .flex()
            .flex_col()
            .size_full()
            .bg(cx.theme().colors.surface)
            .child(picture)
    }
}
