//! The pipeline of Tab with a model: time from a keystroke to its request on the wire, known suggestions in the frame of
//! the keystroke, stale suggestions, and keystrokes before which the right text is shown, replaying real typing against
//! a model that knows the future.
//!
//! The replay simulates discrete events with the engine of the product; it does not depend on the speed of the computer.
//!
//! `BURIN_BENCH_PARTS` selects the parts to measure: wire, check, frames, stale, replay.

mod check;
mod future;
mod keys;
mod misses;
mod ours;
mod peers;
mod server;
mod stale;
mod wire;

use std::collections::HashSet;

use crate::figure::Figure;
use crate::is_wanted;
use future::Future;
use keys::Session;
use misses::MissCause;
use peers::Policy;
use server::ServerKind;

/// Probabilities that a response of the model is right.
const ACCURACIES: [f64; 3] = [1.0, 0.6, 0.3];
/// Goals: coverage and requests as ratios to those of debounce and cancel (A).
const COVERAGE_OVER_A: f64 = 1.5;
const CALLS_OVER_A: f64 = 0.5;
/// Goals: saved keystrokes as a ratio to those of A; coverage, saved keystrokes and requests as ratios to those of Cody's
/// policy (B).
const SAVED_OVER_A: f64 = 1.0;
const COVERAGE_OVER_B: f64 = 1.0;
const SAVED_OVER_B: f64 = 1.0;
const CALLS_OVER_B: f64 = 0.95;
/// Goal for a server that processes one request at a time: saved keystrokes as a ratio to those of B.
const SAVED_OVER_B_SERIAL: f64 = 1.1;

/// Counts of a policy over one session.
#[derive(Clone, Debug, Default)]
pub(super) struct Score {
    /// Keystrokes.
    keys: usize,
    /// Keystrokes that the visible suggestion began with.
    covered: usize,
    /// Keystrokes saved by accepting every suggestion that is right to its end.
    saved: usize,
    /// Requests.
    calls: usize,
    /// Suggestions shown for a text other than the current one.
    stale: usize,
    /// Indices of the covered keystrokes.
    covered_events: HashSet<usize>,
    /// Indices of our other keystrokes, with the cause of each.
    misses: Vec<(usize, MissCause)>,
}

impl Score {
    fn coverage(&self) -> f64 {
        self.covered as f64 / self.keys.max(1) as f64
    }

    fn per_thousand(&self, count: usize) -> f64 {
        count as f64 * 1_000.0 / self.keys.max(1) as f64
    }

    /// Returns the ratio of its coverage to a peer's over the same session.
    fn covered_over(&self, peer: &Self) -> f64 {
        self.covered as f64 / peer.covered.max(1) as f64
    }

    fn saved_over(&self, peer: &Self) -> f64 {
        self.saved as f64 / peer.saved.max(1) as f64
    }

    fn calls_over(&self, peer: &Self) -> f64 {
        self.calls as f64 / peer.calls.max(1) as f64
    }
}

/// Measures all figures.
pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    if is_wanted("wire") {
        eprintln!("tab: key to wire …");
        figures.extend(wire::run()?);
    }
    if is_wanted("check") {
        eprintln!("tab: checks of suggestions …");
        figures.extend(check::run()?);
    }
    if is_wanted("frames") {
        eprintln!("tab: frames of keys …");
        figures.extend(crate::typing::of_window(
            "workbench",
            "window",
            &["frames"],
        )?);
    }
    if is_wanted("stale") {
        eprintln!("tab: interleavings …");
        figures.push(stale::run());
    }
    if is_wanted("replay") {
        figures.extend(replay()?);
    }
    Ok(figures)
}

fn replay() -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for name in ["rustcode", "sveltecomponent"] {
        let session = Session::read(name)?;
        for accuracy in ACCURACIES {
            for server in [ServerKind::Parallel, ServerKind::Serial] {
                eprintln!("tab: {name}, accuracy {accuracy}, {server:?} …");
                figures.extend(compare(&session, accuracy, server));
            }
        }
    }
    Ok(figures)
}

