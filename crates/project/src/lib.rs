//! An open folder: its tree and files, search, documents, saving and the recovery journal, and the package managers and
//! Python environments that its manifests name.
//!
//! Knows: `text`, `caret`, `host`. Must not know: windows, how anything is drawn.
//! Invariant: the disk is accessed only through `host` and the `ignore` library.
//! Start at `ProjectTree`, `search` and `fuzzy::rank` for the folder; `load` and `Document` for a file.

mod document;
pub mod fuzzy;
mod journal;
mod journal_entry;
pub mod load;
mod recovered;
mod recovery;
mod save;
pub mod search;
mod secrets;
mod state;
mod toolchain;
mod tree;
mod unsaved;
mod walk;

pub use document::{
    DiskCheck, DiskConflict, DiskFinding, DiskOutcome, Document, DocumentId, DocumentKey,
    DocumentState,
};
pub use journal::{CloseRetention, JournalEvent, RecoveryJournal};
pub use load::{Binary, FileFlags, LoadError, Loaded, load};
pub use recovered::Recovered;
pub use recovery::{Recovery, finish_saves, list_left_over, recover, reopen};
pub use save::{SaveDone, SaveError, SaveJob, SaveOptions, SaveOutcome, SaveRefused, SaveTarget};
pub use secrets::{SECRETS, is_secret};
pub use state::{LayoutProblem, WindowLayouts};
pub use toolchain::{ManifestReader, PackageManager, PythonEnvironment};
pub use tree::{FolderListing, ListJob, ProjectTree, ProjectTreeEntry, ProjectTreeRow};
pub use unsaved::UnsavedTexts;
pub use walk::{
    BadGlob, HiddenFiles, IgnoreRules, IgnoredFiles, ListedPath, NamedFiles, WalkBackend,
    WalkListing, WalkOptions, WalkProblem, file_list, list_below, list_directly_in, walk,
};
