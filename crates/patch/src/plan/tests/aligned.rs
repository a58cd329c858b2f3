//! Hunks whose text differs from the file: elisions, blank lines, typos; ambiguous cases are
//! refused.

use super::*;

fn long() -> &'static str {
    "fn f() {\n    a;\n    b;\n    c;\n    d;\n    e;\n}\n\nfn g() {\n}\n"
}

#[test]
fn dots_stand_for_lines_that_stay() {
    let block = hunk("fn f() {\n...\n    e;\n", "fn f() {\n...\n    x;\n");
    let report = lands(
        long(),
        block,
        MatchStrategy::Elided,
        "fn f() {\n    a;\n    b;\n    c;\n    d;\n    x;\n}\n\nfn g() {\n}\n",
    );
    assert_eq!(report.differences, [HunkDifference::Elision]);
    let both = hunk(
        "    a;\n    // ... existing code ...\n    d;\n",
        "    A;\n    // ... existing code ...\n    D;\n",
    );
    lands(
        long(),
        both,
        MatchStrategy::Elided,
        "fn f() {\n    A;\n    b;\n    c;\n    D;\n    e;\n}\n\nfn g() {\n}\n",
    );
}

#[test]
fn what_dots_leave_must_be_unmistakable() {
    let refusal = refuses(
        long(),
        hunk("fn f() {\n...\n}\n", "fn f() {\n...\n    x;\n}\n"),
    );
    assert_eq!(refusal, several(2, MatchStrategy::Elided));
    let refusal = refuses(long(), hunk("    a;\n...\n    d;\n", "    a;\n    d;\n"));
    assert_eq!(refusal, HunkRefusal::Unclear(Ambiguity::Elision));
    let refusal = refuses(
        long(),
        hunk("    a;\n", "    // ... rest of the function ...\n"),
    );
    assert!(
        matches!(refusal, HunkRefusal::ElidedReplacement(_)),
        "{refusal:?}"
    );
}

// Alignment.

pub(super) fn function() -> &'static str {
    "fn compute(total: u32) -> u32 {\n    let first = total + 1;\n\n    let second = first * 2;\n    let third = second - 3;\n\n    report(third);\n    third\n}\n"
}

#[test]
fn a_blank_line_left_out_stays() {
    let block = hunk(
        "fn compute(total: u32) -> u32 {\n    let first = total + 1;\n    let second = first * 2;\n    let third = second - 3;\n\n    report(third);\n",
        "fn compute(total: u32) -> u32 {\n    let first = total + 1;\n    let second = first * 2;\n    let third = second - 3;\n\n    inform(third);\n",
    );
    let after = function().replace("report", "inform");
    let report = lands(function(), block, MatchStrategy::Aligned, &after);
    assert_eq!(report.differences, [HunkDifference::BlankLines]);
}

#[test]
fn one_of_two_blank_lines_left_out_stays() {
    let before = "import first_of_all\n\n\ndef compute():\n    start_at_once()\n    go_on()\n";
    let old = "import first_of_all\n\ndef compute():\n    start_at_once()\n";
    let changes = [
        ("start_at_once", "stop_at_once"),
        ("def compute():\n", "def compute():\n    prepare()\n"),
        (
            "import first_of_all\n",
            "import second\nimport first_of_all\n",
        ),
        ("compute", "calculate"),
    ];
    for (from, to) in changes {
        let block = hunk(old, &old.replace(from, to));
        lands(
            before,
            block,
            MatchStrategy::Aligned,
            &before.replace(from, to),
        );
    }
    // Lines added right there may belong before, between or after the two blank lines.
    let boundary = HunkRefusal::Unclear(Ambiguity::Boundary);
    for added in ["import other\n", "import other\n\n", "import other\n\n\n"] {
        let new = old.replace("first_of_all\n", &format!("first_of_all\n{added}"));
        assert_eq!(refuses(before, hunk(old, &new)), boundary);
    }
    for added in ["import other\n", "import other\n\n"] {
        let new = old.replace("def", &format!("{added}def"));
        assert_eq!(refuses(before, hunk(old, &new)), boundary);
    }
}

