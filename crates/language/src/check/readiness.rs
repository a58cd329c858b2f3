//! The decision when a server has said everything about the documents.
//!
//! Servers that answer requests are done with the last answer. Others publish diagnostics, sometimes in several
//! parts, or report progress while they analyse; they are done after a quiet time. A quiet server may still be
//! analysing, so a probe follows: a server that is done answers it at once.
//! Must not know: the protocol, clocks.

use std::time::Duration;

/// Quiet time after which published diagnostics count as complete.
const QUIET: Duration = Duration::from_millis(500);
/// Quiet time after which a server that omits empty reports may be done.
const QUIET_WITHOUT_REPORTS: Duration = Duration::from_secs(1);
/// Time in which a server that is done answers a probe.
pub(crate) const PROBE_TIME: Duration = Duration::from_millis(500);
/// Quiet time of a server whose progress has ended: another part of its work may begin.
const QUIET_AFTER_PROGRESS: Duration = Duration::from_secs(2);
/// Quiet time after which a server that has not begun to report progress counts as done.
const QUIET_BEFORE_PROGRESS: Duration = Duration::from_secs(10);

/// The activity of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerActivity {
    /// Time of the last message that changed anything.
    pub(crate) last_change: Duration,
    /// Whether every document has diagnostics, if only none.
    pub(crate) has_all: bool,
    /// Whether every document's diagnostics are the answer to a request.
    pub(crate) has_answers: bool,
    /// Whether a document without diagnostics may get no report.
    pub(crate) omits_empty: bool,
    /// Whether progress is under way.
    pub(crate) is_busy: bool,
    /// Whether any progress was reported.
    pub(crate) has_progressed: bool,
    /// Whether diagnostics are complete only after progress.
    pub(crate) reports_progress: bool,
}

impl ServerActivity {
    /// Returns the time at which the diagnostics are complete if nothing changes until then; `None` if
    /// something must happen first.
    pub(crate) fn complete_at(&self) -> Option<Duration> {
        if !(self.has_all || self.omits_empty) || self.is_busy {
            return None;
        }
        let quiet = match (self.reports_progress, self.has_progressed) {
            (true, true) => QUIET_AFTER_PROGRESS,
            (true, false) => QUIET_BEFORE_PROGRESS,
            (false, _) if self.has_answers => Duration::ZERO,
            (false, _) if !self.has_all => QUIET_WITHOUT_REPORTS,
            (false, _) => QUIET,
        };
        Some(self.last_change + quiet)
    }

    /// Returns whether a probe must show that a quiet server is done.
    pub(crate) fn needs_probe(&self) -> bool {
        !self.reports_progress && !self.has_answers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: ServerActivity = ServerActivity {
        last_change: Duration::from_secs(100),
        has_all: false,
        has_answers: false,
        omits_empty: false,
        is_busy: false,
        has_progressed: false,
        reports_progress: false,
    };

    fn check(activity: ServerActivity, expected: Option<u64>) {
        let expected = expected.map(Duration::from_millis);
        assert_eq!(activity.complete_at(), expected, "{activity:?}");
    }

    #[test]
    fn answers_are_complete_at_once_and_pushes_after_a_pause() {
        check(NOTHING, None);
        let pushed = ServerActivity {
            has_all: true,
            ..NOTHING
        };
        check(pushed, Some(100_500));
        let answered = ServerActivity {
            has_answers: true,
            ..pushed
        };
        check(answered, Some(100_000));
        assert_eq!(
            (pushed.needs_probe(), answered.needs_probe()),
            (true, false)
        );
    }

    #[test]
    fn a_server_that_omits_empty_reports_may_publish_nothing() {
        let silent = ServerActivity {
            omits_empty: true,
            ..NOTHING
        };
        check(silent, Some(101_000));
    }

    #[test]
    fn progress_delays_completion() {
        let busy = ServerActivity {
            has_all: true,
            has_answers: true,
            is_busy: true,
            ..NOTHING
        };
        check(busy, None);
        let before = ServerActivity {
            is_busy: false,
            reports_progress: true,
            ..busy
        };
        check(before, Some(110_000));
        let after = ServerActivity {
            has_progressed: true,
            ..before
        };
        check(after, Some(102_000));
    }
}
