//! Menus in a small window: everything is inside, the keys choose, the focus returns.

use gpui_kit::test::{ElementSnapshot, TestQueryExt as _, TestWindowExt as _};
use gpui_kit::{
    AppContext as _, Bounds, Context, ElementId, FocusHandle, InteractiveElement as _, IntoElement,
    KeyBinding, Modifiers, MouseButton, ParentElement as _, Pixels, Point, Render, Role,
    ScrollDelta, ScrollEvent, Size, Styled as _, TestAppContext, VisualTestContext, Window, div,
    point, px, size,
};

use super::pointer::REST;
use super::{Menu, MenuAnchor, MenuExt as _, PopupMenu};

gpui_kit::actions!(menu_tests, [Save, Open, Delete, Other]);

const WINDOW: Size<Pixels> = Size {
    width: px(700.0),
    height: px(520.0),
};

/// A window with a context menu, and another one in its lower left corner.
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
            .child(
                div()
                    .id("inner")
                    .absolute()
                    .left_0()
                    .bottom_0()
                    .size(px(20.0))
                    .menu_on_right_click(|_, _| Menu::new().action("Inside", Box::new(Other))),
            )
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

    fn hover(&mut self, position: Point<Pixels>) {
        self.cx
            .simulate_mouse_move(position, None, Modifiers::default());
        self.cx.run_until_parked();
    }

    fn click(&mut self, position: Point<Pixels>) {
        self.cx.simulate_click(position, Modifiers::default());
        self.cx.run_until_parked();
    }

    fn wheel(&mut self, position: Point<Pixels>, up: f32) {
        self.hover(position);
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
        let named = self.cx.update(|window, _| window.find_all_by_label(label));
        // A submenu has the name of its item.
        let mut items = named.into_iter().filter(|it| it.role() != Some(Role::Menu));
        items.next().expect(label)
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
        self.hover(over);
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

/// Checks that a menu larger than the window, opened at a point, shows each item by key and by wheel.
fn check_forty(setup: &mut Setup, room: Size<Pixels>, at: Point<Pixels>) {
    setup.right_click(at);
    in_window(setup, room);
    let menu = setup.levels()[0].bounds();
    assert!(!contains(menu, setup.item("Item 40").bounds()), "{at:?}");
    for number in 1..=40 {
        setup.keys("down");
        let label = format!("Item {number}");
        assert_eq!(setup.selected().join(" "), label, "{at:?}");
        let item = setup.item(&label).bounds();
        assert!(contains(menu, item), "{label} at {item:?} in {menu:?}");
    }
    setup.keys("down");
    assert_eq!(setup.selected(), ["Item 1"]);
    assert!(contains(menu, setup.item("Item 1").bounds()));
    setup.keys("up");
    let last = setup.item("Item 40").bounds();
    setup.keys("home");
    let first = setup.item("Item 1").bounds();
    let padding = first.top() - menu.top();
    assert!(padding > px(2.0), "the first item is not at the edge");
    assert_eq!(menu.bottom() - last.bottom(), padding);
    setup.keys("end up");
    assert_eq!(setup.selected(), ["Item 39"]);
    setup.wheel(menu.center(), 2000.0);
    assert!(contains(menu, setup.item("Item 1").bounds()));
    setup.wheel(menu.center(), -2000.0);
    let last = setup.item("Item 40").bounds();
    assert!(contains(menu, last));
    setup.hover(last.center());
    assert_eq!(setup.selected(), ["Item 40"]);
    setup.click(last.center());
    assert_eq!(setup.ran().pop(), Some("save"));
    assert!(setup.levels().is_empty());
}

#[gpui_kit::test]
fn a_menu_of_forty_items_is_reachable_in_a_low_window(cx: &mut TestAppContext) {
    let room = size(px(500.0), px(300.0));
    let mut setup = open(forty, room, cx);
    for x in [1.0, 250.0, 499.0] {
        for y in [1.0, 150.0, 270.0] {
            check_forty(&mut setup, room, point(px(x), px(y)));
        }
    }
    check_forty(&mut setup, room, point(px(250.0), px(299.0)));
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
    setup.click(open);
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
    assert!(setup.levels().is_empty());
    setup.right_click(point(px(10.0), px(10.0)));
    setup.keys("ctrl-k");
    assert_eq!(setup.levels().len(), 1, "the second stroke is to come");
    setup.keys("ctrl-o");
    assert_eq!(setup.ran(), ["save", "open"]);
    assert!(setup.levels().is_empty());
    setup.right_click(point(px(10.0), px(10.0)));
    setup.keys("escape delete");
    assert_eq!(setup.ran(), ["save", "open", "delete"]);
}

#[gpui_kit::test]
fn a_press_outside_closes_a_menu(cx: &mut TestAppContext) {
    let mut setup = open(with_keys, WINDOW, cx);
    setup.right_click(point(px(10.0), px(10.0)));
    setup.click(point(px(650.0), px(500.0)));
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
    setup.hover(more);
    in_window(&mut setup, WINDOW);
    let levels = setup.levels();
    assert!(levels[1].bounds().right() < levels[0].bounds().center().x);
    setup.keys("right down");
    assert_eq!(setup.selected(), ["More", "Inner two"]);
    setup.keys("left");
    assert_eq!(setup.selected(), ["More"]);
    let inner = setup.item("Inner one").bounds().center();
    setup.click(inner);
    assert_eq!(setup.ran(), ["save"]);
    assert!(setup.levels().is_empty());
}

#[gpui_kit::test]
fn the_submenu_stays_open_on_the_way_to_it(cx: &mut TestAppContext) {
    let mut setup = open(with_submenu, WINDOW, cx);
    setup.right_click(point(px(10.0), px(10.0)));
    let more = setup.item("More").bounds();
    let last = setup.item("Last").bounds();
    // From the end of "More" over the end of "Last" to the second item of the submenu.
    let start = point(more.right() - px(30.0), more.bottom() - px(2.0));
    let between = point(last.right() - px(20.0), last.top() + px(4.0));
    setup.hover(start);
    setup.hover(between);
    assert_eq!(setup.levels().len(), 2);
    assert_eq!(setup.selected(), ["More"]);
    let inner = setup.item("Inner two").bounds().center();
    setup.hover(inner);
    assert_eq!(setup.selected(), ["More", "Inner two"]);
    setup.cx.executor().advance_clock(REST);
    setup.cx.run_until_parked();
    assert_eq!(setup.selected(), ["More", "Inner two"]);
    // Straight down from "More", the pointer is on no way to the submenu.
    setup.hover(start);
    setup.hover(point(start.x, last.center().y));
    assert_eq!(setup.selected(), ["Last"]);
    // A pointer that rests on the way selects the item below it.
    setup.hover(start);
    setup.hover(between);
    assert_eq!(setup.selected(), ["More"]);
    setup.cx.executor().advance_clock(REST);
    setup.cx.run_until_parked();
    assert_eq!(setup.selected(), ["Last"]);
    assert_eq!(setup.levels().len(), 1);
}

#[gpui_kit::test]
fn keys_open_enter_and_leave_submenus(cx: &mut TestAppContext) {
    let mut setup = open(with_submenu, WINDOW, cx);
    setup.right_click(point(px(10.0), px(10.0)));
    setup.keys("m");
    assert_eq!(setup.selected(), ["More"]);
    assert_eq!(setup.item("More").expanded(), Some(true));
    assert_eq!(setup.item("Last").expanded(), None);
    setup.keys("enter");
    assert_eq!(setup.selected(), ["More", "Inner one"]);
    setup.keys("i");
    assert_eq!(setup.selected(), ["More", "Inner two"]);
    setup.keys("left");
    assert_eq!(setup.selected(), ["More"]);
    setup.keys("l");
    assert_eq!(setup.selected(), ["Last"]);
    assert_eq!(setup.item("More").expanded(), Some(false));
    setup.keys("up right down enter");
    assert_eq!(setup.ran(), ["open"]);
    assert!(setup.levels().is_empty());
    assert!(setup.host_has_focus());
}

#[gpui_kit::test]
fn the_innermost_context_menu_opens(cx: &mut TestAppContext) {
    let mut setup = open(with_keys, WINDOW, cx);
    setup.right_click(point(px(5.0), WINDOW.height - px(5.0)));
    let levels = setup.levels();
    assert_eq!(levels.len(), 1);
    setup.keys("end");
    assert_eq!(setup.selected(), ["Inside"]);
    setup.right_click(point(px(300.0), px(100.0)));
    setup.keys("end");
    assert_eq!(setup.selected(), ["Open"]);
}

#[gpui_kit::test]
fn a_menu_opened_by_key_replaces_the_open_one(cx: &mut TestAppContext) {
    let mut setup = open(with_keys, WINDOW, cx);
    for y in [10.0, 300.0] {
        setup.cx.update(|window, cx| {
            super::open_menu_at(point(px(10.0), px(y)), window, cx);
        });
        setup.cx.run_until_parked();
        let levels = setup.levels();
        assert_eq!(levels.len(), 1);
        assert_eq!(levels[0].bounds().top(), px(y));
    }
    // Of another control, whose focus is that of the first menu's element.
    let other = setup.cx.update(|window, cx| {
        let anchor = MenuAnchor::Point(Point::default());
        PopupMenu::open(with_keys(), anchor, window, cx)
    });
    setup.cx.update(|window, cx| {
        other.update(cx, |other, cx| other.close(window, cx));
    });
    assert!(setup.host_has_focus());
    setup.cx.run_until_parked();
    assert!(setup.levels().is_empty());
}

#[gpui_kit::test]
fn a_menu_closes_with_the_focus_and_the_window(cx: &mut TestAppContext) {
    let mut setup = open(with_keys, WINDOW, cx);
    setup.right_click(point(px(10.0), px(10.0)));
    let elsewhere = setup.cx.update(|window, cx| {
        let elsewhere = cx.focus_handle();
        elsewhere.focus(window, cx);
        elsewhere
    });
    setup.cx.run_until_parked();
    assert!(setup.levels().is_empty());
    let keeps = setup.cx.update(|window, _| elsewhere.is_focused(window));
    assert!(keeps, "the new focus stays");
    setup.click(point(px(300.0), px(300.0)));
    setup.right_click(point(px(10.0), px(10.0)));
    assert!(!setup.levels().is_empty());
    setup.cx.deactivate_window();
    setup.cx.run_until_parked();
    assert!(setup.levels().is_empty());
    assert!(setup.host_has_focus());
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
        .map(|it| {
            (
                it.label().unwrap_or_default(),
                it.role(),
                it.checked(),
                it.disabled(),
            )
        })
        .collect();
    let toggle = Some(Role::MenuItemCheckBox);
    assert_eq!(
        found,
        [
            ("Pinned", toggle, Some(true), None),
            ("Hidden", toggle, Some(false), None),
            ("Paste", Some(Role::MenuItem), None, Some(true)),
        ]
    );
    let paste = setup.item("Paste").bounds().center();
    setup.hover(paste);
    assert_eq!(setup.selected(), [""; 0]);
    setup.click(paste);
    assert_eq!(setup.levels().len(), 1, "a disabled item does nothing");
    setup.keys("end");
    assert_eq!(setup.selected(), ["Hidden"], "a disabled item is skipped");
}
