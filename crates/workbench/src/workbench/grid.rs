//! Draws the panes of a window next to each other, with draggable borders.
//!
//! Reads `PaneLayout`; changes it only through `Workbench`. Start at `render_grid`.

use gpui_kit::{
    AnyElement, AppContext as _, Context, DragMoveEvent, Empty, ExternalPaths,
    InteractiveElement as _, IntoElement as _, ParentElement as _, Pixels, Point, Size,
    StatefulInteractiveElement as _, StyleRefinement, Styled as _, Window, div,
    prelude::FluentBuilder as _, px, relative,
};
use terminal_panel::DraggedTerminal;
use ui::{ActiveSettings as _, ActiveTheme as _, dp};

use super::{Workbench, editor_terminals};
use crate::drag::{DraggedPath, DraggedTab, DropPlace};
use crate::layout::{Axis, PaneId, PaneNode, PaneSide, Split};
use crate::region::flat_region;
use crate::tab_strip::TabStrip;
use crate::workbench::render;

/// A border between two panes that is being dragged.
#[derive(Clone, Debug)]
struct DraggedBorder {
    /// Path to the split: the child index at each level.
    path: Vec<usize>,
    /// Index of the child before the border.
    index: usize,
}

/// Minimum size of a pane while dragging, in pixels.
const SMALLEST: f32 = 80.0;
/// Fraction of a pane, from each edge, where dropping splits the pane.
const EDGE: f32 = 0.25;

