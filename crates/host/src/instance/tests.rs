//! Tests of concurrent starts.

use std::io::Write as _;
use std::os::unix::net::UnixStream;

use super::{HandoffReceiver, Instance, MAX_MESSAGE_BYTES, claim};
use crate::{RealFiles, TempFolder};

fn first(folder: &TempFolder) -> HandoffReceiver {
    match claim(&RealFiles, folder.path(), "here", b"first").expect("claim") {
        Instance::First(handed) => handed,
        Instance::Other => panic!("there is another one"),
        Instance::Silent => panic!("there is a silent one"),
    }
}

fn next(handed: &HandoffReceiver) -> Option<Vec<u8>> {
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
fn instances_of_different_names_are_independent() {
    let folder = TempFolder::new().expect("a folder");
    let _handed = first(&folder);
    let other = claim(&RealFiles, folder.path(), "there", b"").expect("claim");
    assert!(matches!(other, Instance::First(_)));
}

#[test]
fn a_stale_socket_is_replaced() {
    let folder = TempFolder::new().expect("a folder");
    std::fs::write(folder.path().join("here.socket").as_path(), "left over").expect("write");
    let handed = first(&folder);
    let other = claim(&RealFiles, folder.path(), "here", b"x").expect("claim");
    assert!(matches!(other, Instance::Other));
    assert_eq!(next(&handed).as_deref(), Some(&b"x"[..]));
}

#[test]
fn an_unreachable_instance_is_reported_as_silent() {
    let folder = TempFolder::new().expect("a folder");
    let handed = first(&folder);
    std::fs::remove_file(handed.socket.as_path()).expect("remove");
    let other = claim(&RealFiles, folder.path(), "here", b"x").expect("claim");
    assert!(matches!(other, Instance::Silent));
}

#[test]
fn invalid_messages_do_not_stop_the_listener() {
    let folder = TempFolder::new().expect("a folder");
    let handed = first(&folder);
    let lie = u32::try_from(MAX_MESSAGE_BYTES + 1)
        .expect("it fits")
        .to_le_bytes();
    for bytes in [&b"ab"[..], &lie, &[255; 40]] {
        let mut stream = UnixStream::connect(handed.socket.as_path()).expect("connect");
        stream.write_all(bytes).expect("write");
    }
    let other = claim(&RealFiles, folder.path(), "here", b"after").expect("claim");
    assert!(matches!(other, Instance::Other));
    assert_eq!(next(&handed).as_deref(), Some(&b"after"[..]));
}
