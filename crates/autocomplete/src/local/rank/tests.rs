//! Ranking and threshold after outcomes.

use super::{RankFeatures, Ranker, SuggestionKind};

fn case(kind: SuggestionKind, likelihood: f32) -> RankFeatures {
    RankFeatures {
        kind,
        likelihood,
        bytes: 12,
        lines: 1,
        is_row_start: false,
        is_prose: false,
    }
}

#[test]
fn initial_likelihoods_are_those_of_the_sources() {
    let ranker = Ranker::default();
    for likelihood in [0.1, 0.5, 0.9] {
        let told = ranker.likelihood(&case(SuggestionKind::Continuation, likelihood));
        assert!((told - likelihood).abs() < 0.01, "{told}");
    }
}

#[test]
fn dismissals_lower_one_source_and_not_others() {
    let mut ranker = Ranker::default();
    let (bad, good) = (
        case(SuggestionKind::Syntax, 0.6),
        case(SuggestionKind::Propagation, 0.6),
    );
    for _ in 0..60 {
        ranker.learn(&bad, false, 1.0);
        ranker.learn(&good, true, 1.0);
    }
    assert!(ranker.likelihood(&bad) < 0.35);
    assert!(ranker.likelihood(&good) > 0.75);
}

#[test]
fn the_threshold_rises_with_few_kept_and_is_bounded() {
    let mut ranker = Ranker::default();
    let first = ranker.threshold(0.5);
    for _ in 0..500 {
        ranker.learn(&case(SuggestionKind::Continuation, 0.5), false, 1.0);
    }
    let strict = ranker.threshold(0.5);
    assert!(first < strict && strict <= 0.9);
    for _ in 0..500 {
        ranker.learn(&case(SuggestionKind::Continuation, 0.5), true, 1.0);
    }
    assert!(ranker.threshold(0.5) < first);
    assert!(ranker.threshold(0.2) >= 0.2);
}

#[test]
fn learned_weights_are_restored_and_nonsense_is_not() {
    let mut ranker = Ranker::default();
    ranker.learn(&case(SuggestionKind::Syntax, 0.6), false, 1.0);
    let stored = ranker.to_json().expect("numbers");
    assert_eq!(Ranker::from_json(&stored), Some(ranker));
    assert_eq!(Ranker::from_json("{}"), None);
    assert_eq!(
        Ranker::from_json(&stored.replace("\"version\":2", "\"version\":1")),
        None
    );
    assert_eq!(
        Ranker::from_json(&stored.replace("\"kept\":0", "\"kept\":7")),
        None
    );
}
