//! What is offered: replacements in one text, and how they look beside the caret.

use std::sync::Arc;

use base::{AbsPath, ByteOffset, Revision, Row, Span};
use model::ModelId;
use text::Snapshot;

/// Names a suggestion within one run of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SuggestionId(pub u64);

/// One offer to the person, taken or left as a whole or from its beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// Its name.
    pub id: SuggestionId,
    /// The file it changes; none for the text it was asked for.
    pub file: Option<AbsPath>,
    /// The revision whose bytes the spans count. Of another file, the revision that was read, if it was open.
    pub revision: Revision,
    /// What it replaces: sorted, neither empty nor touching one another.
    pub edits: Vec<Replacement>,
    /// Where it comes from.
    pub source: Source,
    /// How likely it is to be kept, from 0 to 1.
    pub confidence: f32,
}

/// One text in place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// What goes away, in bytes.
    pub span: Span,
    /// What stands there. It is looked at again before anything is replaced.
    pub old: Arc<str>,
    /// What comes instead.
    pub new: Arc<str>,
}

/// Where a suggestion comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The same edit as before, at a further place.
    Propagation {
        /// How many places there are with this one.
        places: u32,
    },
    /// What followed the like elsewhere in the project.
    Continuation,
    /// What the grammar asks for here.
    Syntax,
    /// A model that fills gaps.
    Gap(ModelId),
    /// A model that predicts edits.
    NextEdit(ModelId),
}

/// How a suggestion looks from a caret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Text comes in at or beside the caret and nothing goes: pieces by place, the first at the caret or behind it
    /// in its row.
    Ghost(Vec<(ByteOffset, Arc<str>)>),
    /// Something in sight is replaced or removed.
    Change,
    /// The place is in this text, but out of sight.
    Jump(ByteOffset),
    /// The place is in another file.
    Portal(AbsPath),
}

impl Replacement {
    /// A replacement of what stands at `span` now. What both texts begin and end with is left out of it.
    pub fn new(span: Span, new: &str, snapshot: &Snapshot) -> Self {
        let old = snapshot.text(span);
        Self {
            span,
            old: Arc::from(old.as_ref()),
            new: Arc::from(new),
        }
        .trimmed()
    }

    /// Without what both texts begin and end with.
    pub fn trimmed(&self) -> Self {
        let start = common_start(&self.old, &self.new);
        let (old, new) = (&self.old[start..], &self.new[start..]);
        let end = common_end(old, new);
        let from = self.span.start + start;
        Self {
            span: Span::new(from, from + (old.len() - end)),
            old: Arc::from(&old[..old.len() - end]),
            new: Arc::from(&new[..new.len() - end]),
        }
    }

    /// Whether it replaces nothing by nothing.
    pub fn is_empty(&self) -> bool {
        self.old == self.new
    }

    /// The new text as insertions around what stands there, if all of the old text stays: pieces by place. At most
    /// three, since more would be a riddle to read.
    pub fn insertions(&self) -> Option<Vec<(ByteOffset, Arc<str>)>> {
        let mut pieces = Vec::new();
        let mut pending = String::new();
        let mut left = self.old.chars().peekable();
        let mut at = self.span.start;
        for ch in self.new.chars() {
            if left.peek() == Some(&ch) {
                left.next();
                if !pending.is_empty() {
                    pieces.push((at, Arc::from(std::mem::take(&mut pending))));
                }
                at += ch.len_utf8();
            } else {
                pending.push(ch);
            }
        }
        if !pending.is_empty() {
            pieces.push((at, Arc::from(pending)));
        }
        (left.peek().is_none() && (1..=3).contains(&pieces.len())).then_some(pieces)
    }

    /// Whether the old text still stands where it is said to.
    pub fn stands_in(&self, snapshot: &Snapshot) -> bool {
        self.span.end <= snapshot.len() && snapshot.text(self.span) == *self.old
    }
}

impl Suggestion {
    /// The first place it changes.
    pub fn start(&self) -> ByteOffset {
        self.edits
            .first()
            .map_or(ByteOffset(0), |edit| edit.span.start)
    }

    /// Whether every text that it replaces still stands. Only such a suggestion may be shown or accepted.
    pub fn stands_in(&self, snapshot: &Snapshot) -> bool {
        !self.edits.is_empty() && self.edits.iter().all(|edit| edit.stands_in(snapshot))
    }

    /// How it looks from a caret, with these rows in sight (the second one exclusive).
    pub fn shape(&self, caret: ByteOffset, rows: (Row, Row), snapshot: &Snapshot) -> Shape {
        if let Some(file) = &self.file {
            return Shape::Portal(file.clone());
        }
        let row = row_of(snapshot, self.start());
        if row < rows.0 || row >= rows.1 {
            return Shape::Jump(self.start());
        }
        match self.edits.as_slice() {
            [edit] if row == row_of(snapshot, caret) && edit.span.start >= caret => {
                edit.insertions().map_or(Shape::Change, Shape::Ghost)
            }
            _ => Shape::Change,
        }
    }
}

fn row_of(snapshot: &Snapshot, offset: ByteOffset) -> Row {
    snapshot.point_at(offset).row
}

/// How many bytes two texts begin with alike, on a char boundary of both.
fn common_start(a: &str, b: &str) -> usize {
    let alike = a.chars().zip(b.chars()).take_while(|(a, b)| a == b);
    alike.map(|(ch, _)| ch.len_utf8()).sum()
}

/// How many bytes two texts end with alike, on a char boundary of both.
fn common_end(a: &str, b: &str) -> usize {
    let alike = a.chars().rev().zip(b.chars().rev());
    let alike = alike.take_while(|(a, b)| a == b);
    alike.map(|(ch, _)| ch.len_utf8()).sum()
}

#[cfg(test)]
mod tests;
