//! The completion list of a view: opening it, asking the sources, and closing it.
//!
//! Invariant: a list belongs to the word that ends at the newest caret. When the caret leaves the
//! word, the list closes before the next paint.
//! Invariant: while a list is shown, no suggestion is: Tab has one meaning.
//! Start at `typed` and `Editor::follow_completions`; accepting is in `accepting`, the completion of
//! items by their source in `resolving`.

pub(crate) mod accepting;
mod resolving;

use std::collections::HashMap;
use std::rc::Rc;

use base::{Bias, ByteOffset, Span};
use gpui_kit::{
    AnyWindowHandle, App, Context, ScrollStrategy, Task, UniformListScrollHandle, Window,
};
use syntax::SyntaxScope;
use text::{Change, Snapshot};

use super::Editor;
use crate::completion::{
    CompletionAnswer, CompletionGroup, CompletionId, CompletionItem, CompletionKind,
    CompletionList, CompletionQuery, CompletionSource, CompletionTrigger, RankingMemory,
    is_word_char, nearby_words, word_items, word_start,
};
use crate::suggestion::Presentation;

/// Maximum rows shown at once.
pub(crate) const MAX_ROWS: usize = 12;

/// Longer words have no list, in bytes.
const MAX_QUERY: usize = 200;

/// Language in which the list opens only on request, as in texts without a language.
const PROSE: &str = "Markdown";

/// Completion state of a view.
pub(crate) struct Completions {
    sources: Vec<Rc<dyn CompletionSource>>,
    pub(crate) session: Option<CompletionSession>,
    memory: RankingMemory,
    /// Start of the word whose list was dismissed or has no items; it does not open again by typing.
    dismissed: Option<ByteOffset>,
    /// Number of the next session.
    next_session: u64,
    /// The accepted item whose additional edits did not arrive in time.
    late: Option<resolving::LateEdits>,
    window: AnyWindowHandle,
}

/// The list for one word, with the requests for it.
pub(crate) struct CompletionSession {
    number: u64,
    pub(crate) list: CompletionList,
    /// Start of the word, in the current text.
    pub(crate) start: ByteOffset,
    /// Whether the user asked for the list.
    was_invoked: bool,
    /// Whether the list opened before a word was typed; it then outlives an empty word.
    opened_empty: bool,
    /// By the number of the source.
    asked: Vec<SourceState>,
    /// Items that were sent to `CompletionSource::resolve`, with the tasks that are not finished.
    resolved: HashMap<(usize, CompletionId), Option<Task<()>>>,
    /// Waits until the selection rests.
    rest: Option<Task<()>>,
    accepting: Option<accepting::PendingAccept>,
    pub(crate) scroll: UniformListScrollHandle,
}

/// The request of a session to one source, and its answer.
#[derive(Default)]
struct SourceState {
    request: Option<Task<()>>,
    is_incomplete: bool,
    /// Text and positions of the query that the items answer.
    origin: Option<AnswerOrigin>,
}

/// Text and positions to which the spans of an answer refer.
#[derive(Clone)]
struct AnswerOrigin {
    snapshot: Snapshot,
    start: ByteOffset,
    offset: ByteOffset,
}

impl Completions {
    /// Creates the state of a view in `window`, without sources.
    pub(super) fn new(window: &Window) -> Self {
        Self {
            sources: Vec::new(),
            session: None,
            memory: RankingMemory::default(),
            dismissed: None,
            next_session: 0,
            late: None,
            window: window.window_handle(),
        }
    }

    /// Maps positions through a change of the text.
    pub(super) fn follow(&mut self, change: &Change) {
        // An edit across the start of the word removes what the list was opened for.
        self.session.take_if(|session| {
            let mut splices = change.splices.iter();
            splices.any(|it| it.old.start < session.start && session.start <= it.old.end)
        });
        if let Some(session) = &mut self.session {
            session.start = change.map(session.start, Bias::Left);
        }
        if let Some(start) = &mut self.dismissed {
            *start = change.map(*start, Bias::Left);
        }
    }

    /// Drops the list when the edits leading to the text are unknown.
    pub(super) fn reset(&mut self) {
        self.session = None;
        self.dismissed = None;
        self.late = None;
    }
}

impl CompletionSession {
    fn has_requests(&self) -> bool {
        self.asked.iter().any(|source| source.request.is_some())
    }

    /// Returns whether there are rows to show besides the typed word itself.
    fn is_shown(&self) -> bool {
        !self.list.is_empty() && !self.list.is_only_the_word()
    }

