//! Prompt caches like the providers': the prefixes seen, and the tokens a request reads and writes.
//!
//! An entry is readable only once the answer that wrote it has started: concurrent requests all
//! miss.

#[cfg(test)]
mod tests;

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;

use crate::{
    request::{CacheSegment, Lifetime, PromptRequest},
    rng,
    script::CacheFacts,
    tokens,
};

/// Maximum number of segments before a breakpoint that are searched for a written prefix.
const MAX_LOOK_BACK: usize = 20;

/// Time since its last use after which an automatic cache drops a prefix.
const AUTOMATIC_LIFETIME: Duration = Duration::from_secs(600);

/// Number of entries above which expired ones are removed.
const MAX_ENTRIES: usize = 1 << 16;

/// The simulated prompt caches of all accounts and models of a server.
#[derive(Debug, Default)]
pub(crate) struct PrefixCache {
    entries: HashMap<u64, CacheEntry>,
}

#[derive(Clone, Copy, Debug)]
struct CacheEntry {
    readable: Instant,
    expires: Instant,
    lifetime: Duration,
}

/// The tokens that a request reads from and writes to the prompt cache, to be committed once the
/// reply is decided.
#[derive(Debug, Default)]
pub(crate) struct CachePlan {
    /// Prompt tokens read from the cache.
    pub(crate) read: u64,
    /// Prompt tokens written for five minutes.
    pub(crate) write_5m: u64,
    /// Prompt tokens written for an hour.
    pub(crate) write_1h: u64,
    touched: Vec<(u64, Duration)>,
}

/// A prefix that ends after a segment.
struct PromptPrefix {
    hash: u64,
    tokens: u64,
}

impl PrefixCache {
    /// Returns the tokens that the request reads and would write, without changing the cache.
    pub(crate) fn plan(
        &self,
        request: &PromptRequest,
        facts: CacheFacts,
        now: Instant,
    ) -> CachePlan {
        let scope = rng::extend(request.account(), request.model.as_bytes());
        let marked = request
            .segments
            .iter()
            .any(|segment| segment.mark.is_some());
        if request.wire.caches_where_marked() {
            if marked {
                self.plan_marked(scope, &request.segments, facts, now)
            } else {
                CachePlan::default()
            }
        } else {
            self.plan_automatic(scope, request, facts, now)
        }
    }

    /// Writes and refreshes the planned entries. They can be read from the time `readable` on.
    pub(crate) fn commit(&mut self, plan: CachePlan, now: Instant, readable: Instant) {
        for (hash, lifetime) in plan.touched {
            let entry = self.entries.entry(hash).or_insert(CacheEntry {
                readable,
                expires: readable,
                lifetime,
            });
            if entry.expires < now {
                entry.readable = readable;
            }
            entry.readable = entry.readable.min(readable);
            entry.lifetime = entry.lifetime.max(lifetime);
            entry.expires = readable + entry.lifetime;
        }
        if self.entries.len() > MAX_ENTRIES {
            self.entries.retain(|_, entry| entry.expires > now);
        }
    }

    fn has(&self, hash: u64, now: Instant) -> bool {
        let entry = self.entries.get(&hash);
        entry.is_some_and(|entry| entry.readable <= now && entry.expires > now)
    }

    fn plan_marked(
        &self,
        scope: u64,
        segments: &[CacheSegment],
        facts: CacheFacts,
        now: Instant,
    ) -> CachePlan {
        let prefixes = prefixes(scope, segments);
        let is_long_enough = |ix: &usize| prefixes[*ix].tokens >= facts.minimum;
        let marks: Vec<usize> = (0..segments.len())
            .filter(|ix| segments[*ix].mark.is_some())
            .filter(is_long_enough)
            .collect();
        let mut plan = CachePlan::default();
        let hit = marks.iter().rev().find_map(|mark| {
            let first = mark.saturating_sub(MAX_LOOK_BACK);
            (first..=*mark)
                .rev()
                .filter(is_long_enough)
                .find(|ix| self.has(prefixes[*ix].hash, now))
        });
        if let Some(ix) = hit {
            plan.read = prefixes[ix].tokens;
            plan.touched.push((prefixes[ix].hash, Duration::ZERO));
        }
        let end_of = |wanted: Option<Lifetime>| {
            let mut fitting = marks
                .iter()
                .rev()
                .filter(|ix| wanted.is_none() || segments[**ix].mark == wanted);
            fitting
                .next()
                .map_or(plan.read, |ix| prefixes[*ix].tokens.max(plan.read))
        };
        let (hour_end, end) = (end_of(Some(Lifetime::Hour)), end_of(None));
        plan.write_1h = hour_end - plan.read;
        plan.write_5m = end - hour_end.max(plan.read);
        for ix in marks {
            let lifetime = match segments[ix].mark {
                Some(Lifetime::Hour) => Duration::from_secs(3600),
                _ => Duration::from_secs(300),
            };
            plan.touched.push((prefixes[ix].hash, lifetime));
        }
        plan
    }

    fn plan_automatic(
        &self,
        scope: u64,
        request: &PromptRequest,
        facts: CacheFacts,
        now: Instant,
    ) -> CachePlan {
        let step = facts.step.max(1);
        let bytes_per_step = (step * tokens::BYTES_PER_TOKEN) as usize;
        let prompt: String = request
            .segments
            .iter()
            .map(|segment| segment.text.as_str())
            .collect();
        let mut plan = CachePlan::default();
        let (mut hash, mut is_hit) = (scope, true);
        for (ix, block) in prompt.as_bytes().chunks_exact(bytes_per_step).enumerate() {
            hash = rng::extend(hash, block);
            is_hit = is_hit && self.has(hash, now);
            // The last token is never read from the cache: the answer starts from it.
            let is_inner = (ix + 1) * bytes_per_step < prompt.len();
            if is_hit && is_inner {
                plan.read = (ix as u64 + 1) * step;
            }
            plan.touched.push((hash, AUTOMATIC_LIFETIME));
        }
        if plan.read < facts.minimum {
            plan.read = 0;
        }
        plan
    }
}

fn prefixes(scope: u64, segments: &[CacheSegment]) -> Vec<PromptPrefix> {
    let (mut hash, mut bytes) = (scope, 0);
    segments
        .iter()
        .map(|segment| {
            // The border between two segments counts: the same bytes cut elsewhere are another prompt.
            hash = rng::extend(rng::extend(hash, segment.text.as_bytes()), &[0]);
            bytes += segment.text.len() as u64;
            PromptPrefix {
                hash,
                tokens: tokens::of_bytes(bytes),
            }
        })
        .collect()
}
