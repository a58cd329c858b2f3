//! The report of rows, calls and work.

use super::*;
use crate::record::{
    ExposureRecord, JudgementRecord, KeptRecord, LossRecord, SideRecord, UnitRecord,
};

const DAY: u64 = 86_400_000;

/// The rows of a change by a call of a session: `lost` of ten tokens after a second.
fn change(session: &str, turn: u64, call: &str, lost: u32) -> [QualityRecord; 2] {
    let id = format!("{session} {call}");
    let unit = UnitRecord {
        unit: id.clone(),
        path: "a.rs".to_owned(),
        writer: "agent".to_owned(),
        session: session.to_owned(),
        turn,
        call: call.to_owned(),
        at_ms: 5 * DAY,
        inserted: 10,
        rows: 2,
        ..UnitRecord::default()
    };
    let losses = (lost > 0).then(|| LossRecord {
        after_ms: 1_000,
        fate: "reworked_by_person".to_owned(),
        tokens: lost,
    });
    let kept = KeptRecord {
        unit: id,
        milestone: "24h".to_owned(),
        after_ms: DAY,
        inserted: SideRecord {
            tokens: 10,
            kept: 10 - lost,
            moved: 0,
            losses: Vec::from_iter(losses),
        },
        ..KeptRecord::default()
    };
    [QualityRecord::Unit(unit), QualityRecord::Kept(kept)]
}

fn call(session: &str, call: &str, model: &str) -> MeasuredCall {
    MeasuredCall {
        at_ms: 5 * DAY,
        tool: "edit".to_owned(),
        model: model.to_owned(),
        outcome: "ok".to_owned(),
        session: session.to_owned(),
        call: call.to_owned(),
        ..MeasuredCall::default()
    }
}

fn judgement(session: &str, turn: u64, sign: &str) -> QualityRecord {
    QualityRecord::Judgement(JudgementRecord {
        session: session.to_owned(),
        turn,
        sign: sign.to_owned(),
        at_ms: 5 * DAY,
    })
}

fn report(records: Vec<QualityRecord>, calls: Vec<MeasuredCall>) -> QualityReport {
    let input = ReportInput {
        records,
        calls,
        now_ms: 10 * DAY,
        days: 30,
        ..ReportInput::default()
    };
    QualityReport::of(&input, &ExperimentSet::default())
}

#[test]
fn changes_belong_to_the_model_of_their_call() {
    let mut records = Vec::from(change("s", 1, "c1", 0));
    records.extend(change("s", 2, "c2", 4));
    records.extend(change("t", 1, "lost", 0));
    let calls = vec![call("s", "c1", "a/one"), call("s", "c2", "a/two")];
    let report = report(records, calls);
    let lines: Vec<(&str, u64, Option<f64>)> = report
        .kept
        .iter()
        .map(|line| (line.name.as_str(), line.units, line.kept[4].1))
        .collect();
    // A call whose measurement was lost, in a session without others, has no model.
    let expected = [
        ("a/one", 1, Some(1.0)),
        ("a/two", 1, Some(0.6)),
        ("agent", 1, Some(1.0)),
    ];
    assert_eq!(lines, expected);
    assert_eq!(
        report.kept[1].lost,
        [("reworked_by_person".to_owned(), 0.4)]
    );
    assert_eq!(report.outcomes.len(), 2);
}

#[test]
fn edits_by_hand_speak_for_turns_without_words() {
    let mut records = Vec::from(change("s", 1, "c1", 4));
    records.extend(change("s", 2, "c2", 0));
    records.extend(change("s", 3, "c3", 4));
    records.push(judgement("s", 1, ""));
    records.push(judgement("s", 2, ""));
    records.push(judgement("s", 3, "praised"));
    records.push(judgement("s", 4, "praised"));
    let found = report(records, Vec::new()).satisfaction;
    let expected = SatisfactionLine {
        satisfied: 1,
        dissatisfied: 1,
        unknown: 2,
        share: Some(0.5),
    };
    assert_eq!(found, expected);
}

#[test]
fn alarms_are_listed_latest_first() {
    let alarm = |at_ms: u64| {
        QualityRecord::Alarm(AlarmRecord {
            at_ms,
            ..AlarmRecord::default()
        })
    };
    let report = report(vec![alarm(1), alarm(3), alarm(2)], Vec::new());
    let times: Vec<u64> = report.alarms.iter().map(|alarm| alarm.at_ms).collect();
    assert_eq!(times, [3, 2, 1]);
}

#[test]
fn sessions_of_an_experiment_are_compared_by_what_is_kept() {
    let file = r#"{"experiments": [{"id": "e", "unit": "session", "metric": "kept_day",
        "variants": [{"name": "old"}, {"name": "new"}]}]}"#;
    let (experiments, problems) = ExperimentSet::parse(file);
    assert_eq!(problems, Vec::<String>::new());
    let mut input = ReportInput {
        now_ms: 10 * DAY,
        days: 30,
        ..ReportInput::default()
    };
    for ix in 0..24 {
        let session = format!("s{ix}");
        let (variant, lost) = if ix % 2 == 0 { ("old", 5) } else { ("new", 1) };
        input.records.extend(change(&session, 1, "c", lost));
        input.records.push(QualityRecord::Exposure(ExposureRecord {
            experiment: "e".to_owned(),
            subject: session.clone(),
            variant: variant.to_owned(),
            at_ms: ix,
        }));
        input.sessions.insert(session, (ix, "/work".to_owned()));
    }
    let report = QualityReport::of(&input, &experiments);
    let [line] = report.experiments.as_slice() else {
        panic!("one experiment: {report:?}");
    };
    assert_eq!((line.sessions, line.pairs), (Some((12, 12)), (12, 0, 0)));
    assert!(line.evidence > 20.0, "{line:?}");
    assert!(line.sentence.ends_with("new is better"), "{line:?}");
    assert!(line.difference.is_some_and(|it| it > 0.2), "{line:?}");
}

#[test]
fn a_report_survives_the_way_to_another_process() {
    let mut records = Vec::from(change("s", 1, "c1", 4));
    records.push(judgement("s", 1, "praised"));
    let report = report(records, vec![call("s", "c1", "a/one")]);
    let text = serde_json::to_string(&report).expect("plain data");
    let read: QualityReport = serde_json::from_str(&text).expect("the same");
    assert_eq!(read, report);
}
