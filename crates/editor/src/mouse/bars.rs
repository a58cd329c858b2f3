//! Mouse handling of scrollbars.

use gpui_kit::{Context, Pixels};

use super::Drag;
use crate::editor::Editor;
use crate::frame::HitArea;

/// Grabs the handle, moving it to the pointer first if necessary.
pub(super) fn press_bar(editor: &mut Editor, area: HitArea, cx: &mut Context<Editor>) {
    let Some(handle) = handle(editor, area) else {
        return;
    };
    let at = along(editor, area);
    let is_on_handle = handle.start <= at && at < handle.end;
    let grab = if is_on_handle {
        at - handle.start
    } else {
        (handle.end - handle.start) / 2.0
    };
    editor.mouse.drag = Some(Drag::Bar { area, grab });
    if !is_on_handle {
        drag_bar(editor, area, grab, cx);
    }
    cx.notify();
}

pub(super) fn drag_bar(editor: &mut Editor, area: HitArea, grab: Pixels, cx: &mut Context<Editor>) {
    let start = along(editor, area) - grab;
    let Some(geometry) = editor.geometry.as_ref() else {
        return;
    };
    if area == HitArea::Vertical {
        if let Some((_, rows)) = geometry.vertical_handle(editor.settings.scroll_beyond_last_line) {
            let top = f64::from(f32::from(start - geometry.vertical.top())) * rows;
            editor.set_scroll_top(top, cx);
        }
    } else if let Some((_, pixels)) = geometry.horizontal_handle() {
        let x = f64::from(f32::from(start - geometry.text.left())) * pixels;
        editor.scroll_sideways(x - editor.scroll.x, cx);
    }
}

/// Returns the extent of a scrollbar's handle along the bar, in window coordinates. Every area but
/// `Vertical` means the horizontal bar. Returns `None` before the first layout or without a handle.
fn handle(editor: &Editor, area: HitArea) -> Option<std::ops::Range<Pixels>> {
    let geometry = editor.geometry.as_ref()?;
    match area {
        HitArea::Vertical => geometry
            .vertical_handle(editor.settings.scroll_beyond_last_line)
            .map(|(handle, _)| handle),
        _ => geometry.horizontal_handle().map(|(handle, _)| handle),
    }
}

fn along(editor: &Editor, area: HitArea) -> Pixels {
    match area {
        HitArea::Vertical => editor.mouse.position.y,
        _ => editor.mouse.position.x,
    }
}
