//! Statistics and alerts.

use super::{DAY, HOUR, MeasuredCall, calls};

fn measured(at_ms: u64, outcome: &str, count: usize) -> Vec<MeasuredCall> {
    let one = MeasuredCall {
        at_ms,
        millis: count as f64,
        tool: "edit".to_owned(),
        model: "a/b".to_owned(),
        outcome: outcome.to_owned(),
        ..MeasuredCall::default()
    };
    vec![one; count]
}

const NOW: u64 = 100 * DAY;

/// Returns the outcomes that alert, with a baseline three days ago and new calls an hour ago.
fn check(usual: &[(&str, usize)], new: &[(&str, usize)], alerting: &[&str]) {
    let mut all = Vec::new();
    for (outcome, count) in usual {
        all.extend(measured(NOW - 3 * DAY, outcome, *count));
    }
    for (outcome, count) in new {
        all.extend(measured(NOW - HOUR / 2, outcome, *count));
    }
    let (_, alerts) = calls(&all, NOW);
    let outcomes: Vec<&str> = alerts.iter().map(|alert| alert.outcome.as_str()).collect();
    assert_eq!(outcomes, alerting, "{usual:?}, {new:?}: {alerts:?}");
}

#[test]
fn more_than_twice_the_usual_alerts() {
    let usual = [("ok", 950), ("timeout", 50)];
    check(&usual, &[("ok", 95), ("timeout", 5)], &[]);
    check(&usual, &[("ok", 90), ("timeout", 10)], &[]);
    check(&usual, &[("ok", 70), ("timeout", 30)], &["timeout"]);
    // Too few calls for an alert.
    check(&usual, &[("ok", 5), ("timeout", 14)], &[]);
    check(&usual, &[("ok", 5), ("timeout", 15)], &["timeout"]);
    // A failure rate that was already high does not alert.
    check(&[("ok", 40), ("timeout", 60)], &[("timeout", 50)], &[]);
}

#[test]
fn unknown_outcomes_alert_at_three_an_hour() {
    check(&[], &[("ok", 500), ("unknown", 2)], &[]);
    check(&[], &[("ok", 500), ("unknown", 3)], &["unknown"]);
    check(&[("unknown", 9)], &[("ok", 500)], &[]);
}

#[test]
fn call_weight_halves_every_week() {
    let at = |age| {
        let mut all = measured(NOW - age, "timeout", 100);
        all.extend(measured(NOW - 2 * DAY, "ok", 100));
        let (lines, _) = calls(&all, NOW);
        lines[0].baselines["timeout"]
    };
    let (recent, old) = (at(2 * DAY), at(9 * DAY));
    assert!((recent - 0.5).abs() < 0.01, "{recent}");
    assert!((old - 1.0 / 3.0).abs() < 0.01, "{old}");
}

#[test]
fn lines_count_and_time_calls() {
    let mut all = measured(NOW - HOUR, "ok", 3);
    all.extend(measured(NOW - HOUR, "timeout", 1));
    let (lines, _) = calls(&all, NOW);
    assert_eq!(
        (lines.len(), lines[0].calls, lines[0].outcomes["ok"]),
        (1, 4, 3)
    );
    assert_eq!(lines[0].latency, (3.0, 3.0));
}
