//! Rate limits: token buckets for requests and tokens per route, refilled over time, corrected by
//! headers.

use std::collections::HashMap;
use std::time::Duration;

use crate::policy::Route;
use crate::{MonotonicTime, RateLimit, RateLimits, TokenCount, Usage};

/// Providers state their limits per minute.
const MINUTE: Duration = Duration::from_secs(60);
/// Larger limits count as unlimited; below this, sums of reservations cannot overflow.
const MAX_LIMIT: u64 = 1 << 48;
/// Pause of a route after a refusal that states neither a wait nor the exceeded limit.
const DEFAULT_PAUSE: Duration = Duration::from_secs(2);

/// Limits and reservations of all routes.
///
/// Invariant: no level and no sum of reservations is ever below zero.
/// Invariant: a grant fits into its bucket's level next to the held amounts.
/// Routes are never dropped: their number is bounded by configured models and keys.
#[derive(Debug, Default)]
pub struct RateLedger {
    routes: HashMap<Route, RouteLedger>,
    last: u64,
}

/// Tokens that a request needs: an estimate for its prompt, and its maximum output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenDemand {
    /// Estimated tokens of the prompt.
    pub input: TokenCount,
    /// The request's `max_output`, in tokens.
    pub output: TokenCount,
}

/// The user's own limits for a route, per minute. Smaller limits of the provider take precedence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouteLimits {
    /// Maximum number of requests per minute.
    pub requests: Option<u64>,
    /// Maximum tokens per minute; input tokens only if `output_tokens` is set.
    pub input_tokens: Option<TokenCount>,
    /// Maximum number of output tokens per minute.
    pub output_tokens: Option<TokenCount>,
}

/// Capacity of a route that `RateLedger::reserve` holds for a request. Pass it to
/// `RateLedger::settle_reservation` exactly once: if it is dropped instead, the capacity stays
/// held.
#[must_use = "an unsettled reservation holds its capacity forever"]
#[derive(Debug, PartialEq, Eq)]
pub struct RateReservation {
    route: Route,
    number: u64,
}

/// Outcome of a request with regard to rate limits: not sent, sent with known usage, or sent with
/// unknown usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateSettlement {
    /// The request was never sent.
    Unsent,
    /// The request used this much.
    Used(Usage),
    /// The request was sent with unknown usage: it counts as its full demand.
    Unknown,
}

/// The limit that delays a request, and the end of the delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateWait {
    /// The limit that is exhausted.
    pub limit: RateLimitKind,
    /// Time at which the request may be sent; `None` if it must wait for requests in flight.
    pub until: Option<MonotonicTime>,
}

/// Kind of a rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimitKind {
    /// The provider requested a pause.
    RetryAfter,
    /// The number of requests per minute.
    Requests,
    /// Input tokens per minute, or all tokens.
    InputTokens,
    /// The number of output tokens per minute.
    OutputTokens,
}

#[derive(Debug, Default)]
struct RouteLedger {
    requests: TokenBucket,
    input: TokenBucket,
    output: TokenBucket,
    blocked: Option<MonotonicTime>,
    held: HashMap<u64, HeldQuota>,
}

/// Amounts that one reservation still holds in each bucket. Once a response's headers have counted
/// its request and its prompt, these are no longer held.
#[derive(Clone, Copy, Debug, Default)]
struct HeldQuota {
    requests: u64,
    input: u64,
    output: u64,
}

/// One limited quantity; everything passes if there is no limit.
#[derive(Debug, Default)]
struct TokenBucket {
    /// The limit that the user has set.
    user_limit: Option<u64>,
    /// The limit that the provider reported.
    provider_limit: Option<u64>,
    /// Amount left at `at`, disregarding held amounts. Between 0 and the limit.
    level: f64,
    per_second: f64,
    held: u64,
    at: MonotonicTime,
}

impl RateLedger {
    /// Sets the user's own limits of a route, in place of earlier ones; `None` removes a limit. The
    /// new limits apply from `now` on.
    pub fn set_limits(&mut self, route: &Route, limits: RouteLimits, now: MonotonicTime) {
        let ledger = self.route_ledger(route);
        ledger.requests.set_own(limits.requests, now);
        let tokens = limits.input_tokens.map(|tokens| tokens.0);
        ledger.input.set_own(tokens, now);
        let tokens = limits.output_tokens.map(|tokens| tokens.0);
        ledger.output.set_own(tokens, now);
    }

    /// Reserves capacity for a request if the route has enough now. Admits a request larger than a
    /// whole bucket when the bucket is full. A route without known limits admits every request.
    ///
    /// # Errors
    ///
    /// Returns the limit that delays the request longest. In this case, does not reserve capacity.
    pub fn reserve(
        &mut self,
        route: &Route,
        demand: TokenDemand,
        now: MonotonicTime,
    ) -> Result<RateReservation, RateWait> {
        let ledger = self.route_ledger(route);
        ledger.fits(demand, now)?;
        let held = ledger.shares(demand);
        ledger.requests.held += held.requests;
        ledger.input.held += held.input;
        ledger.output.held += held.output;
        self.last += 1;
        let number = self.last;
        self.route_ledger(route).held.insert(number, held);
        Ok(RateReservation {
            route: route.clone(),
            number,
        })
    }

