//! Indents, told as text before and after a line break at `ˇ`.

use base::{ByteOffset, Row};

use super::IndentHint;
use crate::tests::Marked;

/// One level in these tests: a tab where the text has tabs, else four spaces.
fn level(text: &str) -> &'static str {
    if text.contains('\t') { "\t" } else { "    " }
}

fn indent_of(marked: &Marked, hint: IndentHint) -> String {
    let text = marked.text.to_string();
    let row = marked.text.row_text(hint.base).into_owned();
    let mut indent: String = row.chars().take_while(|c| c.is_whitespace()).collect();
    for _ in 0..hint.levels {
        indent.push_str(level(&text));
    }
    for _ in hint.levels..0 {
        indent.truncate(indent.len().saturating_sub(level(&text).len()));
    }
    indent + &" ".repeat(hint.columns as usize)
}

/// Breaks the line at `ˇ` and compares the text and the new caret position.
fn check(language: &str, before: &str, after: &str) {
    let marked = Marked::new(language, before);
    let at = marked.caret();
    let hint = marked.syntax.indent_for_new_line(&marked.text, at);
    let text = marked.text.to_string();
    let (head, tail) = text.split_at(at.0);
    let closer = if hint.is_split {
        let base = IndentHint { levels: 0, ..hint };
        format!("\n{}", indent_of(&marked, base))
    } else {
        String::new()
    };
    let tail = tail.trim_start_matches([' ', '\t']);
    let result = format!("{head}\n{}ˇ{closer}{tail}", indent_of(&marked, hint));
    assert_eq!(result, after, "{language} {hint:?}");
}

/// Gives the row of `ˇ` the indent that is suggested for it.
fn check_row(language: &str, before: &str, after: &str) {
    let marked = Marked::new(language, before);
    let row = marked.text.point_at(marked.caret()).row;
    let hint = marked.syntax.suggested_indent(&marked.text, row);
    let hint = hint.unwrap_or_else(|| panic!("{language} suggests nothing for {before:?}"));
    let start = marked.text.row_start(row);
    let line = marked.text.row_text(row).trim_start().to_owned();
    let end = marked.text.row_end(row);
    let text = marked.text.to_string();
    let result = format!(
        "{}{}{line}{}",
        &text[..start.0],
        indent_of(&marked, hint),
        &text[end.0..]
    );
    assert_eq!(result, after, "{language} {hint:?}");
}

#[test]
fn rust() {
    check("Rust", "fn f() {ˇ}\n", "fn f() {\n    ˇ\n}\n");
    check("Rust", "fn f() {ˇ\n}\n", "fn f() {\n    ˇ\n}\n");
    check(
        "Rust",
        "fn f() {\n    a();ˇ\n}\n",
        "fn f() {\n    a();\n    ˇ\n}\n",
    );
    check(
        "Rust",
        "fn f() {\n    a(b, {ˇ\n}\n",
        "fn f() {\n    a(b, {\n        ˇ\n}\n",
    );
    check(
        "Rust",
        "fn f() {\n    a(\n        b,\n    );ˇ\n}\n",
        "fn f() {\n    a(\n        b,\n    );\n    ˇ\n}\n",
    );
    check(
        "Rust",
        "fn f() {\n    let x = a\n        .b()\n        .c();ˇ\n}\n",
        "fn f() {\n    let x = a\n        .b()\n        .c();\n    ˇ\n}\n",
    );
    check(
        "Rust",
        "fn f() {\n    let x = a\n        .b()ˇ\n}\n",
        "fn f() {\n    let x = a\n        .b()\n        ˇ\n}\n",
    );
    check(
        "Rust",
        "fn f() {\n    let x =ˇ\n}\n",
        "fn f() {\n    let x =\n        ˇ\n}\n",
    );
    check("Rust", "fn f() { // {ˇ\n", "fn f() { // {\n    ˇ\n");
    check(
        "Rust",
        "fn f() {\n    g(\"{\");ˇ\n}\n",
        "fn f() {\n    g(\"{\");\n    ˇ\n}\n",
    );
    check("Rust", "    /// docˇ\n", "    /// doc\n    ˇ\n");
    check(
        "Rust",
        "    match x {\n        A =>ˇ\n",
        "    match x {\n        A =>\n            ˇ\n",
    );
    check(
        "Rust",
        "fn f() {\n    let s = \"aˇ b\";\n}\n",
        "fn f() {\n    let s = \"a\n    ˇb\";\n}\n",
    );
    check(
        "Rust",
        "    /* aˇ\n     */\n",
        "    /* a\n     ˇ\n     */\n",
    );
    check("Rust", "    ˇ\n", "    \n    ˇ\n");
    check("Rust", "fn f(ˇ", "fn f(\n    ˇ");
}

