//! The times at which a server completes the responses to the requests that it receives.

use std::collections::VecDeque;
use std::time::Duration;

/// Number of requests that a server processes at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerKind {
    /// Any number, like a hosted model.
    Parallel,
    /// One, like a model on the user's machine. Further requests wait in the order of their arrival.
    Serial,
}

/// The requests at a server, by an identifier of the client.
pub(super) struct Server<I> {
    kind: ServerKind,
    /// Requests in progress, each with the time at which its response is complete.
    running: Vec<(Duration, I)>,
    /// Waiting requests, each with the time that it takes once it runs.
    waiting: VecDeque<(I, Duration)>,
}

impl<I: Copy + Ord> Server<I> {
    pub(super) fn new(kind: ServerKind) -> Self {
        Self {
            kind,
            running: Vec::new(),
            waiting: VecDeque::new(),
        }
    }

    /// Receives a request that takes `time` once it runs.
    pub(super) fn ask(&mut self, now: Duration, id: I, time: Duration) {
        self.waiting.push_back((id, time));
        self.start_waiting(now);
    }

    /// Drops a request, whether it waits or runs, as a server does when its client disconnects.
    pub(super) fn cancel(&mut self, now: Duration, id: I) {
        self.waiting.retain(|(waiting, _)| *waiting != id);
        self.running.retain(|(_, running)| *running != id);
        self.start_waiting(now);
    }

    /// Drops all requests.
    pub(super) fn cancel_all(&mut self) {
        self.waiting.clear();
        self.running.clear();
    }

    /// Returns when the next response is complete; `None` while no request runs.
    pub(super) fn next_completion(&self) -> Option<Duration> {
        self.running.iter().map(|(at, _)| *at).min()
    }

    /// Removes the request whose response is complete first, and returns it with that time.
    pub(super) fn take_completed(&mut self) -> Option<(Duration, I)> {
        let first = self.running.iter().min().copied()?;
        self.running.retain(|running| *running != first);
        self.start_waiting(first.0);
        Some(first)
    }

    fn start_waiting(&mut self, now: Duration) {
        let limit = match self.kind {
            ServerKind::Parallel => usize::MAX,
            ServerKind::Serial => 1,
        };
        while self.running.len() < limit
            && let Some((id, time)) = self.waiting.pop_front()
        {
            self.running.push((now + time, id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    fn completions(server: &mut Server<u32>) -> Vec<(Duration, u32)> {
        std::iter::from_fn(|| server.take_completed()).collect()
    }

    #[test]
    fn parallel_server_completes_requests_independently() {
        let mut server = Server::new(ServerKind::Parallel);
        server.ask(ms(0), 1, ms(100));
        server.ask(ms(10), 2, ms(50));
        assert_eq!(server.next_completion(), Some(ms(60)));
        assert_eq!(completions(&mut server), [(ms(60), 2), (ms(100), 1)]);
    }

    #[test]
    fn serial_server_starts_a_request_after_the_one_before() {
        let mut server = Server::new(ServerKind::Serial);
        server.ask(ms(0), 1, ms(100));
        server.ask(ms(10), 2, ms(50));
        server.ask(ms(20), 3, ms(50));
        server.cancel(ms(30), 2);
        assert_eq!(completions(&mut server), [(ms(100), 1), (ms(150), 3)]);
    }

    #[test]
    fn serial_server_is_free_once_its_request_is_cancelled() {
        let mut server = Server::new(ServerKind::Serial);
        server.ask(ms(0), 1, ms(100));
        server.ask(ms(10), 2, ms(50));
        server.cancel(ms(30), 1);
        assert_eq!(completions(&mut server), [(ms(80), 2)]);
    }
}
