//! Tests which characters come from the file and which from the edit.

use super::*;

#[test]
fn what_the_edit_keeps_has_the_signs_of_the_file() {
    for (old, there, new, expected) in [
        (
            "say(\"a\", x)",
            "say(\u{201c}a\u{201d}, x)",
            "say(\"a\", y)",
            Some("say(\u{201c}a\u{201d}, y)"),
        ),
        (
            "say(\"a\")",
            "say(\u{201c}a\u{201d})",
            "say(\"b\")",
            Some("say(\u{201c}b\u{201d})"),
        ),
        (
            "it's - here",
            "it\u{2019}s \u{2014} here",
            "it's - there",
            Some("it\u{2019}s \u{2014} there"),
        ),
        (
            "10 km to go",
            "10\u{a0}km to go",
            "10 km to walk",
            Some("10\u{a0}km to walk"),
        ),
        (
            "\"a\" and \"b\"",
            "\u{201c}a\u{201d} and \u{201c}b\u{201d}",
            "\"a\" or \"b\"",
            Some("\u{201c}a\u{201d} or \u{201c}b\u{201d}"),
        ),
        // A changed quote is written as in the new text.
        (
            "x \"a\" y",
            "x \u{201c}a\u{201d} y",
            "x 'a' y",
            Some("x 'a' y"),
        ),
        ("f(\"a\")", "f(\u{201c}a\u{201d})", "f(\"a\", \"b\")", None),
        // The texts differ in more than punctuation.
        ("\"ab\"", "\u{201c}a\u{201d}", "\"ac\"", None),
    ] {
        let carried = text(old, there, new);
        assert_eq!(carried.as_deref(), expected, "{old:?} -> {new:?}");
    }
}

#[test]
fn likeness_counts_words() {
    assert!(is_changed(likeness("say(\"a\", x)", "say(\"a\", y)")));
    assert!(!is_changed(likeness("say(\"a\", x)", "print(\"b\", y)")));
    assert!(!is_changed(likeness("-- \u{201c}\u{201d}", "-- \"\"")));
}
