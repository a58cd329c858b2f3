//! Tests of symlinks, submodules, line endings and filters in real repositories.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests set up real working trees on disk"
)]

use std::fs;
use std::os::unix::fs::symlink;

use base::AbsPath;

use super::checked_out;
use crate::repository::tests::Fixture;

fn text_of(path: &AbsPath) -> Option<String> {
    let bytes = checked_out(path).expect("readable");
    bytes.map(|bytes| String::from_utf8(bytes).expect("text"))
}

#[test]
fn symlink_yields_the_text_of_its_target() {
    let (fixture, other) = (Fixture::new(), Fixture::new());
    fixture.write("real/a.txt", "one\n");
    let elsewhere = other.write("b.txt", "other\n");
    other.commit_all();
    let untracked = AbsPath::new(fixture.root().as_path()).expect("absolute");
    for (name, target) in [
        ("link", "real/a.txt"),
        ("chain", "link"),
        ("folder", "real"),
        ("out", elsewhere.to_string().as_str()),
        ("broken", "nowhere"),
    ] {
        symlink(target, untracked.join(name).as_path()).expect("link");
    }
    fixture.commit_all();
    fixture.write("real/a.txt", "two\n");
    fixture.write("new.txt", "new\n");
    symlink("new.txt", untracked.join("to-new").as_path()).expect("link");
    let at = |name: &str| text_of(&fixture.root().join(name));
    assert_eq!(at("real/a.txt").as_deref(), Some("one\n"));
    assert_eq!(at("link").as_deref(), Some("one\n"));
    assert_eq!(at("chain").as_deref(), Some("one\n"));
    assert_eq!(at("folder/a.txt").as_deref(), Some("one\n"));
    assert_eq!(at("out").as_deref(), Some("other\n"));
    assert_eq!(at("broken"), None);
    assert_eq!(at("to-new"), None);
}

#[test]
fn file_replacing_a_tracked_symlink_has_no_head_text() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "one\n");
    let link = fixture.root().join("link");
    symlink("a.txt", link.as_path()).expect("link");
    fixture.commit_all();
    fs::remove_file(link.as_path()).expect("remove");
    fixture.write("link", "a file now\n");
    assert_eq!(text_of(&link), None);
}

#[test]
fn deleted_file_still_has_head_text() {
    let fixture = Fixture::new();
    let path = fixture.write("a.txt", "one\n");
    fixture.commit_all();
    fs::remove_file(path.as_path()).expect("remove");
    assert_eq!(text_of(&path).as_deref(), Some("one\n"));
}

#[test]
fn submodule_file_is_read_from_the_inner_repository() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "outer\n");
    fixture.commit_all();
    let inner = Fixture::at(&fixture.root().join("module"));
    let path = inner.write("a.txt", "inner\n");
    inner.commit_all();
    inner.write("a.txt", "changed\n");
    assert_eq!(text_of(&path).as_deref(), Some("inner\n"));
    assert_eq!(text_of(&fixture.root().join("module")), None);
}

#[test]
fn line_endings_follow_the_working_tree() {
    let fixture = Fixture::new();
    fixture.write(
        ".gitattributes",
        "*.bat text eol=crlf\n*.sh text eol=lf\n*.raw -text\n*.u16 text working-tree-encoding=UTF-16 eol=crlf\n",
    );
    for name in ["a.bat", "a.sh", "a.raw", "a.u16", "a.txt"] {
        fixture.write(name, "one\ntwo\n");
    }
    fixture.write("mixed.raw", "one\r\ntwo\n");
    fixture.commit_all();
    let at = |name: &str| text_of(&fixture.root().join(name)).expect("tracked");
    assert_eq!(at("a.bat"), "one\r\ntwo\r\n");
    assert_eq!(at("a.sh"), "one\ntwo\n");
    assert_eq!(at("a.raw"), "one\ntwo\n");
    assert_eq!(at("mixed.raw"), "one\r\ntwo\n");
    assert_eq!(at("a.u16"), "one\r\ntwo\r\n");
    assert_eq!(at("a.txt"), "one\ntwo\n");
    fixture.configure("core.autocrlf", "true");
    assert_eq!(at("a.txt"), "one\r\ntwo\r\n");
    assert_eq!(at("a.raw"), "one\ntwo\n");
}

#[test]
fn files_with_filters_have_no_text() {
    let fixture = Fixture::new();
    fixture.write(
        ".gitattributes",
        "*.bin filter=lfs\n*.txt filter=unknown\n*.id ident\n",
    );
    let pointer = "version https://git-lfs.github.com/spec/v1\n";
    for name in ["a.bin", "a.txt", "plain.id"] {
        fixture.write(name, pointer);
    }
    fixture.write("a.id", "$Id$\n");
    fixture.commit_all();
    fixture.configure("filter.lfs.process", "git-lfs filter-process");
    let at = |name: &str| text_of(&fixture.root().join(name));
    assert_eq!(at("a.bin"), None);
    assert_eq!(at("a.txt").as_deref(), Some(pointer), "no program is set");
    assert_eq!(at("a.id"), None);
    assert_eq!(at("plain.id").as_deref(), Some(pointer));
}
