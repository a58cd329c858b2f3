//! A model that knows what comes next: always the rest of the line, or the next line where that one has ended.
//!
//! With a chance it is wrong: from some char of its answer on, it says something else. Within one word it is right or
//! wrong throughout, as models are; it takes the next word to change its mind.
//! How long it takes follows a lognormal law with a median of 200 ms and 500 ms at the 90th percentile.

use std::time::Duration;

use super::keys::Session;

/// Longer answers are cut, in bytes.
const LONGEST: usize = 200;
/// What it says where it is wrong.
const WRONG: &str = "wrong_guess()";
/// Milliseconds at the median, and the sigma that puts the 90th percentile at 500: ln(2.5) / 1.2816.
const MEDIAN: f64 = 200.0;
const SIGMA: f64 = 0.715;

/// The future of one session.
pub(super) struct Future {
    /// The texts of its runs of typing.
    runs: Vec<String>,
    accuracy: f64,
}

impl Future {
    pub(super) fn new(session: &Session, accuracy: f64) -> Self {
        let mut runs: Vec<String> = Vec::new();
        for event in &session.events {
            if runs.len() <= event.run {
                runs.resize(event.run + 1, String::new());
            }
            runs[event.run].push_str(&event.inserted);
        }
        Self { runs, accuracy }
    }

    /// What will be typed behind an event, and `ahead` bytes further on; empty if nothing.
    pub(super) fn truth(&self, session: &Session, event: usize, ahead: usize) -> &str {
        let event = &session.events[event];
        let rest = self.runs[event.run].get(event.run_end + ahead..);
        rest.unwrap_or_default()
    }

    /// What the model answers behind an event, `ahead` bytes further on.
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
        // Where in the run it goes wrong does not depend on where it is asked.
        let length = line(&self.runs[event.run][word..]).len().max(1);
        let wrong = word + (chance(event.run, word, 2) * length as f64) as usize;
        let right = wrong.saturating_sub(done.len()).min(truth.len());
        let right = truth.floor_char_boundary(right);
        format!("{}{WRONG}", &truth[..right])
    }

    /// How long the `nth` answer takes.
    pub(super) fn latency(nth: usize) -> Duration {
        // Box and Muller, 1958.
        let (u, v) = (chance(nth, 0, 3).max(1e-12), chance(nth, 0, 4));
        let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
        Duration::from_secs_f64(MEDIAN * (SIGMA * normal).exp() / 1_000.0)
    }
}

/// The rest of the line, or the line break and the next line.
fn line(text: &str) -> &str {
    let start = text.len() - text.trim_start_matches(['\n', '\r']).len();
    let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let end = end.min(LONGEST);
    &text[..text.floor_char_boundary(end)]
}

/// A number from 0 to 1 that depends on nothing but these (the mixing of splitmix64).
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
