//! What a session and its subagents may cost together, and have cost so far.
//!
//! Invariant: what a subagent spends counts against every session above it, so that no bound can be got around by
//! handing work on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use model::Cost;

/// Money for a session and those below it.
#[derive(Debug, Default)]
pub struct Purse {
    most: Option<Cost>,
    nano: AtomicU64,
    /// Whether there were answers whose price is not known.
    has_unknown: AtomicBool,
    /// The purse of the session above.
    above: Option<Arc<Purse>>,
}

impl Purse {
    /// A purse that holds at most so much, and takes from the one above it.
    pub fn new(most: Option<Cost>, above: Option<Arc<Purse>>) -> Arc<Self> {
        Arc::new(Self {
            most,
            above,
            ..Self::default()
        })
    }

    /// An answer cost so much; `None` where nobody knows.
    pub fn pay(&self, cost: Option<Cost>) {
        match cost {
            // Additions of whole numbers: the order does not matter.
            Some(cost) => drop(self.nano.fetch_add(cost.0, Ordering::Relaxed)),
            None => self.has_unknown.store(true, Ordering::Relaxed),
        }
        if let Some(above) = &self.above {
            above.pay(cost);
        }
    }

    /// What was spent; `None` once a price was not known.
    pub fn spent(&self) -> Option<Cost> {
        let has_unknown = self.has_unknown.load(Ordering::Relaxed);
        (!has_unknown).then(|| Cost(self.nano.load(Ordering::Relaxed)))
    }

    /// Why nothing more may be spent, in a sentence; `None` where it may.
    pub fn is_empty(&self) -> Option<String> {
        let own = self.most.and_then(|most| match self.spent() {
            None => Some(format!(
                "the work may cost {most}, and what it cost so far is not known, since a model has no known price; \
                 name its price in the settings, or set no bound"
            )),
            Some(spent) if spent >= most => Some(format!(
                "the work may cost {most}, and has cost {spent}; allow more and say how to go on"
            )),
            Some(_) => None,
        });
        own.or_else(|| self.above.as_ref()?.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use model::Cost;

    use super::Purse;

    #[test]
    fn what_is_spent_below_counts_above() {
        let above = Purse::new(Some(Cost(10)), None);
        let below = Purse::new(None, Some(above.clone()));
        let beside = Purse::new(Some(Cost(3)), Some(above.clone()));
        below.pay(Some(Cost(5)));
        assert_eq!(below.is_empty(), None);
        beside.pay(Some(Cost(3)));
        assert!(
            beside
                .is_empty()
                .is_some_and(|why| why.contains("may cost"))
        );
        assert_eq!((below.is_empty(), above.spent()), (None, Some(Cost(8))));
        below.pay(Some(Cost(2)));
        assert!(below.is_empty().is_some());
    }

    #[test]
    fn a_cost_that_is_not_known_is_not_nothing() {
        let purse = Purse::new(Some(Cost(10)), None);
        purse.pay(None);
        assert_eq!(purse.spent(), None);
        assert!(
            purse
                .is_empty()
                .is_some_and(|why| why.contains("no known price"))
        );
        let free = Purse::new(None, None);
        free.pay(None);
        assert_eq!(free.is_empty(), None);
    }
}
