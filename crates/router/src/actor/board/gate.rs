//! Whether a question may be sent at this moment: budgets, the lane's health, its limits.

use model::policy::{BudgetRefusal, Budgets, Class, Permission, RateLedger, Spend};
use model::{Failure, FailureClass, Moment};

use super::Asked;
use crate::actor::lane::LaneState;
use crate::actor::post::QuestionId;

/// Judges whether a question may be sent now.
pub(super) struct Gate<'a> {
    pub(super) lanes: &'a [LaneState],
    pub(super) rates: &'a mut RateLedger,
    pub(super) budgets: &'a mut Budgets,
    pub(super) findings: &'a mut Findings,
    pub(super) now: Moment,
}

/// What the search for a question that can go found beside it.
#[derive(Default)]
pub(super) struct Findings {
    /// When to look again; what waits for something under way is looked at when that ends.
    pub(super) wake: Option<Moment>,
    /// They will never fit their budgets, or their lane is shut.
    pub(super) unfit: Vec<(QuestionId, Failure)>,
    /// Their lane is sick, and there is another.
    pub(super) elsewhere: Vec<QuestionId>,
}

/// Whether a budget lets a request through.
pub(super) enum Fit {
    Now,
    /// When requests under way have given back what is held for them.
    Later,
    Never(BudgetRefusal),
}

impl Gate<'_> {
    pub(super) fn lets(&mut self, id: QuestionId, asked: &Asked) -> bool {
        let state = &self.lanes[asked.lane()];
        let is_tab = asked.caller.class == Class::Tab;
        match fit(self.budgets, asked, state) {
            Fit::Now => {}
            Fit::Later => return false,
            Fit::Never(refusal) => {
                self.findings.unfit.push((id, over_budget(refusal)));
                return false;
            }
        }
        if let Permission::Refused { until } = state.breaker.permission(self.now)
            && !self.passes_breaker(id, asked, until)
        {
            return false;
        }
        // A completion is over in a moment and worth nothing later.
        if !is_tab && !state.concurrency.has_room() {
            return false;
        }
        match self.rates.check(state.lane(), asked.size.ask, self.now) {
            Ok(()) => true,
            Err(wait) => {
                self.look_again(wait.until);
                false
            }
        }
    }

    /// Whether its lane's limits alone hold a question back: nobody else may use up there what it waits for.
    pub(super) fn is_limited(&mut self, asked: &Asked) -> bool {
        let state = &self.lanes[asked.lane()];
        let is_free = state.breaker.permission(self.now).is_granted()
            && state.concurrency.has_room()
            && matches!(fit(self.budgets, asked, state), Fit::Now);
        let ask = asked.size.ask;
        is_free && self.rates.check(state.lane(), ask, self.now).is_err()
    }

    fn passes_breaker(&mut self, id: QuestionId, asked: &Asked, until: Option<Moment>) -> bool {
        let state = &self.lanes[asked.lane()];
        if asked.at + 1 < asked.chain.len() {
            self.findings.elsewhere.push(id);
        } else if state.is_shut() {
            // The person may have paid or mended the key meanwhile, and should not have to wait to find out.
            if asked.caller.class == Class::Turn && asked.attempts.in_all == 0 {
                return true;
            }
            let failure = state.last_failure.clone();
            self.findings
                .unfit
                .extend(failure.map(|failure| (id, failure)));
        } else {
            self.look_again(until);
        }
        false
    }

    fn look_again(&mut self, at: Option<Moment>) {
        let times = [self.findings.wake, at];
        self.findings.wake = times.into_iter().flatten().min();
    }
}

/// The most that a question may use in a lane.
pub(super) fn most(asked: &Asked, state: &LaneState) -> Spend {
    let ask = asked.size.ask;
    Spend {
        cost: state.most(&asked.size),
        tokens: ask.input.plus(ask.output),
    }
}

/// Asks the budgets by holding and giving back at once.
pub(super) fn fit(budgets: &mut Budgets, asked: &Asked, state: &LaneState) -> Fit {
    match budgets.reserve(asked.caller, most(asked, state)) {
        Ok(hold) => {
            budgets.settle(hold, Spend::default());
            Fit::Now
        }
        Err(refusal) => {
            let is_for_good = match refusal {
                BudgetRefusal::Cost {
                    cap, spent, asked, ..
                } => spent.plus(asked) > cap,
                BudgetRefusal::Tokens {
                    cap, spent, asked, ..
                } => spent.plus(asked) > cap,
                BudgetRefusal::UnknownPrice { .. } => true,
            };
            match is_for_good {
                true => Fit::Never(refusal),
                false => Fit::Later,
            }
        }
    }
}

pub(super) fn over_budget(refusal: BudgetRefusal) -> Failure {
    Failure::new(FailureClass::Budget, refusal.to_string())
}
