//! Tests edits that are already applied, and lines that are added again.

use super::*;

/// Asserts that the hunk gives `after` and is refused if applied again.
fn once(before: &str, hunk: PatchHunk, after: &str) {
    let planned = run(before, std::slice::from_ref(&hunk));
    assert_eq!(planned.apply(before), after, "{planned:?}");
    let again = run(after, std::slice::from_ref(&hunk));
    assert_eq!(again.apply(after), after, "{hunk:?}");
    let refusal = again.hunks[0].refusal.clone();
    assert_eq!(
        refusal,
        Some(HunkRefusal::Unclear(Ambiguity::AlreadyThere)),
        "{hunk:?}"
    );
}

#[test]
fn lines_beside_an_anchor_are_added_once() {
    once("a\nz\n", hunk("a\n", "a\nb\n"), "a\nb\nz\n");
    once("a\nz\n", hunk("z\n", "b\nc\nz\n"), "a\nb\nc\nz\n");
    once("a\nz\n", hunk("a\n", "b\na\nc\n"), "b\na\nc\nz\n");
    once("a\r\nz\r\n", hunk("a\n", "a\nb\n"), "a\r\nb\r\nz\r\n");
    once("a\nz", hunk("z\n", "z\nb\n"), "a\nz\nb");
    once("  a\n  z\n", hunk("a\nz\n", "a\nz\nb\n"), "  a\n  z\n  b\n");
}

#[test]
fn text_beside_an_anchor_is_added_once() {
    once("f(a)\n", text_hunk("f(a", "f(a, b"), "f(a, b)\n");
    once(
        "import os\n",
        text_hunk("import os", "import os\nimport sys"),
        "import os\nimport sys\n",
    );
    once(
        "let x = 1;\n",
        text_hunk("x = 1", "mut x = 1"),
        "let mut x = 1;\n",
    );
}

#[test]
fn insertions_at_end_or_below_a_header_apply_once() {
    let at_end = PatchHunk {
        at_end: true,
        ..hunk("", "b\n")
    };
    once("a\n", at_end, "a\nb\n");
    let under = PatchHunk {
        context: vec!["fn b() {".to_owned()],
        ..hunk("", "    z;\n")
    };
    once("fn b() {\n}\n", under, "fn b() {\n    z;\n}\n");
}

#[test]
fn quoted_lines_can_be_added_once_more() {
    lands(
        "a\nb\nz\n",
        hunk("a\nb\n", "a\nb\nb\n"),
        MatchStrategy::Exact,
        "a\nb\nb\nz\n",
    );
    lands(
        "a\nb\nz\n",
        hunk("b\nz\n", "b\na\nb\nz\n"),
        MatchStrategy::Exact,
        "a\nb\na\nb\nz\n",
    );
    // The same line occurs further away.
    lands(
        "a\nx\nb\n",
        hunk("a\n", "a\nb\n"),
        MatchStrategy::Exact,
        "a\nb\nx\nb\n",
    );
    // A blank line can be added again.
    lands(
        "a\n\nb\n",
        hunk("a\n", "a\n\n"),
        MatchStrategy::Exact,
        "a\n\n\nb\n",
    );
    // Something else changes as well.
    lands(
        "x\na\nb\n",
        hunk("x\na\n", "y\na\nb\n"),
        MatchStrategy::Exact,
        "y\na\nb\nb\n",
    );
}

#[test]
fn every_place_is_changed_where_one_reads_so_already() {
    let all = PatchHunk {
        occurrences: Occurrences::All,
        ..text_hunk("go", "going")
    };
    let planned = run("go going\n", std::slice::from_ref(&all));
    assert_eq!(planned.apply("go going\n"), "going goinging\n");
    assert_eq!(
        refuses("going going\n", all),
        HunkRefusal::Unclear(Ambiguity::AlreadyThere)
    );
}

#[test]
fn a_hunk_given_twice_is_applied_once() {
    let planned = run("a\nz\n", &[hunk("a\n", "a\nb\n"), hunk("a\n", "a\nb\n")]);
    assert_eq!(planned.apply("a\nz\n"), "a\nb\nz\n");
    let refusal = planned.hunks[1].refusal.clone();
    assert_eq!(refusal, Some(HunkRefusal::Unclear(Ambiguity::AlreadyThere)));
}

#[test]
fn an_applied_hunk_does_not_match_a_remaining_place() {
    let at = PatchHunk {
        row: Some(Row(0)),
        ..hunk("a\nb\n", "a\nx\nb\n")
    };
    once("a\nb\n1\n2\na\nb\n", at, "a\nx\nb\n1\n2\na\nb\n");
}
