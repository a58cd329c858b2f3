//! Rate limits: token buckets for each account and model, and the values of the response headers.

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;

use crate::script::LimitFacts;

/// The rate-limit buckets of a server, by account and model.
#[derive(Debug, Default)]
pub(crate) struct AccountLimits {
    accounts: HashMap<(u64, String), AccountBuckets>,
}

#[derive(Clone, Copy, Debug)]
struct AccountBuckets {
    requests: Option<RefillBucket>,
    input: Option<RefillBucket>,
    output: Option<RefillBucket>,
}

/// Refills evenly up to its limit.
#[derive(Clone, Copy, Debug)]
struct RefillBucket {
    limit: f64,
    /// Below 0 after an answer longer than the remaining tokens: its length is known only at its
    /// end.
    level: f64,
    per_second: f64,
    updated: Instant,
}

/// The tokens that a request takes from the rate limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenCost {
    pub(crate) input: u64,
    pub(crate) output: u64,
}

/// The remaining limits that the headers of a response report; `None` for a limit that is not set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LimitHeaders {
    pub(crate) requests: Option<BucketLevel>,
    pub(crate) input: Option<BucketLevel>,
    pub(crate) output: Option<BucketLevel>,
}

/// The state of one rate limit, as response headers report it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BucketLevel {
    pub(crate) limit: u64,
    pub(crate) remaining: u64,
    /// The time until the bucket is full.
    pub(crate) reset: Duration,
}

/// The rate limit that refuses a request, and the wait until it would be admitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exhausted {
    /// The time until the request would be admitted.
    pub(crate) wait: Duration,
    /// The exhausted limit, in the provider's wording.
    pub(crate) what: &'static str,
}

impl AccountLimits {
    /// Takes the request's tokens from the limits of the account and model, or takes no tokens and
    /// returns the time to wait. In both cases, also returns the levels for the headers.
    pub(crate) fn consume(
        &mut self,
        account: u64,
        model: &str,
        facts: LimitFacts,
        cost: TokenCost,
        now: Instant,
    ) -> (LimitHeaders, Result<(), Exhausted>) {
        let key = (account, model.to_owned());
        let buckets = self.accounts.entry(key).or_insert(AccountBuckets {
            requests: RefillBucket::full(facts.requests, facts.per_seconds, now),
            input: RefillBucket::full(facts.input_tokens, facts.per_seconds, now),
            output: RefillBucket::full(facts.output_tokens, facts.per_seconds, now),
        });
        // An answer may start while any output tokens are left.
        let costs = [
            (&mut buckets.requests, "requests", 1.0, 1.0),
            (
                &mut buckets.input,
                "input tokens",
                cost.input as f64,
                cost.input as f64,
            ),
            (
                &mut buckets.output,
                "output tokens",
                1.0,
                cost.output as f64,
            ),
        ];
        let mut worst: Option<Exhausted> = None;
        let mut passing = Vec::new();
        for (bucket, what, needed, taken) in costs {
            let Some(bucket) = bucket else { continue };
            bucket.refill(now);
            let wait = bucket.wait(needed);
            if !wait.is_zero() && worst.is_none_or(|worst| worst.wait < wait) {
                worst = Some(Exhausted { wait, what });
            }
            passing.push((bucket, taken));
        }
        if worst.is_none() {
            for (bucket, taken) in passing {
                bucket.level -= taken;
            }
        }
        let limit_headers = LimitHeaders {
            requests: buckets.requests.map(RefillBucket::level),
            input: buckets.input.map(RefillBucket::level),
            output: buckets.output.map(RefillBucket::level),
        };
        (limit_headers, worst.map_or(Ok(()), Err))
    }
}

impl RefillBucket {
    fn full(limit: Option<u64>, seconds: f64, now: Instant) -> Option<Self> {
        let limit = limit? as f64;
        Some(Self {
            limit,
            level: limit,
            per_second: limit / seconds.max(0.001),
            updated: now,
        })
    }

    fn refill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.updated).as_secs_f64();
        self.level = (self.level + passed * self.per_second).min(self.limit);
        self.updated = now;
    }

    /// Returns the time until `needed` is available. A need beyond the bucket's limit waits for a
    /// full bucket.
    fn wait(&self, needed: f64) -> Duration {
        let short = needed.min(self.limit) - self.level;
        // A millionth of a token is a rounding error, not a shortage.
        if short <= 1e-6 {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(short / self.per_second).unwrap_or(Duration::MAX)
    }

    fn level(self) -> BucketLevel {
        let missing = ((self.limit - self.level) / self.per_second).max(0.0);
        BucketLevel {
            limit: self.limit as u64,
            remaining: self.level.max(0.0) as u64,
            reset: Duration::try_from_secs_f64(missing).unwrap_or(Duration::MAX),
        }
    }
}