#[test]
fn an_insertion_keeps_the_number_of_blank_lines_around_it() {
    let before = "one(first)\n\n\ntwo(second)\n";
    let old = "one(first)\n\ntwo(second)\n";
    let after = "one(first)\n\n\nmore(other)\n\n\ntwo(second)\n";
    // The omitted blank line may be before or after the new line.
    for new in [
        "one(first)\n\nmore(other)\n\n\ntwo(second)\n",
        "one(first)\n\n\nmore(other)\n\ntwo(second)\n",
    ] {
        lands(before, hunk(old, new), MatchStrategy::Aligned, after);
    }
    // The reverse edit also applies.
    for old in [
        "one(first)\n\nmore(other)\n\n\ntwo(second)\n",
        "one(first)\n\n\nmore(other)\n\ntwo(second)\n",
    ] {
        let new = "one(first)\n\ntwo(second)\n";
        lands(after, hunk(old, new), MatchStrategy::Aligned, before);
    }
    // If both neighbours change, the blank lines cannot be identified.
    let new = "one(third)\n\nmore(other)\n\n\ntwo(fourth)\n";
    assert_eq!(
        refuses(before, hunk(old, new)),
        HunkRefusal::Unclear(Ambiguity::Boundary)
    );
}

#[test]
fn lines_without_blank_lines_belong_to_their_neighbours() {
    // The new lines are deeper than those after the blank lines, or than those before them.
    let before = "def one():\n    first(1)\n\n\ndef two():\n    second(2)\n";
    let old = before.replace("\n\n\n", "\n\n");
    let block = |new: &str| hunk(&old, &old.replace("    first(1)\n", new));
    let after = before.replace("first(1)\n", "first(1)\n    more(3)\n");
    let new = "    first(1)\n    more(3)\n";
    lands(before, block(new), MatchStrategy::Aligned, &after);
    // A new line at the same depth may be a separate paragraph.
    let boundary = HunkRefusal::Unclear(Ambiguity::Boundary);
    assert_eq!(refuses(before, block("    first(1)\nmore(3)\n")), boundary);
    let apart = old.replace("def two", "more(3)\n\n@marked(3)\ndef two");
    assert_eq!(refuses(before, hunk(&old, &apart)), boundary);
    // A replacement stays at the position of the old line, unless its depth differs.
    let block = block("    first(3)\n");
    lands(
        before,
        block,
        MatchStrategy::Aligned,
        &before.replace("first(1)", "first(3)"),
    );
    let new = old.replace("def one():\n    first(1)\n", "one = three\n");
    assert_eq!(refuses(before, hunk(&old, &new)), boundary);
    // An attribute belongs to the following item.
    let new = old.replace("def two", "@marked(3)\ndef two");
    let after = before.replace("def two", "@marked(3)\ndef two");
    lands(before, hunk(&old, &new), MatchStrategy::Aligned, &after);
    // A line that moves down stays beside similar lines.
    let before = "import one_first\nimport two_second\n\n\ndef one():\n    first(1)\n";
    let old = before.replace("\n\n\n", "\n\n");
    let turned = |text: &str| {
        let both = "import one_first\nimport two_second\n";
        text.replace(both, "import two_second\nimport one_first\n")
    };
    let block = hunk(&old, &turned(&old));
    lands(before, block, MatchStrategy::Aligned, &turned(before));
}

#[test]
fn blank_lines_of_another_look_are_other_lines() {
    // The block omits the first of two blank lines.
    let before = "one(first)\ntwo(second)\n        \n    \n";
    let old = "one(first)\ntwo(second)\n    \n";
    let new = "one(first)\ntwo(second)\nmore(third)\n    \n    \n";
    assert_eq!(refuses(before, hunk(old, new)), HunkRefusal::NotFound);
    let before = "one(first)\n        \n    \ntwo(second)\n";
    let old = "one(first)\n    \ntwo(second)\n";
    let new = "one(first)\n    \ntwo(third)\n";
    assert_eq!(refuses(before, hunk(old, new)), HunkRefusal::NotFound);
}

#[test]
fn a_blank_line_before_a_bracket_may_move_up() {
    let before = "fn a() {\n    first(1);\n    last(2);\n\n}\n";
    let old = "    first(1);\n    last(2);\n}\n";
    let new = "    first(1);\n    more(3);\n    last(2);\n}\n";
    assert_eq!(
        refuses(before, hunk(old, new)),
        HunkRefusal::Unclear(Ambiguity::Boundary)
    );
}

