//! Tests edits of several files: all or nothing, one after the other, and never outside the root.

use std::collections::BTreeMap;

use base::Row;

use super::*;
use crate::edit::{Grain, Occurrences, PatchHunk};

#[derive(Default)]
struct Files {
    texts: BTreeMap<&'static str, &'static str>,
    mark: Option<ReadMark>,
}

impl TextSource for Files {
    fn find(&self, path: &str) -> FileLookup<'_> {
        match self.texts.get(path) {
            Some(text) => FileLookup::Text(Cow::Borrowed(text)),
            None if path == "folder" => FileLookup::Refused("\"folder\" is a folder".to_owned()),
            None => FileLookup::Missing,
        }
    }

    fn guard(&self, _path: &str) -> StaleGuard<'_> {
        self.mark.as_ref().map_or(StaleGuard::Off, StaleGuard::from)
    }
}

fn files(texts: &[(&'static str, &'static str)]) -> Files {
    Files {
        texts: texts.iter().copied().collect(),
        mark: None,
    }
}

fn hunk(old: &str, new: &str) -> PatchHunk {
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

fn update(path: &str, old: &str, new: &str) -> FileEdit {
    moved(path, &[(old, new)], None)
}

fn moved(path: &str, hunks: &[(&str, &str)], to: Option<&str>) -> FileEdit {
    FileEdit {
        path: path.to_owned(),
        change: PatchOperation::Update {
            hunks: hunks.iter().map(|(old, new)| hunk(old, new)).collect(),
            move_to: to.map(str::to_owned),
        },
    }
}

fn edit(path: &str, change: PatchOperation) -> FileEdit {
    FileEdit {
        path: path.to_owned(),
        change,
    }
}

fn create(path: &str, text: &str) -> FileEdit {
    let text = text.to_owned();
    edit(path, PatchOperation::Create { text })
}

const ALL: Completeness = Completeness::All;

/// Asserts the contents of the changed files after the edits; `-` means a deleted file.
fn check(
    files: &Files,
    edits: &[FileEdit],
    completeness: Completeness,
    expected: &[(&str, &str)],
) -> SetPlan {
    let plan = plan_set(files, edits, completeness);
    let mut made = Vec::new();
    for file in &plan.files {
        let text = match &file.effect {
            FileEffect::Create { text, .. } => text.clone(),
            FileEffect::Delete => "-".to_owned(),
            FileEffect::Modify {
                text,
                replacements,
                moved_from,
            } => {
                if moved_from.is_none() {
                    let before = files.texts[file.path.as_str()];
                    assert_eq!(
                        crate::plan::apply(before, replacements),
                        *text,
                        "{}",
                        file.path
                    );
                }
                text.clone()
            }
        };
        made.push((file.path.clone(), text));
    }
    let expected: Vec<_> = expected
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect();
    assert_eq!(made, expected, "{:#?}", plan.edits);
    plan
}

fn refusal(plan: &SetPlan, edit: usize) -> Option<&'static str> {
    plan.edits[edit].hunks[0]
        .refusal
        .as_ref()
        .map(HunkRefusal::name)
}

#[test]
fn a_set_is_all_or_nothing() {
    let files = files(&[("a", "1\n"), ("b", "2\n")]);
    let good = [update("a", "1\n", "x\n"), update("b", "2\n", "y\n")];
    check(&files, &good, ALL, &[("a", "x\n"), ("b", "y\n")]);
    let bad = [update("a", "1\n", "x\n"), update("b", "lost\n", "y\n")];
    let plan = check(&files, &bad, ALL, &[]);
    assert_eq!(plan.edits[0].outcome(), HunkOutcome::Exact);
    assert_eq!(refusal(&plan, 1), Some("not-found"));
    check(&files, &bad, Completeness::Partial, &[("a", "x\n")]);
}

