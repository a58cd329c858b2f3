//! Handling of mouse button presses.

use base::{Bias, ByteOffset};
use caret::{Command, SelectionUnit};
use gpui_kit::{Context, MouseButton, MouseDownEvent, Window};
use settings::MultiCursorModifier;

use super::{Drag, area_of, bars};
use crate::editor::{Editor, EditorEvent, Reveal, folding, links};
use crate::frame::HitArea;

pub(super) fn press(
    editor: &mut Editor,
    event: &MouseDownEvent,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    editor.sync(cx);
    editor.mouse.position = event.position;
    super::drop::forget_dragged_text(cx);
    window.focus(&editor.focus.clone(), cx);
    let area = area_of(editor.geometry.as_ref(), event.position);
    match (event.button, area) {
        (MouseButton::Left, HitArea::Vertical | HitArea::Horizontal) => {
            bars::press_bar(editor, area, cx)
        }
        (MouseButton::Left, HitArea::Text) => press_text(editor, event, window, cx),
        (MouseButton::Left, HitArea::Gutter | HitArea::Folds) => {
            press_gutter(editor, area, event, window, cx)
        }
        (MouseButton::Middle, HitArea::Text) => press_middle(editor, window, cx),
        (MouseButton::Right, HitArea::Text) => press_right(editor, window, cx),
        _ => {}
    }
}

fn press_text(
    editor: &mut Editor,
    event: &MouseDownEvent,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    if let Some(row) = header_under_pointer(editor) {
        editor.go_to(editor.snapshot.row_start(row), Reveal::Nearest, cx);
        return;
    }
    let Some(point) = editor.display_point_at(event.position) else {
        return;
    };
    let offset = editor.display.to_buffer(point, Bias::Left);
    let modifiers = &event.modifiers;
    let adds = match editor.settings.multi_cursor_modifier {
        MultiCursorModifier::Alt => modifiers.alt,
        MultiCursorModifier::Secondary => modifiers.secondary(cx),
    };
    let unit = match event.click_count {
        0 | 1 => SelectionUnit::Character,
        2 => SelectionUnit::Word,
        _ => SelectionUnit::Row,
    };
    let follows = unit == SelectionUnit::Character && links::follows_links(editor, modifiers, cx);
    if follows && let Some((_, link)) = links::link_at(editor, offset, cx) {
        cx.emit(EditorEvent::LinkClicked(link));
    } else if follows && editor.settings.multi_cursor_modifier == MultiCursorModifier::Alt {
        editor.go_to(offset, Reveal::Nearest, cx);
        cx.emit(EditorEvent::DefinitionRequested);
    } else if modifiers.alt && modifiers.shift {
        begin_box(editor, window, cx);
    } else if modifiers.shift {
        let from = editor.selections.primary().anchor;
        begin_selecting(
            editor,
            from,
            offset,
            SelectionUnit::Character,
            false,
            window,
            cx,
        );
    } else if adds {
        press_adding(editor, offset, unit, window, cx);
    } else if unit == SelectionUnit::Character
        && is_selected(editor, offset)
        && is_over_letters(editor, point)
    {
        let spans = editor.selected_spans();
        editor.mouse.drag = Some(Drag::Move {
            spans,
            start: event.position,
            has_moved: false,
        });
    } else {
        begin_selecting(editor, offset, offset, unit, false, window, cx);
    }
}

fn press_adding(
    editor: &mut Editor,
    offset: ByteOffset,
    unit: SelectionUnit,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    let before = editor.selections.len();
    super::select_with_pointer(editor, Command::ToggleCaret(offset), window, cx);
    // A removed caret is not dragged.
    if editor.selections.len() >= before || unit != SelectionUnit::Character {
        editor.mouse.drag = Some(Drag::Select {
            from: offset,
            unit,
            keep_others: true,
        });
        if unit != SelectionUnit::Character {
            begin_selecting(editor, offset, offset, unit, true, window, cx);
        }
    }
}

fn begin_selecting(
    editor: &mut Editor,
    from: ByteOffset,
    to: ByteOffset,
    unit: SelectionUnit,
    keep_others: bool,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    editor.mouse.drag = Some(Drag::Select {
        from,
        unit,
        keep_others,
    });
    super::select_with_pointer(
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

fn begin_box(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    let head = editor.selections.primary().head;
    let anchor = editor.display.to_display(head, Bias::Left);
    editor.mouse.drag = Some(Drag::Box {
        anchor,
        is_click: false,
    });
    super::go_on_dragging(editor, window, cx);
}

fn press_middle(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    let Some(point) = editor.display_point_at(editor.mouse.position) else {
        return;
    };
    let offset = editor.display.to_buffer(point, Bias::Left);
    let command = Command::SelectBetween {
        from: offset,
        to: offset,
        unit: SelectionUnit::Character,
        keep_others: false,
    };
    let follow = editor.follow;
    editor.run(&command, window, cx);
    editor.follow = follow;
    editor.mouse.drag = Some(Drag::Box {
        anchor: point,
        is_click: true,
    });
}

fn press_right(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    if std::mem::take(&mut editor.mouse.menu_at_caret) {
        return;
    }
    let Some(offset) = editor.offset_at(editor.mouse.position, cx) else {
        return;
    };
    if !is_selected(editor, offset) {
        let command = Command::SelectBetween {
            from: offset,
            to: offset,
            unit: SelectionUnit::Character,
            keep_others: false,
        };
        super::select_with_pointer(editor, command, window, cx);
    }
}

fn press_gutter(
    editor: &mut Editor,
    area: HitArea,
    event: &MouseDownEvent,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    let Some(point) = editor.display_point_at(event.position) else {
        return;
    };
    let (row, begins) = editor.display.buffer_row(point.row);
    let can_fold = begins
        && (folding::fold_starting_at(editor, row).is_some()
            || folding::foldable_at(editor, row, cx).is_some());
    if area == HitArea::Folds && editor.settings.fold_arrows && can_fold {
        folding::toggle_fold_at(editor, row, cx);
        return;
    }
    let start = editor.snapshot.row_start(row);
    let from = if event.modifiers.shift {
        editor.selections.primary().anchor
    } else {
        start
    };
    begin_selecting(
        editor,
        from,
        start,
        SelectionUnit::Row,
        event.modifiers.alt,
        window,
        cx,
    );
}

/// Whether an offset is inside or at an edge of a selection that is not empty.
fn is_selected(editor: &Editor, offset: ByteOffset) -> bool {
    editor.selections.iter().any(|selection| {
        let span = selection.span();
        !span.is_empty() && span.start <= offset && offset <= span.end
    })
}

/// Whether a point is at or before the end of its row's text, not in the empty space after it.
fn is_over_letters(editor: &Editor, point: display::DisplayPoint) -> bool {
    point.cell <= editor.display.max_cell(point.row)
}

/// Returns the buffer row of the sticky header under the pointer. Returns `None` if there is no
/// header there.
fn header_under_pointer(editor: &Editor) -> Option<base::Row> {
    let geometry = editor.geometry.as_ref()?;
    let height = geometry.height_at(editor.mouse.position.y) - geometry.top;
    editor.sticky.row_at(height, geometry.sticky_rows)
}
