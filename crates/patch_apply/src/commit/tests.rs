//! Rollback when each step in turn fails.

use base::AbsPath;
use host::{Dirs, ErrorReason, FakeFiles, FakeOperation};
use patch::set::{FileEffect, FilePlan};

use super::*;
use crate::EditRoot;

fn path(path: &str) -> AbsPath {
    AbsPath::new(path).expect("absolute")
}

const OLD: [(&str, &str); 4] = [
    ("/r/a", "a\n"),
    ("/r/b", "b\n"),
    ("/r/gone", "gone\n"),
    ("/r/from", "from\n"),
];

fn world() -> FakeFiles {
    let files = FakeFiles::new();
    for (name, content) in OLD {
        files.write(&path(name), content);
    }
    files
}

/// Two files change, one is created, one is removed, and one is renamed and changed.
fn changes(files: &FakeFiles) -> Vec<PlannedChange> {
    let root = EditRoot::new(files, &path("/r")).expect("a folder");
    let text = |text: &str, moved_from: Option<&str>| FileEffect::Create {
        text: text.to_owned(),
        moved_from: moved_from.map(str::to_owned),
    };
    let effects = [
        ("a", text("A\n", None)),
        ("b", text("B\n", None)),
        ("from", FileEffect::Delete),
        ("gone", FileEffect::Delete),
        ("new", text("new\n", None)),
        ("to", text("moved\n", Some("from"))),
    ];
    let plan = effects.map(|(path, effect)| FilePlan {
        path: path.to_owned(),
        effect,
    });
    root.changes(&plan).expect("UTF-8")
}

fn contents(files: &FakeFiles) -> Vec<(String, Option<String>)> {
    let names = ["/r/a", "/r/b", "/r/new", "/r/gone", "/r/from", "/r/to"];
    let text = |name: &&str| {
        let content = files.content(&path(name));
        content.map(|content| String::from_utf8(content).expect("text"))
    };
    names
        .iter()
        .map(|name| ((*name).to_owned(), text(name)))
        .collect()
}

fn recovery() -> AbsPath {
    Dirs::under(&path("/state")).recovery()
}

#[test]
fn commit_applies_all_changes() {
    let files = world();
    let changes = changes(&files);
    assert_eq!(commit(&files, &recovery(), &changes), Ok(Vec::new()));
    let done: Vec<_> = contents(&files).into_iter().map(|(_, text)| text).collect();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        done,
        [
            some("A\n"),
            some("B\n"),
            some("new\n"),
            None,
            None,
            some("moved\n")
        ]
    );
    let left = files.list(&path("/r")).expect("a folder").entries.len();
    assert_eq!(left, 4, "nothing is left aside");
}

#[test]
fn failing_step_rolls_back_the_others() {
    let before = contents(&world());
    let mut failures = 0;
    for operation in [
        FakeOperation::Save,
        FakeOperation::Arrange,
        FakeOperation::Look,
    ] {
        for nth in 1..40 {
            let files = world();
            let changes = changes(&files);
            files.fail(operation, nth, ErrorReason::NoSpace);
            match commit(&files, &recovery(), &changes) {
                // Either fewer calls were made, or the very last step failed.
                Ok(_) => {
                    let is_done = contents(&files)[0].1.as_deref() == Some("A\n");
                    assert!(is_done, "{operation:?} {nth}");
                }
                Err(error) => {
                    failures += 1;
                    let sentence = error.to_string();
                    assert!(sentence.ends_with("nothing was changed"), "{sentence}");
                    assert_eq!(contents(&files), before, "{operation:?} {nth}: {sentence}");
                }
            }
        }
    }
    assert!(failures > 10, "{failures}");
}

#[test]
fn file_changed_since_read_is_not_overwritten() {
    let files = world();
    let changes = changes(&files);
    files.write(&path("/r/b"), "mine\n");
    let error = commit(&files, &recovery(), &changes).expect_err("refused");
    assert!(error.is_external_change());
    let sentence = error.to_string();
    assert!(
        sentence.contains("/r/b") && sentence.ends_with("nothing was changed"),
        "{sentence}"
    );
    assert_eq!(files.content(&path("/r/a")).as_deref(), Some(&b"a\n"[..]));
}

#[test]
fn failed_rollback_is_reported() {
    let files = world();
    let changes = changes(&files);
    files.fail(FakeOperation::Save, 2, ErrorReason::NoSpace);
    files.fail(FakeOperation::Save, 3, ErrorReason::Device);
    let sentence = commit(&files, &recovery(), &changes)
        .expect_err("refused")
        .to_string();
    assert!(sentence.contains("could not all be put back"), "{sentence}");
}
