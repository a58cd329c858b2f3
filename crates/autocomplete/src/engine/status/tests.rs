//! Sentences, and latencies.

use std::time::Duration;

use model::ModelId;

use super::{Idle, Latencies, REMEMBERED, Status, USUAL};
use crate::Source;
use crate::engine::Blocked;
use crate::validate::Refused;

#[test]
fn every_status_is_a_sentence() {
    let model = ModelId::parse("local/tab").expect("a name");
    let cases = [
        (
            Status::Blocked(Blocked::Menu),
            "Nothing is suggested: the menu of completions is open.",
        ),
        (
            Status::Shown {
                source: Source::Gap(model.clone()),
                took: Some(Duration::from_millis(210)),
            },
            "Suggested by local/tab in 210 ms.",
        ),
        (
            Status::Shown {
                source: Source::NextEdit(model.clone()),
                took: None,
            },
            "Suggested by local/tab, known before.",
        ),
        (
            Status::Shown {
                source: Source::Propagation { places: 3 },
                took: None,
            },
            "Suggested by your edits before, 3 places.",
        ),
        (
            Status::Asking {
                model: model.clone(),
            },
            "Asking local/tab.",
        ),
        (
            Status::Idle {
                model: Some(model),
                why: Idle::Refused(Refused::Breaks),
            },
            "A suggestion was left out: the text would parse worse with it; local/tab is asked.",
        ),
        (
            Status::Idle {
                model: None,
                why: Idle::Waiting,
            },
            "Waits for you to type; no model is asked.",
        ),
    ];
    for (status, sentence) in cases {
        assert_eq!(status.to_string(), sentence);
    }
}

#[test]
fn latencies_are_those_of_late() {
    let mut latencies = Latencies::default();
    assert_eq!(latencies.percentile(50), USUAL);
    for ms in 0..100 {
        latencies.note(Duration::from_millis(ms));
    }
    assert_eq!(latencies.latest.len(), REMEMBERED);
    assert_eq!(latencies.percentile(100), Duration::from_millis(99));
    assert!(latencies.percentile(0) >= Duration::from_millis(68));
}
