//! The completion list of a view: its state, and following the word at the caret.
//!
//! Invariant: a list belongs to the word that ends at the newest caret. When the caret leaves the
//! word, the list closes before the next paint.
//! Invariant: a view shows a list or a suggestion, never both, so that Tab has one meaning.
//! Start at `opening::typed`, which opens a list, and `Editor::follow_completions`, which updates it. `asking`
//! merges the answers of the sources, `resolving` requests the details of single items, `documentation`
//! renders their text, `moving` handles the keys of the list, and `accepting` inserts an item.

pub(crate) mod accepting;
mod asking;
mod documentation;
pub(crate) mod moving;
pub(crate) mod opening;
mod resolving;
mod session;

use std::rc::Rc;

use base::{Bias, ByteOffset, Span};
use gpui_kit::{AnyWindowHandle, App, Context, Window};
use syntax::SyntaxScope;
use text::Change;

use super::Editor;
use crate::completion::{CompletionSource, RankingMemory, is_word_char};

pub(crate) use session::CompletionSession;

/// Maximum rows shown at once.
pub(crate) const MAX_ROWS: usize = 12;

/// Longer words have no list, in bytes.
const MAX_QUERY: usize = 200;

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
        if let Some(session) = self.completions.session.take() {
            asking::discard(session.list, cx);
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
        documentation::follow_selection(self, cx);
        self.completions_changed(cx);
    }

    /// Updates the state that depends on whether the list is shown.
    fn completions_changed(&mut self, cx: &mut Context<Self>) {
        self.suggestion.invalidate();
        self.refresh_suggestion(cx);
        cx.notify();
    }
}

fn can_complete(editor: &Editor, cx: &App) -> bool {
    editor.excerpts.is_none()
        && editor.marked.is_empty()
        && editor.model.read(cx).document().can_edit()
        && editor.selections.iter().all(|it| it.is_empty())
}

/// Returns whether the newest caret is outside comments and strings.
fn is_in_code(editor: &Editor, cx: &App) -> bool {
    let head = editor.selections.primary().head;
    let syntax = editor.model.read(cx).syntax();
    syntax.is_none_or(|syntax| syntax.scope_at(&editor.snapshot, head) == SyntaxScope::Code)
}
