//! The places of hunks and the resulting text, by match strategy; random edits are in `random`.

mod aligned;
mod already;
mod counted;
mod foreign;
mod indentation;
mod one_sided;
mod placeholders;
mod random;
mod scenarios;
mod signs;
mod sources;
mod speed;
mod units;

use self::aligned::function;
use super::*;
use crate::outcome::{Ambiguity, HunkDifference, HunkOutcome};

pub(super) fn hunk(old: &str, new: &str) -> PatchHunk {
    PatchHunk {
        old: old.to_owned(),
        new: new.to_owned(),
        grain: Grain::Lines,
        occurrences: Occurrences::One,
        context: Vec::new(),
        row: None,
        at_end: false,
        in_order: false,
        source: 0..0,
    }
}

fn text_hunk(old: &str, new: &str) -> PatchHunk {
    PatchHunk {
        grain: Grain::Text,
        ..hunk(old, new)
    }
}

pub(super) fn run(before: &str, hunks: &[PatchHunk]) -> EditPlan {
    let change = PatchOperation::Update {
        hunks: hunks.to_vec(),
        move_to: None,
    };
    plan(&FileText::new(before), &change, StaleGuard::Off)
}

/// Asserts that one hunk matches by `rung` and gives `after`; returns its report.
fn lands(before: &str, hunk: PatchHunk, rung: MatchStrategy, after: &str) -> HunkReport {
    let planned = run(before, &[hunk]);
    let report = planned.hunks[0].clone();
    assert_eq!(report.strategy, Some(rung), "{report:?}");
    assert_eq!(planned.apply(before), after);
    let is_literal = rung <= MatchStrategy::Placed && report.differences.is_empty();
    assert_eq!(
        report.outcome == HunkOutcome::Exact,
        is_literal,
        "{report:?}"
    );
    report
}

/// Asserts that one hunk is refused, and returns the refusal.
fn refuses(before: &str, hunk: PatchHunk) -> HunkRefusal {
    let planned = run(before, &[hunk]);
    assert_eq!(planned.replacements, []);
    planned.hunks[0].refusal.clone().expect("a refusal")
}

fn several(count: usize, rung: MatchStrategy) -> HunkRefusal {
    HunkRefusal::Several {
        count,
        strategy: rung,
    }
}

// Exact matches.

#[test]
fn unique_lines_are_replaced() {
    let report = lands(
        "a\nb\nc\n",
        hunk("b\n", "x\ny\n"),
        MatchStrategy::Exact,
        "a\nx\ny\nc\n",
    );
    assert_eq!(report.line_number(), Some(2));
    assert_eq!(report.nearest, []);
    lands("a\nb\nc\n", hunk("b\n", ""), MatchStrategy::Exact, "a\nc\n");
}

#[test]
fn only_bytes_that_change_are_replaced() {
    let planned = run("a\nb\nc\nd\n", &[hunk("a\nb\nc\nd\n", "a\nb\nx\nd\n")]);
    assert_eq!(planned.replacements.len(), 1);
    assert_eq!(planned.replacements[0].span.range(), 4..6);
}

#[test]
fn whole_lines_are_not_found_within_lines() {
    assert_eq!(
        refuses("max = 1\n", hunk("x = 1\n", "y = 1\n")),
        HunkRefusal::NotFound
    );
}

#[test]
fn text_is_found_within_lines() {
    lands(
        "one two three\n",
        text_hunk("two", "2"),
        MatchStrategy::Exact,
        "one 2 three\n",
    );
    lands(
        "f(a,\n  b)\n",
        text_hunk("a,\n  b", "c"),
        MatchStrategy::Exact,
        "f(c)\n",
    );
    lands(
        "one\ntwo\n",
        text_hunk("one\n", ""),
        MatchStrategy::Exact,
        "two\n",
    );
    lands(
        "one\ntwo\n",
        text_hunk("one", ""),
        MatchStrategy::Exact,
        "\ntwo\n",
    );
}

