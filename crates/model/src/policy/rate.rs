//! What providers let us send: buckets of requests and tokens per lane, filled by time, corrected by headers.

use std::collections::HashMap;
use std::time::Duration;

use crate::policy::Lane;
use crate::{Moment, RateLimit, RateLimits, TokenCount, Usage};

/// Providers name their limits per minute.
const MINUTE: Duration = Duration::from_secs(60);
/// Larger limits are no limits; below it sums of reservations cannot overflow.
const LARGEST: u64 = 1 << 48;
/// How long a lane rests after a refusal that says neither how long nor what was exceeded.
const REST: Duration = Duration::from_secs(2);

/// The limits of all lanes and what is reserved of them.
///
/// Invariant: no level and no sum of reservations is ever below zero.
/// Invariant: within one bucket, what is granted fits into its level beside what is held.
/// Lanes are never forgotten: their number is that of configured models and keys.
#[derive(Debug, Default)]
pub struct RateLedger {
    lanes: HashMap<Lane, LaneLedger>,
    last: u64,
}

/// What a request asks for: an estimate of its prompt, and the most it may write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// The prompt's tokens, estimated.
    pub input: TokenCount,
    /// The request's `max_output`.
    pub output: TokenCount,
}

/// The person's own limits for a lane, per minute. A provider that tells smaller ones wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneLimits {
    /// Requests.
    pub requests: Option<u64>,
    /// Tokens in all, or input tokens where `output_tokens` is given.
    pub input_tokens: Option<TokenCount>,
    /// Output tokens.
    pub output_tokens: Option<TokenCount>,
}

/// A place in the buckets, held until it is settled. It must be settled exactly once.
#[must_use = "an unsettled reservation holds its place for ever"]
#[derive(Debug, PartialEq, Eq)]
pub struct Reservation {
    lane: Lane,
    number: u64,
}

/// How a request ended, as far as limits are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// It was never sent.
    Unsent,
    /// It used this much.
    Used(Usage),
    /// It was sent, and what it used is unknown: it counts as all that it asked for.
    Unknown,
}

/// Why a request cannot go now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// What is used up.
    pub limit: Limit,
    /// When it may go. `None` where it must wait for requests under way to end.
    pub until: Option<Moment>,
}

/// What can be used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The provider asked to wait.
    RetryAfter,
    /// Requests per minute.
    Requests,
    /// Input tokens, or tokens in all.
    InputTokens,
    /// Output tokens.
    OutputTokens,
}

#[derive(Debug, Default)]
struct LaneLedger {
    requests: Bucket,
    input: Bucket,
    output: Bucket,
    blocked: Option<Moment>,
    held: HashMap<u64, Held>,
}

/// What one reservation still holds of each bucket. A response's headers have counted its request and its
/// prompt, which then are no longer held.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    requests: u64,
    input: u64,
    output: u64,
}

/// One limited quantity. Without a limit it lets everything pass.
#[derive(Debug, Default)]
struct Bucket {
    /// The person's own limit.
    own: Option<u64>,
    /// The provider's.
    told: Option<u64>,
    /// What was left at `at`, not counting what is held. Between 0 and the limit.
    level: f64,
    per_second: f64,
    held: u64,
    at: Moment,
}

impl RateLedger {
    /// Sets the person's own limits of a lane.
    pub fn set_limits(&mut self, lane: &Lane, limits: LaneLimits, now: Moment) {
        let ledger = self.lane(lane);
        ledger.requests.set_own(limits.requests, now);
        let tokens = limits.input_tokens.map(|tokens| tokens.0);
        ledger.input.set_own(tokens, now);
        let tokens = limits.output_tokens.map(|tokens| tokens.0);
        ledger.output.set_own(tokens, now);
    }

    /// Holds a place for a request, if there is one now. A request larger than a whole bucket goes when the
    /// bucket is full.
    pub fn reserve(&mut self, lane: &Lane, ask: Ask, now: Moment) -> Result<Reservation, Wait> {
        let ledger = self.lane(lane);
        ledger.fits(ask, now)?;
        let held = ledger.shares(ask);
        ledger.requests.held += held.requests;
        ledger.input.held += held.input;
        ledger.output.held += held.output;
        self.last += 1;
        let number = self.last;
        self.lane(lane).held.insert(number, held);
        Ok(Reservation {
            lane: lane.clone(),
            number,
        })
    }

    /// Why a request would have to wait now, if so. Holds nothing.
    pub fn check(&mut self, lane: &Lane, ask: Ask, now: Moment) -> Result<(), Wait> {
        match self.lanes.get_mut(lane) {
            Some(ledger) => ledger.fits(ask, now),
            None => Ok(()),
        }
    }

