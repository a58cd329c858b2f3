//! Mouse input: selecting, moving text, carets and boxes, gutter, scrollbars, wheel.
//!
//! Start at `listen`; a press starts a `Drag`, which moves and the release continue.

mod bars;
mod drop;
mod press;
mod wheel;

use std::time::Duration;

use base::{Bias, ByteOffset, Span};
use caret::{ColumnBox, Command, SelectionUnit};
use display::DisplayPoint;
use gpui_kit::{
    Context, CursorStyle, DispatchPhase, Entity, Hitbox, MouseButton, MouseDownEvent,
    MouseMoveEvent, MouseUpEvent, Pixels, Point, ScrollEvent, Window,
};
use text::Change;

use crate::editor::Editor;
use crate::element::{Geometry, HitArea};

/// Drag operation started by a button press.
#[derive(Clone, Debug)]
pub(crate) enum Drag {
    /// Selects text from a position.
    Select {
        from: ByteOffset,
        unit: SelectionUnit,
        keep_others: bool,
    },
    /// Selects a box. `is_click` until the pointer moves, for pasting with the middle button.
    Box {
        anchor: DisplayPoint,
        is_click: bool,
    },
    /// Moves the selected text once the pointer has left its start; also to another view.
    Move {
        spans: Vec<Span>,
        start: Point<Pixels>,
        has_moved: bool,
    },
    /// Moves the handle of a scrollbar, grabbed at `grab` pixels from its start.
    Bar { area: HitArea, grab: Pixels },
}

impl Drag {
    /// Maps its offsets through a change made elsewhere.
    pub(crate) fn follow(&mut self, change: &Change) {
        match self {
            Drag::Select { from, .. } => *from = change.map(*from, Bias::Left),
            Drag::Move { spans, .. } => spans
                .iter_mut()
                .for_each(|span| *span = change.map_span(*span)),
            Drag::Box { .. } | Drag::Bar { .. } => {}
        }
    }
}

/// Registers mouse listeners for a view. Part of painting.
pub(crate) fn listen(editor: &Entity<Editor>, whole: &Hitbox, text: &Hitbox, window: &mut Window) {
    window.set_cursor_style(CursorStyle::IBeam, text);
    let (view, over) = (editor.downgrade(), whole.clone());
    window.on_mouse_event(move |event: &MouseDownEvent, phase, window, cx| {
        if phase == DispatchPhase::Bubble && over.is_hovered(window) {
            // A closed view ignores events; also below.
            view.update(cx, |editor, cx| editor.press(event, window, cx))
                .ok();
        }
    });
    let (view, over) = (editor.downgrade(), whole.clone());
    window.on_mouse_event(move |event: &MouseMoveEvent, phase, window, cx| {
        if phase == DispatchPhase::Bubble {
            let is_over = over.is_hovered(window);
            view.update(cx, |editor, cx| {
                editor.move_pointer(event, is_over, window, cx)
            })
            .ok();
        }
    });
    let (view, over) = (editor.downgrade(), whole.clone());
    window.on_mouse_event(move |event: &MouseUpEvent, phase, window, cx| {
        if phase == DispatchPhase::Bubble {
            let is_over = over.is_hovered(window);
            view.update(cx, |editor, cx| editor.release(event, is_over, window, cx))
                .ok();
        }
    });
    let (view, over) = (editor.downgrade(), whole.clone());
    window.on_mouse_event(move |event: &ScrollEvent, phase, window, cx| {
        if phase == DispatchPhase::Bubble && over.should_handle_scroll(window) {
            view.update(cx, |editor, cx| editor.wheel(event, cx)).ok();
            cx.stop_propagation();
        }
    });
}

impl Editor {
    /// Returns the offset nearest to a pixel.
    pub fn offset_at(
        &mut self,
        position: Point<Pixels>,
        cx: &mut Context<Self>,
    ) -> Option<ByteOffset> {
        self.sync(cx);
        let point = self.display_point_at(position)?;
        Some(self.display.to_buffer(point, Bias::Left))
    }

    pub(crate) fn display_point_at(&self, position: Point<Pixels>) -> Option<DisplayPoint> {
        Some(self.geometry.as_ref()?.point_at(position, &self.display))
    }

    /// Returns the corner below the caret, clamped to the visible text.
    pub(crate) fn caret_corner(&self) -> Option<Point<Pixels>> {
        let geometry = self.geometry.as_ref()?;
        let place = self
            .display
            .to_display(self.selections.primary().head, Bias::Left);
        let y = geometry.y_of(self.display.y_of(place.row)) + geometry.line_height;
        let sight = geometry.text;
        let (x, last) = (geometry.x_of(place.cell), gpui_kit::px(1.0));
        Some(gpui_kit::point(
            x.min(sight.right() - last).max(sight.left()),
            y.min(sight.bottom() - last).max(sight.top()),
        ))
    }

    fn move_pointer(
        &mut self,
        event: &MouseMoveEvent,
        is_over: bool,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.pointer = event.position;
        self.note_hover(is_over.then_some(event.position), cx);
        self.note_dragged_text(is_over, cx);
        if self.drag.is_none() {
            return;
        }
        if event.pressed_button.is_none() {
            // The button was released over another window.
            self.end_drag(cx);
            return;
        }
        self.go_on_dragging(window, cx);
        self.scroll_while_dragging(window, cx);
    }

    fn note_hover(&mut self, position: Option<Point<Pixels>>, cx: &mut Context<Self>) {
        let area = self
            .geometry
            .as_ref()
            .zip(position)
            .map(|(geometry, position)| geometry.area_at(position));
        let in_gutter = matches!(area, Some(HitArea::Gutter | HitArea::Folds));
        let bar = area.filter(|area| matches!(area, HitArea::Vertical | HitArea::Horizontal));
        if in_gutter != self.gutter_hovered || bar != self.hovered {
            self.gutter_hovered = in_gutter;
            self.hovered = bar;
            cx.notify();
        }
    }

