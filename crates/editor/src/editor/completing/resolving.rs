//! Completing items by their source: documentation of the selected row, and additional edits.
//!
//! Invariant: an item is sent to its source at most once per answer; its edits refer to the text of
//! that answer.
//! Start at `resolve_at_rest`.

use std::time::Duration;

use base::Span;
use gpui_kit::{Context, Task, Window};
use text::{Edit, EditKind};

use super::accepting::insert_pending;
use super::documentation::follow_selection;
use super::session::AnswerOrigin;
use crate::completion::{CompletionGroup, CompletionId, CompletionItem};
use crate::editor::Editor;
use crate::editor::snippets::shifted;

/// Rest of the selection before its item is completed.
const REST: Duration = Duration::from_millis(30);

/// Rows that are completed, from the selected one.
const ROWS: usize = 3;

/// Session, source and id of an item.
type ItemKey = (u64, usize, CompletionId);

/// An accepted item whose additional edits are still on their way.
pub(super) struct LateEdits {
    item: ItemKey,
    origin: AnswerOrigin,
    _task: Task<()>,
}

impl LateEdits {
    pub(super) fn new(item: ItemKey, origin: AnswerOrigin, task: Task<()>) -> Self {
        Self {
            item,
            origin,
            _task: task,
        }
    }
}

/// Completes the selected item and those below it when the selection rests.
pub(super) fn resolve_at_rest(editor: &mut Editor, cx: &mut Context<Editor>) {
    let Some(session) = &mut editor.completions.session else {
        return;
    };
    session.rest = None;
    if !session.is_shown() || !session.list.has_rows_of_sources() {
        return;
    }
    session.rest = Some(cx.spawn(async move |this, cx| {
        cx.background_executor().timer(REST).await;
        // The view may have been closed.
        this.update(cx, resolve_rows).ok();
    }));
}

fn resolve_rows(editor: &mut Editor, cx: &mut Context<Editor>) {
    let Some(session) = &editor.completions.session else {
        return;
    };
    let first = session.list.selected_row();
    let rows = (first..first + ROWS).filter_map(|row| session.list.row(row));
    let items = rows.filter_map(|(group, item)| match group {
        CompletionGroup::Source(ix) => Some((ix, item.clone())),
        CompletionGroup::Keywords | CompletionGroup::Words => None,
    });
    for (ix, item) in items.collect::<Vec<_>>() {
        resolve(editor, ix, &item, cx);
    }
}

/// Sends an item to its source, unless that was done.
fn resolve(editor: &mut Editor, ix: usize, item: &CompletionItem, cx: &mut Context<Editor>) {
    let completions = &mut editor.completions;
    let (Some(session), Some(source)) = (&mut completions.session, completions.sources.get(ix))
    else {
        return;
    };
    let key = (ix, item.id);
    if session.resolved.contains_key(&key) {
        return;
    }
    let (item_key, window) = ((session.number, ix, item.id), completions.window);
    let task = source.resolve(item, cx).map(|resolved| {
        cx.spawn(async move |this, cx| {
            let resolved = resolved.await;
            // The window or the view may have been closed.
            window
                .update(cx, |_, window, cx| {
                    this.update(cx, |editor, cx| {
                        take_resolved(editor, item_key, resolved, window, cx);
                    })
                    .ok()
                })
                .ok();
        })
    });
    session.resolved.insert(key, task);
}

/// Returns whether the source is completing the item; asks it to if that was not done.
pub(super) fn is_awaited(
    editor: &mut Editor,
    ix: usize,
    item: &CompletionItem,
    cx: &mut Context<Editor>,
) -> bool {
    resolve(editor, ix, item, cx);
    let session = editor.completions.session.as_ref();
    let known = session.and_then(|session| session.resolved.get(&(ix, item.id)));
    known.is_some_and(Option::is_some)
}

fn take_resolved(
    editor: &mut Editor,
    key: ItemKey,
    resolved: Option<CompletionItem>,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    let (number, ix, id) = key;
    let session = editor.completions.session.as_mut();
    if let Some(session) = session.filter(|session| session.number == number) {
        session.resolved.insert((ix, id), None);
        if let Some(item) = resolved {
            session.list.resolve(CompletionGroup::Source(ix), item);
        }
        let pending = session.accepting.as_ref();
        let is_accepted = pending.is_some_and(|pending| pending.item == (ix, id));
        follow_selection(editor, cx);
        if is_accepted {
            insert_pending(editor, window, cx);
        }
        return cx.notify();
    }
    let late = editor.completions.late.take_if(|late| late.item == key);
    if let (Some(late), Some(item)) = (late, resolved) {
        add_late(editor, &late.origin, &item.additional_edits, cx);
    }
}

/// Applies the additional edits of an item that is already inserted.
fn add_late(editor: &mut Editor, origin: &AnswerOrigin, edits: &[Edit], cx: &mut Context<Editor>) {
    editor.sync(cx);
    let edits = edits_now(editor, origin, edits, &[], cx);
    // A part of them would be wrong, such as half of an import.
    if edits.is_empty() || !editor.model.read(cx).document().can_edit() {
        return;
    }
    let selections = editor.selections.transform(|it| shifted(it, &edits));
    editor.edit(&edits, selections, EditKind::Other, cx);
}

/// Maps edits from the text of an answer to the current text, sorted. Returns none if the text of
/// one changed, or if one overlaps `spans`.
pub(super) fn edits_now(
    editor: &Editor,
    origin: &AnswerOrigin,
    edits: &[Edit],
    spans: &[Span],
    cx: &Context<Editor>,
) -> Vec<Edit> {
    let buffer = editor.model.read(cx).document().buffer();
    let Some(change) = buffer.changes_since(origin.snapshot.revision()) else {
        return Vec::new();
    };
    let map = |edit: &Edit| {
        let span = change.map_span(edit.span);
        let is_unchanged = origin.snapshot.text(edit.span) == editor.snapshot.text(span);
        let is_apart = !spans.iter().any(|other| other.overlaps(span));
        (is_unchanged && is_apart).then(|| Edit::new(span, edit.text.as_str()))
    };
    let edits: Option<Vec<Edit>> = edits.iter().map(map).collect();
    let mut edits = edits.unwrap_or_default();
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    edits
}
