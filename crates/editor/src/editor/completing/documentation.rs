//! The view of the selected item's documentation.
//!
//! Invariant: the view belongs to the documentation of the selected item; Markdown is parsed in the
//! background.
//! Start at `follow_selection`, which every change of the list or of its selection calls.

use gpui_kit::component::text::TextViewState;
use gpui_kit::{Context, Entity, ScrollHandle};

use crate::completion::Documentation;
use crate::editor::{Editor, hover};

/// A documentation with its rendered text.
pub(crate) struct DocumentationView {
    source: Documentation,
    pub(crate) text: Entity<TextViewState>,
    /// Position of this documentation; another one begins at its top.
    pub(crate) scroll: ScrollHandle,
}

/// Creates the view of the selected item's documentation, unless it is shown already.
pub(super) fn follow_selection(editor: &mut Editor, cx: &mut Context<Editor>) {
    let Some(session) = &mut editor.completions.session else {
        return;
    };
    let selected = session.list.selected();
    let source = selected.and_then(|(_, item)| item.documentation.as_ref());
    let source = source.filter(|source| !source.text.trim().is_empty());
    let shown = session.documentation.as_ref().map(|view| &view.source);
    if source == shown {
        return;
    }
    session.documentation = source.cloned().map(|source| DocumentationView {
        text: hover::text_view(source.text.trim(), source.is_markdown, cx),
        scroll: ScrollHandle::new(),
        source,
    });
}