#[test]
fn a_blank_line_after_one_of_several_brackets_is_ambiguous() {
    // The result depends on which bracket the new blank line follows.
    let before = "fn a() {\n    if b {\n        one(1);\n    }\n\n    two(2);\n    if c {\n        three(3);\n    }\n\n    four(4);\n}\n";
    let old = "    two(2);\n    if c {\n        three(3);\n    }\n    four(4);\n}\n";
    let new = "    if d {\n    }\n    if c {\n        three(3);\n    }\n\n    five(5);\n}\n";
    assert_eq!(
        refuses(before, hunk(old, new)),
        HunkRefusal::Unclear(Ambiguity::Boundary)
    );
    let new = "    two(2);\n    if c {\n        three(3);\n    }\n\n    five(5);\n}\n";
    lands(
        before,
        hunk(old, new),
        MatchStrategy::Aligned,
        &before.replace("four(4)", "five(5)"),
    );
}

#[test]
fn a_line_that_goes_beside_two_blank_lines_leaves_them() {
    let before = "one(first)\ntwo(second)\n\n\nthree(third)\n";
    let old = "one(first)\ntwo(second)\n\nthree(third)\n";
    let new = "one(first)\n\nthree(third)\n";
    let after = "one(first)\n\n\nthree(third)\n";
    lands(before, hunk(old, new), MatchStrategy::Aligned, after);
    // With a third blank line, the intended number of blank lines is unknown.
    let before = before.replace("two", "\ntwo");
    let (old, new) = (old.replace("two", "\ntwo"), new.replace("\n\n", "\n\n\n"));
    assert_eq!(
        refuses(&before, hunk(&old, &new)),
        HunkRefusal::Unclear(Ambiguity::Boundary)
    );
}

#[test]
fn a_blank_line_stays_between_its_neighbours() {
    // By the diff alone, the new function could begin before the bracket.
    let before = "fn a() {\n    one(first);\n\n}\n";
    let old = "    one(first);\n}\n";
    let new = "    one(first);\n}\n\nfn b() {\n    two(second);\n}\n";
    let after = "fn a() {\n    one(first);\n\n}\n\nfn b() {\n    two(second);\n}\n";
    lands(before, hunk(old, new), MatchStrategy::Aligned, after);
}

#[test]
fn lines_that_cross_a_blank_line_left_out_refuse() {
    let before = "one(first);\ntwo(second);\n\nthree(third);\nfour(fourth);\n";
    let old = "one(first);\ntwo(second);\nthree(third);\nfour(fourth);\n";
    for new in [
        "two(second);\nthree(third);\none(first);\nfour(fourth);\n",
        "one(first);\nfour(fourth);\ntwo(second);\nthree(third);\n",
    ] {
        // The two middle lines stay adjacent and keep the blank line between them.
        let after = new.replace("two(second);\n", "two(second);\n\n");
        lands(before, hunk(old, new), MatchStrategy::Aligned, &after);
    }
    let new = "one(first);\nfour(fourth);\nthree(third);\ntwo(second);\n";
    assert_eq!(
        refuses(before, hunk(old, new)),
        HunkRefusal::Unclear(Ambiguity::Boundary)
    );
}

#[test]
fn blank_lines_that_the_file_has_in_part_refuse() {
    let before = "one(first);\n\ntwo(second);\nthree(third);\n";
    let old = "one(first);\ntwo(second);\nthree(third);\n";
    let new = "one(first);\n\ntwo(second);\n\nthree(third);\n";
    assert_eq!(
        refuses(before, hunk(old, new)),
        HunkRefusal::Unclear(Ambiguity::Boundary)
    );
}

#[test]
fn a_line_left_out_refuses() {
    // If the edit moved the second line across the omitted one, the block would be the same.
    let before = "one(first);\ntwo(second);\nthree(third);\nfour(fourth);\nfive(fifth);\nsix(sixth);\nseven(seventh);\n";
    let old = before.replace("three(third);\n", "");
    let new = old.replace("six(sixth)", "six(other)");
    assert_eq!(refuses(before, hunk(&old, &new)), HunkRefusal::NotFound);
    assert_eq!(refuses(&old, hunk(before, &new)), HunkRefusal::NotFound);
}

