//! Policies of other editors, replayed over the same keystrokes and the same model.

use std::collections::VecDeque;
use std::time::Duration;

use super::Score;
use super::future::Future;
use super::keys::Session;
use super::server::{Server, ServerKind};

/// Debounce after a keystroke.
const DEBOUNCE: Duration = Duration::from_millis(75);
/// Number of responses that Cody's policy caches.
const KEPT: usize = 500;

/// A policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    /// Every keystroke removes the suggestion and cancels the request.
    DebounceCancel,
    /// The same, but a suggestion stays while it is typed.
    DebounceCancelTyping,
    /// Requests are never cancelled. Responses are cached, also match after their beginning was typed within the line,
    /// and are shown as soon as they match.
    Cody,
}

/// A response with the event after which it was requested.
struct Answer {
    event: usize,
    text: String,
}

struct Peer<'a> {
    session: &'a Session,
    future: &'a Future,
    policy: Policy,
    score: Score,
    /// Requests by the event after which they were sent.
    server: Server<usize>,
    kept: VecDeque<Answer>,
    /// Visible text, for the text after this event.
    shown: Option<(usize, String)>,
    /// End of the text whose keystrokes were counted as saved.
    saved_until: (usize, usize),
}

/// Replays a session under a policy.
pub(super) fn replay(
    session: &Session,
    future: &Future,
    policy: Policy,
    server: ServerKind,
) -> Score {
    let mut peer = Peer {
        session,
        future,
        policy,
        score: Score::default(),
        server: Server::new(server),
        kept: VecDeque::new(),
        shown: None,
        saved_until: (usize::MAX, 0),
    };
    for (ix, event) in session.events.iter().enumerate() {
        peer.answers_until(event.at, ix.checked_sub(1));
        peer.key(ix);
        let next = session.events.get(ix + 1).map(|next| next.at);
        peer.pause(ix, next.unwrap_or(event.at + Duration::from_secs(10)));
    }
    peer.score
}

impl Peer<'_> {
    /// Handles the responses up to a time; `now` is the last event before it.
    fn answers_until(&mut self, moment: Duration, now: Option<usize>) {
        let Some(now) = now else {
            return;
        };
        while self.server.next_completion().is_some_and(|at| at <= moment)
            && let Some((_, event)) = self.server.take_completed()
        {
            let text = self.future.answer(self.session, event, 0);
            if self.policy == Policy::Cody {
                self.kept.push_back(Answer { event, text });
                if self.kept.len() > KEPT {
                    self.kept.pop_front();
                }
                if self.shown.is_none() {
                    self.shown = self.found(now);
                }
            } else if event == now && !text.is_empty() {
                self.shown = Some((now, text));
            }
        }
    }

    /// Returns the rest of a cached response after an event.
    fn found(&self, now: usize) -> Option<(usize, String)> {
        self.kept.iter().rev().find_map(|answer| {
            let (then, here) = (
                &self.session.events[answer.event],
                &self.session.events[now],
            );
            if then.run != here.run || then.run_end > here.run_end {
                return None;
            }
            let typed = self.future.truth(self.session, answer.event, 0);
            let typed = typed.get(..here.run_end - then.run_end)?;
            let rest = answer.text.strip_prefix(typed)?;
            let is_fit = !typed.trim_start_matches('\n').contains('\n') && !rest.is_empty();
            is_fit.then(|| (now, rest.to_owned()))
        })
    }

    /// Handles a keystroke or another edit.
    fn key(&mut self, ix: usize) {
        let event = &self.session.events[ix];
        let shown = self.shown.take().filter(|(at, _)| at + 1 == ix);
        if event.is_key() {
            self.score.keys += 1;
            let goes_on = ix > 0 && self.session.events[ix - 1].run == event.run;
            if let Some((_, text)) = shown.as_ref().filter(|_| goes_on)
                && text.starts_with(&event.inserted)
            {
                self.score.covered += 1;
                self.score.covered_events.insert(ix);
                let before = event.run_end - event.inserted.len();
                save(
                    &mut self.score,
                    &mut self.saved_until,
                    self.future,
                    (event.run, before),
                    text,
                );
            }
            let rest = shown.filter(|_| goes_on);
            let rest =
                rest.and_then(|(_, text)| Some(text.strip_prefix(&event.inserted)?.to_owned()));
            if self.policy != Policy::DebounceCancel {
                self.shown = rest.filter(|rest| !rest.is_empty()).map(|rest| (ix, rest));
            }
        }
        match self.policy {
            Policy::Cody => {
                if self.shown.is_none() {
                    self.shown = self.found(ix);
                }
            }
            Policy::DebounceCancel | Policy::DebounceCancelTyping => self.server.cancel_all(),
        }
    }

    /// Sends a request if the time up to the next keystroke is long enough and nothing is shown.
    fn pause(&mut self, ix: usize, next: Duration) {
        let due = self.session.events[ix].at + DEBOUNCE;
        if due >= next {
            return;
        }
        self.answers_until(due, Some(ix));
        if self.shown.is_none() || self.policy == Policy::DebounceCancel {
            let latency = Future::latency(self.score.calls);
            self.score.calls += 1;
            self.server.ask(due, ix, latency);
        }
    }
}

/// Counts the keystrokes saved by accepting a suggestion that is right to its end, once.
pub(super) fn save(
    score: &mut Score,
    until: &mut (usize, usize),
    future: &Future,
    (run, place): (usize, usize),
    text: &str,
) {
    let is_counted = until.0 == run && place < until.1;
    if !is_counted && future.rest(run, place).starts_with(text) {
        let end = place + text.len();
        score.saved += future.keys_in(run, place..end).saturating_sub(1);
        *until = (run, end);
    }
}
