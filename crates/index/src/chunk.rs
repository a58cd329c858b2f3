//! Splits a file into chunks, the units of embedding, counting and retrieval.
//!
//! Sibling nodes of the syntax tree are merged up to about `TARGET` bytes; functions, types and
//! sections stay whole up to `WHOLE`, and larger ones are split along their children. Without a
//! tree, lines are the only boundaries.
//! Pure. Invariant: chunks are sorted, disjoint, on char boundaries, and contain every letter and
//! digit of the text.

mod cut;

use std::ops::Range;

use base::Span;
use syntax::{Language, OutlineItem, OutlineKind, PlainTree};

/// The target size of a chunk, in bytes.
pub(crate) const TARGET_BYTES: usize = 750;
/// Size in bytes up to which a function or type stays whole.
pub(crate) const MAX_WHOLE_BYTES: usize = 1_500;
/// Bytes of a symbol's documentation that are repeated in its later chunks.
const MAX_DOC_BYTES: usize = 200;

/// A contiguous part of a file that is indexed and found as a unit, with the symbols in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodeChunk {
    /// Byte range in the text.
    pub(crate) span: Range<usize>,
    /// Row range, 0-based, end exclusive.
    pub(crate) rows: Range<u32>,
    /// The first symbol it defines, or the one it is a part of.
    pub(crate) symbol: Option<String>,
    /// The kind of that symbol.
    pub(crate) kind: Option<OutlineKind>,
    /// Whether the symbol's name is in an earlier chunk.
    pub(crate) is_continued: bool,
    /// The names of the enclosing symbols, outermost first.
    pub(crate) around: Vec<String>,
    /// The beginning of the symbol's documentation, if this is a later part of it.
    pub(crate) doc: String,
    /// All symbols whose names are in this chunk.
    pub(crate) defines: Vec<Defined>,
    /// Whether it lies in a test module.
    pub(crate) is_test: bool,
}

/// A definition in a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Defined {
    /// Its own name, unqualified.
    pub(crate) name: String,
    pub(crate) kind: OutlineKind,
    /// The rows of the whole definition, 0-based, end exclusive. They may extend beyond the chunk.
    pub(crate) rows: Range<u32>,
}

/// Splits a text into chunks in order, along functions and types if `language` can be parsed, else
/// by lines. The chunks cover the whole text. An empty text yields no chunks.
pub(crate) fn chunks(text: &str, language: Option<Language>) -> Vec<CodeChunk> {
    let tree = language.and_then(|language| PlainTree::parse(language, text));
    let lines = LineStarts::of(text);
    let Some(tree) = tree else {
        let spans = cut::by_lines(text, 0..text.len());
        return spans
            .into_iter()
            .map(|span| chunk_of_lines(span, &lines))
            .collect();
    };
    let outline = tree.outline(text);
    let spans = cut::by_tree(text, &tree, &outline);
    let named = |span| chunk_with_symbol(text, span, &outline, &lines);
    spans.into_iter().map(named).collect()
}

/// Splits a text by its lines alone: fast, and without symbols.
pub(crate) fn rough_chunks(text: &str) -> Vec<CodeChunk> {
    let lines = LineStarts::of(text);
    let spans = cut::by_lines(text, 0..text.len());
    spans
        .into_iter()
        .map(|span| chunk_of_lines(span, &lines))
        .collect()
}

fn chunk_of_lines(span: Range<usize>, lines: &LineStarts) -> CodeChunk {
    CodeChunk {
        rows: lines.rows(&span),
        span,
        symbol: None,
        kind: None,
        is_continued: false,
        around: Vec::new(),
        doc: String::new(),
        defines: Vec::new(),
        is_test: false,
    }
}

