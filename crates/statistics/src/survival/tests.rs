//! Curves of survival and of competing risks.

use super::{IncidenceCurve, SurvivalExit};
use crate::SplitMix;

fn exit(after: u64, cause: Option<usize>) -> SurvivalExit {
    SurvivalExit {
        after,
        weight: 1.0,
        cause,
    }
}

fn near(found: Option<f64>, wanted: f64) {
    let found = found.expect("a known share");
    assert!((found - wanted).abs() < 1e-9, "{found} instead of {wanted}");
}

#[test]
fn one_cause_gives_the_estimate_of_kaplan_and_meier() {
    // Remission of 21 patients with 6-mercaptopurine (Freireich et al., 1963), in weeks.
    let failed = [6, 6, 6, 7, 10, 13, 16, 22, 23];
    let censored = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35];
    let exits = failed.iter().map(|after| exit(*after, Some(0)));
    let exits = exits.chain(censored.iter().map(|after| exit(*after, None)));
    let curve = IncidenceCurve::of(&exits.collect::<Vec<_>>(), 1);
    let published = [
        (5, 1.0),
        (6, 0.8571),
        (7, 0.8067),
        (10, 0.7529),
        (13, 0.6902),
        (16, 0.6275),
        (22, 0.5378),
        (23, 0.4482),
        (35, 0.4482),
    ];
    for (after, wanted) in published {
        let found = curve.survival_at(after).expect("within the study");
        assert!((found - wanted).abs() < 1e-4, "week {after}: {found}");
    }
    assert_eq!(
        curve.survival_at(36),
        None,
        "no patient was observed longer"
    );
}

#[test]
fn without_censoring_shares_are_counted() {
    let mut random = SplitMix::new(1);
    let exits: Vec<SurvivalExit> = (0..500)
        .map(|_| {
            let after = 1 + random.next_below(50) as u64;
            exit(after, Some(random.next_below(3)))
        })
        .collect();
    let curve = IncidenceCurve::of(&exits, 3);
    for after in 0..60 {
        let failed = |cause: usize| {
            let count = exits
                .iter()
                .filter(|it| it.after <= after && it.cause == Some(cause));
            count.count() as f64 / 500.0
        };
        let all: f64 = (0..3).map(failed).sum();
        near(curve.survival_at(after), 1.0 - all);
        (0..3).for_each(|cause| near(curve.incidence_at(cause, after), failed(cause)));
    }
}

#[test]
fn weights_count_like_copies() {
    let copies: Vec<SurvivalExit> = [
        (3, Some(0)),
        (3, Some(0)),
        (5, None),
        (7, Some(1)),
        (9, None),
    ]
    .map(|(after, cause)| exit(after, cause))
    .to_vec();
    let mut weighted = copies[1..].to_vec();
    weighted[0].weight = 2.0;
    assert_eq!(
        IncidenceCurve::of(&copies, 2),
        IncidenceCurve::of(&weighted, 2)
    );
}

#[test]
fn nothing_observed_is_unknown() {
    let nothing = IncidenceCurve::of(&[], 1);
    assert_eq!(nothing.survival_at(0), None);
    assert_eq!(nothing.incidence_at(0, 0), None);
    let censored = IncidenceCurve::of(&[exit(10, None)], 1);
    near(censored.survival_at(10), 1.0);
    assert_eq!(censored.survival_at(11), None);
    let failed = IncidenceCurve::of(&[exit(10, Some(0))], 1);
    near(failed.survival_at(1000), 0.0);
    near(failed.incidence_at(0, 1000), 1.0);
    assert_eq!(failed.incidence_at(1, 10), None);
}

/// Two causes with constant rates, observed for a random time: the estimate finds the shares that the rates
/// imply, while counting censored items as failed, or leaving them out, is far off.
#[test]
fn censoring_does_not_bias_the_estimate() {
    let mut random = SplitMix::new(20);
    let rates = [0.004, 0.001];
    let all: f64 = rates.iter().sum();
    let mut exits = Vec::new();
    for _ in 0..20_000 {
        let lifetime = -(1.0 - random.next_share()).ln() / all;
        let observed = 600.0 * random.next_share();
        let cause = usize::from(random.next_share() > rates[0] / all);
        let is_failure = lifetime < observed;
        exits.push(exit(
            lifetime.min(observed) as u64,
            is_failure.then_some(cause),
        ));
    }
    let curve = IncidenceCurve::of(&exits, 2);
    let at = 300;
    let present = (-all * f64::from(at)).exp();
    let found = curve.survival_at(at as u64).expect("observed");
    assert!(
        (found - present).abs() < 0.01,
        "{found} instead of {present}"
    );
    for (cause, rate) in rates.iter().enumerate() {
        let wanted = rate / all * (1.0 - present);
        let found = curve.incidence_at(cause, at as u64).expect("observed");
        assert!((found - wanted).abs() < 0.01, "{found} instead of {wanted}");
    }
    let as_zeros = exits.iter().filter(|it| it.after > at as u64).count() as f64 / 20_000.0;
    assert!(
        (as_zeros - present).abs() > 0.1,
        "zeros would be wrong: {as_zeros}"
    );
}
