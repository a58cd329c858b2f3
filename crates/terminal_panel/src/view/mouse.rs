//! The mouse: selection, reports to the program, links, the scrollbar and the wheel.

use std::time::Duration;

use gpui_kit::{
    App, Context, CursorStyle, DispatchPhase, Entity, Hitbox, Modifiers, MouseButton,
    MouseDownEvent, MouseMoveEvent, MouseUpEvent, Pixels, Point, ScrollDelta, ScrollEvent, Task,
    Window,
};
use terminal::{
    CellHalf, CellPosition, KeyModifiers, MouseInput, MouseKind, SelectionKind,
    TerminalMouseButton, WheelDirection, WheelEffect, encode_mouse, is_mouse_reported,
    wheel_effect,
};
use ui::ActiveSettings as _;

use super::TerminalView;
use super::links::follows_links;
use super::{links, scrolling};
use crate::frame::HitArea;

/// Lines of a notch of the wheel.
const NOTCH: u16 = 3;

/// Time between two lines while the pointer is held beyond an edge.
const SCROLL_STEP: Duration = Duration::from_millis(40);

/// State of the mouse over a view.
#[derive(Default)]
pub(crate) struct TerminalMouse {
    position: Point<Pixels>,
    /// Whether the pointer is over the view.
    pub(super) is_over: bool,
    pub(crate) is_over_scrollbar: bool,
    pub(crate) drag: Option<TerminalDrag>,
    /// The cell of the last report.
    reported: Option<(u16, u16)>,
    /// Part of a line that the touchpad has scrolled.
    scrolled: f32,
    scroll_task: Option<Task<()>>,
}

/// The effect of a pressed button until it is released.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TerminalDrag {
    Select,
    /// Moves the handle of the scrollbar, grabbed at this distance from its top.
    Scrollbar(Pixels),
    /// The program gets the events.
    Report(TerminalMouseButton),
}

/// Registers the mouse listeners of a view for this frame. Call it while painting.
pub(crate) fn listen(view: &Entity<TerminalView>, area: &Hitbox, window: &mut Window, cx: &App) {
    let state = view.read(cx);
    let cursor = if state.link.target().is_some() {
        CursorStyle::PointingHand
    } else if state.mouse.is_over_scrollbar {
        CursorStyle::Arrow
    } else {
        CursorStyle::IBeam
    };
    window.set_cursor_style(cursor, area);
    let (this, over) = (view.downgrade(), area.clone());
    window.on_mouse_event(move |event: &MouseDownEvent, phase, window, cx| {
        if phase == DispatchPhase::Bubble && over.is_hovered(window) {
            // A closed view ignores events; also below.
            this.update(cx, |view, cx| press(view, event, window, cx))
                .ok();
        }
    });
    let (this, over) = (view.downgrade(), area.clone());
    window.on_mouse_event(move |event: &MouseMoveEvent, phase, window, cx| {
        if phase == DispatchPhase::Bubble {
            let is_over = over.is_hovered(window);
            this.update(cx, |view, cx| move_pointer(view, event, is_over, cx))
                .ok();
        }
    });
    let this = view.downgrade();
    window.on_mouse_event(move |event: &MouseUpEvent, phase, _, cx| {
        if phase == DispatchPhase::Bubble {
            this.update(cx, |view, cx| release(view, event, cx)).ok();
        }
    });
    let (this, over) = (view.downgrade(), area.clone());
    window.on_mouse_event(move |event: &ScrollEvent, phase, window, cx| {
        if phase == DispatchPhase::Bubble && over.should_handle_scroll(window) {
            this.update(cx, |view, cx| wheel(view, event, cx)).ok();
            cx.stop_propagation();
        }
    });
}

