//! Suggestions that fit, that are unfinished, and that are wrong whatever follows.

use base::Span;
use syntax::{Budget, SyntaxTree, language_named};
use text::{Buffer, EditOrigin, Timestamp};

use super::{SyntaxFit, fit, parses_no_worse};
use crate::samples::{state, state_of, suggestion};

/// Checks how `new` fits at the caret of a text.
fn check(language: &str, text: &str, new: &str, expected: SyntaxFit) {
    let state = state(language, text);
    let suggestion = suggestion(&state, Span::at(state.caret), new);
    let found = fit(&state, &suggestion.edits);
    assert_eq!(found, Some(expected), "{text} + {new}");
}

const KEEPS: SyntaxFit = SyntaxFit::Keeps;
const MENDS: SyntaxFit = SyntaxFit::Mends;
const UNFINISHED: SyntaxFit = SyntaxFit::Unfinished;
const BREAKS: SyntaxFit = SyntaxFit::Breaks;

#[test]
fn complete_text_fits() {
    check("rust", "fn a() {\n    ˇ\n}\n", "b(1);", KEEPS);
    check("python", "def a():\n    ˇ\n", "return b(1)", KEEPS);
    check("rust", "fn a() { f(g(1ˇ); }", ")", MENDS);
    check(
        "go",
        "package a\n\nfunc f() {\n\tx := ˇ\n}\n",
        "[]int{1}",
        MENDS,
    );
}

#[test]
fn a_row_that_opens_a_block_or_a_list_is_unfinished() {
    let go = "package a\n\nfunc f() {\n\tˇ\n}\n";
    check("go", go, "if format == \"\" {", UNFINISHED);
    check("go", go, "for _, x := range xs {", UNFINISHED);
    check("go", go, "f(a,", UNFINISHED);
    check("go", go, "x := map[string]int{", UNFINISHED);
    let rust = "fn a() {\n    ˇ\n    c();\n}\n";
    check("rust", rust, "if x {", UNFINISHED);
    check("rust", rust, "let x = foo(", UNFINISHED);
    check("rust", rust, "let x = a.iter()", UNFINISHED);
    check("rust", rust, "match x {", UNFINISHED);
    check("rust", "ˇ\nfn b() {}\n", "pub fn a(", UNFINISHED);
    check("python", "def a():\n    ˇ\n", "x = [", UNFINISHED);
    check(
        "python",
        "def a():\n    ˇ\n    c()\n",
        "x = foo(",
        UNFINISHED,
    );
    check("python", "ˇ\nx = 1\n", "def b(self,", UNFINISHED);
    let script = "export default {\n  ˇ\n};\n";
    check("javascript", script, "plugins: {", UNFINISHED);
    check("typescript", script, "plugins: [", UNFINISHED);
    check("javascript", "ˇ\nb();\n", "const f = (a) => {", UNFINISHED);
    check(
        "typescript",
        "ˇ\nb();\n",
        "export interface A {",
        UNFINISHED,
    );
}

#[test]
fn what_the_user_left_open_may_be_closed_in_part() {
    let text = "fn a() {\n    let x = f(g(\n        ˇ\n}\nfn b() {}\n";
    check("rust", text, "1),", UNFINISHED);
    check(
        "rust",
        "fn a() {\n    if x {\n        if y {\n            b();\n        ˇ\n}\n",
        "}",
        UNFINISHED,
    );
    check(
        "javascript",
        "f({\n  a: [\n    1,\n  ˇ\nb();\n",
        "],",
        UNFINISHED,
    );
}

#[test]
fn a_word_may_be_followed_by_anything() {
    check("rust", "ˇ\nfn b() {}\n", "fn", UNFINISHED);
    check("rust", "fn ˇ\nfn b() {}\n", "name", UNFINISHED);
    check("go", "package a\n\nˇ\n", "func", UNFINISHED);
    check("python", "ˇ\nx = 1\n", "class", UNFINISHED);
    check("typescript", "ˇ\nlet a = 1;\n", "interface", UNFINISHED);
}

#[test]
fn text_in_front_of_text_is_judged_with_it() {
    check("rust", "fn a() {\n    f(ˇb);\n}\n", "a, ", KEEPS);
    check("rust", "fn a() {\n    ˇb();\n}\n", "let x = 1;", KEEPS);
    check("python", "def a():\n    ˇb()\n", "x = 1", UNFINISHED);
    check(
        "rust",
        "fn a() {\n    let x = ˇb();\n}\n",
        "let y = 1;",
        BREAKS,
    );
    check("rust", "fn a() {\n    let x = ˇb();\n}\n", "c() ", BREAKS);
    check("javascript", "const x = ˇb;\n", "a() ", BREAKS);
}

