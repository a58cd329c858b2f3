//! Peek: the definition of or the references to the symbol at the caret, in a block below its row.
//!
//! Invariant: a window has at most one peek, and closing it removes its block.
//! Start at `peek` and `show`; `view` draws the block.

mod view;

use base::{ByteOffset, Revision};
use display::{BlockId, BlockSpec, Placement};
use editor::{BlockView, Editor, reveal_block_below};
use gpui_kit::{
    AppContext as _, Context, Div, Entity, Focusable as _, InteractiveElement as _,
    IntoElement as _, ParentElement as _, Stateful, Styled as _, WeakEntity, Window, div,
};
use lsp::LocationKind;
use ui::ActiveTheme as _;

use super::Workbench;
use super::locations::{self, FoundPlace, LocationSearch};
use crate::actions::language::{PeekDefinition, PeekReferences};
use crate::item::TabItem;
use crate::open_options::GoToPosition;
pub(crate) use view::PeekView;

/// Rows of the text that the block shows.
const ROWS: f32 = 12.0;
/// Height of the title and the borders, in pixels.
const FRAME: f32 = 34.0;

/// The peek of a window.
pub(super) struct OpenPeek {
    /// The content of the block. The block owns it, so it is dropped when the host closes.
    view: WeakEntity<PeekView>,
    /// The view with the block.
    host: WeakEntity<Editor>,
    block: BlockId,
}

/// The text and the caret for which places were requested.
pub(crate) struct PeekOrigin {
    /// The view.
    pub(crate) editor: Entity<Editor>,
    /// The revision of its text.
    pub(crate) revision: Revision,
    /// Its newest caret.
    pub(crate) caret: ByteOffset,
}

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(|this, _: &PeekDefinition, window, cx| {
            peek(this, LocationKind::Definition, window, cx);
        }))
        .on_action(cx.listener(|this, _: &PeekReferences, window, cx| {
            let references = LocationKind::References {
                include_declaration: true,
            };
            peek(this, references, window, cx);
        }))
        .on_action(cx.listener(|this, _: &editor::Cancel, window, cx| {
            if !close_in_active(this, window, cx) {
                cx.propagate();
            }
        }))
}

/// Asks the servers of the active text for places related to the symbol at the caret, and shows them in
/// a block.
fn peek(
    workbench: &mut Workbench,
    kind: LocationKind,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(search) = locations::search(workbench, kind, window, cx) else {
        return;
    };
    let LocationSearch {
        editor,
        at: caret,
        word,
        places,
        ..
    } = search;
    let revision = editor.read(cx).model().read(cx).snapshot().revision();
    let origin = PeekOrigin {
        editor,
        revision,
        caret,
    };
    cx.spawn_in(window, async move |this, cx| {
        let found = places.await;
        let shown = this.update_in(cx, |this, window, cx| match found {
            Ok(places) if places.is_empty() => {
                this.tell(
                    locations::NOTICE,
                    locations::nothing_found(kind),
                    window,
                    cx,
                );
            }
            Ok(places) => {
                let title = locations::title(kind, places.len(), &word);
                show_answer(this, &origin, title, places, window, cx);
            }
            Err(error) => this.report_error(error.to_string(), window, cx),
        });
        // The window may have been closed.
        shown.ok();
    })
    .detach();
}

/// Shows places, at least one, unless the user has gone on to something else since they were requested.
pub(crate) fn show_answer(
    workbench: &mut Workbench,
    origin: &PeekOrigin,
    title: String,
    places: Vec<FoundPlace>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if is_current(workbench, origin, cx) {
        show(workbench, &origin.editor, title, places, window, cx);
    }
}

/// Returns whether the text and the caret are unchanged, and the view is the active one, with no picker or question in
/// front of it.
fn is_current(workbench: &Workbench, origin: &PeekOrigin, cx: &mut Context<Workbench>) -> bool {
    let active = workbench.active_item().and_then(TabItem::editor);
    let is_active = active == Some(&origin.editor) && !workbench.modal().read(cx).is_open();
    let text = origin.editor.read(cx).model().read(cx).snapshot();
    let caret =
        |editor: &mut Editor, cx: &mut Context<Editor>| editor.selections(cx).primary().head;
    is_active
        && text.revision() == origin.revision
        && origin.editor.update(cx, caret) == origin.caret
}

/// Shows places, at least one, in a block below the row of the caret, and gives it the focus. Closes the
/// peek that was open.
pub(crate) fn show(
    workbench: &mut Workbench,
    host: &Entity<Editor>,
    title: String,
    places: Vec<FoundPlace>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    close(workbench, window, cx);
    let caret = host.update(cx, |host, cx| host.caret_point(cx));
    let here = host.read(cx).model().read(cx).path().cloned();
    let nearest = places
        .iter()
        .enumerate()
        .filter(|(_, place)| Some(&place.path) == here.as_ref())
        .min_by_key(|(_, place)| place.rows.start.0.abs_diff(caret.row.0));
    let selected = nearest.map_or(0, |(ix, _)| ix);
    let root = workbench.root(cx);
    let owner = cx.weak_entity();
    let view = cx.new(|cx| PeekView::new(title, places, root, owner, cx));
    let owned = view.clone();
    let block = BlockView::new(move |_, _, _| {
        let content = div().size_full().child(owned.clone());
        content.into_any_element()
    });
    let height = ROWS + cx.theme().code_lines(FRAME);
    let block = host.update(cx, |host, cx| {
        let spec = BlockSpec {
            row: caret.row,
            placement: Placement::Below,
            height,
            priority: 0,
        };
        let block = host.insert_block(spec, block, cx);
        reveal_block_below(host, caret.row, height, cx);
        block
    });
    workbench.peek = Some(OpenPeek {
        view: view.downgrade(),
        host: host.downgrade(),
        block,
    });
    let focus = view.focus_handle(cx);
    window.focus(&focus, cx);
    PeekView::select(&view, selected, window, cx);
}

/// Closes the peek in the active text; returns false if there is none.
fn close_in_active(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> bool {
    let active = workbench.active_item().and_then(TabItem::editor);
    let open = workbench.peek.as_ref();
    let is_in_active = open.is_some_and(|open| open.host.upgrade().as_ref() == active);
    if is_in_active {
        close(workbench, window, cx);
    }
    is_in_active
}

/// Closes the peek, if there is one, and gives the focus back to the text if the peek had it.
pub(crate) fn close(workbench: &mut Workbench, window: &mut Window, cx: &mut Context<Workbench>) {
    let Some(open) = workbench.peek.take() else {
        return;
    };
    let view = open.view.upgrade();
    let had_focus = view.is_some_and(|view| view.focus_handle(cx).contains_focused(window, cx));
    let Some(host) = open.host.upgrade() else {
        return;
    };
    host.update(cx, |host, cx| host.remove_block(open.block, cx));
    if had_focus {
        let focus = host.focus_handle(cx);
        window.focus(&focus, cx);
    }
}

/// Closes the peek and opens one of its places in a tab.
fn open_place(
    workbench: &mut Workbench,
    place: &FoundPlace,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    close(workbench, window, cx);
    workbench.leave_place(cx);
    let position = Some(GoToPosition::Span(place.span));
    workbench.open_at(place.path.clone(), position, false, window, cx);
}

/// Returns the open peek of a window.
#[cfg(test)]
pub(crate) fn open_view(workbench: &Workbench) -> Option<Entity<PeekView>> {
    let open = workbench.peek.as_ref()?;
    open.view.upgrade()
}
