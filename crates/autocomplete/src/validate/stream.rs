//! An answer while it streams: where it ends, by what has come of it so far.
//!
//! Invariant: what is kept is the beginning of what came, cut at the end of a line or where the answer ended.
//! Source of the rules: stop at the first blank line behind something whole; where the text behind begins to be said
//! again; at a line that stands further left than the first.

use base::{ByteOffset, Span};
use text::{Buffer, Edit, Origin, Timestamp};

use super::{joined, parses_no_worse, says_something, suffix, text_from};
use crate::{Replacement, Scene};

/// So much of what stands behind the place is compared, in bytes.
const BEHIND: usize = 2_048;
/// Longer answers end here, in bytes.
const MOST_BYTES: usize = 8 * 1_024;

/// Whether more of an answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Yes.
    More,
    /// What is needed is there: the answer may be cancelled.
    Enough,
}

/// An answer for a gap as it comes in.
#[derive(Clone)]
pub struct Stream {
    scene: Scene,
    at: ByteOffset,
    /// The columns that the line of the place is indented by.
    level: usize,
    behind: String,
    text: String,
    /// Lines that were judged, in bytes of the text.
    judged: usize,
    /// Where it was cut.
    end: Option<usize>,
}

impl Stream {
    /// For an answer that goes in at `at`.
    pub fn new(scene: &Scene, at: ByteOffset) -> Self {
        let row = scene.snapshot.point_at(at).row;
        Self {
            level: blanks(&scene.snapshot.row_text(row)),
            behind: text_from(&scene.snapshot, at, BEHIND),
            scene: scene.clone(),
            at,
            text: String::new(),
            judged: 0,
            end: None,
        }
    }

    /// Takes in a piece. Says whether more is wanted.
    pub fn push(&mut self, piece: &str) -> Flow {
        if self.end.is_some() {
            return Flow::Enough;
        }
        self.text.push_str(piece);
        while let Some(length) = self.text[self.judged..].find('\n') {
            let start = self.judged;
            self.judged += length + 1;
            if let Some(end) = self.cut(start) {
                self.end = Some(end);
                return Flow::Enough;
            }
        }
        if self.text.len() > MOST_BYTES {
            self.end = Some(self.judged);
            return Flow::Enough;
        }
        Flow::More
    }

    /// What came so far and is wanted, without the blanks at its end.
    pub fn text(&self) -> &str {
        let kept = &self.text[..self.end.unwrap_or(self.text.len())];
        kept.trim_end()
    }

    /// How many lines of it are complete.
    pub fn whole_lines(&self) -> usize {
        let end = self.end.unwrap_or(self.judged);
        self.text[..end].lines().count()
    }

    /// What it is as a replacement, when it has ended; `None` if nothing of it is wanted.
    pub fn finish(mut self) -> Option<Replacement> {
        // The last line has no end that it could have been judged by.
        if self.end.is_none() {
            self.text.push('\n');
            self.push("");
        }
        let text = self.text();
        if text.trim().is_empty() {
            return None;
        }
        let replacement = joined(&self.scene.snapshot, self.at, text);
        (!replacement.is_empty()).then_some(replacement)
    }

    /// Where the text is to be cut, when its line from `start` on is complete.
    fn cut(&self, start: usize) -> Option<usize> {
        let line = &self.text[start..self.judged];
        let so_far = &self.text[..start];
        if let Some(at) = suffix::overlap(&self.text[..self.judged], &self.behind) {
            return Some(at);
        }
        if line.trim().is_empty() {
            return (says_something(so_far) && self.is_whole(so_far)).then_some(start);
        }
        // The first line stands on the line of the place.
        (start > 0 && blanks(line) < self.level).then_some(start)
    }

    /// Whether what came so far leaves nothing open.
    fn is_whole(&self, so_far: &str) -> bool {
        let mut buffer = Buffer::from_snapshot(self.scene.snapshot.clone());
        let edit = Edit::new(Span::at(self.at), so_far.trim_end());
        let change = buffer.edit(&[edit], &Origin::user(Timestamp(0)));
        is_balanced(so_far) && parses_no_worse(&self.scene, &buffer.snapshot(), &change)
    }
}

/// How far a line is indented, a tab as four columns.
fn blanks(line: &str) -> usize {
    let blanks = line.chars().take_while(|ch| matches!(ch, ' ' | '\t'));
    blanks.map(|ch| if ch == '\t' { 4 } else { 1 }).sum()
}

/// Whether every bracket that a text opens is closed in it.
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