#[test]
fn edits_of_one_file_compose() {
    let files = files(&[("a", "1\n2\n3\n4\n")]);
    let edits = [
        update("a", "2\n", "two\nzwei\n"),
        update("./a", "zwei\n3\n", "3\n"),
        update("a", "1\n", ""),
        update("a", "4\n", "four\n"),
    ];
    check(&files, &edits, ALL, &[("a", "two\n3\nfour\n")]);
    let edits = [create("new", "1\n"), update("new", "1\n", "2\n")];
    check(&files, &edits, ALL, &[("new", "2\n")]);
    let undone = [update("a", "2\n", "two\n"), update("a", "two\n", "2\n")];
    check(&files, &undone, ALL, &[]);
}

#[test]
fn files_appear_move_and_go_away() {
    let files = files(&[("a", "1\n"), ("b", "2\n")]);
    let gone = [
        edit("a", PatchOperation::Delete { content: None }),
        moved("b", &[("2\n", "x\n")], Some("c/d")),
    ];
    let plan = check(
        &files,
        &gone,
        ALL,
        &[("a", "-"), ("b", "-"), ("c/d", "x\n")],
    );
    let FileEffect::Create { moved_from, .. } = &plan.files[2].effect else {
        panic!("{plan:?}");
    };
    assert_eq!(moved_from.as_deref(), Some("b"));
    let plan = check(&files, &[create("a", "x\n")], ALL, &[]);
    assert_eq!(refusal(&plan, 0), Some("file-exists"));
    let plan = check(&files, &[moved("b", &[], Some("a"))], ALL, &[]);
    assert_eq!(refusal(&plan, 0), Some("file-exists"));
    let text = "whole\n".to_owned();
    check(
        &files,
        &[edit("a", PatchOperation::Overwrite { text })],
        ALL,
        &[("a", "whole\n")],
    );
}

#[test]
fn what_is_not_there_cannot_change() {
    let files = files(&[("a", "1\n")]);
    for (change, expected) in [
        (update("lost", "1\n", "2\n"), "no-file"),
        (
            edit("lost", PatchOperation::Delete { content: None }),
            "no-file",
        ),
        (
            edit("folder", PatchOperation::Delete { content: None }),
            "unreadable",
        ),
        (create("a/b", "x\n"), "bad-path"),
        (moved("a", &[], None), "empty"),
        (
            edit(
                "a",
                PatchOperation::Anchored {
                    operations: Vec::new(),
                },
            ),
            "empty",
        ),
    ] {
        let plan = check(&files, std::slice::from_ref(&change), ALL, &[]);
        assert_eq!(refusal(&plan, 0), Some(expected), "{change:?}");
    }
    check(&files, &[update("new", "", "1\n")], ALL, &[("new", "1\n")]);
}

#[test]
fn paths_stay_below_the_root() {
    for (path, clean) in [
        ("a/b", "a/b"),
        ("./a//b", "a/b"),
        ("a/..b", "a/..b"),
        ("a b", "a b"),
    ] {
        assert_eq!(clean_path(path).as_deref(), Ok(clean));
    }
    for path in [
        "/a",
        "../a",
        "a/../b",
        "",
        ".",
        "a/",
        "C:\\a",
        "\\a",
        "a\\..\\..\\b",
        "~/a",
        "a\0b",
        "a\nb",
    ] {
        let refusal = clean_path(path).expect_err(path).to_string();
        assert!(refusal.contains("; "), "{refusal}");
    }
    let plan = check(&files(&[]), &[create("../a", "x\n")], ALL, &[]);
    assert_eq!(refusal(&plan, 0), Some("bad-path"));
}

#[test]
fn stale_rows_stay_stale_across_a_set() {
    let mut files = files(&[("a", "1\n2\nX\n4\n")]);
    files.mark = Some(ReadMark::new(&FileText::new("1\n2\n3\n4\n")));
    let edits = [update("a", "1\n", "one\nmore\n"), update("a", "X\n", "x\n")];
    let plan = check(&files, &edits, ALL, &[]);
    let rows = Row(3)..Row(4);
    assert_eq!(
        plan.edits[1].hunks[0].refusal,
        Some(HunkRefusal::Stale { rows })
    );
    let edits = [
        update("a", "1\n", "one\nmore\n"),
        update("a", "more\n", "less\n"),
    ];
    check(&files, &edits, ALL, &[("a", "one\nless\n2\nX\n4\n")]);
}