/// Renders all panes of the window.
pub(crate) fn render_grid(
    workbench: &Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> AnyElement {
    render_node(
        workbench,
        workbench.layout().tree().root(),
        &mut Vec::new(),
        window,
        cx,
    )
}

fn render_node(
    workbench: &Workbench,
    node: &PaneNode,
    path: &mut Vec<usize>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> AnyElement {
    match node {
        PaneNode::Pane(pane) => render_pane(workbench, *pane, window, cx),
        PaneNode::Split(split) => render_split(workbench, split, path, window, cx),
    }
}

fn render_split(
    workbench: &Workbench,
    split: &Split,
    path: &mut Vec<usize>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> AnyElement {
    let is_row = split.axis == Axis::Row;
    let mut parts = Vec::new();
    for (index, (child, weight)) in split.children.iter().zip(&split.weights).enumerate() {
        path.push(index);
        let content = render_node(workbench, child, path, window, cx);
        path.pop();
        let part = div().relative().flex().min_w_0().min_h_0().child(content);
        let part = part
            .flex_basis(relative(*weight))
            .flex_grow(1.0)
            .flex_shrink(1.0);
        let border = (index + 1 < split.children.len()).then(|| {
            let border = DraggedBorder {
                path: path.clone(),
                index,
            };
            render_border(border, is_row, cx)
        });
        parts.push(part.children(border));
    }
    let (own_path, axis) = (path.clone(), split.axis);
    div()
        .flex()
        .size_full()
        .when(!is_row, |this| this.flex_col())
        .on_drag_move(
            cx.listener(move |this, event: &DragMoveEvent<DraggedBorder>, _, cx| {
                let border = event.drag(cx).clone();
                if border.path == own_path {
                    let at = event.event.position - event.bounds.origin;
                    drag_border(this, &border, axis, at, event.bounds.size, cx);
                }
            }),
        )
        .children(parts)
        .into_any_element()
}

fn drag_border(
    workbench: &mut Workbench,
    border: &DraggedBorder,
    axis: Axis,
    at: Point<Pixels>,
    room: Size<Pixels>,
    cx: &mut Context<Workbench>,
) {
    let (at, room) = match axis {
        Axis::Row => (f32::from(at.x), f32::from(room.width)),
        Axis::Column => (f32::from(at.y), f32::from(room.height)),
    };
    let Some(weights) = workbench.layout().weights(&border.path) else {
        return;
    };
    if let Some(weights) = dragged_weights(
        weights,
        border.index,
        at / room.max(1.0),
        SMALLEST / room.max(1.0),
    ) {
        workbench.set_weights(&border.path, &weights, cx);
    }
}

fn render_pane(
    workbench: &Workbench,
    pane: PaneId,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> AnyElement {
    let place = workbench.drop_place.filter(|place| place.pane == pane);
    let content = render::render_pane_content(workbench, pane, window, cx);
    let body = div()
        .id(("pane-body", pane.0))
        .relative()
        .flex_1()
        .min_h_0()
        .w_full()
        .on_drag_move(
            cx.listener(move |this, event: &DragMoveEvent<DraggedTab>, _, cx| {
                drag_over_pane(this, pane, event, cx);
            }),
        )
        .on_drag_move(
            cx.listener(move |this, event: &DragMoveEvent<DraggedPath>, _, cx| {
                drag_over_pane(this, pane, event, cx);
            }),
        )
        .on_drag_move(
            cx.listener(move |this, event: &DragMoveEvent<ExternalPaths>, _, cx| {
                drag_over_pane(this, pane, event, cx);
            }),
        )
        .on_drag_move(
            cx.listener(move |this, event: &DragMoveEvent<DraggedTerminal>, _, cx| {
                drag_over_pane(this, pane, event, cx);
            }),
        )
        .on_drop(cx.listener(move |this, tab: &DraggedTab, window, cx| {
            this.drop_tab(tab.item, pane, window, cx);
        }))
        .on_drop(cx.listener(move |this, it: &DraggedTerminal, window, cx| {
            editor_terminals::drop_on_pane(this, it.view.clone(), pane, window, cx);
        }))
        .on_drop(cx.listener(move |this, dragged: &DraggedPath, window, cx| {
            this.drop_paths(vec![dragged.path.clone()], pane, window, cx);
        }))
        .on_drop(cx.listener(move |this, paths: &ExternalPaths, window, cx| {
            let paths = paths
                .paths()
                .iter()
                .filter_map(base::AbsPath::new)
                .collect();
            this.drop_paths(paths, pane, window, cx);
        }))
        .child(content)
        .when_some(place, |this, place| {
            this.child(render_drop_place(place, cx))
        });
    div()
        .flex()
        .flex_col()
        .size_full()
        .min_w_0()
        .children(render_strip(workbench, pane, window, cx))
        .children(render::render_crumbs(workbench, pane, window, cx))
        .child(body)
        .into_any_element()
}

/// Renders the tab bar of a pane; `None` if it has no tabs or the settings hide them.
fn render_strip(
    workbench: &Workbench,
    pane: PaneId,
    window: &Window,
    cx: &Context<Workbench>,
) -> Option<AnyElement> {
    let has_tabs = workbench
        .layout()
        .tabs(pane)
        .is_some_and(|tabs| !tabs.is_empty());
    let strip = workbench
        .strip(pane)
        .filter(|_| has_tabs && cx.settings().window.tabs)?;
    let style = StyleRefinement::default()
        .w_full()
        .h(TabStrip::height())
        .flex_none();
    Some(flat_region(strip, style, window))
}

fn drag_over_pane<T: 'static>(
    workbench: &mut Workbench,
    pane: PaneId,
    event: &DragMoveEvent<T>,
    cx: &mut Context<Workbench>,
) {
    let inside = event.bounds.contains(&event.event.position);
    let place = inside.then(|| {
        let at = event.event.position - event.bounds.origin;
        let size = event.bounds.size;
        let side = side_at(at.x / size.width, at.y / size.height);
        DropPlace { pane, side }
    });
    // Every pane receives the move: only the one under the pointer sets the drop place, and
    // only the pane that set it clears it.
    if inside || workbench.drop_place.is_some_and(|place| place.pane == pane) {
        workbench.set_drop_place(place, cx);
    }
}

/// Returns the new weights after the border behind child `index` was dragged to `at`, a fraction of
/// the split.
fn dragged_weights(weights: &[f32], index: usize, at: f32, smallest: f32) -> Option<Vec<f32>> {
    let before: f32 = weights.get(..index)?.iter().sum();
    let (first, second) = (*weights.get(index)?, *weights.get(index + 1)?);
    let both = first + second;
    let smallest = smallest.min(both / 2.0);
    let share = (at - before).clamp(smallest, both - smallest);
    let mut weights = weights.to_vec();
    weights[index] = share;
    weights[index + 1] = both - share;
    Some(weights)
}

/// Returns the side for a point near an edge; `None` in the middle. Coordinates are fractions of
/// the pane.
fn side_at(x: f32, y: f32) -> Option<PaneSide> {
    let distances = [
        (x, PaneSide::Left),
        (1.0 - x, PaneSide::Right),
        (y, PaneSide::Up),
        (1.0 - y, PaneSide::Down),
    ];
    let nearest = distances.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
    nearest
        .filter(|(distance, _)| *distance < EDGE)
        .map(|(_, side)| side)
}

fn render_border(border: DraggedBorder, is_row: bool, cx: &mut Context<Workbench>) -> AnyElement {
    let id = format!("border-{:?}-{}", border.path, border.index);
    let line = div().bg(cx.theme().colors.border);
    let handle = div()
        .id(gpui_kit::SharedString::from(id))
        .absolute()
        .occlude()
        .on_click(cx.listener(|this, event: &gpui_kit::ClickEvent, _, cx| {
            if event.click_count() == 2 {
                this.even_out(cx);
            }
        }))
        .on_drag(border, |_, _, _, cx| cx.new(|_| Empty));
    let handle = if is_row {
        handle
            .top_0()
            .bottom_0()
            .right(px(-3.0))
            .w(px(6.0))
            .cursor_col_resize()
    } else {
        handle
            .left_0()
            .right_0()
            .bottom(px(-3.0))
            .h(px(6.0))
            .cursor_row_resize()
    };
    let line = if is_row {
        line.absolute().top_0().bottom_0().right_0().w(px(1.0))
    } else {
        line.absolute().left_0().right_0().bottom_0().h(px(1.0))
    };
    div()
        .absolute()
        .inset_0()
        .child(line)
        .child(gpui_kit::deferred(handle))
        .into_any_element()
}

fn render_drop_place(place: DropPlace, cx: &mut Context<Workbench>) -> AnyElement {
    let accent = cx.theme().colors.accent;
    let half = relative(0.5);
    let hint = div()
        .absolute()
        .bg(accent.opacity(0.16))
        .border_1()
        .border_color(accent)
        .rounded(dp(4.0));
    let hint = match place.side {
        None => hint.inset_0(),
        Some(PaneSide::Left) => hint.top_0().bottom_0().left_0().w(half),
        Some(PaneSide::Right) => hint.top_0().bottom_0().right_0().w(half),
        Some(PaneSide::Up) => hint.left_0().right_0().top_0().h(half),
        Some(PaneSide::Down) => hint.left_0().right_0().bottom_0().h(half),
    };
    hint.into_any_element()
}

#[cfg(test)]
mod tests {
    use super::{dragged_weights, side_at};
    use crate::layout::PaneSide;

    #[test]
    fn borders_move_within_their_two_panes() {
        let near = |a: Vec<f32>, b: [f32; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5);
        let weights = [0.2, 0.3, 0.5];
        let drag = |index, at| dragged_weights(&weights, index, at, 0.1).expect("two panes");
        assert!(near(drag(0, 0.35), [0.35, 0.15, 0.5]));
        assert!(
            near(drag(0, 0.0), [0.1, 0.4, 0.5]),
            "not smaller than the smallest"
        );
        assert!(near(drag(1, 0.99), [0.2, 0.7, 0.1]));
        assert!(dragged_weights(&weights, 2, 0.5, 0.1).is_none());
    }

    #[test]
    fn edges_mean_beside() {
        assert_eq!(side_at(0.5, 0.5), None);
        assert_eq!(side_at(0.1, 0.5), Some(PaneSide::Left));
        assert_eq!(side_at(0.9, 0.6), Some(PaneSide::Right));
        assert_eq!(side_at(0.5, 0.05), Some(PaneSide::Up));
        assert_eq!(side_at(0.2, 0.9), Some(PaneSide::Down));
    }
}
