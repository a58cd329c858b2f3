//! The shared budget of a session and its subagents.
//!
//! Invariant: a subagent's spending counts against every session above it, so that delegating work
//! cannot exceed a limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use model::{Cost, TokenCount};

/// The limits of a session and its subagents, checked before each request; `None` sets no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetLimits {
    /// The most that it may cost.
    pub cost: Option<Cost>,
    /// The most tokens that it may read and write.
    pub tokens: Option<TokenCount>,
    /// The time from its opening to its last request.
    pub time: Option<Duration>,
}

impl From<Option<Cost>> for BudgetLimits {
    fn from(cost: Option<Cost>) -> Self {
        Self {
            cost,
            ..Self::default()
        }
    }
}

/// The budget of a session and its subagents.
#[derive(Debug, Default)]
pub struct SessionBudget {
    limits: BudgetLimits,
    /// The time at which it was opened, by the clock of the session.
    opened: Duration,
    nano: AtomicU64,
    tokens: AtomicU64,
    /// Whether an answer had an unknown price.
    has_unknown: AtomicBool,
    /// The budget of the parent session.
    parent: Option<Arc<SessionBudget>>,
}

impl SessionBudget {
    /// Creates a budget at the time `now` of the session's clock. Everything spent also counts against
    /// the budget `above`, whose limits apply too.
    pub fn new(
        limits: BudgetLimits,
        now: Duration,
        above: Option<Arc<SessionBudget>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            limits,
            opened: now,
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

    /// Adds the tokens of an answer and its prompt.
    pub fn count_tokens(&self, tokens: TokenCount) {
        self.tokens.fetch_add(tokens.0, Ordering::Relaxed);
        if let Some(above) = &self.parent {
            above.count_tokens(tokens);
        }
    }

    /// Returns the amount spent so far, subagents included; `None` once any answer had an unknown
    /// price.
    pub fn spent(&self) -> Option<Cost> {
        let has_unknown = self.has_unknown.load(Ordering::Relaxed);
        (!has_unknown).then(|| Cost(self.nano.load(Ordering::Relaxed)))
    }

    /// Returns why nothing more may be spent at the time `now`, as a sentence; `None` if this budget and
    /// those above it allow more. A budget with a limit of cost is also exhausted once an answer had an
    /// unknown price.
    pub fn exhausted_reason(&self, now: Duration) -> Option<String> {
        self.cost_reason()
            .or_else(|| self.token_reason())
            .or_else(|| self.time_reason(now))
            .or_else(|| self.parent.as_ref()?.exhausted_reason(now))
    }

    fn cost_reason(&self) -> Option<String> {
        let most = self.limits.cost?;
        match self.spent() {
            None => Some(format!(
                "the work may cost {most}, and what it cost so far is not known, since a model has no known price; \
                 name its price in the settings, or set no bound"
            )),
            Some(spent) if spent >= most => Some(format!(
                "the work may cost {most}, and has cost {spent}; raise the limit and say how to continue"
            )),
            Some(_) => None,
        }
    }

    fn token_reason(&self) -> Option<String> {
        let TokenCount(most) = self.limits.tokens?;
        let used = self.tokens.load(Ordering::Relaxed);
        (used >= most).then(|| {
            format!("the work may use {most} tokens, and has used {used}; raise the limit and say how to continue")
        })
    }

    fn time_reason(&self, now: Duration) -> Option<String> {
        let most = self.limits.time?;
        (now.saturating_sub(self.opened) >= most).then(|| {
            let minutes = most.as_secs() / 60;
            format!("the work may take {minutes} minutes, and has taken as long; raise the limit and say how to continue")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Duration = Duration::ZERO;

    fn budget(most: Option<u64>, above: Option<Arc<SessionBudget>>) -> Arc<SessionBudget> {
        SessionBudget::new(most.map(Cost).into(), START, above)
    }

    #[test]
    fn subagent_spending_counts_against_the_parent() {
        let above = budget(Some(10), None);
        let below = budget(None, Some(above.clone()));
        let beside = budget(Some(3), Some(above.clone()));
        below.spend(Some(Cost(5)));
        assert_eq!(below.exhausted_reason(START), None);
        beside.spend(Some(Cost(3)));
        assert!(
            beside
                .exhausted_reason(START)
                .is_some_and(|why| why.contains("may cost"))
        );
        assert_eq!(
            (below.exhausted_reason(START), above.spent()),
            (None, Some(Cost(8)))
        );
        below.spend(Some(Cost(2)));
        assert!(below.exhausted_reason(START).is_some());
    }

    #[test]
    fn unknown_price_exhausts_a_limited_budget() {
        let limited = budget(Some(10), None);
        limited.spend(None);
        assert_eq!(limited.spent(), None);
        assert!(
            limited
                .exhausted_reason(START)
                .is_some_and(|why| why.contains("no known price"))
        );
        let free = budget(None, None);
        free.spend(None);
        assert_eq!(free.exhausted_reason(START), None);
    }

    #[test]
    fn tokens_and_time_exhaust_a_budget() {
        let limits = BudgetLimits {
            tokens: Some(TokenCount(100)),
            time: Some(Duration::from_secs(120)),
            ..BudgetLimits::default()
        };
        let above = SessionBudget::new(limits, Duration::from_secs(5), None);
        let below = budget(None, Some(above.clone()));
        let reason = |seconds| below.exhausted_reason(Duration::from_secs(seconds));
        assert_eq!(reason(124), None);
        assert!(reason(125).is_some_and(|why| why.contains("2 minutes")));
        below.count_tokens(TokenCount(99));
        assert_eq!(reason(6), None);
        below.count_tokens(TokenCount(1));
        assert!(reason(6).is_some_and(|why| why.contains("100 tokens")));
    }
}
