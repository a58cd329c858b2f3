//! The pipeline of Tab with a model: time from a keystroke to its request on the wire, known suggestions in the frame of
//! the keystroke, stale suggestions, and keystrokes before which the right text is shown, replaying real typing against
//! a model that knows the future.
//!
//! The replay simulates discrete events with the engine of the product; it does not depend on the speed of the computer.

mod future;
mod keys;
mod ours;
mod peers;
mod stale;
mod wire;

use crate::figure::Figure;
use future::Future;
use keys::Session;
use peers::Policy;

/// Probabilities that a response of the model is right.
const ACCURACIES: [f64; 3] = [1.0, 0.6, 0.3];
/// Minimum ratio of our coverage to a peer's, and maximum ratio of our requests to those of debounce and cancel.
const COVERAGE: f64 = 1.5;
const CALLS: f64 = 0.5;

/// Counts of a policy over one session.
#[derive(Clone, Copy, Debug, Default)]
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
}

impl Score {
    fn coverage(&self) -> f64 {
        self.covered as f64 / self.keys.max(1) as f64
    }

    fn per_thousand(&self, count: usize) -> f64 {
        count as f64 * 1_000.0 / self.keys.max(1) as f64
    }
}

/// Measures all figures.
pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    eprintln!("tab: key to wire …");
    figures.extend(wire::run()?);
    eprintln!("tab: frames of keys …");
    figures.extend(crate::typing::of_window("workbench", "tab")?);
    eprintln!("tab: interleavings …");
    figures.push(stale::run());
    for name in ["rustcode", "sveltecomponent"] {
        let session = Session::read(name)?;
        for accuracy in ACCURACIES {
            eprintln!("tab: {name}, accuracy {accuracy} …");
            figures.extend(compare(&session, accuracy));
        }
    }
    Ok(figures)
}

fn compare(session: &Session, accuracy: f64) -> Vec<Figure> {
    let future = Future::new(session, accuracy);
    let ours = ours::replay(session, &future);
    let cancel = peers::replay(session, &future, Policy::DebounceCancel);
    let through = peers::replay(session, &future, Policy::DebounceCancelTyping);
    let cody = peers::replay(session, &future, Policy::Cody);
    let label = |what: &str| format!("{}, accuracy {accuracy}: {what}", session.name);
    let n = ours.keys;
    let alone = |what: &str, value: f64, unit| Figure::alone(label(what), value, unit, n, None);
    let percent = |score: &Score| score.coverage() * 100.0;
    let ratio = |peer: &Score| ours.coverage() / peer.coverage().max(1e-9);
    let calls = ours.calls as f64 / cancel.calls.max(1) as f64;
    vec![
        alone("coverage", percent(&ours), "%"),
        alone(
            "coverage of debounce 75 ms + cancel (A)",
            percent(&cancel),
            "%",
        ),
        alone("coverage of A that follows typing", percent(&through), "%"),
        alone(
            "coverage of debounce + LRU + recycle (B)",
            percent(&cody),
            "%",
        ),
        alone("coverage over A", ratio(&cancel), "x").at_least(COVERAGE),
        alone("coverage over A that follows typing", ratio(&through), "x"),
        alone("coverage over B", ratio(&cody), "x"),
        Figure::alone(label("calls over A"), calls, "x", n, Some(CALLS)),
        alone("calls per 1,000 keys", ours.per_thousand(ours.calls), ""),
        alone(
            "calls of A per 1,000 keys",
            cancel.per_thousand(cancel.calls),
            "",
        ),
        alone(
            "calls of B per 1,000 keys",
            cody.per_thousand(cody.calls),
            "",
        ),
        alone("saved keys per 1,000", ours.per_thousand(ours.saved), ""),
        alone(
            "saved keys of A per 1,000",
            cancel.per_thousand(cancel.saved),
            "",
        ),
        alone(
            "saved keys of B per 1,000",
            cody.per_thousand(cody.saved),
            "",
        ),
        Figure::alone(
            label("stale suggestions shown"),
            ours.stale as f64,
            "",
            n,
            Some(0.0),
        ),
    ]
}
