//! The search bar: matches, options, and the focus.

use gpui_kit::{Role, TestAppContext};

use super::open;
use crate::view::search::SearchState;

#[gpui_kit::test]
fn the_search_goes_from_match_to_match(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let lines: String = (0..300).map(|ix| format!("line {ix}\r\n")).collect();
    story.print(&lines);
    story.keys("ctrl-shift-f");
    story.cx.simulate_input("line 12");
    story.settle();
    // "line 12" is the start of eleven lines; the last one is the nearest above the end.
    let current = |view: &crate::TerminalView| view.current_match().map(|span| span.start.line.0);
    assert_eq!(story.read(current), Some(129));
    assert!(
        story.rows().contains(&"line 129".to_owned()),
        "the match is in view"
    );
    assert_eq!(story.program().take_input(), "", "typed text is the bar's");
    story.keys("shift-enter");
    assert_eq!(story.read(current), Some(128));
    story.keys("enter enter");
    assert_eq!(story.read(current), Some(12), "the search wraps around");
    assert!(
        story
            .labels(Role::Status)
            .iter()
            .any(|it| it.contains("in view"))
    );
    story.keys("escape");
    assert!(story.read(|view| view.search.bar.is_none() && view.matches().is_empty()));
    assert_eq!(story.sent("x"), "x", "the focus returns to the terminal");
}

#[gpui_kit::test]
fn options_change_what_is_found(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.print("Foo foobar foo.x");
    story.keys("ctrl-shift-f");
    story.cx.simulate_input("foo");
    story.settle();
    assert_eq!(story.read(|view| view.matches().len()), 3);
    story.keys("alt-c");
    assert_eq!(story.read(|view| view.matches().len()), 2);
    story.keys("alt-w");
    assert_eq!(story.read(|view| view.matches().len()), 1);
    story.keys("alt-w alt-r");
    story.cx.simulate_input("[b.]");
    story.settle();
    assert_eq!(story.read(|view| view.matches().len()), 2);
    story.cx.simulate_input("(");
    story.settle();
    assert!(story.read(|view| view.search.error.is_some()));
    story.keys("alt-r");
    assert_eq!(story.read(|view| view.search.state), SearchState::NoMatch);
}