/// The counts of all policies over one session, with one model and one server.
struct Comparison {
    label: String,
    ours: Score,
    /// Debounce and cancel (A).
    cancel: Score,
    /// A, whose suggestion stays while it is typed.
    through: Score,
    /// Cody's policy (B): debounce, cache, never cancel.
    cody: Score,
}

fn compare(session: &Session, accuracy: f64, server: ServerKind) -> Vec<Figure> {
    let future = Future::new(session, accuracy);
    let peer = |policy| peers::replay(session, &future, policy, server);
    let serial = match server {
        ServerKind::Parallel => "",
        ServerKind::Serial => ", one request at a time",
    };
    let comparison = Comparison {
        label: format!("{}, accuracy {accuracy}{serial}", session.name),
        ours: ours::replay(session, &future, server),
        cancel: peer(Policy::DebounceCancel),
        through: peer(Policy::DebounceCancelTyping),
        cody: peer(Policy::Cody),
    };
    for (cause, count) in misses::count(&comparison.ours.misses, &comparison.cody.covered_events) {
        eprintln!("tab: {count:5} keys that B covers, missed: {cause}");
    }
    let mut figures = comparison.counts();
    figures.extend(match server {
        ServerKind::Parallel => comparison.ratios(),
        ServerKind::Serial => comparison.serial_ratios(),
    });
    figures.push(comparison.figure(
        "stale suggestions shown",
        comparison.ours.stale as f64,
        "",
        Some(0.0),
    ));
    figures
}

impl Comparison {
    fn figure(&self, what: &str, value: f64, unit: &'static str, goal: Option<f64>) -> Figure {
        let name = format!("{}: {what}", self.label);
        Figure::alone(name, value, unit, self.ours.keys, goal)
    }

    /// Returns coverage, requests and saved keystrokes of every policy.
    fn counts(&self) -> Vec<Figure> {
        let policies = [
            ("", &self.ours),
            (" of debounce 75 ms + cancel (A)", &self.cancel),
            (" of A that follows typing", &self.through),
            (" of debounce + LRU + recycle (B)", &self.cody),
        ];
        let per_policy = policies.iter().flat_map(|(whose, score)| {
            let figure =
                |what: &str, value, unit| self.figure(&format!("{what}{whose}"), value, unit, None);
            [
                figure("coverage", score.coverage() * 100.0, "%"),
                figure("calls per 1,000 keys", score.per_thousand(score.calls), ""),
                figure("saved keys per 1,000", score.per_thousand(score.saved), ""),
            ]
        });
        per_policy.collect()
    }

    /// Returns our counts as ratios to the peers', with the goals for a server that processes requests in parallel.
    fn ratios(&self) -> Vec<Figure> {
        let at_least =
            |what: &str, value, least| self.figure(what, value, "x", None).at_least(least);
        let at_most = |what: &str, value, most| self.figure(what, value, "x", Some(most));
        let (ours, cancel, cody) = (&self.ours, &self.cancel, &self.cody);
        vec![
            at_least(
                "coverage over A",
                ours.covered_over(cancel),
                COVERAGE_OVER_A,
            ),
            at_most("calls over A", ours.calls_over(cancel), CALLS_OVER_A),
            at_least("saved keys over A", ours.saved_over(cancel), SAVED_OVER_A),
            self.figure(
                "coverage over A that follows typing",
                ours.covered_over(&self.through),
                "x",
                None,
            ),
            at_least("coverage over B", ours.covered_over(cody), COVERAGE_OVER_B),
            at_least("saved keys over B", ours.saved_over(cody), SAVED_OVER_B),
            at_most("calls over B", ours.calls_over(cody), CALLS_OVER_B),
        ]
    }

    /// Returns the ratios with the goal for a server that processes one request at a time.
    fn serial_ratios(&self) -> Vec<Figure> {
        let figure = |what: &str, value| self.figure(what, value, "x", None);
        vec![
            figure("coverage over B", self.ours.covered_over(&self.cody)),
            figure("saved keys over B", self.ours.saved_over(&self.cody))
                .at_least(SAVED_OVER_B_SERIAL),
            figure("calls over B", self.ours.calls_over(&self.cody)),
        ]
    }
}
