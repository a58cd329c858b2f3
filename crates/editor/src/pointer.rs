//! State of the mouse over a view: position, hovered areas, and the drag in progress.

use base::{Bias, ByteOffset, Span};
use caret::SelectionUnit;
use display::DisplayPoint;
use gpui_kit::{Pixels, Point, Task};
use text::Change;

use crate::frame::HitArea;

/// Mouse state of a view: position, hovered part and running drag.
#[derive(Default)]
pub(crate) struct Mouse {
    /// Last position of the pointer.
    pub(crate) position: Point<Pixels>,
    /// Whether the pointer is over the gutter, which then shows fold arrows.
    pub(crate) is_over_gutter: bool,
    /// The scrollbar under the pointer.
    pub(crate) hovered: Option<HitArea>,
    pub(crate) drag: Option<Drag>,
    /// Scrolls while the pointer is held beyond an edge.
    pub(crate) scroll_task: Option<Task<()>>,
    /// Whether text is being dragged over this view.
    pub(crate) shows_drop_place: bool,
    /// The next right click comes from a key press and moves no caret.
    pub(crate) menu_at_caret: bool,
}

/// A drag operation that a button press started: selecting, moving text, or scrolling.
#[derive(Clone, Debug)]
pub(crate) enum Drag {
    /// Selects text from a position.
    Select {
        from: ByteOffset,
        unit: SelectionUnit,
        keep_others: bool,
    },
    /// Selects a box. `is_click` until the pointer moves, for pasting with the middle button.
    Box {
        anchor: DisplayPoint,
        is_click: bool,
    },
    /// Moves the selected text once the pointer has left its start; also to another view.
    Move {
        spans: Vec<Span>,
        start: Point<Pixels>,
        has_moved: bool,
    },
    /// Moves the handle of a scrollbar, grabbed at `grab` pixels from its start.
    Bar { area: HitArea, grab: Pixels },
}

impl Drag {
    /// Maps its offsets through a change made elsewhere.
    pub(crate) fn follow(&mut self, change: &Change) {
        match self {
            Drag::Select { from, .. } => *from = change.map(*from, Bias::Left),
            Drag::Move { spans, .. } => spans
                .iter_mut()
                .for_each(|span| *span = change.map_span(*span)),
            Drag::Box { .. } | Drag::Bar { .. } => {}
        }
    }
}