fn press(
    view: &mut TerminalView,
    event: &MouseDownEvent,
    window: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    view.mouse.position = event.position;
    window.focus(&view.focus, cx);
    view.refresh(cx);
    let area = view.geometry.as_ref().map(|it| it.area_at(event.position));
    if area == Some(HitArea::Scrollbar) {
        if event.button == MouseButton::Left {
            grab_scrollbar(view, cx);
        }
        return;
    }
    let cell = position_at(view, event.position);
    let follows = event.button == MouseButton::Left && follows_links(&event.modifiers, cx);
    if let Some((position, _)) = cell.filter(|_| follows)
        && links::follow_link(view, position, cx)
    {
        return;
    }
    if reports_mouse(view, &event.modifiers) {
        if let Some(button) = reported_button(event.button) {
            view.mouse.drag = Some(TerminalDrag::Report(button));
            report(
                view,
                MouseKind::Press(button),
                event.position,
                &event.modifiers,
                cx,
            );
        }
        return;
    }
    match event.button {
        MouseButton::Left => press_to_select(view, event, cell, cx),
        MouseButton::Middle if cx.settings().editor.middle_click_paste => {
            view.paste_primary(window, cx);
        }
        _ => {}
    }
}

fn press_to_select(
    view: &mut TerminalView,
    event: &MouseDownEvent,
    cell: Option<(CellPosition, CellHalf)>,
    cx: &mut Context<TerminalView>,
) {
    let Some((position, half)) = cell else {
        return;
    };
    view.mouse.drag = Some(TerminalDrag::Select);
    let extends = event.modifiers.shift && view.contents.snapshot.selection.is_some();
    let kind = match event.click_count {
        2 => SelectionKind::Words,
        count if count >= 3 => SelectionKind::Lines,
        _ if event.modifiers.alt => SelectionKind::Block,
        _ => SelectionKind::Cells,
    };
    view.change_emulator(cx, |emulator| {
        if extends {
            emulator.extend_selection(position, half);
        } else {
            emulator.start_selection(kind, position, half);
            if matches!(kind, SelectionKind::Words | SelectionKind::Lines) {
                emulator.extend_selection(position, half);
            }
        }
    });
}

fn move_pointer(
    view: &mut TerminalView,
    event: &MouseMoveEvent,
    is_over: bool,
    cx: &mut Context<TerminalView>,
) {
    view.mouse.position = event.position;
    view.mouse.is_over = is_over;
    let on_bar = is_over
        && view
            .geometry
            .as_ref()
            .is_some_and(|it| it.area_at(event.position) == HitArea::Scrollbar);
    if on_bar != view.mouse.is_over_scrollbar {
        view.mouse.is_over_scrollbar = on_bar;
        cx.notify();
    }
    if event.pressed_button.is_none() && view.mouse.drag.is_some() {
        // The button was released over another window.
        end_drag(view, cx);
    }
    match view.mouse.drag {
        Some(TerminalDrag::Select) => {
            extend_to_pointer(view, cx);
            scroll_beyond_edge(view, cx);
        }
        Some(TerminalDrag::Scrollbar(grab)) => drag_scrollbar(view, grab, cx),
        Some(TerminalDrag::Report(button)) => {
            let kind = MouseKind::Move(Some(button));
            report_move(view, kind, event.position, &event.modifiers, cx);
        }
        None => {
            point_at_link(view, is_over && !on_bar, &event.modifiers, cx);
            if is_over && reports_mouse(view, &event.modifiers) {
                let kind = MouseKind::Move(None);
                report_move(view, kind, event.position, &event.modifiers, cx);
            }
        }
    }
}

/// Looks for a link under the pointer after the pointer or the link key moved.
pub(super) fn point_at_link(
    view: &mut TerminalView,
    is_over: bool,
    modifiers: &Modifiers,
    cx: &mut Context<TerminalView>,
) {
    let follows = is_over && follows_links(modifiers, cx);
    let cell = follows.then(|| position_at(view, view.mouse.position));
    links::hover_link(view, cell.flatten().map(|(position, _)| position), cx);
}