#[test]
fn text_that_stands_twice_is_ambiguous() {
    assert_eq!(
        refuses("ab ab\n", text_hunk("ab", "x")),
        several(2, MatchStrategy::Exact)
    );
    assert_eq!(
        refuses("aaa\n", text_hunk("aa", "x")),
        several(2, MatchStrategy::Exact)
    );
    let planned = run("x\na\nx\nb\nx\nc\nx\n", &[hunk("x\n", "y\n")]);
    assert_eq!(planned.hunks[0].outcome, HunkOutcome::Ambiguous);
    let rows: Vec<u32> = planned.hunks[0]
        .nearest
        .iter()
        .map(|place| place.row.0)
        .collect();
    assert_eq!(rows, [0, 2, 4]);
}

#[test]
fn all_places_change_where_all_are_meant() {
    let all = |old, new| PatchHunk {
        occurrences: Occurrences::All,
        ..text_hunk(old, new)
    };
    lands(
        "ab\nab ab\n",
        all("ab", "x"),
        MatchStrategy::Exact,
        "x\nx x\n",
    );
    lands("aaa\n", all("aa", "b"), MatchStrategy::Exact, "ba\n");
    lands(
        "a\nb\na\nb\n",
        all("a\nb\n", "c\n"),
        MatchStrategy::Exact,
        "c\nc\n",
    );
    lands(
        "\u{2018}a\u{2019}\nb\n\u{2018}a\u{2019}\n",
        all("'a'", "c"),
        MatchStrategy::Normalised,
        "c\nb\nc\n",
    );
    assert_eq!(refuses("a\n", all("b", "c")), HunkRefusal::NotFound);
}

#[test]
fn an_edit_must_change_something() {
    assert_eq!(
        refuses("a\n", hunk("a\n", "a\n")),
        HunkRefusal::NothingChanges
    );
    assert_eq!(
        refuses("a\n", text_hunk("", "b")),
        HunkRefusal::NothingToFind
    );
    lands("", text_hunk("", "b"), MatchStrategy::Exact, "b");
}

// Placed hunks.

fn twice() -> &'static str {
    "fn a() {\n    x;\n}\n\nfn b() {\n    x;\n}\n"
}

#[test]
fn a_line_number_tells_which() {
    let at = |row| PatchHunk {
        row: Some(Row(row)),
        ..hunk("    x;\n", "    y;\n")
    };
    let after = "fn a() {\n    x;\n}\n\nfn b() {\n    y;\n}\n";
    lands(twice(), at(5), MatchStrategy::Placed, after);
    assert_eq!(refuses(twice(), at(3)), several(2, MatchStrategy::Exact));
}

#[test]
fn a_context_header_tells_which() {
    let under = |headers: &[&str]| PatchHunk {
        context: headers.iter().map(|header| (*header).to_owned()).collect(),
        ..hunk("    x;\n", "    y;\n")
    };
    let first = "fn a() {\n    y;\n}\n\nfn b() {\n    x;\n}\n";
    let second = "fn a() {\n    x;\n}\n\nfn b() {\n    y;\n}\n";
    lands(twice(), under(&["fn a() {"]), MatchStrategy::Placed, first);
    lands(twice(), under(&["fn b()"]), MatchStrategy::Placed, second);
    assert_eq!(
        refuses(twice(), under(&["fn c()"])),
        several(2, MatchStrategy::Exact)
    );
    let nested = "class A:\n  def run():\n    x\nclass B:\n  def run():\n    x\n";
    let header = PatchHunk {
        context: vec!["class B:".to_owned(), "def run():".to_owned()],
        ..hunk("    x\n", "    y\n")
    };
    lands(
        nested,
        header,
        MatchStrategy::Placed,
        "class A:\n  def run():\n    x\nclass B:\n  def run():\n    y\n",
    );
}

#[test]
fn a_header_that_lies_behind_the_text_refuses_it() {
    let late = PatchHunk {
        context: vec!["fn b() {".to_owned()],
        ..hunk("one\n", "two\n")
    };
    let refusal = refuses("one\nfn b() {\n}\n", late);
    assert_eq!(refusal, HunkRefusal::NotUnderHeader("fn b() {".to_owned()));
}

#[test]
fn a_header_that_is_not_there_is_named() {
    let lost = PatchHunk {
        context: vec!["fn lost()".to_owned()],
        ..hunk("one\n", "two\n")
    };
    let report = lands(
        "one\nfn b() {\n}\n",
        lost,
        MatchStrategy::Exact,
        "two\nfn b() {\n}\n",
    );
    assert_eq!(report.differences, [HunkDifference::Header]);
}

