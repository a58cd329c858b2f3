//! Which day it is, and what other runs of the program have spent of its budget.

use std::time::Duration;

use model::policy::{Budgets, Caps, Day, Spend};
use model::{Cost, Failure, FailureClass, Moment};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// How old the others' sum may be while questions come.
const FRESH: Duration = Duration::from_secs(10);

/// Keeps the day's budget across runs of the program.
#[derive(Debug)]
pub(super) struct Days {
    has_cap: bool,
    day: Option<Day>,
    /// When the others' sum was asked for last.
    asked: Option<Moment>,
    is_asking: bool,
    /// What the budget knows of the others already. Their sum may shrink when a call costs less than was held for
    /// it; the budget then stays with the more.
    known: Option<Spend>,
    trouble: Option<String>,
}

impl Days {
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

    /// Whether calls may be sent as far as the day's budget is concerned.
    pub(super) fn is_known(&self) -> bool {
        !self.has_cap || self.known.is_some()
    }

    /// Why no call can be allowed.
    pub(super) fn trouble(&self) -> Option<Failure> {
        let trouble = self.trouble.as_ref().filter(|_| self.has_cap)?;
        Some(Failure::new(
            FailureClass::Budget,
            format!(
                "today's budget cannot be kept, as what was spent cannot be read ({trouble}); mend it, or set no \
                 budget for the day"
            ),
        ))
    }

    /// It is `now_ms` by the wall clock. Answers since when the others' spending is to be read, when it is time
    /// for that. Days are counted in UTC.
    pub(super) fn tick(&mut self, now_ms: u64, now: Moment, budgets: &mut Budgets) -> Option<u64> {
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

    /// What others have spent since then, as far as it could be read.
    pub(super) fn told(
        &mut self,
        since_ms: u64,
        spent: Result<Spend, String>,
        budgets: &mut Budgets,
    ) {
        self.is_asking = false;
        let Some(day) = self.day.filter(|day| u64::from(day.0) * DAY_MS == since_ms) else {
            // Asked before midnight, answered after it.
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
