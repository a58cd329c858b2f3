//! Peek: the places of a symbol below the row of the caret, by the keyboard alone.

use base::{ByteOffset, Row, Span};
use editor::Editor;
use gpui_kit::test::TestWindowExt as _;
use gpui_kit::{Entity, Focusable as _, TestAppContext};
use text::{Author, Edit, RowSpan};

use super::{Story, open, path};
use crate::TabItem;
use crate::documents::Documents;
use crate::workbench::locations::FoundPlace;
use crate::workbench::peek::{self, PeekOrigin};

/// Returns a place in a file of the project, in a row counted from 0.
fn place(name: &str, span: (usize, usize), row: u32, line: &str) -> FoundPlace {
    FoundPlace {
        path: path(&format!("/p/src/{name}")),
        span: Span::from(span.0..span.1),
        rows: RowSpan {
            start: Row(row),
            end: Row(row + 1),
        },
        line: line.to_owned().into(),
    }
}

/// The two functions of `main.rs`, and one of `lib.rs`.
fn places() -> Vec<FoundPlace> {
    vec![
        place("lib.rs", (23, 26), 1, "pub fn two() {}"),
        place("main.rs", (3, 7), 0, "fn main() {"),
        place("main.rs", (29, 32), 4, "fn old() {}"),
    ]
}

fn host(story: &mut Story) -> Entity<Editor> {
    story.read(|workbench, _| {
        let editor = workbench.active_item().and_then(TabItem::editor);
        editor.cloned().expect("a text")
    })
}

fn show(story: &mut Story, places: Vec<FoundPlace>) {
    let (workbench, host) = (story.workbench.clone(), host(story));
    story.cx.update(|window, cx| {
        workbench.update(cx, |workbench, cx| {
            peek::show(
                workbench,
                &host,
                "References".to_owned(),
                places,
                window,
                cx,
            );
        });
    });
    story.settle();
}

/// Returns the selected place and the text that is selected in the shown document.
fn shown(story: &mut Story) -> Option<(usize, String)> {
    let view = story.read(|workbench, _| peek::open_view(workbench))?;
    let is_drawn =
        |window: &mut gpui_kit::Window, _: &mut gpui_kit::App| window.try_find("peek").is_some();
    assert!(story.cx.update(is_drawn), "it is drawn");
    Some(
        story
            .cx
            .update(|_, cx| view.update(cx, |view, cx| view.shown(cx))),
    )
}

fn has_focus(story: &mut Story, editor: &Entity<Editor>) -> bool {
    let focus = story.cx.update(|_, cx| editor.focus_handle(cx));
    story.cx.update(|window, _| focus.is_focused(window))
}

#[gpui_kit::test]
fn keys_move_among_the_places_and_open_one(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs");
    story.keys("ctrl-end");
    show(&mut story, places());
    assert_eq!(shown(&mut story), Some((2, "old".into())), "the nearest");
    story.keys("down").settle();
    assert_eq!(shown(&mut story), Some((0, "two".into())));
    story.keys("up up").settle();
    assert_eq!(shown(&mut story), Some((1, "main".into())));
    story.keys("up pagedown enter").settle();
    assert_eq!(story.tabs(), "main.rs [lib.rs]");
    assert_eq!(shown(&mut story), None);
    let editor = host(&mut story);
    let selected = story
        .cx
        .update(|_, cx| editor.update(cx, |editor, cx| editor.selected_text(cx)));
    assert_eq!(selected, "two");
}

#[gpui_kit::test]
fn the_text_is_not_edited_while_the_peek_has_the_focus(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs");
    let (before, editor) = (story.text(), host(&mut story));
    show(&mut story, places());
    assert!(!has_focus(&mut story, &editor));
    story
        .keys("x backspace delete ctrl-shift-k ctrl-z")
        .settle();
    assert_eq!(story.text(), before);
    assert!(shown(&mut story).is_some());
    story.keys("escape").settle();
    assert_eq!(shown(&mut story), None);
    assert!(has_focus(&mut story, &editor), "the focus returns");
    story.keys("delete").settle();
    assert_ne!(story.text(), before);
}

