//! Answers of models, and the texts that they lead to.

use base::Row;
use text::{Edit, LineEnding, RowSpan, Snapshot};

use super::{AnswerProgress, new_lines};
use crate::RewriteRegion;

/// Reads a text whose region is between « and ».
fn region_of(marked: &str) -> (Snapshot, RewriteRegion) {
    let row = |mark: char| {
        let at = marked.find(mark).expect("a mark");
        marked[..at].matches('\n').count() as u32
    };
    let rows = RowSpan {
        start: Row(row('«')),
        end: Row(row('»') + 1),
    };
    let text = marked.replace(['«', '»'], "");
    let snapshot = Snapshot::new(&text);
    let region = RewriteRegion::new(&snapshot, rows, LineEnding::of(&text));
    (snapshot, region)
}

fn applied(text: &Snapshot, edits: &[Edit]) -> String {
    let mut text = text.text(text.full_span()).into_owned();
    for edit in edits.iter().rev() {
        text.replace_range(edit.span.start.0..edit.span.end.0, &edit.text);
    }
    text
}

/// Checks that a complete answer about the lines between « and » leads to `after`.
#[track_caller]
fn check(before: &str, answer: &str, after: &str) {
    let (text, region) = region_of(before);
    let lines = new_lines(&region, answer, AnswerProgress::Complete).expect("lines");
    let edits = region.edits(&text, region.rows().start, &lines);
    assert_eq!(applied(&text, &edits), after);
}

#[test]
fn a_block_replaces_the_lines() {
    check("a\n«b»\nc\n", "```\nx\n```\n", "a\nx\nc\n");
    check("a\n«b\nc»\nd\n", "```rust\nx\n```", "a\nx\nd\n");
    check(
        "a\n«b»\nc\n",
        "Here it is:\n\n~~~~\nx\ny\n~~~~\nDone.",
        "a\nx\ny\nc\n",
    );
    check(
        "a\n«b»\nc\n",
        "```\nx\n```\nOr:\n```\ny\n```\n",
        "a\nx\nc\n",
    );
    check("«a\nb\nc»\n", "```\na\nx\nc\n```", "a\nx\nc\n");
}

#[test]
fn an_answer_without_a_fence_is_text() {
    check("a\n«b»\nc\n", "x\ny\n", "a\nx\ny\nc\n");
    check("a\n«b»\nc\n", "\n\nx\n\n", "a\nx\nc\n");
}

#[test]
fn a_block_that_is_not_closed_ends_with_the_answer() {
    check("a\n«b»\nc\n", "```\nx", "a\nx\nc\n");
    check("a\n«b»\nc\n", "```\nx\n", "a\nx\nc\n");
}

#[test]
fn fences_in_the_text_stay() {
    let before = "# T\n«```\nold\n```»\nend\n";
    check(
        before,
        "````\n```\nnew\n```\n````\n",
        "# T\n```\nnew\n```\nend\n",
    );
    check(
        before,
        "```\n```\nnew\n```\n```\n",
        "# T\n```\nnew\n```\nend\n",
    );
    let answer = "```markdown\nSee:\n```rust\nfn a() {}\n```\nend\n```\n";
    check("«See»\n", answer, "See:\n```rust\nfn a() {}\n```\nend\n");
    let doc = "    /// ```\n    /// one()\n    /// ```\n";
    check("«    /// x»\n", &format!("```rust\n{doc}```\n"), doc);
}

#[test]
fn the_line_endings_of_the_file_are_kept() {
    check(
        "a\r\n«b»\r\nc\r\n",
        "```\nx\ny\n```\n",
        "a\r\nx\r\ny\r\nc\r\n",
    );
    check("a\n«b»\nc\n", "```\r\nx\r\n```\r\n", "a\nx\nc\n");
    // A kept line keeps its own ending.
    check(
        "a\r\n«b\nc»\r\nd\r\n",
        "```\nb\nx\n```\n",
        "a\r\nb\nx\r\nd\r\n",
    );
}

#[test]
fn the_end_of_the_text_is_kept() {
    check("a\n«b»", "```\nx\n```\n", "a\nx");
    check("a\n«b»", "```\nb\nx\n```\n", "a\nb\nx");
    check("a\r\n«b»", "```\nb\nx\n```\n", "a\r\nb\r\nx");
    check("a\n«»", "```\nx\n```\n", "a\nx\n");
    check("«»", "```\nx\n```\n", "x\n");
    check("«a\nb\n»", "```\na\n```\n", "a\n");
}

