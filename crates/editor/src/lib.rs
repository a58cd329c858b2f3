//! The editor view: a document with its syntax and Git hunks, views of it, and their rendering.
//!
//! Knows: the pure crates (`text`, `syntax`, `display`, `caret`, `autocomplete`, `vim`),
//! `project::Document`, `settings`, `ui`.
//! Must not know: panes, tabs, the project tree, how a file was found, where journals are stored,
//! the source of suggestions.
//! Invariant: one `DocumentModel` owns a text; every `Editor` of it applies the model's changes
//! before it acts or paints, so that no offset is ever used with the wrong revision.
//! Invariant: the cost of a keystroke depends on the visible rows and the edit, never on the file.
//! Invariant: painting never requests another frame.
//! Invariant: horizontal positions are cells times the advance of a digit, for glyphs and carets
//! alike.
//! Start at `DocumentModel` and `Editor`; drawing starts at `element`.

mod action_scope;
mod actions;
mod banner;
mod block_view;
mod caret_actions;
mod code_blocks;
mod comparison;
mod completion;
mod editor;
mod element;
mod excerpts;
mod find;
mod frame;
mod model;
mod mouse;
mod pointer;
mod scroll;
mod suggestion;
mod view;

pub mod fixture;

pub use actions::*;
pub use block_view::{BlockPlace, BlockView};
pub use caret_actions::*;
pub use code_blocks::highlight_code_blocks;
pub use comparison::Comparison;
pub use completion::{
    CompletionAnswer, CompletionId, CompletionInsertion, CompletionItem, CompletionKind,
    CompletionQuery, CompletionSource, CompletionTrigger, Documentation,
};
pub use editor::{
    CodeActionSource, CycleDirection, Editor, EditorEvent, HighlightSource, HoverSource, HoverText,
    LanguageSources, LineAuthorDisplay, LinkedSpanSource, MenuSection, ProposedChange, Reveal,
    ReviewMark, ScrollPosition, SelectionRangeSource, SignatureAnswer, SignatureQuery,
    SignatureSource, SnippetInsertion, SuggestionBlocker, SuggestionEvent, SuggestionMode,
    TypeFormatQuery, TypeFormatter, ViewState, VimEvent, VimStatus, configure_vim,
    reveal_block_above, reveal_block_below, reviewed_rows, scroll_position, scroll_to,
    set_unwrapped, show_card, show_changed_words, show_line_authors, show_moved_rows,
    show_proposal, show_removed_rows, vim_status,
};
pub use excerpts::{Excerpt, Excerpts, ExcerptsEvent};
pub use model::{
    AnnotationAnswer, AnnotationExtent, AnnotationKind, AnnotationQuery, AnnotationSet,
    AnnotationSource, AnnotationSources, DiagnosticCounts, DiagnosticOrigin, DiagnosticSet,
    DocumentEnvironment, DocumentModel, GutterIcon, GutterMark, HeldWork, InlayHintSource,
    LineAuthor, ModelEvent, PlacedDiagnostic, SaveFailure, hold_work,
};
pub use suggestion::SuggestionPlace;
