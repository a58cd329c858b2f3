//! Menus in a small window: everything is inside, the keys choose, the focus returns.

use gpui_kit::test::{ElementSnapshot, TestQueryExt as _, TestWindowExt as _};
use gpui_kit::{
    AppContext as _, Bounds, Context, ElementId, FocusHandle, InteractiveElement as _, IntoElement,
    KeyBinding, Modifiers, MouseButton, Pixels, Point, Render, Role, ScrollDelta, ScrollEvent,
    Size, Styled as _, TestAppContext, VisualTestContext, Window, div, point, px, size,
};

use super::cascade::{MenuCascade, MenuStep};
use super::{Menu, MenuExt as _, MenuItem};

gpui_kit::actions!(menu_tests, [Save, Open, Delete, Other]);

const WINDOW: Size<Pixels> = Size {
    width: px(700.0),
    height: px(520.0),
};

/// A window with one context menu.
struct Host {
    focus: FocusHandle,
    menu: fn() -> Menu,
    ran: Vec<&'static str>,
}

impl Render for Host {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let menu = self.menu;
        div()
            .id("host")
            .size_full()
            .key_context("Host")
            .track_focus(&self.focus)
            .on_action(cx.listener(|this, _: &Save, _, _| this.ran.push("save")))
            .on_action(cx.listener(|this, _: &Open, _, _| this.ran.push("open")))
            .on_action(cx.listener(|this, _: &Delete, _, _| this.ran.push("delete")))
            .menu_on_right_click(move |_, _| menu())
    }
}

struct Setup {
    host: gpui_kit::Entity<Host>,
    cx: VisualTestContext,
}

fn open(menu: fn() -> Menu, room: Size<Pixels>, cx: &mut TestAppContext) -> Setup {
    let mut host = None;
    let window = cx.update(|cx| {
        gpui_kit::init(cx);
        crate::init(base::Platform::Linux, cx);
        cx.bind_keys([
            KeyBinding::new("ctrl-s", Save, Some("Host")),
            KeyBinding::new("ctrl-k ctrl-o", Open, Some("Host")),
            KeyBinding::new("delete", Delete, Some("Host")),
        ]);
        let opened = gpui_kit::open_window(gpui_kit::WindowOptions::default(), cx, |window, cx| {
            let view = cx.new(|cx| Host {
                focus: cx.focus_handle(),
                menu,
                ran: Vec::new(),
            });
            view.read(cx).focus.clone().focus(window, cx);
            host = Some(view.clone());
            view
        });
        opened.expect("a window").0
    });
    let mut cx = VisualTestContext::from_window(window, cx);
    cx.simulate_resize(room);
    cx.update(|window, _| window.activate_window());
    cx.run_until_parked();
    Setup {
        host: host.expect("a view"),
        cx,
    }
}

impl Setup {
    fn right_click(&mut self, position: Point<Pixels>) {
        let none = Modifiers::default();
        self.cx.simulate_mouse_move(position, None, none);
        self.cx
            .simulate_mouse_down(position, MouseButton::Right, none);
        self.cx
            .simulate_mouse_up(position, MouseButton::Right, none);
        self.cx.run_until_parked();
    }

    fn keys(&mut self, keys: &str) -> &mut Self {
        self.cx.simulate_keystrokes(keys);
        self.cx.run_until_parked();
        self
    }

    fn wheel(&mut self, position: Point<Pixels>, up: f32) {
        self.cx
            .simulate_mouse_move(position, None, Modifiers::default());
        self.cx.simulate_event(ScrollEvent {
            position,
            delta: ScrollDelta::Pixels(point(px(0.0), px(up))),
            ..Default::default()
        });
        self.cx.run_until_parked();
    }

    fn levels(&mut self) -> Vec<ElementSnapshot> {
        let levels = self
            .cx
            .update(|window, _| window.find_all_by_role(Role::Menu));
        let mut levels = levels;
        levels.sort_by_key(|level| level.path().len());
        levels
    }

    fn item(&mut self, label: &str) -> ElementSnapshot {
        self.cx.update(|window, _| window.find_by_label(label))
    }

