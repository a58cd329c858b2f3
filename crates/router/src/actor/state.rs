//! State of the router's task: all requests, all attempts, and the policies that judge them.
//!
//! Nothing here blocks: functions receive the current time, and `pump` returns when it must be
//! called again.
//!
//! A request is in exactly one place: asleep (pausing after a failure, or following the request
//! that writes the cache of their common prefix), in the queue, or sent by its stream.

mod admission;
mod outcome;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use model::policy::route::RouteDecision;
use model::policy::{
    Attempts, BreakerDecision, BudgetHold, Budgets, Caller, PrefixHash, PrefixRegistry, PrefixTurn,
    QueueTicket, RateLedger, RateReservation, RateSettlement, RequestClass, RequestQueue, Retry,
};
use model::{Failure, FailureClass, MonotonicTime};
use tokio::sync::{mpsc, oneshot};

use super::day::DailySpend;
use super::estimate::RequestSize;
use super::messages::{
    AttemptGuard, AttemptId, SendGrant, StreamAction, StreamReport, Submission, SubmissionId,
};
use super::route::RouteState;
use super::route_selector::RouteSelector;
use super::usage_store::{CallReservation, UsageStore};
use super::{RouterConfig, WallClock};
use admission::{Admission, BudgetFit, QueueScan, fit, max_spend, over_budget};

/// Maximum number of requests in the queue or asleep; further ones are refused. Agents send one
/// request at a time, so this allows a great many agents.
const MAX_WAITING: usize = 4_096;

/// The state of the router's task.
pub(super) struct RouterState {
    pub(super) routes: Vec<RouteState>,
    pub(super) requests: HashMap<SubmissionId, PendingRequest>,
    pub(super) attempts: HashMap<AttemptId, SentAttempt>,
    pub(super) queue: RequestQueue<SubmissionId>,
    /// Wake-up times of sleeping requests.
    pub(super) asleep: BTreeSet<(MonotonicTime, SubmissionId)>,
    pub(super) rates: RateLedger,
    pub(super) budgets: Budgets,
    pub(super) daily_spend: DailySpend,
    pub(super) prefixes: PrefixRegistry,
    pub(super) selector: RouteSelector,
    pub(super) retry: Retry,
    pub(super) retry_alone: Retry,
    pub(super) usage_store: Arc<dyn UsageStore>,
    pub(super) wall: WallClock,
    jitter_rng: JitterRng,
    last_attempt: u64,
    /// Distinguishes this router's requests from those of other routers that use the same keys.
    run: u64,
}

/// A request and its progress.
pub(super) struct PendingRequest {
    pub(super) caller: Caller,
    pub(super) size: RequestSize,
    pub(super) prefix: Option<PrefixHash>,
    pub(super) conversation: Option<String>,
    /// Eligible routes, best first; `at` is the index of the current one.
    pub(super) chain: Vec<usize>,
    pub(super) at: usize,
    pub(super) attempts: Attempts,
    /// Time at which it was assigned to this route.
    pub(super) since: MonotonicTime,
    pub(super) phase: RequestPhase,
    pub(super) reports: mpsc::UnboundedSender<StreamReport>,
    /// Channel on which its stream waits.
    pub(super) reply: Option<oneshot::Sender<StreamAction>>,
    pub(super) decision: Arc<RouteDecision>,
    pub(super) is_decision_sent: bool,
}

/// The stage of a request: pausing, following, queued or sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestPhase {
    /// Pausing after a failure, until this time.
    Pausing(MonotonicTime),
    /// Following the request that writes the cache, until this time at the latest.
    Following(MonotonicTime),
    Queued(QueueTicket),
    Sent,
}

/// An attempt on the wire.
pub(super) struct SentAttempt {
    pub(super) question: SubmissionId,
    pub(super) caller: Caller,
    pub(super) route: usize,
    pub(super) number: u32,
    pub(super) size: RequestSize,
    pub(super) prefix: Option<PrefixHash>,
    pub(super) reservation: RateReservation,
    pub(super) hold: BudgetHold,
    pub(super) at: MonotonicTime,
    pub(super) at_ms: u64,
    pub(super) first_event: Option<MonotonicTime>,
}

