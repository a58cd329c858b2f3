//! Tests typographic characters of the file that a block quotes as plain ones.

use super::*;

#[test]
fn a_changed_line_keeps_its_typographic_characters() {
    for (before, old, new, after) in [
        (
            "x\nHe said \u{201c}hi\u{201d} to Tom\u{2019}s dog.\ny\n",
            "x\nHe said \"hi\" to Tom's dog.\n",
            "x\nHe said \"hi\" to Tom's cat.\n",
            "x\nHe said \u{201c}hi\u{201d} to Tom\u{2019}s cat.\ny\n",
        ),
        (
            "a(\u{201c}one\u{201d}, 1);\nb(\u{201c}two\u{201d}, 2);\n",
            "a(\"one\", 1);\nb(\"two\", 2);\n",
            "a(\"one\", 3);\nb(\"two\", 4);\n",
            "a(\u{201c}one\u{201d}, 3);\nb(\u{201c}two\u{201d}, 4);\n",
        ),
        (
            "    width: 10\u{a0}px; // wide \u{2013} very\n",
            "    width: 10 px; // wide - very\n",
            "    width: 20 px; // wide - very\n",
            "    width: 20\u{a0}px; // wide \u{2013} very\n",
        ),
        (
            "one \u{2014} two\nz\n",
            "one - two\nz\n",
            "zero\none - three\nz\n",
            "zero\none \u{2014} three\nz\n",
        ),
    ] {
        lands(before, hunk(old, new), MatchStrategy::Normalised, after);
        let bare = |text: &str| text.strip_suffix('\n').expect("a line").to_owned();
        let planned = run(before, &[text_hunk(&bare(old), &bare(new))]);
        assert_eq!(planned.apply(before), after, "{:?}", planned.hunks);
    }
}

#[test]
fn text_within_a_line_keeps_them_between_two_changes() {
    let before = "one \u{201c}two\u{201d} three four\u{2019}s\n";
    let block = text_hunk("one \"two\" three", "1 \"two\" 3");
    lands(
        before,
        block,
        MatchStrategy::Normalised,
        "1 \u{201c}two\u{201d} 3 four\u{2019}s\n",
    );
}

#[test]
fn signs_that_are_written_anew_are_as_they_are_written() {
    let before = "say(\u{201c}a\u{201d});\nz\n";
    lands(
        before,
        hunk("say(\"a\");\nz\n", "print(\"b\");\nz\n"),
        MatchStrategy::Normalised,
        "print(\"b\");\nz\n",
    );
    // It is unknown which of the quotes are the old ones.
    let block = hunk("say(\"a\");\nz\n", "say(\"a\", \"b\");\nz\n");
    assert_eq!(
        refuses(before, block),
        HunkRefusal::Unclear(Ambiguity::Punctuation)
    );
}
