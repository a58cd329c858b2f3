//! Accepting a suggestion, whole or in part.

use base::Span;
use text::Edit;

use crate::{SuggestedEdit, Suggestion};

/// Amount of a suggestion that the user accepts: all, the next word, or the rest of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptGranularity {
    /// All of the suggestion's text.
    All,
    /// The text up to the end of the next word.
    Word,
    /// The text up to the end of the line.
    Line,
}

impl Suggestion {
    /// Returns the edits that accept `part` of the suggestion, relative to the text of its
    /// revision. The remainder follows the resulting change.
    ///
    /// Only inserted text can be accepted in part; an edit that replaces text is accepted whole.
    pub fn accept_edits(&self, part: AcceptGranularity) -> Vec<Edit> {
        if part == AcceptGranularity::All {
            return self.edits.iter().map(full_edit).collect();
        }
        let Some(edit) = self.edits.first() else {
            return Vec::new();
        };
        if !edit.old.is_empty() && edit.insertions().is_none() {
            return vec![full_edit(edit)];
        }
        vec![partial_edit(edit, part)]
    }
}

fn full_edit(edit: &SuggestedEdit) -> Edit {
    Edit::new(edit.span, edit.new.as_ref())
}

/// Returns the edit that inserts the beginning of a replacement, over the old text that belongs to
/// it.
fn partial_edit(edit: &SuggestedEdit, part: AcceptGranularity) -> Edit {
    let mut length = 0;
    loop {
        let rest = &edit.new[length..];
        length += match part {
            AcceptGranularity::All => rest.len(),
            AcceptGranularity::Word => word_end(rest),
            AcceptGranularity::Line => line_end(rest),
        };
        let taken = &edit.new[..length];
        let passed = passed_over(&edit.old, taken);
        // A step that only moves over existing text would look like no change.
        if passed < taken.len() || length == edit.new.len() {
            let span = Span::new(edit.span.start, edit.span.start + passed);
            return Edit::new(span, taken);
        }
    }
}

/// Returns how many bytes of the old text the accepted text covers: old characters are skipped in
/// order as the new text repeats them.
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

/// Returns the end of the first word. Leading blanks belong to the word, and a punctuation
/// character is a word.
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

/// Returns the end of the first line that is not empty, without its line ending.
fn line_end(text: &str) -> usize {
    let start = text.len() - text.trim_start_matches(['\r', '\n']).len();
    let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let line = &text[..end];
    line.len() - usize::from(line.ends_with('\r'))
}

#[cfg(test)]
mod tests;
