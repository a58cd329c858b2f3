//! Brackets closed by the text after them.

use super::{OpenBrackets, closers};

fn brackets(text: &str) -> Vec<(usize, char)> {
    let found = text.char_indices().filter(|(_, ch)| "()[]{}".contains(*ch));
    found.collect()
}

/// Checks what `after` closes of `before`: the brackets left open, and the number of stray ones.
fn check(before: &str, after: &str, unclosed: &str, stray: usize) {
    let closing = OpenBrackets::of(&brackets(before)).closed_by(&brackets(after));
    let left: String = closing.unclosed.iter().map(|(_, ch)| *ch).collect();
    assert_eq!(
        (left.as_str(), closing.stray),
        (unclosed, stray),
        "{before} + {after}"
    );
}

#[test]
fn brackets_are_closed_from_the_inside() {
    check("{ f(", ") }", "", 0);
    check("{ f([", ") }", "[", 0);
    check("{ f(", "}", "(", 0);
    check("{ { ", "}", "{", 0);
    check("{ ", "} }", "", 1);
    check("{ f()", ") }", "", 1);
    check("{ ", "{ x() } }", "", 0);
}

#[test]
fn closers_are_in_the_order_of_the_text() {
    let open = OpenBrackets::of(&brackets("a { (x) f(["));
    assert_eq!(closers(open.from(0)), "])}");
    assert_eq!(closers(open.from(3)), "])");
}
