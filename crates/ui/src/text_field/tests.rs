//! The context menu of a field.

use gpui_kit::component::input::InputState;
use gpui_kit::test::TestQueryExt as _;
use gpui_kit::{
    AppContext as _, Context, Entity, Focusable as _, IntoElement, Modifiers, MouseButton,
    ParentElement as _, Pixels, Point, Render, Styled as _, TestAppContext, VisualTestContext,
    Window, div, point, px,
};

use super::TextField;

struct Host {
    field: Entity<InputState>,
}

impl Render for Host {
    fn render(&mut self, _: &mut Window, _: &mut Context<Self>) -> impl IntoElement {
        let field = TextField::new(&self.field, "Find");
        div().size_full().child(field)
    }
}

fn right_click(at: Point<Pixels>, cx: &mut VisualTestContext) {
    let none = Modifiers::default();
    cx.simulate_mouse_move(at, None, none);
    cx.simulate_mouse_down(at, MouseButton::Right, none);
    cx.simulate_mouse_up(at, MouseButton::Right, none);
    cx.run_until_parked();
}

#[gpui_kit::test]
fn the_menu_edits_the_field(cx: &mut TestAppContext) {
    let mut field = None;
    let window = cx.update(|cx| {
        gpui_kit::init(cx);
        crate::init(base::Platform::Linux, cx);
        let opened = gpui_kit::open_window(gpui_kit::WindowOptions::default(), cx, |window, cx| {
            let state = cx.new(|cx| InputState::new(window, cx).default_value("words"));
            field = Some(state.clone());
            cx.new(|_| Host { field: state })
        });
        opened.expect("a window").0
    });
    let field = field.expect("a field");
    let mut cx = VisualTestContext::from_window(window, cx);
    cx.update(|window, _| window.activate_window());
    cx.run_until_parked();
    let bounds = cx.update(|window, _| window.find_by_label("Find").bounds());
    let at = point(bounds.left() + px(12.0), bounds.center().y);
    right_click(at, &mut cx);
    let disabled = |label: &str, cx: &mut VisualTestContext| {
        cx.update(|window, _| window.find_by_label(label).disabled())
    };
    assert_eq!(disabled("Cut", &mut cx), Some(true));
    assert_eq!(disabled("Copy", &mut cx), Some(true));
    assert_eq!(disabled("Paste", &mut cx), None);
    cx.simulate_keystrokes("s enter");
    right_click(at, &mut cx);
    assert_eq!(disabled("Cut", &mut cx), None);
    cx.simulate_keystrokes("c enter");
    cx.run_until_parked();
    let cut = cx.read_from_clipboard().and_then(|item| item.text());
    assert_eq!(cut.as_deref(), Some("words"));
    cx.update(|window, cx| {
        assert_eq!(field.read(cx).value(), "");
        assert!(field.focus_handle(cx).is_focused(window));
        assert!(window.try_find_by_label("Cut").is_none());
    });
}
