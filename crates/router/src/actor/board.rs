//! What the router's task knows: every question, every attempt, and the policy's machines that judge them.
//!
//! Nothing here waits: each function is told the time, and `pump` says when it wants to be asked again.
//!
//! A question is in one place at a time: asleep (a wait after a failure, or following the one who writes the cache
//! of their common prefix), in the queue, or out with a stream that sends for it.

mod gate;
mod outcome;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use model::policy::route::RouteDecision;
use model::policy::{
    Attempts, Budgets, Caller, Class, Hold, Permission, PrefixHash, PrefixRegistry, PrefixTurn,
    Queue, RateLedger, Reservation, Retry, Settlement, Ticket,
};
use model::{Failure, FailureClass, Moment};
use tokio::sync::{mpsc, oneshot};

use super::book::{Book, Reserved};
use super::choose::Chooser;
use super::day::Days;
use super::estimate::Size;
use super::lane::LaneState;
use super::post::{AttemptId, Ending, Grant, QuestionId, Report, Submission, Verdict};
use super::{RouterConfig, Wall};
use gate::{Findings, Fit, Gate, fit, most, over_budget};

/// Questions in the queue or asleep; one more is refused. Agents ask one question at a time, so this is a great
/// many agents.
const MOST_WAITING: usize = 4_096;

pub(super) struct Board {
    pub(super) lanes: Vec<LaneState>,
    pub(super) questions: HashMap<QuestionId, Asked>,
    pub(super) attempts: HashMap<AttemptId, Sent>,
    pub(super) queue: Queue<QuestionId>,
    /// When each sleeper wakes.
    pub(super) asleep: BTreeSet<(Moment, QuestionId)>,
    pub(super) rates: RateLedger,
    pub(super) budgets: Budgets,
    pub(super) days: Days,
    pub(super) prefixes: PrefixRegistry,
    pub(super) chooser: Chooser,
    pub(super) retry: Retry,
    pub(super) retry_alone: Retry,
    pub(super) book: Arc<dyn Book>,
    pub(super) wall: Wall,
    dice: Dice,
    last_attempt: u64,
    /// Tells this router's questions from those of every other one that uses the same keys.
    run: u64,
}

/// A question and how far it has come.
pub(super) struct Asked {
    pub(super) caller: Caller,
    pub(super) size: Size,
    pub(super) prefix: Option<PrefixHash>,
    pub(super) conversation: Option<String>,
    /// The lanes that may answer, the best first; `at` is the one whose turn it is.
    pub(super) chain: Vec<usize>,
    pub(super) at: usize,
    pub(super) attempts: Attempts,
    /// When it came to this lane.
    pub(super) since: Moment,
    pub(super) place: Place,
    pub(super) reports: mpsc::UnboundedSender<Report>,
    /// Where the stream waits for it.
    pub(super) verdict: Option<oneshot::Sender<Verdict>>,
    pub(super) decision: Arc<RouteDecision>,
    pub(super) is_decision_told: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// After a failure, until then.
    Pausing(Moment),
    /// Behind the one who writes the cache, until then at the latest.
    Following(Moment),
    Queued(Ticket),
    Out,
}

/// A request on the wire.
pub(super) struct Sent {
    pub(super) question: QuestionId,
    pub(super) caller: Caller,
    pub(super) lane: usize,
    pub(super) number: u32,
    pub(super) size: Size,
    pub(super) prefix: Option<PrefixHash>,
    pub(super) reservation: Reservation,
    pub(super) hold: Hold,
    pub(super) at: Moment,
    pub(super) at_ms: u64,
    pub(super) first_event: Option<Moment>,
}

impl Board {
    pub(super) fn new(config: RouterConfig, now: Moment) -> Self {
        let mut rates = RateLedger::default();
        for lane in &config.lanes {
            rates.set_limits(&lane.lane, lane.limits, now);
        }
        let mut budgets = Budgets::default();
        budgets.set_caps(config.caps);
        Self {
            chooser: Chooser::new(&config.auto, &config.lanes),
            lanes: config.lanes.into_iter().map(LaneState::new).collect(),
            questions: HashMap::new(),
            attempts: HashMap::new(),
            queue: Queue::default(),
            asleep: BTreeSet::new(),
            rates,
            budgets,
            days: Days::new(config.caps),
            prefixes: PrefixRegistry::default(),
            retry: config.retry,
            retry_alone: config.retry_alone,
            book: config.book,
            wall: config.wall,
            dice: Dice::new(config.seed),
            last_attempt: 0,
            // The standard library's hashers are the one source of chance that no configuration can repeat.
            run: RandomState::new().build_hasher().finish(),
        }
    }