#[test]
fn python() {
    check("Python", "def f(x):ˇ\n", "def f(x):\n    ˇ\n");
    check("Python", "def f(x):  # whyˇ\n", "def f(x):  # why\n    ˇ\n");
    check("Python", "def f(x):ˇ  # why\n", "def f(x):\n    ˇ# why\n");
    check("Python", "if a:\n    returnˇ\n", "if a:\n    return\nˇ\n");
    check(
        "Python",
        "if a:\n    x = f(\n        1,\n    )ˇ\n",
        "if a:\n    x = f(\n        1,\n    )\n    ˇ\n",
    );
    check("Python", "x = [ˇ]\n", "x = [\n    ˇ\n]\n");
    check("Python", "x = {'a': 1}ˇ\n", "x = {'a': 1}\nˇ\n");
    check(
        "Python",
        "def f():\n    s = ':'ˇ\n",
        "def f():\n    s = ':'\n    ˇ\n",
    );
    check_row(
        "Python",
        "if a:\n    b\n    elseˇ:\n",
        "if a:\n    b\nelse:\n",
    );
    check_row(
        "Python",
        "try:\n    b\n    exceptˇ:\n",
        "try:\n    b\nexcept:\n",
    );
    check_row(
        "Python",
        "def f():\n    if a:\n        if b:\n            c\n        elifˇ d:\n",
        "def f():\n    if a:\n        if b:\n            c\n        elif d:\n",
    );
}

#[test]
fn typescript() {
    check(
        "TypeScript",
        "const f = () => {ˇ};\n",
        "const f = () => {\n    ˇ\n};\n",
    );
    check(
        "TypeScript",
        "switch (x) {\n    case 1:ˇ\n}\n",
        "switch (x) {\n    case 1:\n        ˇ\n}\n",
    );
    check(
        "TypeScript",
        "f({\n    a: 1,ˇ\n});\n",
        "f({\n    a: 1,\n    ˇ\n});\n",
    );
    check_row(
        "TypeScript",
        "if (a) {\n    b;\n    }ˇ\n",
        "if (a) {\n    b;\n}\n",
    );
    check_row(
        "TypeScript",
        "switch (x) {\n    case 1:\n        b;\n        case 2:ˇ\n}\n",
        "switch (x) {\n    case 1:\n        b;\n    case 2:\n}\n",
    );
}

#[test]
fn go() {
    check(
        "Go",
        "package a\n\nfunc f() {ˇ}\n\n//\t\n",
        "package a\n\nfunc f() {\n\tˇ\n}\n\n//\t\n",
    );
    check(
        "Go",
        "func f() {\n\tswitch x {\n\tcase 1:ˇ\n\t}\n}\n",
        "func f() {\n\tswitch x {\n\tcase 1:\n\t\tˇ\n\t}\n}\n",
    );
    check_row(
        "Go",
        "func f() {\n\tswitch x {\n\tcase 1:\n\t\ta()\n\t\tcase 2:ˇ\n\t}\n}\n",
        "func f() {\n\tswitch x {\n\tcase 1:\n\t\ta()\n\tcase 2:\n\t}\n}\n",
    );
    check_row(
        "Go",
        "func f() {\n\tswitch x {\n\t\tcase 1:ˇ\n\t}\n}\n",
        "func f() {\n\tswitch x {\n\tcase 1:\n\t}\n}\n",
    );
}

#[test]
fn c() {
    check("C", "int f(void)\n{ˇ\n}\n", "int f(void)\n{\n    ˇ\n}\n");
    check(
        "C",
        "void f() {\n    if (a) {ˇ}\n}\n",
        "void f() {\n    if (a) {\n        ˇ\n    }\n}\n",
    );
    check_row(
        "C",
        "void f() {\n    if (a) {\n        b();\n        }ˇ\n}\n",
        "void f() {\n    if (a) {\n        b();\n    }\n}\n",
    );
}

