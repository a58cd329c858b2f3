//! The state of a machine as the window shows it: mode, unfinished keys, recording, carets.

use base::{ByteOffset, Span};
use gpui_kit::Context;
use settings::CursorStyle;
use vim::{Effect, Mode, VisualShape};

use super::{Editor, EditorEvent};

/// An event of the keys of Vim, for the window around the view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VimEvent {
    /// The answer of `vim_status` may have changed.
    StatusChanged,
    /// Commands that the window carries out, in order.
    Commands(Vec<Effect>),
}

/// The state of a machine for the status bar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VimStatus {
    /// Name of the mode.
    pub mode: &'static str,
    /// Keys of an unfinished command; empty for none.
    pub pending: String,
    /// Register into which keys are recorded.
    pub recording: Option<char>,
}

/// A caret to draw: its character and its shape.
pub(crate) struct CaretShape {
    pub(crate) offset: ByteOffset,
    pub(crate) style: CursorStyle,
}

/// Returns the state of the keys of Vim in a view; `None` if they are off.
pub fn vim_status(editor: &Editor) -> Option<VimStatus> {
    let view = editor.vim.as_ref()?;
    Some(VimStatus {
        mode: mode_name(view.machine.mode()),
        pending: view.machine.pending_keys(),
        recording: view.globals.borrow().recording(),
    })
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Normal => "NORMAL",
        Mode::OperatorPending => "OPERATOR",
        Mode::Insert => "INSERT",
        Mode::Replace => "REPLACE",
        Mode::Visual(VisualShape::Chars) => "VISUAL",
        Mode::Visual(VisualShape::Lines) => "VISUAL LINE",
        Mode::Visual(VisualShape::Block) => "VISUAL BLOCK",
        Mode::Select(_) => "SELECT",
        Mode::Prompt(_) => "COMMAND",
    }
}

/// The mode for keymaps, and whether keys of an unfinished command wait.
pub(in crate::editor) fn key_context(editor: &Editor) -> Option<(&'static str, bool)> {
    let machine = &editor.vim.as_ref()?.machine;
    let mode = match machine.mode() {
        Mode::Normal => "normal",
        Mode::OperatorPending => "operator",
        Mode::Insert => "insert",
        Mode::Replace => "replace",
        Mode::Visual(_) => "visual",
        Mode::Select(_) => "select",
        Mode::Prompt(_) => "command",
    };
    Some((mode, machine.is_waiting()))
}

/// Whether the machine is in normal mode with one caret, and waits for nothing.
pub(super) fn is_idle(editor: &Editor) -> bool {
    key_context(editor) == Some(("normal", false)) && editor.selections.len() == 1
}

/// Reports a change of the status.
pub(super) fn report(editor: &mut Editor, cx: &mut Context<Editor>) {
    let status = vim_status(editor).unwrap_or_default();
    let Some(view) = &mut editor.vim else {
        return;
    };
    if status != view.reported {
        view.reported = status;
        cx.emit(EditorEvent::Vim(super::VimEvent::StatusChanged));
    }
}

/// Returns the yanked text, shown for a moment, and the match of the search that is being typed.
pub(crate) fn highlights(editor: &Editor) -> (Vec<Span>, Option<Span>) {
    let view = editor.vim.as_ref();
    view.map_or_else(Default::default, |view| (view.yanked.clone(), view.preview))
}

/// Returns the carets to draw; `None` for those of the selections.
pub(crate) fn caret_shapes(editor: &Editor) -> Option<Vec<CaretShape>> {
    let machine = &editor.vim.as_ref()?.machine;
    let style = match machine.mode() {
        Mode::Insert | Mode::Select(_) => return None,
        Mode::Replace | Mode::OperatorPending => CursorStyle::Underline,
        Mode::Normal | Mode::Visual(_) | Mode::Prompt(_) => CursorStyle::Block,
    };
    let carets = machine.carets(&editor.snapshot, editor.caret_options.tab_width);
    let shape = |caret: vim::CaretView| CaretShape {
        offset: caret.offset,
        style,
    };
    Some(carets.into_iter().map(shape).collect())
}
