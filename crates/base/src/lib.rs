//! Shared vocabulary: text positions, revisions, absolute paths, file names, printable text, the platform, counts
//! of work, `never!`.
//!
//! Knows: the standard library, and Unicode's tables. Must not know: any other crate of ours.
//! Invariant: an item stays here only while at least three crates use it.
//! Start at `position`; `never!` is in `never`.

pub mod names;
mod never;
mod path;
mod path_text;
mod platform;
mod position;
mod printable;
mod quantity;
mod sentence;
mod work;

pub use names::NameRules;
pub use never::{LogErr, report, set_reporter};
pub use path::AbsPath;
pub use path_text::{path_text, text_path};
pub use platform::Platform;
pub use position::{Bias, ByteOffset, Column, Point, Revision, Row, Span, Utf16Point};
pub use printable::{LineFeeds, printable};
pub use quantity::{count_of, grouped};
pub use sentence::sentence;
pub use work::{Work, WorkCounts, count_work, counting};
