//! Mouse input: selecting, moving text, carets and boxes, gutter, scrollbars, wheel.
//!
//! Start at `listen`; a press starts a `Drag`, which moves and the release continue.

mod bars;
pub(crate) mod drop;
mod press;
mod wheel;

use std::time::Duration;

use base::Bias;
use caret::{ColumnBox, Command, SelectionUnit};
use gpui_kit::{
    App, Context, CursorStyle, DispatchPhase, Entity, Hitbox, MouseButton, MouseDownEvent,
    MouseMoveEvent, MouseUpEvent, Pixels, Point, ScrollEvent, Window,
};

use crate::editor::{Editor, clipboard, hover, links};
use crate::frame::{Geometry, HitArea};
use crate::pointer::Drag;

/// Registers the mouse listeners of a view for this frame, over the areas of the whole view and of
/// the text. Call this while painting.
pub(crate) fn listen(
    editor: &Entity<Editor>,
    whole: &Hitbox,
    text: &Hitbox,
    window: &mut Window,
    cx: &App,
) {
    let cursor = match editor.read(cx).link.span() {
        Some(_) => CursorStyle::PointingHand,
        None => CursorStyle::IBeam,
    };
    window.set_cursor_style(cursor, text);
    let (view, over) = (editor.downgrade(), whole.clone());
    window.on_mouse_event(move |event: &MouseDownEvent, phase, window, cx| {
        if phase == DispatchPhase::Bubble && over.is_hovered(window) {
            // A closed view ignores events; also below.
            view.update(cx, |editor, cx| press::press(editor, event, window, cx))
                .ok();
        }
    });
    let (view, over) = (editor.downgrade(), whole.clone());
    window.on_mouse_event(move |event: &MouseMoveEvent, phase, window, cx| {
        if phase == DispatchPhase::Bubble {
            let is_over = over.is_hovered(window);
            view.update(cx, |editor, cx| {
                move_pointer(editor, event, is_over, window, cx)
            })
            .ok();
        }
    });
    let (view, over) = (editor.downgrade(), whole.clone());
    window.on_mouse_event(move |event: &MouseUpEvent, phase, window, cx| {
        if phase == DispatchPhase::Bubble {
            let is_over = over.is_hovered(window);
            view.update(cx, |editor, cx| release(editor, event, is_over, window, cx))
                .ok();
        }
    });
    let (view, over) = (editor.downgrade(), whole.clone());
    window.on_mouse_event(move |event: &ScrollEvent, phase, window, cx| {
        if phase == DispatchPhase::Bubble && over.should_handle_scroll(window) {
            view.update(cx, |editor, cx| wheel::scroll(editor, event, cx))
                .ok();
            cx.stop_propagation();
        }
    });
}

fn move_pointer(
    editor: &mut Editor,
    event: &MouseMoveEvent,
    is_over: bool,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    editor.mouse.position = event.position;
    note_hover(editor, is_over.then_some(event.position), cx);
    hover::pointer_moved(editor, is_over, cx);
    links::pointer_moved(editor, is_over, &event.modifiers, cx);
    drop::note_dragged_text(editor, is_over, cx);
    if editor.mouse.drag.is_none() {
        return;
    }
    if event.pressed_button.is_none() {
        // The button was released over another window.
        end_drag(editor, cx);
        return;
    }
    go_on_dragging(editor, window, cx);
    scroll_while_dragging(editor, window, cx);
}

fn note_hover(editor: &mut Editor, position: Option<Point<Pixels>>, cx: &mut Context<Editor>) {
    let area = editor
        .geometry
        .as_ref()
        .zip(position)
        .map(|(geometry, position)| geometry.area_at(position));
    let in_gutter = matches!(area, Some(HitArea::Gutter | HitArea::Folds));
    let bar = area.filter(|area| matches!(area, HitArea::Vertical | HitArea::Horizontal));
    if in_gutter != editor.mouse.is_over_gutter || bar != editor.mouse.hovered {
        editor.mouse.is_over_gutter = in_gutter;
        editor.mouse.hovered = bar;
        cx.notify();
    }
}