#[test]
fn order_tells_which() {
    let ordered = |old: &str, new: &str| PatchHunk {
        in_order: true,
        ..hunk(old, new)
    };
    let before = "x\na\nx\nb\nx\n";
    let planned = run(
        before,
        &[
            ordered("a\n", "A\n"),
            ordered("x\n", "y\n"),
            ordered("b\n", "B\n"),
        ],
    );
    assert!(planned.is_complete(), "{planned:?}");
    assert_eq!(planned.apply(before), "x\nA\ny\nB\nx\n");
    let planned = run(before, &[ordered("a\n", "A\n"), ordered("x\n", "y\n")]);
    assert_eq!(
        planned.hunks[1].refusal,
        Some(several(2, MatchStrategy::Exact))
    );
    let planned = run("x\nx\n", &[ordered("x\n", "1\n"), ordered("x\n", "2\n")]);
    assert_eq!(planned.apply("x\nx\n"), "1\n2\n");
}

#[test]
fn the_end_of_the_file_tells_which() {
    let last = PatchHunk {
        at_end: true,
        ..hunk("x\n", "y\n")
    };
    lands("x\na\nx\n", last, MatchStrategy::Placed, "x\na\ny\n");
}

#[test]
fn insertions_go_to_the_end_or_behind_their_header() {
    let at_end = PatchHunk {
        at_end: true,
        ..hunk("", "b\n")
    };
    lands("a\n", at_end.clone(), MatchStrategy::Exact, "a\nb\n");
    lands("a", at_end.clone(), MatchStrategy::Exact, "a\nb");
    lands("", at_end, MatchStrategy::Exact, "b\n");
    let under = PatchHunk {
        context: vec!["fn b() {".to_owned()],
        ..hunk("", "    z;\n")
    };
    lands(
        twice(),
        under,
        MatchStrategy::Exact,
        "fn a() {\n    x;\n}\n\nfn b() {\n    z;\n    x;\n}\n",
    );
    assert_eq!(refuses("a\n", hunk("", "b\n")), HunkRefusal::NoPlace);
}

// Normalised matches.

#[test]
fn trailing_space_is_passed_over() {
    let report = lands(
        "a\nb\nc\n",
        hunk("a \nb\t\n", "a \nx\n"),
        MatchStrategy::Normalised,
        "a\nx\nc\n",
    );
    assert_eq!(report.differences, [HunkDifference::TrailingSpace]);
    lands(
        "a  \nb\nc\n",
        hunk("a\nb\n", "a\nx\n"),
        MatchStrategy::Normalised,
        "a  \nx\nc\n",
    );
    lands(
        "a\n   \nb\n",
        hunk("a\n\nb\n", "a\n\nx\n"),
        MatchStrategy::Normalised,
        "a\n   \nx\n",
    );
}

#[test]
fn punctuation_is_passed_over() {
    let before = "s = \"a\";\nt = \"b\";\n";
    let curly = hunk(
        "s = \u{201c}a\u{201d};\nt = \u{201c}b\u{201d};\n",
        "s = \u{201c}a\u{201d};\nt = \u{201c}c\u{201d};\n",
    );
    let report = lands(
        before,
        curly,
        MatchStrategy::Normalised,
        "s = \"a\";\nt = \"c\";\n",
    );
    assert_eq!(report.differences, [HunkDifference::Punctuation]);
    let old_only = hunk(
        "s = \u{201c}a\u{201d};\nt = \"b\";\n",
        "s = \"a\";\nt = \u{201c}c\u{201d};\n",
    );
    lands(
        before,
        old_only,
        MatchStrategy::Normalised,
        "s = \"a\";\nt = \u{201c}c\u{201d};\n",
    );
    lands(
        "x \u{2014} y\nz\n",
        hunk("x - y\nz\n", "x - y\nw\n"),
        MatchStrategy::Normalised,
        "x \u{2014} y\nw\n",
    );
    lands(
        "say(\u{2018}x\u{2019}) now\n",
        text_hunk("('x') now", "('x') then"),
        MatchStrategy::Normalised,
        "say(\u{2018}x\u{2019}) then\n",
    );
}

