//! Outputs of any size.

use std::sync::Arc;

use base::AbsPath;
use host::{FakeClock, FakeFiles};

use super::*;
use crate::tools::Rooms;
use crate::tools::tests::context_of;

fn heard() -> (Heard, Arc<FakeFiles>) {
    let files = Arc::new(FakeFiles::new());
    let context = context_of(files.clone(), Arc::new(FakeClock::at(0)), "/r");
    let room = Rooms::default().of(&context);
    (Heard::new(&context.sources, &room), files)
}

#[test]
fn short_outputs_come_as_they_are_and_only_once() {
    let (mut heard, files) = heard();
    heard.hear(b"one\ntw");
    assert_eq!(heard.take().text, "one\ntw");
    heard.hear("o\nthr\u{20ac}".as_bytes());
    let fresh = heard.take();
    assert_eq!((fresh.text.as_str(), fresh.lost), ("o\nthr\u{20ac}", 0));
    assert_eq!(heard.take().text, "");
    let handle = heard.whole().expect("kept");
    let path = heard.room.whole.path(&handle).expect("a handle");
    assert_eq!(
        files.content(&path).as_deref(),
        Some("one\ntwo\nthr\u{20ac}".as_bytes())
    );
}

#[test]
fn a_char_that_is_cut_waits_for_its_rest() {
    let (mut heard, _) = heard();
    heard.hear(b"a\xe2\x82");
    assert_eq!(heard.take().text, "a");
    heard.hear(b"\xacb");
    assert_eq!(heard.take().text, "\u{20ac}b");
}

#[test]
fn of_a_long_output_beginning_and_end_are_held_and_the_lines_between_counted() {
    let (mut heard, files) = heard();
    let line = "x".repeat(99);
    let mut all = 0;
    for piece in 0..500 {
        let lines = (0..100).map(|ix| format!("{:05}{line}\n", piece * 100 + ix));
        let piece: String = lines.collect();
        all += piece.len();
        heard.hear(piece.as_bytes());
        assert!(heard.head.len() + heard.tail.len() <= HEAD + TAIL);
    }
    let handle = heard.whole().expect("kept");
    let fresh = heard.take();
    assert!(fresh.text.starts_with("00000x") && fresh.text.contains("49999x"));
    assert!(fresh.text.len() <= HEAD + TAIL);
    let told = fresh.text.matches('\n').count() + fresh.lost;
    assert_eq!(told, 50_000);
    let path = heard.room.whole.path(&handle).expect("a handle");
    assert_eq!(files.content(&path).map(|kept| kept.len()), Some(all));
}

#[test]
fn what_cannot_be_kept_is_still_told() {
    let files = Arc::new(FakeFiles::new());
    let context = context_of(files.clone(), Arc::new(FakeClock::at(0)), "/r");
    let room = Rooms::default().of(&context);
    files.fail_always(host::Operation::Arrange, host::Reason::NoSpace);
    files.fail_always(host::Operation::Save, host::Reason::NoSpace);
    let mut heard = Heard::new(&context.sources, &room);
    heard.hear(&vec![b'x'; EARLY + 1]);
    assert_eq!(heard.whole(), None);
    assert_eq!(heard.take().text.len(), EARLY + 1);
    assert!(AbsPath::new("/r").is_some());
}
