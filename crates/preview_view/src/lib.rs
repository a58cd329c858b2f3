//! Tabs that show more than text: Markdown beside its text, images and their differences, tables, bytes.
//!
//! Knows: the models of `preview`, the text of a document and its editor, the design system. Must not know: panes, the
//! project tree, Git, which file opens as what.
//! Invariant: the UI thread reads no file and decodes nothing; a view shows what has arrived.
//! Invariant: work for a frame depends on what is in sight, never on the size of the file.
//! Invariant: nothing outside of the folder is loaded for a document, and no link is followed without its target shown.
//! Start at `PreviewTab`; each view is a module of its own: `MarkdownPreview`, `ImagePreview`, `ImageComparison`,
//! `TablePreview`, `HexPreview`.

#![warn(missing_docs)]

pub mod actions;

mod comparison;
mod event;
mod hex;
mod image;
mod kind;
mod loading;
mod markdown;
mod row_list;
mod saved;
mod source;
mod surface;
mod tab;
mod table;

pub use self::image::ImagePreview;
pub use comparison::{ComparedVersion, ImageComparison};
pub use event::{PreviewEvent, PreviewStatus};
pub use hex::HexPreview;
pub use kind::PreviewKind;
pub use markdown::MarkdownPreview;
pub use saved::SavedPreview;
pub use source::PreviewSource;
pub use tab::PreviewTab;
pub use table::TablePreview;
