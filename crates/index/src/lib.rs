//! The semantic index of a codebase: files cut into chunks, found again by words and by meaning.
//!
//! Knows: `project`, `git`, `syntax`, `text`, `host`. Must not know: agents, windows, how anything is drawn.
//! Invariant: everything kept on disk can be made again; what is torn, foreign or of another version is rebuilt.

pub mod minilm;
pub mod table;
pub mod wordpiece;
pub mod words;