fn chunk_with_symbol(
    text: &str,
    span: Range<usize>,
    outline: &[OutlineItem],
    lines: &LineStarts,
) -> CodeChunk {
    let mut chunk = chunk_of_lines(span, lines);
    let inside = |at: Span| chunk.span.contains(&at.start.0);
    let own: Vec<&OutlineItem> = outline
        .iter()
        .filter(|item| inside(item.name_span))
        .collect();
    // An item that begins in this chunk and contains another one in it is an enclosing symbol.
    let holds_more = |item: &OutlineItem| {
        let rest = text
            .get(chunk.span.end..item.span.end.0)
            .unwrap_or_default();
        rest.contains(char::is_alphanumeric)
            && own
                .iter()
                .any(|other| other.depth > item.depth && !is_value(other.kind))
    };
    let first = own
        .iter()
        .filter(|item| !is_value(item.kind) && !holds_more(item))
        .min_by_key(|item| item.depth)
        .or(own.first())
        .copied();
    let covers = |item: &&OutlineItem| {
        item.span.start.0 <= chunk.span.start && chunk.span.start < item.span.end.0
    };
    let around: Vec<&OutlineItem> = match first {
        Some(symbol) => outline
            .iter()
            .filter(|item| {
                item.span.covers(symbol.span) && item.depth < symbol.depth && !is_value(item.kind)
            })
            .collect(),
        None => outline
            .iter()
            .filter(covers)
            .filter(|item| !is_value(item.kind))
            .collect(),
    };
    let is_tests = |item: &OutlineItem| {
        item.kind == OutlineKind::Module && matches!(item.name.as_str(), "tests" | "test")
    };
    chunk.is_test = around.iter().copied().chain(first).any(is_tests);
    let symbol = first.or(around.last().copied());
    let outer = match first {
        Some(_) => around.as_slice(),
        None => around.split_last().map_or(&[][..], |(_, outer)| outer),
    };
    chunk.around = outer.iter().map(|item| item.name.clone()).collect();
    chunk.defines = own
        .iter()
        .filter(|item| item.kind != OutlineKind::Heading)
        .filter_map(|item| {
            let rows = lines.rows(&(item.span.start.0..item.span.end.0));
            let name = own_name(item)?;
            let kind = item.kind;
            Some(Defined { name, kind, rows })
        })
        .collect();
    if let Some(symbol) = symbol {
        chunk.is_continued = first.is_none();
        if chunk.is_continued {
            chunk.doc = doc_before(text, symbol.span.start.0);
        }
        chunk.symbol = Some(symbol.name.clone());
        chunk.kind = Some(symbol.kind);
    }
    chunk
}

/// Whether an outline item is a mere value, not a function, type, module, macro or heading.
fn is_value(kind: OutlineKind) -> bool {
    use OutlineKind::{Constant, Field, Key, Other, Variable};
    matches!(kind, Constant | Field | Key | Other | Variable)
}

/// Returns the name that users search for: `Total` for `(c *Cart) Total`, `run` for `Engine::run`;
/// `None` for an implementation, which defines nothing new.
fn own_name(item: &OutlineItem) -> Option<String> {
    if item.detail == "impl" {
        return None;
    }
    let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
    let name = item.name.trim_end_matches(|letter| !is_letter(letter));
    let start = name.rfind(|letter| !is_letter(letter)).map_or(0, |at| {
        at + name[at..].chars().next().map_or(1, char::len_utf8)
    });
    let name = &name[start..];
    (!name.is_empty()).then(|| name.to_owned())
}

/// Returns the beginning of the comment that ends right before `offset`.
fn doc_before(text: &str, offset: usize) -> String {
    let marks = |line: &str| {
        ["//", "#", "*", "/*", "--"]
            .iter()
            .any(|it| line.starts_with(it))
    };
    let before = text.get(..offset).unwrap_or_default();
    let mut lines: Vec<&str> = before
        .lines()
        .rev()
        .skip_while(|line| line.trim().is_empty())
        .map(str::trim)
        .take_while(|line| marks(line))
        .take(12)
        .filter(|line| !line.starts_with("#["))
        .map(|line| line.trim_matches(|letter: char| "/*#!- ".contains(letter)))
        .collect();
    lines.reverse();
    let mut doc = lines.join(" ").trim().to_owned();
    if let Some((at, _)) = doc.char_indices().find(|(at, _)| *at >= MAX_DOC_BYTES) {
        doc.truncate(at);
    }
    doc
}

/// The offsets at which the rows of a text begin.
struct LineStarts(Vec<usize>);

impl LineStarts {
    fn of(text: &str) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = newlines.map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(starts).collect())
    }

    /// Returns the row that contains a byte offset, counted from 0.
    fn row(&self, offset: usize) -> u32 {
        let row = self.0.partition_point(|start| *start <= offset);
        u32::try_from(row.saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Returns the rows that a range touches; a newline at its end opens no further one.
    fn rows(&self, range: &Range<usize>) -> Range<u32> {
        let last = range.end.saturating_sub(1).max(range.start);
        self.row(range.start)..self.row(last).saturating_add(1)
    }
}

#[cfg(test)]
mod tests;
