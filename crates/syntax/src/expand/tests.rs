//! Selections that grow, told step by step.

use base::Span;

use crate::tests::{Marked, mark};

/// Expands from the caret; `steps` are the texts selected one after the other.
fn check(language: &str, before: &str, steps: &[&str]) {
    let marked = Marked::new(language, before);
    let mut span = marked.span();
    let mut spans = vec![span];
    for step in steps {
        let next = marked
            .syntax
            .expand(&marked.text, span)
            .expect("a larger span");
        assert_eq!(&marked.text.text(next), step, "{language} {before}");
        assert!(next.covers(span));
        span = next;
        spans.push(span);
    }
    for pair in spans.windows(2).rev() {
        let back = marked
            .syntax
            .shrink(&marked.text, pair[1], marked.span().start);
        assert_eq!(
            back,
            Some(pair[0]),
            "{language} shrinks {}",
            mark(&marked.text.to_string(), &[pair[1]])
        );
    }
}

#[test]
fn rust() {
    check(
        "Rust",
        "fn f() { let a = g(b, \"cˇd ef\"); h() }",
        &[
            "cd",
            "cd ef",
            "\"cd ef\"",
            "b, \"cd ef\"",
            "(b, \"cd ef\")",
            "g(b, \"cd ef\")",
            "let a = g(b, \"cd ef\");",
            "let a = g(b, \"cd ef\"); h()",
            " let a = g(b, \"cd ef\"); h() ",
            "{ let a = g(b, \"cd ef\"); h() }",
            "fn f() { let a = g(b, \"cd ef\"); h() }",
        ],
    );
    check(
        "Rust",
        "// oˇne\n// two\nfn f() {}\n",
        &["one", "// one", "// one\n// two"],
    );
    check("Rust", "r#\"aˇ b\"#", &["a", "a b", "r#\"a b\"#"]);
}

#[test]
fn python() {
    check(
        "Python",
        "def f():\n    if a:\n        xˇ = 1\n    return\n",
        &[
            "x",
            "x = 1",
            "if a:\n        x = 1",
            "if a:\n        x = 1\n    return",
        ],
    );
}

#[test]
fn go() {
    check(
        "Go",
        "package a\nfunc f() {\n\tx.yˇ(1)\n}\n",
        &["y", "x.y", "x.y(1)"],
    );
}

#[test]
fn typescript() {
    check(
        "TypeScript",
        "f(`a${bˇc}`)",
        &[
            "bc",
            "${bc}",
            "a${bc}",
            "`a${bc}`",
            "(`a${bc}`)",
            "f(`a${bc}`)",
        ],
    );
}

#[test]
fn html() {
    check(
        "HTML",
        "<ul><li>oˇne</li></ul>",
        &["one", "<li>one</li>", "<ul><li>one</li></ul>"],
    );
    check("HTML", "<script>f(aˇ)</script>", &["a", "(a)", "f(a)"]);
}

#[test]
fn json_and_yaml() {
    check(
        "JSON",
        "{\"a\": [1, 2ˇ3]}",
        &[
            "23",
            "1, 23",
            "[1, 23]",
            "\"a\": [1, 23]",
            "{\"a\": [1, 23]}",
        ],
    );
    check("YAML", "a:\n  b: cˇd\n", &["cd", "b: cd", "a:\n  b: cd"]);
}

#[test]
fn markdown() {
    check(
        "Markdown",
        "# A\n\nx *yˇ z* w\n",
        &["y", "*y z*", "x *y z* w", "# A\n\nx *y z* w"],
    );
}

#[test]
fn a_word_grows_from_its_edges() {
    check("Rust", "fn f() { ˇab }", &["ab"]);
    check("Rust", "fn f() { abˇ }", &["ab"]);
    check("Rust", "fn f() { «ab» + c }", &["ab + c"]);
}

#[test]
fn the_whole_text_does_not_grow() {
    let marked = Marked::new("Rust", "fn f() {}");
    assert_eq!(
        marked.syntax.expand(&marked.text, marked.text.full_span()),
        None
    );
    assert_eq!(
        marked
            .syntax
            .shrink(&marked.text, Span::at(0.into()), 0.into()),
        None
    );
}
