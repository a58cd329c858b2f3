//! Completions that the grammar and the visible definitions determine.

use super::{FileDefinitions, closings};
use crate::local::story::Story;

/// Returns the completions at `|` as `old -> new`.
fn suggestions(language: &str, text: &str) -> Vec<String> {
    let state = Story::new(language, text).state(0);
    let facts = FileDefinitions::of(&state);
    let suggestions = closings(&state, [&facts].into_iter());
    suggestions
        .iter()
        .map(|it| format!("{} -> {}", state.snapshot.text(it.span), it.new))
        .collect()
}

#[track_caller]
fn check(language: &str, text: &str, expected: &[&str]) {
    assert_eq!(suggestions(language, text), expected, "{text}");
}

const ENUM: &str = "enum Kind { One, Two(u8), Three { a: u8 } }\n";

#[test]
fn the_next_match_arm_names_a_missing_variant() {
    check(
        "Rust",
        &format!(
            "{ENUM}fn f(k: Kind) {{\n    match k {{\n        Kind::One => 1,\n        |\n    }}\n}}\n"
        ),
        &[" -> Kind::Two(..) => "],
    );
    check(
        "Rust",
        &format!(
            "{ENUM}fn f(k: Kind) {{\n    match k {{\n        Kind::One => {{ a(b) }}\n        Kind::Two(_) => 2,\n        Ki|\n    }}\n}}\n"
        ),
        &[" -> nd::Three { .. } => "],
    );
}

#[test]
fn no_arm_is_suggested_in_doubt() {
    // A catch-all, no arm yet, all arms there, another enumeration.
    for arms in [
        "_ => 1,\n        |",
        "Kind::One => 1,\n        _ => 2,\n        |",
        "|",
        "Kind::One => 1,\n        Kind::Two(_) => 2,\n        Kind::Three { .. } => 3,\n        |",
        "Kind::One => 1,\n        Other::Two => 2,\n        |",
        "Kind::One => 1,\n        Kind::Four => 2,\n        |",
        "Kind::One => |",
    ] {
        check(
            "Rust",
            &format!("{ENUM}fn f(k: Kind) {{\n    match k {{\n        {arms}\n    }}\n}}\n"),
            &[],
        );
    }
    check(
        "Rust",
        "enum Kind { One, Two }\nmod m { enum Kind { Three } }\nfn f(k: Kind) {\n    match k {\n        Kind::One => 1,\n        |\n    }\n}\n",
        &[],
    );
}

const STRUCT: &str = "struct Point { left: u8, upper: u8, name: String }\n";

#[test]
fn the_next_field_uses_a_variable_of_its_name() {
    check(
        "Rust",
        &format!("{STRUCT}fn f() {{\n    let p = Point {{ left: 1, | }};\n}}\n"),
        &[" -> upper: "],
    );
    check(
        "Rust",
        &format!(
            "{STRUCT}fn f(name: String) {{\n    let p = Point {{ left: 1, upper: g(2, 3), | }};\n}}\n"
        ),
        &[" -> name,"],
    );
    check(
        "Rust",
        &format!("{STRUCT}fn f() {{\n    let p = Point {{ | }};\n}}\n"),
        &[],
    );
    check(
        "Rust",
        &format!("{STRUCT}fn f() {{\n    let p = Point {{ left: 1, ..q, | }};\n}}\n"),
        &[],
    );
    check("Rust", "struct Point { left: u8, | }\n", &[]);
}

#[test]
fn the_next_keyword_argument_is_named() {
    let head = "def draw(self, x, y=1, colour=2, width=3):\n    pass\n\n";
    check(
        "Python",
        &format!("{head}draw(1, y=2, |)\n"),
        &[" -> colour="],
    );
    check(
        "Python",
        &format!("{head}draw(1, y=2, w|)\n"),
        &[" -> idth="],
    );
    check("Python", &format!("{head}draw(1, |)\n"), &[]);
    check("Python", &format!("{head}draw(1, z=2, |)\n"), &[]);
    check("Python", &format!("{head}draw(*all, y=1, |)\n"), &[]);
}

#[test]
fn an_unclosed_block_gets_its_end() {
    check("Rust", "fn f() {\n    a();\n|\n\nfn g() {}\n", &[" -> }"]);
    check(
        "Rust",
        "fn f() {\n    a();\n    |\n\nfn g() {}\n",
        &["     -> }"],
    );
    check("Ruby", "def f\n  a\n  |\n\ndef g\nend\n", &["   -> end"]);
    check("Bash", "if a; then\n  b\n  |\n", &["   -> fi"]);
}

#[test]
fn a_closed_or_empty_block_gets_no_end() {
    check("Rust", "fn f() {\n    a();\n    |\n}\n", &[]);
    check("Rust", "fn f() {\n    |\n\nfn g() {}\n", &[]);
    check("Rust", "fn f() {\n    a();\n    |\n    b();\n}\n", &[]);
    check(
        "Ruby",
        "def f\n  if a\n    b\n    |\n  else\n    c\n  end\nend\n",
        &[],
    );
    check("Python", "def f():\n    a()\n    |\n\nb()\n", &[]);
}