    /// Returns `Ok` if a request could be sent now, else the limit for which it would have to wait
    /// as `Err`. Does not reserve capacity.
    pub fn check(
        &mut self,
        route: &Route,
        demand: TokenDemand,
        now: MonotonicTime,
    ) -> Result<(), RateWait> {
        match self.routes.get_mut(route) {
            Some(ledger) => ledger.fits(demand, now),
            None => Ok(()),
        }
    }

    /// Applies the headers of a response. They count this request and those answered before it, but
    /// not the others in flight, which stay held.
    pub fn observe(
        &mut self,
        reservation: &RateReservation,
        limits: &RateLimits,
        now: MonotonicTime,
    ) {
        let ledger = self.route_ledger(&reservation.route);
        ledger.apply_headers(limits, now);
        let RouteLedger {
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
        // Output with a separate limit stays held: the provider has not counted it yet.
    }

    /// Records a rate-limit refusal: the route counts as exhausted until `retry_after` has passed,
    /// or for 2 s if the provider states no wait. If the refusal had headers, `observe` is called
    /// first.
    pub fn refused(&mut self, route: &Route, retry_after: Option<Duration>, now: MonotonicTime) {
        let ledger = self.route_ledger(route);
        for bucket in [&mut ledger.requests, &mut ledger.input, &mut ledger.output] {
            bucket.advance(now);
            bucket.level = 0.0;
        }
        let until = now + retry_after.unwrap_or(DEFAULT_PAUSE);
        ledger.blocked = ledger.blocked.max(Some(until));
        // After the wait the provider accepts requests again, so the buckets must not remain empty.
        if retry_after.is_some() {
            ledger.requests.set_full_at(until, now);
            ledger.input.set_full_at(until, now);
            ledger.output.set_full_at(until, now);
        }
    }

    /// Releases a reservation at the end of its request and counts the actual usage, except for
    /// amounts that response headers have counted.
    pub fn settle_reservation(
        &mut self,
        reservation: RateReservation,
        settlement: RateSettlement,
        now: MonotonicTime,
    ) {
        let ledger = self.route_ledger(&reservation.route);
        let Some(held) = ledger.held.remove(&reservation.number) else {
            return;
        };
        let counts_output_apart = ledger.output.limit().is_some();
        // Amounts counted by headers are no longer held and must not be counted again.
        let used = match settlement {
            RateSettlement::Unsent => HeldQuota::default(),
            RateSettlement::Unknown => held,
            RateSettlement::Used(usage) => {
                let output = usage.output.0;
                let prompt = usage.prompt().0;
                let input = if counts_output_apart {
                    prompt
                } else {
                    prompt.saturating_add(output)
                };
                HeldQuota {
                    requests: held.requests,
                    input: if held.input == 0 { 0 } else { input },
                    output,
                }
            }
        };
        ledger.requests.release(held.requests, used.requests, now);
        ledger.input.release(held.input, used.input, now);
        ledger.output.release(held.output, used.output, now);
    }

    fn route_ledger(&mut self, route: &Route) -> &mut RouteLedger {
        self.routes.entry(route.clone()).or_default()
    }

    /// Asserts the invariants, for tests.
    #[cfg(test)]
    pub(crate) fn assert_invariants(&self) {
        for (route, ledger) in &self.routes {
            for bucket in [&ledger.requests, &ledger.input, &ledger.output] {
                let level = bucket.level;
                assert!(level >= 0.0 && level.is_finite(), "{route}: level {level}");
                if let Some(limit) = bucket.limit() {
                    assert!(level <= limit as f64, "{route}: {level} of {limit}");
                }
                assert!(bucket.per_second >= 0.0, "{route}: drains");
            }
            let sum = |part: fn(&HeldQuota) -> u64| ledger.held.values().map(part).sum::<u64>();
            assert_eq!(ledger.requests.held, sum(|held| held.requests), "{route}");
            assert_eq!(ledger.input.held, sum(|held| held.input), "{route}");
            assert_eq!(ledger.output.held, sum(|held| held.output), "{route}");
        }
    }

    /// Returns the number of unsettled reservations.
    #[cfg(test)]
    pub(crate) fn open(&self) -> usize {
        self.routes.values().map(|ledger| ledger.held.len()).sum()
    }
}

impl RouteLedger {
    fn shares(&self, demand: TokenDemand) -> HeldQuota {
        // A limit on all tokens covers output as well.
        let input = match self.output.limit() {
            Some(_) => demand.input.0,
            None => demand.input.0.saturating_add(demand.output.0),
        };
        // A demand beyond the bucket's size holds the whole bucket.
        HeldQuota {
            requests: self.requests.share(1),
            input: self.input.share(input),
            output: self.output.share(demand.output.0),
        }
    }

