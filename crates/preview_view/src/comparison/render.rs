//! Rendering of two versions of an image.

use std::sync::Arc;

use gpui_kit::{
    AnyElement, Bounds, ContentMask, Context, Hsla, InteractiveElement as _, IntoElement,
    KeyContext, MouseButton, ParentElement as _, Pixels, Render, Role,
    StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, Window, canvas, div, fill,
    point, px, size,
};
use ui::{ActiveTheme as _, Icon, IconButton, Label, Tone, dp};

use super::modes::ComparisonMode;
use super::{ComparedImage, ComparedImages, ImageComparison};
use crate::event::PreviewEvent;
use crate::loading::render_absent;
use crate::surface::{PaintedTile, paint_image};

/// Width of the slider, in pixels.
const SLIDER: f32 = 2.0;

/// A picture that is drawn in a place of the window.
struct Picture {
    tiles: Vec<Arc<PaintedTile>>,
    /// Left, top, width and height in the place.
    placed: [f32; 4],
    /// Side of an image pixel in the window.
    pixel: f32,
}

impl Picture {
    fn paint(&self, place: Bounds<Pixels>, squares: Hsla, window: &mut Window) {
        let [left, top, width, height] = self.placed.map(px);
        let placed = Bounds {
            origin: place.origin + point(left, top),
            size: size(width, height),
        };
        paint_image(&self.tiles, placed, self.pixel, squares, window);
    }
}

impl ImageComparison {
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

    /// Returns the picture of a version. Both versions have one scale, and lie upon each other at the left and the top.
    fn picture(&self, version: &ComparedImage, cx: &mut Context<Self>) -> Picture {
        let (all, room) = (self.size(), self.room());
        let scale = self.viewport.scale(all, room);
        let [left, top, ..] = self.viewport.placed(all, room);
        let part = self.viewport.shown(all, room).map(|it| it * version.scale);
        let zoom = scale * self.screen_scale / version.scale;
        let tiles = version
            .surface
            .update(cx, |surface, cx| surface.tiles(0, zoom, part, cx));
        Picture {
            tiles,
            placed: [left, top, version.size.0 * scale, version.size.1 * scale],
            pixel: scale / version.scale,
        }
    }

    fn difference(&self, images: &ComparedImages, cx: &mut Context<Self>) -> Option<Picture> {
        let difference = images.difference.as_ref()?;
        let room = self.room();
        let scale = self.viewport.scale(difference.size, room);
        let placed = self.viewport.placed(difference.size, room);
        let part = self.viewport.shown(difference.size, room);
        let zoom = scale * self.screen_scale;
        let surface = &difference.surface;
        let tiles = surface.update(cx, |surface, cx| surface.tiles(0, zoom, part, cx));
        Some(Picture {
            tiles,
            placed,
            pixel: scale,
        })
    }

    fn render_pictures(&self, cx: &mut Context<Self>) -> Option<AnyElement> {
        let images = self.content.ready()?;
        let [before, after] = &images.versions;
        let mut picture = |version: &Option<ComparedImage>| {
            version.as_ref().map(|version| self.picture(version, cx))
        };
        let (before, after) = (picture(before), picture(after));
        let difference = self.difference(images, cx);
        let colors = cx.theme().colors;
        let (mode, slider, view) = (self.mode, self.slider, cx.weak_entity());
        let pictures = canvas(
            move |bounds, window, cx| {
                let screen_scale = window.scale_factor();
                let noted = view.update(cx, |view, cx| view.note_bounds(bounds, screen_scale, cx));
                // The view may have been closed.
                noted.ok();
            },
            move |bounds, (), window, _| {
                let squares = colors.border;
                let (left, right) = split(
                    bounds,
                    if mode == ComparisonMode::Slider {
                        slider
                    } else {
                        0.5
                    },
                );
                let mut paint =
                    |picture: &Option<Picture>, place: Bounds<Pixels>, mask: Bounds<Pixels>| {
                        let mask = ContentMask { bounds: mask };
                        window.with_content_mask(Some(mask), |window| {
                            if let Some(picture) = picture {
                                picture.paint(place, squares, window);
                            }
                        });
                    };
                match mode {
                    ComparisonMode::SideBySide => {
                        paint(&before, left, left);
                        paint(&after, right, right);
                    }
                    ComparisonMode::Slider => {
                        paint(&before, bounds, left);
                        paint(&after, bounds, right);
                    }
                    ComparisonMode::Difference => paint(&difference, bounds, bounds),
                }
                if mode != ComparisonMode::Difference {
                    let line = Bounds {
                        origin: right.origin,
                        size: size(px(SLIDER), bounds.size.height),
                    };
                    window.paint_quad(fill(line, colors.border_strong));
                }
            },
        );
        Some(pictures.size_full().into_any_element())
    }