impl RouterState {
    /// Creates the state without requests.
    pub(super) fn new(config: RouterConfig, now: MonotonicTime) -> Self {
        let mut rates = RateLedger::default();
        for route in &config.routes {
            rates.set_limits(&route.route, route.limits, now);
        }
        let mut budgets = Budgets::default();
        budgets.set_caps(config.caps);
        Self {
            selector: RouteSelector::new(&config.auto, &config.routes),
            routes: config.routes.into_iter().map(RouteState::new).collect(),
            requests: HashMap::new(),
            attempts: HashMap::new(),
            queue: RequestQueue::default(),
            asleep: BTreeSet::new(),
            rates,
            budgets,
            daily_spend: DailySpend::new(config.caps),
            prefixes: PrefixRegistry::default(),
            retry: config.retry,
            retry_alone: config.retry_alone,
            usage_store: config.usage_store,
            wall: config.clock,
            jitter_rng: JitterRng::new(config.seed),
            last_attempt: 0,
            // The standard library's hashers are the one source of randomness that no configuration
            // can repeat.
            run: RandomState::new().build_hasher().finish(),
        }
    }

    /// Adds a new request: refuses it, or lets it wait for its turn.
    pub(super) fn submit(&mut self, submission: Submission, now: MonotonicTime) {
        let (caller, size) = (submission.caller, submission.size);
        if self.queue.len() + self.asleep.len() >= MAX_WAITING {
            return refuse(submission.reply, queue_full());
        }
        if let Some(failure) = self.daily_spend.failure() {
            return refuse(submission.reply, failure);
        }
        let plan = self
            .selector
            .choose(&submission, &self.routes, &self.prefixes, now);
        let now_ms = self.wall.now_ms();
        self.usage_store
            .record_decision(now_ms, submission.question.0, caller, &plan.decision);
        if let Some(failure) = plan.failure {
            return refuse(submission.reply, failure);
        }
        let mut request = PendingRequest {
            caller,
            size,
            prefix: submission.prefix,
            conversation: submission.conversation,
            chain: plan.chain,
            at: 0,
            attempts: Attempts::default(),
            since: now,
            phase: RequestPhase::Sent,
            reports: submission.reports,
            reply: None,
            decision: plan.decision,
            is_decision_sent: false,
        };
        let state = &self.routes[request.current_route()];
        request.size.demand.input = state.tokens.estimate(size.bytes);
        if let BudgetFit::Never(refusal) = fit(&mut self.budgets, &request, state) {
            return refuse(submission.reply, over_budget(refusal));
        }
        request.reply = Some(submission.reply);
        self.requests.insert(submission.question, request);
        self.enqueue(submission.question, now);
    }

    /// Lets a request wait for its current route: it follows the writer of its prefix cache, or
    /// joins the queue.
    pub(super) fn enqueue(&mut self, id: SubmissionId, now: MonotonicTime) {
        let Some(request) = self.requests.get_mut(&id) else {
            return;
        };
        let route = self.routes[request.current_route()].route();
        if let Some(hash) = request.prefix {
            let mark = request.size.mark;
            let turn = self.prefixes.arrive(hash, route, mark, request.since, now);
            if let PrefixTurn::Follow { until } = turn {
                request.phase = RequestPhase::Following(until);
                self.asleep.insert((until, id));
                return;
            }
        }
        let tokens = request.size.demand.input.plus(request.size.demand.output);
        let caller = (request.caller.class, request.caller.agent);
        request.phase = RequestPhase::Queued(self.queue.push(caller, tokens, now, id));
    }

    /// Wakes sleepers, admits every request that can be sent, and returns when to call it again.
    /// Other events in between may admit more.
    pub(super) fn pump(&mut self, now: MonotonicTime) -> Option<MonotonicTime> {
        while let Some((at, id)) = self.asleep.first().copied().filter(|(at, _)| *at <= now) {
            self.asleep.remove(&(at, id));
            self.enqueue(id, now);
        }
        let mut wake = None;
        if self.daily_spend.is_known() {
            wake = self.dispatch(now);
        }
        let sleeper = self.asleep.first().map(|(at, _)| *at);
        [wake, sleeper].into_iter().flatten().min()
    }