    /// Checks a request against all limits of the route. Fails with the wait that ends last; its
    /// `until` is `None` if time alone does not suffice. Forgets a block that is over.
    fn fits(&mut self, demand: TokenDemand, now: MonotonicTime) -> Result<(), RateWait> {
        if let Some(until) = self.blocked {
            if now < until {
                return Err(RateWait {
                    limit: RateLimitKind::RetryAfter,
                    until: Some(until),
                });
            }
            self.blocked = None;
        }
        let shares = self.shares(demand);
        let buckets = [
            (&mut self.requests, shares.requests, RateLimitKind::Requests),
            (&mut self.input, shares.input, RateLimitKind::InputTokens),
            (&mut self.output, shares.output, RateLimitKind::OutputTokens),
        ];
        let mut wait = None;
        for (bucket, share, limit) in buckets {
            if let Err(until) = bucket.fits(share, now) {
                wait = later(wait, RateWait { limit, until });
            }
        }
        wait.map_or(Ok(()), Err)
    }

    fn apply_headers(&mut self, limits: &RateLimits, now: MonotonicTime) {
        self.requests.apply_limit(&limits.requests, now);
        self.input.apply_limit(&limits.input_tokens, now);
        self.output.apply_limit(&limits.output_tokens, now);
    }
}

/// Returns the wait that ends last; an unknown end counts as latest.
fn later(one: Option<RateWait>, other: RateWait) -> Option<RateWait> {
    Some(match (one, other.until) {
        (Some(one), Some(until)) if one.until.is_none_or(|one| one >= until) => one,
        _ => other,
    })
}

impl TokenBucket {
    /// Returns the lower of the user's and the provider's limit; `None` if there is neither.
    fn limit(&self) -> Option<u64> {
        match (self.user_limit, self.provider_limit) {
            (Some(user), Some(provider)) => Some(user.min(provider)),
            (user, provider) => user.or(provider),
        }
    }

    /// Returns the amount that a demand holds: `ask`, but at most the limit; 0 without a limit.
    fn share(&self, ask: u64) -> u64 {
        self.limit().map_or(0, |limit| ask.min(limit))
    }

    fn set_own(&mut self, own: Option<u64>, now: MonotonicTime) {
        let own = own.filter(|limit| *limit > 0);
        self.change(now, |bucket| {
            bucket.user_limit = own.map(|limit| limit.min(MAX_LIMIT));
        });
    }

    /// Changes a limit. A new bucket starts full; an existing one keeps its level.
    fn change(&mut self, now: MonotonicTime, change: impl FnOnce(&mut Self)) {
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

    fn apply_limit(&mut self, reported: &RateLimit, now: MonotonicTime) {
        // A limit of zero would block every request; the provider's refusals are more informative.
        if let Some(TokenCount(limit @ 1..)) = reported.limit {
            self.change(now, |bucket| {
                bucket.provider_limit = Some(limit.min(MAX_LIMIT))
            });
        }
        let (Some(limit), Some(remaining)) = (self.limit(), reported.remaining) else {
            return;
        };
        self.advance(now);
        self.level = (remaining.0 as f64).min(limit as f64);
        if let Some(reset) = reported.reset {
            self.set_full_at(now + reset, now);
        }
    }

    /// Adjusts the refill rate to the time at which the provider says the bucket is full.
    fn set_full_at(&mut self, full_at: MonotonicTime, now: MonotonicTime) {
        let Some(limit) = self.limit() else { return };
        let missing = limit as f64 - self.level;
        let seconds = now.until(full_at).as_secs_f64();
        if missing > 0.0 {
            // Never slower than the limit's own window: a distant reset is a rounding artefact of
            // the provider.
            let slowest = limit as f64 / MINUTE.as_secs_f64();
            self.per_second = (missing / seconds.max(0.001)).max(slowest);
        }
    }

    fn advance(&mut self, now: MonotonicTime) {
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

    /// Returns whether `share` fits next to the held amounts, otherwise the time at which it will,
    /// if time alone suffices.
    fn fits(&mut self, share: u64, now: MonotonicTime) -> Result<(), Option<MonotonicTime>> {
        let Some(limit) = self.limit() else {
            return Ok(());
        };
        self.advance(now);
        let needed = (share.saturating_add(self.held)) as f64;
        if needed <= self.level {
            return Ok(());
        }
        if needed > limit as f64 || self.per_second <= 0.0 {
            return Err(None);
        }
        let seconds = (needed - self.level) / self.per_second;
        let wait = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        // One more millisecond, so that rounding does not make the caller ask too early.
        Err(Some(now + wait + Duration::from_millis(1)))
    }

    fn release(&mut self, held: u64, used: u64, now: MonotonicTime) {
        self.held = self.held.saturating_sub(held);
        if self.limit().is_some() {
            self.advance(now);
            self.level = (self.level - used as f64).max(0.0);
        }
    }
}

#[cfg(test)]
mod tests;
