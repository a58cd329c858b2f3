//! The menus in small windows: every item is inside and can be reached, with keys and with the mouse.

use std::sync::Arc;

use gpui_kit::test::{ElementSnapshot, TestQueryExt as _, TestWindowExt as _};
use gpui_kit::{
    Bounds, ElementId, Modifiers, MouseButton, Pixels, Point, Role, ScrollDelta, ScrollEvent, Size,
    TestAppContext, point, px, size,
};
use settings::MenuBar;
use ui::ActiveSettings as _;

use super::{Story, open};
use crate::actions::view;

/// A small window, and the smallest one.
const WINDOWS: [Size<Pixels>; 2] = [
    Size {
        width: px(700.0),
        height: px(520.0),
    },
    Size {
        width: px(360.0),
        height: px(240.0),
    },
];

fn open_at(room: Size<Pixels>, cx: &mut TestAppContext) -> Story {
    let mut story = open(cx);
    story.cx.simulate_resize(room);
    story.open_file("main.rs");
    story
}

fn set_menu(story: &mut Story, menu: MenuBar) {
    story.cx.update(|_, cx| {
        let mut settings = (**cx.settings()).clone();
        settings.window.menu = menu;
        ui::set_settings(Arc::new(settings), cx);
    });
    story.settle();
}

fn levels(story: &mut Story) -> Vec<ElementSnapshot> {
    let mut levels = story
        .cx
        .update(|window, _| window.find_all_by_role(Role::Menu));
    levels.sort_by_key(|level| level.path().len());
    levels
}

/// The items of a level in display order.
fn items(story: &mut Story, level: usize) -> Vec<ElementSnapshot> {
    let inside = |it: &ElementSnapshot, level: usize| {
        let id = ElementId::from(("menu-level", level));
        it.path().contains(&id)
    };
    let elements = story.cx.update(|window, _| window.elements());
    let items = elements.into_iter().filter(|it| {
        let role = it.role();
        let is_item = role == Some(Role::MenuItem) || role == Some(Role::MenuItemCheckBox);
        is_item && inside(it, level) && !inside(it, level + 1)
    });
    items.collect()
}

/// The selected item of the innermost level with a selection.
fn selected(story: &mut Story) -> ElementSnapshot {
    let count = levels(story).len();
    let selected = (0..count).rev().find_map(|level| {
        let mut items = items(story, level).into_iter();
        items.find(|it| it.selected() == Some(true))
    });
    selected.expect("a selected item")
}

fn is_inside(outer: Bounds<Pixels>, inner: Bounds<Pixels>) -> bool {
    let slack = px(0.5);
    inner.left() >= outer.left() - slack
        && inner.top() >= outer.top() - slack
        && inner.right() <= outer.right() + slack
        && inner.bottom() <= outer.bottom() + slack
}

/// Every level and the selected item are inside the window, below the title bar.
fn check(story: &mut Story, room: Size<Pixels>, what: &str) {
    let title = px(35.0);
    let space = Bounds {
        origin: point(px(0.0), title),
        size: size(room.width, room.height - title),
    };
    let levels = levels(story);
    assert!(!levels.is_empty(), "{what}: no menu");
    for level in &levels {
        let bounds = level.bounds();
        assert!(is_inside(space, bounds), "{what}: {bounds:?} in {room:?}");
    }
    let item = selected(story);
    let level = levels
        .iter()
        .rfind(|level| item.path().starts_with(level.path()));
    let level = level.expect("the level of the item").bounds();
    let bounds = item.bounds();
    assert!(is_inside(level, bounds), "{what}: {item:?} in {level:?}");
}

fn move_to(story: &mut Story, position: Point<Pixels>) {
    story
        .cx
        .simulate_mouse_move(position, None, Modifiers::default());
    story.cx.run_until_parked();
}

fn wheel_down(story: &mut Story, position: Point<Pixels>) {
    move_to(story, position);
    story.cx.simulate_event(ScrollEvent {
        position,
        delta: ScrollDelta::Lines(point(0.0, -100.0)),
        ..Default::default()
    });
    story.cx.run_until_parked();
}