    /// Permits every queued request that may be sent now, and refuses or reroutes those that cannot
    /// be sent on their route. Returns the earliest time at which a waiting request may be sent
    /// without another event; `None` if there is none.
    fn dispatch(&mut self, now: MonotonicTime) -> Option<MonotonicTime> {
        loop {
            let mut scan = QueueScan::default();
            let Self {
                queue,
                requests,
                routes,
                rates,
                budgets,
                ..
            } = self;
            let admission = RefCell::new(Admission {
                routes,
                rates,
                budgets,
                scan: &mut scan,
                now,
            });
            let can_send = |id: &SubmissionId| {
                let request = requests.get(id);
                request.is_some_and(|request| admission.borrow_mut().allows(*id, request))
            };
            let route = |id: &SubmissionId| requests.get(id).map(PendingRequest::current_route);
            let held = |id: &SubmissionId| {
                let request = requests.get(id)?;
                admission
                    .borrow_mut()
                    .is_limited(request)
                    .then(|| Some(request.current_route()))
            };
            let next = queue.pop_keeping(now, can_send, route, held);
            let is_done = next.is_none() && scan.refused.is_empty() && scan.rerouted.is_empty();
            if let Some(next) = next {
                self.grant(next.item, now);
            }
            for (id, failure) in scan.refused {
                if self.leave_queue(id) {
                    self.refuse(id, failure);
                }
            }
            for id in scan.rerouted {
                if self.leave_queue(id) {
                    self.move_to_next_route(id, now);
                }
            }
            if is_done {
                return scan.wake;
            }
        }
    }

    /// Reserves what the request needs, and permits its stream to send.
    fn grant(&mut self, id: SubmissionId, now: MonotonicTime) {
        let Some(request) = self.requests.get_mut(&id) else {
            return;
        };
        request.phase = RequestPhase::Sent;
        let Some(reply) = request.reply.take() else {
            return base::never!("a queued request waits for an action");
        };
        request.attempts.on_route += 1;
        request.attempts.in_all += 1;
        let decision = (!request.is_decision_sent).then(|| request.decision.clone());
        request.is_decision_sent = true;
        let is_tab = request.caller.class == RequestClass::Tab;
        let route = request.current_route();
        let Some(mut grant) = self.send(id, route, now) else {
            return base::never!("an admitted request can be reserved");
        };
        grant.decision = decision;
        if let Some(request) = self.requests.get(&id)
            && let Some(name) = &request.conversation
        {
            self.selector
                .record_use(name, self.routes[route].route(), now);
        }
        let latency = &self.routes[route].latency;
        grant.hedge_after = is_tab.then(|| latency.first_token_p95()).flatten();
        // If the stream is gone, the grant is dropped and reports that.
        reply.send(StreamAction::Send(Box::new(grant))).ok();
    }

    /// Permits a second attempt besides a slow one, if every policy allows it now: on another route
    /// of the same model, else on the same route. Otherwise, drops `reply`, and the stream
    /// continues with the slow attempt.
    pub(super) fn hedge(
        &mut self,
        id: SubmissionId,
        reply: oneshot::Sender<StreamAction>,
        now: MonotonicTime,
    ) {
        let Some(request) = self.requests.get(&id) else {
            return;
        };
        // Another route to the same model is more likely to be fast than the slow one.
        let model = &self.routes[request.current_route()].route().model.model;
        let others = request.chain.iter().skip(request.at + 1).copied();
        let same = others.filter(|route| self.routes[*route].route().model.model == *model);
        let routes: Vec<usize> = same.chain([request.current_route()]).collect();
        let number = request.attempts.in_all;
        let Some(route) = routes
            .into_iter()
            .find(|route| self.can_hedge(id, *route, now))
        else {
            return;
        };
        if let Some(mut grant) = self.send(id, route, now) {
            // Under the same key a server would return the slow answer, or none.
            grant.attempt = model::Attempt {
                idempotency_key: format!("{}-twin-{number}", grant.attempt.idempotency_key),
                retries: 0,
            };
            reply.send(StreamAction::Send(Box::new(grant))).ok();
        }
    }

