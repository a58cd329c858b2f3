//! Effects of an attempt's progress and end on limits, budgets, the route, and its request.

use model::policy::{NextStep, RateSettlement, ResponseProgress, Spend};
use model::{Cost, Failure, FailureClass, MonotonicTime, RateLimits, Usage};
use tokio::sync::oneshot;

use super::{RequestPhase, RouterState, SentAttempt, refuse};
use crate::actor::messages::{AttemptEnd, AttemptId, AttemptStats, StreamAction, SubmissionId};
use crate::actor::usage_store::CallRecord;

impl RouterState {
    /// Handles the first event of an attempt: the provider has read the prompt.
    pub(in crate::actor) fn on_first_event(&mut self, id: AttemptId, now: MonotonicTime) {
        let Some(sent) = self.attempts.get_mut(&id) else {
            return;
        };
        sent.first_event = Some(now);
        let state = &mut self.routes[sent.route];
        state.latency.observe_first_token(now.since(sent.at));
        if let Some(hash) = sent.prefix {
            let lane = state.route().clone();
            self.prefixes.written(hash, &lane, now);
            self.wake_followers(now);
        }
    }

    /// Handles rate limits from response headers.
    pub(in crate::actor) fn on_rate_limits(
        &mut self,
        id: AttemptId,
        limits: &RateLimits,
        now: MonotonicTime,
    ) {
        if let Some(sent) = self.attempts.get(&id) {
            self.rates.observe(&sent.reservation, limits, now);
        }
    }

    /// Handles the end of an attempt: releases reservations and counts the usage.
    pub(in crate::actor) fn on_attempt_end(
        &mut self,
        id: AttemptId,
        end: AttemptEnd,
        seen: AttemptStats,
        now: MonotonicTime,
    ) {
        let Some(sent) = self.attempts.remove(&id) else {
            return base::never!("an attempt ends only once");
        };
        if let AttemptEnd::Unsent = end {
            return self.on_unsent(id, sent, now);
        }
        let (usage, is_estimate) = count_usage(&sent, &end, &seen);
        self.update_route_health(&sent, &end, &seen, (usage, is_estimate), now);
        let cost = self.routes[sent.route].cost(&usage);
        let failure = match &end {
            AttemptEnd::Well => None,
            AttemptEnd::Badly(failure) => Some(failure.class),
            AttemptEnd::Cancelled | AttemptEnd::Unsent => Some(FailureClass::Cancelled),
        };
        self.book.record_call(&CallRecord {
            failure,
            usage,
            is_estimate,
            cost,
            ..self.record(id, &sent, now)
        });
        let settlement = RateSettlement::Used(usage);
        self.rates
            .settle_reservation(sent.reservation, settlement, now);
        let spend = Spend {
            cost,
            tokens: usage.total(),
        };
        for notice in self.budgets.settle_hold(sent.hold, spend) {
            self.book
                .record_notice(self.wall.now_ms(), sent.caller, notice);
        }
    }

    /// Handles an attempt that was never sent because its caller was gone.
    fn on_unsent(&mut self, id: AttemptId, sent: SentAttempt, now: MonotonicTime) {
        let state = &mut self.routes[sent.route];
        state.concurrency.ended_neutrally();
        state.breaker.failed(FailureClass::Cancelled, now);
        let lane = state.route().clone();
        if let Some(hash) = sent.prefix {
            self.prefixes.failed(hash, &lane);
            self.wake_followers(now);
        }
        self.book.record_call(&self.record(id, &sent, now));
        self.rates
            .settle_reservation(sent.reservation, RateSettlement::Unsent, now);
        self.budgets.settle_hold(sent.hold, Spend::default());
    }

