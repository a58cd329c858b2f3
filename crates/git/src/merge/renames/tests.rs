//! Renames, as git finds them.

use std::convert::Infallible;

use super::{File, find};
use crate::merge::{Entry, Mode, TreePath};

fn file(path: &str, text: &str) -> File {
    File {
        path: TreePath::from(path),
        entry: Entry::of_bytes(Mode::Plain, text.as_bytes()),
        is_wanted: true,
    }
}

fn check(gone: &[(&str, &str)], new: &[(&str, &str)], expected: &[(&str, &str)]) {
    let files = |list: &[(&str, &str)]| -> Vec<File> {
        list.iter().map(|(path, text)| file(path, text)).collect()
    };
    let read = |entry: &Entry| Ok::<_, Infallible>(entry.bytes.clone().unwrap());
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
fn renames_by_bytes_by_name_and_by_likeness() {
    let text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
    let near = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n8\n";
    let other = "alpha\nbeta\ngamma\n";
    check(&[("a", text)], &[("b", text)], &[("a", "b")]);
    check(&[("a", text)], &[("b", near)], &[("a", "b")]);
    check(&[("a", text)], &[("b", other)], &[]);
    check(&[("a", "")], &[("b", "")], &[]);
    // The better one gets it.
    check(&[("a", text)], &[("b", near), ("c", text)], &[("a", "c")]);
    // The same last name goes before a likeness elsewhere.
    check(
        &[("x/a", text)],
        &[("b", near), ("y/a", near)],
        &[("x/a", "y/a")],
    );
}