    /// Returns whether health, concurrency, rate limits and budgets of a route all allow a further
    /// attempt of the request now. Returns `false` if the request has ended.
    fn can_hedge(&mut self, id: SubmissionId, route: usize, now: MonotonicTime) -> bool {
        let Some(request) = self.requests.get(&id) else {
            return false;
        };
        let state = &self.routes[route];
        state.breaker.decision(now) == BreakerDecision::Granted
            && state.concurrency.has_room()
            && self
                .rates
                .check(state.route(), request.size.demand, now)
                .is_ok()
            && matches!(fit(&mut self.budgets, request, state), BudgetFit::Now)
    }

    /// Registers an attempt on a route.
    fn send(&mut self, id: SubmissionId, route: usize, now: MonotonicTime) -> Option<SendGrant> {
        let request = self.requests.get(&id)?;
        let state = &mut self.routes[route];
        let max = max_spend(request, state);
        let reservation = self
            .rates
            .reserve(state.route(), request.size.demand, now)
            .ok()?;
        let Ok(hold) = self.budgets.reserve(request.caller, max) else {
            self.rates
                .settle_reservation(reservation, RateSettlement::Unsent, now);
            return None;
        };
        state.concurrency.start();
        state.breaker.start(now);
        self.last_attempt += 1;
        let attempt = AttemptId(self.last_attempt);
        let at_ms = self.wall.now_ms();
        self.usage_store.record_reservation(&CallReservation {
            call: attempt.0,
            at_ms,
            cost: max.cost,
        });
        let sent = SentAttempt {
            question: id,
            caller: request.caller,
            route,
            number: request.attempts.in_all,
            size: request.size,
            prefix: request.prefix,
            reservation,
            hold,
            at: now,
            at_ms,
            first_event: None,
        };
        self.attempts.insert(attempt, sent);
        Some(SendGrant {
            guard: AttemptGuard::new(attempt, request.reports.clone()),
            client: state.config.client.clone(),
            model: state.route().model.clone(),
            attempt: model::Attempt {
                // Includes the route, since another one receives a different request.
                idempotency_key: format!("burin-{:016x}-{}-{route}", self.run, id.0),
                retries: request.attempts.on_route.saturating_sub(1),
            },
            decision: None,
            hedge_after: None,
            stall: state.config.stall,
        })
    }

    /// Removes a request from the queue; returns `false` if it is not in there.
    pub(super) fn leave_queue(&mut self, id: SubmissionId) -> bool {
        let Some(request) = self.requests.get_mut(&id) else {
            return false;
        };
        let RequestPhase::Queued(ticket) = request.phase else {
            return false;
        };
        request.phase = RequestPhase::Sent;
        self.queue.remove(ticket).is_some()
    }

    /// Returns whether no request is queued or in flight.
    pub(super) fn is_idle(&self) -> bool {
        self.requests.is_empty() && self.attempts.is_empty()
    }

    /// Returns a random number from 0 to 1 for delays.
    pub(super) fn jitter(&mut self) -> f64 {
        self.jitter_rng.unit()
    }
}

impl PendingRequest {
    /// Returns the index of the current route.
    pub(super) fn current_route(&self) -> usize {
        self.chain[self.at]
    }
}

/// Tells a stream that its request fails.
pub(super) fn refuse(reply: oneshot::Sender<StreamAction>, failure: Failure) {
    // The receiver may be gone meanwhile.
    reply.send(StreamAction::Fail(failure)).ok();
}

fn queue_full() -> Failure {
    Failure::new(
        FailureClass::Overloaded,
        format!("{MAX_WAITING} requests are already waiting; stop some agents"),
    )
}

/// xorshift64*: sufficient to spread waits.
struct JitterRng(u64);

impl JitterRng {
    fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// Returns a number from 0 to 1.
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let drawn = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        drawn as f64 / (1u64 << 53) as f64
    }
}
