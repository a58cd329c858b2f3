//! Tests of change detection, and of refused reads.

use std::path::Path;

use base::AbsPath;

use super::{BulkStat, FileVersion, RandomAccessFile};
use crate::error::ErrorReason;
use crate::stat::FileKind;
use crate::{Files, RealFiles, TempFolder};

fn folder() -> (TempFolder, BulkStat) {
    let folder = TempFolder::new().expect("a temporary folder");
    let survey = BulkStat::open(folder.path()).expect("it is there");
    (folder, survey)
}

fn write(root: &AbsPath, name: &str, content: &[u8]) {
    RealFiles
        .write_private(&root.join(name), content)
        .expect("write");
}

fn text(survey: &BulkStat, name: &str) -> (Vec<u8>, FileVersion) {
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
fn reading_returns_the_version_of_the_bytes() {
    let (folder, survey) = folder();
    write(folder.path(), "a", b"some text");
    let (content, mark) = text(&survey, "a");
    assert_eq!(content, b"some text");
    assert_eq!(survey.version(Path::new("a")), Some(mark));
    assert_eq!((mark.kind, mark.size), (FileKind::File, 9));
    assert_eq!(survey.version(Path::new("b")), None);
    let root = survey.version(Path::new("")).expect("the folder");
    assert_eq!(root.kind, FileKind::Folder);
}

#[test]
fn changed_content_changes_the_version() {
    let (folder, survey) = folder();
    write(folder.path(), "a", b"one");
    let before = survey.version(Path::new("a"));
    write(folder.path(), "a", b"two");
    assert_ne!(survey.version(Path::new("a")), before);
}

#[test]
fn a_reset_mtime_does_not_hide_a_change() {
    let (folder, survey) = folder();
    write(folder.path(), "a", b"one");
    let path = folder.path().join("a");
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(path.as_path())
        .expect("open");
    let before = survey.version(Path::new("a")).expect("there");
    let mtime = std::fs::metadata(path.as_path())
        .and_then(|metadata| metadata.modified())
        .expect("a time");
    // Until the file system's clock has advanced.
    let changed = (0..10_000_000).any(|_| {
        std::os::unix::fs::FileExt::write_all_at(&file, b"two", 0).expect("write");
        file.set_modified(mtime).expect("set");
        let now = survey.version(Path::new("a")).expect("there");
        assert_eq!((now.mtime_ns, now.size), (before.mtime_ns, before.size));
        now != before
    });
    assert!(changed);
}

#[test]
fn a_recent_change_is_not_settled() {
    let (folder, survey) = folder();
    write(folder.path(), "a", b"one");
    let mark = survey.version(Path::new("a")).expect("there");
    assert!(!mark.is_settled_before(survey.now()));
    let old = FileVersion {
        mtime_ns: mark.mtime_ns - 60_000_000,
        ctime_ns: (mark.ctime_ns - 60_000_000) | 1,
        ..mark
    };
    assert!(old.is_settled_before(survey.now()));
    let coarse = FileVersion {
        ctime_ns: mark.ctime_ns / 1_000_000_000 * 1_000_000_000,
        ..old
    };
    assert!(!coarse.is_settled_before(survey.now()));
}

#[test]
fn links_and_folders_are_not_read() {
    let (folder, survey) = folder();
    write(folder.path(), "a", b"one");
    std::os::unix::fs::symlink("a", folder.path().join("link").as_path()).expect("a link");
    let kind = |name: &str| survey.version(Path::new(name)).map(|mark| mark.kind);
    assert_eq!(kind("link"), Some(FileKind::BrokenLink));
    let refused = |name: &str| {
        survey
            .read(Path::new(name), &mut [0; 3], &mut |_| true)
            .expect_err("refused")
            .reason
    };
    assert_eq!(refused("link"), ErrorReason::LinkLoop);
    assert_eq!(refused("."), ErrorReason::NotAFile(FileKind::Folder));
    assert!(refused("gone") == ErrorReason::NotFound);
}

#[test]
fn pages_are_read_at_any_offset() {
    let (folder, _) = folder();
    write(folder.path(), "pages", b"0123456789");
    let pages = RandomAccessFile::open(&folder.path().join("pages")).expect("open");
    let mut piece = [0; 4];
    pages.read_at(3, &mut piece).expect("in it");
    assert_eq!((&piece, pages.len()), (b"3456", 10));
    assert!(pages.read_at(8, &mut piece).is_err());
    assert!(RandomAccessFile::open(folder.path()).is_err());
}