#[test]
fn ruby() {
    check("Ruby", "def fˇ\nend\n", "def f\n    ˇ\nend\n");
    check(
        "Ruby",
        "a.each do |x|ˇ\nend\n",
        "a.each do |x|\n    ˇ\nend\n",
    );
    check("Ruby", "x = 1 if yˇ\n", "x = 1 if y\nˇ\n");
    check("Ruby", "if a then b endˇ\n", "if a then b end\nˇ\n");
    check("Ruby", "def size = @sizeˇ\n", "def size = @size\nˇ\n");
    check("Ruby", "def size(a = 1)ˇ\n", "def size(a = 1)\n    ˇ\n");
    check_row("Ruby", "def f\n    x\n    endˇ\n", "def f\n    x\nend\n");
    check_row("Ruby", "if a\n    b\n    elseˇ\n", "if a\n    b\nelse\n");
    check_row(
        "Ruby",
        "class A\n    def f\n        if x\n            y\n        end\n        endˇ\n",
        "class A\n    def f\n        if x\n            y\n        end\n    end\n",
    );
}

#[test]
fn lua() {
    check("Lua", "function f()ˇ\nend\n", "function f()\n    ˇ\nend\n");
    check("Lua", "if a thenˇ\nend\n", "if a then\n    ˇ\nend\n");
    check(
        "Lua",
        "local f = function(a)ˇ\nend\n",
        "local f = function(a)\n    ˇ\nend\n",
    );
    check_row(
        "Lua",
        "if a then\n    b()\n    elseˇ\n",
        "if a then\n    b()\nelse\n",
    );
    check_row(
        "Lua",
        "function f()\n    for i in x do\n        y()\n    end\n    endˇ\n",
        "function f()\n    for i in x do\n        y()\n    end\nend\n",
    );
}

#[test]
fn bash() {
    check("Bash", "if a; thenˇ\nfi\n", "if a; then\n    ˇ\nfi\n");
    check(
        "Bash",
        "for a in b; doˇ\ndone\n",
        "for a in b; do\n    ˇ\ndone\n",
    );
    check_row(
        "Bash",
        "if a; then\n    b\n    fiˇ\n",
        "if a; then\n    b\nfi\n",
    );
}

#[test]
fn html() {
    check("HTML", "<div>ˇ</div>\n", "<div>\n    ˇ\n</div>\n");
    check(
        "HTML",
        "<div>\n    <p>a</p>ˇ\n</div>\n",
        "<div>\n    <p>a</p>\n    ˇ\n</div>\n",
    );
    check(
        "HTML",
        "<div>\n    <br>ˇ\n</div>\n",
        "<div>\n    <br>\n    ˇ\n</div>\n",
    );
    check(
        "HTML",
        "<script>\n    f(() => {ˇ});\n</script>\n",
        "<script>\n    f(() => {\n        ˇ\n    });\n</script>\n",
    );
    check_row(
        "HTML",
        "<div>\n    <p>a</p>\n    </div>ˇ\n",
        "<div>\n    <p>a</p>\n</div>\n",
    );
}

#[test]
fn json_and_yaml() {
    check("JSON", "{ˇ}\n", "{\n    ˇ\n}\n");
    check(
        "JSON",
        "{\n    \"a\": [1,ˇ\n}\n",
        "{\n    \"a\": [1,\n        ˇ\n}\n",
    );
    check("YAML", "a:ˇ\n", "a:\n    ˇ\n");
    check("YAML", "a:\n    b: 1ˇ\n", "a:\n    b: 1\n    ˇ\n");
    check("YAML", "a: |ˇ\n", "a: |\n    ˇ\n");
}

