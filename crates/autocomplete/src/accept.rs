//! Taking a suggestion, whole or from its beginning.

use base::Span;
use text::Edit;

use crate::{Replacement, Suggestion};

/// How much of a suggestion is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    All,
    /// Up to the end of the next word.
    Word,
    /// Up to the end of the line.
    Line,
}

impl Suggestion {
    /// The edits that take a part of it, in the text of its revision. What is left follows the change they make.
    ///
    /// Only text that comes in can be taken in parts; where something goes, its replacement is taken whole.
    pub fn taking(&self, part: Part) -> Vec<Edit> {
        if part == Part::All {
            return self.edits.iter().map(whole).collect();
        }
        let Some(edit) = self.edits.first() else {
            return Vec::new();
        };
        if !edit.old.is_empty() && edit.insertions().is_none() {
            return vec![whole(edit)];
        }
        vec![beginning(edit, part)]
    }
}

fn whole(edit: &Replacement) -> Edit {
    Edit::new(edit.span, edit.new.as_ref())
}

/// The edit that brings in the beginning of a replacement, over as much of the old text as belongs to it.
fn beginning(edit: &Replacement, part: Part) -> Edit {
    let mut length = 0;
    loop {
        let rest = &edit.new[length..];
        length += match part {
            Part::All => rest.len(),
            Part::Word => word_end(rest),
            Part::Line => line_end(rest),
        };
        let taken = &edit.new[..length];
        let passed = passed_over(&edit.old, taken);
        // A step that only passes over what stands there would seem to do nothing.
        if passed < taken.len() || length == edit.new.len() {
            let span = Span::new(edit.span.start, edit.span.start + passed);
            return Edit::new(span, taken);
        }
    }
}

/// How many bytes of the old text lie within what is taken: old letters are passed over as the new text brings them.
fn passed_over(old: &str, taken: &str) -> usize {
    let mut old = old.chars().peekable();
    let mut passed = 0;
    for ch in taken.chars() {
        if old.peek() == Some(&ch) {
            old.next();
            passed += ch.len_utf8();
        }
    }
    passed
}

/// Where the first word ends: blanks before it belong to it, and so does a run of signs of one kind.
fn word_end(text: &str) -> usize {
    let start = text.len() - text.trim_start().len();
    let rest = &text[start..];
    let Some(first) = rest.chars().next() else {
        return text.len();
    };
    let is_word = |ch: char| ch.is_alphanumeric() || ch == '_';
    let length = if is_word(first) {
        rest.find(|ch| !is_word(ch)).unwrap_or(rest.len())
    } else {
        first.len_utf8()
    };
    start + length
}

/// Where the first line with something on it ends, its ending not included.
fn line_end(text: &str) -> usize {
    let start = text.len() - text.trim_start_matches(['\r', '\n']).len();
    let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let line = &text[..end];
    line.len() - usize::from(line.ends_with('\r'))
}

#[cfg(test)]
mod tests;
