//! Tracks the day and the spending of other runs of the program against its budget.

use std::time::Duration;

use model::policy::{Budgets, Caps, Day, Spend};
use model::{Cost, Failure, FailureClass, MonotonicTime};

use crate::error::Error;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// Maximum age of the sum of other runs while requests arrive.
const REFRESH_INTERVAL: Duration = Duration::from_secs(10);

/// The day's spending by other runs of the program, for the daily budget.
#[derive(Debug)]
pub(super) struct DailySpend {
    has_cap: bool,
    day: Option<Day>,
    /// Time of the last query for the others' sum.
    last_query: Option<MonotonicTime>,
    is_querying: bool,
    /// The others' spending that the budget already contains. The sum may shrink when a call costs
    /// less than was reserved for it; the budget then keeps the higher value.
    counted: Option<Spend>,
    /// The failure of the last query.
    error: Option<Error>,
}

impl DailySpend {
    /// Creates the state while the current day is unknown. The first `tick` requests a query.
    pub(super) fn new(caps: Caps) -> Self {
        let mut spend = Self {
            has_cap: false,
            day: None,
            last_query: None,
            is_querying: false,
            counted: None,
            error: None,
        };
        spend.set_caps(caps);
        spend
    }

    /// Sets whether there is a daily cap. Without a daily cap, the spending of other runs is not
    /// needed.
    pub(super) fn set_caps(&mut self, caps: Caps) {
        self.has_cap = caps.day.cost.is_some() || caps.day.tokens.is_some();
    }

    /// Returns whether the day's budget can be checked: there is no daily cap, or the spending of
    /// other runs is known.
    pub(super) fn is_known(&self) -> bool {
        !self.has_cap || self.counted.is_some()
    }

    /// Returns a failure if there is a daily cap and past spending cannot be read, because calls
    /// cannot be permitted then. Otherwise, returns `None`.
    pub(super) fn failure(&self) -> Option<Failure> {
        let error = self.error.as_ref().filter(|_| self.has_cap)?;
        Some(Failure::new(
            FailureClass::Budget,
            format!(
                "today's budget cannot be enforced because past spending cannot be read \
                 ({error}); fix this, or remove the daily budget"
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
            self.counted = None;
            self.last_query = None;
        }
        let is_due = self
            .last_query
            .is_none_or(|last_query| now.since(last_query) >= REFRESH_INTERVAL);
        if !self.has_cap || self.is_querying || !is_due {
            return None;
        }
        self.last_query = Some(now);
        self.is_querying = true;
        Some(u64::from(day.0) * DAY_MS)
    }

    /// Applies the result of a query for the spending of other runs since `since_ms`: adds the
    /// spending that `budgets` does not contain yet, or stores the error. A result for an earlier
    /// day is dropped.
    pub(super) fn apply_spend_by_others(
        &mut self,
        since_ms: u64,
        spent: Result<Spend, Error>,
        budgets: &mut Budgets,
    ) {
        self.is_querying = false;
        let Some(day) = self.day.filter(|day| u64::from(day.0) * DAY_MS == since_ms) else {
            // Queried before midnight, answered after it.
            return;
        };
        match spent {
            Ok(spent) => {
                let counted = self.counted.unwrap_or_default();
                let cost = spent.cost.unwrap_or_default();
                let counted_cost = counted.cost.unwrap_or_default();
                let more = Spend {
                    cost: Some(cost.minus(counted_cost)),
                    tokens: spent.tokens.minus(counted.tokens),
                };
                budgets.restore(day, more);
                self.counted = Some(Spend {
                    cost: Some(Cost(cost.0.max(counted_cost.0))),
                    tokens: spent.tokens.max(counted.tokens),
                });
                self.error = None;
            }
            Err(error) => self.error = Some(error),
        }
    }
}
