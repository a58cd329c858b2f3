//! Completes the end of an unclosed block.
//!
//! Blocks are recognised by indentation: a block ends with a row at the indentation of its first
//! row. The end is offered only on an empty row after at least one row of the block, if the next
//! row already belongs to an enclosing block.

use base::{Row, Span};

use super::SyntaxCompletion;
use crate::EditorState;
use crate::local::continuation::MAX_ROW_BYTES;
use crate::local::token::solid_tokens;

/// Maximum number of rows inspected in either direction. A row of data ends the inspection.
const MAX_ROWS: u32 = 200;

/// Keyword blocks: language, first words, last words, end.
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

/// Returns the end of the innermost block around the caret if that block is unclosed.
pub(super) fn block_end(state: &EditorState, rest: &str) -> Option<SyntaxCompletion> {
    let text = &state.snapshot;
    let row = text.point_at(state.caret).row;
    let head = text
        .text(Span::new(text.row_start(row), state.caret))
        .into_owned();
    if !head.trim().is_empty() || !rest.trim().is_empty() {
        return None;
    }
    let (first, indent, closer) = opener(state, row)?;
    if row.0 < first.0 + 2 || is_closed(state, row, &indent, &closer) {
        return None;
    }
    let span = Span::new(text.row_start(row), state.caret);
    let new = format!("{indent}{closer}");
    (new != head).then_some(SyntaxCompletion {
        span,
        new,
        likelihood: 0.55,
    })
}

/// Returns the first row of the innermost block around a row, its indentation, and its closer.
fn opener(state: &EditorState, row: Row) -> Option<(Row, String, String)> {
    let text = &state.snapshot;
    let mut least = usize::MAX;
    let from = row.0.saturating_sub(MAX_ROWS);
    for above in (from..row.0).rev() {
        if text.row_len(Row(above)).0 as usize > MAX_ROW_BYTES {
            return None;
        }
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
        if let Some(closer) = closer_of(state, &line) {
            // The row right above begins the block, whose body is still to be written.
            return (!is_body).then(|| (Row(above), line[..indent].to_owned(), closer));
        }
        if !is_body {
            return None;
        }
    }
    None
}

/// Returns the closer of the block that a row begins, if it begins one.
fn closer_of(state: &EditorState, line: &str) -> Option<String> {
    let language = state.language.map_or("", |language| language.name());
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

/// Whether the rows after a row end the block or may still belong to it.
fn is_closed(state: &EditorState, row: Row, indent: &str, closer: &str) -> bool {
    let text = &state.snapshot;
    let last = text.last_row().0.min(row.0 + MAX_ROWS);
    for below in row.0 + 1..=last {
        if text.row_len(Row(below)).0 as usize > MAX_ROW_BYTES {
            return true;
        }
        let line = text.row_text(Row(below));
        let bare = line.trim_start();
        if bare.is_empty() {
            continue;
        }
        let own = line.len() - bare.len();
        // A row at the same indentation that closes nothing belongs to the enclosing block.
        let ends = [
            "}", ")", "]", "else", "elsif", "elif", "when", "rescue", "ensure", "end",
        ]
        .iter()
        .any(|end| bare.starts_with(end));
        return own > indent.len() || own == indent.len() && (bare.starts_with(closer) || ends);
    }
    false
}
