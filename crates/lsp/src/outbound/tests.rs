//! The queue of messages: order, end, failure.

use std::io::{self, Read, Write, pipe};

use super::Outbound;
use crate::error::EndReason;

/// An input that nothing can be written to.
struct BrokenPipe;

impl Write for BrokenPipe {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn queued_messages_are_written_before_the_pipe_closes() {
    let (mut reader, writer) = pipe().expect("a pipe");
    let outbound = Outbound::start(writer, None).expect("a thread");
    for message in ["a", "", "é"] {
        outbound.send(message.to_owned());
    }
    outbound.close();
    outbound.send("late".to_owned());
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("closed");
    let expected = "Content-Length: 1\r\n\r\naContent-Length: 0\r\n\r\nContent-Length: 2\r\n\r\né";
    assert_eq!(text, expected);
    assert_eq!(outbound.failure(), None);
}

#[test]
fn a_failed_write_is_reported() {
    let outbound = Outbound::start(BrokenPipe, None).expect("a thread");
    outbound.send("a".to_owned());
    while outbound.failure().is_none() {
        std::thread::yield_now();
    }
    let failure = EndReason::InputFailed(io::ErrorKind::BrokenPipe);
    assert_eq!(outbound.failure(), Some(&failure));
}
