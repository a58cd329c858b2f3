//! The shared budget of a session and its subagents.
//!
//! Invariant: a subagent's spending counts against every session above it, so that delegating work
//! cannot exceed a limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use model::Cost;

/// The budget of a session and its subagents.
#[derive(Debug, Default)]
pub struct SessionBudget {
    limit: Option<Cost>,
    nano: AtomicU64,
    /// Whether an answer had an unknown price.
    has_unknown: AtomicBool,
    /// The budget of the parent session.
    parent: Option<Arc<SessionBudget>>,
}

impl SessionBudget {
    /// Creates a budget; `None` sets no limit of its own. Everything spent also counts against the
    /// budget `above`, whose limit applies too.
    pub fn new(most: Option<Cost>, above: Option<Arc<SessionBudget>>) -> Arc<Self> {
        Arc::new(Self {
            limit: most,
            parent: above,
            ..Self::default()
        })
    }

    /// Adds the cost of an answer; `None` if its price is unknown.
    pub fn spend(&self, cost: Option<Cost>) {
        match cost {
            // Integer additions commute, so relaxed ordering suffices.
            Some(cost) => drop(self.nano.fetch_add(cost.0, Ordering::Relaxed)),
            None => self.has_unknown.store(true, Ordering::Relaxed),
        }
        if let Some(above) = &self.parent {
            above.spend(cost);
        }
    }

    /// Returns the amount spent so far, subagents included; `None` once any answer had an unknown
    /// price.
    pub fn spent(&self) -> Option<Cost> {
        let has_unknown = self.has_unknown.load(Ordering::Relaxed);
        (!has_unknown).then(|| Cost(self.nano.load(Ordering::Relaxed)))
    }

    /// Returns why nothing more may be spent, as a sentence; `None` if this budget and those above
    /// it allow more. A budget with a limit is also exhausted once an answer had an unknown price.
    pub fn exhausted_reason(&self) -> Option<String> {
        let own = self.limit.and_then(|most| match self.spent() {
            None => Some(format!(
                "the work may cost {most}, and what it cost so far is not known, since a model has no known price; \
                 name its price in the settings, or set no bound"
            )),
            Some(spent) if spent >= most => Some(format!(
                "the work may cost {most}, and has cost {spent}; raise the limit and say how to continue"
            )),
            Some(_) => None,
        });
        own.or_else(|| self.parent.as_ref()?.exhausted_reason())
    }
}

#[cfg(test)]
mod tests {
    use model::Cost;

    use super::SessionBudget;

    #[test]
    fn subagent_spending_counts_against_the_parent() {
        let above = SessionBudget::new(Some(Cost(10)), None);
        let below = SessionBudget::new(None, Some(above.clone()));
        let beside = SessionBudget::new(Some(Cost(3)), Some(above.clone()));
        below.spend(Some(Cost(5)));
        assert_eq!(below.exhausted_reason(), None);
        beside.spend(Some(Cost(3)));
        assert!(
            beside
                .exhausted_reason()
                .is_some_and(|why| why.contains("may cost"))
        );
        assert_eq!(
            (below.exhausted_reason(), above.spent()),
            (None, Some(Cost(8)))
        );
        below.spend(Some(Cost(2)));
        assert!(below.exhausted_reason().is_some());
    }

    #[test]
    fn unknown_price_exhausts_a_limited_budget() {
        let budget = SessionBudget::new(Some(Cost(10)), None);
        budget.spend(None);
        assert_eq!(budget.spent(), None);
        assert!(
            budget
                .exhausted_reason()
                .is_some_and(|why| why.contains("no known price"))
        );
        let free = SessionBudget::new(None, None);
        free.spend(None);
        assert_eq!(free.exhausted_reason(), None);
    }
}
