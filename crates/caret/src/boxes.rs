//! Selecting a box of display cells, also where rows are shorter than it.
//!
//! Start at `ColumnBox`.

use base::Bias;
use display::{DisplayPoint, DisplayRow};
use text::{Selection, SelectionSet};

use crate::context::{Context, Memory, Plan};
use crate::motion::vertical::at_cell;

/// Display rows of the tallest box; further rows are left out of it.
const TALLEST: u32 = 20_000;

/// A box between two corners of the display; either may lie behind the end of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnBox {
    /// The corner that stays.
    pub anchor: DisplayPoint,
    /// The corner that moves.
    pub head: DisplayPoint,
}

/// Which way a box grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Up,
    Down,
    Left,
    Right,
}

impl ColumnBox {
    /// The box of the newest selection.
    pub fn around_primary(ctx: &Context) -> Self {
        let primary = ctx.selections.primary();
        ColumnBox {
            anchor: ctx.display.to_display(primary.anchor, Bias::Right),
            head: ctx.display.to_display(primary.head, Bias::Right),
        }
    }

    /// The row of the moving corner, no further from the other than the tallest box reaches.
    fn head_row(&self) -> DisplayRow {
        self.head
            .row
            .clamp(self.anchor.row - TALLEST, self.anchor.row + TALLEST)
    }

    /// One selection for every display row of the box. Rows that end before the box are left out,
    /// unless all do: then carets stand at their ends.
    pub fn selections(&self, ctx: &Context) -> SelectionSet {
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

/// Selects a box and remembers it, so that it can grow.
pub(crate) fn select(ctx: &Context, column_box: ColumnBox) -> Plan {
    let memory = Memory {
        column_box: Some(column_box),
        ..Memory::default()
    };
    Plan::select_and_remember(ctx, column_box.selections(ctx), memory)
}

/// Whether the selections are a box, or the carets that an edit left of one.
pub(crate) fn is_box(ctx: &Context) -> bool {
    let is_box = |memory: &Memory| memory.column_box.is_some() || memory.was_box;
    ctx.selections.len() > 1 && ctx.memory().is_some_and(is_box)
}

/// Marks the carets after a plan as a box, so that the next deletion keeps to rows as well.
pub(crate) fn remember_box(ctx: &Context, plan: Plan) -> Plan {
    let revision = match plan.edits.is_empty() {
        true => ctx.snapshot.revision(),
        false => ctx.snapshot.revision().next(),
    };
    let memory = Memory {
        valid_for: Some((revision, plan.selections.clone())),
        was_box: true,
        ..Memory::default()
    };
    Plan { memory, ..plan }
}

/// Widens the remembered box, or the one of the newest selection, by one.
pub(crate) fn grow(ctx: &Context, side: Side) -> Plan {
    let remembered = ctx.memory().and_then(|memory| memory.column_box);
    let mut column_box = remembered.unwrap_or_else(|| ColumnBox::around_primary(ctx));
    column_box.head.row = column_box.head_row();
    let head = &mut column_box.head;
    match side {
        Side::Up => head.row -= 1,
        Side::Down => head.row = (head.row + 1).min(ctx.display.last_row()),
        Side::Left => head.cell = head.cell.saturating_sub(1),
        Side::Right => {
            // As far as the widest row of the box goes.
            let rows = column_box.anchor.row.min(head.row)..column_box.anchor.row.max(head.row) + 1;
            head.cell = (head.cell + 1).min(ctx.display.widest_cell_in(rows).max(head.cell));
        }
    }
    select(ctx, column_box)
}
