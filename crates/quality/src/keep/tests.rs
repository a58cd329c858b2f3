//! Figures of kept text.

use super::*;
use crate::record::LossRecord;

const MINUTE: u64 = 60_000;
const DAY: u64 = 24 * 60 * MINUTE;

/// Returns a change of ten inserted tokens that was observed for some time, with its losses.
fn history(
    session: &str,
    milestone: &str,
    after_ms: u64,
    losses: &[(u64, &str, u32)],
) -> UnitHistory {
    let lost: u32 = losses.iter().map(|it| it.2).sum();
    let losses = losses.iter().map(|(after_ms, fate, tokens)| LossRecord {
        after_ms: *after_ms,
        fate: (*fate).to_owned(),
        tokens: *tokens,
    });
    UnitHistory {
        unit: UnitRecord {
            session: session.to_owned(),
            inserted: 10,
            rows: 2,
            ..UnitRecord::default()
        },
        measured: vec![KeptRecord {
            milestone: milestone.to_owned(),
            after_ms,
            inserted: SideRecord {
                tokens: 10,
                kept: 10 - lost,
                moved: 0,
                losses: losses.collect(),
            },
            ..KeptRecord::default()
        }],
    }
}

fn figures(histories: &[UnitHistory], work: &WorkCounts) -> KeepFigures {
    KeepFigures::of(&histories.iter().collect::<Vec<_>>(), work)
}

fn share(figures: &KeepFigures, milestone: Milestone) -> Option<f64> {
    let found = figures.kept.iter().find(|(it, _)| *it == milestone);
    found.and_then(|(_, share)| *share)
}

#[test]
fn observed_changes_give_shares_and_reasons() {
    let lost = [
        (5 * MINUTE, "reworked_by_person", 3),
        (50 * MINUTE, "reverted", 2),
    ];
    let all = [
        history("s", "24h", DAY, &lost),
        history("s", "24h", DAY, &[]),
    ];
    let found = figures(&all, &WorkCounts::default());
    let rounded = |milestone| share(&found, milestone).map(|it| (it * 1000.0).round());
    assert_eq!(rounded(Milestone::TwoMinutes), Some(1000.0));
    assert_eq!(rounded(Milestone::TenMinutes), Some(850.0));
    assert_eq!(rounded(Milestone::Day), Some(750.0));
    assert_eq!(found.last_known().map(|it| it.0), Some(Milestone::Day));
    let lost: Vec<(Fate, f64)> = found
        .lost
        .iter()
        .map(|(fate, share)| (*fate, (share * 100.0).round()))
        .collect();
    assert_eq!(
        lost,
        [(Fate::ReworkedByPerson, 15.0), (Fate::Reverted, 10.0)]
    );
}

#[test]
fn closed_changes_never_count_as_lost() {
    let mut all = vec![history("s", "24h", DAY, &[(MINUTE, "reverted", 5)])];
    all.extend((0..9).map(|_| history("s", "closed", 30_000, &[])));
    let found = figures(&all, &WorkCounts::default());
    // Ten times ten tokens are seen for half a minute, ten for longer; half of those are lost.
    assert_eq!(share(&found, Milestone::HalfMinute), Some(1.0));
    assert_eq!(share(&found, Milestone::Day), Some(0.5));
    // Without anything that was seen longer, the share is unknown, not zero.
    let found = figures(&all[1..], &WorkCounts::default());
    assert_eq!(share(&found, Milestone::HalfMinute), Some(1.0));
    assert_eq!(share(&found, Milestone::TwoMinutes), None);
    assert_eq!(found.last_known(), Some((Milestone::HalfMinute, 1.0)));
    // What Git took away is out of sight from then on.
    let away = [history("s", "24h", DAY, &[(MINUTE, "checked_out", 10)])];
    let found = figures(&away, &WorkCounts::default());
    assert_eq!(share(&found, Milestone::HalfMinute), Some(1.0));
    assert_eq!(share(&found, Milestone::Day), None);
    assert!(found.lost.is_empty());
}

#[test]
fn unmeasured_changes_have_no_share() {
    let mut unmeasured = history("s", "24h", DAY, &[]);
    unmeasured.measured.clear();
    let found = figures(&[unmeasured], &WorkCounts::default());
    assert_eq!(
        (found.units, found.tokens, found.last_known()),
        (1, 10, None)
    );
    assert_eq!(
        (found.at_commit, found.edits_per_turn, found.error_share),
        (None, None, None)
    );
}

