//! Which prompt prefixes a provider has in its cache, and who writes one first.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use crate::policy::Lane;
use crate::{CacheMark, Moment, Request, ToolInput};

/// How long followers wait for the leader's cache write.
const PATIENCE: Duration = Duration::from_millis(1500);
/// How long caches live, a little less than providers say, for the way there.
const SHORT: Duration = Duration::from_secs(5 * 60 - 10);
const LONG: Duration = Duration::from_secs(60 * 60 - 10);
/// Prefixes remembered; the one unused for longest is forgotten.
const REMEMBERED: usize = 1024;

/// The hash of what comes before the conversation: tools and system blocks, in the order of the wire.
/// Two prefixes of one hash cost a cache miss, no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PrefixHash(pub u64);

/// What is known of the prefixes sent lately.
#[derive(Debug, Default)]
pub struct PrefixRegistry {
    prefixes: HashMap<(PrefixHash, Lane), Prefix>,
}

/// Where a prefix was last used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixUse {
    /// By which lane.
    pub lane: Lane,
    /// When its cache was last written or read.
    pub at: Moment,
}

/// What a request with a prefix should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefixTurn {
    /// The prefix is in the cache: go.
    Warm,
    /// It is the first: go, and write the cache.
    Lead,
    /// Another is writing the cache: ask again when it has, or at this time at the latest, and then go.
    Follow {
        /// The end of the wait.
        until: Moment,
    },
}

#[derive(Clone, Copy, Debug)]
struct Prefix {
    /// When the cache was last known to hold it.
    warm: Option<Moment>,
    lives: Duration,
    /// When a request that will write it was sent.
    leading: Option<Moment>,
    used: Moment,
}

impl PrefixHash {
    /// The hash of a request's prefix. The model is not in it, as one prefix may go to several.
    pub fn of(request: &Request) -> Self {
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
    /// What a request should do that came at `since` and asks at `now`. `Lead` makes it the leader, which
    /// reports by `written` or `failed`. `mark` is the longest life that the request asks for.
    pub fn arrive(
        &mut self,
        hash: PrefixHash,
        lane: &Lane,
        mark: CacheMark,
        since: Moment,
        now: Moment,
    ) -> PrefixTurn {
        self.forget_oldest();
        let lives = match mark {
            CacheMark::None | CacheMark::Short => SHORT,
            CacheMark::Long => LONG,
        };
        let entry = self.prefixes.entry((hash, lane.clone()));
        let prefix = entry.or_insert(Prefix {
            warm: None,
            lives,
            leading: None,
            used: now,
        });
        prefix.used = now;
        if prefix.is_warm(now) {
            return PrefixTurn::Warm;
        }
        let until = since + PATIENCE;
        match prefix.leading {
            // A leader that is silent for so long holds nobody up.
            Some(sent) if now.since(sent) < PATIENCE && now < until => PrefixTurn::Follow { until },
            _ => {
                prefix.leading = Some(now);
                prefix.lives = lives;
                PrefixTurn::Lead
            }
        }
    }

    /// The first byte of an answer came, so the provider has read the prompt: its prefix is in the cache, and
    /// followers may go.
    pub fn written(&mut self, hash: PrefixHash, lane: &Lane, now: Moment) {
        if let Some(prefix) = self.prefixes.get_mut(&(hash, lane.clone())) {
            prefix.warm = Some(now);
            prefix.leading = None;
        }
    }

    /// The leader failed before its first byte: the next to ask leads.
    pub fn failed(&mut self, hash: PrefixHash, lane: &Lane) {
        if let Some(prefix) = self.prefixes.get_mut(&(hash, lane.clone())) {
            prefix.leading = None;
        }
    }

    /// Whether the lane's provider has the prefix in its cache now.
    pub fn is_warm(&self, hash: PrefixHash, lane: &Lane, now: Moment) -> bool {
        let prefix = self.prefixes.get(&(hash, lane.clone()));
        prefix.is_some_and(|prefix| prefix.is_warm(now))
    }

    /// Where the prefix was used last, if it is still warm there.
    pub fn last(&self, hash: PrefixHash, now: Moment) -> Option<PrefixUse> {
        let warm = self.prefixes.iter().filter_map(|((other, lane), prefix)| {
            let at = prefix.warm.filter(|_| prefix.is_warm(now))?;
            (*other == hash).then_some((at, lane))
        });
        // The lane decides between equal times, so that the answer does not depend on the map's order.
        let (at, lane) = warm.max()?;
        Some(PrefixUse {
            lane: lane.clone(),
            at,
        })
    }

    fn forget_oldest(&mut self) {
        if self.prefixes.len() < REMEMBERED {
            return;
        }
        let mut used: Vec<Moment> = self.prefixes.values().map(|prefix| prefix.used).collect();
        // An eighth at once, so that this is rare.
        let rank = REMEMBERED / 8;
        let (_, bound, _) = used.select_nth_unstable(rank);
        let bound = *bound;
        self.prefixes.retain(|_, prefix| prefix.used > bound);
    }
}

impl Prefix {
    fn is_warm(&self, now: Moment) -> bool {
        self.warm.is_some_and(|warm| now.since(warm) < self.lives)
    }
}

#[cfg(test)]
mod tests;
