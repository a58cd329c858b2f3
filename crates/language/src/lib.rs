//! Language servers of a folder: which servers serve which documents, where their programs are, how they
//! are installed, and their processes.
//!
//! Knows: `base`, `text`, `settings`, `syntax`, `host`, `lsp`. Must not know: the list of trusted folders, windows, how
//! anything is printed.
//! Invariant: in a folder that the user does not trust, no program of the folder is looked up, and no
//! process of a server starts.
//! Start at `FolderServers`, `check` and `RunningServers`; the known servers are in `table`.

mod check;
mod confinement;
mod environment;
mod error;
mod expand;
mod external_formatter;
mod install;
mod life;
mod listing;
mod locate;
mod overrides;
mod path_lookup;
mod pattern;
mod process;
mod recipe;
mod repository;
mod running;
mod selection;
mod server_log;
mod table;
mod watchdog;

pub use check::{CheckFailure, CheckReport, CheckRequest, CheckSeverity, FileDiagnostic, check};
pub use confinement::{ServerConfinement, ServerSandbox};
pub use error::Error;
pub use install::{InstallPlan, InstalledServers};
pub use listing::{ListScope, ListedServer};
pub use locate::{ProgramOrigin, ServerProgram};
pub use running::{
    DocumentReadiness, DocumentServer, LanguageChanges, MissingServer, OutdatedAnswers,
    RunningOptions, RunningServers, ServerKey, ServerMessage, ServerPool, ServerState,
    ServerStatus, StartRefusal,
};
pub use selection::{FolderServers, ProgramCache};
pub use server_log::read_log;
pub use table::{ServerDefinition, ServerRole};