#[test]
fn commits_are_measured_beside_the_times() {
    let mut one = history("s", "24h", DAY, &[]);
    let mut commit = history("s", "commit", MINUTE, &[(0, "reworked_by_person", 4)]).measured;
    one.measured.append(&mut commit);
    let found = figures(&[one], &WorkCounts::default());
    assert_eq!((found.at_commit, found.at_landing), (Some(0.6), None));
    assert_eq!(share(&found, Milestone::Day), Some(1.0));
}

#[test]
fn shares_of_one_change_follow_from_its_last_measurement() {
    let lost = [
        (5 * MINUTE, "reworked_by_person", 3),
        (20 * MINUTE, "checked_out", 5),
    ];
    let one = history("s", "1h", 60 * MINUTE, &lost);
    assert_eq!(one.kept_share_at(Milestone::TwoMinutes), Some(1.0));
    assert_eq!(one.kept_share_at(Milestone::TenMinutes), Some(0.7));
    // Half of the tokens are out of sight by then, and three of the others are lost.
    assert_eq!(one.kept_share_at(Milestone::Hour), Some(0.4));
    assert_eq!(one.kept_share_at(Milestone::Day), None);
    assert_eq!(one.kept_share_at(Milestone::Commit), None);
}

fn many(sessions: usize, lost: u32) -> Vec<UnitHistory> {
    let of = |ix: usize| {
        // Sessions differ by a token, so that the interval has a width.
        let lost = lost + u32::from(ix.is_multiple_of(2));
        history(&format!("s{ix}"), "24h", DAY, &[(MINUTE, "reverted", lost)])
    };
    (0..sessions).map(of).collect()
}

#[test]
fn intervals_need_sessions_and_contain_the_share() {
    let work = WorkCounts::default();
    assert_eq!(figures(&many(7, 3), &work).interval, None);
    let found = figures(&many(40, 3), &work);
    let (interval, (_, share)) = (
        found.interval.expect("many"),
        found.last_known().expect("a share"),
    );
    assert!(
        interval.low <= share && share <= interval.high,
        "{interval:?} {share}"
    );
    assert!(interval.high - interval.low < 0.1, "{interval:?}");
    // Many changes of one session are one observation.
    let of_one: Vec<UnitHistory> = (0..40).map(|_| history("s", "24h", DAY, &[])).collect();
    assert_eq!(figures(&of_one, &work).interval, None);
}

#[test]
fn a_higher_share_of_less_work_is_not_better() {
    let usual = WorkCounts {
        turns: 20,
        calls: 100,
        failed_calls: 5,
        questions: 4,
        output_tokens: 4_000,
    };
    let before = figures(&many(40, 5), &usual);
    let check = |work: WorkCounts, expected: &str| {
        let change = before.compare(&figures(&many(40, 1), &work));
        match change {
            KeepChange::NotComparable(reason) => assert!(reason.starts_with(expected), "{reason}"),
            other => assert_eq!(format!("{other:?}"), expected),
        }
    };
    check(usual, "Better");
    check(
        WorkCounts { turns: 40, ..usual },
        "tokens in a turn changed from 20.00 to 10.00",
    );
    check(
        WorkCounts {
            questions: 8,
            ..usual
        },
        "questions in a turn",
    );
    check(
        WorkCounts {
            failed_calls: 20,
            ..usual
        },
        "the share of failed calls",
    );
    check(
        WorkCounts {
            output_tokens: 20_000,
            ..usual
        },
        "tokens written for a kept row",
    );
    let worse = figures(&many(40, 8), &usual);
    assert_eq!(before.compare(&worse), KeepChange::Worse);
    assert_eq!(before.compare(&before.clone()), KeepChange::Undecided);
    assert_eq!(
        before.compare(&figures(&many(3, 1), &usual)),
        KeepChange::Unknown
    );
}

#[test]
fn rows_are_joined_by_their_unit() {
    let one = history("s", "24h", DAY, &[]);
    let named = |name: &str| UnitRecord {
        unit: name.to_owned(),
        ..one.unit.clone()
    };
    let kept = |name: &str| KeptRecord {
        unit: name.to_owned(),
        ..one.measured[0].clone()
    };
    let joined = histories([
        QualityRecord::Kept(kept("b")),
        QualityRecord::Unit(named("a")),
        QualityRecord::Unit(named("b")),
        QualityRecord::Unit(named("a")),
        QualityRecord::Kept(kept("gone")),
    ]);
    let lines: Vec<(&str, usize)> = joined
        .iter()
        .map(|it| (it.unit.unit.as_str(), it.measured.len()))
        .collect();
    assert_eq!(lines, [("a", 0), ("b", 1)]);
}
