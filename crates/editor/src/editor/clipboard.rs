//! Copy, cut and paste, and the primary selection that a middle click pastes on Linux.

use base::Span;
use caret::clipboard::{self, CopiedText, PasteIndent};
use gpui_kit::{ClipboardItem, Context, Window};
use ui::primary;

use super::Editor;

impl Editor {
    /// Returns the spans of the selections that are not empty, in order.
    pub(crate) fn selected_spans(&self) -> Vec<Span> {
        self.selections
            .iter()
            .filter(|selection| !selection.is_empty())
            .map(|selection| selection.span())
            .collect()
    }
}

/// Handler of an action: copies the selections to the clipboard. If all selections are empty,
/// copies the rows of the carets, provided that the setting `copy_empty_selection` is on.
pub(crate) fn copy(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    if !may_copy(editor) {
        return;
    }
    if let Some(copied) = editor.plan(clipboard::copy, cx) {
        cx.write_to_clipboard(to_item(&copied));
    }
}

/// Handler of an action: moves the selections to the clipboard. If all selections are empty, moves
/// the rows of the carets, provided that the setting `copy_empty_selection` is on.
pub(crate) fn cut(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    if !may_copy(editor) {
        return;
    }
    if let Some((copied, plan)) = editor.plan(clipboard::cut, cx) {
        cx.write_to_clipboard(to_item(&copied));
        editor.apply(plan, window, cx);
    }
}

/// Whether there is anything to copy: a selection that is not empty, or the rows of the carets if
/// the setting `copy_empty_selection` is on.
fn may_copy(editor: &Editor) -> bool {
    editor.settings.copy_empty_selection
        || editor
            .selections
            .iter()
            .any(|selection| !selection.is_empty())
}

/// Handler of an action: inserts the clipboard at every caret. Adapts the indentation of the
/// inserted rows if the setting `indent_on_paste` is on.
pub(crate) fn paste(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    let indent = if editor.settings.indent_on_paste {
        PasteIndent::Fit
    } else {
        PasteIndent::Keep
    };
    paste_from_clipboard(editor, indent, window, cx);
}

/// Handler of an action: inserts the clipboard at every caret and keeps the copied indentation.
pub(crate) fn paste_as_is(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    paste_from_clipboard(editor, PasteIndent::Keep, window, cx);
}

fn paste_from_clipboard(
    editor: &mut Editor,
    indent: PasteIndent,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    if super::vim_mode::paste(editor, window, cx) {
        return;
    }
    if let Some(copied) = cx.read_from_clipboard().as_ref().and_then(from_item) {
        paste_copied(editor, &copied, indent, window, cx);
    }
}

/// Inserts `copied` at every caret. If it has as many parts as there are carets, each caret
/// receives one part.
pub(crate) fn paste_copied(
    editor: &mut Editor,
    copied: &CopiedText,
    indent: PasteIndent,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    editor.sync(cx);
    let plan = editor.plan(|ctx| clipboard::paste(ctx, copied, indent), cx);
    editor.apply(plan, window, cx);
}

/// Sets the newest selection as the system's primary selection (X11, Wayland), if it is not empty
/// and at most 1 MiB. Does nothing on other systems.
pub(crate) fn offer_primary(editor: &mut Editor, cx: &mut Context<Editor>) {
    /// Larger selections are not copied on every step of a drag.
    const MAX_COPY_BYTES: usize = 1 << 20;
    let span = editor.selections.primary().span();
    if primary::EXISTS && !span.is_empty() && span.len() <= MAX_COPY_BYTES {
        let text = editor.snapshot.text(span).into_owned();
        primary::write(ClipboardItem::new_string(text), cx);
    }
}

/// Inserts the system's primary selection, from any window. Does nothing on systems without a
/// primary selection.
pub(crate) fn paste_primary(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    if let Some(copied) = primary::read(cx).as_ref().and_then(from_item) {
        paste_copied(editor, &copied, PasteIndent::Keep, window, cx);
    }
}

/// Converts copied text to a clipboard item, with the parts of several carets as metadata.
pub(crate) fn to_item(copied: &CopiedText) -> ClipboardItem {
    ClipboardItem::new_string_with_metadata(copied.text(), copied.metadata())
}

/// Reads copied text from a clipboard item. Returns `None` if the item holds no text.
pub(crate) fn from_item(item: &ClipboardItem) -> Option<CopiedText> {
    let text = item.text()?;
    let metadata = item.metadata();
    Some(CopiedText::from_parts(&text, metadata.map(String::as_str)))
}
