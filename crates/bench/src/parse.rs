//! Key to highlights of the visible range, beside the bare incremental tree-sitter parse.
//!
//! The same edits go to both. Ours: the tree kept in step, parsed without a budget, and the
//! highlights of sixty rows asked for. Bare: `Tree::edit` and `Parser::parse` over a contiguous
//! string, whose own edit is not counted.

use std::hint::black_box;
use std::time::Instant;

use base::{ByteOffset, Row, Span};
use syntax::{Budget, SyntaxTree, language_named};
use text::{Author, Buffer, EditKind, Origin, Timestamp};

use crate::corpus;
use crate::figure::Figure;
use crate::interleave::{Dice, Pairs, quantile};

const EDITS: usize = 400;
const VISIBLE_ROWS: u32 = 60;

pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for lines in [2_000, 25_000] {
        let source = corpus::rust_file(lines)?;
        let (pairs, ours, bare) = measure(&source)?;
        let name = |what: &str| format!("{what}, Rust, {lines} lines");
        figures.push(Figure::against(
            name("key to highlights"),
            "tree-sitter parse",
            &pairs,
            "ms",
            Some(1.3),
        ));
        let mut tail = Pairs::default();
        tail.push(p99(&ours), p99(&bare));
        figures.push(Figure::against(
            name("key to highlights p99"),
            "tree-sitter parse p99",
            &tail,
            "ms",
            Some(1.3),
        ));
    }
    Ok(figures)
}

fn p99(values: &[f64]) -> f64 {
    quantile(values.iter().copied(), 0.99)
}

fn measure(source: &str) -> Result<(Pairs, Vec<f64>, Vec<f64>), String> {
    let mut ours = Ours::new(source)?;
    let mut bare = Bare::new(source)?;
    let mut dice = Dice::new(7);
    let rows: Vec<usize> = source.match_indices('\n').map(|(at, _)| at).collect();
    let (mut pairs, mut our_times, mut bare_times) = (Pairs::default(), Vec::new(), Vec::new());
    let mut at = rows[rows.len() / 2];
    for edit in 0..EDITS {
        // A word is typed, then the caret goes elsewhere, as people do.
        if edit % 12 == 0 {
            at = rows[dice.below(rows.len())];
        }
        let typed = ["a", "b", "_", "x", " ", "("][dice.below(6)];
        let (our_time, bare_time) = if dice.below(2) == 0 {
            let our_time = ours.key(at, typed);
            (our_time, bare.key(at, typed))
        } else {
            let bare_time = bare.key(at, typed);
            (ours.key(at, typed), bare_time)
        };
        at += typed.len();
        pairs.push(our_time, bare_time);
        our_times.push(our_time);
        bare_times.push(bare_time);
    }
    Ok((pairs, our_times, bare_times))
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
        let origin = Origin {
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
        Ok(Self {
            text: source.to_owned(),
            parser,
            tree,
        })
    }

    fn key(&mut self, at: usize, typed: &str) -> f64 {
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
        start.elapsed().as_secs_f64() * 1_000.0
    }
}
