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

pub(super) struct RouterState {
    pub(super) routes: Vec<RouteState>,
    pub(super) requests: HashMap<SubmissionId, PendingRequest>,
    pub(super) attempts: HashMap<AttemptId, SentAttempt>,
    pub(super) queue: RequestQueue<SubmissionId>,
    /// Wake-up times of sleeping requests.
    pub(super) asleep: BTreeSet<(MonotonicTime, SubmissionId)>,
    pub(super) rates: RateLedger,
    pub(super) budgets: Budgets,
    pub(super) days: DailySpend,
    pub(super) prefixes: PrefixRegistry,
    pub(super) chooser: RouteSelector,
    pub(super) retry: Retry,
    pub(super) retry_alone: Retry,
    pub(super) book: Arc<dyn UsageStore>,
    pub(super) wall: WallClock,
    dice: JitterRng,
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
    pub(super) verdict: Option<oneshot::Sender<StreamAction>>,
    pub(super) decision: Arc<RouteDecision>,
    pub(super) is_decision_told: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestPhase {
    /// Pausing after a failure, until this time.
    Pausing(MonotonicTime),
    /// Following the request that writes the cache, until this time at the latest.
    Following(MonotonicTime),
    Queued(QueueTicket),
    Out,
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
    pub(super) fn new(config: RouterConfig, now: MonotonicTime) -> Self {
        let mut rates = RateLedger::default();
        for lane in &config.routes {
            rates.set_limits(&lane.route, lane.limits, now);
        }
        let mut budgets = Budgets::default();
        budgets.set_caps(config.caps);
        Self {
            chooser: RouteSelector::new(&config.auto, &config.routes),
            routes: config.routes.into_iter().map(RouteState::new).collect(),
            requests: HashMap::new(),
            attempts: HashMap::new(),
            queue: RequestQueue::default(),
            asleep: BTreeSet::new(),
            rates,
            budgets,
            days: DailySpend::new(config.caps),
            prefixes: PrefixRegistry::default(),
            retry: config.retry,
            retry_alone: config.retry_alone,
            book: config.usage_store,
            wall: config.clock,
            dice: JitterRng::new(config.seed),
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
            return refuse(submission.verdict, queue_full());
        }
        if let Some(failure) = self.days.trouble() {
            return refuse(submission.verdict, failure);
        }
        let plan = self
            .chooser
            .choose(&submission, &self.routes, &self.prefixes, now);
        let now_ms = self.wall.now_ms();
        self.book
            .record_decision(now_ms, submission.question.0, caller, &plan.decision);
        if let Some(failure) = plan.failure {
            return refuse(submission.verdict, failure);
        }
        let mut asked = PendingRequest {
            caller,
            size,
            prefix: submission.prefix,
            conversation: submission.conversation,
            chain: plan.chain,
            at: 0,
            attempts: Attempts::default(),
            since: now,
            phase: RequestPhase::Out,
            reports: submission.reports,
            verdict: None,
            decision: plan.decision,
            is_decision_told: false,
        };
        let state = &self.routes[asked.current_route()];
        asked.size.ask.input = state.tokens.estimate(size.bytes);
        if let BudgetFit::Never(refusal) = fit(&mut self.budgets, &asked, state) {
            return refuse(submission.verdict, over_budget(refusal));
        }
        asked.verdict = Some(submission.verdict);
        self.requests.insert(submission.question, asked);
        self.enqueue(submission.question, now);
    }

    /// Lets a request wait for its current route: it follows the writer of its prefix cache, or
    /// joins the queue.
    pub(super) fn enqueue(&mut self, id: SubmissionId, now: MonotonicTime) {
        let Some(asked) = self.requests.get_mut(&id) else {
            return;
        };
        let lane = self.routes[asked.current_route()].route();
        if let Some(hash) = asked.prefix {
            let mark = asked.size.mark;
            let turn = self.prefixes.arrive(hash, lane, mark, asked.since, now);
            if let PrefixTurn::Follow { until } = turn {
                asked.phase = RequestPhase::Following(until);
                self.asleep.insert((until, id));
                return;
            }
        }
        let tokens = asked.size.ask.input.plus(asked.size.ask.output);
        let caller = (asked.caller.class, asked.caller.agent);
        asked.phase = RequestPhase::Queued(self.queue.push(caller, tokens, now, id));
    }

    /// Wakes sleepers, admits every request that can be sent, and returns when to call it again.
    /// Other events in between may admit more.
    pub(super) fn pump(&mut self, now: MonotonicTime) -> Option<MonotonicTime> {
        while let Some((at, id)) = self.asleep.first().copied().filter(|(at, _)| *at <= now) {
            self.asleep.remove(&(at, id));
            self.enqueue(id, now);
        }
        let mut wake = None;
        if self.days.is_known() {
            wake = self.dispatch(now);
        }
        let sleeper = self.asleep.first().map(|(at, _)| *at);
        [wake, sleeper].into_iter().flatten().min()
    }

    fn dispatch(&mut self, now: MonotonicTime) -> Option<MonotonicTime> {
        loop {
            let mut findings = QueueScan::default();
            let Self {
                queue,
                requests: questions,
                routes: lanes,
                rates,
                budgets,
                ..
            } = self;
            let gate = RefCell::new(Admission {
                routes: lanes,
                rates,
                budgets,
                findings: &mut findings,
                now,
            });
            let lets = |id: &SubmissionId| {
                let asked = questions.get(id);
                asked.is_some_and(|asked| gate.borrow_mut().allows(*id, asked))
            };
            let lane = |id: &SubmissionId| questions.get(id).map(PendingRequest::current_route);
            let held = |id: &SubmissionId| {
                let asked = questions.get(id)?;
                gate.borrow_mut()
                    .is_limited(asked)
                    .then(|| Some(asked.current_route()))
            };
            let next = queue.pop_keeping(now, lets, lane, held);
            let is_done =
                next.is_none() && findings.unfit.is_empty() && findings.elsewhere.is_empty();
            if let Some(next) = next {
                self.grant(next.item, now);
            }
            for (id, failure) in findings.unfit {
                if self.leave_queue(id) {
                    self.refuse(id, failure);
                }
            }
            for id in findings.elsewhere {
                if self.leave_queue(id) {
                    self.move_to_next_route(id, now);
                }
            }
            if is_done {
                return findings.wake;
            }
        }
    }

    /// Reserves what the request needs, and permits its stream to send.
    fn grant(&mut self, id: SubmissionId, now: MonotonicTime) {
        let Some(asked) = self.requests.get_mut(&id) else {
            return;
        };
        asked.phase = RequestPhase::Out;
        let Some(verdict) = asked.verdict.take() else {
            return base::never!("a queued request waits for an action");
        };
        asked.attempts.on_route += 1;
        asked.attempts.in_all += 1;
        let decision = (!asked.is_decision_told).then(|| asked.decision.clone());
        asked.is_decision_told = true;
        let is_tab = asked.caller.class == RequestClass::Tab;
        let lane = asked.current_route();
        let Some(mut grant) = self.send(id, lane, now) else {
            return base::never!("an admitted request can be reserved");
        };
        grant.decision = decision;
        if let Some(asked) = self.requests.get(&id)
            && let Some(name) = &asked.conversation
        {
            self.chooser
                .record_use(name, self.routes[lane].route(), now);
        }
        let latency = &self.routes[lane].latency;
        grant.hedge_after = is_tab.then(|| latency.first_token_p95()).flatten();
        // If the stream is gone, the grant is dropped and reports that.
        verdict.send(StreamAction::Send(Box::new(grant))).ok();
    }

    /// Permits a second request next to a slow one, if every policy allows it now.
    pub(super) fn hedge(
        &mut self,
        id: SubmissionId,
        verdict: oneshot::Sender<StreamAction>,
        now: MonotonicTime,
    ) {
        let Some(asked) = self.requests.get(&id) else {
            return;
        };
        // Another route to the same model is more likely to be fast than the slow one.
        let model = &self.routes[asked.current_route()].route().model.model;
        let others = asked.chain.iter().skip(asked.at + 1).copied();
        let same = others.filter(|lane| self.routes[*lane].route().model.model == *model);
        let lanes: Vec<usize> = same.chain([asked.current_route()]).collect();
        let number = asked.attempts.in_all;
        let Some(lane) = lanes
            .into_iter()
            .find(|lane| self.can_hedge(id, *lane, now))
        else {
            return;
        };
        if let Some(mut grant) = self.send(id, lane, now) {
            // Under the same key a server would return the slow answer, or none.
            grant.attempt = model::Attempt {
                idempotency_key: format!("{}-twin-{number}", grant.attempt.idempotency_key),
                retries: 0,
            };
            verdict.send(StreamAction::Send(Box::new(grant))).ok();
        }
    }

    fn can_hedge(&mut self, id: SubmissionId, lane: usize, now: MonotonicTime) -> bool {
        let Some(asked) = self.requests.get(&id) else {
            return false;
        };
        let state = &self.routes[lane];
        state.breaker.decision(now) == BreakerDecision::Granted
            && state.concurrency.has_room()
            && self.rates.check(state.route(), asked.size.ask, now).is_ok()
            && matches!(fit(&mut self.budgets, asked, state), BudgetFit::Now)
    }

    /// Registers an attempt on a route.
    fn send(&mut self, id: SubmissionId, lane: usize, now: MonotonicTime) -> Option<SendGrant> {
        let asked = self.requests.get(&id)?;
        let state = &mut self.routes[lane];
        let most = max_spend(asked, state);
        let reservation = self
            .rates
            .reserve(state.route(), asked.size.ask, now)
            .ok()?;
        let Ok(hold) = self.budgets.reserve(asked.caller, most) else {
            self.rates
                .settle_reservation(reservation, RateSettlement::Unsent, now);
            return None;
        };
        state.concurrency.start();
        state.breaker.start(now);
        self.last_attempt += 1;
        let attempt = AttemptId(self.last_attempt);
        let at_ms = self.wall.now_ms();
        self.book.record_reservation(&CallReservation {
            call: attempt.0,
            at_ms,
            cost: most.cost,
        });
        let sent = SentAttempt {
            question: id,
            caller: asked.caller,
            route: lane,
            number: asked.attempts.in_all,
            size: asked.size,
            prefix: asked.prefix,
            reservation,
            hold,
            at: now,
            at_ms,
            first_event: None,
        };
        self.attempts.insert(attempt, sent);
        Some(SendGrant {
            ending: AttemptGuard::new(attempt, asked.reports.clone()),
            client: state.config.client.clone(),
            model: state.route().model.clone(),
            attempt: model::Attempt {
                // Includes the route, since another one receives a different request.
                idempotency_key: format!("burin-{:016x}-{}-{lane}", self.run, id.0),
                retries: asked.attempts.on_route.saturating_sub(1),
            },
            decision: None,
            hedge_after: None,
            stall: state.config.stall,
        })
    }

    /// Removes a request from the queue; returns `false` if it is not in there.
    pub(super) fn leave_queue(&mut self, id: SubmissionId) -> bool {
        let Some(asked) = self.requests.get_mut(&id) else {
            return false;
        };
        let RequestPhase::Queued(ticket) = asked.phase else {
            return false;
        };
        asked.phase = RequestPhase::Out;
        self.queue.remove(ticket).is_some()
    }

    /// Returns whether no request is queued or in flight.
    pub(super) fn is_idle(&self) -> bool {
        self.requests.is_empty() && self.attempts.is_empty()
    }

    pub(super) fn jitter(&mut self) -> f64 {
        self.dice.unit()
    }
}

impl PendingRequest {
    /// Returns the index of the current route.
    pub(super) fn current_route(&self) -> usize {
        self.chain[self.at]
    }
}

pub(super) fn refuse(verdict: oneshot::Sender<StreamAction>, failure: Failure) {
    // The receiver may be gone meanwhile.
    verdict.send(StreamAction::Fail(failure)).ok();
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
