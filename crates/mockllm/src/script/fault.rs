//! The faults a script can inject, and their timing.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::rng::Rng;

/// A fault and the attempts that it applies to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    /// The number of first attempts at the same request that it applies to; all, if left out.
    #[serde(default)]
    pub first: Option<u32>,
    /// The fault to inject.
    pub fault: ScriptedFault,
}

/// A fault to inject into a response. Events are counted from 0, as they are sent.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum ScriptedFault {
    /// An error with this status instead of an answer, in the provider's format.
    Status(StatusFault),
    /// The provider is overloaded: 529 at Anthropic, 503 elsewhere.
    Overloaded {},
    /// Credit or a plan's quota is used up.
    Quota {},
    /// The key is refused.
    Authentication {},
    /// The prompt is too long.
    ContextOverflow {},
    /// There is no such model.
    NoSuchModel {},
    /// An error page of a proxy, in HTML.
    Html(StatusFault),
    /// The connection closes before the event, without an end of the body.
    Cut(FaultMoment),
    /// The body ends normally before the event, although the answer is incomplete.
    EndEarly(FaultMoment),
    /// The connection is reset before the event.
    Reset(FaultMoment),
    /// The stream stalls before the event: for the given time, or forever.
    Stall(FaultMoment),
    /// The stream contains an error event.
    ErrorEvent(FaultMoment),
    /// The event's data is broken JSON.
    BadJson(FaultMoment),
    /// The event is cut within a multi-byte character, if it has one, and continues in the next
    /// event.
    TornUtf8(FaultMoment),
    /// Events arrive in chunks that may end within a character; nothing is lost.
    Shredded {},
    /// The arguments of tool calls are broken JSON.
    BadArguments {},
    /// Several tool calls have the same id.
    DuplicateIds {},
    /// The first byte is delayed by this time.
    SlowFirstByte {
        /// The duration in milliseconds.
        ms: u64,
    },
}

/// An HTTP error response in place of an answer.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct StatusFault {
    /// The HTTP status code.
    pub code: u16,
    /// The requested wait, in seconds, in the provider's format.
    #[serde(default)]
    pub retry_after: Option<f64>,
    /// Additional response headers, by name.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The error message; the provider's usual text if left out.
    #[serde(default)]
    pub message: Option<String>,
}

/// The event of a stream at which a fault occurs, and its duration.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct FaultMoment {
    /// Before or at this event; chosen by the seed if left out.
    pub at: Option<usize>,
    /// The duration in milliseconds; forever if left out.
    pub ms: Option<u64>,
}

/// Random faults. An attempt's fault depends only on the seed and the request, not on the order of
/// requests.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The seed of the schedule.
    pub seed: u64,
    /// The share of attempts that fail, from 0 to 1.
    pub share: f64,
    /// The maximum number of faults for one request: the attempt after that is served.
    pub at_most: u32,
    /// The possible faults, each equally likely.
    pub faults: Vec<ScriptedFault>,
}

/// A fault that applies to an attempt, with a random number that determines its details.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SeededFault {
    pub(crate) fault: ScriptedFault,
    /// Chooses the event if the script does not.
    pub(crate) draw: u64,
}

impl Schedule {
    /// Returns the random fault for an attempt at the request with this fingerprint. Attempts are
    /// counted from 1. Returns `None` if the attempt succeeds.
    pub(crate) fn fault(&self, fingerprint: u64, attempt: u32) -> Option<SeededFault> {
        if attempt > self.at_most || self.faults.is_empty() {
            return None;
        }
        let mut rng = Rng::of(&[self.seed, fingerprint, u64::from(attempt)]);
        if rng.next_unit() >= self.share {
            return None;
        }
        let chosen = rng.next_below(self.faults.len() as u64) as usize;
        Some(SeededFault {
            fault: self.faults[chosen].clone(),
            draw: rng.next(),
        })
    }
}

impl SeededFault {
    /// Returns the index of the event that `moment` names, of `count` events; random if the script names none.
    pub(crate) fn event_index(&self, moment: FaultMoment, count: usize) -> usize {
        match moment.at {
            Some(at) => at.min(count),
            None => (self.draw % count.max(1) as u64) as usize,
        }
    }
}
