//! Texts that a program may begin with, and texts with an error.

use super::{TrialParse, readable_bytes};
use crate::tests::{SAMPLES, unmark};
use crate::{Budget, language_named};

/// Checks that the parser reads a text up to `ˇ`.
fn check(language: &str, marked: &str) {
    let (text, carets, _) = unmark(marked);
    let language = language_named(language).expect("a language");
    language.prepare();
    let read = readable_bytes(language, &text, &mut Budget::unlimited());
    assert_eq!(read, Some(carets[0].0), "{marked}");
}

#[test]
fn unfinished_code_is_read_to_its_end() {
    check("rust", "fn nameˇ");
    check("rust", "fn a() { let x = f(1, [2, {ˇ");
    check("rust", "fn a() { b.c().ˇ");
    check("python", "def f(a,\n      b=1):\n    if a:ˇ");
    check(
        "python",
        "class A:\n    def b(self):\n        return {'a': [1,ˇ",
    );
    check("javascript", "const f = async (a) => {\n  if (a) {ˇ");
    check("typescript", "interface A { b: string;ˇ");
    check("go", "package a\n\nfunc f(x int) error {\n\tif x == 1 {ˇ");
}

#[test]
fn reading_ends_before_the_first_wrong_token() {
    check("rust", "fn a() {ˇ ) let x = 1; }");
    check("rust", "fn a() { let x = 1; defˇ b(): pass }");
    check("python", "def f():\n    x = (1, 2ˇ]\n");
    check("javascript", "const aˇ const b = 1;");
    check("go", "package a\n\nfunc f() {\n\tx := [1ˇ)\n");
}

#[test]
fn a_correct_text_is_read_whole() {
    for (name, sample) in SAMPLES {
        let language = language_named(name).expect("a language");
        language.prepare();
        let read = readable_bytes(language, sample, &mut Budget::unlimited());
        assert_eq!(read, Some(sample.len()), "{name}");
    }
}

#[test]
fn a_spent_budget_gives_no_answer() {
    let language = language_named("rust").expect("rust");
    language.prepare();
    let text = "fn a() { b(); }\n".repeat(100);
    let mut is_spent = || true;
    assert_eq!(
        readable_bytes(language, &text, &mut Budget::until(&mut is_spent)),
        None
    );
    assert!(TrialParse::new(language, &text, &mut Budget::until(&mut is_spent)).is_none());
}

#[test]
fn brackets_are_those_of_the_code() {
    let brackets = |name: &str, text: &str| -> String {
        let language = language_named(name).expect("a language");
        language.prepare();
        let parsed = TrialParse::new(language, text, &mut Budget::unlimited());
        let found = parsed.expect("a parse that ends").brackets(text);
        for (at, ch) in &found {
            assert!(text[*at..].starts_with(*ch), "{text}");
        }
        found.iter().map(|(_, ch)| *ch).collect()
    };
    assert_eq!(
        brackets("rust", "fn a() { b(\")\", '['); /* } */ }"),
        "(){()}"
    );
    assert_eq!(brackets("javascript", "f(`a${b[0]}`)"), "({[]})");
    assert_eq!(brackets("go", "package a\n\nfunc f() { if x {"), "(){{");
}
