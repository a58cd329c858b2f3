//! Headers of the blocks around the first visible row, and their shapes.

use std::rc::Rc;

use base::{Revision, Row};

use super::shape::ShapedRow;

/// Header rows for a text, its tree and a first row.
type HeadersAt = ((Revision, Option<Revision>, Row), Vec<Row>);

/// The sticky headers of the last frame, and a cache of the shapes of recent ones.
#[derive(Default)]
pub(crate) struct StickyCache {
    pub(crate) rows: Option<HeadersAt>,
    /// Shapes by text, because a header's row number changes with edits above it.
    pub(crate) shapes: Vec<(String, (u64, u32), Rc<ShapedRow>)>,
}

impl StickyCache {
    /// Returns the buffer row of the header at a height in the window, in line heights from the top
    /// of the window. Returns `None` if there is no header at this height. `shown` is the number of
    /// visible headers.
    pub(crate) fn row_at(&self, height_in_window: f64, shown: usize) -> Option<Row> {
        let ix = height_in_window.floor() as usize;
        if height_in_window < 0.0 || ix >= shown {
            return None;
        }
        let (_, rows) = self.rows.as_ref()?;
        rows.get(ix).copied()
    }
}
