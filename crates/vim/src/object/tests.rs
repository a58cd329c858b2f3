//! Tests of text objects that Neovim lacks; the others are compared with it.

use text::Snapshot;

use super::{ObjectRequest, TextObject};
use crate::lines::Lines;

/// Asserts the text of an object at the `|` of a text.
#[track_caller]
fn check(object: TextObject, is_around: bool, marked: &str, expected: Option<&str>) {
    let at = marked.find('|').expect("a caret");
    let lines = Lines::new(Snapshot::new(&marked.replacen('|', "", 1)), 4);
    let request = ObjectRequest {
        anchor: None,
        head: lines.pos(at.into()),
        is_lines: false,
        count: 1,
        is_around,
    };
    let found = object.select(&lines, &request).ok().map(|found| {
        let start = lines.offset(found.anchor);
        let end = lines.offset(lines.behind(found.head));
        lines.text().text(base::Span::new(start, end)).into_owned()
    });
    assert_eq!(found.as_deref(), expected, "{marked}");
}

#[test]
fn arguments_are_taken_with_one_comma() {
    let check = |is_around, marked, expected| {
        check(TextObject::Argument, is_around, marked, Some(expected))
    };
    check(false, "f(a, |bc, d)", "bc");
    check(true, "f(a, |bc, d)", "bc, ");
    check(true, "f(a, |bc)", ", bc");
    check(true, "f(|a)", "a");
    check(false, "f(g(1, 2), |[3, 4])", "[3, 4]");
    check(false, "f(g(1, |2), 3)", "2");
    check(false, "f(\"a, b\", |c)", "c");
}

#[test]
fn an_empty_list_has_no_argument() {
    check(TextObject::Argument, false, "f(|)", None);
    check(TextObject::Argument, false, "a|b", None);
}

#[test]
fn tags_nest_and_may_lack_an_end() {
    let check =
        |is_around, marked, expected| check(TextObject::Tag, is_around, marked, Some(expected));
    check(false, "<a><b>x|y</b></a>", "xy");
    check(true, "<a><b>x|y</b></a>", "<b>xy</b>");
    check(false, "<p><br>x|y</p>", "<br>xy");
    check(
        true,
        "<div class=\"|c\"><img/>z</div>",
        "<div class=\"c\"><img/>z</div>",
    );
}
