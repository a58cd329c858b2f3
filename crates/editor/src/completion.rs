//! Completion items, their sources, and the list that is shown for a word.
//!
//! Knows: texts and their revisions, `gpui` tasks of the sources. Must not know: the view, the
//! protocol of language servers.
//! Invariant: the rows of a `CompletionList` depend on its items, its query and the ranking memory
//! alone; a merge moves no row at or above the selected one.
//! Start at `CompletionSource` for what comes from outside, at `CompletionList` for what is shown.

mod candidates;
mod list;
mod matcher;
mod ranking;
mod words;

use base::{ByteOffset, Revision, Span};
use gpui_kit::{App, SharedString, Task};
pub use lsp::CompletionKind;
use text::{Edit, Snapshot};

pub(crate) use candidates::{CompletionGroup, GroupItems};
pub(crate) use list::{CompletionList, word_items};
pub(crate) use matcher::matched_bytes;
pub(crate) use ranking::RankingMemory;
pub(crate) use words::{is_word_char, nearby_words, word_start};

/// Identifies an item among the answers of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CompletionId(pub u64);

/// Documentation of a completion item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Documentation {
    /// The documentation.
    pub text: SharedString,
    /// Whether `text` is Markdown; otherwise it is plain.
    pub is_markdown: bool,
}

/// Text that an item inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletionInsertion {
    /// The text, or the body of a snippet.
    pub text: SharedString,
    /// Whether `text` is a snippet with tab stops.
    pub is_snippet: bool,
    /// Span that Enter replaces, in the snapshot of the answer; `None` for the typed word.
    pub insert_span: Option<Span>,
    /// Span that Tab replaces, in the snapshot of the answer; `None` for the typed word and its
    /// rest behind the caret.
    pub replace_span: Option<Span>,
}

/// One item of a completion list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletionItem {
    /// Identity among the answers of its source.
    pub id: CompletionId,
    /// Text of the row.
    pub label: SharedString,
    /// Text at the right edge of the row, such as a type.
    pub detail: Option<SharedString>,
    /// Kind, shown in front of the label.
    pub kind: CompletionKind,
    /// Text that the typed word is matched with.
    pub filter_text: SharedString,
    /// Order among items that match equally well.
    pub sort_text: SharedString,
    /// Whether the source recommends the item.
    pub is_preselected: bool,
    /// Whether the item is deprecated.
    pub is_deprecated: bool,
    /// Characters that accept the item and are then typed.
    pub commit_characters: Vec<char>,
    /// The text to insert.
    pub insert: CompletionInsertion,
    /// Further edits, such as an import, in the snapshot of the answer; they do not overlap the
    /// typed word.
    pub additional_edits: Vec<Edit>,
    /// Documentation, if the source gave it already.
    pub documentation: Option<Documentation>,
}

impl CompletionItem {
    /// Creates an item that inserts its label in place of the typed word.
    pub fn new(id: CompletionId, label: impl Into<SharedString>, kind: CompletionKind) -> Self {
        let label = label.into();
        Self {
            id,
            detail: None,
            kind,
            filter_text: label.clone(),
            sort_text: label.clone(),
            is_preselected: false,
            is_deprecated: false,
            commit_characters: Vec::new(),
            insert: CompletionInsertion {
                text: label.clone(),
                is_snippet: false,
                insert_span: None,
                replace_span: None,
            },
            additional_edits: Vec::new(),
            documentation: None,
            label,
        }
    }
}

/// The answer of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletionAnswer {
    /// All items for the word at the caret, in any order.
    pub items: Vec<CompletionItem>,
    /// Whether the source must be asked again when the word changes.
    pub is_incomplete: bool,
    /// Revision to which the spans of the items refer; that of the query.
    pub revision: Revision,
}

/// Reason for a completion request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionTrigger {
    /// The user asked for the list.
    Invoked,
    /// An identifier character was typed.
    Typed,
    /// A trigger character of the source was typed.
    Character(char),
    /// The word changed after an incomplete answer.
    Incomplete,
}

/// A completion request.
#[derive(Clone)]
pub struct CompletionQuery {
    /// The text.
    pub snapshot: Snapshot,
    /// Offset of the newest caret.
    pub offset: ByteOffset,
    /// The typed word that ends at the caret; may be empty.
    pub word: SharedString,
    /// Reason for the request.
    pub trigger: CompletionTrigger,
}

/// A source of completion items.
pub trait CompletionSource {
    /// Returns the characters after which the list opens although no word is typed.
    fn triggers(&self, _: &App) -> Vec<char> {
        Vec::new()
    }

    /// Returns items that are known without a request. They are shown before any answer arrives.
    fn immediate_items(&self, _: &CompletionQuery, _: &App) -> Vec<CompletionItem> {
        Vec::new()
    }

    /// Requests items. Dropping the task cancels the request: a newer word or a closed list does
    /// so. `None` means that the source has no answer.
    fn request(&self, query: CompletionQuery, cx: &mut App) -> Task<Option<CompletionAnswer>>;

    /// Completes an item with documentation and additional edits, which refer to the revision of
    /// its answer. `None` if the item is complete. Called at most once per item.
    fn resolve(&self, _: &CompletionItem, _: &mut App) -> Option<Task<Option<CompletionItem>>> {
        None
    }

    /// Returns the values of the snippet variables that do not depend on the caret, for an item
    /// that is being accepted.
    fn variables(&self, _: &App) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Notes that an item was accepted.
    fn accepted(&self, _: &CompletionItem, _: &mut App) {}
}

#[cfg(test)]
mod tests;
