//! Effects of an attempt's progress and end on limits, budgets, the route, and its request.

use model::policy::{NextStep, RateSettlement, ResponseProgress, Spend};
use model::{Cost, Failure, FailureClass, MonotonicTime, RateLimits, Usage};
use tokio::sync::oneshot;

use super::{RequestPhase, RouterState, SentAttempt, refuse};
use crate::actor::messages::{AttemptEnd, AttemptId, AttemptStats, StreamAction, SubmissionId};
use crate::actor::usage_store::CallRecord;

impl RouterState {
    /// Handles the first event of an attempt: the provider has read the prompt, so the prompt cache
    /// is written. Ignores unknown attempts.
    pub(in crate::actor) fn on_first_event(&mut self, id: AttemptId, now: MonotonicTime) {
        let Some(sent) = self.attempts.get_mut(&id) else {
            return;
        };
        sent.first_event = Some(now);
        let state = &mut self.routes[sent.route];
        state.latency.observe_first_token(now.since(sent.at));
        if let Some(hash) = sent.prefix {
            let route = state.route().clone();
            self.prefixes.written(hash, &route, now);
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
        stats: AttemptStats,
        now: MonotonicTime,
    ) {
        let Some(sent) = self.attempts.remove(&id) else {
            return base::never!("an attempt ends only once");
        };
        if let AttemptEnd::Unsent = end {
            return self.on_unsent(id, sent, now);
        }
        let (usage, is_estimate) = count_usage(&sent, &end, &stats);
        self.update_route_health(&sent, &end, &stats, (usage, is_estimate), now);
        let cost = self.routes[sent.route].cost(&usage);
        let failure = match &end {
            AttemptEnd::Succeeded => None,
            AttemptEnd::Failed(failure) => Some(failure.class),
            AttemptEnd::Cancelled | AttemptEnd::Unsent => Some(FailureClass::Cancelled),
        };
        self.usage_store.record_call(&CallRecord {
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
            self.usage_store
                .record_notice(self.wall.now_ms(), sent.caller, notice);
        }
    }

    /// Handles an attempt that was never sent because its caller was gone.
    fn on_unsent(&mut self, id: AttemptId, sent: SentAttempt, now: MonotonicTime) {
        let state = &mut self.routes[sent.route];
        state.concurrency.ended_neutrally();
        state.breaker.failed(FailureClass::Cancelled, now);
        let route = state.route().clone();
        if let Some(hash) = sent.prefix {
            self.prefixes.failed(hash, &route);
            self.wake_followers(now);
        }
        self.usage_store.record_call(&self.record(id, &sent, now));
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
        stats: &AttemptStats,
        (usage, is_estimate): (Usage, bool),
        now: MonotonicTime,
    ) {
        let state = &mut self.routes[sent.route];
        match end {
            AttemptEnd::Succeeded => {
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
            AttemptEnd::Failed(failure) => {
                match failure.class {
                    FailureClass::RateLimited | FailureClass::Overloaded => {
                        state.concurrency.overloaded(sent.at, now);
                    }
                    _ => state.concurrency.ended_neutrally(),
                }
                state.breaker.failed(failure.class, now);
                state.last_failure = Some(failure.clone());
                if failure.class == FailureClass::RateLimited {
                    let route = state.route().clone();
                    self.rates.refused(&route, failure.retry_after, now);
                }
            }
            AttemptEnd::Cancelled | AttemptEnd::Unsent => {
                state.concurrency.ended_neutrally();
                if stats.has_started {
                    state.breaker.succeeded()
                } else {
                    state.breaker.failed(FailureClass::Cancelled, now)
                }
            }
        }
        if !stats.has_started
            && let Some(hash) = sent.prefix
        {
            let route = self.routes[sent.route].route().clone();
            self.prefixes.failed(hash, &route);
            self.wake_followers(now);
        }
    }

    /// Answers a stream that asks how to handle its attempt's failure: retry after a pause, go on
    /// with another route, or fail. `progress` is the part of the answer that the caller has
    /// received.
    pub(in crate::actor) fn next_action(
        &mut self,
        id: SubmissionId,
        failure: Failure,
        progress: ResponseProgress,
        reply: oneshot::Sender<StreamAction>,
        now: MonotonicTime,
    ) {
        let jitter = self.jitter();
        let rules = if self.has_next_route(id) {
            self.retry
        } else {
            self.retry_alone
        };
        let Some(request) = self.requests.get_mut(&id) else {
            return refuse(reply, failure);
        };
        request.reply = Some(reply);
        match rules.next(&failure, request.attempts, progress, jitter) {
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
        let Some(request) = self.requests.get_mut(&id) else {
            return;
        };
        request.attempts.waited += pause;
        let (reply, then) = oneshot::channel();
        if let Some(waiting) = request.reply.replace(reply) {
            let action = StreamAction::Wait {
                failure,
                pause,
                then,
            };
            // A stream that is gone reports it; until then the pause continues.
            waiting.send(action).ok();
        }
        let until = now + pause;
        request.since = until;
        request.phase = RequestPhase::Pausing(until);
        self.asleep.insert((until, id));
    }

    /// Returns whether a further route follows the request's current one; `false` if the request
    /// has ended.
    fn has_next_route(&self, id: SubmissionId) -> bool {
        let request = self.requests.get(&id);
        request.is_some_and(|request| request.at + 1 < request.chain.len())
    }

    /// Moves the request to the next route of its chain, and queues it again. The chain must have a
    /// next route.
    pub(super) fn move_to_next_route(&mut self, id: SubmissionId, now: MonotonicTime) {
        let Some(request) = self.requests.get_mut(&id) else {
            return;
        };
        request.at += 1;
        request.attempts.on_route = 0;
        request.since = now;
        let state = &self.routes[request.current_route()];
        request.size.demand.input = state.tokens.estimate(request.size.bytes);
        let decision = self
            .selector
            .record_failover(&request.decision, state.route());
        let now_ms = self.wall.now_ms();
        self.usage_store
            .record_decision(now_ms, id.0, request.caller, &decision);
        request.decision = decision;
        request.is_decision_sent = false;
        self.enqueue(id, now);
    }

    /// Ends the request with a failure, and sends the failure to the request's stream if the stream
    /// waits for a reply. Ignores unknown requests.
    pub(super) fn refuse(&mut self, id: SubmissionId, failure: Failure) {
        if let Some(request) = self.requests.remove(&id)
            && let Some(reply) = request.reply
        {
            refuse(reply, failure);
        }
    }

    /// Removes a request whose caller is gone. Its attempts on the wire report their own ends.
    pub(in crate::actor) fn on_request_dropped(&mut self, id: SubmissionId, now: MonotonicTime) {
        self.leave_queue(id);
        let Some(request) = self.requests.remove(&id) else {
            return;
        };
        match request.phase {
            RequestPhase::Pausing(at) | RequestPhase::Following(at) => {
                self.asleep.remove(&(at, id));
            }
            // It may have been the leader that others follow.
            RequestPhase::Queued(_) => {
                if let Some(hash) = request.prefix {
                    let route = self.routes[request.current_route()].route().clone();
                    self.prefixes.failed(hash, &route);
                    self.wake_followers(now);
                }
            }
            RequestPhase::Sent => {}
        }
    }

    /// Re-checks all followers: they are sent if their cache is written, and if a leader failed one
    /// of them leads.
    fn wake_followers(&mut self, now: MonotonicTime) {
        let requests = &self.requests;
        let is_follower = |id: &SubmissionId| {
            let request = requests.get(id);
            request.is_some_and(|request| matches!(request.phase, RequestPhase::Following(_)))
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
fn count_usage(sent: &SentAttempt, end: &AttemptEnd, stats: &AttemptStats) -> (Usage, bool) {
    let was_refused = match end {
        AttemptEnd::Failed(failure) => match failure.class {
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
            | FailureClass::Cancelled => !stats.has_started,
        },
        AttemptEnd::Succeeded | AttemptEnd::Cancelled | AttemptEnd::Unsent => false,
    };
    if was_refused {
        (Usage::default(), false)
    } else {
        stats.used(sent.size.demand.input)
    }
}

/// Returns the whole milliseconds between two times.
fn millis(from: MonotonicTime, to: MonotonicTime) -> u64 {
    u64::try_from(to.since(from).as_millis()).unwrap_or(u64::MAX)
}