#[gpui_kit::test]
fn keys_reach_every_item_of_every_menu(cx: &mut TestAppContext) {
    for room in WINDOWS {
        let mut app = cx.new_app();
        let mut story = open_at(room, &mut app);
        story.keys("f10");
        for menu in 0..8 {
            story.keys("down");
            check(&mut story, room, "the menus");
            story.keys("right");
            let labels = items(&mut story, 1).len();
            for ix in 0..labels {
                check(&mut story, room, &format!("item {ix} of menu {menu}"));
                story.keys("down");
            }
            story.keys("end");
            let last = selected(&mut story);
            check(&mut story, room, &format!("the end of menu {menu}"));
            let all = items(&mut story, 1);
            assert_eq!(all.last().and_then(|it| it.label()), last.label());
            story.keys("home");
            check(&mut story, room, &format!("the start of menu {menu}"));
            story.keys("left");
        }
        story.keys("escape");
        assert!(levels(&mut story).is_empty());
        story.input("typed");
        assert!(story.text().contains("typed"), "the focus returns");
    }
}

#[gpui_kit::test]
fn the_mouse_reaches_the_last_item_of_the_file_menu(cx: &mut TestAppContext) {
    let room = WINDOWS[0];
    let mut story = open_at(room, cx);
    story.cx.update(|window, cx| window.click("menu", cx));
    story.settle();
    let file = items(&mut story, 0).swap_remove(0);
    assert_eq!(file.label(), Some("File"));
    move_to(&mut story, file.bounds().center());
    let menu = levels(&mut story)[1].bounds();
    let last = items(&mut story, 1).pop().expect("an item");
    assert_eq!(last.label(), Some("Quit"));
    assert!(!is_inside(menu, last.bounds()), "it is too high");
    wheel_down(&mut story, menu.center());
    let last = items(&mut story, 1).pop().expect("an item");
    assert!(is_inside(menu, last.bounds()));
    move_to(&mut story, last.bounds().center());
    assert_eq!(selected(&mut story).label(), Some("Quit"));
    check(&mut story, room, "the end of the File menu");
    // A press on the button closes the menu that it opened.
    story.cx.update(|window, cx| window.click("menu", cx));
    story.settle();
    assert!(levels(&mut story).is_empty());
}

#[gpui_kit::test]
fn key_hints_are_aligned_at_the_right(cx: &mut TestAppContext) {
    let mut story = open_at(WINDOWS[0], cx);
    story.keys("f10 down right");
    let hints = story.cx.update(|window, _| window.find_all("menu-keys"));
    let level = levels(&mut story)[1].bounds();
    assert!(hints.len() > 5, "{}", hints.len());
    for hint in &hints {
        assert_eq!(hint.bounds().right(), hints[0].bounds().right());
        assert!(hint.bounds().right() <= level.right());
    }
}

#[gpui_kit::test]
fn a_menu_bar_opens_one_menu_after_another(cx: &mut TestAppContext) {
    let room = size(px(900.0), px(520.0));
    let mut story = open_at(room, cx);
    set_menu(&mut story, MenuBar::Bar);
    let first = |story: &mut Story| {
        let items = items(story, 0);
        items[0].label().map(str::to_owned).unwrap_or_default()
    };
    story.keys("f10 down");
    assert_eq!(first(&mut story), "New text");
    check(&mut story, room, "the File menu");
    story.keys("right down");
    assert_eq!(first(&mut story), "Undo");
    check(&mut story, room, "the Edit menu");
    story.keys("left left down");
    assert_eq!(first(&mut story), "Search docs…");
    check(&mut story, room, "the Help menu");
    let name = |story: &mut Story, label: &str| {
        let found = story.cx.update(|window, _| window.find_by_label(label));
        found.bounds().center()
    };
    let go = name(&mut story, "Go");
    move_to(&mut story, go);
    assert_eq!(first(&mut story), "Back");
    story.cx.simulate_click(go, Modifiers::default());
    story.settle();
    assert!(levels(&mut story).is_empty());
    story.input("typed");
    assert!(story.text().contains("typed"), "the focus returns");
}

