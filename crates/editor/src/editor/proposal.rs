//! Proposed changes, shown in the text without changing it: a background behind the rows that would
//! go, and blocks with the rows that would come.
//!
//! The caller provides the changes; this module only moves them with the text.

use std::ops::Range;
use std::rc::Rc;

use base::{Row, Span};
use display::{BlockId, BlockSpec, Placement};
use gpui_kit::{
    AnyElement, App, Context, Div, HighlightStyle, InteractiveElement as _, IntoElement as _,
    ParentElement as _, Role, SharedString, StatefulInteractiveElement as _, Styled as _,
    StyledText, TestSupportExt as _, div,
};
use text::{Change, RowSpan};
use ui::{ActiveTheme as _, Label};

use super::Editor;
use crate::block_view::{BlockPlace, BlockView};
use crate::code_blocks;

/// Maximum number of rows that a block shows; the rest is only counted.
const MAX_ROWS: usize = 200;

/// A proposed change of whole rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedChange {
    /// The rows that go; empty at the row before which rows are inserted.
    pub removed: RowSpan,
    /// The rows that come, without line endings.
    pub added: Vec<String>,
}

/// Blocks and backgrounds of a proposal.
#[derive(Default)]
pub(crate) struct ShownProposal {
    blocks: Vec<BlockId>,
    /// The rows that go, from the start of the first to the end of the last, line ending included.
    pub(crate) grounds: Vec<Span>,
}

impl ShownProposal {
    /// Whether no proposed change is shown.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.grounds.is_empty()
    }

    pub(super) fn follow(&mut self, change: &Change) {
        for span in &mut self.grounds {
            *span = change.map_span(*span);
        }
    }
}

/// Shows proposed changes, given in text order, in place of the earlier ones. An empty list ends the
/// proposal.
pub fn show_proposal(editor: &mut Editor, changes: Vec<ProposedChange>, cx: &mut Context<Editor>) {
    editor.sync(cx);
    let gone = std::mem::take(&mut editor.proposal).blocks;
    for id in &gone {
        editor.blocks.remove(id);
    }
    if !gone.is_empty() {
        editor.change_map(cx, |map| map.remove_blocks(&gone));
    }
    for change in changes {
        show_change(editor, change, cx);
    }
    cx.notify();
}

fn show_change(editor: &mut Editor, change: ProposedChange, cx: &mut Context<Editor>) {
    let RowSpan { start, end } = change.removed;
    let last = editor.snapshot.last_row();
    if start < end {
        let span = Span::new(
            editor.snapshot.row_start(start),
            editor.snapshot.row_start(end),
        );
        editor.proposal.grounds.push(span);
    }
    if change.added.is_empty() {
        return;
    }
    let (row, placement) = if start < end {
        (Row(end.0 - 1).min(last), Placement::Below)
    } else if start > last {
        (last, Placement::Below)
    } else {
        (start, Placement::Above)
    };
    let rows = change.added.len();
    let spec = BlockSpec {
        row,
        placement,
        height: (rows.min(MAX_ROWS) + usize::from(rows > MAX_ROWS)) as f32,
        // Below a block of the caller above the same row.
        priority: 1,
    };
    let view = AddedRows::new(editor, &change.added, cx);
    let id = editor.insert_block(
        spec,
        BlockView::new(move |place, _, cx| view.render(place, cx)),
        cx,
    );
    editor.proposal.blocks.push(id);
}

/// A highlighted row: the text, and the styles of its parts in bytes.
type StyledRow = (SharedString, Vec<(Range<usize>, HighlightStyle)>);

/// Rows that come.
struct AddedRows {
    rows: Rc<[StyledRow]>,
    /// Number of rows that are not shown.
    more: usize,
    /// All rows, for screen readers.
    name: SharedString,
}

impl AddedRows {
    fn new(editor: &Editor, lines: &[String], cx: &App) -> Self {
        let tab = " ".repeat(editor.indentation().1 as usize);
        let shown: Vec<String> = lines
            .iter()
            .take(MAX_ROWS)
            .map(|line| line.replace('\t', &tab))
            .collect();
        let code = shown.join("\n");
        let language = editor.model().read(cx).language();
        let highlights =
            language.map_or_else(Vec::new, |it| code_blocks::highlights(it.name(), &code, cx));
        let mut start = 0;
        let rows = shown.into_iter().map(|line| {
            let span = start..start + line.len();
            start = span.end + 1;
            (SharedString::from(line), within(&highlights, &span))
        });
        Self {
            rows: rows.collect(),
            more: lines.len().saturating_sub(MAX_ROWS),
            name: format!("Added: {code}").into(),
        }
    }

    fn render(&self, place: &BlockPlace, cx: &App) -> AnyElement {
        let theme = cx.theme();
        let row = || {
            div()
                .flex()
                .flex_none()
                .h(place.line_height)
                .line_height(place.line_height)
                .overflow_hidden()
                .whitespace_nowrap()
                .font(theme.code_font())
                .text_size(theme.code_size())
                .bg(theme.colors.added_ground)
                .text_color(theme.colors.text)
        };
        let sign = |sign: &'static str| -> Div {
            div()
                .flex_none()
                .w(place.gutter)
                .pl(place.gutter / 3.0)
                .text_color(theme.colors.added)
                .child(sign)
        };
        let rows = self.rows.iter().map(|(text, styles)| {
            let text = StyledText::new(text.clone()).with_highlights(styles.iter().cloned());
            row().child(sign("+")).child(text)
        });
        let more = (self.more > 0).then(|| {
            let more = format!("and {} more lines", self.more);
            row()
                .child(sign("+"))
                .child(Label::new(more).small().muted())
        });
        div()
            .id(("proposed-rows", place.id.0 as usize))
            .role(Role::Group)
            .aria_label(self.name.clone())
            .test_support()
            .size_full()
            .flex()
            .flex_col()
            .children(rows)
            .children(more)
            .into_any_element()
    }
}

/// Returns the styles within a span, relative to its start.
fn within(
    highlights: &[(Range<usize>, HighlightStyle)],
    span: &Range<usize>,
) -> Vec<(Range<usize>, HighlightStyle)> {
    let inside = highlights.iter().filter_map(|(range, style)| {
        let (start, end) = (range.start.max(span.start), range.end.min(span.end));
        (start < end).then(|| (start - span.start..end - span.start, *style))
    });
    inside.collect()
}
