//! Predictions that a provider refuses: the request is sent again without one, and the next requests
//! to that model have none for a day.
//!
//! Must not know: how a prediction is encoded. Start at `RefusedPredictions`.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use model::{Failure, FailureClass, ModelRequest, RefusedPart};

use crate::wire::PREDICTION;

/// Time for which a refusal is remembered.
const MEMORY: Duration = Duration::from_secs(24 * 60 * 60);

/// A model at an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ModelAddress {
    pub(super) base_url: String,
    pub(super) model: String,
}

/// The models that refused a prediction, with the time of the refusal.
#[derive(Default)]
pub(super) struct RefusedPredictions(Mutex<HashMap<ModelAddress, SystemTime>>);

impl RefusedPredictions {
    /// Remembers a refusal.
    pub(super) fn note(&self, model: ModelAddress, now: SystemTime) {
        self.lock().insert(model, now);
    }

    /// Returns whether a model refused a prediction within the last day.
    pub(super) fn has(&self, model: &ModelAddress, now: SystemTime) -> bool {
        let mut refused = self.lock();
        // A clock that was set back makes a refusal fresh.
        refused.retain(|_, at| now.duration_since(*at).unwrap_or_default() < MEMORY);
        refused.contains_key(model)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ModelAddress, SystemTime>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a failure is the refusal of the prediction.
pub(super) fn is_refused(failure: &Failure) -> bool {
    let names_it = match &failure.part {
        Some(RefusedPart::Member { name }) => name == PREDICTION,
        Some(_) => false,
        None => failure.message.contains(PREDICTION),
    };
    failure.class == FailureClass::InvalidRequest && names_it
}

/// Returns a request without its prediction.
pub(super) fn without(mut request: ModelRequest) -> ModelRequest {
    request.prediction = None;
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_remembered_for_a_day() {
        let address = |model: &str| ModelAddress {
            base_url: "https://a.example/v1".to_owned(),
            model: model.to_owned(),
        };
        let refused = RefusedPredictions::default();
        let at = |hours: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(hours * 3_600);
        refused.note(address("one"), at(100));
        assert!(refused.has(&address("one"), at(123)));
        assert!(!refused.has(&address("two"), at(101)));
        assert!(refused.has(&address("one"), at(99)));
        assert!(!refused.has(&address("one"), at(124)));
        assert!(!refused.has(&address("one"), at(101)), "it is forgotten");
    }

    #[test]
    fn only_refusals_of_the_prediction_count() {
        let failure = |class, message: &str, part: Option<&str>| Failure {
            part: part.map(|name| RefusedPart::Member {
                name: name.to_owned(),
            }),
            ..Failure::new(class, message)
        };
        let invalid = FailureClass::InvalidRequest;
        let check = |failure: Failure, expected: bool| {
            assert_eq!(is_refused(&failure), expected, "{failure:?}");
        };
        check(failure(invalid, "no", Some("prediction")), true);
        check(failure(invalid, "no", Some("temperature")), false);
        check(failure(invalid, "'prediction' was unexpected", None), true);
        check(failure(invalid, "the model is gone", None), false);
        let stalled = FailureClass::Stalled;
        check(failure(stalled, "prediction", None), false);
    }
}
