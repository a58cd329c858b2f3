//! The editor view: a document with its syntax and its git hunks, views of it, and how they are drawn.
//!
//! Knows: the pure halves (`text`, `syntax`, `display`, `caret`, `autocomplete`), `project::Document`, `settings`, `ui`.
//! Must not know: panes, tabs, the project tree, how a file was found, where journals lie, who makes suggestions.
//! Invariant: one `DocumentModel` owns a text; every `Editor` over it follows its changes before it acts
//! or paints, so that no offset is ever used with a text it does not belong to.
//! Invariant: what a key costs depends on the visible rows and the edit, never on the file.
//! Invariant: painting changes nothing that would ask for another frame.
//! Invariant: horizontal places are cells times the advance of a digit, for letters and carets alike.
//! Start at `DocumentModel` and `Editor`; drawing starts at `element`.

mod actions;
mod banner;
mod block_view;
mod caret_actions;
mod comparison;
mod editor;
mod element;
mod excerpts;
mod find;
mod find_bar;
mod model;
mod mouse;
mod scroll;
mod suggestion;

pub mod fixture;

pub use actions::*;
pub use block_view::{BlockPlace, BlockView};
pub use caret_actions::*;
pub use comparison::Comparison;
pub use editor::{
    Cycle, Editor, EditorEvent, Reveal, ReviewMark, SuggestionEvent, SuggestionMode, Unsuited,
    ViewState,
};
pub use excerpts::{Excerpt, Excerpts, ExcerptsEvent};
pub use model::{DocumentModel, Environment, HeldWork, ModelEvent, SaveFailure, hold_work};
pub use suggestion::SuggestionPlace;
