//! Tests blocks with another depth or unit of indentation than the file.

use super::*;

#[test]
fn a_dedented_block_is_indented_again() {
    let before = "fn f() {\n    if a {\n        b;\n    }\n}\n";
    let block = hunk("if a {\n    b;\n}\n", "if a {\n    b;\n    c;\n}\n");
    let report = lands(
        before,
        block,
        MatchStrategy::Reindented,
        "fn f() {\n    if a {\n        b;\n        c;\n    }\n}\n",
    );
    assert_eq!(report.differences, [HunkDifference::Indentation]);
}

#[test]
fn another_unit_is_turned_into_that_of_the_file() {
    let before = "fn f() {\n    if a {\n        b;\n    }\n}\n";
    let two = hunk(
        "fn f() {\n  if a {\n    b;\n",
        "fn f() {\n  if a {\n    b;\n    c;\n",
    );
    lands(
        before,
        two,
        MatchStrategy::Reindented,
        "fn f() {\n    if a {\n        b;\n        c;\n    }\n}\n",
    );
    let tabs = hunk("\tif a {\n\t\tb;\n", "\tif a {\n\t\tc;\n");
    lands(
        before,
        tabs,
        MatchStrategy::Reindented,
        "fn f() {\n    if a {\n        c;\n    }\n}\n",
    );
}

#[test]
fn clean_new_lines_are_left_alone() {
    let before = "fn f() {\n    if a {\n        b;\n    }\n}\n";
    let block = hunk("if a {\n    b;\n}\n", "    if a {\n        c;\n    }\n");
    lands(
        before,
        block,
        MatchStrategy::Reindented,
        "fn f() {\n    if a {\n        c;\n    }\n}\n",
    );
}

#[test]
fn lines_moved_deeper_are_reindented() {
    // The block indents the lines in the new `if` exactly as the file indents them outside of it.
    let before = "fn f() {\n    a;\n    b;\n}\n";
    let wrapped = hunk("a;\nb;\n", "if x {\n    a;\n    b;\n}\n");
    let after = "fn f() {\n    if x {\n        a;\n        b;\n    }\n}\n";
    lands(before, wrapped, MatchStrategy::Reindented, after);
    let two = hunk(
        "fn f() {\n  a;\n  b;\n",
        "fn f() {\n  if x {\n    a;\n    b;\n  }\n",
    );
    lands(before, two, MatchStrategy::Reindented, after);
}

#[test]
fn text_in_the_indentation_indents_all_lines() {
    let before = "def f():\n    if a:\n        b\n";
    lands(
        before,
        text_hunk("b", "c"),
        MatchStrategy::Exact,
        "def f():\n    if a:\n        c\n",
    );
    lands(
        before,
        text_hunk("if a:", "x\nif c:"),
        MatchStrategy::Reindented,
        "def f():\n    x\n    if c:\n        b\n",
    );
    let refusal = refuses(before, text_hunk("if a:", "if c:\n            d"));
    assert_eq!(refusal, HunkRefusal::Unclear(Ambiguity::Indentation));
}

#[test]
fn closing_brackets_alone_are_not_indented_again() {
    // The end of the file is meant, where the block omits a blank line.
    let before =
        "fn a() {\n\tfor {\n\t\tif x {\n\t\t}\n\t}\n\n\tx()\n}\n\nfn b() {\n\tif x {\n\t}\n\n}\n";
    let block = hunk("\t}\n}\n", "\t}\n}\n\nfn c() {\n}\n");
    assert_eq!(refuses(before, block), HunkRefusal::NotFound);
}

#[test]
fn blocks_that_stand_at_several_depths_are_ambiguous() {
    let before = "  a;\n  b;\nx\n    a;\n    b;\n";
    assert_eq!(
        refuses(before, hunk("a;\nb;\n", "c;\n")),
        several(2, MatchStrategy::Reindented)
    );
}

// Elision.