#[test]
fn typographic_quotes_that_may_be_meant_refuse() {
    let unclear = HunkRefusal::Unclear(Ambiguity::Punctuation);
    let old = "s = \u{201c}a\u{201d};\nt = 1;\n";
    let with = |line: &str| hunk(old, &format!("s = \u{201c}a\u{201d};\n{line}\nt = 1;\n"));
    let before = "s = \"a\";\nt = 1;\n";
    // The new lines contain straight quotes too, so the typographic ones may be intended.
    let mixed = "// A \u{201c}word\u{201d}\nu = \"b\";";
    assert_eq!(refuses(before, with(mixed)), unclear);
    let lands_straight = "s = \"a\";\nu = \"b\"; // it's\nt = 1;\n";
    let other_kind = "u = \u{201c}b\u{201d}; // it's";
    lands(
        before,
        with(other_kind),
        MatchStrategy::Normalised,
        lands_straight,
    );
    // The file contains typographic quotes as well.
    let curly = "u = \u{201c}b\u{201d};";
    let prose = format!("// A \u{201c}word\u{201d}\n\n{before}");
    assert_eq!(refuses(&prose, with(curly)), unclear);
    // The quoted text contains both kinds.
    let both = "// A \u{201c}word\u{201d}\ns = \"a\";\nt = 1;\n";
    let block = hunk(
        &format!("// A \u{201c}word\u{201d}\n{old}"),
        &format!("// A \u{201c}word\u{201d}\n{old}{curly}\n"),
    );
    assert_eq!(refuses(both, block), unclear);
}

#[test]
fn a_change_of_punctuation_is_a_change() {
    lands(
        "s = \"a\";\n",
        hunk("s = \"a\";\n", "s = \u{201c}a\u{201d};\n"),
        MatchStrategy::Exact,
        "s = \u{201c}a\u{201d};\n",
    );
    lands(
        "a\nb \n",
        hunk("a\nb \n", "a\nb\n"),
        MatchStrategy::Exact,
        "a\nb\n",
    );
}

#[test]
fn escapes_are_taken_off() {
    let report = lands(
        "print(\"a\")\n",
        hunk("print(\\\"a\\\")\n", "print(\\\"b\\\")\n"),
        MatchStrategy::Normalised,
        "print(\"b\")\n",
    );
    assert_eq!(report.differences, [HunkDifference::Escapes]);
    lands(
        "if a < b && c {\n",
        hunk("if a &lt; b &amp;&amp; c {\n", "if a &lt; d {\n"),
        MatchStrategy::Normalised,
        "if a < d {\n",
    );
    lands(
        "a\nb\nc\n",
        text_hunk("a\\nb", "a\\nx"),
        MatchStrategy::Normalised,
        "a\nx\nc\n",
    );
    let refusal = refuses(
        "print(\"a\")\n",
        hunk("print(\\\"a\\\")\n", "print(\"b \\\"c\\\"\")\n"),
    );
    assert_eq!(refusal, HunkRefusal::Unclear(Ambiguity::Escapes));
}

#[test]
fn returns_in_the_block_are_passed_over() {
    lands(
        "a\nb\n",
        hunk("a\r\nb\r\n", "a\r\nx\r\n"),
        MatchStrategy::Normalised,
        "a\nx\n",
    );
    lands(
        "a\r\nb\r\n",
        hunk("a\nb\n", "a\nx\ny\n"),
        MatchStrategy::Exact,
        "a\r\nx\r\ny\r\n",
    );
    lands(
        "a\r\nb\r\n",
        text_hunk("a\nb", "x\ny"),
        MatchStrategy::Exact,
        "x\r\ny\r\n",
    );
}

// Indentation.

#[test]
fn hunks_land_independently_and_in_any_order() {
    let before = "a\nb\nc\nd\n";
    let planned = run(before, &[hunk("d\n", "D\n"), hunk("a\n", "A\n")]);
    assert_eq!(planned.apply(before), "A\nb\nc\nD\n");
}

