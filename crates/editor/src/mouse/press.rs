//! Handling of mouse button presses.

use base::{Bias, ByteOffset};
use caret::{Command, SelectionUnit};
use gpui_kit::{Context, MouseButton, MouseDownEvent, Window};
use settings::MultiCursorModifier;

use super::{Drag, area_of};
use crate::editor::{Editor, Reveal};
use crate::element::HitArea;

impl Editor {
    pub(super) fn press(
        &mut self,
        event: &MouseDownEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.sync(cx);
        self.pointer = event.position;
        super::drop::forget_dragged_text(cx);
        window.focus(&self.focus.clone(), cx);
        let area = area_of(self.geometry.as_ref(), event.position);
        match (event.button, area) {
            (MouseButton::Left, HitArea::Vertical | HitArea::Horizontal) => {
                self.press_bar(area, cx)
            }
            (MouseButton::Left, HitArea::Text) => self.press_text(event, window, cx),
            (MouseButton::Left, HitArea::Gutter | HitArea::Folds) => {
                self.press_gutter(area, event, window, cx)
            }
            (MouseButton::Middle, HitArea::Text) => self.press_middle(window, cx),
            (MouseButton::Right, HitArea::Text) => self.press_right(window, cx),
            _ => {}
        }
    }

    fn press_text(&mut self, event: &MouseDownEvent, window: &mut Window, cx: &mut Context<Self>) {
        if let Some(row) = self.header_under_pointer() {
            self.go_to(self.snapshot.row_start(row), Reveal::Nearest, cx);
            return;
        }
        let Some(point) = self.display_point_at(event.position) else {
            return;
        };
        let offset = self.display.to_buffer(point, Bias::Left);
        let modifiers = &event.modifiers;
        let adds = match self.settings.multi_cursor_modifier {
            MultiCursorModifier::Alt => modifiers.alt,
            MultiCursorModifier::Secondary => modifiers.secondary(cx),
        };
        let unit = match event.click_count {
            0 | 1 => SelectionUnit::Character,
            2 => SelectionUnit::Word,
            _ => SelectionUnit::Row,
        };
        if modifiers.alt && modifiers.shift {
            self.begin_box(window, cx);
        } else if modifiers.shift {
            let from = self.selections.primary().anchor;
            self.begin_selecting(from, offset, SelectionUnit::Character, false, window, cx);
        } else if adds {
            self.press_adding(offset, unit, window, cx);
        } else if unit == SelectionUnit::Character
            && self.is_selected(offset)
            && self.is_over_letters(point)
        {
            let spans = self.selected_spans();
            self.drag = Some(Drag::Move {
                spans,
                start: event.position,
                has_moved: false,
            });
        } else {
            self.begin_selecting(offset, offset, unit, false, window, cx);
        }
    }

    fn press_adding(
        &mut self,
        offset: ByteOffset,
        unit: SelectionUnit,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let before = self.selections.len();
        self.select_with_pointer(Command::ToggleCaret(offset), window, cx);
        // A removed caret is not dragged.
        if self.selections.len() >= before || unit != SelectionUnit::Character {
            self.drag = Some(Drag::Select {
                from: offset,
                unit,
                keep_others: true,
            });
            if unit != SelectionUnit::Character {
                self.begin_selecting(offset, offset, unit, true, window, cx);
            }
        }
    }

    fn begin_selecting(
        &mut self,
        from: ByteOffset,
        to: ByteOffset,
        unit: SelectionUnit,
        keep_others: bool,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.drag = Some(Drag::Select {
            from,
            unit,
            keep_others,
        });
        self.select_with_pointer(
            Command::SelectBetween {
                from,
                to,
                unit,
                keep_others,
            },
            window,
            cx,
        );
    }

    fn begin_box(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let head = self.selections.primary().head;
        let anchor = self.display.to_display(head, Bias::Left);
        self.drag = Some(Drag::Box {
            anchor,
            is_click: false,
        });
        self.go_on_dragging(window, cx);
    }

    fn press_middle(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let Some(point) = self.display_point_at(self.pointer) else {
            return;
        };
        let offset = self.display.to_buffer(point, Bias::Left);
        let command = Command::SelectBetween {
            from: offset,
            to: offset,
            unit: SelectionUnit::Character,
            keep_others: false,
        };
        let follow = self.follow;
        self.run(&command, window, cx);
        self.follow = follow;
        self.drag = Some(Drag::Box {
            anchor: point,
            is_click: true,
        });
    }

    fn press_right(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if std::mem::take(&mut self.menu_at_caret) {
            return;
        }
        let Some(offset) = self.offset_at(self.pointer, cx) else {
            return;
        };
        if !self.is_selected(offset) {
            let command = Command::SelectBetween {
                from: offset,
                to: offset,
                unit: SelectionUnit::Character,
                keep_others: false,
            };
            self.select_with_pointer(command, window, cx);
        }
    }

    fn press_gutter(
        &mut self,
        area: HitArea,
        event: &MouseDownEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(point) = self.display_point_at(event.position) else {
            return;
        };
        let (row, begins) = self.display.buffer_row(point.row);
        let can_fold =
            begins && (self.fold_starting_at(row).is_some() || self.foldable_at(row, cx).is_some());
        if area == HitArea::Folds && self.settings.fold_arrows && can_fold {
            self.toggle_fold_at(row, cx);
            return;
        }
        let start = self.snapshot.row_start(row);
        let from = if event.modifiers.shift {
            self.selections.primary().anchor
        } else {
            start
        };
        self.begin_selecting(
            from,
            start,
            SelectionUnit::Row,
            event.modifiers.alt,
            window,
            cx,
        );
    }

    fn is_selected(&self, offset: ByteOffset) -> bool {
        self.selections.iter().any(|selection| {
            let span = selection.span();
            !span.is_empty() && span.start <= offset && offset <= span.end
        })
    }

    fn is_over_letters(&self, point: display::DisplayPoint) -> bool {
        point.cell <= self.display.max_cell(point.row)
    }

    fn header_under_pointer(&self) -> Option<base::Row> {
        let geometry = self.geometry.as_ref()?;
        self.sticky_row_at(geometry.height_at(self.pointer.y) - geometry.top)
    }
}
