//! Outputs of any size.

use std::sync::Arc;

use base::AbsPath;
use host::{FakeClock, FakeFiles};

use super::*;
use crate::tools::ToolStates;
use crate::tools::tests::context_of;

fn heard() -> (OutputCollector, Arc<FakeFiles>) {
    let files = Arc::new(FakeFiles::new());
    let context = context_of(files.clone(), Arc::new(FakeClock::at(0)), "/r");
    let room = ToolStates::default().of(&context);
    (OutputCollector::new(&context.sources, &room), files)
}

#[test]
fn short_output_is_returned_unchanged_and_once() {
    let (mut heard, files) = heard();
    heard.push(b"one\ntw");
    assert_eq!(heard.take().text, "one\ntw");
    heard.push("o\nthr\u{20ac}".as_bytes());
    let fresh = heard.take();
    assert_eq!((fresh.text.as_str(), fresh.lost), ("o\nthr\u{20ac}", 0));
    assert_eq!(heard.take().text, "");
    let handle = heard.output_handle().expect("kept");
    let path = heard.room.whole.path(&handle).expect("a handle");
    assert_eq!(
        files.content(&path).as_deref(),
        Some("one\ntwo\nthr\u{20ac}".as_bytes())
    );
}

#[test]
fn split_character_waits_for_its_rest() {
    let (mut heard, _) = heard();
    heard.push(b"a\xe2\x82");
    assert_eq!(heard.take().text, "a");
    heard.push(b"\xacb");
    assert_eq!(heard.take().text, "\u{20ac}b");
}

#[test]
fn long_output_keeps_both_ends_and_counts_omitted_lines() {
    let (mut heard, files) = heard();
    let line = "x".repeat(99);
    let mut all = 0;
    for piece in 0..500 {
        let lines = (0..100).map(|ix| format!("{:05}{line}\n", piece * 100 + ix));
        let piece: String = lines.collect();
        all += piece.len();
        heard.push(piece.as_bytes());
        assert!(heard.head.len() + heard.tail.len() <= HEAD + TAIL);
    }
    let handle = heard.output_handle().expect("kept");
    let fresh = heard.take();
    assert!(fresh.text.starts_with("00000x") && fresh.text.contains("49999x"));
    assert!(fresh.text.len() <= HEAD + TAIL);
    let told = fresh.text.matches('\n').count() + fresh.lost;
    assert_eq!(told, 50_000);
    let path = heard.room.whole.path(&handle).expect("a handle");
    assert_eq!(files.content(&path).map(|kept| kept.len()), Some(all));
}

#[test]
fn output_that_cannot_be_saved_is_still_returned() {
    let files = Arc::new(FakeFiles::new());
    let context = context_of(files.clone(), Arc::new(FakeClock::at(0)), "/r");
    let room = ToolStates::default().of(&context);
    files.fail_always(host::FakeOperation::Arrange, host::ErrorReason::NoSpace);
    files.fail_always(host::FakeOperation::Save, host::ErrorReason::NoSpace);
    let mut heard = OutputCollector::new(&context.sources, &room);
    heard.push(&vec![b'x'; EARLY + 1]);
    assert_eq!(heard.output_handle(), None);
    assert_eq!(heard.take().text.len(), EARLY + 1);
    assert!(AbsPath::new("/r").is_some());
}
