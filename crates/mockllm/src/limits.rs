//! Rate limits: token buckets for every account and model, as response headers tell of them.

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;

use crate::script::LimitFacts;

/// The buckets of a server.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    accounts: HashMap<(u64, String), Buckets>,
}

#[derive(Clone, Copy, Debug)]
struct Buckets {
    requests: Option<Bucket>,
    input: Option<Bucket>,
    output: Option<Bucket>,
}

/// Refills evenly up to its limit.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    limit: f64,
    /// Below 0 after an answer that was longer than what was left: its length is known only at its end.
    level: f64,
    per_second: f64,
    updated: Instant,
}

/// What a request takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Toll {
    pub(crate) input: u64,
    pub(crate) output: u64,
}

/// What headers say after a request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Standing {
    pub(crate) requests: Option<Level>,
    pub(crate) input: Option<Level>,
    pub(crate) output: Option<Level>,
}

/// A bucket's state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Level {
    pub(crate) limit: u64,
    pub(crate) remaining: u64,
    /// Until it is full.
    pub(crate) reset: Duration,
}

/// A request that must wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exhausted {
    /// Until it would be let through.
    pub(crate) wait: Duration,
    /// What is short, in the providers' words.
    pub(crate) what: &'static str,
}

impl Limits {
    /// Takes the toll, or says how long to wait; then nothing is taken.
    pub(crate) fn take(
        &mut self,
        account: u64,
        model: &str,
        facts: LimitFacts,
        toll: Toll,
        now: Instant,
    ) -> (Standing, Result<(), Exhausted>) {
        let key = (account, model.to_owned());
        let buckets = self.accounts.entry(key).or_insert(Buckets {
            requests: Bucket::full(facts.requests, facts.per_seconds, now),
            input: Bucket::full(facts.input_tokens, facts.per_seconds, now),
            output: Bucket::full(facts.output_tokens, facts.per_seconds, now),
        });
        // An answer may begin while any output is left.
        let tolls = [
            (&mut buckets.requests, "requests", 1.0, 1.0),
            (
                &mut buckets.input,
                "input tokens",
                toll.input as f64,
                toll.input as f64,
            ),
            (
                &mut buckets.output,
                "output tokens",
                1.0,
                toll.output as f64,
            ),
        ];
        let mut worst: Option<Exhausted> = None;
        let mut passing = Vec::new();
        for (bucket, what, needed, taken) in tolls {
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
        let standing = Standing {
            requests: buckets.requests.map(Bucket::level),
            input: buckets.input.map(Bucket::level),
            output: buckets.output.map(Bucket::level),
        };
        (standing, worst.map_or(Ok(()), Err))
    }
}

impl Bucket {
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

    /// Until `needed` is there. What is more than the whole bucket is let through when it is full.
    fn wait(&self, needed: f64) -> Duration {
        let short = needed.min(self.limit) - self.level;
        // A millionth of a token is a rounding error, not a shortage.
        if short <= 1e-6 {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(short / self.per_second).unwrap_or(Duration::MAX)
    }

    fn level(self) -> Level {
        let missing = ((self.limit - self.level) / self.per_second).max(0.0);
        Level {
            limit: self.limit as u64,
            remaining: self.level.max(0.0) as u64,
            reset: Duration::try_from_secs_f64(missing).unwrap_or(Duration::MAX),
        }
    }
}