#[test]
fn hunks_may_share_lines_that_stay() {
    let before = "a\nb\nc\nd\n";
    let planned = run(
        before,
        &[
            hunk("a\nb\nc\n", "A\nb\nc\n"),
            hunk("b\nc\nd\n", "b\nc\nD\n"),
        ],
    );
    assert_eq!(planned.apply(before), "A\nb\nc\nD\n");
    let planned = run(
        before,
        &[hunk("a\nb\n", "a\nX\n"), hunk("b\nc\n", "Y\nc\n")],
    );
    assert_eq!(
        planned.hunks[1].refusal,
        Some(HunkRefusal::Overlaps { hunk: 0 })
    );
    assert_eq!(planned.apply(before), "a\nX\nc\nd\n");
}

#[test]
fn a_hunk_may_build_on_another() {
    let before = "a\nb\nc\n";
    let planned = run(
        before,
        &[hunk("b\n", "one\ntwo\n"), hunk("two\nc\n", "TWO\nC\n")],
    );
    assert!(planned.is_complete(), "{planned:?}");
    assert_eq!(planned.apply(before), "a\none\nTWO\nC\n");
}

#[test]
fn the_end_of_the_file_stays_as_it_is() {
    lands(
        "a\nb",
        hunk("b\n", "c\nd\n"),
        MatchStrategy::Exact,
        "a\nc\nd",
    );
    lands("a\nb", hunk("b\n", ""), MatchStrategy::Exact, "a");
    lands("a\nb\n", hunk("b\n", ""), MatchStrategy::Exact, "a\n");
    lands(
        "a\nb",
        hunk("a\nb\n", "a\nb\nc\n"),
        MatchStrategy::Exact,
        "a\nb\nc",
    );
    let feed = PatchHunk {
        at_end: true,
        ..text_hunk("a\nb", "a\nb\n")
    };
    lands("a\nb", feed, MatchStrategy::Exact, "a\nb\n");
    let bare = PatchHunk {
        at_end: true,
        ..text_hunk("b\n", "c")
    };
    lands("a\nb\n", bare, MatchStrategy::Exact, "a\nc");
}

#[test]
fn mark_and_mixed_endings_stay() {
    let before = "\u{feff}a\r\nb\nc\r\nd";
    lands(
        before,
        hunk("b\n", "x\ny\n"),
        MatchStrategy::Exact,
        "\u{feff}a\r\nx\ny\nc\r\nd",
    );
    lands(
        before,
        hunk("a\n", "z\n"),
        MatchStrategy::Exact,
        "\u{feff}z\r\nb\nc\r\nd",
    );
    let planned = plan(
        &FileText::new(before),
        &PatchOperation::Overwrite {
            text: "a\nb\nnew\nd\n".to_owned(),
        },
        StaleGuard::Off,
    );
    assert_eq!(planned.apply(before), "\u{feff}a\r\nb\nnew\r\nd\r\n");
}

#[test]
fn a_refusal_names_what_may_be_meant() {
    let planned = run(
        function(),
        &[hunk(
            "    let second = first * 7;\n    let third = second - 9;\n",
            "    x;\n",
        )],
    );
    let report = &planned.hunks[0];
    assert_eq!(report.nearest[0].row, Row(3));
    assert!(
        report.nearest[0]
            .text
            .starts_with("    let second = first * 2;\n")
    );
    let planned = run("a\nb();  c();\n", &[hunk("lost\n", "b();  c();\n")]);
    assert_eq!(planned.hunks[0].already_at, Some(Row(1)));
}

// Read marks.

#[test]
fn lines_that_changed_since_they_were_read_are_stale() {
    let read = FileText::new("a\nb\nc\nd\ne\n");
    let mark = ReadMark::new(&read);
    let now = FileText::new("new\na\nb\nC\nd\ne\n");
    let change = |old: &str, new: &str| PatchOperation::Update {
        hunks: vec![hunk(old, new)],
        move_to: None,
    };
    let planned = plan(&now, &change("e\n", "E\n"), StaleGuard::Read(&mark));
    assert_eq!(planned.apply(now.text()), "new\na\nb\nC\nd\nE\n");
    let planned = plan(&now, &change("b\nC\n", "x\n"), StaleGuard::Read(&mark));
    let rows = Row(3)..Row(4);
    assert_eq!(planned.hunks[0].refusal, Some(HunkRefusal::Stale { rows }));
}

use crate::mark::ReadMark;
