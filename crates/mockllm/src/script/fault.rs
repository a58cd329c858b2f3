//! What may go wrong, and when.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::rng::Rng;

/// A fault, and for how long it applies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    /// It applies to the first so many attempts at the same request; to all, if left out.
    #[serde(default)]
    pub first: Option<u32>,
    /// What goes wrong.
    pub fault: Fault,
}

/// Something that goes wrong. Events are counted from 0, as they are sent.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// An error of this status instead of an answer, in the provider's own words.
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
    Cut(Moment),
    /// The body ends well before the event, and the answer does not.
    EndEarly(Moment),
    /// The connection is reset before the event.
    Reset(Moment),
    /// Nothing comes any more before the event: for so long, or for ever.
    Stall(Moment),
    /// An error comes as an event of the stream.
    ErrorEvent(Moment),
    /// The event's data is broken JSON.
    BadJson(Moment),
    /// The event is cut within a character, where it has one of several bytes, and goes on with the next one.
    TornUtf8(Moment),
    /// Events come in pieces that end anywhere, even within a character; nothing is lost.
    Shredded {},
    /// The arguments of tool calls are broken JSON.
    BadArguments {},
    /// Several tool calls bear one id.
    DuplicateIds {},
    /// The first byte comes this much later.
    SlowFirstByte {
        /// Milliseconds.
        ms: u64,
    },
}

/// An HTTP error.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct StatusFault {
    /// The status.
    pub code: u16,
    /// The wait that is asked for, in seconds, as the provider writes it.
    #[serde(default)]
    pub retry_after: Option<f64>,
    /// More headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// What it says; the provider's usual words if left out.
    #[serde(default)]
    pub message: Option<String>,
}

/// When in a stream.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Moment {
    /// Before or at this event; chosen by the seed if left out.
    pub at: Option<usize>,
    /// For how long, in milliseconds; for ever if left out.
    pub ms: Option<u64>,
}

/// Faults by chance. Whether an attempt fails, and how, follows from the seed and the request alone, not from
/// the order in which requests come.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Its own seed.
    pub seed: u64,
    /// The share of attempts that fail, from 0 to 1.
    pub share: f64,
    /// The most faults for one request: the attempt after that is served.
    pub at_most: u32,
    /// What may go wrong, each as likely as the others.
    pub faults: Vec<Fault>,
}

/// A fault with its numbers drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seeded {
    pub(crate) fault: Fault,
    /// For choosing the event, where the script does not.
    pub(crate) draw: u64,
}

impl Schedule {
    /// What goes wrong with an attempt, counted from 1, at the request of this fingerprint.
    pub(crate) fn fault(&self, fingerprint: u64, attempt: u32) -> Option<Seeded> {
        if attempt > self.at_most || self.faults.is_empty() {
            return None;
        }
        let mut rng = Rng::of(&[self.seed, fingerprint, u64::from(attempt)]);
        if rng.unit() >= self.share {
            return None;
        }
        let chosen = rng.below(self.faults.len() as u64) as usize;
        Some(Seeded {
            fault: self.faults[chosen].clone(),
            draw: rng.next(),
        })
    }
}

impl Seeded {
    /// The event a moment means, of `count` events: as written, or drawn so that something is left to lose.
    pub(crate) fn place(&self, moment: Moment, count: usize) -> usize {
        match moment.at {
            Some(at) => at.min(count),
            None => (self.draw % count.max(1) as u64) as usize,
        }
    }
}
