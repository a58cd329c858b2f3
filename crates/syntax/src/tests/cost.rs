//! The work of a key, counted: it does not grow with the text, except for the steps of the parser.
//! It passes over what follows an edit in the same list, and after an error over all that follows.

use base::{Bias, ByteOffset, Span, WorkCounts, counting};
use text::{Buffer, EditOrigin, Timestamp};

use super::{SAMPLES, parse_all, parsed};
use crate::SyntaxTree;

/// Rows of the smaller and the larger text. An indent may depend on the 2,000 rows above.
const ROWS: [usize; 2] = [5_000, 20_000];

/// A parsed text, whose outline is known, and an offset within a word in its middle.
struct LongText {
    buffer: Buffer,
    tree: SyntaxTree,
    at: ByteOffset,
}

impl LongText {
    fn new(language: &str, unit: &str, rows: usize) -> Self {
        let times = rows / unit.matches('\n').count();
        let buffer = Buffer::new(&unit.repeat(times));
        let text = buffer.snapshot();
        let tree = parsed(language, &text);
        tree.snapshot().shared_outline(&text);
        let middle = ByteOffset(unit.len() * (times / 2) + unit.len() / 2);
        let middle = text.clip(middle, Bias::Left);
        let behind: String = text.chars_at(middle).take(2_000).collect();
        let word = behind.find(|ch: char| ch.is_ascii_alphabetic());
        Self {
            buffer,
            tree,
            at: middle + word.expect("a word") + 1,
        }
    }

    /// Types a letter and parses the text.
    fn type_letter(&mut self) {
        let before = self.buffer.snapshot();
        let origin = EditOrigin::user(Timestamp(0));
        let change = self.buffer.replace(Span::at(self.at), "x", &origin);
        let text = self.buffer.snapshot();
        self.tree.edit(&before, &text, &change);
        parse_all(&mut self.tree, &text);
    }

    /// Asks what a view shows around the letter.
    fn show(&self) {
        let (text, syntax) = (self.buffer.snapshot(), self.tree.snapshot());
        let row = text.point_at(self.at).row;
        let rows = row - 30..row + 30;
        let span = Span::new(text.row_start(rows.start), text.row_end(rows.end));
        syntax.highlights(&text, span);
        syntax.context_rows(&text, rows.start);
        syntax.matching_bracket(&text, self.at);
        syntax.enclosing_brackets(&text, Span::at(self.at));
        syntax.indent_for_new_line(&text, self.at);
        syntax.scope_at(&text, self.at);
        syntax.token_at(&text, self.at);
        syntax.folds(&text, rows);
    }

    fn update_outline(&self) {
        let text = self.buffer.snapshot();
        let outline = self.tree.snapshot().shared_outline(&text);
        assert_eq!(outline.revision(), text.revision());
        outline.around(self.at);
    }
}

fn assert_near(step: &str, [small, large]: [WorkCounts; 2]) {
    let is_near = |small: u64, large: u64, slack: u64| large <= small * 2 + slack;
    let counts = format!("{step}: {small:?}, {large:?}");
    println!("{counts}");
    assert!(
        is_near(small.text_bytes, large.text_bytes, 4_000),
        "{counts}"
    );
    assert!(
        is_near(small.tree_steps, large.tree_steps, 1_000),
        "{counts}"
    );
    assert!(is_near(small.entries, large.entries, 50), "{counts}");
}

#[test]
fn a_key_costs_the_same_in_a_text_of_any_length() {
    for (language, unit) in SAMPLES {
        let [small, large] = ROWS.map(|rows| {
            let mut text = LongText::new(language, unit, rows);
            let ((), typed) = counting(|| text.type_letter());
            let ((), shown) = counting(|| text.show());
            let ((), outlined) = counting(|| text.update_outline());
            [typed, shown, outlined]
        });
        for (ix, step) in ["typed", "shown", "outlined"].iter().enumerate() {
            assert_near(&format!("{step} in {language}"), [small[ix], large[ix]]);
        }
    }
}
