//! Copy, cut and paste, and the primary selection that a middle click pastes on Linux.

use base::Span;
use caret::clipboard::{CopiedText, PasteIndent, copy, cut, paste};
use gpui_kit::{ClipboardItem, Context, Window};

use super::Editor;

impl Editor {
    pub(crate) fn copy(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        if !self.may_copy() {
            return;
        }
        if let Some(copied) = self.plan(copy, cx) {
            cx.write_to_clipboard(to_item(&copied));
        }
    }

    pub(crate) fn cut(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        if !self.may_copy() {
            return;
        }
        if let Some((copied, plan)) = self.plan(cut, cx) {
            cx.write_to_clipboard(to_item(&copied));
            self.apply(plan, window, cx);
        }
    }

    fn may_copy(&self) -> bool {
        self.settings.copy_empty_selection
            || self
                .selections
                .iter()
                .any(|selection| !selection.is_empty())
    }

    pub(crate) fn paste(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let indent = if self.settings.indent_on_paste {
            PasteIndent::Fit
        } else {
            PasteIndent::Keep
        };
        self.paste_from_clipboard(indent, window, cx);
    }

    pub(crate) fn paste_as_is(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.paste_from_clipboard(PasteIndent::Keep, window, cx);
    }

    fn paste_from_clipboard(
        &mut self,
        indent: PasteIndent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(copied) = cx.read_from_clipboard().as_ref().and_then(from_item) {
            self.paste_copied(&copied, indent, window, cx);
        }
    }

    pub(crate) fn paste_copied(
        &mut self,
        copied: &CopiedText,
        indent: PasteIndent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.sync(cx);
        let plan = self.plan(|ctx| paste(ctx, copied, indent), cx);
        self.apply(plan, window, cx);
    }

    /// Sets the newest selection as primary selection, if the system has one.
    pub(crate) fn offer_primary(&mut self, cx: &mut Context<Self>) {
        #[cfg(any(target_os = "linux", target_os = "freebsd"))]
        {
            /// Larger selections are not copied on every step of a drag.
            const MAX_COPY_BYTES: usize = 1 << 20;
            let span = self.selections.primary().span();
            if !span.is_empty() && span.len() <= MAX_COPY_BYTES {
                let text = self.snapshot.text(span).into_owned();
                cx.write_to_primary(ClipboardItem::new_string(text));
            }
        }
        #[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
        {
            let _unused = (cx, Span::default());
        }
    }

    /// Inserts the primary selection, from any window.
    pub(crate) fn paste_primary(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        #[cfg(any(target_os = "linux", target_os = "freebsd"))]
        if let Some(copied) = cx.read_from_primary().as_ref().and_then(from_item) {
            self.paste_copied(&copied, PasteIndent::Keep, window, cx);
        }
        #[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
        {
            let _unused = (window, cx);
        }
    }

    /// Returns the selected spans, for moving them by drag and drop.
    pub(crate) fn selected_spans(&self) -> Vec<Span> {
        self.selections
            .iter()
            .filter(|selection| !selection.is_empty())
            .map(|selection| selection.span())
            .collect()
    }
}

pub(crate) fn to_item(copied: &CopiedText) -> ClipboardItem {
    ClipboardItem::new_string_with_metadata(copied.text(), copied.metadata())
}

pub(crate) fn from_item(item: &ClipboardItem) -> Option<CopiedText> {
    let text = item.text()?;
    let metadata = item.metadata();
    Some(CopiedText::from_parts(&text, metadata.map(String::as_str)))
}
