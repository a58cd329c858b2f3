//! Tests edits of line endings, from diffs and as text.

use crate::edit::Occurrences;
use crate::format::{EditFormat, parse};
use crate::outcome::HunkRefusal;
use crate::{FileText, StaleGuard, plan};

use super::*;

/// Applies the diff to a text; fails with the first refusal.
fn apply(before: &str, diff: &str) -> Result<String, HunkRefusal> {
    let parsed = parse(EditFormat::UnifiedDiff, diff);
    assert!(!parsed.has_losses(), "{:?}", parsed.problems);
    let planned = plan(
        &FileText::new(before),
        &parsed.files[0].change,
        StaleGuard::Off,
    );
    match planned.hunks.iter().find_map(|hunk| hunk.refusal.clone()) {
        Some(refusal) => Err(refusal),
        None => Ok(planned.apply(before)),
    }
}

fn diff(hunk: &str) -> String {
    format!("--- a/f\n+++ b/f\n{hunk}")
}

#[test]
fn a_diff_of_line_endings_changes_them() {
    for (before, hunk, after) in [
        (
            "a\r\nb\r\nc\r\n",
            "@@ -1,3 +1,3 @@\n a\r\n-b\r\n+b\n c\r\n",
            "a\r\nb\nc\r\n",
        ),
        (
            "a\nb\nc\n",
            "@@ -1,3 +1,3 @@\n a\n-b\n+b\r\n c\n",
            "a\nb\r\nc\n",
        ),
        (
            "a\r\nb\r\n",
            "@@ -1,2 +1,2 @@\n-a\r\n-b\r\n+a\n+b\n",
            "a\nb\n",
        ),
        (
            "a\r\nb\r\n",
            "@@ -1,2 +1,3 @@\n a\r\n+x\n b\r\n",
            "a\r\nx\nb\r\n",
        ),
        (
            "a\r\n\r\nb\r\n",
            "@@ -1,3 +1,3 @@\n-a\r\n-\r\n-b\r\n+a\n+\n+c\n",
            "a\n\nc\n",
        ),
    ] {
        assert_eq!(apply(before, &diff(hunk)).as_deref(), Ok(after), "{hunk:?}");
    }
}

#[test]
fn endings_that_the_file_does_not_have_are_not_changed() {
    let refusal = apply("a\nb\n", &diff("@@ -1,2 +1,2 @@\n-a\r\n-b\r\n+a\n+b\n"));
    assert_eq!(refusal, Err(HunkRefusal::OtherEndings));
    let refusal = apply("x\ny\n", &diff("@@ -1,2 +1,2 @@\n-a\r\n-b\r\n+a\n+b\n"));
    assert_eq!(refusal, Err(HunkRefusal::NotFound));
}

#[test]
fn endings_all_alike_are_those_of_the_file() {
    let hunk = "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n";
    assert_eq!(
        apply("a\r\nb\r\n", &diff(hunk)).as_deref(),
        Ok("a\r\nc\r\n")
    );
    assert_eq!(apply("a\nb\n", &diff(hunk)).as_deref(), Ok("a\nc\n"));
    // If every line of the message ends with `\r\n`, the endings do not refer to the file.
    let message = diff("@@ -1,2 +1,2 @@\n a\n-b\n+c\n").replace('\n', "\r\n");
    assert_eq!(apply("a\nb\n", &message).as_deref(), Ok("a\nc\n"));
}

#[test]
fn text_that_differs_only_in_endings_changes_them() {
    let hunk = |old: &str, new: &str| PatchHunk {
        old: old.to_owned(),
        new: new.to_owned(),
        grain: Grain::Text,
        occurrences: Occurrences::One,
        context: Vec::new(),
        row: None,
        at_end: false,
        in_order: false,
        source: 0..0,
    };
    assert!(change(&hunk("a\r\nb", "a\nb")));
    assert!(!change(&hunk("a\r\nb", "a\nc")));
    let found = find(&FileText::new("x\r\na\r\nb\r\n"), &hunk("a\r\nb", "a\nb")).expect("a place");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].rows, 1..3);
}