/// Extends the selection to the pointer.
fn go_on_dragging(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    let position = editor.mouse.position;
    let Some(point) = editor.display_point_at(position) else {
        return;
    };
    match editor.mouse.drag.clone() {
        Some(Drag::Select {
            from,
            unit,
            keep_others,
        }) => {
            let to = editor.display.to_buffer(point, Bias::Left);
            select_with_pointer(
                editor,
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
            editor.mouse.drag = Some(Drag::Box {
                anchor,
                is_click: false,
            });
            select_with_pointer(
                editor,
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
            editor.mouse.drag = Some(Drag::Move {
                spans,
                start,
                has_moved,
            });
            if has_moved {
                drop::offer_dragged_text(cx);
            }
            cx.notify();
        }
        Some(Drag::Bar { area, grab }) => bars::drag_bar(editor, area, grab, cx),
        None => {}
    }
}

/// Runs a command without scrolling to the caret, because the pointer determines the scroll
/// position.
fn select_with_pointer(
    editor: &mut Editor,
    command: Command,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    let follow = editor.follow;
    editor.run(&command, window, cx);
    editor.follow = follow;
    clipboard::offer_primary(editor, cx);
}

/// Keeps scrolling while the pointer is held beyond an edge.
fn scroll_while_dragging(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    const TICK: Duration = Duration::from_millis(16);
    if beyond_edge(editor).is_none() {
        editor.mouse.scroll_task = None;
        return;
    }
    if editor.mouse.scroll_task.is_some() {
        return;
    }
    editor.mouse.scroll_task = Some(cx.spawn_in(window, async move |this, cx| {
        loop {
            cx.background_executor().timer(TICK).await;
            let goes_on = this.update_in(cx, |editor, window, cx| {
                let Some((rows, pixels)) = beyond_edge(editor) else {
                    return false;
                };
                editor.scroll_by(rows, cx);
                editor.scroll_sideways(pixels, cx);
                go_on_dragging(editor, window, cx);
                editor.mouse.drag.is_some()
            });
            if !goes_on.unwrap_or(false) {
                return;
            }
        }
    }));
}

/// Returns the scroll distance per tick, in rows and pixels, growing with the distance of the
/// pointer.
fn beyond_edge(editor: &Editor) -> Option<(f64, f64)> {
    let geometry = editor.geometry.as_ref()?;
    match editor.mouse.drag.as_ref()? {
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
        outside(
            editor.mouse.position.x,
            geometry.bounds.left(),
            text.right(),
        ),
        outside(editor.mouse.position.y, text.top(), text.bottom()),
    );
    (x != 0.0 || y != 0.0).then(|| ((y * 0.02).clamp(-6.0, 6.0), (x * 0.3).clamp(-80.0, 80.0)))
}

fn release(
    editor: &mut Editor,
    event: &MouseUpEvent,
    is_over: bool,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    editor.mouse.position = event.position;
    let Some(drag) = editor.mouse.drag.clone() else {
        if is_over {
            drop::take_dragged_text(editor, event, window, cx);
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
        drop::end_drag_later(window, cx);
        return;
    }
    end_drag(editor, cx);
    editor.sync(cx);
    let offset = editor.offset_at(event.position, cx);
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
            drop::move_text(editor, &spans, offset, copies, window, cx);
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
            select_with_pointer(editor, command, window, cx);
        }
        (Drag::Box { is_click: true, .. }, Some(_))
            if event.button == MouseButton::Middle && editor.settings.middle_click_paste =>
        {
            clipboard::paste_primary(editor, window, cx);
        }
        _ => {}
    }
}

/// Ends a drag operation without completing it.
pub(crate) fn end_drag(editor: &mut Editor, cx: &mut Context<Editor>) {
    editor.mouse.drag = None;
    editor.mouse.scroll_task = None;
    drop::withdraw_dragged_text(editor, cx);
    cx.notify();
}

/// Returns the area at a pixel, for the submodules.
fn area_of(geometry: Option<&Geometry>, position: Point<Pixels>) -> HitArea {
    geometry.map_or(HitArea::Text, |geometry| geometry.area_at(position))
}
