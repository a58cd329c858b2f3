//! What an attempt's course and end mean: for the limits, the budgets, the lane, and the question it served.

use model::policy::{NextStep, Progress, Settlement, Spend};
use model::{Cost, Failure, FailureClass, Moment, RateLimits, Usage};
use tokio::sync::oneshot;

use super::{Board, Place, Sent, refuse};
use crate::actor::book::CallRecord;
use crate::actor::post::{AttemptId, End, QuestionId, Seen, Verdict};

impl Board {
    /// The first event came: the provider has read the prompt.
    pub(in crate::actor) fn began(&mut self, id: AttemptId, now: Moment) {
        let Some(sent) = self.attempts.get_mut(&id) else {
            return;
        };
        sent.first_event = Some(now);
        let state = &mut self.lanes[sent.lane];
        state.latency.observe_first_token(now.since(sent.at));
        if let Some(hash) = sent.prefix {
            let lane = state.lane().clone();
            self.prefixes.written(hash, &lane, now);
            self.wake_followers(now);
        }
    }

    /// Headers came.
    pub(in crate::actor) fn limits(&mut self, id: AttemptId, limits: &RateLimits, now: Moment) {
        if let Some(sent) = self.attempts.get(&id) {
            self.rates.observe(&sent.reservation, limits, now);
        }
    }

    /// An attempt is over: what was held for it is given back, what it used is counted.
    pub(in crate::actor) fn ended(&mut self, id: AttemptId, end: End, seen: Seen, now: Moment) {
        let Some(sent) = self.attempts.remove(&id) else {
            return base::never!("an attempt ends once");
        };
        if let End::Unsent = end {
            return self.unsent(id, sent, now);
        }
        let (usage, is_estimate) = used(&sent, &end, &seen);
        self.judge_lane(&sent, &end, &seen, (usage, is_estimate), now);
        let cost = self.lanes[sent.lane].cost(&usage);
        let failure = match &end {
            End::Well => None,
            End::Badly(failure) => Some(failure.class),
            End::Cancelled | End::Unsent => Some(FailureClass::Cancelled),
        };
        self.book.ended(&CallRecord {
            failure,
            usage,
            is_estimate,
            cost,
            ..self.record(id, &sent, now)
        });
        let settlement = Settlement::Used(usage);
        self.rates.settle(sent.reservation, settlement, now);
        let spend = Spend {
            cost,
            tokens: usage.total(),
        };
        for notice in self.budgets.settle(sent.hold, spend) {
            self.book.noticed(self.wall.now_ms(), sent.caller, notice);
        }
    }

    /// An attempt was never sent, as its caller had gone.
    fn unsent(&mut self, id: AttemptId, sent: Sent, now: Moment) {
        let state = &mut self.lanes[sent.lane];
        state.concurrency.ended();
        state.breaker.failed(FailureClass::Cancelled, now);
        let lane = state.lane().clone();
        if let Some(hash) = sent.prefix {
            self.prefixes.failed(hash, &lane);
            self.wake_followers(now);
        }
        self.book.ended(&self.record(id, &sent, now));
        self.rates.settle(sent.reservation, Settlement::Unsent, now);
        self.budgets.settle(sent.hold, Spend::default());
    }

    /// The record of an attempt that used nothing.
    fn record(&self, id: AttemptId, sent: &Sent, now: Moment) -> CallRecord {
        CallRecord {
            call: id.0,
            question: sent.question.0,
            at_ms: sent.at_ms,
            model: self.lanes[sent.lane].lane().model.clone(),
            caller: sent.caller,
            attempt: sent.number,
            failure: Some(FailureClass::Cancelled),
            first_event_ms: sent.first_event.map(|at| millis(sent.at, at)),
            total_ms: millis(sent.at, now),
            usage: Usage::default(),
            is_estimate: false,
            cost: Some(Cost::ZERO),
        }
    }

    fn judge_lane(
        &mut self,
        sent: &Sent,
        end: &End,
        seen: &Seen,
        (usage, is_estimate): (Usage, bool),
        now: Moment,
    ) {
        let state = &mut self.lanes[sent.lane];
        match end {
            End::Well => {
                state.concurrency.succeeded();
                state.breaker.succeeded();
                state.last_failure = None;
                if !is_estimate {
                    state.tokens.observe(sent.size.bytes, usage.prompt());
                }
                if let Some(first) = sent.first_event {
                    let streaming = now.since(first);
                    state.latency.observe_answer(usage.output, streaming);
                }
            }
            End::Badly(failure) => {
                match failure.class {
                    FailureClass::RateLimited | FailureClass::Overloaded => {
                        state.concurrency.overloaded(sent.at, now);
                    }
                    _ => state.concurrency.ended(),
                }
                state.breaker.failed(failure.class, now);
                state.last_failure = Some(failure.clone());
                if failure.class == FailureClass::RateLimited {
                    let lane = state.lane().clone();
                    self.rates.refused(&lane, failure.retry_after, now);
                }
            }
            End::Cancelled | End::Unsent => {
                state.concurrency.ended();
                match seen.began {
                    true => state.breaker.succeeded(),
                    false => state.breaker.failed(FailureClass::Cancelled, now),
                }
            }
        }
        if !seen.began
            && let Some(hash) = sent.prefix
        {
            let lane = self.lanes[sent.lane].lane().clone();
            self.prefixes.failed(hash, &lane);
            self.wake_followers(now);
        }
    }

