//! False alarms, found changes, and the records of alarms.

use statistics::SplitMix;

use super::{CallSeries, alarms};
use crate::outcomes::{Baseline, DAY, MeasuredCall};
use crate::record::{AlarmExample, AlarmRecord};

/// Number of simulated series of each kind: `BURIN_SERIES`, which the soak sets, or a few.
fn runs() -> u64 {
    let count = std::env::var("BURIN_SERIES").ok();
    count.and_then(|count| count.parse().ok()).unwrap_or(60)
}

const HISTORY: u64 = 28 * DAY;
const QUIET: u64 = 90 * DAY;
const WEEK: u64 = 7 * DAY;

fn call(at_ms: u64, is_failure: bool, millis: f64) -> MeasuredCall {
    MeasuredCall {
        at_ms,
        millis,
        tool: "edit".to_owned(),
        model: "a/b".to_owned(),
        outcome: if is_failure { "timeout" } else { "ok" }.to_owned(),
        session: "s".to_owned(),
        call: format!("c{at_ms}"),
    }
}

/// Makes calls at random times from `start` to `end`, with a share of failures.
fn calls(
    random: &mut SplitMix,
    (start, end): (u64, u64),
    per_day: f64,
    share: f64,
) -> Vec<MeasuredCall> {
    let mut calls = Vec::new();
    let mut at = start as f64;
    loop {
        at += -(1.0 - random.next_share()).ln() * DAY as f64 / per_day;
        if at >= end as f64 {
            return calls;
        }
        calls.push(call(at as u64, random.next_share() < share, 100.0));
    }
}

/// Simulates series: the mean number of false alarms in ninety quiet days, the share of threefold rises that are found
/// within a week, and the median days until then.
fn simulate(usual: f64, per_day: f64) -> (f64, f64, f64) {
    let (mut false_alarms, mut delays) = (0, Vec::new());
    for run in 0..runs() {
        let mut random = SplitMix::new(run * 7919 + (usual * 1e4) as u64 + per_day as u64);
        let end = HISTORY + QUIET;
        let quiet = calls(&mut random, (0, end), per_day, usual);
        let mut series = CallSeries::default();
        false_alarms += quiet
            .iter()
            .flat_map(|call| series.add(call))
            .filter(|alarm| alarm.at_ms >= HISTORY)
            .count();
        let mut rising = calls(&mut random, (0, HISTORY), per_day, usual);
        rising.extend(calls(
            &mut random,
            (HISTORY, HISTORY + WEEK),
            per_day,
            3.0 * usual,
        ));
        let found = alarms(&rising)
            .into_iter()
            .find(|alarm| alarm.at_ms >= HISTORY);
        delays.extend(found.map(|alarm| (alarm.at_ms - HISTORY) as f64 / DAY as f64));
    }
    delays.sort_by(f64::total_cmp);
    let median = delays.get(delays.len() / 2).copied().unwrap_or(f64::NAN);
    let runs = runs() as f64;
    (
        f64::from(false_alarms as u32) / runs,
        delays.len() as f64 / runs,
        median,
    )
}

#[test]
fn series_raise_about_one_false_alarm_in_a_quarter() {
    let mut all = Vec::new();
    for usual in [0.005, 0.02, 0.05, 0.15] {
        for per_day in [10.0, 40.0, 200.0] {
            let (false_alarms, found, days) = simulate(usual, per_day);
            println!(
                "{usual} {per_day}: {false_alarms:.2} false alarms, {:.0} % found, {days:.1} days",
                100.0 * found
            );
            // One alarm is the goal; the mean of the simulated series varies by about 0.15.
            assert!(false_alarms <= 1.15, "{usual} {per_day}: {false_alarms}");
            if usual >= 0.02 && per_day >= 40.0 {
                assert!(found >= 0.8, "{usual} {per_day}: {found}");
            }
            all.push(false_alarms);
        }
    }
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    assert!(mean <= 1.0, "{mean}");
}

