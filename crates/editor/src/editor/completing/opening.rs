//! Opening the list: while typing, and on request.
//!
//! Start at `typed`.

use std::collections::HashMap;
use std::rc::Rc;

use base::Span;
use gpui_kit::{AppContext as _, Context, UniformListScrollHandle, Window};

use super::session::{CompletionSession, SourceState};
use super::{asking, can_complete, is_in_code};
use crate::completion::{
    CompletionGroup, CompletionId, CompletionItem, CompletionKind, CompletionList,
    CompletionSource, CompletionTrigger, GroupItems, is_word_char, nearby_words, word_items,
    word_start,
};
use crate::editor::Editor;
use crate::suggestion::Presentation;

/// Language in which the list opens only on request, as in texts without a language.
const PROSE: &str = "Markdown";

/// Updates the list after `text` was typed: asks again, or opens it.
pub(in crate::editor) fn typed(editor: &mut Editor, text: &str, cx: &mut Context<Editor>) {
    let mut chars = text.chars();
    let (Some(char), None) = (chars.next(), chars.next()) else {
        return;
    };
    if editor.completions.session.is_some() {
        return asking::ask_incomplete(editor, cx);
    }
    if !editor.settings_source.completions.auto || !can_complete(editor, cx) {
        return;
    }
    let is_trigger = |source: &Rc<dyn CompletionSource>| source.triggers(cx).contains(&char);
    if editor.completions.sources.iter().any(is_trigger) {
        return open(editor, CompletionTrigger::Character(char), cx);
    }
    if !is_word_char(char) {
        editor.completions.dismissed = None;
        return;
    }
    let start = word_start(&editor.snapshot, editor.selections.primary().head);
    let begins_with_digit = editor
        .snapshot
        .chars_at(start)
        .next()
        .is_some_and(char::is_numeric);
    let is_prose = editor
        .model
        .read(cx)
        .language()
        .is_none_or(|language| language.name() == PROSE);
    let is_dismissed = editor.completions.dismissed == Some(start);
    // The user is typing through the suggestion at the caret.
    let shown = editor.suggestion.shown_presentation();
    let is_ghost = matches!(shown, Some(Presentation::InText(shown)) if shown.at_caret.is_some());
    if begins_with_digit || is_prose || is_dismissed || is_ghost || !is_in_code(editor, cx) {
        return;
    }
    open(editor, CompletionTrigger::Typed, cx);
}

/// Handler of an action: opens the list for the word at the caret.
pub(crate) fn show_completions(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    if !can_complete(editor, cx) {
        return cx.propagate();
    }
    open(editor, CompletionTrigger::Invoked, cx);
}

/// Opens a list for the word at the newest caret with the items that need no request, and asks the
/// sources. The sources that do not ask for a trigger character are left out after it.
fn open(editor: &mut Editor, trigger: CompletionTrigger, cx: &mut Context<Editor>) {
    let head = editor.selections.primary().head;
    let start = match trigger {
        CompletionTrigger::Character(_) => head,
        _ => word_start(&editor.snapshot, head),
    };
    let word = editor.snapshot.text(Span::new(start, head)).into_owned();
    let completions = &mut editor.completions;
    completions.next_session += 1;
    completions.dismissed = None;
    let mut asked = Vec::new();
    asked.resize_with(completions.sources.len(), SourceState::default);
    completions.session = Some(CompletionSession {
        number: completions.next_session,
        list: CompletionList::new(&word),
        start,
        was_invoked: trigger == CompletionTrigger::Invoked,
        opened_empty: word.is_empty(),
        local: None,
        asked,
        resolved: HashMap::new(),
        rest: None,
        accepting: None,
        documentation: None,
        scroll: UniformListScrollHandle::new(),
    });
    let mut immediate = Vec::new();
    for ix in 0..editor.completions.sources.len() {
        let source = editor.completions.sources[ix].clone();
        let is_asked = match trigger {
            CompletionTrigger::Character(char) => source.triggers(cx).contains(&char),
            _ => true,
        };
        if is_asked {
            let items = asking::immediate_items(editor, ix, trigger, cx);
            immediate.push((CompletionGroup::Source(ix), items));
            asking::ask(editor, ix, trigger, cx);
        }
    }
    let words = if matches!(trigger, CompletionTrigger::Character(_)) {
        None
    } else {
        immediate.push((CompletionGroup::Keywords, keywords(editor, cx)));
        let settings = &editor.settings_source.completions;
        settings.words.then_some(settings.min_word_length as usize)
    };
    add_local_items(editor, immediate, words, cx);
    editor.completions_filtered(cx);
}

/// Merges `immediate` and the words near the caret into the list. Words have at least `min_word`
/// characters; `None` omits them. Collecting and sorting them would delay the frame of the key, so a
/// background task does it.
fn add_local_items(
    editor: &mut Editor,
    immediate: Vec<(CompletionGroup, Vec<CompletionItem>)>,
    min_word: Option<usize>,
    cx: &mut Context<Editor>,
) {
    let completions = &mut editor.completions;
    let Some(session) = &mut completions.session else {
        return;
    };
    let (number, memory) = (session.number, completions.memory.clone());
    let (snapshot, head) = (editor.snapshot.clone(), editor.selections.primary().head);
    let prepared = cx.background_spawn(async move {
        let words = min_word.map_or_else(Vec::new, |min| nearby_words(&snapshot, head, min));
        let immediate = immediate.into_iter().map(|(group, items)| {
            GroupItems::new(group, items.into_iter().map(|item| (item, 0)), &memory)
        });
        let words = GroupItems::new(CompletionGroup::Words, word_items(words), &memory);
        immediate.chain([words]).collect()
    });
    session.local = Some(cx.spawn(async move |this, cx| {
        let end = |editor: &mut Editor, _: &mut Context<Editor>| {
            if let Some(session) = &mut editor.completions.session {
                session.local = None;
            }
        };
        asking::merge(&this, number, prepared.await, end, cx).await;
    }));
}

/// Returns the keywords of the language; none in comments and strings.
fn keywords(editor: &Editor, cx: &Context<Editor>) -> Vec<CompletionItem> {
    let in_code = is_in_code(editor, cx);
    let language = editor.model.read(cx).language();
    // The first use of a language compiles its queries, which takes longer than a frame.
    let language = language.filter(|language| in_code && language.is_prepared());
    let Some(language) = language else {
        return Vec::new();
    };
    let item = |(word, id)| CompletionItem::new(CompletionId(id), word, CompletionKind::Keyword);
    language.keywords("").zip(0..).map(item).collect()
}