#[test]
fn what_the_suffix_closes_is_not_closed_twice() {
    check("rust", "fn a() {\n    f(1ˇ);\n}\n", ")", BREAKS);
    check("rust", "fn a() {\n    ˇ\n}\n", "b();\n}", BREAKS);
    check("javascript", "f({\n  a: 1,\n  ˇ\n});\n", "b: 2 })", BREAKS);
    check(
        "rust",
        "fn a() {\n    if x {\n        b();\n    ˇ}\n}\n",
        "} else {\n    ",
        KEEPS,
    );
    check(
        "rust",
        "fn a() {\n    if x {\n        b();\n    ˇ\n    }\n}\n",
        "} else {",
        KEEPS,
    );
}

#[test]
fn wrong_tokens_break() {
    let rust = "fn a() {\n    ˇ\n}\n";
    check("rust", rust, "f((1;", BREAKS);
    check("rust", rust, "f(a]);", BREAKS);
    check("rust", rust, "def f(x):", BREAKS);
    check("rust", rust, "if x != nil { return nil, err", BREAKS);
    check("python", "def a():\n    ˇ\n", "if (x) {", BREAKS);
    check("python", "def a():\n    ˇ\n", "let x = 1;", BREAKS);
    check(
        "go",
        "package a\n\nfunc f() {\n\tˇ\n}\n",
        "let x = 1;",
        BREAKS,
    );
    check("javascript", "ˇ\nb();\n", "def f(x):", BREAKS);
    check(
        "rust",
        "fn a() {\n    let x = \n    ˇ\n}\n",
        "1] + 2;",
        BREAKS,
    );
}

#[test]
fn a_row_does_not_end_after_an_element() {
    let rust = "fn a() {\n    ˇ\n    c();\n}\n";
    check("rust", rust, "let x = foo(a, b", BREAKS);
    check("rust", rust, "let x = [1, 2", BREAKS);
    check(
        "go",
        "package a\n\nfunc f() {\n\tˇ\n}\n",
        "x := foo(a",
        BREAKS,
    );
    check(
        "go",
        "package a\n\nfunc f() {\n\tˇ\n}\n",
        "x := \"abc",
        BREAKS,
    );
    check("python", "x = 1\nˇ\ny = 2\n", "z = \"abc", BREAKS);
    check("python", "x = 1\nˇ\ny = 2\n", "\"\"\"Text", UNFINISHED);
    check("rust", rust, "foo(\n        a,\n        b", UNFINISHED);
}

#[test]
fn a_deletion_may_not_break() {
    let state = state("rust", "fn a() { b(1); }ˇ");
    let deletion = suggestion(&state, Span::from(10..11), "");
    assert_eq!(fit(&state, &deletion.edits), Some(BREAKS));
}

#[test]
fn an_open_comment_is_read() {
    check("javascript", "/**\n * ˇ\nf();\n", "What f does", UNFINISHED);
    check(
        "go",
        "package a\n\nˇ\n\nfunc f() {}\n",
        "/* What",
        UNFINISHED,
    );
}

#[test]
fn errors_elsewhere_do_not_count() {
    let text = "fn a() {\n    let x = ;\n}\nfn b() {\n    ˇ\n}\nfn c() { )\n}\n";
    for (new, expected) in [("c(1);", KEEPS), ("if x {", UNFINISHED), ("c(1];", BREAKS)] {
        let state = state("rust", text);
        let suggestion = suggestion(&state, Span::at(state.caret), new);
        let found = fit(&state, &suggestion.edits).expect("a verdict");
        let is_right = found == expected || expected == KEEPS && found != BREAKS;
        assert!(is_right, "{new}: {found:?}");
    }
}

#[test]
fn a_broken_text_may_not_parse_worse() {
    let check = |text: &str, new: &str| {
        let state = state("rust", text);
        parses_no_worse(
            &state,
            &suggestion(&state, Span::at(state.caret), new).edits[0],
        )
    };
    assert!(check("fn a() { let x = ˇ", "f(1)"));
    assert!(check("fn a() { if y { ˇ", "f(1); }"));
    assert!(!check(
        "fn a() { b(); }\nfn c() { let x = 1; ˇ }\nfn d() {}",
        "f((1"
    ));
    assert!(!check("fn a() {\n    ˇ\n}\n", "if x {"));
}

#[test]
fn a_stale_tree_is_good_enough() {
    let language = language_named("rust").expect("rust");
    language.prepare();
    let mut buffer = Buffer::new("fn a() {}\n");
    let mut tree = SyntaxTree::new(language);
    drop(tree.parse(&buffer.snapshot(), &mut Budget::unlimited()));
    let before = buffer.snapshot();
    let change = buffer.replace(Span::from(8..8), " b(", &EditOrigin::typing(Timestamp(0)));
    tree.edit(&before, &buffer.snapshot(), &change);
    let mut state = state_of(&buffer, "", 11.into());
    state.syntax = Some(tree.snapshot());
    let found = |new| fit(&state, &suggestion(&state, Span::from(11..11), new).edits);
    assert_eq!(found("1);"), Some(MENDS));
    assert_eq!(found("c"), Some(UNFINISHED), "it was broken before");
    assert_eq!(found("1];"), Some(BREAKS));
}