    /// A new question: it is refused, or waits for its turn.
    pub(super) fn submit(&mut self, submission: Submission, now: Moment) {
        let (caller, size) = (submission.caller, submission.size);
        if self.queue.len() + self.asleep.len() >= MOST_WAITING {
            return refuse(submission.verdict, crowded());
        }
        if let Some(failure) = self.days.trouble() {
            return refuse(submission.verdict, failure);
        }
        let plan = self
            .chooser
            .choose(&submission, &self.lanes, &self.prefixes, now);
        let now_ms = self.wall.now_ms();
        self.book
            .decided(now_ms, submission.question.0, caller, &plan.decision);
        if let Some(failure) = plan.failure {
            return refuse(submission.verdict, failure);
        }
        let mut asked = Asked {
            caller,
            size,
            prefix: submission.prefix,
            conversation: submission.conversation,
            chain: plan.chain,
            at: 0,
            attempts: Attempts::default(),
            since: now,
            place: Place::Out,
            reports: submission.reports,
            verdict: None,
            decision: plan.decision,
            is_decision_told: false,
        };
        let state = &self.lanes[asked.lane()];
        asked.size.ask.input = state.tokens.estimate(size.bytes);
        if let Fit::Never(refusal) = fit(&mut self.budgets, &asked, state) {
            return refuse(submission.verdict, over_budget(refusal));
        }
        asked.verdict = Some(submission.verdict);
        self.questions.insert(submission.question, asked);
        self.enter(submission.question, now);
    }

    /// A question is ready for its lane: it follows whoever writes the cache of its prefix, or joins the queue.
    pub(super) fn enter(&mut self, id: QuestionId, now: Moment) {
        let Some(asked) = self.questions.get_mut(&id) else {
            return;
        };
        let lane = self.lanes[asked.lane()].lane();
        if let Some(hash) = asked.prefix {
            let mark = asked.size.mark;
            let turn = self.prefixes.arrive(hash, lane, mark, asked.since, now);
            if let PrefixTurn::Follow { until } = turn {
                asked.place = Place::Following(until);
                self.asleep.insert((until, id));
                return;
            }
        }
        let tokens = asked.size.ask.input.plus(asked.size.ask.output);
        let caller = (asked.caller.class, asked.caller.agent);
        asked.place = Place::Queued(self.queue.push(caller, tokens, now, id));
    }

    /// Wakes sleepers, hands out everything that can go, and says when to ask again. Between, whatever ends or
    /// comes may let more go.
    pub(super) fn pump(&mut self, now: Moment) -> Option<Moment> {
        while let Some((at, id)) = self.asleep.first().copied().filter(|(at, _)| *at <= now) {
            self.asleep.remove(&(at, id));
            self.enter(id, now);
        }
        let mut wake = None;
        if self.days.is_known() {
            wake = self.hand_out(now);
        }
        let sleeper = self.asleep.first().map(|(at, _)| *at);
        [wake, sleeper].into_iter().flatten().min()
    }

