//! Tests of concurrent starts.

use std::io::Write as _;
use std::os::unix::net::UnixStream;

use super::{HandoffReceiver, Instance, MAX_MESSAGE_BYTES, MAX_SOCKET_PATH, claim, socket_path};
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
fn a_path_too_long_for_a_socket_has_a_private_substitute() {
    let folder = TempFolder::new().expect("a folder");
    // The usual temporary folder can have a long path itself.
    let short = TempFolder::inside("/tmp".as_ref()).expect("a folder");
    let temporary = short.path().as_path();
    let long = |last: &str| folder.path().join("deep".repeat(30)).join(last);
    let near = socket_path(folder.path(), "here", temporary).expect("a path");
    assert_eq!(near, folder.path().join("here.socket"));
    let [one, again, other] = ["a", "a", "b"].map(|last| {
        let path = socket_path(&long(last), "here", temporary);
        path.expect("a path")
    });
    assert_eq!(one, again);
    assert_ne!(one, other);
    assert!(one.as_path().as_os_str().len() <= MAX_SOCKET_PATH, "{one}");
    let parent = one.as_path().parent().expect("a folder").to_owned();
    let mode = std::fs::metadata(&parent).expect("a folder").permissions();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o077, 0);
    // A link in its place is refused: another user may have put it there.
    std::fs::remove_dir(&parent).expect("empty");
    std::os::unix::fs::symlink("/tmp", &parent).expect("a link");
    socket_path(&long("a"), "here", temporary).expect_err("a link");
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
