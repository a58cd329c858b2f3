//! Selected text is dragged with the pointer: within a pane, to another pane, onto what takes no text.

use base::ByteOffset;
use editor::Editor;
use gpui_kit::test::TestQueryExt as _;
use gpui_kit::{
    Bounds, Entity, Modifiers, MouseButton, MouseDownEvent, MouseMoveEvent, MouseUpEvent, Pixels,
    Point, TestAppContext, point, px,
};

use super::{Story, open};
use crate::actions::pane;

/// `main.rs` at the left with `fn ` selected, and another text at the right.
fn two_panes(other: &str, cx: &mut TestAppContext) -> Story {
    let mut story = open(cx);
    story.open_file("main.rs").act(pane::SplitRight);
    story.open_file(other);
    story.act(pane::FocusLeft);
    story.keys("ctrl-home shift-right shift-right shift-right");
    story
}

fn editor_at(story: &mut Story, pane: usize) -> Entity<Editor> {
    story.read(|workbench, _| {
        let layout = workbench.layout();
        let pane = layout.tree().panes()[pane];
        let item = layout.tabs(pane).and_then(|tabs| tabs.active());
        let editor = item.and_then(|item| workbench.item(item)?.editor().cloned());
        editor.expect("a text")
    })
}

fn text_at(story: &mut Story, pane: usize) -> String {
    let editor = editor_at(story, pane);
    story.cx.update(|_, cx| {
        let model = editor.read(cx).model().clone();
        model.read(cx).snapshot().to_string()
    })
}

pub(super) fn bounds_of(story: &mut Story, label: &str, nth: usize) -> Bounds<Pixels> {
    let elements = story.cx.update(|window, _| window.elements());
    let mut labelled = elements.iter().filter(|it| it.label() == Some(label));
    let element = labelled.nth(nth);
    element.unwrap_or_else(|| panic!("no {label}")).bounds()
}

/// A pixel of a text whose nearest place is `offset`.
fn pixel(story: &mut Story, pane: usize, nth: usize, offset: usize) -> Point<Pixels> {
    let editor = editor_at(story, pane);
    let title = story.cx.update(|_, cx| {
        let model = editor.read(cx).model().clone();
        model.read(cx).document().title()
    });
    let bounds = bounds_of(story, &format!("{title}, text"), nth);
    let mut y = bounds.top() + px(2.0);
    while y < bounds.bottom() {
        let mut x = bounds.left() + px(30.0);
        while x < bounds.right() {
            let at = point(x, y);
            let found = story
                .cx
                .update(|_, cx| editor.update(cx, |editor, cx| editor.offset_at(at, cx)));
            if found == Some(ByteOffset(offset)) {
                return at;
            }
            x += px(2.0);
        }
        y += px(4.0);
    }
    panic!("{offset} is not on the screen");
}

pub(super) fn drag(
    story: &mut Story,
    from: Point<Pixels>,
    to: Point<Pixels>,
    modifiers: Modifiers,
) {
    let button = MouseButton::Left;
    story.cx.simulate_event(MouseMoveEvent {
        position: from,
        pressed_button: None,
        modifiers: Modifiers::default(),
    });
    story.cx.simulate_event(MouseDownEvent {
        position: from,
        button,
        modifiers: Modifiers::default(),
        click_count: 1,
        first_mouse: false,
    });
    for part in [0.5, 1.0] {
        let position = point(
            from.x + (to.x - from.x) * part,
            from.y + (to.y - from.y) * part,
        );
        story.cx.simulate_event(MouseMoveEvent {
            position,
            pressed_button: Some(button),
            modifiers,
        });
    }
    story.cx.simulate_event(MouseUpEvent {
        position: to,
        button,
        modifiers,
        click_count: 1,
    });
    story.settle();
}

const MAIN: &str = "fn main() {\n    old();\n}\n\nfn old() {}\n";

#[gpui_kit::test]
fn text_dropped_on_another_pane_goes_into_its_text(cx: &mut TestAppContext) {
    let mut story = two_panes("lib", cx);
    let (from, to) = (pixel(&mut story, 0, 0, 1), pixel(&mut story, 1, 0, 20));
    let before = text_at(&mut story, 1);
    drag(&mut story, from, to, Modifiers::default());
    assert_eq!(text_at(&mut story, 0), &MAIN[3..]);
    let (head, tail) = before.split_at(20);
    assert_eq!(text_at(&mut story, 1), format!("{head}fn {tail}"));
    // The keyboard follows the text.
    story.input("X");
    assert_eq!(text_at(&mut story, 1), format!("{head}X{tail}"));
    story.act(editor::Undo).act(editor::Undo);
    assert_eq!(text_at(&mut story, 1), before);
}

#[gpui_kit::test]
fn text_dropped_with_control_is_copied(cx: &mut TestAppContext) {
    let mut story = two_panes("lib", cx);
    let (from, to) = (pixel(&mut story, 0, 0, 1), pixel(&mut story, 1, 0, 4));
    let control = story.cx.update(|_, cx| Modifiers::secondary_key(cx));
    drag(&mut story, from, to, control);
    assert_eq!(text_at(&mut story, 0), MAIN);
    assert!(text_at(&mut story, 1).starts_with("pub fn fn one"));
}

#[gpui_kit::test]
fn text_dropped_on_another_view_of_its_file_moves(cx: &mut TestAppContext) {
    let mut story = two_panes("main", cx);
    let (from, to) = (pixel(&mut story, 0, 0, 1), pixel(&mut story, 1, 1, 17));
    drag(&mut story, from, to, Modifiers::default());
    let moved = format!("{}fn {}", &MAIN[3..17], &MAIN[17..]);
    assert_eq!(text_at(&mut story, 0), moved);
    assert_eq!(text_at(&mut story, 1), moved);
}

#[gpui_kit::test]
fn text_dropped_beside_texts_stays(cx: &mut TestAppContext) {
    for label in ["Project files", "Search files, symbols, meaning"] {
        let mut app = cx.new_app();
        let mut story = two_panes("lib", &mut app);
        let other = text_at(&mut story, 1);
        let from = pixel(&mut story, 0, 0, 1);
        let to = bounds_of(&mut story, label, 0).center();
        drag(&mut story, from, to, Modifiers::default());
        assert_eq!(text_at(&mut story, 0), MAIN, "{label}");
        assert_eq!(text_at(&mut story, 1), other, "{label}");
        let to = pixel(&mut story, 1, 0, 4);
        // Nothing hangs on the pointer afterwards.
        drag(&mut story, to, to, Modifiers::default());
        assert_eq!(text_at(&mut story, 0), MAIN, "{label}");
        assert_eq!(text_at(&mut story, 1), other, "{label}");
    }
}
