//! The selection follows the pointer, except on its way from an item to the submenu of that item.

use std::time::Duration;

use gpui_kit::{Bounds, Context, Pixels, Point, Task, Window};

use super::popup::PopupMenu;

/// Time for which the pointer may rest on its way to a submenu before the item below it is selected.
pub(super) const REST: Duration = Duration::from_millis(300);

/// The way of the pointer since it left an item with an open submenu.
#[derive(Default)]
pub(super) struct PointerPath {
    /// The last position over that item.
    start: Option<Point<Pixels>>,
    rest: Option<PointerRest>,
}

/// Selects the item below the pointer if the pointer rests on it.
struct PointerRest {
    level: usize,
    ix: usize,
    _task: Task<()>,
}

impl PopupMenu {
    /// Selects the item below the pointer, unless the pointer is on its way to an open submenu.
    pub(super) fn point(
        &mut self,
        level: usize,
        ix: usize,
        position: Point<Pixels>,
        cx: &mut Context<Self>,
    ) {
        self.pointer.rest = None;
        if self.cascade.selected() == Some((level, ix)) {
            self.pointer.start = Some(position);
        } else if self.leads_to_submenu(level, ix, position) {
            let task = cx.spawn(async move |this, cx| {
                cx.background_executor().timer(REST).await;
                let rested = this.update(cx, |popup, cx| popup.select(level, ix, position, cx));
                // A closed menu selects nothing.
                rested.ok();
            });
            self.pointer.rest = Some(PointerRest {
                level,
                ix,
                _task: task,
            });
        } else {
            self.select(level, ix, position, cx);
        }
    }

    fn select(&mut self, level: usize, ix: usize, position: Point<Pixels>, cx: &mut Context<Self>) {
        self.cascade.select(level, ix);
        self.pointer.start = Some(position);
        cx.notify();
    }

    /// Returns whether the pointer, over another item than the one whose submenu is open, is between
    /// that item and the submenu.
    fn leads_to_submenu(&self, level: usize, ix: usize, position: Point<Pixels>) -> bool {
        let levels = self.cascade.levels();
        let is_other = levels.get(level).is_some_and(|it| it.selected != Some(ix));
        let (Some(start), Some(submenu)) = (self.pointer.start, levels.get(level + 1)) else {
            return false;
        };
        is_other && is_between(start, position, submenu.scroll.bounds())
    }

    /// Clears the selection of an item that the pointer left.
    pub(super) fn unpoint(
        &mut self,
        level: usize,
        ix: usize,
        window: &Window,
        cx: &mut Context<Self>,
    ) {
        // The pointer may have reached the next item before it is reported to have left this one.
        self.pointer
            .rest
            .take_if(|it| (it.level, it.ix) == (level, ix));
        // A key ends hovering, too; then the selection is the key's.
        if !window.last_input_was_keyboard() {
            self.cascade.deselect(level, ix);
            cx.notify();
        }
    }
}

/// Returns whether a position is inside the triangle of `start` and the corners of the nearer vertical
/// edge of `target`.
fn is_between(start: Point<Pixels>, position: Point<Pixels>, target: Bounds<Pixels>) -> bool {
    let edge = if target.left() > start.x {
        target.left()
    } else {
        target.right()
    };
    let part = (position.x - start.x) / (edge - start.x);
    let top = start.y + (target.top() - start.y) * part;
    let bottom = start.y + (target.bottom() - start.y) * part;
    part > 0.0 && part <= 1.0 && position.y >= top && position.y <= bottom
}

#[cfg(test)]
mod tests {
    use gpui_kit::{Bounds, point, px, size};

    use super::is_between;

    #[test]
    fn the_way_to_a_submenu_is_a_triangle() {
        let check = |position: (f32, f32), right: bool, left: bool| {
            let position = point(px(position.0), px(position.1));
            let start = point(px(200.0), px(100.0));
            for (side, expect) in [(300.0, right), (20.0, left)] {
                let origin = point(px(side), px(90.0));
                let submenu = Bounds::new(origin, size(px(80.0), px(210.0)));
                assert_eq!(is_between(start, position, submenu), expect, "{position:?}");
            }
        };
        check((200.0, 100.0), false, false);
        check((200.0, 130.0), false, false);
        check((210.0, 110.0), true, false);
        check((190.0, 110.0), false, true);
        check((202.0, 130.0), false, false);
        check((260.0, 80.0), false, false);
        check((299.0, 290.0), true, false);
        check((320.0, 110.0), false, false);
        check((101.0, 290.0), false, true);
    }
}