    fn selected(&mut self) -> Vec<String> {
        let mut elements = self.cx.update(|window, _| window.elements());
        elements.sort_by_key(|element| element.path().len());
        let selected = elements.iter().filter(|it| it.selected() == Some(true));
        selected
            .filter_map(|it| it.label().map(str::to_owned))
            .collect()
    }

    fn tooltip(&mut self, over: Point<Pixels>) -> Option<String> {
        self.cx
            .simulate_mouse_move(over, None, Modifiers::default());
        self.cx
            .executor()
            .advance_clock(std::time::Duration::from_secs(2));
        self.cx.run_until_parked();
        let tooltips = self
            .cx
            .update(|window, _| window.find_all_by_role(Role::Tooltip));
        let label = tooltips.first().and_then(|it| it.label());
        label.map(str::to_owned)
    }

    fn ran(&mut self) -> Vec<&'static str> {
        self.cx.update(|_, cx| self.host.read(cx).ran.clone())
    }

    fn host_has_focus(&mut self) -> bool {
        self.cx
            .update(|window, cx| self.host.read(cx).focus.is_focused(window))
    }
}

fn contains(outer: Bounds<Pixels>, inner: Bounds<Pixels>) -> bool {
    let slack = px(0.5);
    inner.left() >= outer.left() - slack
        && inner.top() >= outer.top() - slack
        && inner.right() <= outer.right() + slack
        && inner.bottom() <= outer.bottom() + slack
}

fn in_window(setup: &mut Setup, room: Size<Pixels>) {
    let window = Bounds {
        origin: Point::default(),
        size: room,
    };
    let levels = setup.levels();
    assert!(!levels.is_empty(), "no menu");
    for level in levels {
        assert!(contains(window, level.bounds()), "{level:?}");
    }
}

fn forty() -> Menu {
    let labels = (1..=40).map(|number| format!("Item {number}"));
    labels.fold(Menu::new(), |menu, label| {
        menu.action(label, Box::new(Save))
    })
}

#[gpui_kit::test]
fn a_menu_larger_than_the_window_scrolls(cx: &mut TestAppContext) {
    let mut setup = open(forty, WINDOW, cx);
    for corner in [
        point(px(2.0), px(2.0)),
        point(px(698.0), px(2.0)),
        point(px(698.0), px(518.0)),
        point(px(350.0), px(260.0)),
    ] {
        setup.right_click(corner);
        in_window(&mut setup, WINDOW);
        let menu = setup.levels()[0].bounds();
        assert!(!contains(menu, setup.item("Item 40").bounds()));
        setup.keys("up");
        assert_eq!(setup.selected(), ["Item 40"]);
        assert!(contains(menu, setup.item("Item 40").bounds()));
        setup.keys("home");
        assert!(contains(menu, setup.item("Item 1").bounds()));
        setup.keys("end up");
        assert_eq!(setup.selected(), ["Item 39"]);
        setup.wheel(menu.center(), 2000.0);
        assert!(contains(menu, setup.item("Item 1").bounds()));
        setup.wheel(menu.center(), -2000.0);
        assert!(contains(menu, setup.item("Item 40").bounds()));
        setup.keys("escape");
        assert!(setup.levels().is_empty());
    }
}

#[gpui_kit::test]
fn an_open_menu_fits_after_the_window_shrinks(cx: &mut TestAppContext) {
    let mut setup = open(forty, WINDOW, cx);
    setup.right_click(point(px(600.0), px(400.0)));
    setup.keys("end");
    let small = size(px(360.0), px(240.0));
    setup.cx.simulate_resize(small);
    setup.cx.run_until_parked();
    in_window(&mut setup, small);
    setup.keys("up");
    let menu = setup.levels()[0].bounds();
    assert!(contains(menu, setup.item("Item 39").bounds()));
}

const LONG: &str = "Open /home/someone/projects/with/a/very/long/path/that/goes/on/and/on/until/no/menu/could/\
                    show/it/in/full/application";

fn with_keys() -> Menu {
    Menu::new()
        .action("Save", Box::new(Save))
        .action(LONG, Box::new(Open))
        .action("Open", Box::new(Open))
}

