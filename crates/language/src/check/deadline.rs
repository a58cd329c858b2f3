//! The end of a check whose server reports nothing any more.
//!
//! Must not know: the protocol, clocks.
//! Invariant: a server that has itself asked again and again, or that reports progress for ever, cannot defer the end for
//! ever.

use std::time::Duration;

/// Maximum number of rounds of requests whose answers defer the end. A server that loads a project needs about three.
const MAX_ROUNDS: usize = 16;
/// The part of a check in which progress without answers defers the end, in timeouts.
const MAX_PROGRESS: u32 = 5;

/// The time at which a check ends, even if servers still owe answers.
#[derive(Debug)]
pub(super) struct CheckDeadline {
    /// Maximum time until the first answer, and between two answers.
    timeout: Duration,
    start: Duration,
    until: Duration,
    rounds: usize,
}

impl CheckDeadline {
    /// Creates the deadline of a check that starts at `now`.
    pub(super) fn new(now: Duration, timeout: Duration) -> Self {
        Self {
            timeout,
            start: now,
            until: now + timeout,
            rounds: 0,
        }
    }

    /// Returns the time of the end.
    pub(super) fn until(&self) -> Duration {
        self.until
    }

    /// Notes that each document is asked about once more.
    pub(super) fn begin_round(&mut self) {
        self.rounds += 1;
    }

    /// Notes an answer about a document at `now`.
    pub(super) fn note_answer(&mut self, now: Duration) {
        if self.rounds <= MAX_ROUNDS {
            self.until = self.until.max(now + self.timeout);
        }
    }

    /// Notes that the server reported progress at `now`, such as of a build. Returns whether time is left.
    pub(super) fn note_progress(&mut self, now: Duration) -> bool {
        let latest = self.start + self.timeout * MAX_PROGRESS;
        self.until = self.until.max(latest.min(now + self.timeout));
        self.until > now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the end in seconds after answers in each of some rounds, with a timeout of ten seconds.
    fn check(rounds: &[&[u64]], expected: u64) {
        let mut deadline = CheckDeadline::new(Duration::from_secs(100), Duration::from_secs(10));
        for answers in rounds {
            deadline.begin_round();
            for time in *answers {
                deadline.note_answer(Duration::from_secs(*time));
            }
        }
        assert_eq!(
            deadline.until(),
            Duration::from_secs(expected),
            "{rounds:?}"
        );
    }

    #[test]
    fn each_answer_of_a_round_defers_the_end() {
        check(&[], 110);
        check(&[&[]], 110);
        check(&[&[105, 109]], 119);
        // A server answers at once while it loads, and again after that.
        check(&[&[101, 101], &[], &[109, 118, 127]], 137);
    }

    #[test]
    fn progress_defers_the_end_for_a_part_of_the_check() {
        let seconds = Duration::from_secs;
        let mut deadline = CheckDeadline::new(seconds(100), seconds(10));
        assert!(deadline.note_progress(seconds(109)));
        assert_eq!(deadline.until(), seconds(119));
        assert!(deadline.note_progress(seconds(145)));
        assert_eq!(deadline.until(), seconds(150));
        assert!(!deadline.note_progress(seconds(150)));
        // Answers defer it after that.
        deadline.note_answer(seconds(149));
        assert!(deadline.note_progress(seconds(151)));
        assert_eq!(deadline.until(), seconds(159));
    }

    #[test]
    fn late_rounds_do_not_defer_the_end() {
        let mut rounds = vec![&[101][..]; MAX_ROUNDS];
        check(&rounds, 111);
        rounds.push(&[110]);
        check(&rounds, 111);
    }
}
