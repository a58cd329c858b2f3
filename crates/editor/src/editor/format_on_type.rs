//! Formatting as the user types: a source formats the text around a typed character.
//!
//! Invariant: an answer about a text that has changed since is dropped as a whole, so that it never
//! moves what was typed meanwhile.
//! Start at `typed`.

use std::rc::Rc;

use base::{ByteOffset, Revision};
use gpui_kit::{App, Context, Task};
use text::{Edit, Snapshot};

use super::Editor;

/// A source of edits that format a text as it is typed, such as a language server.
pub trait TypeFormatter {
    /// Returns the characters after which it is asked; a line feed is a new row.
    fn triggers(&self, cx: &App) -> Vec<char>;

    /// Requests the edits after a typed character: sorted, disjoint, in the text of the query; empty
    /// if there are none. Dropping the task cancels the request.
    fn format(&self, query: TypeFormatQuery, cx: &mut App) -> Task<Vec<Edit>>;
}

/// A request for edits after a typed character.
#[derive(Clone)]
pub struct TypeFormatQuery {
    /// The text with the character.
    pub snapshot: Snapshot,
    /// Offset of the caret, behind the character.
    pub offset: ByteOffset,
    /// The typed character.
    pub typed: char,
    /// Whether tabs indent, rather than spaces.
    pub hard_tabs: bool,
    /// Columns of a level of indentation.
    pub tab_size: u32,
}

/// The source of a view, with the request under way.
#[derive(Default)]
pub(crate) struct FormatOnType {
    source: Option<Rc<dyn TypeFormatter>>,
    request: Option<Task<()>>,
}

/// Sets the source of edits.
pub(super) fn set_source(editor: &mut Editor, source: Option<Rc<dyn TypeFormatter>>) {
    editor.format_on_type = FormatOnType {
        source,
        request: None,
    };
}

/// Requests edits after a key that typed `text`, if it is a trigger character of the source.
pub(super) fn typed(editor: &mut Editor, text: &str, cx: &mut Context<Editor>) {
    editor.format_on_type.request = None;
    let mut chars = text.chars();
    let (Some(typed), None) = (chars.next(), chars.next()) else {
        return;
    };
    let source = editor.format_on_type.source.clone();
    let Some(source) = source.filter(|_| can_format(editor)) else {
        return;
    };
    if !source.triggers(cx).contains(&typed) {
        return;
    }
    let (hard_tabs, tab_size) = editor.indentation();
    let query = TypeFormatQuery {
        snapshot: editor.snapshot.clone(),
        offset: editor.selections.primary().head,
        typed,
        hard_tabs,
        tab_size,
    };
    let revision = query.snapshot.revision();
    let answer = source.format(query, cx);
    editor.format_on_type.request = Some(cx.spawn(async move |this, cx| {
        let edits = answer.await;
        // The view may have been closed.
        this.update(cx, |editor, cx| apply(editor, revision, &edits, cx))
            .ok();
    }));
}

fn can_format(editor: &Editor) -> bool {
    editor.settings.format_on_type
        && editor.excerpts.is_none()
        && editor.marked.is_empty()
        && editor.selections.len() == 1
        && editor.selections.primary().is_empty()
}

/// Applies the edits of an answer about a revision as one undo step, unless the text has changed.
fn apply(editor: &mut Editor, revision: Revision, edits: &[Edit], cx: &mut Context<Editor>) {
    editor.sync(cx);
    let is_current = editor.snapshot.revision() == revision && editor.marked.is_empty();
    let can_edit = editor.model.read(cx).document().can_edit();
    if edits.is_empty() || !is_current || !can_edit {
        return;
    }
    let before = editor.selections.clone();
    let after = editor
        .model
        .update(cx, |model, cx| model.format(edits, &before, cx));
    editor.sync(cx);
    editor.selections = after;
    editor.after_selections(cx);
}
