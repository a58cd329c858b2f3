//! A buffer and its tree under random edits.

use base::{Bias, ByteOffset, Span};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use text::{Buffer, Edit, EditOrigin, Timestamp};

use super::{buffer, parsed};
use crate::SyntaxTree;
use crate::equality::are_equal;

/// Pieces of text that matter to grammars.
const PIECES: &[&str] = &[
    "x",
    " ",
    "\n",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "`",
    "//",
    "/*",
    "*/",
    "#",
    "--",
    ":",
    ";",
    ",",
    "=",
    "<",
    ">",
    "end",
    "if ",
    "fn ",
    "def ",
    "é",
    "\t",
    "\\",
    "```",
    "1",
    ".",
    "|",
    "    ",
    "<div>",
    "\r\n",
    "<script>",
    "</script>",
    "# ",
    "- ",
    "do ",
    "EOF",
];

/// A buffer and its tree, edited at random.
pub(crate) struct Edited {
    pub(crate) rng: StdRng,
    pub(crate) buffer: Buffer,
    pub(crate) tree: SyntaxTree,
}

impl Edited {
    /// Parses a text. The edits follow from `seed` alone.
    pub(crate) fn new(language: &str, text: &str, seed: u64) -> Edited {
        let buffer = buffer(text);
        let tree = parsed(language, &buffer.snapshot());
        Edited {
            rng: StdRng::seed_from_u64(seed),
            buffer,
            tree,
        }
    }

    /// Replaces one to three places at once, without parsing.
    pub(crate) fn edit(&mut self) {
        let before = self.buffer.snapshot();
        let mut edits: Vec<Edit> = Vec::new();
        for _ in 0..self.rng.random_range(1..=3usize) {
            let at = self.rng.random_range(0..=before.len().0);
            let removed = self.rng.random_range(0..4usize) * self.rng.random_range(0..2usize);
            let start = before.clip(ByteOffset(at), Bias::Left);
            let end = before.clip(start + removed, Bias::Left).max(start);
            let piece = PIECES[self.rng.random_range(0..PIECES.len())];
            let span = Span::new(start, end);
            let is_apart = |it: &Edit| it.span.end < span.start || span.end < it.span.start;
            if edits.iter().all(is_apart) {
                let text = if self.rng.random_bool(0.6) { piece } else { "" };
                edits.push(Edit::new(span, text));
            }
        }
        let change = self.buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
        self.tree.edit(&before, &self.buffer.snapshot(), &change);
    }

    /// Undoes every edit, without parsing.
    pub(crate) fn undo_all(&mut self) {
        loop {
            let before = self.buffer.snapshot();
            let Some(restored) = self.buffer.undo() else {
                return;
            };
            self.tree
                .edit(&before, &self.buffer.snapshot(), &restored.change);
        }
    }

    /// Panics if the tree differs from a fresh parse of the text.
    pub(crate) fn assert_equals_fresh(&self, context: &str) {
        let text = self.buffer.snapshot();
        let fresh = parsed(self.tree.language().name(), &text);
        let (ours, theirs) = (self.tree.trees_for_test(), fresh.trees_for_test());
        if !are_equal(ours, theirs) {
            let (ours, theirs) = (ours.root.root_node(), theirs.root.root_node());
            panic!("{context}: {:?}\n{ours}\n{theirs}", text.to_string());
        }
    }
}

/// Returns the seed in the environment variable `BURIN_SEED`, or a random one, and prints it.
pub(crate) fn random_seed() -> u64 {
    let given = std::env::var("BURIN_SEED").ok();
    let seed = given.and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(rand::random);
    println!("seed {seed}");
    seed
}
