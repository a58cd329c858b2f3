//! Contents of files that are more than text: Markdown, images, tables and bytes, as models that views draw.
//!
//! Knows: `host` for reading, the formats. Must not know: windows, how anything is drawn, the project.
//! Invariant: any bytes are taken: memory and time are bounded by constants of each module, and a refusal is a sentence.
//! Invariant: nothing that a file names is opened or fetched while the file is parsed.
//! Invariant: no file is read whole for its table or its bytes; both read the part in sight.
//! Start at `MarkdownDocument`, `DecodedImage`, `TableReader` and `HexReader`; `RowScroll` scrolls what has more rows than
//! pixels can count.

#![warn(missing_docs)]

mod byte_count;
mod bytes;
mod hex;
mod image;
mod links;
mod markdown;
mod row_scroll;
mod table;

pub use self::image::{
    DecodedImage, ImageDifference, ImageError, ImageFormat, ImageFrame, ImageTile, ImageViewport,
    MAX_IMAGE_BYTES, Pixels, SvgFonts, TileKey, TilePyramid, visible_tiles,
};
pub use byte_count::{byte_count, grouped};
pub use bytes::FileBytes;
pub use hex::{BYTES_PER_ROW, HexReader, HexRow, OffsetError, parse_offset};
pub use links::{PreviewLink, anchor_of};
pub use markdown::{
    BlockKind, CellAlignment, InlineImage, InlineSpan, InlineStyle, InlineText, ListMarker,
    MAX_MARKDOWN_BYTES, MarkdownBlock, MarkdownDocument, MarkdownError, TableColumns,
};
pub use row_scroll::RowScroll;
pub use table::{CsvError, Delimiter, TableIndex, TableReader, TableRow};

#[cfg(test)]
mod hostile;