#[test]
fn a_blank_line_in_the_new_text_is_not_duplicated() {
    let block = hunk(
        "    let first = total + 1;\n    let second = first * 2;\n    let third = second - 3;\n\n    report(third);\n",
        "    let first = total + 1;\n\n    let second = first * 2;\n    let third = second - 3;\n\n    inform(third);\n",
    );
    lands(
        function(),
        block,
        MatchStrategy::Aligned,
        &function().replace("report", "inform"),
    );
}

#[test]
fn a_blank_line_left_out_where_the_change_is_refuses() {
    let block = hunk(
        "    let first = total + 1;\n    let second = first * 2;\n    let third = second - 3;\n",
        "    let first = total + 1;\n    check(first);\n    let second = first * 2;\n    let third = second - 3;\n",
    );
    assert_eq!(
        refuses(function(), block),
        HunkRefusal::Unclear(Ambiguity::Boundary)
    );
}

#[test]
fn blank_lines_around_the_place_are_not_doubled() {
    let before = "a();\n\nfirst();\nsecond();\n\nz();\n";
    let block = hunk("first();\nsecond();\n", "\nfirst();\nother();\n");
    let report = lands(
        before,
        block,
        MatchStrategy::Normalised,
        "a();\n\nfirst();\nother();\n\nz();\n",
    );
    assert_eq!(report.differences, [HunkDifference::BlankLines]);
    lands(
        before,
        hunk("first();\n", "\nfirst();\n"),
        MatchStrategy::Exact,
        "a();\n\n\nfirst();\nsecond();\n\nz();\n",
    );
}

#[test]
fn blank_lines_that_are_quoted_are_as_they_are_written() {
    lands(
        "TAG=1\nCOMMIT=2\n\n\n\n\n\n",
        hunk("TAG=1\nCOMMIT=2\n\n\n\n", "TAG=2\nCOMMIT=3\n\n\n\n\n"),
        MatchStrategy::Exact,
        "TAG=2\nCOMMIT=3\n\n\n\n\n\n\n",
    );
    lands(
        "\n\n\na();\nb();\n",
        hunk("\na();\n", "\n\nc();\n"),
        MatchStrategy::Exact,
        "\n\n\n\nc();\nb();\n",
    );
}

#[test]
fn a_blank_line_too_many_does_not_appear() {
    let block = hunk(
        "    let second = first * 2;\n\n    let third = second - 3;\n\n    report(third);\n    third\n",
        "    let second = first * 2;\n\n    let third = second - 3;\n\n    report(third);\n    second\n",
    );
    let after = function().replace("    third\n}", "    second\n}");
    lands(function(), block, MatchStrategy::Aligned, &after);
}

#[test]
fn a_slip_in_a_line_that_stays_is_passed_over() {
    let block = hunk(
        "    let first = totol + 1;\n\n    let second = first * 2;\n    let third = second - 3;\n",
        "    let first = totol + 1;\n\n    let second = first * 4;\n    let third = second - 3;\n",
    );
    let report = lands(
        function(),
        block,
        MatchStrategy::Aligned,
        &function().replace("first * 2", "first * 4"),
    );
    assert_eq!(report.differences, [HunkDifference::Typo]);
}

#[test]
fn a_slip_in_a_line_that_changes_refuses() {
    let block = hunk(
        "    let first = total + 1;\n\n    let second = frst * 2;\n    let third = second - 3;\n",
        "    let first = total + 1;\n\n    let second = frst * 4;\n    let third = second - 3;\n",
    );
    assert_eq!(
        refuses(function(), block),
        HunkRefusal::Unclear(Ambiguity::ChangedTypo)
    );
}

#[test]
fn a_slip_copied_to_where_the_line_goes_is_mended() {
    // The new text contains the file's line twice, once misspelt as in the old text.
    let before = "one(first);\ncall(\"message\");\ntwo(second);\nlast(third);\n";
    let block = hunk(
        "one(first);\ncall(\"messaga\");\ntwo(second);\nlast(third);\n",
        "one(first);\ncall(\"message\");\ntwo(second);\none(first);\ncall(\"messaga\");\nthree(second);\nlast(third);\n",
    );
    lands(
        before,
        block,
        MatchStrategy::Aligned,
        "one(first);\ncall(\"message\");\ntwo(second);\none(first);\ncall(\"message\");\nthree(second);\nlast(third);\n",
    );
}

