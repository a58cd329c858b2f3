//! What a mark notices, and what reading refuses.

use std::path::Path;

use base::AbsPath;

use super::{Mark, Pages, Survey};
use crate::error::Reason;
use crate::stat::FileKind;
use crate::{Files, RealFiles, TempFolder};

fn folder() -> (TempFolder, Survey) {
    let folder = TempFolder::new().expect("a temporary folder");
    let survey = Survey::open(folder.path()).expect("it is there");
    (folder, survey)
}

fn write(root: &AbsPath, name: &str, content: &[u8]) {
    RealFiles
        .write_private(&root.join(name), content)
        .expect("write");
}

fn text(survey: &Survey, name: &str) -> (Vec<u8>, Mark) {
    let mut content = Vec::new();
    let mark = survey
        .read(Path::new(name), &mut [0; 3], &mut |piece| {
            content.extend_from_slice(piece);
            true
        })
        .expect("read");
    (content, mark)
}

#[test]
fn a_file_is_read_with_its_mark() {
    let (folder, survey) = folder();
    write(folder.path(), "a", b"some text");
    let (content, mark) = text(&survey, "a");
    assert_eq!(content, b"some text");
    assert_eq!(survey.mark(Path::new("a")), Some(mark));
    assert_eq!((mark.kind, mark.size), (FileKind::File, 9));
    assert_eq!(survey.mark(Path::new("b")), None);
    let root = survey.mark(Path::new("")).expect("the folder");
    assert_eq!(root.kind, FileKind::Folder);
}

#[test]
fn another_content_is_another_mark() {
    let (folder, survey) = folder();
    write(folder.path(), "a", b"one");
    let before = survey.mark(Path::new("a"));
    write(folder.path(), "a", b"two");
    assert_ne!(survey.mark(Path::new("a")), before);
}

#[test]
fn an_old_time_on_it_does_not_hide_a_change() {
    let (folder, survey) = folder();
    write(folder.path(), "a", b"one");
    let path = folder.path().join("a");
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(path.as_path())
        .expect("open");
    let before = survey.mark(Path::new("a")).expect("there");
    let mtime = std::fs::metadata(path.as_path())
        .and_then(|metadata| metadata.modified())
        .expect("a time");
    // Until the clock of the file system went on.
    let changed = (0..10_000_000).any(|_| {
        std::os::unix::fs::FileExt::write_all_at(&file, b"two", 0).expect("write");
        file.set_modified(mtime).expect("set");
        let now = survey.mark(Path::new("a")).expect("there");
        assert_eq!((now.mtime_ns, now.size), (before.mtime_ns, before.size));
        now != before
    });
    assert!(changed);
}

#[test]
fn what_changed_just_now_is_not_settled() {
    let (folder, survey) = folder();
    write(folder.path(), "a", b"one");
    let mark = survey.mark(Path::new("a")).expect("there");
    assert!(!mark.is_settled_before(survey.moment()));
    let old = Mark {
        mtime_ns: mark.mtime_ns - 60_000_000,
        ctime_ns: (mark.ctime_ns - 60_000_000) | 1,
        ..mark
    };
    assert!(old.is_settled_before(survey.moment()));
    let coarse = Mark {
        ctime_ns: mark.ctime_ns / 1_000_000_000 * 1_000_000_000,
        ..old
    };
    assert!(!coarse.is_settled_before(survey.moment()));
}

#[test]
fn links_and_folders_are_not_read() {
    let (folder, survey) = folder();
    write(folder.path(), "a", b"one");
    std::os::unix::fs::symlink("a", folder.path().join("link").as_path()).expect("a link");
    let kind = |name: &str| survey.mark(Path::new(name)).map(|mark| mark.kind);
    assert_eq!(kind("link"), Some(FileKind::BrokenLink));
    let refused = |name: &str| {
        survey
            .read(Path::new(name), &mut [0; 3], &mut |_| true)
            .expect_err("refused")
            .reason
    };
    assert_eq!(refused("link"), Reason::LinkLoop);
    assert_eq!(refused("."), Reason::NotAFile(FileKind::Folder));
    assert!(refused("gone") == Reason::NotFound);
}

#[test]
fn pages_are_read_at_any_place() {
    let (folder, _) = folder();
    write(folder.path(), "pages", b"0123456789");
    let pages = Pages::open(&folder.path().join("pages")).expect("open");
    let mut piece = [0; 4];
    pages.read_at(3, &mut piece).expect("in it");
    assert_eq!((&piece, pages.len()), (b"3456", 10));
    assert!(pages.read_at(8, &mut piece).is_err());
    assert!(Pages::open(folder.path()).is_err());
}
