//! Rows that stay in sight.

use base::Row;

use crate::tests::Marked;

/// The rows shown above the row with the caret.
fn check(language: &str, before: &str, expected: &[&str]) {
    let marked = Marked::new(language, before);
    let row = marked.text.point_at(marked.caret()).row;
    let rows = marked.syntax.context_rows(&marked.text, row);
    let shown: Vec<String> = rows
        .iter()
        .map(|row| marked.text.row_text(*row).into_owned())
        .collect();
    assert_eq!(shown, expected, "{language}");
}

#[test]
fn heads_of_what_encloses_a_row() {
    check(
        "Rust",
        "impl A {\n    fn f() {\n        if x {\n            yˇ;\n        }\n    }\n}\n",
        &["impl A {", "    fn f() {", "        if x {"],
    );
    check("Rust", "impl A {\n    fn f() {ˇ\n    }\n}\n", &["impl A {"]);
    check("Rust", "fn f() {\n    a\n}\nˇ\nfn g() {}\n", &[]);
    check(
        "Python",
        "class A:\n    def f(self):\n        for x in y:\n            zˇ\n",
        &["class A:", "    def f(self):", "        for x in y:"],
    );
    check(
        "TypeScript",
        "class A {\n  f() {\n    return () => {\n      xˇ;\n    };\n  }\n}\n",
        &["class A {", "  f() {", "    return () => {"],
    );
    check(
        "Go",
        "package a\nfunc f() {\n\tfor {\n\t\tx()ˇ\n\t}\n}\n",
        &["func f() {", "\tfor {"],
    );
    check(
        "C",
        "int f(void)\n{\n    while (a) {\n        bˇ;\n    }\n}\n",
        &["int f(void)", "    while (a) {"],
    );
    check(
        "Ruby",
        "class A\n  def f\n    xˇ\n  end\nend\n",
        &["class A", "  def f"],
    );
    check(
        "Lua",
        "function f()\n  if a then\n    b()ˇ\n  end\nend\n",
        &["function f()", "  if a then"],
    );
    check(
        "HTML",
        "<div>\n  <p>\n    aˇ\n  </p>\n</div>\n",
        &["<div>", "  <p>"],
    );
    check(
        "JSON",
        "{\n  \"a\": {\n    \"b\": 1ˇ\n  }\n}\n",
        &["  \"a\": {"],
    );
    check("YAML", "a:\n  b:\n    cˇ: 1\n", &["a:", "  b:"]);
    check("Markdown", "# A\n\n## B\n\ntextˇ\n", &["# A", "## B"]);
}

#[test]
fn rows_around_an_unparsed_injection_are_unknown() {
    let marked = Marked::new(
        "Rust",
        "fn f() {\n    m! {\n        fn g() {\n            xˇ\n        }\n    }\n}\n",
    );
    let row = marked.text.point_at(marked.caret()).row;
    assert_eq!(marked.syntax.parsed_context_rows(&marked.text, row), None);
    let rows = marked.syntax.context_rows(&marked.text, row);
    assert!(rows.contains(&Row(2)), "{rows:?}");
    assert_eq!(
        marked.syntax.parsed_context_rows(&marked.text, row),
        Some(rows)
    );
}

#[test]
fn a_row_that_is_not_there_has_none() {
    let marked = Marked::new("Rust", "fn f() {}\n");
    assert!(marked.syntax.context_rows(&marked.text, Row(99)).is_empty());
}
