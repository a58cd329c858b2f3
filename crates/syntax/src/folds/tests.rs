//! Folds, told as text in which the hidden parts stand as marked spans.

use base::Row;

use crate::tests::{Marked, mark};

/// All folds of a text, marked; where two start in one place the inner one is inside.
fn check(language: &str, marked: &str) {
    let found = Marked::new(language, marked);
    let rows = Row(0)..Row(found.text.row_count());
    let folds = found.syntax.folds(&found.text, rows.clone());
    let spans: Vec<base::Span> = folds
        .iter()
        .map(|fold| base::Span::new(fold.start, fold.end))
        .collect();
    assert_eq!(mark(&found.text.to_string(), &spans), marked, "{language}");
    // Row by row gives the same.
    let by_row: Vec<super::Fold> = (rows.start.0..rows.end.0)
        .filter_map(|row| found.syntax.fold_at(&found.text, Row(row)))
        .collect();
    assert_eq!(by_row, folds, "{language} row by row");
}

#[test]
fn rust() {
    check(
        "Rust",
        "//! One«\n//! two»\n\nuse a;«\nuse b::{c, d};»\n\nfn f(«\n    x: u32,\n») {«\n    if x {«\n        1\n    »} else {«\n        2\n    »}\n»}\n\n// alone\nstruct A {}\n",
    );
    check(
        "Rust",
        "fn f() {«\n    g(«|x| {\n        x\n    }»);\n    m![«\n        1,\n    »];\n»}\n",
    );
}

#[test]
fn python() {
    check(
        "Python",
        "import a«\nfrom b import c»\n\nclass A:«\n    def f(«\n        self,\n    »):«\n        if x:«\n            y»\n        else:«\n            z»\n        return [«\n            1,\n        »]»»\n\nx = 1\n",
    );
    check(
        "Python",
        "def f():«\n    \"\"\"Doc.«\n    more\n    \"\"\"»\n    pass»\n",
    );
}

#[test]
fn typescript() {
    check(
        "TypeScript",
        "import a from 'a';«\nimport b from 'b';»\n/** One«\n * two */»\nexport class A {«\n  f() {«\n    return {«\n      a: 1,\n    »};\n  »}\n»}\n",
    );
}

#[test]
fn go() {
    check(
        "Go",
        "package a\n\nimport («\n\t\"fmt\"\n\t\"os\"\n»)\n\nfunc f() {«\n\tswitch x {«\n\tcase 1:«\n\t\tg()»\n\t»}\n»}\n",
    );
}

#[test]
fn c() {
    check(
        "C",
        "#include <a.h>«\n#include <b.h>»\n#ifdef A«\nint a;\n»#endif\nint f(void)\n{«\n    a();\n»}\n",
    );
}

#[test]
fn ruby() {
    check(
        "Ruby",
        "# one«\n# two»\nclass A«\n  def f«\n    x.each do |y|«\n      y\n    »end\n  »end\n»end\n",
    );
}

#[test]
fn lua() {
    check(
        "Lua",
        "local function f(a)«\n  if a then«\n    b()\n  »end\n»end\nlocal t = {«\n  1,\n»}\n",
    );
}

#[test]
fn html() {
    check(
        "HTML",
        "<div>«\n  <p>a</p>\n  <ul>«\n    <li>b</li>\n  »</ul>\n»</div>\n<script>«\n  function f() {«\n    g();\n  »}\n»</script>\n",
    );
}

#[test]
fn json() {
    check(
        "JSON",
        "{«\n  \"a\": [«\n    1,\n    2\n  »],\n  \"b\": {}\n»}\n",
    );
}

#[test]
fn yaml() {
    check("YAML", "a:«\n  b:«\n    - c\n    - d»\n  e: f»\ng: 1\n");
}

#[test]
fn markdown() {
    check(
        "Markdown",
        "# A«\n\ntext\n\n## B«\n\n```rust«\nfn f() {«\n    g();\n»}\n```»»»\n\n# C\n",
    );
}

#[test]
fn bash() {
    check(
        "Bash",
        "f() {«\n  for a in b; do«\n    c\n  »done\n  if d; then«\n    e\n  »fi\n»}\n",
    );
}

#[test]
fn a_text_without_a_tree_folds_by_indent() {
    let text = text::Snapshot::new("a\n  b\n    c\n\n  d\ne\n\tf\n");
    let folds = super::by_indent::folds(&text, Row(0)..Row(7));
    let spans: Vec<base::Span> = folds
        .iter()
        .map(|fold| base::Span::new(fold.start, fold.end))
        .collect();
    assert_eq!(
        mark(&text.to_string(), &spans),
        "a«\n  b«\n    c»\n\n  d»\ne«\n\tf»\n"
    );
}
