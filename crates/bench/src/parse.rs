//! Time from a key to the highlights of the visible range, compared with a bare incremental
//! tree-sitter parse.
//!
//! Both sides get the same edits. Burin updates the tree, parses without a budget and computes the
//! highlights of sixty rows. The bare side runs `Tree::edit` and `Parser::parse` over a contiguous
//! string, whose own edit is not timed: once alone, and once with the grammar's highlight query
//! over the same rows, whose captures are only counted.

use std::hint::black_box;
use std::time::Instant;

use base::{ByteOffset, Row, Span};
use streaming_iterator::StreamingIterator;
use syntax::{Budget, SyntaxTree, language_named};
use text::{Author, Buffer, EditKind, EditOrigin, Timestamp};

use crate::corpus;
use crate::figure::Figure;
use crate::interleave::{Dice, Pairs};

const EDITS: usize = 600;
const VISIBLE_ROWS: u32 = 60;

pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for lines in [2_000, 25_000] {
        let source = corpus::rust_file(lines)?;
        let measured = measure(&source)?;
        let name = |what: &str| format!("key to highlights{what}, Rust, {lines} lines");
        figures.push(Figure::against(
            name(""),
            "tree-sitter parse + query",
            &measured.with_query,
            "ms",
            Some(1.3),
        ));
        figures.push(Figure::against(
            name(""),
            "tree-sitter parse alone",
            &measured.parse_alone,
            "ms",
            None,
        ));
        figures.push(Figure::against(
            name(" p99"),
            "tree-sitter parse + query p99",
            &measured.with_query.tail(0.99),
            "ms",
            Some(1.3),
        ));
    }
    Ok(figures)
}

#[derive(Default)]
struct Measured {
    with_query: Pairs,
    parse_alone: Pairs,
}

fn measure(source: &str) -> Result<Measured, String> {
    let mut ours = Ours::new(source)?;
    let mut bare = Bare::new(source)?;
    let mut dice = Dice::new(7);
    let rows: Vec<usize> = source.match_indices('\n').map(|(at, _)| at).collect();
    let mut measured = Measured::default();
    let mut at = rows[rows.len() / 2];
    for edit in 0..EDITS {
        // Types a word, then moves the caret elsewhere, as people do.
        if edit % 12 == 0 {
            at = rows[dice.below(rows.len())];
        }
        let typed = ["a", "b", "_", "x", " ", "("][dice.below(6)];
        let (our_time, (parse, query)) = if dice.below(2) == 0 {
            let our_time = ours.key(at, typed);
            (our_time, bare.key(at, typed))
        } else {
            let bare_times = bare.key(at, typed);
            (ours.key(at, typed), bare_times)
        };
        at += typed.len();
        measured.with_query.push(our_time, parse + query);
        measured.parse_alone.push(our_time, parse);
    }
    Ok(measured)
}

struct Ours {
    buffer: Buffer,
    tree: SyntaxTree,
}

impl Ours {
    fn new(source: &str) -> Result<Self, String> {
        let language = language_named("Rust").ok_or("Rust is not among the languages")?;
        language.prepare();
        let buffer = Buffer::new(source);
        let mut tree = SyntaxTree::new(language);
        drop(tree.parse(&buffer.snapshot(), &mut Budget::unlimited()));
        Ok(Self { buffer, tree })
    }

    fn key(&mut self, at: usize, typed: &str) -> f64 {
        let origin = EditOrigin {
            author: Author::User,
            kind: EditKind::Typing,
            at: Timestamp(0),
        };
        let before = self.buffer.snapshot();
        let change = self
            .buffer
            .replace(Span::at(ByteOffset(at)), typed, &origin);
        let after = self.buffer.snapshot();
        let start = Instant::now();
        self.tree.edit(&before, &after, &change);
        drop(self.tree.parse(&after, &mut Budget::unlimited()));
        let row = after.point_at(ByteOffset(at)).row;
        let first = row - VISIBLE_ROWS / 2;
        let last = Row((first.0 + VISIBLE_ROWS).min(after.last_row().0));
        let visible = Span::new(after.row_start(first), after.row_end(last));
        black_box(self.tree.snapshot().highlights(&after, visible));
        start.elapsed().as_secs_f64() * 1_000.0
    }
}

struct Bare {
    text: String,
    query: tree_sitter::Query,
    cursor: tree_sitter::QueryCursor,
    parser: tree_sitter::Parser,
    tree: tree_sitter::Tree,
}

impl Bare {
    fn new(source: &str) -> Result<Self, String> {
        let mut parser = tree_sitter::Parser::new();
        parser
            .set_language(&tree_sitter_rust::LANGUAGE.into())
            .map_err(|error| error.to_string())?;
        let tree = parser
            .parse(source, None)
            .ok_or("the bare parser gave up")?;
        let language = tree_sitter_rust::LANGUAGE.into();
        let query = tree_sitter::Query::new(&language, tree_sitter_rust::HIGHLIGHTS_QUERY);
        Ok(Self {
            text: source.to_owned(),
            query: query.map_err(|error| error.to_string())?,
            cursor: tree_sitter::QueryCursor::new(),
            parser,
            tree,
        })
    }

    /// Returns the milliseconds of the parse and of the query.
    fn key(&mut self, at: usize, typed: &str) -> (f64, f64) {
        let row_start = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let row = self.text[..at].matches('\n').count();
        self.text.insert_str(at, typed);
        let point = |offset: usize| tree_sitter::Point::new(row, offset - row_start);
        let edit = tree_sitter::InputEdit {
            start_byte: at,
            old_end_byte: at,
            new_end_byte: at + typed.len(),
            start_position: point(at),
            old_end_position: point(at),
            new_end_position: point(at + typed.len()),
        };
        let start = Instant::now();
        self.tree.edit(&edit);
        if let Some(tree) = self.parser.parse(&self.text, Some(&self.tree)) {
            self.tree = tree;
        }
        let parse = start.elapsed().as_secs_f64() * 1_000.0;
        let visible = self.visible(at);
        let start = Instant::now();
        self.cursor.set_byte_range(visible);
        let mut captures =
            self.cursor
                .captures(&self.query, self.tree.root_node(), self.text.as_bytes());
        let mut count = 0;
        while captures.next().is_some() {
            count += 1;
        }
        black_box(count);
        (parse, start.elapsed().as_secs_f64() * 1_000.0)
    }

    fn visible(&self, at: usize) -> std::ops::Range<usize> {
        let half = VISIBLE_ROWS as usize / 2;
        let start = self.text[..at]
            .rmatch_indices('\n')
            .nth(half)
            .map_or(0, |(at, _)| at + 1);
        let below = self.text[at..].match_indices('\n').nth(half);
        start..below.map_or(self.text.len(), |(offset, _)| at + offset)
    }
}