    /// A response's headers came. They have counted this request and those answered before it, but not the
    /// others under way, which stay held.
    pub fn observe(&mut self, reservation: &Reservation, limits: &RateLimits, now: Moment) {
        let ledger = self.lane(&reservation.lane);
        ledger.told(limits, now);
        let LaneLedger {
            requests,
            input,
            held,
            ..
        } = ledger;
        let Some(held) = held.get_mut(&reservation.number) else {
            return;
        };
        if limits.requests.remaining.is_some() {
            requests.held = requests.held.saturating_sub(held.requests);
            held.requests = 0;
        }
        if limits.input_tokens.remaining.is_some() {
            input.held = input.held.saturating_sub(held.input);
            held.input = 0;
        }
        // Output with a limit of its own stays held: what will be written is not counted yet.
    }

    /// The provider refused for a limit: the lane is empty until `retry_after` has passed. Where the refusal had
    /// headers, `observe` comes first.
    pub fn refused(&mut self, lane: &Lane, retry_after: Option<Duration>, now: Moment) {
        let ledger = self.lane(lane);
        for bucket in [&mut ledger.requests, &mut ledger.input, &mut ledger.output] {
            bucket.advance(now);
            bucket.level = 0.0;
        }
        let until = now + retry_after.unwrap_or(REST);
        ledger.blocked = ledger.blocked.max(Some(until));
        // When the wait is over the provider takes requests again, so the buckets must not still be empty.
        if retry_after.is_some() {
            ledger.requests.whole_at(until, now);
            ledger.input.whole_at(until, now);
            ledger.output.whole_at(until, now);
        }
    }

    /// Gives a reservation back and counts what was really used.
    pub fn settle(&mut self, reservation: Reservation, settlement: Settlement, now: Moment) {
        let ledger = self.lane(&reservation.lane);
        let Some(held) = ledger.held.remove(&reservation.number) else {
            return;
        };
        let counts_output_apart = ledger.output.limit().is_some();
        // What headers have counted is held no more and must not be counted again.
        let used = match settlement {
            Settlement::Unsent => Held::default(),
            Settlement::Unknown => held,
            Settlement::Used(usage) => {
                let output = usage.output.0;
                let prompt = usage.prompt().0;
                let input = match counts_output_apart {
                    true => prompt,
                    false => prompt.saturating_add(output),
                };
                Held {
                    requests: held.requests,
                    input: if held.input == 0 { 0 } else { input },
                    output,
                }
            }
        };
        ledger.requests.settle(held.requests, used.requests, now);
        ledger.input.settle(held.input, used.input, now);
        ledger.output.settle(held.output, used.output, now);
    }

    fn lane(&mut self, lane: &Lane) -> &mut LaneLedger {
        self.lanes.entry(lane.clone()).or_default()
    }

    /// Asserts what must hold at all times; for tests.
    #[cfg(test)]
    pub(crate) fn assert_invariants(&self) {
        for (lane, ledger) in &self.lanes {
            for bucket in [&ledger.requests, &ledger.input, &ledger.output] {
                let level = bucket.level;
                assert!(level >= 0.0 && level.is_finite(), "{lane}: level {level}");
                if let Some(limit) = bucket.limit() {
                    assert!(level <= limit as f64, "{lane}: {level} of {limit}");
                }
                assert!(bucket.per_second >= 0.0, "{lane}: drains");
            }
            let sum = |part: fn(&Held) -> u64| ledger.held.values().map(part).sum::<u64>();
            assert_eq!(ledger.requests.held, sum(|held| held.requests), "{lane}");
            assert_eq!(ledger.input.held, sum(|held| held.input), "{lane}");
            assert_eq!(ledger.output.held, sum(|held| held.output), "{lane}");
        }
    }

    /// How many reservations are not settled yet.
    pub fn open(&self) -> usize {
        self.lanes.values().map(|ledger| ledger.held.len()).sum()
    }
}

impl LaneLedger {
    fn shares(&self, ask: Ask) -> Held {
        // A limit on tokens in all covers what is written, too.
        let input = match self.output.limit() {
            Some(_) => ask.input.0,
            None => ask.input.0.saturating_add(ask.output.0),
        };
        // More than a whole bucket cannot be had: it is held whole.
        Held {
            requests: self.requests.share(1),
            input: self.input.share(input),
            output: self.output.share(ask.output.0),
        }
    }

