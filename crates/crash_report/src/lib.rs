//! Notes about panics, kept in the state folder, and reports for an issue of the project.
//!
//! Knows: files, the machine. Must not know: windows, agents, networks: nothing here sends anything.
//! Invariant: what a user copies or opens was redacted: no text of a file, no name of the user, no secret.
//! Invariant: a note is on the disk before the thread that panicked goes on.
//! Start at [`CrashRecorder::install`]; `CrashNotes` reads the notes at the next start, and [`issue_report`] writes a report.

mod issue;
mod note;
mod notes;
mod recorder;
mod redaction;

pub use issue::issue_report;
pub use note::{CrashNote, ProgramVersion};
pub use notes::{CrashNotes, NoteEnd, StoredNote};
pub use recorder::CrashRecorder;
pub use redaction::Redaction;
