//! A suggestion: edits of one text, and how they are displayed.

use std::sync::Arc;

use base::{AbsPath, ByteOffset, Revision, Row, Span};
use model::ModelId;
use text::Snapshot;

/// Identifies a suggestion within one run of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SuggestionId(pub u64);

/// The source of identifiers for the suggestions of one engine, whatever their origin.
#[derive(Clone, Copy, Debug, Default)]
pub struct SuggestionIds(u64);

impl SuggestionIds {
    /// Returns an identifier that it has not returned before.
    pub fn next_id(&mut self) -> SuggestionId {
        self.0 += 1;
        SuggestionId(self.0)
    }
}

/// A change that Tab offers at the caret, elsewhere in the text or in another file. The user
/// accepts it as a whole or from its beginning. All its spans belong to the same revision.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// Identifier of the suggestion.
    pub id: SuggestionId,
    /// File that it changes; `None` for the current text.
    pub file: Option<AbsPath>,
    /// Revision that the spans refer to. In another file, the revision that was searched, if it was
    /// open.
    pub revision: Revision,
    /// Edits: sorted, neither empty nor touching one another.
    pub edits: Vec<SuggestedEdit>,
    /// Origin of the suggestion.
    pub source: SuggestionSource,
    /// Probability of being kept, from 0 to 1.
    pub confidence: f32,
}

/// A replacement of one span of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuggestedEdit {
    /// Span that is replaced, in bytes.
    pub span: Span,
    /// Text that the span must contain. It is checked again before anything is replaced.
    pub old: Arc<str>,
    /// New text of the span.
    pub new: Arc<str>,
}

/// Origin of a suggestion: a repeated edit, similar code, syntax, or a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SuggestionSource {
    /// A further site of a repeated edit.
    Propagation {
        /// Number of remaining sites, including this one.
        places: u32,
    },
    /// Similar code elsewhere in the project.
    Continuation,
    /// The syntax of the language.
    Syntax,
    /// Completion by a fill-in-the-middle model.
    Gap(ModelId),
    /// Prediction by a next-edit model.
    NextEdit(ModelId),
}

/// Form in which a suggestion is displayed, as seen from a caret: ghost text, a visible change, or
/// a hint to a place elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SuggestionShape {
    /// Text is only inserted: fragments by offset, the first at the caret or after it in its row.
    Ghost(Vec<(ByteOffset, Arc<str>)>),
    /// Visible text is replaced or removed.
    Change,
    /// The edit is in this text, but off-screen.
    Jump(ByteOffset),
    /// The edit is in another file.
    OtherFile(AbsPath),
}

impl SuggestedEdit {
    /// Creates an edit that replaces the text at `span`, reduced to the part that differs.
    pub fn new(span: Span, new: &str, snapshot: &Snapshot) -> Self {
        let old = snapshot.text(span);
        Self {
            span,
            old: Arc::from(old.as_ref()),
            new: Arc::from(new),
        }
        .trimmed()
    }

    /// Returns the edit without the common start and end of the old and new text. If both texts are
    /// equal, the result is empty.
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

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.old == self.new
    }

    /// Returns the edit as one to three insertions around the old text, by offset. Returns `None`
    /// if the edit deletes any old text, or needs more insertions, which would be hard to read.
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

    /// Whether the span still contains the old text.
    pub fn applies_to(&self, snapshot: &Snapshot) -> bool {
        self.span.end <= snapshot.len() && snapshot.text(self.span) == *self.old
    }
}

impl Suggestion {
    /// Returns the offset of the first edit of the suggestion. Without edits, returns 0.
    pub fn start(&self) -> ByteOffset {
        self.edits
            .first()
            .map_or(ByteOffset(0), |edit| edit.span.start)
    }

    /// Whether every replaced text is unchanged. Only such a suggestion may be shown or accepted.
    pub fn applies_to(&self, snapshot: &Snapshot) -> bool {
        !self.edits.is_empty() && self.edits.iter().all(|edit| edit.applies_to(snapshot))
    }

    /// Returns the form of display for a caret and a range of visible rows (the second one
    /// exclusive). `snapshot` is the text of the suggestion's revision.
    pub fn shape(
        &self,
        caret: ByteOffset,
        rows: (Row, Row),
        snapshot: &Snapshot,
    ) -> SuggestionShape {
        if let Some(file) = &self.file {
            return SuggestionShape::OtherFile(file.clone());
        }
        let row = row_of(snapshot, self.start());
        if row < rows.0 || row >= rows.1 {
            return SuggestionShape::Jump(self.start());
        }
        match self.edits.as_slice() {
            [edit] if row == row_of(snapshot, caret) && edit.span.start >= caret => edit
                .insertions()
                .map_or(SuggestionShape::Change, SuggestionShape::Ghost),
            _ => SuggestionShape::Change,
        }
    }
}

fn row_of(snapshot: &Snapshot, offset: ByteOffset) -> Row {
    snapshot.point_at(offset).row
}

/// Returns the length of the common prefix of two texts, in bytes.
fn common_start(a: &str, b: &str) -> usize {
    let alike = a.chars().zip(b.chars()).take_while(|(a, b)| a == b);
    alike.map(|(ch, _)| ch.len_utf8()).sum()
}

/// Returns the length of the common suffix of two texts, in bytes.
fn common_end(a: &str, b: &str) -> usize {
    let alike = a.chars().rev().zip(b.chars().rev());
    let alike = alike.take_while(|(a, b)| a == b);
    alike.map(|(ch, _)| ch.len_utf8()).sum()
}

#[cfg(test)]
mod tests;
