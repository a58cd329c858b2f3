//! Selects boxes of display cells, including rows shorter than the box.

use base::Bias;
use display::DisplayRow;
use text::{Selection, SelectionSet};

use crate::column_box::ColumnBox;
use crate::context::{CaretPlan, CommandContext, CommandMemory};
use crate::motion::vertical::at_cell;

/// Maximum height of a box, in display rows; further rows are not selected.
const TALLEST: u32 = 20_000;

/// Direction in which the moving corner of a box goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BoxDirection {
    Up,
    Down,
    Left,
    Right,
}

impl ColumnBox {
    /// Returns the box between anchor and head of the newest selection.
    pub fn around_primary(ctx: &CommandContext) -> Self {
        let primary = ctx.selections.primary();
        ColumnBox {
            anchor: ctx.display.to_display(primary.anchor, Bias::Right),
            head: ctx.display.to_display(primary.head, Bias::Right),
        }
    }

    /// Returns the row of the moving corner, clipped to the maximum height.
    fn head_row(&self) -> DisplayRow {
        self.head
            .row
            .clamp(self.anchor.row - TALLEST, self.anchor.row + TALLEST)
    }

    /// Returns one selection per display row of the box. Rows that end before the box are left out,
    /// unless all do: then carets go to their ends.
    pub fn selections(&self, ctx: &CommandContext) -> SelectionSet {
        let last = ctx.display.last_row();
        let head_row = self.head_row().min(last);
        let top = self.anchor.row.min(head_row);
        let bottom = self.anchor.row.max(head_row).min(last);
        let left = self.anchor.cell.min(self.head.cell);
        let mut rows: Vec<DisplayRow> = (top.0..=bottom.0).map(DisplayRow).collect();
        let reaching: Vec<DisplayRow> = rows
            .iter()
            .copied()
            .filter(|row| ctx.display.max_cell(*row) >= left)
            .collect();
        if !reaching.is_empty() {
            rows = reaching;
        }
        let selections = rows.iter().map(|row| {
            Selection::new(
                at_cell(ctx, *row, self.anchor.cell),
                at_cell(ctx, *row, self.head.cell),
            )
        });
        let selections: Vec<Selection> = selections.collect();
        let primary = if self.head.row < self.anchor.row {
            0
        } else {
            selections.len().saturating_sub(1)
        };
        SelectionSet::new(selections, primary)
    }
}

/// Returns a plan that selects a box and remembers it, so that the next command can grow it.
pub(crate) fn select(ctx: &CommandContext, column_box: ColumnBox) -> CaretPlan {
    let memory = CommandMemory {
        column_box: Some(column_box),
        ..CommandMemory::default()
    };
    CaretPlan::select_and_remember(ctx, column_box.selections(ctx), memory)
}

/// Returns whether the selections are a box, or the carets that an edit left of one.
pub(crate) fn is_box(ctx: &CommandContext) -> bool {
    let is_box = |memory: &CommandMemory| memory.column_box.is_some() || memory.was_box;
    ctx.selections.len() > 1 && ctx.memory().is_some_and(is_box)
}

/// Marks the carets after a plan as a box, so that the next deletion also stays within rows.
pub(crate) fn remember_box(ctx: &CommandContext, plan: CaretPlan) -> CaretPlan {
    let revision = if plan.edits.is_empty() {
        ctx.snapshot.revision()
    } else {
        ctx.snapshot.revision().next()
    };
    let memory = CommandMemory {
        valid_for: Some((revision, plan.selections.clone())),
        was_box: true,
        ..CommandMemory::default()
    };
    CaretPlan { memory, ..plan }
}

/// Moves one corner of the remembered box by one row or cell. Without a remembered box, uses the
/// box around the newest selection.
pub(crate) fn grow(ctx: &CommandContext, side: BoxDirection) -> CaretPlan {
    let remembered = ctx.memory().and_then(|memory| memory.column_box);
    let mut column_box = remembered.unwrap_or_else(|| ColumnBox::around_primary(ctx));
    column_box.head.row = column_box.head_row();
    let head = &mut column_box.head;
    match side {
        BoxDirection::Up => head.row -= 1,
        BoxDirection::Down => head.row = (head.row + 1).min(ctx.display.last_row()),
        BoxDirection::Left => head.cell = head.cell.saturating_sub(1),
        BoxDirection::Right => {
            // Limited to the widest row of the box.
            let rows = column_box.anchor.row.min(head.row)..column_box.anchor.row.max(head.row) + 1;
            head.cell = (head.cell + 1).min(ctx.display.widest_cell_in(rows).max(head.cell));
        }
    }
    select(ctx, column_box)
}
