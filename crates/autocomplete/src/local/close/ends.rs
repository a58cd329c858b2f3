//! The end of a block that nothing ends yet.
//!
//! Told by indents: a block whose first row stands at some indent ends with a row at the same one. Offered only on an
//! empty row behind at least one row of the block, where the next row already belongs to something around it.

use base::{Row, Span};

use super::Closing;
use crate::Scene;
use crate::local::token::solid_tokens;

/// Rows that are looked at in either direction.
const MOST_ROWS: u32 = 200;

/// Blocks of words: language, first words, last words, end.
const WORDS: [(&str, &[&str], &[&str], &str); 5] = [
    (
        "Ruby",
        &[
            "def", "class", "module", "if", "unless", "while", "until", "case", "begin",
        ],
        &["do"],
        "end",
    ),
    (
        "Lua",
        &["function", "if", "for", "while"],
        &["then", "do"],
        "end",
    ),
    ("Bash", &["if"], &["then"], "fi"),
    ("Bash", &["for", "while", "until"], &["do"], "done"),
    ("Bash", &["case"], &["in"], "esac"),
];

/// The end of the innermost block around the caret, if it has none.
pub(super) fn end(scene: &Scene, rest: &str) -> Option<Closing> {
    let text = &scene.snapshot;
    let row = text.point_at(scene.caret).row;
    let head = text
        .text(Span::new(text.row_start(row), scene.caret))
        .into_owned();
    if !head.trim().is_empty() || !rest.trim().is_empty() {
        return None;
    }
    let (first, indent, closer) = opener(scene, row)?;
    if row.0 < first.0 + 2 || is_closed(scene, row, &indent, &closer) {
        return None;
    }
    let span = Span::new(text.row_start(row), scene.caret);
    let new = format!("{indent}{closer}");
    (new != head).then_some(Closing {
        span,
        new,
        likelihood: 0.55,
    })
}

/// The row that the innermost block around a row begins with, its indent, and what ends it.
fn opener(scene: &Scene, row: Row) -> Option<(Row, String, String)> {
    let text = &scene.snapshot;
    let mut least = usize::MAX;
    let from = row.0.saturating_sub(MOST_ROWS);
    for above in (from..row.0).rev() {
        let line = text.row_text(Row(above));
        if line.trim().is_empty() {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        if indent >= least {
            continue;
        }
        let is_body = least == usize::MAX;
        least = indent;
        if let Some(closer) = closer_of(scene, &line) {
            // The row right above begins the block: its body is still to be written.
            return (!is_body).then(|| (Row(above), line[..indent].to_owned(), closer));
        }
        if !is_body {
            return None;
        }
    }
    None
}

/// What ends the block that a row begins, if it begins one.
fn closer_of(scene: &Scene, line: &str) -> Option<String> {
    let language = scene.language.map_or("", |language| language.name());
    let tokens = solid_tokens(line);
    let (first, last) = (tokens.first()?.text(line), tokens.last()?.text(line));
    let words = WORDS.iter().filter(|(name, ..)| *name == language);
    for (_, firsts, lasts, end) in words {
        let is_block = firsts.contains(&first) && !tokens.iter().any(|it| it.text(line) == *end);
        if is_block && (language == "Ruby" || lasts.contains(&last))
            || lasts.contains(&last) && language == "Ruby"
        {
            return Some((*end).to_owned());
        }
    }
    let is_python = language == "Python";
    match last {
        "{" if !is_python => Some("}".to_owned()),
        _ => None,
    }
}

/// Whether the rows behind a row end the block, or may still belong to it.
fn is_closed(scene: &Scene, row: Row, indent: &str, closer: &str) -> bool {
    let text = &scene.snapshot;
    let last = text.last_row().0.min(row.0 + MOST_ROWS);
    for below in row.0 + 1..=last {
        let line = text.row_text(Row(below));
        let bare = line.trim_start();
        if bare.is_empty() {
            continue;
        }
        let own = line.len() - bare.len();
        // What stands at the same indent and is no end of anything belongs to what is around the block.
        let ends = [
            "}", ")", "]", "else", "elsif", "elif", "when", "rescue", "ensure", "end",
        ]
        .iter()
        .any(|end| bare.starts_with(end));
        return own > indent.len() || own == indent.len() && (bare.starts_with(closer) || ends);
    }
    false
}