#[test]
fn yaml_rows_are_placed_by_the_key_of_their_item() {
    let yaml = |before: &str, indent: usize| {
        let caret = format!("\n{}ˇ", " ".repeat(indent));
        check("YAML", before, &before.replace('ˇ', &caret));
    };
    for (row, indent) in [
        ("- key:", 6),
        ("- key: # why:", 6),
        ("- key: 1", 2),
        ("-   key:", 8),
        ("-   key: 1", 4),
        ("    - key:", 10),
        ("    - key: 1", 6),
        ("- - a:", 8),
        ("- - a: 1", 4),
        ("- - a", 2),
        ("- key: |", 6),
        ("- key: >-", 6),
        ("- key: |2+ # text", 6),
        ("- key: &anchor", 6),
        ("- key: !!map", 6),
        ("- \"a: b\":", 6),
        ("- \"a: b\": 1", 2),
        ("- 'it''s': 1", 2),
        ("? key:", 6),
        ("? - a:", 8),
        (": key:", 6),
        ("- a", 0),
        ("- http://x.y", 0),
        ("- \"a: b\"", 0),
        ("- {a: 1}", 0),
        ("- |", 2),
        ("- &anchor", 2),
        ("-", 2),
        ("- -", 4),
        ("key: &anchor", 4),
        ("key: &anchor !!map", 4),
        ("key: |2-", 4),
        ("key: a|", 0),
        ("key: http:", 0),
        ("key: - a", 0),
        ("--- # a:", 0),
        ("# - a:", 0),
    ] {
        yaml(&format!("{row}ˇ\n"), indent);
        yaml(&format!("{row}ˇ"), indent);
    }
}

#[test]
fn yaml_collections_and_block_scalars_are_placed_by_their_key() {
    check("YAML", "- a: [ˇ]\n", "- a: [\n      ˇ\n  ]\n");
    check("YAML", "- [ˇ]\n", "- [\n      ˇ\n  ]\n");
    check(
        "YAML",
        "- a: {\n      b: 1,ˇ\n  }\n",
        "- a: {\n      b: 1,\n      ˇ\n  }\n",
    );
    check(
        "YAML",
        "- a: [\n      1,\n  ]ˇ\n",
        "- a: [\n      1,\n  ]\n  ˇ\n",
    );
    check("YAML", "a: [\n    1,\n]ˇ\n", "a: [\n    1,\n]\nˇ\n");
    check(
        "YAML",
        "run: |\n    - if a:ˇ\n    b\n",
        "run: |\n    - if a:\n    ˇ\n    b\n",
    );
    check(
        "YAML",
        "- a:\n      - b: 1ˇ\n",
        "- a:\n      - b: 1\n        ˇ\n",
    );
}

#[test]
fn comments_behind_openers_do_not_hide_them() {
    check("Python", "if a:  # b: cˇ\n", "if a:  # b: c\n    ˇ\n");
    check("Python", "x = 1  # b:ˇ\n", "x = 1  # b:\nˇ\n");
    check(
        "Ruby",
        "a.each do |x| # bˇ\nend\n",
        "a.each do |x| # b\n    ˇ\nend\n",
    );
    check("Ruby", "loop do # bˇ\nend\n", "loop do # b\n    ˇ\nend\n");
    check(
        "Lua",
        "for i in x do -- bˇ\nend\n",
        "for i in x do -- b\n    ˇ\nend\n",
    );
    check("Lua", "while x doˇ\nend\n", "while x do\n    ˇ\nend\n");
    check("Lua", "repeatˇ\nuntil x\n", "repeat\n    ˇ\nuntil x\n");
    check(
        "Bash",
        "while a; do # bˇ\ndone\n",
        "while a; do # b\n    ˇ\ndone\n",
    );
    check("C", "void f() { // aˇ\n}\n", "void f() { // a\n    ˇ\n}\n");
}

#[test]
fn markdown() {
    check("Markdown", "- a\n    - bˇ\n", "- a\n    - b\n    ˇ\n");
    check(
        "Markdown",
        "```rust\nfn f() {ˇ\n}\n```\n",
        "```rust\nfn f() {\n    ˇ\n}\n```\n",
    );
}

#[test]
fn a_row_without_anything_above_says_nothing() {
    let marked = Marked::new("Rust", "\n\nfn f() {}\n");
    assert_eq!(marked.syntax.suggested_indent(&marked.text, Row(2)), None);
    assert_eq!(
        marked
            .syntax
            .indent_for_new_line(&marked.text, ByteOffset(0))
            .levels,
        0
    );
}
