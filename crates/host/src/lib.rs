//! The border to the machine: files, watching, trash, processes, time, folders of our own.
//!
//! Knows: `base` and the operating system. Must not know: buffers, encodings, what a project is.
//! Invariant: nobody else in the workspace opens a file, starts a process or asks the time.
//! Invariant: a save leaves the exact old or the exact new content, whenever the machine dies; where
//! only overwriting in place is possible, a durable record of both comes first (see `overwrite`).
//! Invariant: `RealFiles` and `FakeFiles` pass the same tests.
//! Start at `Files`; saving is in `real::save`, what a crash leaves behind in `overwrite`.

#![expect(
    clippy::disallowed_methods,
    reason = "this is the one crate that touches files, processes and clocks"
)]

#[cfg(test)]
mod again;
mod beats;
mod clock;
mod content;
mod dirs;
pub mod environment;
mod error;
mod facts;
mod fake;
mod files;
mod instance;
mod memory;
mod overwrite;
mod priority;
pub mod process;
mod real;
mod stat;
mod temp;
mod tree;
mod watch;

pub use beats::beats;
pub use clock::{Clock, FakeClock, RealClock};
pub use content::ContentHash;
pub use dirs::Dirs;
pub use error::{Error, Reason};
pub use facts::{Fact, Verdict, facts, no_display};
pub use fake::{FakeFiles, Operation};
pub use files::{AppendLog, Expected, Files, Lock, OnDisk, SaveRequest, SaveWay, Saved};
pub use instance::{Handed, Instance, claim};
pub use memory::give_back_memory;
pub use overwrite::{Interrupted, InterruptedState};
pub use priority::lower_priority;
pub use real::RealFiles;
pub use real::{Mark, Moment, News, Pages, Survey, Vigil, is_temp_name, links};
pub use stat::{Entry, FileKind, Listing, Stamp, Stat};
pub use temp::TempFolder;
pub use tree::{Step, Tree, TreeEntry, TreeKind, is_draft_name};
pub use watch::{Ignore, WatchEvent, WatchRequest, Watcher};
