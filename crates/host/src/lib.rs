//! The border to the machine: files, watching, trash, processes, time, Burin's own folders.
//!
//! Knows: `base` and the operating system. Must not know: buffers, encodings, what a project is.
//! Invariant: no other crate in the workspace opens a file, starts a process or reads a clock.
//! Invariant: a save leaves exactly the old or exactly the new content, whenever the machine dies;
//! where only overwriting in place is possible, a durable record of both comes first (see
//! `real::overwrite`).
//! Invariant: `RealFiles` and `FakeFiles` pass the same tests.
//! Start at `Files`; saving is in `real::save`, crash recovery in `real::overwrite`.

#![expect(
    clippy::disallowed_methods,
    reason = "this is the one crate that touches files, processes and clocks"
)]

mod clock;
mod command_link;
mod content_hash;
mod dirs;
mod durability;
pub mod environment;
mod error;
mod facts;
mod fake;
mod file_status;
mod files;
mod host_name;
mod instance;
mod listing;
mod memory;
pub mod no_follow;
mod path_at;
mod priority;
pub mod process;
mod program;
mod real;
#[cfg(test)]
mod reexec;
mod retry;
mod spelling;
mod stat;
mod system_calls;
mod temp;
mod ticker;
mod tree;
mod watch;

pub use clock::{Clock, FakeClock, RealClock};
pub use command_link::link_command;
pub use content_hash::ContentHash;
pub use dirs::Dirs;
pub use error::{Error, ErrorReason};
pub use facts::{Fact, FactVerdict, facts, no_display};
pub use fake::{FakeFiles, FakeOperation};
pub use files::{
    AppendLog, ExpectedContent, FileLock, Files, InterruptedSave, InterruptedSaveState, OnDisk,
    SaveMethod, SaveRequest, SaveResult,
};
pub use host_name::host_name;
pub use instance::{HandoffReceiver, Instance, claim, private_socket};
pub use listing::{ListedEntry, Listing};
pub use memory::release_free_memory;
pub use priority::lower_priority;
pub use program::{ProgramFile, ProgramImage, own_program};
pub use real::RealFiles;
pub use real::{
    BulkStat, ChangeQueue, FileVersion, PolledChange, RandomAccessFile, WallTime, is_temp_name,
    links,
};
pub use stat::{FileKind, Stamp, Stat};
pub use temp::TempFolder;
pub use ticker::ticker;
pub use tree::{FolderTree, TreeEntry, TreeKind, WalkStep, is_draft_name};
pub use watch::{Ignore, WatchEvent, WatchRequest, Watcher};