#[test]
fn a_check_reads_little_of_a_long_text() {
    let functions = "fn a() {\n    b(1, 2);\n}\n".repeat(5_000);
    let text = format!("{functions}fn c() {{\n    ˇ\n}}\n{functions}");
    check("rust", &text, "if x {", UNFINISHED);
    check("rust", &text, "b(1];", BREAKS);
}

#[test]
fn a_string_that_is_still_open_does_not_hide_what_follows() {
    let text = |caret: &str| format!("fn a() {{\n    f(&[{caret}\n    g(\"x\", '(');\n}}\n");
    check("rust", &text("\"ab\", \"cˇ"), "d\"]);", MENDS);
    check("rust", &text("\"ab\", \"cˇ"), "d\"]", UNFINISHED);
    check("rust", &text("\"ab\", \"cˇ"), "d\"]))", BREAKS);
    let script = "it('a', f(function () {\n  b('cˇ\n  d('e', { g: 1 });\n}));\n";
    check("javascript", script, "d');", MENDS);
}

#[test]
fn a_row_before_the_text_of_the_next_row_is_apart() {
    let go = "package a\n\nfunc f() {\n\tfor _, x := range yˇ// Next.\n\tg()\n}\n";
    check("go", go, "s {", UNFINISHED);
    let script = "f(function () {\n  g(ˇh(1);\n});\n";
    check("javascript", script, "a, b);\n  c();", MENDS);
    check(
        "typescript",
        "ˇexport type A = { b: string };\n",
        "type B<T> =",
        UNFINISHED,
    );
    check(
        "python",
        "class A:\n    ˇx: int = 1\n",
        "\"\"\"Text",
        UNFINISHED,
    );
}

#[test]
fn a_bracket_before_text_may_be_closed_later() {
    let script = "function a() {\n  return ˇ b +\n    c;\n}\n";
    check("javascript", script, "(", UNFINISHED);
    check(
        "rust",
        "fn a() {\n    let x = ˇb + c;\n}\n",
        "f(",
        UNFINISHED,
    );
    check(
        "go",
        "package a\n\nfunc f() {\n\tx := ˇy\n}\n",
        "g(",
        UNFINISHED,
    );
    check("rust", "fn a() {\n    let x = ˇb + c;\n}\n", "f(1 ", BREAKS);
}

#[test]
fn a_closer_in_front_of_a_row_begins_more_rows() {
    let go = "package a\n\ntype t struct {\n\ta int\nˇ}\n";
    check("go", go, "}", UNFINISHED);
    let python = "def a():\n    b(\n        c,\n    ˇ)\n";
    check("python", python, ")", UNFINISHED);
    check("python", python, "]", BREAKS);
    check("python", "x = b(cˇ)\n", ")", BREAKS);
    let go = "package a\n\nfunc f() {\n\tg()\nˇ\tx := 1\n\th(x)\n}\n";
    check("go", go, "}", UNFINISHED);
    check("go", go, ")", BREAKS);
}

/// Functions that follow an open bracket in the next test.
const GO_FUNCTIONS: &str = r"
// Total returns the sum.
func (r *Report) Total() int {
	total := 0
	for _, entry := range r.Entries {
		total += entry.Count
	}
	return total
}

// Write prints the report.
func (r *Report) Write(w io.Writer) {
	fmt.Fprintln(w, r.Title)
	for _, entry := range r.Entries {
		fmt.Fprintf(w, entry.Name, entry.Count)
	}
}

// Save writes the report to a file.
func (r *Report) Save(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return nil
}
";

#[test]
fn functions_after_an_open_bracket_do_not_count() {
    let head = "package report\n\n// New returns a report.\nfunc New(title string) *Report {\n";
    let text = format!("{head}\treport := &Report{{ˇ\n}}\n{GO_FUNCTIONS}");
    check("go", &text, "Title: title}", MENDS);
    check("go", &text, "Title: title}\n\treturn report", MENDS);
    check("go", &text, "Title: title})", BREAKS);
}

#[test]
fn a_bracket_is_not_doubled_in_a_broken_row() {
    let text = "def f(\n    a: b[c[dˇ]]], e[f],\n): pass\n";
    check("python", text, ", g]", BREAKS);
}

#[test]
fn a_row_that_ends_like_the_rest_of_it_is_before_a_later_row() {
    let text = "use a::{bˇ};\nuse d::{e};\n";
    check("rust", text, ", c};", UNFINISHED);
    check("rust", text, ", c}", BREAKS);
    let go = "package a\n\nfunc f() {\n\tg(h{aˇ})\n}\n";
    check("go", go, ": 1, b: 2})", UNFINISHED);
    check("go", go, "})", BREAKS);
    check("python", "x = f(aˇ)\n", ", b)", BREAKS);
}