    fn hand_out(&mut self, now: Moment) -> Option<Moment> {
        loop {
            let mut findings = Findings::default();
            let Self {
                queue,
                questions,
                lanes,
                rates,
                budgets,
                ..
            } = self;
            let gate = RefCell::new(Gate {
                lanes,
                rates,
                budgets,
                findings: &mut findings,
                now,
            });
            let lets = |id: &QuestionId| {
                let asked = questions.get(id);
                asked.is_some_and(|asked| gate.borrow_mut().lets(*id, asked))
            };
            let lane = |id: &QuestionId| questions.get(id).map(Asked::lane);
            let held = |id: &QuestionId| {
                let asked = questions.get(id)?;
                gate.borrow_mut()
                    .is_limited(asked)
                    .then(|| Some(asked.lane()))
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
                    self.move_on(id, now);
                }
            }
            if is_done {
                return findings.wake;
            }
        }
    }

    /// Holds what the question asks for, and gives its stream leave to send.
    fn grant(&mut self, id: QuestionId, now: Moment) {
        let Some(asked) = self.questions.get_mut(&id) else {
            return;
        };
        asked.place = Place::Out;
        let Some(verdict) = asked.verdict.take() else {
            return base::never!("who waits in the queue waits for a verdict");
        };
        asked.attempts.in_lane += 1;
        asked.attempts.in_all += 1;
        let decision = (!asked.is_decision_told).then(|| asked.decision.clone());
        asked.is_decision_told = true;
        let is_tab = asked.caller.class == Class::Tab;
        let lane = asked.lane();
        let Some(mut grant) = self.send(id, lane, now) else {
            return base::never!("what was let through can be reserved");
        };
        grant.decision = decision;
        if let Some(asked) = self.questions.get(&id)
            && let Some(name) = &asked.conversation
        {
            self.chooser.used(name, self.lanes[lane].lane(), now);
        }
        let latency = &self.lanes[lane].latency;
        grant.hedge_after = is_tab.then(|| latency.first_token_p95()).flatten();
        // Where the stream is gone the leave is dropped, and reports that.
        verdict.send(Verdict::Send(Box::new(grant))).ok();
    }

    /// A second request beside a slow one, if nothing speaks against it at this moment.
    pub(super) fn hedge(&mut self, id: QuestionId, verdict: oneshot::Sender<Verdict>, now: Moment) {
        let Some(asked) = self.questions.get(&id) else {
            return;
        };
        // Another way to the same model is likelier to be quick than the one that is slow.
        let model = &self.lanes[asked.lane()].lane().model.model;
        let others = asked.chain.iter().skip(asked.at + 1).copied();
        let same = others.filter(|lane| self.lanes[*lane].lane().model.model == *model);
        let lanes: Vec<usize> = same.chain([asked.lane()]).collect();
        let number = asked.attempts.in_all;
        let Some(lane) = lanes
            .into_iter()
            .find(|lane| self.may_hedge(id, *lane, now))
        else {
            return;
        };
        if let Some(mut grant) = self.send(id, lane, now) {
            // Under the same key a server would answer with what the slow one gets, or not at all.
            grant.attempt = model::Attempt {
                idempotency_key: format!("{}-twin-{number}", grant.attempt.idempotency_key),
                retries: 0,
            };
            verdict.send(Verdict::Send(Box::new(grant))).ok();
        }
    }

    fn may_hedge(&mut self, id: QuestionId, lane: usize, now: Moment) -> bool {
        let Some(asked) = self.questions.get(&id) else {
            return false;
        };
        let state = &self.lanes[lane];
        state.breaker.permission(now) == Permission::Granted
            && state.concurrency.has_room()
            && self.rates.check(state.lane(), asked.size.ask, now).is_ok()
            && matches!(fit(&mut self.budgets, asked, state), Fit::Now)
    }

    /// Books an attempt in a lane.
    fn send(&mut self, id: QuestionId, lane: usize, now: Moment) -> Option<Grant> {
        let asked = self.questions.get(&id)?;
        let state = &mut self.lanes[lane];
        let most = most(asked, state);
        let reservation = self.rates.reserve(state.lane(), asked.size.ask, now).ok()?;
        let Ok(hold) = self.budgets.reserve(asked.caller, most) else {
            self.rates.settle(reservation, Settlement::Unsent, now);
            return None;
        };
        state.concurrency.start();
        state.breaker.start(now);
        self.last_attempt += 1;
        let attempt = AttemptId(self.last_attempt);
        let at_ms = self.wall.now_ms();
        self.book.reserved(&Reserved {
            call: attempt.0,
            at_ms,
            cost: most.cost,
        });
        let sent = Sent {
            question: id,
            caller: asked.caller,
            lane,
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
        Some(Grant {
            ending: Ending::new(attempt, asked.reports.clone()),
            client: state.config.client.clone(),
            model: state.lane().model.clone(),
            attempt: model::Attempt {
                // With the lane, since another one is sent another request.
                idempotency_key: format!("burin-{:016x}-{}-{lane}", self.run, id.0),
                retries: asked.attempts.in_lane.saturating_sub(1),
            },
            decision: None,
            hedge_after: None,
            stall: state.config.stall,
        })
    }

    /// Takes a question out of the queue; `false` where it is not there.
    pub(super) fn leave_queue(&mut self, id: QuestionId) -> bool {
        let Some(asked) = self.questions.get_mut(&id) else {
            return false;
        };
        let Place::Queued(ticket) = asked.place else {
            return false;
        };
        asked.place = Place::Out;
        self.queue.remove(ticket).is_some()
    }

    /// Whether nothing is queued and nothing under way.
    pub(super) fn is_idle(&self) -> bool {
        self.questions.is_empty() && self.attempts.is_empty()
    }

    pub(super) fn jitter(&mut self) -> f64 {
        self.dice.unit()
    }
}

impl Asked {
    /// The lane whose turn it is.
    pub(super) fn lane(&self) -> usize {
        self.chain[self.at]
    }
}

pub(super) fn refuse(verdict: oneshot::Sender<Verdict>, failure: Failure) {
    // Who has gone meanwhile does not want to know.
    verdict.send(Verdict::Fail(failure)).ok();
}

fn crowded() -> Failure {
    Failure::new(
        FailureClass::Overloaded,
        format!("{MOST_WAITING} requests are waiting already; stop some of the agents"),
    )
}

/// xorshift64*: enough to spread waits.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let drawn = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        drawn as f64 / (1u64 << 53) as f64
    }
}
