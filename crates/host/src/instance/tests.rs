//! Starts that meet each other.

use std::io::Write as _;
use std::os::unix::net::UnixStream;

use super::{Handed, Instance, LONGEST, claim};
use crate::{RealFiles, TempFolder};

fn first(folder: &TempFolder) -> Handed {
    match claim(&RealFiles, folder.path(), "here", b"first").expect("claim") {
        Instance::First(handed) => handed,
        Instance::Other => panic!("there is another one"),
        Instance::Silent => panic!("there is a silent one"),
    }
}

fn next(handed: &Handed) -> Option<Vec<u8>> {
    handed.messages.recv_blocking().ok()
}

#[test]
fn a_later_start_hands_its_message_over() {
    let folder = TempFolder::new().expect("a folder");
    let handed = first(&folder);
    for message in [&b"a\0b"[..], b"", b"\xff\xfe"] {
        let other = claim(&RealFiles, folder.path(), "here", message).expect("claim");
        assert!(matches!(other, Instance::Other));
        assert_eq!(next(&handed).as_deref(), Some(message));
    }
}

#[test]
fn names_do_not_meet() {
    let folder = TempFolder::new().expect("a folder");
    let _handed = first(&folder);
    let other = claim(&RealFiles, folder.path(), "there", b"").expect("claim");
    assert!(matches!(other, Instance::First(_)));
}

#[test]
fn what_a_crash_left_is_taken_over() {
    let folder = TempFolder::new().expect("a folder");
    std::fs::write(folder.path().join("here.socket").as_path(), "left over").expect("write");
    let handed = first(&folder);
    let other = claim(&RealFiles, folder.path(), "here", b"x").expect("claim");
    assert!(matches!(other, Instance::Other));
    assert_eq!(next(&handed).as_deref(), Some(&b"x"[..]));
}

#[test]
fn one_that_does_not_answer_is_said_to_be_silent() {
    let folder = TempFolder::new().expect("a folder");
    let handed = first(&folder);
    std::fs::remove_file(handed.socket.as_path()).expect("remove");
    let other = claim(&RealFiles, folder.path(), "here", b"x").expect("claim");
    assert!(matches!(other, Instance::Silent));
}

#[test]
fn hostile_bytes_do_not_end_the_listening() {
    let folder = TempFolder::new().expect("a folder");
    let handed = first(&folder);
    let lie = u32::try_from(LONGEST + 1).expect("it fits").to_le_bytes();
    for bytes in [&b"ab"[..], &lie, &[255; 40]] {
        let mut stream = UnixStream::connect(handed.socket.as_path()).expect("connect");
        stream.write_all(bytes).expect("write");
    }
    let other = claim(&RealFiles, folder.path(), "here", b"after").expect("claim");
    assert!(matches!(other, Instance::Other));
    assert_eq!(next(&handed).as_deref(), Some(&b"after"[..]));
}