/// The rule about the last day cannot see a rise where calls are few, and the sums can.
#[test]
fn sums_find_rises_that_the_rule_of_the_day_misses() {
    let (mut by_rule, mut by_sum) = (0, 0);
    for run in 0..runs() {
        let mut random = SplitMix::new(run + 5_000_000);
        let mut rising = calls(&mut random, (0, HISTORY), 10.0, 0.05);
        rising.extend(calls(&mut random, (HISTORY, HISTORY + WEEK), 10.0, 0.15));
        by_sum += u64::from(alarms(&rising).iter().any(|alarm| alarm.at_ms >= HISTORY));
        // The rule is looked at every six hours.
        let looks = (1..=28).map(|look| HISTORY + look * DAY / 4);
        let is_seen = |now: u64| {
            let mut baseline = Baseline::default();
            for call in rising.iter().filter(|call| call.at_ms <= now) {
                baseline.add(now - call.at_ms, call.outcome == "timeout");
            }
            baseline.alarm().is_some()
        };
        by_rule += u64::from(looks.into_iter().any(is_seen));
    }
    let share = |count: u64| count as f64 / runs() as f64;
    assert!(share(by_rule) <= 0.1, "{}", share(by_rule));
    assert!(share(by_sum) >= 0.6, "{}", share(by_sum));
}

/// Durations with a long tail, and now and then one that hangs.
fn duration(random: &mut SplitMix, factor: f64) -> f64 {
    let normal: f64 = (0..12).map(|_| random.next_share()).sum::<f64>() - 6.0;
    let hang = if random.next_share() < 0.01 {
        30.0
    } else {
        1.0
    };
    200.0 * factor * hang * (0.6 * normal).exp()
}

#[test]
fn slower_tools_are_found_with_few_false_alarms() {
    for per_day in [10.0, 40.0, 200.0] {
        let (mut false_alarms, mut found) = (0, 0);
        for run in 0..runs() {
            let mut random = SplitMix::new(run + 9_000_000);
            let timed = |random: &mut SplitMix, period: (u64, u64), factor: f64| {
                let mut calls = calls(random, period, per_day, 0.0);
                calls
                    .iter_mut()
                    .for_each(|call| call.millis = duration(random, factor));
                calls
            };
            let quiet = timed(&mut random, (0, HISTORY + QUIET), 1.0);
            false_alarms += alarms(&quiet)
                .iter()
                .filter(|it| it.at_ms >= HISTORY)
                .count();
            let mut slower = timed(&mut random, (0, HISTORY), 1.0);
            slower.extend(timed(&mut random, (HISTORY, HISTORY + WEEK), 2.0));
            let alarm = alarms(&slower).into_iter().find(|it| it.at_ms >= HISTORY);
            found += usize::from(
                alarm.is_some_and(|it| it.class == "slower" && it.now > 1.4 * it.usual),
            );
        }
        let (false_alarms, found) = (
            false_alarms as f64 / runs() as f64,
            found as f64 / runs() as f64,
        );
        println!("{per_day} a day: {false_alarms:.2} false alarms, {found:.2} found");
        assert!(false_alarms <= 1.15, "{per_day}: {false_alarms}");
        assert!(found >= 0.9, "{per_day}: {found}");
    }
}