    /// Renders the names and facts of the versions.
    fn render_facts(&self, cx: &Context<Self>) -> AnyElement {
        let colors = cx.theme().colors;
        let images = self.content.ready();
        let facts = |ix: usize, tone: Tone| {
            let version = images.and_then(|images| images.versions[ix].as_ref());
            let text = version.map_or_else(|| "No file".to_owned(), ComparedImage::facts);
            div()
                .flex_1()
                .min_w_0()
                .flex()
                .gap(dp(8.0))
                .child(
                    Label::new(self.names[ix].clone())
                        .small()
                        .color(tone.color(cx)),
                )
                .child(Label::new(text).small().muted())
        };
        let button = |mode: ComparisonMode, id: &'static str, icon: Icon| {
            IconButton::new(id, icon, mode.name())
                .small()
                .pressed(self.mode == mode)
                .on_click(cx.listener(move |this, _, _, cx| this.set_mode(mode, cx)))
        };
        div()
            .flex()
            .flex_none()
            .items_center()
            .gap(dp(8.0))
            .px(dp(12.0))
            .py(dp(6.0))
            .border_b_1()
            .border_color(colors.border)
            .child(facts(0, Tone::Error))
            .child(facts(1, Tone::Success))
            .child(button(
                ComparisonMode::SideBySide,
                "compare-sides",
                Icon::Columns,
            ))
            .child(button(
                ComparisonMode::Slider,
                "compare-slider",
                Icon::ChevronsUpDown,
            ))
            .child(button(
                ComparisonMode::Difference,
                "compare-difference",
                Icon::Diff,
            ))
            .into_any_element()
    }

    fn key_context() -> KeyContext {
        let mut context = KeyContext::default();
        context.add("Preview");
        context.add("comparison");
        context
    }
}

/// Returns the parts of a place at both sides of a cut.
fn split(bounds: Bounds<Pixels>, at: f32) -> (Bounds<Pixels>, Bounds<Pixels>) {
    let width = bounds.size.width * at;
    let left = Bounds {
        origin: bounds.origin,
        size: size(width, bounds.size.height),
    };
    let right = Bounds {
        origin: bounds.origin + point(width, px(0.0)),
        size: size(bounds.size.width - width, bounds.size.height),
    };
    (left, right)
}

impl Render for ImageComparison {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let name = self.path.printable_name();
        let content = render_absent(&self.content, &name, Icon::FileImage);
        let content = content.or_else(|| self.render_pictures(cx));
        let facts = self.render_facts(cx);
        let pictures = div()
            .id("comparison-pictures")
            .flex_1()
            .min_h_0()
            .w_full()
            .overflow_hidden()
            .on_scroll(cx.listener(Self::scrolled))
            .on_mouse_down(MouseButton::Left, cx.listener(Self::pressed))
            .on_mouse_move(cx.listener(Self::moved))
            .on_mouse_up(MouseButton::Left, cx.listener(Self::released))
            .children(content);
        div()
            .id("image-comparison")
            .role(Role::Image)
            .test_support()
            .aria_label(format!("Versions of {name}"))
            .key_context(Self::key_context())
            .track_focus(&self.focus)
            .on_action(cx.listener(Self::next_comparison))
            .on_action(cx.listener(Self::slider_left))
            .on_action(cx.listener(Self::slider_right))
            .on_action(cx.listener(Self::up))
            .on_action(cx.listener(Self::down))
            .on_action(cx.listener(Self::left))
            .on_action(cx.listener(Self::right))
            .on_action(cx.listener(Self::zoom_in))
            .on_action(cx.listener(Self::zoom_out))
            .on_action(cx.listener(Self::zoom_to_fit))
            .on_action(cx.listener(Self::actual_size))
            .on_action(cx.listener(Self::cancel))
            .flex()
            .flex_col()
            .size_full()
            .bg(cx.theme().colors.surface)
            .child(facts)
            .child(pictures)
    }
}
