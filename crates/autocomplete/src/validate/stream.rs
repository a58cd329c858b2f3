//! A streaming response: decides where it ends from the text received so far.
//!
//! Invariant: the text kept is a prefix of the text received, cut at a line end or where the
//! response ended.
//!
//! Rules: it ends at the first blank line after a complete block, where it begins to repeat the
//! text after the caret, and at a line that is indented less than the caret's line, except for the
//! first one.

use base::{ByteOffset, Span};

use super::{is_distinctive, joined, parses_no_worse, suffix, text_from};
use crate::{EditorState, SuggestedEdit};

/// Bytes after the caret that are compared.
const BEHIND: usize = 2_048;
/// Longer responses, in bytes, end here.
const MAX_BYTES: usize = 8 * 1_024;

/// Whether a streamed response is complete, or has to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamControl {
    /// More of the response is needed.
    More,
    /// The response is complete and may be cancelled.
    Enough,
}

/// A fill-in-the-middle response as it streams in. It cuts the response at the first text that does
/// not belong in the gap, such as a repetition of the text after the caret.
#[derive(Clone)]
pub struct CompletionStream {
    state: EditorState,
    at: ByteOffset,
    /// Indentation of the caret's line, in columns.
    level: usize,
    behind: String,
    text: String,
    /// Number of bytes in lines that have been checked.
    judged: usize,
    /// Offset at which the response is cut.
    end: Option<usize>,
}

impl CompletionStream {
    /// Creates a stream for a response inserted at `at`.
    pub fn new(state: &EditorState, at: ByteOffset) -> Self {
        let row = state.snapshot.point_at(at).row;
        Self {
            level: blanks(&state.snapshot.row_text(row)),
            behind: text_from(&state.snapshot, at, BEHIND),
            state: state.clone(),
            at,
            text: String::new(),
            judged: 0,
            end: None,
        }
    }

    /// Adds a fragment of the response and checks complete lines. Returns whether the stream should
    /// continue.
    pub fn push(&mut self, piece: &str) -> StreamControl {
        if self.end.is_some() {
            return StreamControl::Enough;
        }
        self.text.push_str(piece);
        while let Some(length) = self.text[self.judged..].find('\n') {
            let start = self.judged;
            self.judged += length + 1;
            if let Some(end) = self.cut(start) {
                self.end = Some(end);
                return StreamControl::Enough;
            }
        }
        if self.text.len() > MAX_BYTES {
            self.end = Some(self.judged);
            return StreamControl::Enough;
        }
        StreamControl::More
    }

    /// Returns the accepted text so far, without trailing whitespace.
    pub fn text(&self) -> &str {
        let kept = &self.text[..self.end.unwrap_or(self.text.len())];
        kept.trim_end()
    }

    /// Discards the response so far, as it starts over.
    pub fn restart(&mut self) {
        self.text.clear();
        self.judged = 0;
        self.end = None;
    }

    /// Returns all text received, accepted or not.
    pub fn raw(&self) -> &str {
        &self.text
    }

    /// Returns the accepted lines that are complete, without trailing white space.
    pub fn complete_lines(&self) -> &str {
        let end = self.end.unwrap_or(self.judged);
        self.text[..end].trim_end()
    }

    /// Ends the response and checks its last line, which has no line break.
    pub fn close(&mut self) {
        if self.end.is_none() {
            self.text.push('\n');
            self.push("");
        }
    }

    /// Ends the response and returns it as an edit at the caret. Returns `None` if no text is
    /// accepted or the edit would leave the text as it is.
    pub fn finish(mut self) -> Option<SuggestedEdit> {
        self.close();
        let text = self.text();
        if text.trim().is_empty() {
            return None;
        }
        let replacement = joined(&self.state.snapshot, self.at, text);
        (!replacement.is_empty()).then_some(replacement)
    }

    /// Returns the offset at which to cut, given the complete line that starts at `start`.
    fn cut(&self, start: usize) -> Option<usize> {
        let line = &self.text[start..self.judged];
        let so_far = &self.text[..start];
        if let Some(at) = suffix::overlap(&self.text[..self.judged], &self.behind) {
            return Some(at);
        }
        if line.trim().is_empty() {
            return (is_distinctive(so_far) && self.is_whole(so_far)).then_some(start);
        }
        // The first line continues the caret's line, or ends the block around it.
        (!so_far.trim().is_empty() && blanks(line) < self.level).then_some(start)
    }

    /// Whether the text so far is syntactically complete.
    fn is_whole(&self, so_far: &str) -> bool {
        let edit = SuggestedEdit {
            span: Span::at(self.at),
            old: "".into(),
            new: so_far.trim_end().into(),
        };
        is_balanced(so_far) && parses_no_worse(&self.state, &edit)
    }
}

/// Returns the indentation of a line in columns, with a tab as four.
fn blanks(line: &str) -> usize {
    let blanks = line.chars().take_while(|ch| matches!(ch, ' ' | '\t'));
    blanks.map(|ch| if ch == '\t' { 4 } else { 1 }).sum()
}

/// Whether every bracket opened in a text is closed in it.
fn is_balanced(text: &str) -> bool {
    let mut depth = 0i32;
    for ch in text.chars() {
        match ch {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
    }
    depth <= 0
}

#[cfg(test)]
mod tests;
