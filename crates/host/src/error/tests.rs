//! Tests of error messages.

use base::AbsPath;

use super::{Error, ErrorReason};
use crate::stat::FileKind;

#[test]
fn errors_name_operation_path_and_cause() {
    let path = AbsPath::new("/a/b.txt").expect("absolute");
    let check = |reason: ErrorReason, sentence: &str| {
        assert_eq!(Error::new(&path, "save", reason).to_string(), sentence);
    };
    check(
        ErrorReason::NoSpace,
        "cannot save /a/b.txt: the disk is full; free some space and try again",
    );
    check(
        ErrorReason::ReadOnly,
        "cannot save /a/b.txt: the file is marked read-only; make it writable first, or save under \
         another name",
    );
    check(
        ErrorReason::ChangedOnDisk { now: None },
        "cannot save /a/b.txt: the file was removed by another program; save again to recreate \
         it",
    );
    check(
        ErrorReason::TooLarge { size: 10, limit: 5 },
        "cannot save /a/b.txt: it has 10 bytes, and at most 5 can be taken",
    );
    check(
        ErrorReason::NotAFile(FileKind::Folder),
        "cannot save /a/b.txt: it is a folder, not a file",
    );
}

#[test]
fn errnos_map_to_reasons() {
    let path = AbsPath::new("/a").expect("absolute");
    let check = |code: i32, reason: ErrorReason| {
        let error = std::io::Error::from_raw_os_error(code);
        assert_eq!(Error::from_io(&path, "save", &error).reason, reason);
    };
    check(2, ErrorReason::NotFound);
    check(13, ErrorReason::PermissionDenied);
    check(1, ErrorReason::PermissionDenied);
    check(5, ErrorReason::Device);
    check(28, ErrorReason::NoSpace);
    check(30, ErrorReason::ReadOnlyVolume);
    check(40, ErrorReason::LinkLoop);
    check(122, ErrorReason::QuotaExceeded);
    check(36, ErrorReason::NameTooLong);
}
