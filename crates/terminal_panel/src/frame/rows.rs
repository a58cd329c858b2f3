//! Cache of shaped rows.
//!
//! Invariant: a row whose content is unchanged is not shaped again while it stays in view or returns soon.

use std::collections::HashMap;
use std::rc::Rc;

use terminal::TerminalRow;

use super::palette::Palette;
use super::shape::{ShapedCells, shape};

/// Rows that are kept, as a multiple of the rows in view.
const KEPT_VIEWS: usize = 4;

/// Shaped rows by the generation of their content.
#[derive(Default)]
pub(crate) struct RowCache {
    rows: HashMap<u64, CachedRow>,
    /// Counts layouts.
    frame: u64,
    /// Number of rows that were shaped.
    shaped: u64,
}

struct CachedRow {
    cells: Rc<ShapedCells>,
    /// The last frame that showed the row.
    frame: u64,
}

impl RowCache {
    /// Forgets all rows: fonts or colours changed.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
    }

    /// Begins a layout with this number of rows in view, and forgets the rows that were not in view for long.
    pub(crate) fn begin_frame(&mut self, in_view: usize) {
        self.frame += 1;
        let most = in_view.max(16) * KEPT_VIEWS;
        if self.rows.len() <= most {
            return;
        }
        let mut frames: Vec<u64> = self.rows.values().map(|row| row.frame).collect();
        frames.sort_unstable_by(|one, other| other.cmp(one));
        let oldest = frames.get(most / 2).copied().unwrap_or_default();
        self.rows.retain(|_, row| row.frame > oldest);
    }

    /// Returns a row, shaped now if its content is new.
    pub(crate) fn get(
        &mut self,
        row: &TerminalRow,
        palette: &Palette,
        window: &gpui_kit::Window,
    ) -> Rc<ShapedCells> {
        let frame = self.frame;
        if let Some(known) = self.rows.get_mut(&row.generation) {
            known.frame = frame;
            return known.cells.clone();
        }
        self.shaped += 1;
        let cells = Rc::new(shape(row, palette, window));
        let cached = CachedRow {
            cells: cells.clone(),
            frame,
        };
        self.rows.insert(row.generation, cached);
        cells
    }

    /// Returns the number of rows that were shaped so far.
    #[cfg(test)]
    pub(crate) fn shaped(&self) -> u64 {
        self.shaped
    }
}
