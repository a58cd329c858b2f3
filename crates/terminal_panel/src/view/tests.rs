//! Tests views under gpui's scheduler: output from a fake program, keys and mouse, and the program's input.

mod commands;
mod copying;
mod drawing;
mod life;
mod links;
mod pointer;
mod searching;
mod selecting;
mod typing;

use std::sync::Arc;

use base::{AbsPath, Platform};
use gpui_kit::test::TestQueryExt as _;
use gpui_kit::{
    Entity, Modifiers, MouseButton, Pixels, Point, Role, TestAppContext, VisualTestContext, point,
    px, size,
};
use settings::{KeymapBase, Settings, builtin, parse_keymap};

use super::{TerminalView, TerminalViewEvent};
use crate::fake::{FakeProgram, FakeTerminals};
use crate::service::TerminalRequest;

/// A view in a window, with its program.
pub(super) struct Story<'a> {
    pub(super) service: FakeTerminals,
    pub(super) view: Entity<TerminalView>,
    pub(super) cx: &'a mut VisualTestContext,
}

/// Initialises the toolkit with the keymap of a platform.
pub(crate) fn init(platform: Platform, settings: Settings, cx: &mut TestAppContext) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        ui::init(platform, cx);
        ui::set_settings(Arc::new(settings), cx);
        let (name, text) = builtin::keymap(KeymapBase::VsCode, platform);
        // Commands of other crates are unknown here.
        ui::install_keymaps(&[parse_keymap(name, text).0], cx);
    });
}

/// Opens a terminal in a window of 80 columns or more, with the focus.
pub(super) fn open(cx: &mut TestAppContext) -> Story<'_> {
    open_with(Settings::builtin(), cx)
}

pub(super) fn open_with(settings: Settings, cx: &mut TestAppContext) -> Story<'_> {
    init(Platform::Linux, settings, cx);
    let service = FakeTerminals::default();
    let shared = Arc::new(service.clone());
    let request = TerminalRequest {
        folder: AbsPath::new("/project"),
        ..TerminalRequest::default()
    };
    let (view, cx) =
        cx.add_window_view(|window, cx| TerminalView::new(request, None, shared, window, cx));
    view.update_in(cx, |view, window, cx| {
        window.activate_window();
        window.focus(&view.focus, cx);
    });
    let mut story = Story { service, view, cx };
    story.settle();
    story
}

impl Story<'_> {
    /// Lets everything that is due happen, with frames.
    pub(super) fn settle(&mut self) {
        for _ in 0..4 {
            self.cx.run_until_parked();
            self.cx
                .executor()
                .advance_clock(std::time::Duration::from_millis(20));
        }
        self.cx.run_until_parked();
    }

    /// Returns the program that was started last.
    pub(super) fn program(&self) -> FakeProgram {
        self.service.programs().pop().expect("a program runs")
    }

    pub(super) fn print(&mut self, output: &str) -> &mut Self {
        self.program().print(output);
        self.settle();
        self
    }

    pub(super) fn keys(&mut self, keys: &str) -> &mut Self {
        self.cx.simulate_keystrokes(keys);
        self.settle();
        self
    }

    pub(super) fn act(&mut self, action: impl gpui_kit::Action) -> &mut Self {
        self.cx.dispatch_action(action);
        self.settle();
        self
    }

    /// Presses keys and returns what the program received.
    pub(super) fn sent(&mut self, keys: &str) -> String {
        self.program().take_input();
        self.keys(keys);
        self.program().take_input()
    }

    /// Returns the rows in view, without blank ones at the end.
    pub(super) fn rows(&mut self) -> Vec<String> {
        let rows = self.view.update(self.cx, |view, cx| {
            view.refresh(cx);
            view.visible_text()
        });
        let mut rows: Vec<String> = rows.iter().map(|row| row.trim_end().to_owned()).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    pub(super) fn read<T>(&mut self, read: impl FnOnce(&TerminalView) -> T) -> T {
        self.view.read_with(self.cx, |view, _| read(view))
    }

    /// Returns a point in the left half of a cell.
    pub(super) fn cell(&mut self, row: u16, column: u16) -> Point<Pixels> {
        self.point_in(row, column, 0.25)
    }

    /// Returns a point in the right half of a cell, where a selection includes the cell.
    pub(super) fn cell_end(&mut self, row: u16, column: u16) -> Point<Pixels> {
        self.point_in(row, column, 0.75)
    }

    fn point_in(&mut self, row: u16, column: u16, part: f32) -> Point<Pixels> {
        self.read(|view| {
            let geometry = view.geometry.as_ref().expect("a frame was laid out");
            let cell = geometry.cells_at(row, column, 1);
            point(cell.left() + cell.size.width * part, cell.center().y)
        })
    }

    /// Presses the button with this label.
    pub(super) fn click_button(&mut self, label: &str) {
        let bounds = self
            .cx
            .update(|window, _| window.find_by_label(label).bounds());
        self.cx
            .simulate_click(bounds.center(), Modifiers::default());
        self.settle();
    }

    pub(super) fn drag(&mut self, from: Point<Pixels>, to: Point<Pixels>, modifiers: Modifiers) {
        self.cx
            .simulate_mouse_down(from, MouseButton::Left, modifiers);
        self.cx
            .simulate_mouse_move(to, MouseButton::Left, modifiers);
        self.cx.simulate_mouse_up(to, MouseButton::Left, modifiers);
        self.settle();
    }

    pub(super) fn resize_window(&mut self, width: f32, height: f32) {
        self.cx.simulate_resize(size(px(width), px(height)));
        self.settle();
    }

    /// Collects the events of the view from now on.
    pub(super) fn events(&mut self) -> std::rc::Rc<std::cell::RefCell<Vec<TerminalViewEvent>>> {
        let events = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
        let sink = events.clone();
        self.cx.update(|_, cx| {
            cx.subscribe(&self.view, move |_, event: &TerminalViewEvent, _| {
                if !matches!(
                    event,
                    TerminalViewEvent::Output | TerminalViewEvent::Changed
                ) {
                    sink.borrow_mut().push(event.clone());
                }
            })
            .detach();
        });
        events
    }

    /// Returns the labels of the elements with this role.
    pub(super) fn labels(&mut self, role: Role) -> Vec<String> {
        self.cx.run_until_parked();
        let elements = self.cx.update(|window, _| window.elements());
        elements
            .iter()
            .filter(|it| it.role() == Some(role))
            .filter_map(|it| it.label().map(str::to_owned))
            .collect()
    }

    pub(super) fn clipboard(&mut self) -> Option<String> {
        self.cx.read_from_clipboard().and_then(|item| item.text())
    }
}
