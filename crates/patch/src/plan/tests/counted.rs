//! Tests that every place that matches apart from white space counts.

use super::*;

#[test]
fn a_place_of_uneven_indentation_counts() {
    // Both places equal the block after trimming; only the second is indented consistently.
    let before = "    if a:\n        b()\nx\n  if a:\n    b()\n";
    let block = hunk("if a:\n  b()\n", "if a:\n  c()\n");
    assert_eq!(
        refuses(before, block),
        several(2, MatchStrategy::Reindented)
    );
}

#[test]
fn a_place_with_other_white_space_at_line_ends_counts() {
    let before = "    a; \n    b;\nx\n  a;\n  b;\n";
    let block = hunk("    a;\n    b;\n", "    c;\n");
    assert_eq!(
        refuses(before, block),
        several(2, MatchStrategy::Normalised)
    );
    // Only the first place equals the quoted lines exactly.
    let before = before.replace("a; \n", "a;\n");
    let block = hunk("    a;\n    b;\n", "    c;\n");
    lands(
        &before,
        block,
        MatchStrategy::Exact,
        "    c;\nx\n  a;\n  b;\n",
    );
}

#[test]
fn a_place_with_more_blank_lines_counts() {
    let gap = "\n".repeat(6);
    let before = format!("first(1)\n\nsecond(2)\nx\nfirst(1){gap}second(2)\n");
    let block = hunk("first(1)\nsecond(2)\n", "first(1)\nsecond(3)\n");
    assert_eq!(refuses(&before, block), several(2, MatchStrategy::Aligned));
}

#[test]
fn text_that_fits_one_of_two_matches_is_ambiguous() {
    // The second place has trailing white space inside the changed part.
    let before = "x alpha \u{2018}beta\u{2019}\ngamma y\nx alpha \u{2018}beta\u{2019} \ngamma y\n";
    let block = text_hunk("alpha 'beta'\ngamma", "one 'beta'\ntwo");
    assert_eq!(
        refuses(before, block.clone()),
        several(2, MatchStrategy::Normalised)
    );
    let all = PatchHunk {
        occurrences: Occurrences::All,
        ..block
    };
    assert_eq!(
        refuses(before, all),
        HunkRefusal::Unclear(Ambiguity::Punctuation)
    );
}

#[test]
fn a_line_number_tells_one_of_several_places() {
    let before = "    if a:\n        b()\nx\n  if a:\n    b()\n";
    let block = PatchHunk {
        row: Some(Row(3)),
        ..hunk("if a:\n  b()\n", "if a:\n  c()\n")
    };
    let after = "    if a:\n        b()\nx\n  if a:\n    c()\n";
    lands(before, block, MatchStrategy::Reindented, after);
    let uneven = PatchHunk {
        row: Some(Row(0)),
        ..hunk("if a:\n  b()\n", "if a:\n  c()\n")
    };
    assert_eq!(
        refuses(before, uneven),
        HunkRefusal::Unclear(Ambiguity::Indentation)
    );
}
