//! The list for one word, with the requests and answers of the sources.

use std::collections::HashMap;

use base::ByteOffset;
use gpui_kit::{ScrollStrategy, Task, UniformListScrollHandle};
use text::Snapshot;

use super::accepting;
use super::documentation::DocumentationView;
use crate::completion::{CompletionId, CompletionList};

/// The list for one word, with the requests for it.
pub(crate) struct CompletionSession {
    pub(super) number: u64,
    pub(crate) list: CompletionList,
    /// Start of the word, in the current text.
    pub(crate) start: ByteOffset,
    /// Whether the user asked for the list.
    pub(super) was_invoked: bool,
    /// Whether the list opened before a word was typed; it then outlives an empty word.
    pub(super) opened_empty: bool,
    /// Task that adds snippets, keywords and words.
    pub(super) local: Option<Task<()>>,
    /// By the number of the source.
    pub(super) asked: Vec<SourceState>,
    /// Items that were sent to `CompletionSource::resolve`, with the tasks that are not finished.
    pub(super) resolved: HashMap<(usize, CompletionId), Option<Task<()>>>,
    /// Waits until the selection rests.
    pub(super) rest: Option<Task<()>>,
    pub(super) accepting: Option<accepting::PendingAccept>,
    /// The documentation of the selected item.
    pub(crate) documentation: Option<DocumentationView>,
    pub(crate) scroll: UniformListScrollHandle,
}

/// The request of a session to one source, and its answer.
#[derive(Default)]
pub(super) struct SourceState {
    pub(super) request: Option<Task<()>>,
    pub(super) is_incomplete: bool,
    /// Text and positions of the query that the items answer.
    pub(super) origin: Option<AnswerOrigin>,
}

/// Text and positions to which the spans of an answer refer.
#[derive(Clone)]
pub(super) struct AnswerOrigin {
    pub(super) snapshot: Snapshot,
    pub(super) start: ByteOffset,
    pub(super) offset: ByteOffset,
}

impl CompletionSession {
    pub(super) fn has_requests(&self) -> bool {
        self.local.is_some() || self.asked.iter().any(|source| source.request.is_some())
    }

    /// Returns whether there are rows to show besides the typed word itself.
    pub(super) fn is_shown(&self) -> bool {
        !self.list.is_empty() && !self.list.is_only_the_word()
    }

    /// Returns whether a suggestion may take the place of the list: it opened by itself, has only
    /// words and keywords, and the user did not turn to it.
    pub(super) fn yields_to_suggestions(&self) -> bool {
        !self.was_invoked && !self.list.has_moved() && !self.list.has_rows_of_sources()
    }

    pub(super) fn show_selected(&self) {
        self.scroll
            .scroll_to_item(self.list.selected_row(), ScrollStrategy::Nearest);
    }
}
