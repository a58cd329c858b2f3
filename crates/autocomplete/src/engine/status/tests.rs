//! Status sentences.

use std::time::Duration;

use model::ModelId;

use super::{CompletionStatus, IdleReason};
use crate::SuggestionSource;
use crate::engine::BlockReason;
use crate::validate::RejectReason;

#[test]
fn every_status_is_a_sentence() {
    let model = ModelId::parse("local/tab").expect("a name");
    let cases = [
        (
            CompletionStatus::Blocked(BlockReason::Menu),
            "Nothing is suggested: the completion menu is open.",
        ),
        (
            CompletionStatus::Shown {
                source: SuggestionSource::Gap(model.clone()),
                took: Some(Duration::from_millis(210)),
            },
            "Suggested by local/tab in 210 ms.",
        ),
        (
            CompletionStatus::Shown {
                source: SuggestionSource::NextEdit(model.clone()),
                took: None,
            },
            "Suggested by local/tab, cached.",
        ),
        (
            CompletionStatus::Shown {
                source: SuggestionSource::Propagation { places: 3 },
                took: None,
            },
            "Suggested by your previous edits, 3 places.",
        ),
        (
            CompletionStatus::Asking {
                model: model.clone(),
            },
            "Querying local/tab.",
        ),
        (
            CompletionStatus::Idle {
                model: Some(model),
                why: IdleReason::Refused(RejectReason::Breaks),
            },
            "A suggestion was rejected: the text would parse worse with it; local/tab is queried.",
        ),
        (
            CompletionStatus::Idle {
                model: None,
                why: IdleReason::Waiting,
            },
            "Waiting for you to type; no model is queried.",
        ),
    ];
    for (status, sentence) in cases {
        assert_eq!(status.to_string(), sentence);
    }
}
