//! The lanes of a row of the graph as strokes in cells.
//!
//! Pure but for `paint`. A cell is one lane wide and one row high; the commit is in the middle of its cell.

use git_program::{GraphLine, GraphRow};
use gpui_kit::{Bounds, Hsla, PathBuilder, Pixels, Window, fill, point, px, size};

/// Maximum number of lanes that are drawn; those beyond are cut.
pub(crate) const MAX_LANES: usize = 16;
/// Width of a stroke in pixels.
const STROKE: f32 = 1.5;
/// Part of the lane's width that the mark of a commit takes.
const MARK: f32 = 0.55;

/// A stroke of a row, in lanes from the left and in rows from the top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LaneStroke {
    /// Its upper end.
    pub(crate) from: (f32, f32),
    /// Its lower end.
    pub(crate) to: (f32, f32),
    /// The number of its colour.
    pub(crate) color: u32,
}

/// Returns the strokes of a row in the first `lanes` lanes.
pub(crate) fn strokes(row: &GraphRow, lanes: usize) -> Vec<LaneStroke> {
    let halves = [(&row.upper, 0.0), (&row.lower, 0.5)];
    let mut strokes = Vec::new();
    for (lines, top) in halves {
        let shown = lines
            .iter()
            .filter(|line| line.from < lanes && line.to < lanes);
        strokes.extend(shown.map(|line| stroke(line, top)));
    }
    strokes
}

fn stroke(line: &GraphLine, top: f32) -> LaneStroke {
    LaneStroke {
        from: (center(line.from), top),
        to: (center(line.to), top + 0.5),
        color: line.color,
    }
}

/// Returns the middle of a lane, in lanes.
fn center(lane: usize) -> f32 {
    lane as f32 + 0.5
}

/// Returns the number of lanes that a row needs.
pub(crate) fn width(row: &GraphRow) -> usize {
    let lines = row.upper.iter().chain(&row.lower);
    let widest = lines.map(|line| line.from.max(line.to)).max();
    widest.unwrap_or(0).max(row.lane) + 1
}

/// Paints a row of the graph, one lane after the other from the left edge of `bounds`.
pub(crate) fn paint(
    row: &GraphRow,
    bounds: Bounds<Pixels>,
    lane_width: Pixels,
    palette: &[Hsla],
    window: &mut Window,
) {
    let color = |number: u32| palette[number as usize % palette.len()];
    let place = |(lane, part): (f32, f32)| {
        let x = bounds.left() + lane_width * lane;
        point(x, bounds.top() + bounds.size.height * part)
    };
    for stroke in strokes(row, MAX_LANES) {
        let (from, to) = (place(stroke.from), place(stroke.to));
        if from.x == to.x {
            let corner = point(from.x - px(STROKE / 2.0), from.y);
            let line = Bounds::new(corner, size(px(STROKE), to.y - from.y));
            window.paint_quad(fill(line, color(stroke.color)));
            continue;
        }
        let mut path = PathBuilder::stroke(px(STROKE));
        let middle = (from.y + to.y) / 2.0;
        path.move_to(from);
        path.cubic_bezier_to(to, point(from.x, middle), point(to.x, middle));
        // A path that cannot be built leaves a gap; painting has no way to report it.
        if let Ok(path) = path.build() {
            window.paint_path(path, color(stroke.color));
        }
    }
    if row.lane < MAX_LANES {
        let side = lane_width * MARK;
        let middle = place((center(row.lane), 0.5));
        let corner = point(middle.x - side / 2.0, middle.y - side / 2.0);
        let mark = Bounds::new(corner, size(side, side));
        window.paint_quad(fill(mark, color(row.color)).corner_radii(side / 2.0));
    }
}

#[cfg(test)]
mod tests {
    use git_program::CommitGraph;

    use super::{LaneStroke, strokes, width};

    fn rows(commits: &[(u32, &[u32])]) -> Vec<git_program::GraphRow> {
        let mut graph = CommitGraph::default();
        let rows = commits.iter().map(|(id, parents)| graph.place(id, parents));
        rows.collect()
    }

    #[test]
    fn strokes_of_rows_meet_at_their_edges() {
        let commits: &[(u32, &[u32])] = &[(1, &[2, 3]), (2, &[4]), (3, &[4]), (4, &[])];
        let rows = rows(commits);
        for pair in rows.windows(2) {
            let lower: Vec<f32> = strokes(&pair[0], 9)
                .iter()
                .filter(|it| it.to.1 > 0.9)
                .map(|it| it.to.0)
                .collect();
            let mut upper: Vec<f32> = strokes(&pair[1], 9)
                .iter()
                .filter(|it| it.from.1 < 0.1)
                .map(|it| it.from.0)
                .collect();
            upper.dedup();
            for lane in &lower {
                assert!(upper.contains(lane), "{pair:?}");
            }
        }
        let merge = strokes(&rows[0], 9);
        let second = LaneStroke {
            from: (0.5, 0.5),
            to: (1.5, 1.0),
            color: rows[1].upper[1].color,
        };
        assert!(merge.contains(&second), "{merge:?}");
    }

    #[test]
    fn lanes_beyond_the_width_are_cut() {
        let commits: &[(u32, &[u32])] = &[(1, &[2, 3, 4, 5]), (5, &[])];
        let rows = rows(commits);
        assert_eq!(width(&rows[0]), 4);
        let kept = strokes(&rows[0], 2);
        assert_eq!(kept.len(), 2);
        assert!(kept.iter().all(|it| it.to.0 < 2.0));
    }
}
