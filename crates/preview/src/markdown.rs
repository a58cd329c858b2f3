//! Markdown as a flat list of blocks, each of which is one row of a list that draws only those in sight.
//!
//! Every item of a list, every row of a table and every paragraph is a block of its own, so that a document of any shape
//! scrolls in constant time; containers are numbers on the block.
//! Invariant: blocks are in the order of the source, and each knows its rows there.
//! Invariant: raw HTML is text; of its elements, only line breaks and images mean something.
//! Start at `MarkdownDocument::parse`.

mod blocks;
mod html;
mod inline;
mod scrolling;

use std::ops::Range;
use std::sync::Arc;

pub use inline::{InlineImage, InlineSpan, InlineStyle, InlineText};

/// Maximum length of a document, in bytes.
pub const MAX_MARKDOWN_BYTES: usize = 5 << 20;
/// Maximum number of blocks.
const MAX_BLOCKS: usize = 200_000;
/// Maximum number of containers that begin in one row.
const MAX_NESTING: usize = 100;
/// Maximum number of columns of a table that are shown.
const MAX_COLUMNS: usize = 100;

/// A parsed document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarkdownDocument {
    blocks: Vec<MarkdownBlock>,
    is_cut: bool,
}

/// A part of a document that is drawn as one row.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkdownBlock {
    /// The content.
    pub kind: BlockKind,
    /// The rows of the source.
    pub rows: Range<u32>,
    /// Number of quotes around it.
    pub quotes: usize,
    /// Number of lists around it.
    pub indent: usize,
    /// The mark before the first block of an item.
    pub marker: Option<ListMarker>,
}

/// The content of a block.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockKind {
    /// A heading.
    Heading {
        /// From 1 to 6.
        level: u8,
        /// The text.
        text: InlineText,
        /// The name by which links address it; no other heading has it.
        anchor: String,
    },
    /// A paragraph.
    Paragraph(InlineText),
    /// Images that follow each other.
    Images(Vec<InlineImage>),
    /// Code, formulas and front matter.
    Code {
        /// The words behind the fence; the first is the language.
        info: String,
        /// The text, without the line break at its end.
        code: String,
    },
    /// A row of a table.
    TableRow {
        /// The columns of the whole table.
        columns: Arc<TableColumns>,
        /// The cells, one for each column.
        cells: Vec<InlineText>,
        /// Whether it names the columns.
        is_head: bool,
    },
    /// A horizontal rule.
    Rule,
    /// HTML, as it is written.
    Html(String),
}

/// The mark before an item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListMarker {
    /// A bullet.
    Bullet,
    /// A number.
    Number(u64),
    /// The box of a task, and whether it is done.
    Task(bool),
    /// The name of a footnote.
    Footnote(String),
}

/// The columns of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableColumns {
    /// The alignment of each column.
    pub alignments: Vec<CellAlignment>,
    /// The length of the longest text of each column, in characters, within bounds.
    pub widths: Vec<u32>,
}

/// The alignment of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellAlignment {
    /// At the left.
    #[default]
    Left,
    /// In the middle.
    Center,
    /// At the right.
    Right,
}

/// The cause why a document is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MarkdownError {
    /// The text is too long.
    #[error("the text has {}, and at most {} are shown", crate::byte_count(*.0 as u64), crate::byte_count(MAX_MARKDOWN_BYTES as u64))]
    TooLong(usize),
    /// Too many quotes or lists begin in one row.
    #[error("row {} begins more than {MAX_NESTING} quotes and lists", *.0 + 1)]
    TooDeep(u32),
}

impl MarkdownDocument {
    /// Parses a text. Takes time that grows with the text.
    pub fn parse(text: &str) -> Result<Self, MarkdownError> {
        if text.len() > MAX_MARKDOWN_BYTES {
            return Err(MarkdownError::TooLong(text.len()));
        }
        check_nesting(text)?;
        Ok(blocks::parse(text))
    }

    /// Returns the blocks.
    pub fn blocks(&self) -> &[MarkdownBlock] {
        &self.blocks
    }

    /// Returns whether the document has more blocks than are shown.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns the block of a heading that links address.
    pub fn block_of_anchor(&self, anchor: &str) -> Option<usize> {
        let wanted = anchor.to_lowercase();
        self.blocks.iter().position(|block| match &block.kind {
            BlockKind::Heading { anchor, .. } => *anchor == wanted,
            _ => matches!(&block.marker, Some(ListMarker::Footnote(name)) if *name == anchor),
        })
    }
}

/// Refuses a row that begins too many containers: each costs time in every later row.
fn check_nesting(text: &str) -> Result<(), MarkdownError> {
    for (row, line) in text.lines().enumerate() {
        let mut markers = 0;
        let mut bytes = line.bytes().peekable();
        while let Some(byte) = bytes.next() {
            match byte {
                b'>' => markers += 1,
                b'-' | b'+' | b'*' if matches!(bytes.peek(), Some(b' ' | b'\t')) => markers += 1,
                b' ' | b'\t' | b'0'..=b'9' => {}
                b'.' | b')' if matches!(bytes.peek(), Some(b' ' | b'\t')) => markers += 1,
                _ => break,
            }
            if markers > MAX_NESTING {
                return Err(MarkdownError::TooDeep(
                    u32::try_from(row).unwrap_or(u32::MAX),
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
