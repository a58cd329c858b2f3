//! The guide: the pages of `docs/` as texts in the program, their sections, and the search in them.
//!
//! Knows: the standard library. Must not know: files, windows, how a page is drawn.
//! Invariant: the pages are those of `docs/SUMMARY.md`, in its order.
//! Start at [`GuidePage::all`]; [`search`] finds sections, and [`cited`] returns what a prompt names.

mod page;
mod search;
mod section;

pub use page::GuidePage;
pub use search::{GuideHit, cited, search};
pub use section::GuideSection;
