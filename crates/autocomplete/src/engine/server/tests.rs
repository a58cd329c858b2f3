//! Latencies, and servers that process requests in turn or in parallel.

use std::time::Duration;

use model::ModelId;

use super::{Latencies, REMEMBERED, ServerObservation, USUAL};
use crate::cache::CaretText;
use crate::engine::RequestId;
use crate::engine::in_flight::{ActiveRequest, ExpectedReply, RequestPurpose};
use crate::samples::state;
use crate::validate::CompletionStream;

#[test]
fn latencies_are_the_most_recent_ones() {
    let mut latencies = Latencies::default();
    assert_eq!(latencies.percentile(50), USUAL);
    for ms in 0..100 {
        latencies.note(Duration::from_millis(ms));
    }
    assert_eq!(latencies.latest.len(), REMEMBERED);
    assert_eq!(latencies.percentile(100), Duration::from_millis(99));
    assert!(latencies.percentile(0) >= Duration::from_millis(68));
}

fn request(number: u64, asked: u64) -> ActiveRequest {
    let state = state("", "ˇ");
    ActiveRequest {
        id: RequestId(number),
        purpose: RequestPurpose::Now,
        model: ModelId::parse("local/tab").expect("a name"),
        asked: Duration::from_millis(asked),
        expected: ExpectedReply::Gap {
            caret_text: CaretText::of(&state),
            stream: Box::new(CompletionStream::new(&state, state.caret)),
        },
        is_outdated: false,
    }
}

/// Observes pairs of overlapping requests: sent 50 ms apart, completed after 200 ms and `second`.
fn observed(second: u64) -> ServerObservation {
    let mut server = ServerObservation::default();
    for pair in 0..20 {
        let start = pair * 10_000;
        let (first, later) = (request(pair * 2, start), request(pair * 2 + 1, start + 50));
        let at = |ms: u64| Duration::from_millis(start + ms);
        if second < 200 {
            server.completed(&later, &[first], at(second));
            server.completed(&request(pair * 2, start), &[], at(200));
        } else {
            server.completed(&first, &[request(pair * 2 + 1, start + 50)], at(200));
            server.completed(&later, &[], at(second));
        }
    }
    server
}

#[test]
fn a_server_that_completes_in_turn_is_serial() {
    assert!(observed(400).is_serial());
    assert!(!observed(180).is_serial(), "the later request overtakes");
    assert!(!observed(210).is_serial(), "both are completed at once");
    assert!(!ServerObservation::default().is_serial());
}

#[test]
fn requests_that_do_not_overlap_say_nothing() {
    let mut server = ServerObservation::default();
    for number in 0..50 {
        let asked = number * 1_000;
        let now = Duration::from_millis(asked + 200);
        server.completed(&request(number, asked), &[], now);
    }
    assert!(!server.is_serial());
    assert_eq!(server.latency(90), Duration::from_millis(200));
}