    /// Returns whether a suggestion may take the place of the list: it opened by itself, has only
    /// words and keywords, and the user did not turn to it.
    fn yields_to_suggestions(&self) -> bool {
        !self.was_invoked && !self.list.has_moved() && !self.list.has_rows_of_sources()
    }

    fn show_selected(&self) {
        self.scroll
            .scroll_to_item(self.list.selected_row(), ScrollStrategy::Nearest);
    }
}

impl Editor {
    /// Replaces the sources of completion items, and closes an open list.
    pub fn set_completion_sources(
        &mut self,
        sources: Vec<Rc<dyn CompletionSource>>,
        cx: &mut Context<Self>,
    ) {
        self.close_completions(cx);
        self.completions.late = None;
        self.completions.sources = sources;
    }

    /// Returns whether the completion list is shown.
    pub fn shows_completions(&self) -> bool {
        let session = self.completions.session.as_ref();
        session.is_some_and(CompletionSession::is_shown)
    }

    /// Returns the labels of the shown completion items, and the selected row. Returns `None` if no
    /// list is shown.
    pub fn shown_completions(&self) -> Option<(Vec<gpui_kit::SharedString>, usize)> {
        let session = self.completions.session.as_ref();
        let list = &session.filter(|session| session.is_shown())?.list;
        let rows = (0..list.len()).filter_map(|row| list.row(row));
        let labels = rows.map(|(_, item)| item.label.clone()).collect();
        Some((labels, list.selected_row()))
    }

    /// Closes the list, if one is open.
    pub(crate) fn close_completions(&mut self, cx: &mut Context<Self>) {
        if self.completions.session.take().is_some() {
            self.completions_changed(cx);
        }
    }

    /// Closes the list; typing on in its word does not open it again.
    fn dismiss_completions(&mut self, cx: &mut Context<Self>) {
        let session = self.completions.session.as_ref();
        self.completions.dismissed = session.map(|session| session.start);
        self.close_completions(cx);
    }

    /// Closes a list that a suggestion may replace.
    pub(super) fn yield_completions(&mut self) {
        self.completions
            .session
            .take_if(|session| session.yields_to_suggestions());
    }

    /// Filters the list by the word at the newest caret, or closes it if the caret left the word.
    /// Every change of the selections calls this.
    pub(crate) fn follow_completions(&mut self, cx: &mut Context<Self>) {
        let Some(session) = &self.completions.session else {
            return;
        };
        let Some(word) = self.completed_word(session) else {
            return self.close_completions(cx);
        };
        let Some(session) = &mut self.completions.session else {
            return;
        };
        if session.list.query() == word {
            return;
        }
        session.accepting = None;
        session.list.set_query(&word);
        session.show_selected();
        self.completions_filtered(cx);
    }

    /// Returns the word that the session completes; `None` if the carets left it.
    fn completed_word(&self, session: &CompletionSession) -> Option<String> {
        let head = self.selections.primary().head;
        let is_in_word = session.start <= head && head - session.start <= MAX_QUERY;
        let is_selected = self.selections.iter().any(|it| !it.is_empty());
        if !is_in_word || is_selected || !self.marked.is_empty() {
            return None;
        }
        let word = self.snapshot.text(Span::new(session.start, head));
        let is_word = word.chars().all(is_word_char);
        let is_long_enough = !word.is_empty() || session.opened_empty;
        (is_word && is_long_enough).then(|| word.into_owned())
    }

    /// Closes the list if nothing is left to show or to wait for, and updates what depends on it.
    fn completions_filtered(&mut self, cx: &mut Context<Self>) {
        let session = self.completions.session.as_ref();
        if session.is_some_and(|session| !session.is_shown() && !session.has_requests()) {
            return self.dismiss_completions(cx);
        }
        resolving::resolve_at_rest(self, cx);
        self.completions_changed(cx);
    }

    /// Updates the state that depends on whether the list is shown.
    fn completions_changed(&mut self, cx: &mut Context<Self>) {
        self.suggestion.invalidate();
        self.refresh_suggestion(cx);
        cx.notify();
    }

    fn can_complete(&self, cx: &App) -> bool {
        self.excerpts.is_none()
            && self.marked.is_empty()
            && self.model.read(cx).document().can_edit()
            && self.selections.iter().all(|it| it.is_empty())
    }

    /// Returns whether the newest caret is outside comments and strings.
    fn is_in_code(&self, cx: &App) -> bool {
        let head = self.selections.primary().head;
        let syntax = self.model.read(cx).syntax();
        syntax.is_none_or(|syntax| syntax.scope_at(&self.snapshot, head) == SyntaxScope::Code)
    }
}

