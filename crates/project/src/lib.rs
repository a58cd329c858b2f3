//! An open folder: its tree and files, search, documents, save and the recovery journal.
//!
//! Knows: `text`, `syntax`, `settings`, `caret`, `host`, `git`. Must not know: windows, how anything is drawn.
//! Invariant: nothing here touches the disk but through `host` and the `ignore` library.
//! Start at `Tree`, `search` and `fuzzy::rank` for the folder; `load` and `Document` for a file.

mod document;
pub mod fuzzy;
mod journal;
pub mod load;
mod recovery;
mod save;
pub mod search;
mod secrets;
mod state;
mod tree;
mod unsaved;
mod walk;

pub use document::{
    Conflict, DiskCheck, DiskFinding, DiskOutcome, Document, DocumentId, DocumentKey,
    DocumentState, FileFlags,
};
pub use journal::{Journal, JournalEvent, Keep};
pub use load::{Binary, LoadError, Loaded, load};
pub use recovery::{Recovered, Recovery, finish_saves, list_left_over, recover, reopen};
pub use save::{SaveDone, SaveError, SaveJob, SaveOptions, SaveOutcome, SaveRefused, SaveTarget};
pub use secrets::{SECRETS, is_secret};
pub use state::State;
pub use tree::{ListJob, Listed, Tree, TreeEntry, TreeRow};
pub use unsaved::Unsaved;
pub use walk::{
    BadGlob, Ground, Hidden, Ignored, LaidOut, Layout, NamedFiles, Rules, WalkOptions, WalkProblem,
    file_list, lay_out, lay_out_folder, walk,
};
