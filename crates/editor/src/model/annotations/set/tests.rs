//! Tests sets of annotations: edits, answers about parts, and comparison.

use base::Span;
use text::{Buffer, Edit, EditOrigin, Timestamp};

use super::{AnnotationEdges, AnnotationSet};

/// Annotates `spans` in `text` as words, replaces bytes, and checks the texts of the annotations.
fn check(text: &str, spans: &[(usize, usize)], edits: &[(usize, usize, &str)], expected: &[&str]) {
    check_edges(AnnotationEdges::Word, text, spans, edits, expected);
}

fn check_edges(
    edges: AnnotationEdges,
    text: &str,
    spans: &[(usize, usize)],
    edits: &[(usize, usize, &str)],
    expected: &[&str],
) {
    let mut buffer = Buffer::new(text);
    let spans = spans
        .iter()
        .map(|(start, end)| (Span::from(*start..*end), ()));
    let mut set = AnnotationSet::new(spans);
    let edits: Vec<_> = edits
        .iter()
        .map(|(start, end, new)| Edit::new(Span::from(*start..*end), *new))
        .collect();
    let change = buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
    let after = buffer.snapshot();
    set.follow(&change, &after, edges);
    let texts: Vec<String> = set
        .touching(after.full_span())
        .into_iter()
        .map(|(span, ())| after.text(span).into_owned())
        .collect();
    assert_eq!(texts, expected, "{text} {edits:?}");
}

#[test]
fn typed_word_chars_lengthen_a_token() {
    check(
        "foo = bar",
        &[(0, 3), (6, 9)],
        &[(3, 3, "d_é")],
        &["food_é", "bar"],
    );
    check(
        "foo = bar",
        &[(0, 3), (6, 9)],
        &[(3, 3, "d(x")],
        &["food", "bar"],
    );
    check(
        "foo = bar",
        &[(0, 3), (6, 9)],
        &[(3, 3, ".")],
        &["foo", "bar"],
    );
    check(
        "foo = bar",
        &[(0, 3), (6, 9)],
        &[(6, 6, "x")],
        &["foo", "bar"],
    );
    check(
        "foo = bar",
        &[(0, 3), (6, 9)],
        &[(7, 7, "x")],
        &["foo", "bxar"],
    );
}

#[test]
fn other_typed_chars_end_a_token() {
    check(
        "foo = bar",
        &[(0, 3), (6, 9)],
        &[(1, 1, " ")],
        &["f", "bar"],
    );
    check(
        "foo = bar",
        &[(0, 3), (6, 9)],
        &[(1, 2, "x y")],
        &["fx", "bar"],
    );
    check("foo = bar", &[(0, 3), (6, 9)], &[(2, 7, "")], &["fo", "ar"]);
    check(
        "foo = bar",
        &[(0, 3), (6, 9)],
        &[(2, 7, "d")],
        &["fod", "ar"],
    );
}

#[test]
fn text_at_several_carets_lengthens_and_ends_tokens() {
    let edits = [(3, 3, "x"), (5, 5, "("), (6, 6, "("), (7, 7, "y")];
    check("foo barr", &[(0, 3), (4, 8)], &edits, &["foox", "b"]);
}

#[test]
fn text_at_the_edges_of_other_annotations() {
    let check = |edges, edits: &[(usize, usize, &str)], expected: &[&str]| {
        check_edges(edges, "a #f00;", &[(2, 6)], edits, expected);
    };
    let grow = AnnotationEdges::Growing;
    check(grow, &[(2, 2, "x ")], &["x #f00"]);
    check(grow, &[(6, 6, "0")], &["#f000"]);
    check(grow, &[(2, 2, "("), (4, 4, "-"), (6, 6, ")")], &["(#f-00)"]);
    check(grow, &[(2, 6, "red")], &["red"]);
    check(grow, &[(1, 1, "x"), (7, 7, "x")], &["#f00"]);
    check(grow, &[(1, 7, "")], &[]);
    let fixed = AnnotationEdges::Fixed;
    check(fixed, &[(2, 2, "x"), (6, 6, "0")], &["#f00"]);
}

#[test]
fn sets_are_compared_within_a_span() {
    let set = |spans: &[(usize, usize, char)]| {
        let spans = spans
            .iter()
            .map(|(start, end, value)| (Span::from(*start..*end), *value));
        AnnotationSet::new(spans)
    };
    let known = set(&[(0, 2, 'a'), (2, 4, 'b'), (4, 6, 'c')]);
    let check = |other: &[(usize, usize, char)], expected: bool| {
        let span = Span::from(2..6);
        assert_eq!(known.is_equal_in(span, &set(other)), expected, "{other:?}");
    };
    check(&[(2, 4, 'b'), (4, 6, 'c')], true);
    check(&[(0, 1, 'x'), (2, 4, 'b'), (4, 6, 'c'), (6, 8, 'x')], true);
    check(&[(2, 4, 'b'), (4, 6, 'x')], false);
    check(&[(2, 4, 'b')], false);
    check(&[(2, 3, 'b'), (4, 6, 'c')], false);
}

#[test]
fn deleted_annotations_are_not_found() {
    check(
        "foo = bar",
        &[(0, 3), (4, 4), (6, 9)],
        &[(0, 4, "")],
        &["", "bar"],
    );
    check(
        "foo = bar",
        &[(0, 3), (6, 9)],
        &[(0, 3, ""), (6, 9, "")],
        &[],
    );
}

#[test]
fn a_part_is_replaced() {
    let set = |spans: &[(usize, usize, char)]| {
        let spans = spans
            .iter()
            .map(|(start, end, value)| (Span::from(*start..*end), *value));
        AnnotationSet::new(spans)
    };
    let check = |before: &[(usize, usize, char)],
                 part: (usize, usize),
                 new: &[(usize, usize, char)],
                 expected: &str| {
        let mut annotated = set(before);
        annotated.replace(Span::from(part.0..part.1), &set(new));
        let values = annotated.touching(Span::from(0..100)).into_iter();
        assert_eq!(values.map(|(_, value)| value).collect::<String>(), expected);
    };
    let before = [(0, 2, 'a'), (2, 4, 'b'), (4, 6, 'c'), (6, 8, 'd')];
    check(
        &before,
        (2, 6),
        &[(2, 3, 'x'), (5, 6, 'y'), (6, 8, 'z')],
        "axyd",
    );
    check(&before, (0, 8), &[], "");
    check(&before, (8, 20), &[(8, 9, 'e'), (9, 9, 'f')], "abcdef");
    check(&[], (0, 8), &[(1, 2, 'x')], "x");
}

#[test]
fn annotations_of_several_answers_follow_one_edit() {
    let mut buffer = Buffer::new("aa........bb");
    let span = |start: usize, end: usize| Span::from(start..end);
    let mut set = AnnotationSet::new([(span(0, 2), 'a'), (span(10, 12), 'b')]);
    let answer = AnnotationSet::new([(span(10, 12), 'c')]);
    set.replace(span(10, 12), &answer);
    let edits = [Edit::new(span(1, 11), "-")];
    let change = buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
    set.follow(&change, &buffer.snapshot(), AnnotationEdges::Word);
    let expected = [(span(0, 1), 'a'), (span(2, 3), 'c')];
    assert_eq!(set.touching(span(0, 3)), expected);
}
