//! Tests of transforms.

use super::Transform;

fn check(transform: &str, text: &str, expected: &str) {
    let (parsed, len) = Transform::parse(transform).unwrap();
    assert_eq!(len, transform.len());
    assert_eq!(parsed.apply(text), expected, "{transform}");
}

#[test]
fn matches_are_replaced_by_the_format() {
    check("a/b/}", "aa", "ba");
    check("a/b/g}", "aa", "bb");
    check("A/b/gi}", "aa", "bb");
    check(r"(\w+)_(\w+)/$2 ${1}/}", "left_right", "right left");
    check(r"\//\//g}", "a/b", "a/b");
    check(r"$/\n\$\t/}", "a", "a\n$\t");
}

#[test]
fn modifiers_change_the_spelling() {
    check("(.*)/${1:/upcase}/}", "some name", "SOME NAME");
    check("(.*)/${1:/capitalize}/}", "some Name", "Some Name");
    check("(.*)/${1:/pascalcase}/}", "some_name", "SomeName");
    check("(.*)/${1:/camelcase}/}", "some-name", "someName");
    check("(.*)/${1:/snakecase}/}", "someName", "some_name");
    check("(.*)/${1:/unknown}/}", "same", "same");
}

#[test]
fn conditions_depend_on_the_group() {
    check("(a)|b/${1:+is a}/}", "a", "is a");
    check("(a)|b/${1:+is a}/}", "b", "");
    check("(a)|b/${1:?yes:no}/}", "b", "no");
    check("(a)|b/${1:-none}/}", "a", "a");
    check("(a)|b/${1:none}/}", "b", "none");
    check("x/${0:-none}/}", "b", "none");
}

#[test]
fn an_unsupported_expression_changes_nothing() {
    check("(?=a)/b/}", "a", "a");
    check("(/b/}", "a", "a");
}

#[test]
fn incomplete_transforms_are_rejected() {
    for text in ["", "a", "a/b", "a/b/", "a/b/1}", "a\\/b/}"] {
        assert!(Transform::parse(text).is_none(), "{text}");
    }
}