#[test]
fn an_empty_block_removes_the_lines() {
    check("a\n«b\nc»\nd\n", "```\n```\n", "a\nd\n");
    check("«a»", "```\n```\n", "");
    let (_, region) = region_of("«a»\n");
    for blank in ["", "\n \n"] {
        assert_eq!(new_lines(&region, blank, AnswerProgress::Complete), None);
    }
}

#[test]
fn dropped_indentation_is_restored() {
    let before = "fn a() {\n«    if b {\n        c();\n    }»\n}\n";
    let after = "fn a() {\n    if d {\n        e();\n    }\n}\n";
    check(before, "```\nif d {\n    e();\n}\n```", after);
    check(before, "```\n    if d {\n        e();\n    }\n```", after);
    // The first line alone.
    let first = "```\nif b {\n        e();\n    }\n```";
    check(
        before,
        first,
        "fn a() {\n    if b {\n        e();\n    }\n}\n",
    );
    check(
        "{\n«\tone();»\n}\n",
        "```\ntwo();\n\nthree();\n```",
        "{\n\ttwo();\n\n\tthree();\n}\n",
    );
    check("{\n«    »\n}\n", "```\none();\n```", "{\n    one();\n}\n");
    // Tabs are not mixed with spaces, and indentation that the model added stays.
    check(
        "{\n«\tone();»\n}\n",
        "```\n  two();\n```",
        "{\n  two();\n}\n",
    );
    check(
        "{\n«  one();»\n}\n",
        "```\n    two();\n```",
        "{\n    two();\n}\n",
    );
}

#[test]
fn wrong_characters_are_removed() {
    check("«a»\nb\n", "\u{feff}```\nx\0\r\n```\n", "x\nb\n");
    check("«a»\nb\n", "```\nfünf 🎉 日本\n```\n", "fünf 🎉 日本\nb\n");
}

#[test]
fn an_equal_answer_changes_nothing() {
    for text in ["«a\n  b»\nc\n", "a\r\n«b\r\nc»\r\n", "a\n«b»", "a\n«b\n»"] {
        let (snapshot, region) = region_of(text);
        let answer = format!("```\n{}\n```\n", region.lines().join("\n"));
        let lines = new_lines(&region, &answer, AnswerProgress::Complete).expect("lines");
        assert_eq!(region.edits(&snapshot, region.rows().start, &lines), []);
    }
}

#[test]
fn a_partial_answer_grows_to_the_complete_one() {
    let answers = [
        (
            "fn a() {\n«    b();\n    c();\n    d();»\n}\n",
            "Here:\n```rust\n    x();\n    y();\n```\nDone",
        ),
        ("«# T\n```\nold\n```»\n", "````\n# T\n```\nnew\n```\n````\n"),
        ("«a\r\nb»\r\n", "```\r\na\r\nc\r\n```\r\n"),
    ];
    for (text, answer) in answers {
        let (_, region) = region_of(text);
        let complete = new_lines(&region, answer, AnswerProgress::Complete).expect("lines");
        let mut shown = 0;
        for end in (0..answer.len()).filter(|at| answer.is_char_boundary(*at)) {
            let partial = new_lines(&region, &answer[..end], AnswerProgress::Partial);
            let Some(partial) = partial else {
                continue;
            };
            if answer.starts_with("````") && partial.len() > complete.len() {
                // The closing fence is taken for text until the answer is complete.
                continue;
            }
            assert!(
                complete.starts_with(&partial),
                "{partial:?} of {complete:?}"
            );
            assert!(partial.len() >= shown);
            shown = partial.len();
            let hunks = region.hunks(&partial, AnswerProgress::Partial);
            let removed: u32 = hunks.iter().map(|hunk| hunk.before.len()).sum();
            assert!(removed as usize <= partial.len(), "{hunks:?}");
        }
    }
}

#[test]
fn edits_apply_where_the_lines_are_now() {
    let (_, region) = region_of("a\n«b\nc»\nd\n");
    let moved = Snapshot::new("new\nrows\na\nb\nc\nd\n");
    let lines = ["b".to_owned(), "x".to_owned()];
    let edits = region.edits(&moved, Row(3), &lines);
    assert_eq!(applied(&moved, &edits), "new\nrows\na\nb\nx\nd\n");
}