    /// Creates the record of an attempt without usage.
    fn record(&self, id: AttemptId, sent: &SentAttempt, now: MonotonicTime) -> CallRecord {
        CallRecord {
            call: id.0,
            question: sent.question.0,
            at_ms: sent.at_ms,
            model: self.routes[sent.route].route().model.clone(),
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

    fn update_route_health(
        &mut self,
        sent: &SentAttempt,
        end: &AttemptEnd,
        seen: &AttemptStats,
        (usage, is_estimate): (Usage, bool),
        now: MonotonicTime,
    ) {
        let state = &mut self.routes[sent.route];
        match end {
            AttemptEnd::Well => {
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
            AttemptEnd::Badly(failure) => {
                match failure.class {
                    FailureClass::RateLimited | FailureClass::Overloaded => {
                        state.concurrency.overloaded(sent.at, now);
                    }
                    _ => state.concurrency.ended_neutrally(),
                }
                state.breaker.failed(failure.class, now);
                state.last_failure = Some(failure.clone());
                if failure.class == FailureClass::RateLimited {
                    let lane = state.route().clone();
                    self.rates.refused(&lane, failure.retry_after, now);
                }
            }
            AttemptEnd::Cancelled | AttemptEnd::Unsent => {
                state.concurrency.ended_neutrally();
                if seen.has_started {
                    state.breaker.succeeded()
                } else {
                    state.breaker.failed(FailureClass::Cancelled, now)
                }
            }
        }
        if !seen.has_started
            && let Some(hash) = sent.prefix
        {
            let lane = self.routes[sent.route].route().clone();
            self.prefixes.failed(hash, &lane);
            self.wake_followers(now);
        }
    }

    /// Answers a stream that asks how to handle its attempt's failure.
    pub(in crate::actor) fn next_action(
        &mut self,
        id: SubmissionId,
        failure: Failure,
        progress: ResponseProgress,
        verdict: oneshot::Sender<StreamAction>,
        now: MonotonicTime,
    ) {
        let jitter = self.jitter();
        let rules = if self.has_next_route(id) {
            self.retry
        } else {
            self.retry_alone
        };
        let Some(asked) = self.requests.get_mut(&id) else {
            return refuse(verdict, failure);
        };
        asked.verdict = Some(verdict);
        match rules.next(&failure, asked.attempts, progress, jitter) {
            NextStep::Wait(pause) => self.pause(id, failure, pause, now),
            NextStep::FallBack if self.has_next_route(id) => self.move_to_next_route(id, now),
            NextStep::FallBack | NextStep::Stop => self.refuse(id, failure),
        }
    }

    fn pause(
        &mut self,
        id: SubmissionId,
        failure: Failure,
        pause: std::time::Duration,
        now: MonotonicTime,
    ) {
        let Some(asked) = self.requests.get_mut(&id) else {
            return;
        };
        asked.attempts.waited += pause;
        let (verdict, then) = oneshot::channel();
        if let Some(waiting) = asked.verdict.replace(verdict) {
            let told = StreamAction::Wait {
                failure,
                pause,
                then,
            };
            // A stream that is gone reports it; until then the pause continues.
            waiting.send(told).ok();
        }
        let until = now + pause;
        asked.since = until;
        asked.phase = RequestPhase::Pausing(until);
        self.asleep.insert((until, id));
    }

    fn has_next_route(&self, id: SubmissionId) -> bool {
        let asked = self.requests.get(&id);
        asked.is_some_and(|asked| asked.at + 1 < asked.chain.len())
    }

    /// Moves the request to the next route of its chain.
    pub(super) fn move_to_next_route(&mut self, id: SubmissionId, now: MonotonicTime) {
        let Some(asked) = self.requests.get_mut(&id) else {
            return;
        };
        asked.at += 1;
        asked.attempts.on_route = 0;
        asked.since = now;
        let state = &self.routes[asked.current_route()];
        asked.size.ask.input = state.tokens.estimate(asked.size.bytes);
        let decision = self.chooser.record_failover(&asked.decision, state.route());
        let now_ms = self.wall.now_ms();
        self.book
            .record_decision(now_ms, id.0, asked.caller, &decision);
        asked.decision = decision;
        asked.is_decision_told = false;
        self.enqueue(id, now);
    }

    /// Ends the request with a failure.
    pub(super) fn refuse(&mut self, id: SubmissionId, failure: Failure) {
        if let Some(asked) = self.requests.remove(&id)
            && let Some(verdict) = asked.verdict
        {
            refuse(verdict, failure);
        }
    }

    /// Removes a request whose caller is gone. Its attempts on the wire report their own ends.
    pub(in crate::actor) fn on_request_dropped(&mut self, id: SubmissionId, now: MonotonicTime) {
        self.leave_queue(id);
        let Some(asked) = self.requests.remove(&id) else {
            return;
        };
        match asked.phase {
            RequestPhase::Pausing(at) | RequestPhase::Following(at) => {
                self.asleep.remove(&(at, id));
            }
            // It may have been the leader that others follow.
            RequestPhase::Queued(_) => {
                if let Some(hash) = asked.prefix {
                    let lane = self.routes[asked.current_route()].route().clone();
                    self.prefixes.failed(hash, &lane);
                    self.wake_followers(now);
                }
            }
            RequestPhase::Out => {}
        }
    }

    /// Re-checks all followers: they are sent if their cache is written, and if a leader failed one
    /// of them leads.
    fn wake_followers(&mut self, now: MonotonicTime) {
        let questions = &self.requests;
        let is_follower = |id: &SubmissionId| {
            let asked = questions.get(id);
            asked.is_some_and(|asked| matches!(asked.phase, RequestPhase::Following(_)))
        };
        let followers = self.asleep.iter().filter(|(_, id)| is_follower(id));
        let followers: Vec<_> = followers.copied().collect();
        for (at, id) in followers {
            self.asleep.remove(&(at, id));
            self.enqueue(id, now);
        }
    }
}

/// Returns an attempt's usage, and whether it is an estimate. A refused request has no usage.
fn count_usage(sent: &SentAttempt, end: &AttemptEnd, seen: &AttemptStats) -> (Usage, bool) {
    let was_refused = match end {
        AttemptEnd::Badly(failure) => match failure.class {
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
            | FailureClass::Cancelled => !seen.has_started,
        },
        AttemptEnd::Well | AttemptEnd::Cancelled | AttemptEnd::Unsent => false,
    };
    if was_refused {
        (Usage::default(), false)
    } else {
        seen.used(sent.size.ask.input)
    }
}

fn millis(from: MonotonicTime, to: MonotonicTime) -> u64 {
    u64::try_from(to.since(from).as_millis()).unwrap_or(u64::MAX)
}
