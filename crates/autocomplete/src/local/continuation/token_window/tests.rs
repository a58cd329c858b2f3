//! The tokens kept, beside those read anew, and the bytes that a keystroke reads.

use base::{AbsPath, ByteOffset, Row, Span};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use text::{Buffer, EditOrigin, Timestamp};

use super::{TokenWindow, counted};
use crate::{ChangeCause, DocumentEdit, EditorState};

fn state(buffer: &Buffer, caret: usize) -> EditorState {
    let snapshot = buffer.snapshot();
    EditorState {
        path: AbsPath::new("/project/first"),
        syntax: None,
        language: None,
        caret: ByteOffset(caret),
        rows: (Row(0), Row(50)),
        indent: "    ".to_owned(),
        snapshot,
    }
}

/// Replaces a span, and lets the window follow. Returns the state with the caret behind the new
/// text.
fn replace(
    buffer: &mut Buffer,
    span: std::ops::Range<usize>,
    new: &str,
    window: &mut TokenWindow,
) -> EditorState {
    let before = buffer.snapshot();
    let origin = EditOrigin::user(Timestamp(0));
    let change = buffer.replace(Span::from(span.clone()), new, &origin);
    let edit = DocumentEdit {
        before,
        state: state(buffer, span.start + new.len()),
        change,
        cause: ChangeCause::Typed,
    };
    window.follow(&edit);
    edit.state
}

/// Returns the texts and gaps of the tokens before and after the caret.
fn told(window: &mut TokenWindow, state: &EditorState) -> Vec<String> {
    let text = &state.snapshot;
    let row = text.point_at(state.caret).row;
    let head = text.text(Span::new(text.row_start(row), state.caret));
    let rest = text.text(Span::new(state.caret, text.row_end(row)));
    let around = window.around(state, (&head, &rest));
    let mut told = Vec::new();
    for items in [around.before, around.behind] {
        let words = window.words();
        let texts = items
            .iter()
            .map(|item| format!("{} {:?}", words.text(item.word_number()), item.gap()));
        told.extend(texts);
        told.push("caret".to_owned());
    }
    told
}

fn long_text(rows: usize) -> String {
    let row = |row: usize| format!("{}call_{row}(x, {row});\n", "    ".repeat(1 + row % 3));
    (0..rows).map(row).collect()
}

#[test]
fn kept_tokens_equal_those_read_anew() {
    let seed: u64 = std::env::var("BURIN_SEED").map_or(7, |it| it.parse().expect("a seed"));
    println!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let pieces = [
        "x",
        " ",
        "\n",
        "\n\n    ",
        "foo(a, b);\n",
        "größe = 1\n\t\ty",
        "",
        "\r\n",
    ];
    let mut buffer = Buffer::new(&long_text(1500));
    let mut window = TokenWindow::default();
    let mut at = buffer.snapshot().len().0 / 2;
    for _ in 0..400 {
        let length = buffer.snapshot().len().0;
        at = if random.random_ratio(1, 12) {
            random.random_range(0..length)
        } else {
            (at + random.random_range(0..900))
                .saturating_sub(450)
                .min(length)
        };
        let whole = buffer.snapshot().to_string();
        let mut end = (at + random.random_range(0..60_usize).saturating_sub(40)).min(length);
        while !whole.is_char_boundary(at) {
            at -= 1;
        }
        while !whole.is_char_boundary(end) {
            end += 1;
        }
        let new = pieces[random.random_range(0..pieces.len())];
        let now = replace(&mut buffer, at..end.max(at), new, &mut window);
        let kept = told(&mut window, &now);
        assert_eq!(kept, told(&mut TokenWindow::default(), &now));
    }
}

#[test]
fn a_keystroke_reads_only_the_rows_that_changed() {
    for rows in [500, 50_000] {
        let mut buffer = Buffer::new(&long_text(rows));
        let mut window = TokenWindow::default();
        let mut at = buffer.snapshot().row_start(Row(rows as u32 / 2)).0;
        told(&mut window, &state(&buffer, at));
        assert!(counted::take() > 10_000);
        for ch in "let value = reader.next();\n    let other = 1;".chars() {
            let now = replace(&mut buffer, at..at, &ch.to_string(), &mut window);
            told(&mut window, &now);
            at = now.caret.0;
            assert!(counted::take() <= 300, "{ch:?} in {rows} rows");
        }
    }
}
