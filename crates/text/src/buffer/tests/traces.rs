//! Replays recorded editing sessions key by key.

use std::io::Read;

use base::{Bias, ByteOffset, Span};
use flate2::read::GzDecoder;
use serde_json::Value;

use crate::buffer::Buffer;
use crate::edit::{EditOrigin, Timestamp};

const TRACES: [&str; 5] = [
    "automerge-paper",
    "json-crdt-patch",
    "rustcode",
    "seph-blog1",
    "sveltecomponent",
];

struct Trace {
    start: String,
    end: String,
    /// Position and length in chars, and the inserted text.
    patches: Vec<(usize, usize, String)>,
}

fn load(name: &str) -> Trace {
    let path = test_support::data(&format!("editing-traces/{name}.json.gz"));
    #[expect(clippy::disallowed_methods, reason = "test data is read where it lies")]
    let bytes = std::fs::read(&path).expect("the test data");
    let mut json = String::new();
    GzDecoder::new(&bytes[..])
        .read_to_string(&mut json)
        .expect("a gzip file");
    let value: Value = serde_json::from_str(&json).expect("a JSON file");
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    let number = |value: &Value| value.as_u64().expect("a number") as usize;
    let transactions = value["txns"].as_array().expect("a list");
    let patches = transactions
        .iter()
        .flat_map(|transaction| transaction["patches"].as_array().expect("a list"))
        .map(|patch| (number(&patch[0]), number(&patch[1]), text(&patch[2])));
    Trace {
        start: text(&value["startContent"]),
        end: text(&value["endContent"]),
        patches: patches.collect(),
    }
}

fn replay(trace: &Trace, buffer: &mut Buffer) {
    for (now, (position, deleted, inserted)) in trace.patches.iter().enumerate() {
        let start = buffer.offset_at_char(*position);
        let end = if *deleted == 0 {
            start
        } else {
            buffer.offset_at_char(position + deleted)
        };
        let origin = EditOrigin::typing(Timestamp(now as u64 * 100));
        buffer.replace(Span::new(start, end), inserted, &origin);
    }
}

fn check_undo_and_redo(trace: &Trace, buffer: &mut Buffer) {
    assert_eq!(buffer.snapshot().to_string(), trace.end);
    buffer.assert_invariants();
    while buffer.undo().is_some() {}
    assert_eq!(buffer.snapshot().to_string(), trace.start);
    while buffer.redo().is_some() {}
    assert_eq!(buffer.snapshot().to_string(), trace.end);
}

#[test]
fn traces_replay_undo_and_redo() {
    for name in TRACES {
        let trace = load(name);
        let mut buffer = Buffer::new(&trace.start);
        replay(&trace, &mut buffer);
        check_undo_and_redo(&trace, &mut buffer);
        println!("{name}: {} steps", buffer.history().len());
    }
}

#[test]
fn traces_replay_with_ten_thousand_anchors() {
    for name in TRACES {
        let trace = load(name);
        let mut buffer = Buffer::new(&trace.end);
        let anchors: Vec<_> = (0..10_000)
            .map(|ix| {
                let offset = ByteOffset(trace.end.len() * ix / 10_000);
                let bias = if ix % 2 == 0 { Bias::Left } else { Bias::Right };
                buffer.create_anchor(offset, bias)
            })
            .collect();
        // Delete the whole end text, then undo key by key with anchors in place.
        let span = buffer.snapshot().full_span();
        buffer.replace(span, &trace.start, &EditOrigin::user(Timestamp(0)));
        replay(&trace, &mut buffer);
        assert_eq!(buffer.snapshot().to_string(), trace.end);
        buffer.assert_invariants();
        let places: Vec<ByteOffset> = anchors.iter().map(|it| buffer.resolve(*it)).collect();
        let (left, right) = (places.iter().step_by(2), places.iter().skip(1).step_by(2));
        assert!(left.is_sorted() && right.is_sorted());
        while buffer.undo().is_some() {}
        while buffer.redo().is_some() {}
        assert_eq!(buffer.snapshot().to_string(), trace.end);
        buffer.assert_invariants();
    }
}
