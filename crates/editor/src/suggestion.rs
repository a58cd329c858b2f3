//! Presentation of a suggestion: inserted text, deleted spans, and signs.
//!
//! Plain values, derived from a text and a position; the view turns them into inlays, backgrounds
//! and signs.
//! Invariant: the presentation equals the effect of accepting: inserted text ends up where it was
//! shown, and struck or marked text is gone.
//! Start at `present`.

mod change;
mod colours;
mod multi_caret;
mod tab_key;

use std::sync::Arc;

use autocomplete::{SuggestedEdit, Suggestion, SuggestionShape};
use base::{ByteOffset, Row, Span};
use gpui_kit::SharedString;
use text::{SelectionSet, Snapshot};

pub(crate) use crate::frame::SuggestionStyle;

pub(crate) use self::colours::{ColourJob, HighlightedText};
pub(crate) use self::multi_caret::{ExtraCaret, accepted_edits, extra_carets};
pub(crate) use self::tab_key::{CaretPlace, tab_takes};

/// A piece of text that a suggestion would insert, shown as an inlay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InsertedText {
    pub(crate) at: ByteOffset,
    pub(crate) text: Arc<str>,
    pub(crate) look: SuggestionStyle,
    /// Offset after accepting; for added rows, the start of the first one.
    pub(crate) after: ByteOffset,
}

impl InsertedText {
    /// Returns the number of leading bytes that only start a new row.
    fn lead_bytes(&self) -> usize {
        usize::from(self.look == SuggestionStyle::AddedRows)
    }
}

/// The form in which a suggestion is shown at one moment: in the text, or as a sign that points
/// elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Presentation {
    /// Inline in the text.
    InText(InText),
    /// A sign pointing to a location outside the window.
    Jump(JumpSuggestion),
    /// A sign pointing to another file.
    Portal,
}

/// A suggestion shown within the text: inserted pieces, and spans that it deletes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InText {
    /// Inserted text, sorted by offset.
    pub(crate) pieces: Vec<InsertedText>,
    /// Deleted spans within rows.
    pub(crate) struck: Vec<Span>,
    /// Deleted whole rows, end exclusive.
    pub(crate) gone_rows: Vec<(Row, Row)>,
    /// Whether it only inserts text at the newest caret or after it in its row.
    pub(crate) is_ghost: bool,
    /// The inserted text, if it begins at the caret.
    pub(crate) at_caret: Option<Arc<str>>,
    /// Row for a note on the suggestion.
    pub(crate) row: Row,
}

/// A sign that points to a suggestion in this text, but outside the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JumpSuggestion {
    pub(crate) to: ByteOffset,
    pub(crate) row: Row,
    /// Whether it is below the visible rows.
    pub(crate) is_below: bool,
    /// Short preview of the changed row.
    pub(crate) preview: String,
}

/// The location of a suggestion in another file, as its sign describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuggestionPlace {
    /// Row of the location, if known.
    pub row: Option<Row>,
    /// Short preview of the changed row, or of the inserted text if the row is unknown; may be
    /// empty.
    pub preview: SharedString,
}

impl SuggestionPlace {
    /// Describes the location of a suggestion for another file; `open` is that file's text, if it
    /// is open.
    pub fn of(suggestion: &Suggestion, open: Option<&Snapshot>) -> Self {
        let applies_to = open.filter(|open| suggestion.applies_to(open));
        let preview = match applies_to {
            Some(open) => change::preview(suggestion, open),
            None => change::preview_alone(suggestion),
        };
        Self {
            row: applies_to.map(|open| open.point_at(suggestion.start()).row),
            preview: preview.into(),
        }
    }
}

/// The visible rows, for deciding how a suggestion is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VisibleRange {
    /// Visible rows, end exclusive.
    pub(crate) rows: (Row, Row),
    /// Whether the start of the suggestion is hidden within them.
    pub(crate) hides_start: bool,
}

/// Decides the form in which a suggestion for `snapshot` is shown: within the text, or as a jump
/// sign if its location is not visible.
pub(crate) fn present(
    suggestion: &Suggestion,
    snapshot: &Snapshot,
    selections: &SelectionSet,
    sight: VisibleRange,
) -> Presentation {
    let caret = selections.primary().head;
    let jump = |to: ByteOffset, last: Row| {
        let row = snapshot.point_at(to).row;
        Presentation::Jump(JumpSuggestion {
            to,
            row,
            is_below: row > last,
            preview: change::preview(suggestion, snapshot),
        })
    };
    match suggestion.shape(caret, sight.rows, snapshot) {
        SuggestionShape::OtherFile(_) => Presentation::Portal,
        SuggestionShape::Jump(to) => jump(to, sight.rows.1 - 1),
        _ if sight.hides_start => jump(suggestion.start(), snapshot.point_at(caret).row),
        SuggestionShape::Ghost(pieces) => {
            Presentation::InText(ghost(suggestion, &pieces, snapshot, selections))
        }
        SuggestionShape::Change => Presentation::InText(change::in_text(suggestion, snapshot)),
    }
}

/// Builds ghost text at the carets, or after them in their rows.
fn ghost(
    suggestion: &Suggestion,
    inserted: &[(ByteOffset, Arc<str>)],
    snapshot: &Snapshot,
    selections: &SelectionSet,
) -> InText {
    let caret = selections.primary().head;
    let mut pieces = Vec::new();
    let mut longer = 0;
    for (at, text) in inserted {
        pieces.push(InsertedText {
            at: *at,
            text: shown_text(text, *at, snapshot),
            look: SuggestionStyle::Ghost,
            after: *at + longer,
        });
        longer += text.len();
    }
    let own = pieces.clone();
    for extra in extra_carets(suggestion, snapshot, selections) {
        pieces.extend(own.iter().map(|piece| InsertedText {
            at: extra.moved(piece.at),
            // Its highlights are those of the piece at the newest caret.
            ..piece.clone()
        }));
    }
    pieces.sort_by_key(|piece| piece.at);
    let at_caret = inserted.first().filter(|(at, _)| *at == caret);
    InText {
        pieces,
        is_ghost: true,
        at_caret: at_caret.map(|(_, text)| text.clone()),
        row: snapshot.point_at(caret).row,
        ..InText::default()
    }
}

/// Returns the text to show for `text`: a trailing empty row needs content to be visible.
fn shown_text(text: &Arc<str>, at: ByteOffset, snapshot: &Snapshot) -> Arc<str> {
    let ends_row = || snapshot.row_end(snapshot.point_at(at).row) == at;
    if text.ends_with('\n') && ends_row() {
        Arc::from(format!("{text} "))
    } else {
        text.clone()
    }
}

/// Iterates over the replacements without their unchanged parts.
fn trimmed(suggestion: &Suggestion) -> impl Iterator<Item = SuggestedEdit> + '_ {
    let edits = suggestion.edits.iter().map(SuggestedEdit::trimmed);
    edits.filter(|edit| !edit.is_empty())
}

#[cfg(test)]
mod tests;
