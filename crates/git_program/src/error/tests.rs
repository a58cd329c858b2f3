//! Tests of the reasons recognized in messages.

use std::path::PathBuf;

use base::AbsPath;

use super::Error;
use crate::output_log::OutputLog;

fn recognized(text: &str) -> Error {
    let mut log = OutputLog::default();
    log.push(text.as_bytes());
    let root = AbsPath::new("/r").expect("absolute");
    Error::recognize("commit", &root, &log)
}

#[test]
fn a_held_index_names_the_lock_file() {
    let error =
        recognized("fatal: Unable to create '/r/.git/index.lock': File exists.\n\nAnother git");
    let Error::IndexLocked { path, .. } = &error else {
        panic!("{error:?}");
    };
    assert_eq!(path.as_path().to_str(), Some("/r/.git/index.lock"));
    assert!(error.to_string().contains("another program"));
}

#[test]
fn files_that_would_be_overwritten_are_listed() {
    let text = "error: Your local changes to the following files would be overwritten by checkout:\n\
                \ta b.txt\n\tc/d\nPlease commit your changes or stash them.\nAborting\n";
    let Error::LocalChanges { paths } = recognized(text) else {
        panic!("another error");
    };
    assert_eq!(paths, ["a b.txt", "c/d"].map(PathBuf::from));
    let text = "error: Entry 'a b.txt' not uptodate. Cannot merge.\n\
                fatal: Could not reset index file to revision 'x'.\n";
    let Error::LocalChanges { paths } = recognized(text) else {
        panic!("another error");
    };
    assert_eq!(paths, [PathBuf::from("a b.txt")]);
}

#[test]
fn usual_failures_have_their_own_reasons() {
    let signing = "error: gpg failed to sign the data:\ngpg: Inappropriate ioctl for device\n\
                   fatal: failed to write commit object\n";
    assert!(matches!(
        recognized(signing),
        Error::SigningFailed {
            needs_terminal: true,
            ..
        }
    ));
    assert!(matches!(
        recognized("fatal: empty ident name (for <>) not allowed"),
        Error::IdentityMissing
    ));
    assert!(matches!(
        recognized("On branch main\nnothing to commit, working tree clean\n"),
        Error::NothingStaged { .. }
    ));
    assert!(matches!(
        recognized("git@h: Permission denied (publickey)."),
        Error::Authentication { .. }
    ));
    assert!(matches!(
        recognized("ssh: connect to host h port 22: Connection refused"),
        Error::Unreachable { .. }
    ));
    let other = recognized("fatal: bad thing\n");
    assert_eq!(other.to_string(), "git commit failed: fatal: bad thing");
}