#[gpui_kit::test]
fn key_hints_of_one_and_two_strokes_are_aligned(cx: &mut TestAppContext) {
    let mut setup = open(with_keys, WINDOW, cx);
    setup.right_click(point(px(690.0), px(10.0)));
    in_window(&mut setup, WINDOW);
    let menu = setup.levels()[0].bounds();
    let hints = setup.cx.update(|window, _| window.find_all("menu-keys"));
    assert_eq!(hints.len(), 3);
    let right = hints[0].bounds().right();
    assert!(right > menu.right() - px(20.0), "{right:?} in {menu:?}");
    for hint in &hints {
        assert_eq!(hint.bounds().right(), right);
        assert!(contains(menu, hint.bounds()), "{hint:?}");
    }
    let width = |ix: usize| hints[ix].bounds().size.width;
    assert!(width(1) > width(0), "two strokes are longer than one");
    assert_eq!(width(1), width(2), "a long label cuts no hint");
}

#[gpui_kit::test]
fn an_elided_label_has_its_full_text_in_a_tooltip(cx: &mut TestAppContext) {
    let mut setup = open(with_keys, WINDOW, cx);
    setup.right_click(point(px(10.0), px(10.0)));
    let long = setup.item(LONG).bounds().center();
    assert_eq!(setup.tooltip(long).as_deref(), Some(LONG));
    let short = setup.item("Save").bounds().center();
    assert_eq!(setup.tooltip(short), None);
}

#[gpui_kit::test]
fn an_action_runs_where_the_menu_was_opened(cx: &mut TestAppContext) {
    let mut setup = open(with_keys, WINDOW, cx);
    setup.right_click(point(px(10.0), px(10.0)));
    assert!(!setup.host_has_focus());
    setup.keys("down enter");
    assert_eq!(setup.ran(), ["save"]);
    assert!(setup.host_has_focus());
    setup.right_click(point(px(10.0), px(10.0)));
    let open = setup.item("Open").bounds().center();
    setup.cx.simulate_click(open, Modifiers::default());
    setup.cx.run_until_parked();
    assert_eq!(setup.ran(), ["save", "open"]);
    assert!(setup.host_has_focus());
    assert!(setup.levels().is_empty());
}

#[gpui_kit::test]
fn keys_do_not_reach_the_text_behind_a_menu(cx: &mut TestAppContext) {
    let mut setup = open(with_keys, WINDOW, cx);
    setup.right_click(point(px(10.0), px(10.0)));
    setup.keys("delete");
    assert_eq!(setup.ran(), [""; 0]);
    setup.keys("ctrl-s");
    assert_eq!(setup.ran(), ["save"], "shortcuts act as without a menu");
    setup.keys("escape delete");
    assert_eq!(setup.ran(), ["save", "delete"]);
}

#[gpui_kit::test]
fn a_press_outside_closes_a_menu(cx: &mut TestAppContext) {
    let mut setup = open(with_keys, WINDOW, cx);
    setup.right_click(point(px(10.0), px(10.0)));
    setup
        .cx
        .simulate_click(point(px(650.0), px(500.0)), Modifiers::default());
    setup.cx.run_until_parked();
    assert!(setup.levels().is_empty());
    assert!(setup.host_has_focus());
    setup.right_click(point(px(10.0), px(10.0)));
    setup.right_click(point(px(600.0), px(400.0)));
    let levels = setup.levels();
    assert_eq!(levels.len(), 1, "one menu replaces the other");
    assert!(levels[0].bounds().top() > px(100.0));
    setup.keys("escape");
    assert!(setup.host_has_focus());
}

fn with_submenu() -> Menu {
    let inner = Menu::new()
        .action("Inner one", Box::new(Save))
        .action("Inner two", Box::new(Open));
    Menu::new()
        .action("Outer", Box::new(Other))
        .submenu("More", inner)
        .action("Last", Box::new(Other))
}