    /// Extends the selection to the pointer.
    fn go_on_dragging(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        let position = self.pointer;
        let Some(point) = self.display_point_at(position) else {
            return;
        };
        match self.drag.clone() {
            Some(Drag::Select {
                from,
                unit,
                keep_others,
            }) => {
                let to = self.display.to_buffer(point, Bias::Left);
                self.select_with_pointer(
                    Command::SelectBetween {
                        from,
                        to,
                        unit,
                        keep_others,
                    },
                    window,
                    cx,
                );
            }
            Some(Drag::Box { anchor, .. }) if point != anchor => {
                self.drag = Some(Drag::Box {
                    anchor,
                    is_click: false,
                });
                self.select_with_pointer(
                    Command::SelectBox(ColumnBox {
                        anchor,
                        head: point,
                    }),
                    window,
                    cx,
                );
            }
            Some(Drag::Box { .. }) => {}
            Some(Drag::Move {
                spans,
                start,
                has_moved,
            }) => {
                let far = |a: Pixels, b: Pixels| f32::from(a - b).abs() > 4.0;
                let has_moved = has_moved || far(position.x, start.x) || far(position.y, start.y);
                self.drag = Some(Drag::Move {
                    spans,
                    start,
                    has_moved,
                });
                if has_moved {
                    self.offer_dragged_text(cx);
                }
                cx.notify();
            }
            Some(Drag::Bar { area, grab }) => self.drag_bar(area, grab, cx),
            None => {}
        }
    }

    /// Runs a command without scrolling to the caret, because the pointer determines the scroll
    /// position.
    fn select_with_pointer(
        &mut self,
        command: Command,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let follow = self.follow;
        self.run(&command, window, cx);
        self.follow = follow;
        self.offer_primary(cx);
    }

    /// Keeps scrolling while the pointer is held beyond an edge.
    fn scroll_while_dragging(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        const TICK: Duration = Duration::from_millis(16);
        if self.beyond_edge().is_none() {
            self.drag_task = None;
            return;
        }
        if self.drag_task.is_some() {
            return;
        }
        self.drag_task = Some(cx.spawn_in(window, async move |this, cx| {
            loop {
                cx.background_executor().timer(TICK).await;
                let goes_on = this.update_in(cx, |editor, window, cx| {
                    let Some((rows, pixels)) = editor.beyond_edge() else {
                        return false;
                    };
                    editor.scroll_by(rows, cx);
                    editor.scroll_sideways(pixels, cx);
                    editor.go_on_dragging(window, cx);
                    editor.drag.is_some()
                });
                if !goes_on.unwrap_or(false) {
                    return;
                }
            }
        }));
    }

    /// Returns the scroll distance per tick, in rows and pixels, growing with the distance of the
    /// pointer.
    fn beyond_edge(&self) -> Option<(f64, f64)> {
        let geometry = self.geometry.as_ref()?;
        match self.drag.as_ref()? {
            Drag::Bar { .. } => return None,
            Drag::Select { .. } | Drag::Box { .. } | Drag::Move { .. } => {}
        }
        let outside = |at: Pixels, from: Pixels, to: Pixels| {
            f64::from(f32::from(if at < from {
                at - from
            } else if at > to {
                at - to
            } else {
                Pixels::ZERO
            }))
        };
        let text = &geometry.text;
        let (x, y) = (
            outside(self.pointer.x, geometry.bounds.left(), text.right()),
            outside(self.pointer.y, text.top(), text.bottom()),
        );
        (x != 0.0 || y != 0.0).then(|| ((y * 0.02).clamp(-6.0, 6.0), (x * 0.3).clamp(-80.0, 80.0)))
    }

    fn release(
        &mut self,
        event: &MouseUpEvent,
        is_over: bool,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.pointer = event.position;
        let Some(drag) = self.drag.clone() else {
            if is_over {
                self.take_dragged_text(event, window, cx);
            }
            return;
        };
        if matches!(
            drag,
            Drag::Move {
                has_moved: true,
                ..
            }
        ) && !is_over
        {
            self.end_drag_later(window, cx);
            return;
        }
        self.end_drag(cx);
        self.sync(cx);
        let offset = self.offset_at(event.position, cx);
        match (drag, offset) {
            (
                Drag::Move {
                    spans,
                    has_moved: true,
                    ..
                },
                Some(offset),
            ) => {
                let copies = event.modifiers.secondary(cx) || event.modifiers.alt;
                self.move_text(&spans, offset, copies, window, cx);
            }
            (
                Drag::Move {
                    has_moved: false, ..
                },
                Some(offset),
            ) => {
                let command = Command::SelectBetween {
                    from: offset,
                    to: offset,
                    unit: SelectionUnit::Character,
                    keep_others: false,
                };
                self.select_with_pointer(command, window, cx);
            }
            (Drag::Box { is_click: true, .. }, Some(_))
                if event.button == MouseButton::Middle && self.settings.middle_click_paste =>
            {
                self.paste_primary(window, cx);
            }
            _ => {}
        }
    }

    pub(crate) fn end_drag(&mut self, cx: &mut Context<Self>) {
        self.drag = None;
        self.drag_task = None;
        self.withdraw_dragged_text(cx);
        cx.notify();
    }
}

/// Returns the area at a pixel, for the submodules.
fn area_of(geometry: Option<&Geometry>, position: Point<Pixels>) -> HitArea {
    geometry.map_or(HitArea::Text, |geometry| geometry.area_at(position))
}