    /// A stream asks what its attempt's failure means.
    pub(in crate::actor) fn next(
        &mut self,
        id: QuestionId,
        failure: Failure,
        progress: Progress,
        verdict: oneshot::Sender<Verdict>,
        now: Moment,
    ) {
        let jitter = self.jitter();
        let rules = match self.has_other(id) {
            true => self.retry,
            false => self.retry_alone,
        };
        let Some(asked) = self.questions.get_mut(&id) else {
            return refuse(verdict, failure);
        };
        asked.verdict = Some(verdict);
        match rules.next(&failure, asked.attempts, progress, jitter) {
            NextStep::Wait(pause) => self.pause(id, failure, pause, now),
            NextStep::FallBack if self.has_other(id) => self.move_on(id, now),
            NextStep::FallBack | NextStep::Stop => self.refuse(id, failure),
        }
    }

    fn pause(&mut self, id: QuestionId, failure: Failure, pause: std::time::Duration, now: Moment) {
        let Some(asked) = self.questions.get_mut(&id) else {
            return;
        };
        asked.attempts.waited += pause;
        let (verdict, then) = oneshot::channel();
        if let Some(waiting) = asked.verdict.replace(verdict) {
            let told = Verdict::Wait {
                failure,
                pause,
                then,
            };
            // Who has gone reports it; until then the pause goes on.
            waiting.send(told).ok();
        }
        let until = now + pause;
        asked.since = until;
        asked.place = Place::Pausing(until);
        self.asleep.insert((until, id));
    }

    fn has_other(&self, id: QuestionId) -> bool {
        let asked = self.questions.get(&id);
        asked.is_some_and(|asked| asked.at + 1 < asked.chain.len())
    }

    /// The question goes to the next lane of its chain.
    pub(super) fn move_on(&mut self, id: QuestionId, now: Moment) {
        let Some(asked) = self.questions.get_mut(&id) else {
            return;
        };
        asked.at += 1;
        asked.attempts.in_lane = 0;
        asked.since = now;
        let state = &self.lanes[asked.lane()];
        asked.size.ask.input = state.tokens.estimate(asked.size.bytes);
        let decision = self.chooser.moved(&asked.decision, state.lane());
        let now_ms = self.wall.now_ms();
        self.book.decided(now_ms, id.0, asked.caller, &decision);
        asked.decision = decision;
        asked.is_decision_told = false;
        self.enter(id, now);
    }

    /// The question ends here.
    pub(super) fn refuse(&mut self, id: QuestionId, failure: Failure) {
        if let Some(asked) = self.questions.remove(&id)
            && let Some(verdict) = asked.verdict
        {
            refuse(verdict, failure);
        }
    }

    /// Nobody waits for the question any more. What is on the wire for it reports its own end.
    pub(in crate::actor) fn gone(&mut self, id: QuestionId, now: Moment) {
        self.leave_queue(id);
        let Some(asked) = self.questions.remove(&id) else {
            return;
        };
        match asked.place {
            Place::Pausing(at) | Place::Following(at) => {
                self.asleep.remove(&(at, id));
            }
            // It may have been the one that others follow.
            Place::Queued(_) => {
                if let Some(hash) = asked.prefix {
                    let lane = self.lanes[asked.lane()].lane().clone();
                    self.prefixes.failed(hash, &lane);
                    self.wake_followers(now);
                }
            }
            Place::Out => {}
        }
    }

    /// Followers ask again: those whose cache is written go, and where a leader failed one of them leads.
    fn wake_followers(&mut self, now: Moment) {
        let questions = &self.questions;
        let is_follower = |id: &QuestionId| {
            let asked = questions.get(id);
            asked.is_some_and(|asked| matches!(asked.place, Place::Following(_)))
        };
        let followers = self.asleep.iter().filter(|(_, id)| is_follower(id));
        let followers: Vec<_> = followers.copied().collect();
        for (at, id) in followers {
            self.asleep.remove(&(at, id));
            self.enter(id, now);
        }
    }
}

/// What an attempt used, and whether that is an estimate. A provider that refused has counted nothing.
fn used(sent: &Sent, end: &End, seen: &Seen) -> (Usage, bool) {
    let was_refused = match end {
        End::Badly(failure) => match failure.class {
            FailureClass::Stalled | FailureClass::Torn | FailureClass::Malformed => false,
            FailureClass::RateLimited
            | FailureClass::Overloaded
            | FailureClass::Quota
            | FailureClass::Authentication
            | FailureClass::InvalidRequest
            | FailureClass::ContextOverflow
            | FailureClass::NoSuchModel
            | FailureClass::Budget
            | FailureClass::Offline
            | FailureClass::ServerError
            | FailureClass::Cancelled => !seen.began,
        },
        End::Well | End::Cancelled | End::Unsent => false,
    };
    match was_refused {
        true => (Usage::default(), false),
        false => seen.used(sent.size.ask.input),
    }
}

fn millis(from: Moment, to: Moment) -> u64 {
    u64::try_from(to.since(from).as_millis()).unwrap_or(u64::MAX)
}
