//! All or nothing, with every step made to fail.

use base::AbsPath;
use host::{Dirs, FakeFiles, Operation, Reason};
use patch::set::{Effect, FilePlan};

use super::*;
use crate::ground::Ground;

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

/// Two files change, one appears, one goes, one moves and changes.
fn changes(files: &FakeFiles) -> Vec<Change> {
    let ground = Ground::new(files, &path("/r")).expect("a folder");
    let text = |text: &str, moved_from: Option<&str>| Effect::Create {
        text: text.to_owned(),
        moved_from: moved_from.map(str::to_owned),
    };
    let effects = [
        ("a", text("A\n", None)),
        ("b", text("B\n", None)),
        ("from", Effect::Delete),
        ("gone", Effect::Delete),
        ("new", text("new\n", None)),
        ("to", text("moved\n", Some("from"))),
    ];
    let plan = effects.map(|(path, effect)| FilePlan {
        path: path.to_owned(),
        effect,
    });
    ground.changes(&plan).expect("UTF-8")
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
    Dirs::below(&path("/state")).recovery()
}

#[test]
fn everything_is_done() {
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
fn a_step_that_fails_undoes_the_others() {
    let before = contents(&world());
    let mut failures = 0;
    for operation in [Operation::Save, Operation::Arrange, Operation::Look] {
        for nth in 1..40 {
            let files = world();
            let changes = changes(&files);
            files.fail(operation, nth, Reason::NoSpace);
            match commit(&files, &recovery(), &changes) {
                // There were fewer calls than that, or it was the very last step of all.
                Ok(_) => {
                    let is_done = contents(&files)[0].1.as_deref() == Some("A\n");
                    assert!(is_done, "{operation:?} {nth}");
                }
                Err(CommitError { sentence, .. }) => {
                    failures += 1;
                    assert!(sentence.ends_with("nothing was changed"), "{sentence}");
                    assert_eq!(contents(&files), before, "{operation:?} {nth}: {sentence}");
                }
            }
        }
    }
    assert!(failures > 10, "{failures}");
}

#[test]
fn what_changed_since_it_was_read_is_left_alone() {
    let files = world();
    let changes = changes(&files);
    files.write(&path("/r/b"), "mine\n");
    let error = commit(&files, &recovery(), &changes).expect_err("refused");
    assert!(error.is_external);
    let sentence = error.sentence;
    assert!(
        sentence.contains("/r/b") && sentence.ends_with("nothing was changed"),
        "{sentence}"
    );
    assert_eq!(files.content(&path("/r/a")).as_deref(), Some(&b"a\n"[..]));
}

#[test]
fn what_cannot_be_put_back_is_said() {
    let files = world();
    let changes = changes(&files);
    files.fail(Operation::Save, 2, Reason::NoSpace);
    files.fail(Operation::Save, 3, Reason::Device);
    let sentence = commit(&files, &recovery(), &changes)
        .expect_err("refused")
        .sentence;
    assert!(sentence.contains("could not all be put back"), "{sentence}");
}
