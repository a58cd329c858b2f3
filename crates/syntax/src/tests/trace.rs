//! A recorded editing session, replayed: the tree of every hundredth step equals a fresh parse.

use std::io::Read;
use std::sync::atomic::AtomicBool;

use base::{ByteOffset, Span};
use text::{Buffer, EditOrigin, Timestamp};

use super::{parse_all, parsed};
use crate::equality::are_equal;

/// Every so many steps the trees are compared.
const STRIDE: usize = 100;

fn trace(name: &str) -> serde_json::Value {
    let path = test_support::data("editing-traces").join(name);
    #[expect(clippy::disallowed_methods, reason = "a test reads its recorded data")]
    let file = std::fs::File::open(&path).expect("the test data");
    let mut json = String::new();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut json)
        .expect("a gzip file");
    serde_json::from_str(&json).expect("a JSON file")
}

#[test]
fn the_trees_of_a_session_equal_fresh_ones() {
    let trace = trace("rustcode.json.gz");
    let start = trace["startContent"].as_str().expect("a text");
    let mut buffer = Buffer::new(start);
    let mut tree = parsed("rust", &buffer.snapshot());
    let patches = trace["txns"].as_array().expect("steps").iter();
    let patches = patches.flat_map(|txn| txn["patches"].as_array().expect("patches"));
    // Positions of the recording count chars.
    let mut mirror = start.to_owned();
    let (mut settled, mut compared) = (0, 0);
    for (step, patch) in patches.enumerate() {
        let before = buffer.snapshot();
        let number = |ix: usize| patch[ix].as_u64().expect("a number") as usize;
        let at = number(0);
        let byte = |chars: usize| {
            if mirror.is_ascii() {
                chars
            } else {
                mirror
                    .char_indices()
                    .nth(chars)
                    .map_or(mirror.len(), |(ix, _)| ix)
            }
        };
        let span = Span::new(ByteOffset(byte(at)), ByteOffset(byte(at + number(1))));
        let inserted = patch[2].as_str().expect("a text");
        mirror.replace_range(span.range(), inserted);
        let change = buffer.replace(span, inserted, &EditOrigin::typing(Timestamp(step as u64)));
        let after = buffer.snapshot();
        tree.edit(&before, &after, &change);
        let mut is_settled = parse_all(&mut tree, &after);
        if step % STRIDE != 0 {
            continue;
        }
        compared += 1;
        settled += usize::from(is_settled);
        if let Some(job) = tree.repair_job(&after) {
            tree.accept(job.run(&AtomicBool::new(false)).expect("a result"));
            is_settled = tree.is_settled();
        }
        assert!(is_settled, "step {step} settles");
        let fresh = parsed("rust", &after);
        let (ours, theirs) = (tree.trees_for_test(), fresh.trees_for_test());
        assert!(are_equal(ours, theirs), "step {step}");
    }
    assert_eq!(
        buffer.snapshot().to_string(),
        trace["endContent"].as_str().expect("a text")
    );
    println!("{settled} of {compared} trees were settled at once");
}