#[test]
fn a_new_line_that_looks_like_the_slip_refuses() {
    let before = "one(first);\ncall(\"message\");\ntwo(second);\nlast(third);\n";
    let block = hunk(
        "one(first);\ncall(\"messaga\");\ntwo(second);\nlast(third);\n",
        "one(first);\ncall(\"messaga\");\ntwo(second);\ncall(\"messagg\");\nlast(third);\n",
    );
    assert_eq!(
        refuses(before, block),
        HunkRefusal::Unclear(Ambiguity::ChangedTypo)
    );
}

/// Returns functions of which the first and the last end in `body`, the last one after a blank
/// line.
fn many(head: &str, body: &str) -> String {
    let function =
        |name: char, body: &str| format!("fn {name}() {{\n    let {name} = 1;\n{head}{body}}}\n");
    let others: String = ('b'..='i')
        .map(|name| function(name, "    other();\n"))
        .collect();
    let (first, last) = (function('a', body), function('z', &format!("\n{body}")));
    format!("{first}{others}{last}")
}

#[test]
fn closing_brackets_alone_propose_no_place() {
    // If only the first of the brackets were inspected, the first function would match.
    let before = many("", "    assert_ready!(notified2.poll());\n");
    let old = "\n\n    assert_ready!(notieied2.poll());\n}\n";
    let block = hunk(old, &format!("{old}\nfn more() {{}}\n"));
    assert_eq!(refuses(&before, block), HunkRefusal::NotFound);
}

#[test]
fn a_slip_is_the_only_difference_in_one_place() {
    // Only the brackets are spelt correctly, and only one place has the blank line.
    let before = many("", "    assert_ready!(notified2.poll());\n");
    let old = "\n    assert_ready!(notieied2.poll());\n}\n";
    let block = hunk(old, &format!("{old}\nfn more() {{}}\n"));
    let after = format!("{before}\nfn more() {{}}\n");
    lands(&before, block, MatchStrategy::Aligned, &after);
    // With two positions the hunk is ambiguous.
    let before = format!("{before}\n{before}");
    let block = hunk(old, &format!("{old}\nfn more() {{}}\n"));
    assert_eq!(refuses(&before, block), several(2, MatchStrategy::Aligned));
}

#[test]
fn places_that_are_not_looked_at_are_not_ruled_out() {
    // The correctly spelt line occurs in more rows than are inspected.
    let before = many("    go();\n", "    assert_ready!(notified2.poll());\n");
    let old = "    go();\n\n\n    assert_ready!(notieied2.poll());\n}\n";
    let block = hunk(old, &format!("{old}\nfn more() {{}}\n"));
    assert_eq!(refuses(&before, block), HunkRefusal::NotFound);
    // A line that occurs rarely enough identifies the place.
    let before = many(
        "    go();\n",
        "    assert_ready!(notified2.poll());\n    report_that_all_is_done();\n",
    );
    let before = before.replacen("done", "lost", 1);
    let old =
        "    go();\n\n    assert_ready!(notieied2.poll());\n    report_that_all_is_done();\n}\n";
    let new = old.replace("done", "over");
    let after = before.replace("done", "over");
    lands(&before, hunk(old, &new), MatchStrategy::Aligned, &after);
}

#[test]
fn another_name_is_no_slip() {
    // `third` and `second` are names of this file, and digits are never slips.
    for (right, wrong) in [("second - 3", "third - 3"), ("second - 3", "second - 4")] {
        let old =
            "    let second = first * 2;\n    let third = second - 3;\n\n    report(third);\n"
                .replace(right, wrong);
        let new = old.replace("report", "inform");
        assert_eq!(refuses(function(), hunk(&old, &new)), HunkRefusal::NotFound);
    }
}

#[test]
fn first_and_last_line_are_not_enough() {
    let before = "fn handle_request_with_a_long_name(request: Request) {\n    a;\n}  // handle_request_with_a_long_name ends here\n";
    let block = hunk(
        "fn handle_request_with_a_long_name(request: Request) {\n    b;\n}  // handle_request_with_a_long_name ends here\n",
        "fn handle_request_with_a_long_name(request: Request) {\n    c;\n}  // handle_request_with_a_long_name ends here\n",
    );
    let refusal = refuses(before, block);
    assert!(
        !matches!(refusal, HunkRefusal::Several { .. }),
        "{refusal:?}"
    );
}

// Several hunks, and the bytes around them.
