//! Tests that detected renames equal those of git.

use std::convert::Infallible;

use super::{RenameFile, find};
use crate::merge::{EntryMode, ObjectEntry, TreePath};

fn file(path: &str, text: &str) -> RenameFile {
    RenameFile {
        path: TreePath::from(path),
        entry: ObjectEntry::of_bytes(EntryMode::Plain, text.as_bytes()),
        is_wanted: true,
    }
}

fn check(gone: &[(&str, &str)], new: &[(&str, &str)], expected: &[(&str, &str)]) {
    let files = |list: &[(&str, &str)]| -> Vec<RenameFile> {
        list.iter().map(|(path, text)| file(path, text)).collect()
    };
    let read = |entry: &ObjectEntry| Ok::<_, Infallible>(entry.bytes.clone().unwrap());
    let Ok(found) = find(&files(gone), &files(new), &read);
    let found: Vec<(String, String)> = found
        .iter()
        .map(|(from, to)| (from.to_string(), to.to_string()))
        .collect();
    let expected: Vec<(String, String)> = expected
        .iter()
        .map(|(from, to)| (from.to_string(), to.to_string()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn renames_by_content_by_name_and_by_similarity() {
    let text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
    let near = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n8\n";
    let other = "alpha\nbeta\ngamma\n";
    check(&[("a", text)], &[("b", text)], &[("a", "b")]);
    check(&[("a", text)], &[("b", near)], &[("a", "b")]);
    check(&[("a", text)], &[("b", other)], &[]);
    check(&[("a", "")], &[("b", "")], &[]);
    // The more similar file wins.
    check(&[("a", text)], &[("b", near), ("c", text)], &[("a", "c")]);
    // The same file name wins over similarity in another folder.
    check(
        &[("x/a", text)],
        &[("b", near), ("y/a", near)],
        &[("x/a", "y/a")],
    );
}
