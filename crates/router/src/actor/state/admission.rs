//! Admission of requests: budgets, health of the route, rate limits.

use model::policy::{BreakerDecision, BudgetRefusal, Budgets, RateLedger, RequestClass, Spend};
use model::{Failure, FailureClass, MonotonicTime};

use super::PendingRequest;
use crate::actor::messages::SubmissionId;
use crate::actor::route::RouteState;

/// Decides whether a request may be sent now.
pub(super) struct Admission<'a> {
    pub(super) routes: &'a [RouteState],
    pub(super) rates: &'a mut RateLedger,
    pub(super) budgets: &'a mut Budgets,
    pub(super) findings: &'a mut QueueScan,
    pub(super) now: MonotonicTime,
}

/// By-products of the search for a request to send.
#[derive(Default)]
pub(super) struct QueueScan {
    /// Time to check again; requests that wait for a running one are checked when that ends.
    pub(super) wake: Option<MonotonicTime>,
    /// Requests that never fit their budgets, or whose route is shut.
    pub(super) unfit: Vec<(SubmissionId, Failure)>,
    /// Requests whose route is unhealthy, and that have an alternative.
    pub(super) elsewhere: Vec<SubmissionId>,
}

/// Whether a budget admits a request.
pub(super) enum BudgetFit {
    Now,
    /// After requests in flight have released their holds.
    Later,
    Never(BudgetRefusal),
}

impl Admission<'_> {
    pub(super) fn allows(&mut self, id: SubmissionId, asked: &PendingRequest) -> bool {
        let state = &self.routes[asked.current_route()];
        let is_tab = asked.caller.class == RequestClass::Tab;
        match fit(self.budgets, asked, state) {
            BudgetFit::Now => {}
            BudgetFit::Later => return false,
            BudgetFit::Never(refusal) => {
                self.findings.unfit.push((id, over_budget(refusal)));
                return false;
            }
        }
        if let BreakerDecision::Refused { until } = state.breaker.decision(self.now)
            && !self.passes_breaker(id, asked, until)
        {
            return false;
        }
        // A completion takes a moment and is worthless later, so it ignores the concurrency limit.
        if !is_tab && !state.concurrency.has_room() {
            return false;
        }
        match self.rates.check(state.route(), asked.size.ask, self.now) {
            Ok(()) => true,
            Err(wait) => {
                self.recheck_at(wait.until);
                false
            }
        }
    }

    /// Returns whether only its route's limits hold a request back, so that others must not use up
    /// the capacity it waits for.
    pub(super) fn is_limited(&mut self, asked: &PendingRequest) -> bool {
        let state = &self.routes[asked.current_route()];
        let is_free = state.breaker.decision(self.now).is_granted()
            && state.concurrency.has_room()
            && matches!(fit(self.budgets, asked, state), BudgetFit::Now);
        let ask = asked.size.ask;
        is_free && self.rates.check(state.route(), ask, self.now).is_err()
    }

    fn passes_breaker(
        &mut self,
        id: SubmissionId,
        asked: &PendingRequest,
        until: Option<MonotonicTime>,
    ) -> bool {
        let state = &self.routes[asked.current_route()];
        if asked.at + 1 < asked.chain.len() {
            self.findings.elsewhere.push(id);
        } else if state.is_shut() {
            // The user may have paid or replaced the key meanwhile, and should not have to wait to
            // find out.
            if asked.caller.class == RequestClass::Turn && asked.attempts.in_all == 0 {
                return true;
            }
            let failure = state.last_failure.clone();
            self.findings
                .unfit
                .extend(failure.map(|failure| (id, failure)));
        } else {
            self.recheck_at(until);
        }
        false
    }

    fn recheck_at(&mut self, at: Option<MonotonicTime>) {
        let times = [self.findings.wake, at];
        self.findings.wake = times.into_iter().flatten().min();
    }
}

/// Returns the maximum that a request may use on a route.
pub(super) fn max_spend(asked: &PendingRequest, state: &RouteState) -> Spend {
    let ask = asked.size.ask;
    Spend {
        cost: state.max_cost(&asked.size),
        tokens: ask.input.plus(ask.output),
    }
}

/// Tests the budgets by reserving and releasing at once.
pub(super) fn fit(budgets: &mut Budgets, asked: &PendingRequest, state: &RouteState) -> BudgetFit {
    match budgets.reserve(asked.caller, max_spend(asked, state)) {
        Ok(hold) => {
            budgets.settle_hold(hold, Spend::default());
            BudgetFit::Now
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
            if is_for_good {
                BudgetFit::Never(refusal)
            } else {
                BudgetFit::Later
            }
        }
    }
}

pub(super) fn over_budget(refusal: BudgetRefusal) -> Failure {
    Failure::new(FailureClass::Budget, refusal.to_string())
}
