//! A suggestion as it is shown: what is put between the letters, what is struck out, where a hint goes.
//!
//! Plain values, made from a text and a place in it; the view turns them into inlays, grounds and pills.
//! Invariant: whatever is shown is what taking the suggestion would do: taken into the text, what is put in stands
//! where it was shown, and what is struck out or marked as going is gone.
//! Start at `present`.

mod change;
mod colours;
mod fellows;
mod tab_key;

use std::sync::Arc;

use autocomplete::{Replacement, Shape, Suggestion};
use base::{ByteOffset, Row, Span};
use gpui_kit::SharedString;
use text::{SelectionSet, Snapshot};

pub(crate) use self::colours::{ColourJob, Coloured};
pub(crate) use self::fellows::{Fellow, fellows, taken};
pub(crate) use self::tab_key::{CaretPlace, tab_takes};

/// How put-in text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Text that stands back, as if it were typed already.
    Ghost,
    /// Text that comes in, marked as such.
    Added,
    /// Whole rows that come in below those they replace. The first of its line feeds only leads there.
    AddedRows,
}

/// Text that is put between the letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) at: ByteOffset,
    pub(crate) text: Arc<str>,
    pub(crate) look: Look,
    /// Where it will stand once everything is taken; of added rows, where the first of them will begin.
    pub(crate) after: ByteOffset,
}

impl Piece {
    /// Bytes of it that only lead to where it stands.
    fn lead(&self) -> usize {
        usize::from(self.look == Look::AddedRows)
    }
}

/// What a suggestion looks like at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Presentation {
    /// In the text.
    InText(InText),
    /// A sign that leads to a place out of sight.
    Jump(Jump),
    /// A sign that leads to another file.
    Portal,
}

/// What is shown between and behind the letters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InText {
    /// By place.
    pub(crate) pieces: Vec<Piece>,
    /// What goes, within rows.
    pub(crate) struck: Vec<Span>,
    /// Whole rows that go.
    pub(crate) gone_rows: Vec<(Row, Row)>,
    /// Whether text comes in at the newest caret or behind it in its row, and nothing else happens there.
    pub(crate) is_ghost: bool,
    /// That text, if it begins at the caret.
    pub(crate) at_caret: Option<Arc<str>>,
    /// The row that a note on it stands in.
    pub(crate) row: Row,
}

/// A place out of sight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Jump {
    pub(crate) to: ByteOffset,
    pub(crate) row: Row,
    /// Whether it lies below what is in sight.
    pub(crate) is_below: bool,
    /// What the row will be, in short.
    pub(crate) preview: String,
}

/// A place in another file, as the sign that leads there describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuggestionPlace {
    /// Its row, if it is known.
    pub row: Option<Row>,
    /// The row as it will be, in short; what comes, where the row is not known; may be empty.
    pub preview: SharedString,
}

impl SuggestionPlace {
    /// Where a suggestion for another file leads; `open` is that file's text, if it is open.
    pub fn of(suggestion: &Suggestion, open: Option<&Snapshot>) -> Self {
        let stands = open.filter(|open| suggestion.stands_in(open));
        let preview = match stands {
            Some(open) => change::preview(suggestion, open),
            None => change::preview_alone(suggestion),
        };
        Self {
            row: stands.map(|open| open.point_at(suggestion.start()).row),
            preview: preview.into(),
        }
    }
}

/// What is in sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sight {
    /// The rows, the second one exclusive.
    pub(crate) rows: (Row, Row),
    /// Whether the place where the suggestion begins is hidden within them.
    pub(crate) hides_start: bool,
}

/// How a suggestion, which stands in the text, looks from the newest caret.
pub(crate) fn present(
    suggestion: &Suggestion,
    snapshot: &Snapshot,
    selections: &SelectionSet,
    sight: Sight,
) -> Presentation {
    let caret = selections.primary().head;
    let jump = |to: ByteOffset, last: Row| {
        let row = snapshot.point_at(to).row;
        Presentation::Jump(Jump {
            to,
            row,
            is_below: row > last,
            preview: change::preview(suggestion, snapshot),
        })
    };
    match suggestion.shape(caret, sight.rows, snapshot) {
        Shape::Portal(_) => Presentation::Portal,
        Shape::Jump(to) => jump(to, sight.rows.1 - 1),
        _ if sight.hides_start => jump(suggestion.start(), snapshot.point_at(caret).row),
        Shape::Ghost(pieces) => {
            Presentation::InText(ghost(suggestion, &pieces, snapshot, selections))
        }
        Shape::Change => Presentation::InText(change::in_text(suggestion, snapshot)),
    }
}

/// Text that comes in at the carets, or behind them in their rows.
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
        pieces.push(Piece {
            at: *at,
            text: shown_text(text, *at, snapshot),
            look: Look::Ghost,
            after: *at + longer,
        });
        longer += text.len();
    }
    let own = pieces.clone();
    for fellow in fellows(suggestion, snapshot, selections) {
        pieces.extend(own.iter().map(|piece| Piece {
            at: fellow.moved(piece.at),
            // Its colours are those of the piece at the newest caret.
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

/// What is put in for `text`: an empty row at its end must hold something to be seen.
fn shown_text(text: &Arc<str>, at: ByteOffset, snapshot: &Snapshot) -> Arc<str> {
    let ends_row = || snapshot.row_end(snapshot.point_at(at).row) == at;
    match text.ends_with('\n') && ends_row() {
        true => Arc::from(format!("{text} ")),
        false => text.clone(),
    }
}

/// The replacements without what they leave as it is.
fn trimmed(suggestion: &Suggestion) -> impl Iterator<Item = Replacement> + '_ {
    let edits = suggestion.edits.iter().map(Replacement::trimmed);
    edits.filter(|edit| !edit.is_empty())
}

#[cfg(test)]
mod tests;
