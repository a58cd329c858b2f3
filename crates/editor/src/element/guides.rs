//! Indent guides at each level of indentation.

use gpui_kit::{Bounds, Context, fill, point, px, size};
use ui::ActiveTheme as _;

use super::layout::Decorator;
use crate::editor::Editor;

impl Decorator<'_> {
    pub(super) fn lay_out_guides(&mut self, cx: &Context<Editor>) {
        if !self.editor.settings.indent_guides {
            return;
        }
        let step = self.editor.caret_options.tab_width.max(1);
        let depths = depths(
            &self
                .layout
                .rows
                .iter()
                .map(|row| row.shape.indent)
                .collect::<Vec<_>>(),
        );
        let caret = self
            .editor
            .display
            .to_display(self.editor.selections.primary().head, base::Bias::Left)
            .row;
        let active = self
            .layout
            .rows
            .iter()
            .position(|row| row.row == caret)
            .and_then(|ix| guide_around(&depths, ix, step));
        let colors = cx.theme().colors;
        let geometry = &self.layout.geometry;
        for (ix, (row, depth)) in self.layout.rows.iter().zip(&depths).enumerate() {
            for level in 0..depth.div_ceil(step) {
                let x = geometry.x_of(level * step);
                if x < geometry.text.left() || x > geometry.text.right() {
                    continue;
                }
                let is_active = active
                    .as_ref()
                    .is_some_and(|(rows, at)| *at == level && rows.contains(&ix));
                let color = if is_active {
                    colors.indent_guide_active
                } else {
                    colors.indent_guide
                };
                let line = Bounds::new(
                    point(x, geometry.y_of(row.y)),
                    size(px(1.0), geometry.line_height),
                );
                self.layout.grounds.push(fill(line, color));
            }
        }
    }
}

/// Returns the indentation depth of each row; blank rows take the smaller depth of their
/// neighbours.
fn depths(indents: &[Option<u32>]) -> Vec<u32> {
    let mut depths: Vec<u32> = Vec::with_capacity(indents.len());
    let mut ix = 0;
    while ix < indents.len() {
        if let Some(indent) = indents[ix] {
            depths.push(indent);
            ix += 1;
            continue;
        }
        let next = indents[ix..]
            .iter()
            .position(Option::is_some)
            .map(|gap| ix + gap);
        let below = next.and_then(|at| indents[at]);
        let above = depths.last().copied();
        let depth = above.unwrap_or(below.unwrap_or(0)).min(below.unwrap_or(0));
        let end = next.unwrap_or(indents.len());
        depths.resize(end, depth);
        ix = end;
    }
    depths
}

/// Returns the guide around a row: the rows it spans, and its level.
fn guide_around(depths: &[u32], ix: usize, step: u32) -> Option<(std::ops::Range<usize>, u32)> {
    // A row that opens a block belongs to the block.
    let own = depths[ix];
    let inner = depths.get(ix + 1).copied().unwrap_or(0).max(own);
    let level = (inner.div_ceil(step)).checked_sub(1)?;
    let is_inside = |at: &u32| at.div_ceil(step) > level;
    let anchor = if is_inside(&own) { ix } else { ix + 1 };
    let start = depths[..anchor]
        .iter()
        .rposition(|depth| !is_inside(depth))
        .map_or(0, |at| at + 1);
    let end = depths[anchor..]
        .iter()
        .position(|depth| !is_inside(depth))
        .map_or(depths.len(), |at| anchor + at);
    Some((start..end, level))
}

#[cfg(test)]
mod tests {
    use super::{depths, guide_around};

    #[test]
    fn blank_rows_take_the_shallower_neighbour() {
        assert_eq!(
            depths(&[Some(0), Some(4), None, Some(4), None, Some(0), None]),
            [0, 4, 4, 4, 0, 0, 0]
        );
    }

    #[test]
    fn the_guide_around_the_caret() {
        let depths = [0, 4, 8, 8, 4, 0];
        assert_eq!(guide_around(&depths, 2, 4), Some((2..4, 1)));
        assert_eq!(guide_around(&depths, 4, 4), Some((1..5, 0)));
        assert_eq!(guide_around(&depths, 1, 4), Some((2..4, 1)));
        assert_eq!(guide_around(&depths, 5, 4), None);
    }
}
