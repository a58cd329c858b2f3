//! Scrolling through the scrollback.

use gpui_kit::{Context, Window};
use terminal::ScrollTarget;

use super::TerminalView;
use crate::actions::{
    Clear, ScrollLineDown, ScrollLineUp, ScrollPageDown, ScrollPageUp, ScrollToBottom, ScrollToTop,
};

/// Scrolls by a number of lines: up, towards older output, if it is positive.
pub(super) fn scroll_lines(view: &mut TerminalView, lines: i32, cx: &mut Context<TerminalView>) {
    scroll_emulator(view, ScrollTarget::Lines(lines), cx);
}

/// Changes the part of the scrollback in view.
pub(super) fn scroll_emulator(
    view: &mut TerminalView,
    target: ScrollTarget,
    cx: &mut Context<TerminalView>,
) {
    view.change_emulator(cx, |emulator| emulator.scroll(target));
}

/// Returns to the newest line, if the view is scrolled back.
pub(super) fn follow_output(view: &mut TerminalView, cx: &mut Context<TerminalView>) {
    if view.contents.snapshot.scroll.offset > 0 {
        scroll_emulator(view, ScrollTarget::Bottom, cx);
    }
}

/// Scrolls to an offset from the newest line.
pub(super) fn scroll_to_offset(
    view: &mut TerminalView,
    offset: u32,
    cx: &mut Context<TerminalView>,
) {
    view.refresh(cx);
    let now = i64::from(view.contents.snapshot.scroll.offset);
    let lines = i32::try_from(i64::from(offset) - now).unwrap_or_default();
    if lines != 0 {
        scroll_emulator(view, ScrollTarget::Lines(lines), cx);
    }
}

fn page(view: &TerminalView) -> i32 {
    i32::from(view.size.rows.saturating_sub(1)).max(1)
}

pub(super) fn line_up(
    view: &mut TerminalView,
    _: &ScrollLineUp,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    scroll_lines(view, 1, cx);
}

pub(super) fn line_down(
    view: &mut TerminalView,
    _: &ScrollLineDown,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    scroll_lines(view, -1, cx);
}

pub(super) fn page_up(
    view: &mut TerminalView,
    _: &ScrollPageUp,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    let lines = page(view);
    scroll_lines(view, lines, cx);
}

pub(super) fn page_down(
    view: &mut TerminalView,
    _: &ScrollPageDown,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    let lines = -page(view);
    scroll_lines(view, lines, cx);
}

pub(super) fn to_top(
    view: &mut TerminalView,
    _: &ScrollToTop,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    scroll_emulator(view, ScrollTarget::Top, cx);
}

pub(super) fn to_bottom(
    view: &mut TerminalView,
    _: &ScrollToBottom,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    follow_output(view, cx);
}

/// Handler of an action: removes the scrollback.
pub(super) fn clear(
    view: &mut TerminalView,
    _: &Clear,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    view.change_emulator(cx, terminal::Emulator::clear);
}