fn release(view: &mut TerminalView, event: &MouseUpEvent, cx: &mut Context<TerminalView>) {
    view.mouse.position = event.position;
    match view.mouse.drag {
        Some(TerminalDrag::Report(button)) => {
            report(
                view,
                MouseKind::Release(button),
                event.position,
                &event.modifiers,
                cx,
            );
            end_drag(view, cx);
        }
        Some(TerminalDrag::Select) if event.button == MouseButton::Left => {
            if view.selected_text().is_none() {
                view.change_emulator(cx, terminal::Emulator::clear_selection);
            }
            view.offer_selection(cx);
            end_drag(view, cx);
        }
        Some(_) => end_drag(view, cx),
        None => {}
    }
}

fn end_drag(view: &mut TerminalView, cx: &mut Context<TerminalView>) {
    view.mouse.drag = None;
    view.mouse.scroll_task = None;
    cx.notify();
}

fn extend_to_pointer(view: &mut TerminalView, cx: &mut Context<TerminalView>) {
    if let Some((position, half)) = position_at(view, view.mouse.position) {
        view.change_emulator(cx, |emulator| emulator.extend_selection(position, half));
    }
}

/// Scrolls while the pointer is held above or below the cells.
fn scroll_beyond_edge(view: &mut TerminalView, cx: &mut Context<TerminalView>) {
    let Some(lines) = lines_beyond_edge(view) else {
        view.mouse.scroll_task = None;
        return;
    };
    if view.mouse.scroll_task.is_some() {
        return;
    }
    scrolling::scroll_lines(view, lines, cx);
    view.mouse.scroll_task = Some(cx.spawn(async move |this, cx| {
        loop {
            cx.background_executor().timer(SCROLL_STEP).await;
            let goes_on = this.update(cx, |this, cx| {
                let lines = lines_beyond_edge(this);
                if let Some(lines) = lines {
                    scrolling::scroll_lines(this, lines, cx);
                    this.refresh(cx);
                    extend_to_pointer(this, cx);
                }
                lines.is_some()
            });
            // The view may be closed.
            if !goes_on.unwrap_or(false) {
                return;
            }
        }
    }));
}

fn lines_beyond_edge(view: &TerminalView) -> Option<i32> {
    let geometry = view.geometry.as_ref()?;
    let y = view.mouse.position.y;
    if view.mouse.drag != Some(TerminalDrag::Select) {
        None
    } else if y < geometry.cells.top() {
        Some(1)
    } else if y > geometry.cells.bottom() {
        Some(-1)
    } else {
        None
    }
}

fn grab_scrollbar(view: &mut TerminalView, cx: &mut Context<TerminalView>) {
    let Some(geometry) = &view.geometry else {
        return;
    };
    let Some(handle) = geometry.handle(view.contents.snapshot.scroll) else {
        return;
    };
    let y = view.mouse.position.y;
    let is_on_handle = handle.top() <= y && y < handle.bottom();
    let grab = if is_on_handle {
        y - handle.top()
    } else {
        handle.size.height / 2.0
    };
    view.mouse.drag = Some(TerminalDrag::Scrollbar(grab));
    if !is_on_handle {
        drag_scrollbar(view, grab, cx);
    }
    cx.notify();
}

fn drag_scrollbar(view: &mut TerminalView, grab: Pixels, cx: &mut Context<TerminalView>) {
    let Some(geometry) = &view.geometry else {
        return;
    };
    let top = view.mouse.position.y - grab;
    let offset = geometry.offset_for_handle(top, view.contents.snapshot.scroll);
    scrolling::scroll_to_offset(view, offset, cx);
}

fn wheel(view: &mut TerminalView, event: &ScrollEvent, cx: &mut Context<TerminalView>) {
    view.refresh(cx);
    let Some(geometry) = &view.geometry else {
        return;
    };
    let (steps, lines) = match event.delta {
        ScrollDelta::Lines(delta) => (delta.y, NOTCH),
        ScrollDelta::Pixels(delta) => {
            let scrolled = f32::from(delta.y) / f32::from(geometry.line_height);
            (scrolled, 1)
        }
    };
    view.mouse.scrolled += steps;
    let whole = view.mouse.scrolled.trunc();
    view.mouse.scrolled -= whole;
    let direction = if whole > 0.0 {
        WheelDirection::Up
    } else {
        WheelDirection::Down
    };
    // More steps than a screen in one event are a mistake of the device.
    let count = (whole.abs() as u16).min(200);
    for _ in 0..count {
        wheel_step(view, direction, lines, event, cx);
    }
}

