//! Sentences.

use base::AbsPath;

use super::{Error, Reason};
use crate::stat::FileKind;

#[test]
fn every_error_says_what_where_and_why() {
    let path = AbsPath::new("/a/b.txt").expect("absolute");
    let check = |reason: Reason, sentence: &str| {
        assert_eq!(Error::new(&path, "save", reason).to_string(), sentence);
    };
    check(
        Reason::NoSpace,
        "cannot save /a/b.txt: the disk is full; free some space and try again",
    );
    check(
        Reason::ReadOnly,
        "cannot save /a/b.txt: the file is marked read-only; make it writable first, or save under \
         another name",
    );
    check(
        Reason::ChangedOnDisk { now: None },
        "cannot save /a/b.txt: the file was removed by another program; save again to create it \
         anew",
    );
    check(
        Reason::TooLarge { size: 10, limit: 5 },
        "cannot save /a/b.txt: it has 10 bytes, and at most 5 can be taken",
    );
    check(
        Reason::NotAFile(FileKind::Folder),
        "cannot save /a/b.txt: it is a folder, not a file",
    );
}

#[test]
fn errors_of_the_system_get_their_reason() {
    let path = AbsPath::new("/a").expect("absolute");
    let check = |code: i32, reason: Reason| {
        let error = std::io::Error::from_raw_os_error(code);
        assert_eq!(Error::from_io(&path, "save", &error).reason, reason);
    };
    check(2, Reason::NotFound);
    check(13, Reason::PermissionDenied);
    check(1, Reason::PermissionDenied);
    check(5, Reason::Device);
    check(28, Reason::NoSpace);
    check(30, Reason::ReadOnlyVolume);
    check(40, Reason::LinkLoop);
    check(122, Reason::QuotaExceeded);
    check(36, Reason::NameTooLong);
}