#[gpui_kit::test]
fn hidden_menus_open_by_key(cx: &mut TestAppContext) {
    let room = WINDOWS[0];
    let mut story = open_at(room, cx);
    set_menu(&mut story, MenuBar::Hidden);
    story.act(view::ShowMenu).keys("down right");
    check(&mut story, room, "the File menu");
    story.act(view::ShowMenu);
    assert!(levels(&mut story).is_empty());
}

/// Presses the right button near the lower right corner of a control.
fn right_click(story: &mut Story, label: &str) {
    let elements = story.cx.update(|window, _| window.elements());
    let element = elements.iter().find(|it| it.label() == Some(label));
    let bounds = element.expect(label).bounds();
    let corner = point(bounds.right() - px(6.0), bounds.bottom() - px(6.0));
    let none = Modifiers::default();
    story
        .cx
        .simulate_mouse_down(corner, MouseButton::Right, none);
    story.cx.simulate_mouse_up(corner, MouseButton::Right, none);
    story.settle();
}

#[gpui_kit::test]
fn context_menus_fit_the_smallest_window(cx: &mut TestAppContext) {
    let room = WINDOWS[1];
    let mut story = open_at(room, cx);
    let window = Bounds {
        origin: Point::default(),
        size: room,
    };
    for label in ["main.rs", "main.rs, text"] {
        right_click(&mut story, label);
        story.keys("end");
        let level = levels(&mut story).swap_remove(0).bounds();
        assert!(is_inside(window, level), "{label}: {level:?}");
        assert!(is_inside(level, selected(&mut story).bounds()), "{label}");
        story.keys("escape");
        assert!(levels(&mut story).is_empty());
    }
}

#[gpui_kit::test]
fn the_menu_key_replaces_a_context_menu(cx: &mut TestAppContext) {
    let mut story = open_at(WINDOWS[0], cx);
    story.input("typed");
    assert!(story.text().contains("typed"));
    right_click(&mut story, "main.rs, text");
    assert_eq!(items(&mut story, 0)[0].label(), Some("Cut"));
    story.keys("f10");
    assert_eq!(items(&mut story, 0)[0].label(), Some("File"));
    story.keys("e right");
    assert_eq!(selected(&mut story).label(), Some("Undo"));
    story.keys("enter");
    assert!(levels(&mut story).is_empty());
    assert!(!story.text().contains("typed"), "the text has the focus");
}

#[gpui_kit::test]
fn a_name_is_edited_by_its_context_menu(cx: &mut TestAppContext) {
    let mut story = open_at(WINDOWS[0], cx);
    story.act(view::FocusProjectTree).keys("f2").settle();
    right_click(&mut story, "Name");
    let labels: Vec<_> = items(&mut story, 0);
    let labels: Vec<_> = labels.iter().filter_map(|it| it.label()).collect();
    assert_eq!(labels, ["Cut", "Copy", "Paste", "Select all"]);
    assert_eq!(levels(&mut story).len(), 1);
    story.keys("s enter");
    story.input("other.rs").keys("enter").settle();
    assert_eq!(story.tabs(), "[other.rs]");
}

#[gpui_kit::test]
fn a_picker_stays_while_the_menu_of_its_field_is_open(cx: &mut TestAppContext) {
    let mut story = open_at(WINDOWS[0], cx);
    story.keys("ctrl-shift-p").input("zoom");
    let field = |story: &mut Story| {
        let found = story
            .cx
            .update(|window, _| window.find_all_by_label("Commands"));
        found.into_iter().find(|it| it.value().is_some())
    };
    right_click(&mut story, "Commands");
    assert_eq!(items(&mut story, 0).len(), 4);
    story.keys("s enter");
    story.input("fold");
    let field = field(&mut story).expect("the field of the picker");
    assert_eq!(field.value(), Some("fold"));
}
