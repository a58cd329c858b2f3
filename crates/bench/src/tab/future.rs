//! A model that knows the text to be typed: the rest of the line, or the next line after a complete one.
//!
//! With a given probability a response is wrong from some character on. Within one word all responses are right or all
//! are wrong, like those of real models. Latencies are lognormal with a median of 200 ms and a 90th percentile of
//! 500 ms.

use std::ops::Range;
use std::time::Duration;

use super::keys::Session;

/// Maximum bytes of a response; longer ones are cut.
const LONGEST: usize = 200;
/// Text of a wrong response.
const WRONG: &str = "wrong_guess()";
/// Milliseconds at the median, and the sigma that puts the 90th percentile at 500: ln(2.5) / 1.2816.
const MEDIAN: f64 = 200.0;
const SIGMA: f64 = 0.715;

/// The future of one session.
pub(super) struct Future {
    /// Texts of the runs of typing.
    runs: Vec<String>,
    /// Ends of the keystrokes of each run, in bytes; text that the recorded editor inserted has none.
    keys: Vec<Vec<usize>>,
    accuracy: f64,
}

impl Future {
    pub(super) fn new(session: &Session, accuracy: f64) -> Self {
        let count = session.events.last().map_or(0, |event| event.run + 1);
        let mut runs = vec![String::new(); count];
        let mut keys = vec![Vec::new(); count];
        for event in &session.events {
            runs[event.run].push_str(&event.inserted);
            if event.is_key() {
                keys[event.run].push(event.run_end);
            }
        }
        Self {
            runs,
            keys,
            accuracy,
        }
    }

    /// Returns the text of a run from a position on.
    pub(super) fn rest(&self, run: usize, place: usize) -> &str {
        self.runs[run].get(place..).unwrap_or_default()
    }

    /// Returns the number of keystrokes in a part of a run.
    pub(super) fn keys_in(&self, run: usize, part: Range<usize>) -> usize {
        let keys = self.keys[run].iter();
        keys.filter(|end| part.start < **end && **end <= part.end)
            .count()
    }

    /// Returns the text that is typed `ahead` bytes after an event; may be empty.
    pub(super) fn truth(&self, session: &Session, event: usize, ahead: usize) -> &str {
        let event = &session.events[event];
        self.rest(event.run, event.run_end + ahead)
    }

    /// Returns the model's response `ahead` bytes after an event.
    pub(super) fn answer(&self, session: &Session, event: usize, ahead: usize) -> String {
        let truth = line(self.truth(session, event, ahead));
        if truth.is_empty() {
            return String::new();
        }
        let event = &session.events[event];
        let done = &self.runs[event.run][..event.run_end + ahead];
        let word = done
            .trim_end_matches(|ch: char| ch.is_alphanumeric() || ch == '_')
            .len();
        if chance(event.run, word, 1) < self.accuracy {
            return truth.to_owned();
        }
        // The offset of the error in the run does not depend on the caret of the request.
        let length = line(&self.runs[event.run][word..]).len().max(1);
        let wrong = word + (chance(event.run, word, 2) * length as f64) as usize;
        let right = wrong.saturating_sub(done.len()).min(truth.len());
        let right = truth.floor_char_boundary(right);
        format!("{}{WRONG}", &truth[..right])
    }

    /// Returns the latency of the `nth` response.
    pub(super) fn latency(nth: usize) -> Duration {
        // Box and Muller, 1958.
        let (u, v) = (chance(nth, 0, 3).max(1e-12), chance(nth, 0, 4));
        let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
        Duration::from_secs_f64(MEDIAN * (SIGMA * normal).exp() / 1_000.0)
    }
}

/// Returns the rest of the line, or the line break and the next line.
fn line(text: &str) -> &str {
    let start = text.len() - text.trim_start_matches(['\n', '\r']).len();
    let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let end = end.min(LONGEST);
    &text[..text.floor_char_boundary(end)]
}

/// Returns a pseudo-random number from 0 to 1 for these values (the mixing function of splitmix64).
fn chance(a: usize, b: usize, salt: u64) -> f64 {
    let mut mixed = (a as u64) ^ (b as u64).rotate_left(32) ^ salt.rotate_left(17);
    for _ in 0..2 {
        mixed = mixed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
    }
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}
