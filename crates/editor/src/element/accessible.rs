//! Accessibility data of the visible text: one run per row, and the position of the caret.

use base::Bias;
use gpui_kit::A11ySubtreeBuilder;
use gpui_kit::accesskit::{Node, Role, TextPosition, TextSelection};

use super::layout::TextLayout;
use crate::editor::Editor;

/// Longer rows are truncated for the screen reader, in bytes.
const LONGEST: usize = 2_000;

/// The visible rows and the selection, in the form that the accessibility tree needs.
pub(crate) struct AccessibleText {
    rows: Vec<AccessibleRow>,
    /// Row and character of anchor and head of the newest selection, if visible.
    selection: Option<[(usize, usize); 2]>,
}

struct AccessibleRow {
    /// Row number, which identifies the run.
    row: u32,
    text: String,
}

pub(super) fn accessible_text(editor: &Editor, layout: &TextLayout) -> AccessibleText {
    let rows: Vec<AccessibleRow> = layout
        .rows
        .iter()
        .filter(|row| row.begins)
        .map(|row| {
            let span = editor.snapshot.row_span(row.buffer_row);
            let end = editor
                .snapshot
                .clip(span.end.min(span.start + LONGEST), Bias::Left);
            let mut text = editor
                .snapshot
                .text(base::Span::new(span.start, end))
                .into_owned();
            text.push('\n');
            AccessibleRow {
                row: row.buffer_row.0,
                text,
            }
        })
        .collect();
    let place = |offset| {
        let point = editor.snapshot.point_at(offset);
        let ix = rows.iter().position(|row| row.row == point.row.0)?;
        let before = rows[ix].text.get(..point.column.0 as usize)?;
        Some((ix, before.chars().count()))
    };
    let newest = editor.selections.primary();
    let selection = place(newest.anchor)
        .zip(place(newest.head))
        .map(|(anchor, head)| [anchor, head]);
    AccessibleText { rows, selection }
}

/// Adds the rows as children of the text's node in the accessibility tree, with the selection.
pub(crate) fn describe(text: &AccessibleText, builder: &mut A11ySubtreeBuilder) {
    let ids: Vec<_> = text
        .rows
        .iter()
        .map(|row| builder.synthetic_node_id(row.row))
        .collect();
    for (row, id) in text.rows.iter().zip(&ids) {
        let mut node = Node::new(Role::TextRun);
        node.set_value(row.text.clone());
        let lengths: Vec<u8> = row.text.chars().map(|char| char.len_utf8() as u8).collect();
        node.set_character_lengths(lengths);
        builder.push_child(*id, node);
    }
    if let Some([anchor, focus]) = text.selection {
        let position = |(ix, character): (usize, usize)| TextPosition {
            node: ids[ix],
            character_index: character,
        };
        let selection = TextSelection {
            anchor: position(anchor),
            focus: position(focus),
        };
        builder.parent_node().set_text_selection(selection);
    }
}
