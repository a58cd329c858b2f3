//! Inline edits: a box above some rows takes an instruction, a model rewrites the rows, and the user
//! accepts or rejects the change, which is shown in place.
//!
//! Invariant: the text changes only when the user accepts, in one undo step.
//! Invariant: a window has at most one inline edit, and closing it removes its box and its rows.
//! Start at `open`; `view` is the box and the state of the edit.

mod request;
mod view;

use base::Row;
use display::{BlockId, BlockSpec, Placement};
use editor::{BlockView, Editor, reveal_block_above, show_proposal};
use gpui_kit::{
    AppContext as _, Context, Div, Entity, Focusable as _, InteractiveElement as _,
    IntoElement as _, ParentElement as _, Stateful, Styled as _, WeakEntity, Window, div,
};
use text::{RowSpan, Selection, Snapshot};

use super::Workbench;
use crate::actions::inline_edit::{Accept, Cancel, Open};
use crate::item::TabItem;
use request::RewriteSource;
pub(crate) use view::InlineEditView;

/// The key of the notices that replace each other.
const NOTICE: &str = "inline-edit";

/// The inline edit of a window.
pub(super) struct OpenInlineEdit {
    /// The box. Its block owns it, so it is dropped when the host closes.
    view: WeakEntity<InlineEditView>,
    /// The view with the block.
    host: WeakEntity<Editor>,
    block: BlockId,
}

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(|this, _: &Open, window, cx| open(this, window, cx)))
        .on_action(cx.listener(|this, _: &Accept, window, cx| {
            if let Some(view) = in_active(this) {
                view.update(cx, |view, cx| view.accept(window, cx));
            }
        }))
        .on_action(cx.listener(|this, _: &Cancel, window, cx| {
            if !cancel(this, window, cx) {
                cx.propagate();
            }
        }))
        .on_action(cx.listener(|this, _: &editor::Cancel, window, cx| {
            if !cancel(this, window, cx) {
                cx.propagate();
            }
        }))
}

/// Opens the box above the rows of the first selection, or above the row of the caret, and gives it
/// the focus. Closes the box that was open.
fn open(workbench: &mut Workbench, window: &mut Window, cx: &mut Context<Workbench>) {
    let Some(host) = workbench.active_item().and_then(TabItem::editor).cloned() else {
        return workbench.tell(NOTICE, "Open a text to edit it inline.", window, cx);
    };
    if let Some(view) = in_active(workbench)
        && (view.read(cx).is_busy() || view.focus_handle(cx).contains_focused(window, cx))
    {
        let focus = view.focus_handle(cx);
        return window.focus(&focus, cx);
    }
    let model = host.read(cx).model().clone();
    if host.read(cx).excerpts().is_some() {
        let sentence = "These are rows of several files. Open the file to edit it inline.";
        return workbench.tell(NOTICE, sentence, window, cx);
    }
    if !model.read(cx).document().can_edit() {
        return workbench.tell(NOTICE, "This text is read-only.", window, cx);
    }
    close(workbench, window, cx);
    let text = model.read(cx).snapshot();
    let rows = host.update(cx, |host, cx| {
        let selections = host.selections(cx);
        let first = selections.iter().min_by_key(|it| it.span().start);
        selected_rows(first.unwrap_or(selections.primary()), &text)
    });
    let source = RewriteSource::new(workbench, cx);
    let owner = cx.weak_entity();
    let view = cx.new(|cx| InlineEditView::new((&host, rows), source, owner, window, cx));
    let height = view.read(cx).height(cx);
    let owned = view.clone();
    let content = BlockView::new(move |place, _, _| {
        let content = div().size_full().pl(place.gutter).child(owned.clone());
        content.into_any_element()
    });
    let block = host.update(cx, |host, cx| {
        let spec = BlockSpec {
            row: rows.start,
            placement: Placement::Above,
            height,
            priority: 0,
        };
        let block = host.insert_block(spec, content, cx);
        reveal_block_above(host, rows.start, height, cx);
        block
    });
    view.update(cx, |view, _| view.set_block(block));
    workbench.inline_edit = Some(OpenInlineEdit {
        view: view.downgrade(),
        host: host.downgrade(),
        block,
    });
    let focus = view.focus_handle(cx);
    window.focus(&focus, cx);
}

/// Returns the rows of a selection. A row in which the selection only ends is not one of them.
pub(super) fn selected_rows(selection: &Selection, text: &Snapshot) -> RowSpan {
    let span = selection.span();
    let (start, end) = (text.point_at(span.start), text.point_at(span.end));
    let only_ends = end.row > start.row && end.column.0 == 0;
    RowSpan {
        start: start.row,
        end: Row(end.row.0 + u32::from(!only_ends)),
    }
}

/// Returns the box in the active text.
fn in_active(workbench: &Workbench) -> Option<Entity<InlineEditView>> {
    let open = workbench.inline_edit.as_ref()?;
    let active = workbench.active_item().and_then(TabItem::editor);
    let is_active = active.is_some() && open.host.upgrade().as_ref() == active;
    open.view.upgrade().filter(|_| is_active)
}

/// Goes one step back in the active text: stops the model, rejects the change, or closes the box.
/// Returns false if there is no box.
fn cancel(workbench: &mut Workbench, window: &mut Window, cx: &mut Context<Workbench>) -> bool {
    let Some(view) = in_active(workbench) else {
        return false;
    };
    if !view.update(cx, |view, cx| view.step_back(window, cx)) {
        close(workbench, window, cx);
    }
    true
}

/// Closes the box, if there is one, and gives the focus back to the text if the box had it.
fn close(workbench: &mut Workbench, window: &mut Window, cx: &mut Context<Workbench>) {
    let Some(open) = workbench.inline_edit.take() else {
        return;
    };
    let view = open.view.upgrade();
    let had_focus = view.is_some_and(|view| view.focus_handle(cx).contains_focused(window, cx));
    let Some(host) = open.host.upgrade() else {
        return;
    };
    host.update(cx, |host, cx| {
        show_proposal(host, Vec::new(), cx);
        host.remove_block(open.block, cx);
    });
    if had_focus {
        let focus = host.focus_handle(cx);
        window.focus(&focus, cx);
    }
}

/// Returns the open box of a window.
#[cfg(test)]
pub(crate) fn open_view(workbench: &Workbench) -> Option<Entity<InlineEditView>> {
    let open = workbench.inline_edit.as_ref()?;
    open.view.upgrade()
}
