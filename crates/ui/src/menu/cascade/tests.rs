//! Steps and the pointer move the selection through the levels.

use super::{MenuCascade, MenuStep};
use crate::menu::{Menu, MenuItem};

gpui_kit::actions!(cascade_tests, [Other]);

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
        .action("e", Box::new(Other))
        .action("bb", Box::new(Other));
    let mut cascade = MenuCascade::new("Menu".into(), menu.items);
    for step in steps.chars() {
        match step {
            'A' | 'B' | 'E' | 'O' | 'Z' => cascade.step(MenuStep::Letter(step)),
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
    check("vvvv", "bb");
    check("vvvvv", "a");
    check("^", "bb");
    check("^^^", "b -");
    check("l", "bb");
    check("lh", "a");
    check("vv>", "b c");
    check("vv>v", "b d");
    check("vv>vv", "b c");
    check("vv>^", "b d");
    check("vv><", "b -");
    check("vv><v", "e");
    check("v>", "a");
    check("v<", "a");
}

#[test]
fn letters_select_the_next_item_that_begins_with_them() {
    check("E", "e");
    check("EE", "e");
    check("B", "b -");
    check("BB", "bb");
    check("BBB", "b -");
    check("EB", "bb");
    // Neither a disabled item nor an unknown letter.
    check("vO", "a");
    check("vZ", "a");
    // The keys act on the submenu.
    check("vv>Z", "b c");
    check("vv>A", "b c");
}

#[test]
fn the_pointer_opens_and_keeps_submenus() {
    check("b", "b -");
    check("b>b", "b -");
    check("bx", "b -");
    check("bo", "b -");
    check("b>x", "b c");
}