    fn fits(&mut self, ask: Ask, now: Moment) -> Result<(), Wait> {
        if let Some(until) = self.blocked {
            if now < until {
                return Err(Wait {
                    limit: Limit::RetryAfter,
                    until: Some(until),
                });
            }
            self.blocked = None;
        }
        let shares = self.shares(ask);
        let buckets = [
            (&mut self.requests, shares.requests, Limit::Requests),
            (&mut self.input, shares.input, Limit::InputTokens),
            (&mut self.output, shares.output, Limit::OutputTokens),
        ];
        let mut wait = None;
        for (bucket, share, limit) in buckets {
            if let Err(until) = bucket.fits(share, now) {
                wait = later(wait, Wait { limit, until });
            }
        }
        wait.map_or(Ok(()), Err)
    }

    fn told(&mut self, limits: &RateLimits, now: Moment) {
        self.requests.told(&limits.requests, now);
        self.input.told(&limits.input_tokens, now);
        self.output.told(&limits.output_tokens, now);
    }
}

/// The wait that ends last; one whose end is unknown ends last of all.
fn later(one: Option<Wait>, other: Wait) -> Option<Wait> {
    Some(match (one, other.until) {
        (Some(one), Some(until)) if one.until.is_none_or(|one| one >= until) => one,
        _ => other,
    })
}

impl Bucket {
    fn limit(&self) -> Option<u64> {
        match (self.own, self.told) {
            (Some(own), Some(told)) => Some(own.min(told)),
            (own, told) => own.or(told),
        }
    }

    fn share(&self, ask: u64) -> u64 {
        self.limit().map_or(0, |limit| ask.min(limit))
    }

    fn set_own(&mut self, own: Option<u64>, now: Moment) {
        let own = own.filter(|limit| *limit > 0);
        self.change(now, |bucket| {
            bucket.own = own.map(|limit| limit.min(LARGEST));
        });
    }

    /// Changes a limit. A bucket that had none starts whole; one that had keeps what it has.
    fn change(&mut self, now: Moment, change: impl FnOnce(&mut Self)) {
        self.advance(now);
        let before = self.limit();
        change(self);
        let after = self.limit();
        if before == after {
            return;
        }
        if let Some(limit) = after {
            let limit = limit as f64;
            self.level = match before {
                Some(_) => self.level.min(limit),
                None => limit,
            };
            self.per_second = limit / MINUTE.as_secs_f64();
        }
    }

    fn told(&mut self, told: &RateLimit, now: Moment) {
        // A limit of nothing at all would never let a request pass; the provider's refusals say it better.
        if let Some(TokenCount(limit @ 1..)) = told.limit {
            self.change(now, |bucket| bucket.told = Some(limit.min(LARGEST)));
        }
        let (Some(limit), Some(remaining)) = (self.limit(), told.remaining) else {
            return;
        };
        self.advance(now);
        self.level = (remaining.0 as f64).min(limit as f64);
        if let Some(reset) = told.reset {
            self.whole_at(now + reset, now);
        }
    }

    /// The provider says when the bucket will be whole.
    fn whole_at(&mut self, whole: Moment, now: Moment) {
        let Some(limit) = self.limit() else { return };
        let missing = limit as f64 - self.level;
        let seconds = now.until(whole).as_secs_f64();
        if missing > 0.0 {
            // Never slower than the limit's own window: a far reset is a rounding of the provider's.
            let slowest = limit as f64 / MINUTE.as_secs_f64();
            self.per_second = (missing / seconds.max(0.001)).max(slowest);
        }
    }

    fn advance(&mut self, now: Moment) {
        if let Some(limit) = self.limit() {
            let gained = self.per_second * now.since(self.at).as_secs_f64();
            self.level += gained;
            if self.level >= limit as f64 {
                self.level = limit as f64;
                self.per_second = self.level / MINUTE.as_secs_f64();
            }
        }
        self.at = self.at.max(now);
    }

    /// Whether `share` fits beside what is held; otherwise when it will, if time alone brings it.
    fn fits(&mut self, share: u64, now: Moment) -> Result<(), Option<Moment>> {
        let Some(limit) = self.limit() else {
            return Ok(());
        };
        self.advance(now);
        let wanted = (share.saturating_add(self.held)) as f64;
        if wanted <= self.level {
            return Ok(());
        }
        if wanted > limit as f64 || self.per_second <= 0.0 {
            return Err(None);
        }
        let seconds = (wanted - self.level) / self.per_second;
        let wait = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        // A millisecond more, so that rounding does not make the caller ask again too early.
        Err(Some(now + wait + Duration::from_millis(1)))
    }

    fn settle(&mut self, held: u64, used: u64, now: Moment) {
        self.held = self.held.saturating_sub(held);
        if self.limit().is_some() {
            self.advance(now);
            self.level = (self.level - used as f64).max(0.0);
        }
    }
}

#[cfg(test)]
mod tests;
