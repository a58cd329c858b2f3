//! Shared vocabulary: text positions, revisions, absolute paths, printable text, `never!`.
//!
//! Knows: the standard library. Must not know: any other crate.
//! Invariant: an item stays here only while at least three crates use it.
//! Start at `position`; `never!` is in `never`.

mod never;
mod path;
mod path_text;
mod position;
mod printable;
mod quantity;
mod sentence;

pub use never::{LogErr, report, set_reporter};
pub use path::AbsPath;
pub use path_text::{path_text, text_path};
pub use position::{Bias, ByteOffset, Column, Point, Revision, Row, Span, Utf16Point};
pub use printable::{LineFeeds, printable};
pub use quantity::{count_of, grouped};
pub use sentence::sentence;