#[gpui_kit::test]
fn a_submenu_opens_on_the_side_with_space(cx: &mut TestAppContext) {
    let mut setup = open(with_submenu, WINDOW, cx);
    setup.right_click(point(px(10.0), px(10.0)));
    setup.keys("down down");
    let levels = setup.levels();
    assert!(levels[1].bounds().left() > levels[0].bounds().center().x);
    setup.keys("escape");
    setup.right_click(point(px(690.0), px(510.0)));
    let more = setup.item("More").bounds().center();
    setup
        .cx
        .simulate_mouse_move(more, None, Modifiers::default());
    setup.cx.run_until_parked();
    in_window(&mut setup, WINDOW);
    let levels = setup.levels();
    assert!(levels[1].bounds().right() < levels[0].bounds().center().x);
    setup.keys("right down");
    assert_eq!(setup.selected(), ["More", "Inner two"]);
    setup.keys("left");
    assert_eq!(setup.selected(), ["More"]);
    let inner = setup.item("Inner one").bounds().center();
    setup.cx.simulate_click(inner, Modifiers::default());
    setup.cx.run_until_parked();
    assert_eq!(setup.ran(), ["save"]);
    assert!(setup.levels().is_empty());
}

#[gpui_kit::test]
fn every_item_has_role_and_state(cx: &mut TestAppContext) {
    let menu = || {
        Menu::new()
            .toggle("Pinned", Box::new(Save), true)
            .toggle("Hidden", Box::new(Save), false)
            .separator()
            .separator()
            .action_if("Paste", Box::new(Other), false)
    };
    let mut setup = open(menu, WINDOW, cx);
    setup.right_click(point(px(10.0), px(10.0)));
    let level = ElementId::from(("menu-level", 0usize));
    let elements = setup.cx.update(|window, _| window.elements());
    let items = elements
        .iter()
        .filter(|it| it.path().contains(&level) && it.role().is_some_and(|it| it != Role::Menu));
    let found: Vec<_> = items
        .map(|it| (it.label().unwrap_or_default(), it.role(), it.checked()))
        .collect();
    let toggle = Some(Role::MenuItemCheckBox);
    assert_eq!(
        found,
        [
            ("Pinned", toggle, Some(true)),
            ("Hidden", toggle, Some(false)),
            ("Paste", Some(Role::MenuItem), None),
        ]
    );
    setup.keys("end");
    assert_eq!(setup.selected(), ["Hidden"], "a disabled item is skipped");
}

/// The selected labels of all levels, the innermost last, after some steps.
fn check(steps: &str, expect: &str) {
    let inner = Menu::new()
        .action("c", Box::new(Other))
        .action("d", Box::new(Other));
    let menu = Menu::new()
        .action("a", Box::new(Other))
        .separator()
        .action_if("off", Box::new(Other), false)
        .submenu("b", inner)
        .action("e", Box::new(Other));
    let mut cascade = MenuCascade::new(menu.items);
    for step in steps.chars() {
        match step {
            'v' => cascade.step(MenuStep::Next),
            '^' => cascade.step(MenuStep::Previous),
            'h' => cascade.step(MenuStep::First),
            'l' => cascade.step(MenuStep::Last),
            '>' => {
                cascade.enter_submenu();
            }
            '<' => {
                cascade.leave_submenu();
            }
            'b' => cascade.select(0, 3),
            'o' => cascade.select(0, 2),
            'x' => cascade.deselect(0, 3),
            other => panic!("no step {other}"),
        }
    }
    let labels = cascade.levels().iter().map(|level| {
        let item = level.selected.map(|ix| &level.items[ix]);
        item.map_or("-", |item| match item {
            MenuItem::Action { label, .. } | MenuItem::Submenu { label, .. } => label.as_ref(),
            MenuItem::Separator => "separator",
        })
    });
    assert_eq!(labels.collect::<Vec<_>>().join(" "), expect, "{steps}");
}

#[test]
fn steps_move_the_selection() {
    check("", "-");
    check("v", "a");
    check("vv", "b -");
    check("vvv", "e");
    check("vvvv", "a");
    check("^", "e");
    check("^^", "b -");
    check("l", "e");
    check("lh", "a");
    check("vv>", "b c");
    check("vv>v", "b d");
    check("vv>vv", "b c");
    check("vv>^", "b d");
    check("vv><", "b -");
    check("vv><v", "e");
    check("v>", "a");
    check("v<", "a");
    // The pointer.
    check("b", "b -");
    check("b>b", "b -");
    check("bx", "b -");
    check("bo", "b -");
    check("b>x", "b c");
}
