//! Requests to the sources of the list, and merging their answers.
//!
//! Invariant: of each source, one request is under way; an answer for another list or for an older
//! text is dropped.
//! Start at `ask` and `merge`.

use base::ByteOffset;
use gpui_kit::{AppContext, AsyncApp, Context, WeakEntity};

use super::session::{AnswerOrigin, CompletionSession};
use crate::completion::{
    CompletionAnswer, CompletionGroup, CompletionItem, CompletionQuery, CompletionTrigger,
    GroupItems,
};
use crate::editor::Editor;

/// Returns the items that a source provides without a request.
pub(super) fn immediate_items(
    editor: &mut Editor,
    ix: usize,
    trigger: CompletionTrigger,
    cx: &mut Context<Editor>,
) -> Vec<CompletionItem> {
    let Some(query) = query(editor, trigger) else {
        return Vec::new();
    };
    let items = editor.completions.sources[ix].immediate_items(&query, cx);
    if let Some(session) = &mut editor.completions.session {
        session.asked[ix].origin = Some(origin_of(&query, session.start));
    }
    items
}

fn query(editor: &Editor, trigger: CompletionTrigger) -> Option<CompletionQuery> {
    let session = editor.completions.session.as_ref()?;
    Some(CompletionQuery {
        snapshot: editor.snapshot.clone(),
        offset: editor.selections.primary().head,
        word: session.list.query().to_owned().into(),
        trigger,
    })
}

fn origin_of(query: &CompletionQuery, start: ByteOffset) -> AnswerOrigin {
    AnswerOrigin {
        snapshot: query.snapshot.clone(),
        start,
        offset: query.offset,
    }
}

/// Asks a source; cancels its request that is under way.
pub(super) fn ask(
    editor: &mut Editor,
    ix: usize,
    trigger: CompletionTrigger,
    cx: &mut Context<Editor>,
) {
    let Some(query) = query(editor, trigger) else {
        return;
    };
    let source = editor.completions.sources[ix].clone();
    let Some(session) = &mut editor.completions.session else {
        return;
    };
    let (number, origin) = (session.number, origin_of(&query, session.start));
    session.asked[ix].request = None;
    let answer = source.request(query, cx);
    session.asked[ix].request = Some(cx.spawn(async move |this, cx| {
        let answer = answer.await;
        take_answer(this, (number, ix), origin, answer, cx).await;
    }));
}

/// Asks the sources again whose items do not cover the changed word. Their items stay on screen
/// meanwhile.
pub(super) fn ask_incomplete(editor: &mut Editor, cx: &mut Context<Editor>) {
    for ix in 0..editor.completions.sources.len() {
        let session = editor.completions.session.as_ref();
        if session.is_some_and(|session| session.asked[ix].is_incomplete) {
            ask(editor, ix, CompletionTrigger::Incomplete, cx);
        }
    }
}

/// Merges the answer of a source into the list that requested it. Returns `None` if the view or the
/// list was closed.
async fn take_answer(
    this: WeakEntity<Editor>,
    (number, ix): (u64, usize),
    origin: AnswerOrigin,
    answer: Option<CompletionAnswer>,
    cx: &mut AsyncApp,
) -> Option<()> {
    let asked_revision = origin.snapshot.revision();
    // The spans of an answer to another text cannot be placed.
    let Some(answer) = answer.filter(|answer| answer.revision == asked_revision) else {
        let end = |editor: &mut Editor, cx: &mut Context<Editor>| {
            if let Some(session) = open_session(editor, number, cx) {
                session.asked[ix].request = None;
                editor.completions_filtered(cx);
            }
        };
        return this.update(cx, end).ok();
    };
    let (is_incomplete, items) = (answer.is_incomplete, answer.items);
    let memory = this.read_with(cx, |editor, _| editor.completions.memory.clone());
    let memory = memory.ok()?;
    let prepared = cx.background_spawn(async move {
        let items = items.into_iter().map(|item| (item, 0));
        vec![GroupItems::new(CompletionGroup::Source(ix), items, &memory)]
    });
    let note_answer = |editor: &mut Editor, cx: &mut Context<Editor>| {
        let Some(session) = open_session(editor, number, cx) else {
            return;
        };
        let asked_word = origin.offset - origin.start;
        let state = &mut session.asked[ix];
        state.request = None;
        state.is_incomplete = is_incomplete;
        state.origin = Some(origin);
        session.resolved.retain(|(source, _), _| *source != ix);
        if is_incomplete && asked_word != session.list.query().len() {
            ask(editor, ix, CompletionTrigger::Incomplete, cx);
        }
    };
    merge(&this, number, prepared.await, note_answer, cx).await
}

/// Merges items into the list of a session, then calls `merged` and shows the list. An answer can have
/// more than ten thousand items, so a background task merges them into a clone of the list, which then
/// replaces the list. Returns `None` if the view or the list was closed.
pub(super) async fn merge(
    this: &WeakEntity<Editor>,
    number: u64,
    mut groups: Vec<GroupItems>,
    merged: impl FnOnce(&mut Editor, &mut Context<Editor>),
    cx: &mut AsyncApp,
) -> Option<()> {
    loop {
        let list = this.update(cx, |editor, cx| {
            open_session(editor, number, cx).map(|session| session.list.clone())
        });
        let mut list = list.ok()??;
        let changed = cx.background_spawn(async move {
            list.merge(groups.iter().cloned());
            (list, groups)
        });
        let (list, used) = changed.await;
        let replaced = this.update(cx, |editor, cx| {
            open_session(editor, number, cx).map(|session| session.list.take_over(list))
        });
        match replaced.ok()?? {
            Ok(former) => {
                discard((former, used), cx);
                break;
            }
            Err(_) => groups = used,
        }
    }
    let show = |editor: &mut Editor, cx: &mut Context<Editor>| {
        merged(editor, cx);
        if let Some(session) = open_session(editor, number, cx) {
            session.show_selected();
            editor.completions_filtered(cx);
        }
    };
    this.update(cx, show).ok()
}

/// Syncs the view with its document and returns the session with this number if it is still open.
fn open_session<'a>(
    editor: &'a mut Editor,
    number: u64,
    cx: &mut Context<Editor>,
) -> Option<&'a mut CompletionSession> {
    editor.sync(cx);
    let session = editor.completions.session.as_mut();
    session.filter(|session| session.number == number)
}

/// Drops items in the background. Dropping thousands of them would delay the next frame.
pub(super) fn discard(items: impl Send + 'static, cx: &impl AppContext) {
    cx.background_spawn(async move { drop(items) }).detach();
}
