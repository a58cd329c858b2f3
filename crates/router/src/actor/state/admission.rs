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
    pub(super) scan: &'a mut QueueScan,
    pub(super) now: MonotonicTime,
}

/// By-products of the search for a request to send.
#[derive(Default)]
pub(super) struct QueueScan {
    /// Time to check again; requests that wait for a running one are checked when that ends.
    pub(super) wake: Option<MonotonicTime>,
    /// Requests that never fit their budgets, or whose route is shut.
    pub(super) refused: Vec<(SubmissionId, Failure)>,
    /// Requests whose route is unhealthy, and that have an alternative.
    pub(super) rerouted: Vec<SubmissionId>,
}

/// Whether a budget admits a request.
pub(super) enum BudgetFit {
    Now,
    /// After requests in flight have released their holds.
    Later,
    Never(BudgetRefusal),
}

impl Admission<'_> {
    /// Returns whether a request may be sent now on its current route. Otherwise notes in `scan`
    /// when to ask again, or that the request is to be refused or rerouted; notes nothing if the
    /// request waits for a running one to end.
    pub(super) fn allows(&mut self, id: SubmissionId, request: &PendingRequest) -> bool {
        let state = &self.routes[request.current_route()];
        let is_tab = request.caller.class == RequestClass::Tab;
        match fit(self.budgets, request, state) {
            BudgetFit::Now => {}
            BudgetFit::Later => return false,
            BudgetFit::Never(refusal) => {
                self.scan.refused.push((id, over_budget(refusal)));
                return false;
            }
        }
        if let BreakerDecision::Refused { until } = state.breaker.decision(self.now)
            && !self.passes_breaker(id, request, until)
        {
            return false;
        }
        // A completion takes a moment and is worthless later, so it ignores the concurrency limit.
        if !is_tab && !state.concurrency.has_room() {
            return false;
        }
        match self
            .rates
            .check(state.route(), request.size.demand, self.now)
        {
            Ok(()) => true,
            Err(wait) => {
                self.recheck_at(wait.until);
                false
            }
        }
    }

    /// Returns whether only its route's limits hold a request back, so that others must not use up
    /// the capacity it waits for.
    pub(super) fn is_limited(&mut self, request: &PendingRequest) -> bool {
        let state = &self.routes[request.current_route()];
        let is_free = state.breaker.decision(self.now).is_granted()
            && state.concurrency.has_room()
            && matches!(fit(self.budgets, request, state), BudgetFit::Now);
        let demand = request.size.demand;
        is_free && self.rates.check(state.route(), demand, self.now).is_err()
    }

    /// Handles a breaker that refuses the request's route until `until`. Returns `true` if the
    /// request is sent nevertheless: the first attempt of a user's turn, on a shut route without
    /// alternative. Otherwise notes in `scan` that it is rerouted, refused or checked again.
    fn passes_breaker(
        &mut self,
        id: SubmissionId,
        request: &PendingRequest,
        until: Option<MonotonicTime>,
    ) -> bool {
        let state = &self.routes[request.current_route()];
        if request.at + 1 < request.chain.len() {
            self.scan.rerouted.push(id);
        } else if state.is_shut() {
            // The user may have paid or replaced the key meanwhile, and should not have to wait to
            // find out.
            if request.caller.class == RequestClass::Turn && request.attempts.in_all == 0 {
                return true;
            }
            let failure = state.last_failure.clone();
            self.scan
                .refused
                .extend(failure.map(|failure| (id, failure)));
        } else {
            self.recheck_at(until);
        }
        false
    }

    fn recheck_at(&mut self, at: Option<MonotonicTime>) {
        let times = [self.scan.wake, at];
        self.scan.wake = times.into_iter().flatten().min();
    }
}

/// Returns the maximum that a request may use on a route.
pub(super) fn max_spend(request: &PendingRequest, state: &RouteState) -> Spend {
    let demand = request.size.demand;
    Spend {
        cost: state.max_cost(&request.size),
        tokens: demand.input.plus(demand.output),
    }
}

/// Tests the budgets by reserving an amount and releasing it at once, which leaves the budgets
/// unchanged.
pub(super) fn fit(
    budgets: &mut Budgets,
    request: &PendingRequest,
    state: &RouteState,
) -> BudgetFit {
    match budgets.reserve(request.caller, max_spend(request, state)) {
        Ok(hold) => {
            budgets.settle_hold(hold, Spend::default());
            BudgetFit::Now
        }
        Err(refusal) => {
            let is_for_good = match refusal {
                BudgetRefusal::Cost {
                    cap,
                    spent,
                    requested,
                    ..
                } => spent.plus(requested) > cap,
                BudgetRefusal::Tokens {
                    cap,
                    spent,
                    requested,
                    ..
                } => spent.plus(requested) > cap,
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

/// Returns the failure for a request that a budget refuses.
pub(super) fn over_budget(refusal: BudgetRefusal) -> Failure {
    Failure::new(FailureClass::Budget, refusal.to_string())
}