#[gpui_kit::test]
fn escape_in_the_text_closes_the_peek(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs");
    show(&mut story, vec![places().remove(0)]);
    let editor = host(&mut story);
    story.cx.update(|window, cx| {
        let focus = editor.focus_handle(cx);
        window.focus(&focus, cx);
    });
    story.settle();
    assert_eq!(shown(&mut story), Some((0, "two".into())));
    let has_list = |window: &mut gpui_kit::Window, _: &mut gpui_kit::App| {
        window.try_find("peek-list").is_some()
    };
    assert!(!story.cx.update(has_list), "one place needs no list");
    story.keys("escape").settle();
    assert_eq!(shown(&mut story), None);
    assert!(has_focus(&mut story, &editor));
}

#[gpui_kit::test]
fn a_second_peek_replaces_the_first(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs");
    show(&mut story, places());
    show(&mut story, vec![places().remove(0)]);
    assert_eq!(shown(&mut story), Some((0, "two".into())));
    story.keys("escape").settle();
    let editor = host(&mut story);
    let height = story
        .cx
        .update(|_, cx| editor.update(cx, |editor, cx| editor.display(cx).total_height()));
    assert_eq!(height, 6.0, "no block is left");
}

#[gpui_kit::test]
fn a_file_that_cannot_be_read_leaves_the_others(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs");
    let gone = place("gone.rs", (0, 1), 0, "x");
    show(&mut story, vec![gone, places().remove(0)]);
    assert_eq!(shown(&mut story), Some((0, String::new())));
    story.keys("down").settle();
    assert_eq!(shown(&mut story), Some((1, "two".into())));
}

/// Returns the active text with its caret, for which places are requested.
fn origin(story: &mut Story) -> PeekOrigin {
    let editor = host(story);
    story.cx.update(|_, cx| PeekOrigin {
        revision: editor.read(cx).model().read(cx).snapshot().revision(),
        caret: editor.update(cx, |editor, cx| editor.selections(cx).primary().head),
        editor,
    })
}

#[gpui_kit::test]
fn an_answer_is_not_shown_once_the_user_went_on(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("lib.rs");
    story.open_file("main.rs");
    let mut check = |keys: &str, is_shown: bool, after: &str| {
        let origin = origin(&mut story);
        story.keys(keys).settle();
        let workbench = story.workbench.clone();
        story.cx.update(|window, cx| {
            workbench.update(cx, |workbench, cx| {
                let title = "References".to_owned();
                peek::show_answer(workbench, &origin, title, places(), window, cx);
            });
        });
        story.settle();
        let view = story.read(|workbench, _| peek::open_view(workbench));
        assert_eq!(view.is_some(), is_shown, "{keys}");
        story.keys(after).settle();
        let active = host(&mut story);
        assert!(has_focus(&mut story, &active), "{keys}");
    };
    check("right left", true, "escape");
    check("right", false, "");
    check("x", false, "");
    check("ctrl-p", false, "escape");
    check("ctrl-\\", false, "ctrl-w");
    check("ctrl-n", false, "");
}

#[gpui_kit::test]
fn a_closed_tab_lets_go_of_its_peek(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("README.md");
    story.open_file("main.rs");
    show(&mut story, vec![places().remove(0)]);
    assert!(!story.is_asking() && shown(&mut story).is_some());
    let view = story.read(|workbench, _| peek::open_view(workbench).map(|view| view.downgrade()));
    story.keys("ctrl-w").settle();
    assert_eq!(story.tabs(), "[README.md]");
    assert!(view.expect("a peek").upgrade().is_none());
    let open_texts = story.read(|_, cx| Documents::all(cx).len());
    assert_eq!(open_texts, 1, "the shown document is closed");
    let editor = host(&mut story);
    assert!(has_focus(&mut story, &editor));
}

#[gpui_kit::test]
fn the_focus_returns_from_a_peek_whose_block_is_gone(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs");
    show(&mut story, places());
    let editor = host(&mut story);
    assert!(!has_focus(&mut story, &editor));
    // After more edits than the text keeps, its view starts anew, without blocks.
    story.cx.update(|_, cx| {
        let model = editor.read(cx).model().clone();
        model.update(cx, |model, cx| {
            let edit = Edit::new(Span::at(ByteOffset(0)), "x");
            (0..1100).for_each(|_| model.edit(std::slice::from_ref(&edit), Author::User, cx));
        });
    });
    story.settle();
    assert_eq!(shown(&mut story), None);
    assert!(has_focus(&mut story, &editor));
    // The keys of a peek do not outlive it.
    let before = story.text();
    story.keys("delete").settle();
    assert_ne!(story.text(), before);
}
