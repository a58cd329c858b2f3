//! Tracks which prompt prefixes are cached at providers, and elects the request that writes one.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use crate::policy::Route;
use crate::{CacheMark, ModelRequest, MonotonicTime, ToolInput};

/// Maximum time that followers wait for the leader's cache write.
const MAX_FOLLOW_WAIT: Duration = Duration::from_millis(1500);
/// Cache lifetimes, slightly shorter than documented to allow for transit.
const SHORT_LIFETIME: Duration = Duration::from_secs(5 * 60 - 10);
const LONG_LIFETIME: Duration = Duration::from_secs(60 * 60 - 10);
/// Maximum number of prefixes; the least recently used one is dropped.
const MAX_PREFIXES: usize = 1024;

/// Hash of everything before the conversation: tools and system blocks, in wire order. A collision
/// costs a cache miss, no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PrefixHash(pub u64);

/// The cache state of recently sent prompt prefixes, by route. It keeps at most 1024 prefixes. With
/// it, one request writes a provider's cache while others with the same prefix wait briefly.
#[derive(Debug, Default)]
pub struct PrefixRegistry {
    prefixes: HashMap<(PrefixHash, Route), CachedPrefix>,
}

/// Instruction for a request with a cacheable prefix: send the request, send it as the writer of
/// the cache, or wait for the writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefixTurn {
    /// The prefix is cached: send.
    Warm,
    /// The request is the first: send, and thereby write the cache.
    Lead,
    /// Another request is writing the cache: ask again once it has, or at this time at the latest,
    /// and send then.
    Follow {
        /// Latest time to ask again.
        until: MonotonicTime,
    },
}

#[derive(Clone, Copy, Debug)]
struct CachedPrefix {
    /// Time at which the cache was last known to hold the prefix.
    warm: Option<MonotonicTime>,
    lifetime: Duration,
    /// Time at which a request that writes the cache was sent.
    leading: Option<MonotonicTime>,
    used: MonotonicTime,
}

impl PrefixHash {
    /// Hashes the prefix of a request. The model is excluded, as one prefix may go to several
    /// models.
    pub fn of(request: &ModelRequest) -> Self {
        let mut hasher = DefaultHasher::new();
        for tool in &request.tools {
            tool.name.hash(&mut hasher);
            tool.description.hash(&mut hasher);
            match &tool.input {
                ToolInput::Json(schema) => schema.to_string().hash(&mut hasher),
                ToolInput::Text { grammar } => grammar.hash(&mut hasher),
            }
        }
        for block in &request.system {
            block.text.hash(&mut hasher);
        }
        Self(hasher.finish())
    }
}

impl PrefixRegistry {
    /// Returns the instruction for a request that arrived at `since` and asks at `now`. `Lead`
    /// makes the request the leader, which must report with `written` or `failed`. A request that
    /// has waited 1.5 s since its arrival no longer waits. `mark` is the longest cache lifetime
    /// that the request asks for.
    pub fn arrive(
        &mut self,
        hash: PrefixHash,
        route: &Route,
        mark: CacheMark,
        since: MonotonicTime,
        now: MonotonicTime,
    ) -> PrefixTurn {
        self.forget_oldest();
        let lifetime = match mark {
            CacheMark::None | CacheMark::Short => SHORT_LIFETIME,
            CacheMark::Long => LONG_LIFETIME,
        };
        let entry = self.prefixes.entry((hash, route.clone()));
        let prefix = entry.or_insert(CachedPrefix {
            warm: None,
            lifetime,
            leading: None,
            used: now,
        });
        prefix.used = now;
        if prefix.is_warm(now) {
            return PrefixTurn::Warm;
        }
        let until = since + MAX_FOLLOW_WAIT;
        match prefix.leading {
            // A leader without an answer for this long no longer blocks followers.
            Some(sent) if now.since(sent) < MAX_FOLLOW_WAIT && now < until => {
                PrefixTurn::Follow { until }
            }
            _ => {
                prefix.leading = Some(now);
                prefix.lifetime = lifetime;
                PrefixTurn::Lead
            }
        }
    }

    /// Records the first byte of an answer: the provider has read the prompt, so the prefix is
    /// cached and followers may be sent.
    pub fn written(&mut self, hash: PrefixHash, route: &Route, now: MonotonicTime) {
        if let Some(prefix) = self.prefixes.get_mut(&(hash, route.clone())) {
            prefix.warm = Some(now);
            prefix.leading = None;
        }
    }

    /// Records that the leader failed before its first byte; the next request leads.
    pub fn failed(&mut self, hash: PrefixHash, route: &Route) {
        if let Some(prefix) = self.prefixes.get_mut(&(hash, route.clone())) {
            prefix.leading = None;
        }
    }

    /// Returns whether the prefix is presumably cached for the route at `now`. Returns `false` if
    /// the prefix was never sent on this route.
    pub fn is_warm(&self, hash: PrefixHash, route: &Route, now: MonotonicTime) -> bool {
        let prefix = self.prefixes.get(&(hash, route.clone()));
        prefix.is_some_and(|prefix| prefix.is_warm(now))
    }

    fn forget_oldest(&mut self) {
        if self.prefixes.len() < MAX_PREFIXES {
            return;
        }
        let mut used: Vec<MonotonicTime> =
            self.prefixes.values().map(|prefix| prefix.used).collect();
        // Dropping an eighth at once keeps this rare.
        let rank = MAX_PREFIXES / 8;
        let (_, bound, _) = used.select_nth_unstable(rank);
        let bound = *bound;
        self.prefixes.retain(|_, prefix| prefix.used > bound);
    }
}

impl CachedPrefix {
    /// Returns whether the prefix was written, or read, less than its lifetime before `now`.
    fn is_warm(&self, now: MonotonicTime) -> bool {
        self.warm
            .is_some_and(|warm| now.since(warm) < self.lifetime)
    }
}

#[cfg(test)]
mod tests;
