//! Tracks the day and the spending of other runs of the program against its budget.

use std::time::Duration;

use model::policy::{Budgets, Caps, Day, Spend};
use model::{Cost, Failure, FailureClass, MonotonicTime};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// Maximum age of the others' sum while requests arrive.
const FRESH: Duration = Duration::from_secs(10);

/// Maintains the day's budget across runs of the program.
#[derive(Debug)]
pub(super) struct DailySpend {
    has_cap: bool,
    day: Option<Day>,
    /// Time of the last query for the others' sum.
    asked: Option<MonotonicTime>,
    is_asking: bool,
    /// The others' spending that the budget already contains. The sum may shrink when a call costs
    /// less than was reserved for it; the budget then keeps the higher value.
    known: Option<Spend>,
    trouble: Option<String>,
}

impl DailySpend {
    pub(super) fn new(caps: Caps) -> Self {
        let mut days = Self {
            has_cap: false,
            day: None,
            asked: None,
            is_asking: false,
            known: None,
            trouble: None,
        };
        days.set_caps(caps);
        days
    }

    pub(super) fn set_caps(&mut self, caps: Caps) {
        self.has_cap = caps.day.cost.is_some() || caps.day.tokens.is_some();
    }

    /// Returns whether the day's budget permits sending calls.
    pub(super) fn is_known(&self) -> bool {
        !self.has_cap || self.known.is_some()
    }

    /// Returns the reason why no call can be permitted.
    pub(super) fn trouble(&self) -> Option<Failure> {
        let trouble = self.trouble.as_ref().filter(|_| self.has_cap)?;
        Some(Failure::new(
            FailureClass::Budget,
            format!(
                "today's budget cannot be enforced because past spending cannot be read \
                 ({trouble}); fix this, or remove the daily budget"
            ),
        ))
    }

    /// Updates the day from the wall clock. Returns the start of the period for which the others'
    /// spending must be queried, if a query is due. Days are counted in UTC.
    pub(super) fn tick(
        &mut self,
        now_ms: u64,
        now: MonotonicTime,
        budgets: &mut Budgets,
    ) -> Option<u64> {
        let day = Day(u32::try_from(now_ms / DAY_MS).unwrap_or(u32::MAX));
        if self.day != Some(day) {
            self.day = Some(day);
            budgets.start_day(day);
            self.known = None;
            self.asked = None;
        }
        let is_old = self.asked.is_none_or(|asked| now.since(asked) >= FRESH);
        if !self.has_cap || self.is_asking || !is_old {
            return None;
        }
        self.asked = Some(now);
        self.is_asking = true;
        Some(u64::from(day.0) * DAY_MS)
    }

    /// Applies the result of a query for the others' spending.
    pub(super) fn apply_spend_by_others(
        &mut self,
        since_ms: u64,
        spent: Result<Spend, String>,
        budgets: &mut Budgets,
    ) {
        self.is_asking = false;
        let Some(day) = self.day.filter(|day| u64::from(day.0) * DAY_MS == since_ms) else {
            // Queried before midnight, answered after it.
            return;
        };
        match spent {
            Ok(spent) => {
                let known = self.known.unwrap_or_default();
                let cost = spent.cost.unwrap_or_default();
                let known_cost = known.cost.unwrap_or_default();
                let more = Spend {
                    cost: Some(cost.minus(known_cost)),
                    tokens: spent.tokens.minus(known.tokens),
                };
                budgets.restore(day, more);
                self.known = Some(Spend {
                    cost: Some(Cost(cost.0.max(known_cost.0))),
                    tokens: spent.tokens.max(known.tokens),
                });
                self.trouble = None;
            }
            Err(trouble) => self.trouble = Some(trouble),
        }
    }
}