fn wheel_step(
    view: &mut TerminalView,
    direction: WheelDirection,
    lines: u16,
    event: &ScrollEvent,
    cx: &mut Context<TerminalView>,
) {
    let kind = MouseKind::Wheel(direction);
    let input = mouse_input(view, kind, event.position, &event.modifiers);
    let modes = &view.contents.snapshot.modes;
    // The mouse takes no program of an agent over.
    let input = input.filter(|_| !view.is_watching());
    let effect = input.map(|input| wheel_effect(&input, lines, modes));
    match effect {
        Some(WheelEffect::Send(bytes)) => {
            if let Some(program) = view.running_program() {
                program.write(bytes);
            }
        }
        Some(WheelEffect::Scroll) | None => {
            let lines = i32::from(lines);
            let sign = if direction == WheelDirection::Up {
                1
            } else {
                -1
            };
            scrolling::scroll_lines(view, lines * sign, cx);
        }
    }
}

/// Returns whether mouse events go to the program.
pub(super) fn reports_mouse(view: &TerminalView, modifiers: &Modifiers) -> bool {
    view.running_program().is_some()
        && !view.is_watching()
        && is_mouse_reported(&view.contents.snapshot.modes, key_modifiers(modifiers))
}

fn report_move(
    view: &mut TerminalView,
    kind: MouseKind,
    position: Point<Pixels>,
    modifiers: &Modifiers,
    cx: &mut Context<TerminalView>,
) {
    let cell = view.geometry.as_ref().map(|it| it.cell_at(position));
    let cell = cell.map(|(row, column, _)| (row, column));
    if cell != view.mouse.reported {
        report(view, kind, position, modifiers, cx);
    }
}

fn report(
    view: &mut TerminalView,
    kind: MouseKind,
    position: Point<Pixels>,
    modifiers: &Modifiers,
    _: &mut Context<TerminalView>,
) {
    let Some(input) = mouse_input(view, kind, position, modifiers) else {
        return;
    };
    view.mouse.reported = Some((input.row, input.column));
    let bytes = encode_mouse(&input, &view.contents.snapshot.modes);
    if let (Some(bytes), Some(program)) = (bytes, view.running_program()) {
        program.write(bytes);
    }
}

fn mouse_input(
    view: &TerminalView,
    kind: MouseKind,
    position: Point<Pixels>,
    modifiers: &Modifiers,
) -> Option<MouseInput> {
    let (row, column, _) = view.geometry.as_ref()?.cell_at(position);
    Some(MouseInput {
        kind,
        column,
        row,
        modifiers: key_modifiers(modifiers),
    })
}

/// Returns the cell of the terminal at a position; `None` before the first layout.
fn position_at(view: &TerminalView, position: Point<Pixels>) -> Option<(CellPosition, CellHalf)> {
    let (row, column, half) = view.geometry.as_ref()?.cell_at(position);
    let line = view.contents.snapshot.first_line.below(u64::from(row));
    Some((CellPosition::new(line, column), half))
}

fn reported_button(button: MouseButton) -> Option<TerminalMouseButton> {
    match button {
        MouseButton::Left => Some(TerminalMouseButton::Left),
        MouseButton::Middle => Some(TerminalMouseButton::Middle),
        MouseButton::Right => Some(TerminalMouseButton::Right),
        MouseButton::Navigate(_) => None,
    }
}

fn key_modifiers(modifiers: &Modifiers) -> KeyModifiers {
    KeyModifiers {
        shift: modifiers.shift,
        alt: modifiers.alt,
        control: modifiers.control,
        platform: modifiers.platform,
    }
}
