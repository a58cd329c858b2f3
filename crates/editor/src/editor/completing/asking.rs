//! Requests to the sources of the list, and merging their answers.
//!
//! Invariant: of each source, one request is under way; an answer for another list or for an older
//! text is dropped.
//! Start at `ask`.

use base::ByteOffset;
use gpui_kit::Context;

use super::session::AnswerOrigin;
use crate::completion::{CompletionAnswer, CompletionGroup, CompletionQuery, CompletionTrigger};
use crate::editor::Editor;

/// Adds the items of a source that need no waiting.
pub(super) fn add_immediate_items(
    editor: &mut Editor,
    ix: usize,
    trigger: CompletionTrigger,
    cx: &mut Context<Editor>,
) {
    let Some(query) = query(editor, trigger) else {
        return;
    };
    let items = editor.completions.sources[ix].immediate_items(&query, cx);
    let completions = &mut editor.completions;
    if let Some(session) = &mut completions.session {
        session.asked[ix].origin = Some(origin_of(&query, session.start));
        let items = items.into_iter().map(|item| (item, 0));
        session
            .list
            .set_items(CompletionGroup::Source(ix), items, &completions.memory);
        session.list.select_best();
    }
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
        // The view may have been closed.
        this.update(cx, |editor, cx| {
            take_answer(editor, (number, ix), origin, answer, cx)
        })
        .ok();
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

/// Merges an answer into the list for which it was asked.
fn take_answer(
    editor: &mut Editor,
    (number, ix): (u64, usize),
    origin: AnswerOrigin,
    answer: Option<CompletionAnswer>,
    cx: &mut Context<Editor>,
) {
    editor.sync(cx);
    let completions = &mut editor.completions;
    let session = completions.session.as_mut();
    let Some(session) = session.filter(|session| session.number == number) else {
        return;
    };
    let state = &mut session.asked[ix];
    state.request = None;
    let asked_revision = origin.snapshot.revision();
    // The spans of an answer to another text cannot be placed.
    if let Some(answer) = answer.filter(|answer| answer.revision == asked_revision) {
        let asked_word = origin.offset - origin.start;
        state.is_incomplete = answer.is_incomplete;
        state.origin = Some(origin);
        session.resolved.retain(|(source, _), _| *source != ix);
        let items = answer.items.into_iter().map(|item| (item, 0));
        session
            .list
            .set_items(CompletionGroup::Source(ix), items, &completions.memory);
        session.show_selected();
        if answer.is_incomplete && asked_word != session.list.query().len() {
            ask(editor, ix, CompletionTrigger::Incomplete, cx);
        }
    }
    editor.completions_filtered(cx);
}
