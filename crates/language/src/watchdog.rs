//! Detects a server that no longer answers.
//!
//! Must not know: connections, threads, clocks.
//! Start at `Watchdog::observe`.

use std::time::Duration;

use lsp::ConnectionActivity;

/// Time without any message, while a request awaits its answer, after which a server counts as hung.
const SILENCE: Duration = if cfg!(test) {
    Duration::from_millis(50)
} else {
    Duration::from_secs(30)
};
/// Time between two observations while a request awaits its answer.
pub(crate) const INTERVAL: Duration = if cfg!(test) {
    Duration::from_millis(10)
} else {
    Duration::from_secs(5)
};

/// The watchdog of one connection.
#[derive(Debug, Default)]
pub(crate) struct Watchdog {
    /// Number of messages at the last observation.
    received: u64,
    /// The first observation since which a request waits and no message arrived.
    silent_since: Option<Duration>,
}

impl Watchdog {
    /// Returns whether the server hangs, according to the activity of its connection at `now`.
    pub(crate) fn observe(&mut self, now: Duration, activity: ConnectionActivity) -> bool {
        if !activity.is_waiting || activity.received != self.received {
            self.received = activity.received;
            self.silent_since = None;
        }
        if !activity.is_waiting {
            return false;
        }
        let since = *self.silent_since.get_or_insert(now);
        now.saturating_sub(since) >= SILENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks observations: parts of `SILENCE` that have passed, messages, whether a request waits, whether it hangs.
    fn check(observations: &[(u32, u64, bool, bool)]) {
        let mut watchdog = Watchdog::default();
        for (ix, (time, received, is_waiting, expected)) in observations.iter().enumerate() {
            let activity = ConnectionActivity {
                received: *received,
                is_waiting: *is_waiting,
            };
            let hangs = watchdog.observe(SILENCE * *time / 10, activity);
            assert_eq!(hangs, *expected, "{ix} of {observations:?}");
        }
    }

    #[test]
    fn a_server_hangs_if_it_is_silent_while_a_request_waits() {
        check(&[
            (0, 1, true, false),
            (9, 1, true, false),
            (10, 1, true, true),
            (99, 1, true, true),
        ]);
    }

    #[test]
    fn any_message_shows_that_a_server_lives() {
        check(&[
            (0, 1, true, false),
            (9, 2, true, false),
            (18, 2, true, false),
            (19, 2, true, true),
            (20, 3, true, false),
        ]);
    }

    #[test]
    fn silence_without_a_request_is_no_sign() {
        check(&[
            (0, 1, true, false),
            (5, 1, false, false),
            (50, 1, true, false),
            (59, 1, true, false),
            (60, 1, true, true),
        ]);
    }
}