/// Updates the list after `text` was typed: asks again, or opens it.
pub(super) fn typed(editor: &mut Editor, text: &str, cx: &mut Context<Editor>) {
    let mut chars = text.chars();
    let (Some(char), None) = (chars.next(), chars.next()) else {
        return;
    };
    if editor.completions.session.is_some() {
        return ask_incomplete(editor, cx);
    }
    if !editor.settings_source.completions.auto || !editor.can_complete(cx) {
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
    if begins_with_digit || is_prose || is_dismissed || is_ghost || !editor.is_in_code(cx) {
        return;
    }
    open(editor, CompletionTrigger::Typed, cx);
}

/// Handler of an action: opens the list for the word at the caret.
pub(crate) fn show_completions(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    if !editor.can_complete(cx) {
        return cx.propagate();
    }
    open(editor, CompletionTrigger::Invoked, cx);
}

/// Handler of an action: closes the list.
pub(crate) fn hide_completions(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    if editor.shows_completions() {
        editor.dismiss_completions(cx);
    } else {
        cx.propagate();
    }
}

/// Handler of an action: selects the next item.
pub(crate) fn next_completion(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    move_selection(editor, |list| list.cycle(true), cx);
}

/// Handler of an action: selects the previous item.
pub(crate) fn previous_completion(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    move_selection(editor, |list| list.cycle(false), cx);
}

/// Handler of an action: selects an item one page below.
pub(crate) fn next_completion_page(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    move_selection(editor, |list| list.page(MAX_ROWS - 1, true), cx);
}

/// Handler of an action: selects an item one page above.
pub(crate) fn previous_completion_page(
    editor: &mut Editor,
    _: &mut Window,
    cx: &mut Context<Editor>,
) {
    move_selection(editor, |list| list.page(MAX_ROWS - 1, false), cx);
}

fn move_selection(
    editor: &mut Editor,
    change: impl FnOnce(&mut CompletionList),
    cx: &mut Context<Editor>,
) {
    let session = editor.completions.session.as_mut();
    let Some(session) = session.filter(|session| session.is_shown()) else {
        return cx.propagate();
    };
    session.accepting = None;
    change(&mut session.list);
    session.show_selected();
    resolving::resolve_at_rest(editor, cx);
    cx.notify();
}

/// Opens a list for the word at the newest caret with the items that need no waiting, and asks the
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
        asked,
        resolved: HashMap::new(),
        rest: None,
        accepting: None,
        scroll: UniformListScrollHandle::new(),
    });
    for ix in 0..editor.completions.sources.len() {
        let source = editor.completions.sources[ix].clone();
        let is_asked = match trigger {
            CompletionTrigger::Character(char) => source.triggers(cx).contains(&char),
            _ => true,
        };
        if is_asked {
            add_immediate_items(editor, ix, trigger, cx);
            ask(editor, ix, trigger, cx);
        }
    }
    if !matches!(trigger, CompletionTrigger::Character(_)) {
        add_local_items(editor, cx);
    }
    if let Some(session) = &editor.completions.session {
        session.show_selected();
    }
    editor.completions_filtered(cx);
}

/// Adds the words of the text and the keywords of the language.
fn add_local_items(editor: &mut Editor, cx: &mut Context<Editor>) {
    let settings = &editor.settings_source.completions;
    let head = editor.selections.primary().head;
    let words = if settings.words {
        let shortest = settings.min_word_length as usize;
        nearby_words(&editor.snapshot, head, shortest)
    } else {
        Vec::new()
    };
    let is_in_code = editor.is_in_code(cx);
    let language = editor.model.read(cx).language();
    // The first use of a language compiles its queries, which takes longer than a frame.
    let language = language.filter(|language| is_in_code && language.is_prepared());
    let keywords: Vec<(CompletionItem, u32)> = language.map_or_else(Vec::new, |language| {
        let keywords = language.keywords("").zip(0..);
        keywords
            .map(|(word, id)| {
                let kind = CompletionKind::Keyword;
                (CompletionItem::new(CompletionId(id), word, kind), 0)
            })
            .collect()
    });
    let completions = &mut editor.completions;
    if let Some(session) = &mut completions.session {
        let (list, memory) = (&mut session.list, &completions.memory);
        list.set_items(CompletionGroup::Keywords, keywords, memory);
        list.set_items(CompletionGroup::Words, word_items(words), memory);
        list.select_best();
    }
}

fn add_immediate_items(
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
fn ask(editor: &mut Editor, ix: usize, trigger: CompletionTrigger, cx: &mut Context<Editor>) {
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
fn ask_incomplete(editor: &mut Editor, cx: &mut Context<Editor>) {
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