#[test]
fn an_alarm_names_its_climb_once_with_examples() {
    let hour = DAY / 24;
    let mut past: Vec<MeasuredCall> = (0..400)
        .map(|ix| call(ix * hour, ix % 50 == 0, 100.0))
        .collect();
    past.extend((400..430).map(|ix| call(ix * hour, ix % 2 == 0, 100.0)));
    let found = alarms(&past);
    let [alarm] = found.as_slice() else {
        panic!("one climb, one alarm: {found:?}");
    };
    assert_eq!(
        (
            alarm.tool.as_str(),
            alarm.model.as_str(),
            alarm.class.as_str()
        ),
        ("edit", "a/b", "timeout")
    );
    assert_eq!(alarm.since_ms, 400 * hour);
    let example = |ix: u64| AlarmExample {
        session: "s".to_owned(),
        call: format!("c{}", ix * hour),
        at_ms: ix * hour,
    };
    let last = alarm.at_ms / hour;
    assert!(last <= 408, "{last}");
    assert_eq!(alarm.examples.last(), Some(&example(last)));
    assert!(!alarm.examples.is_empty() && alarm.examples.len() <= 3);
    assert!(
        alarm.sum >= alarm.bound && alarm.usual < 0.05 && alarm.now > 0.4,
        "{alarm:?}"
    );
    assert!(
        alarm.sentence().starts_with("timeout: "),
        "{}",
        alarm.sentence()
    );
    // Reading the calls again finds the same alarm, in any order.
    past.reverse();
    assert_eq!(alarms(&past), found);
}

#[test]
fn a_new_model_starts_from_the_shares_of_the_others() {
    let hour = DAY / 24;
    let by = |model: &str, calls: Vec<MeasuredCall>| {
        let renamed = calls.into_iter().map(|call| MeasuredCall {
            model: model.to_owned(),
            ..call
        });
        renamed.collect::<Vec<_>>()
    };
    let failing = |start: u64, count: u64, every: u64| -> Vec<MeasuredCall> {
        (start..start + count)
            .map(|ix| call(ix * hour, ix % every == 0, 100.0))
            .collect()
    };
    // The tool fails in a fifth of all calls with any model; a new model is no exception.
    let mut past = by("a/old", failing(0, 600, 5));
    past.extend(by("a/new", failing(600, 60, 5)));
    assert_eq!(alarms(&past), []);
    // With others it hardly ever fails, so that a few failures of the new one are enough.
    let mut past = by("a/old", failing(0, 600, 100));
    past.extend(by("a/new", failing(600, 40, 5)));
    let found = alarms(&past);
    assert!(
        found.iter().all(|alarm| alarm.model == "a/new"),
        "{found:?}"
    );
    assert_eq!(found.len(), 1);
}

#[test]
fn three_unknown_outcomes_in_an_hour_are_an_alarm() {
    let unknown = |minute: u64| MeasuredCall {
        outcome: "unknown".to_owned(),
        ..call(minute * 60_000, false, 100.0)
    };
    let count = |minutes: &[u64]| {
        let calls: Vec<MeasuredCall> = minutes.iter().map(|minute| unknown(*minute)).collect();
        alarms(&calls).len()
    };
    assert_eq!(count(&[0, 20]), 0);
    assert_eq!(count(&[0, 20, 61]), 0);
    assert_eq!(count(&[0, 20, 59]), 1);
    assert_eq!(count(&[0, 20, 59, 60, 70, 80]), 1);
    let calls: Vec<MeasuredCall> = [0, 1, 2].map(unknown).to_vec();
    let [AlarmRecord { examples, .. }] = &alarms(&calls)[..] else {
        panic!("an alarm");
    };
    assert_eq!(examples.len(), 3);
}

#[test]
fn calls_that_did_not_run_are_not_faster() {
    let hour = DAY / 24;
    let mut past: Vec<MeasuredCall> = (0..400).map(|ix| call(ix * hour, false, 100.0)).collect();
    past.extend((400..410).map(|ix| MeasuredCall {
        outcome: "user_aborted".to_owned(),
        ..call(ix * hour, false, 0.0)
    }));
    let found = alarms(&past);
    assert!(found.iter().all(|it| it.class != "faster"), "{found:?}");
    let waiting = |ix: u64| MeasuredCall {
        tool: "ask_user".to_owned(),
        ..call(ix * hour, false, if ix < 400 { 10.0 } else { 10_000_000.0 })
    };
    let past: Vec<MeasuredCall> = (0..410).map(waiting).collect();
    assert_eq!(alarms(&past), []);
}
