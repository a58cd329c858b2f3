//! The page about quality, and reports of alarms.

use composer_panel::agents::{AlarmExample, AlarmRecord, KeptLine, QualityReport, ToolAlarm};
use gpui_kit::TestAppContext;

use super::Story;
use super::a11y::names;
use super::agents::open;

fn report() -> QualityReport {
    QualityReport {
        days: 30,
        kept: vec![KeptLine {
            name: "far/big".to_owned(),
            units: 12,
            tokens: 340,
            kept: vec![("30s".to_owned(), Some(0.97)), ("24h".to_owned(), None)],
            change: "too little is known".to_owned(),
            ..KeptLine::default()
        }],
        alarms: vec![AlarmRecord {
            tool: "edit".to_owned(),
            model: "far/big".to_owned(),
            class: "invalid_arguments".to_owned(),
            at_ms: 1_700_000_000_000,
            now: 0.5,
            usual: 0.02,
            calls: 8,
            examples: vec![AlarmExample {
                session: "s1".to_owned(),
                call: "c9".to_owned(),
                at_ms: 1_700_000_000_000,
            }],
            ..AlarmRecord::default()
        }],
        ..QualityReport::default()
    }
}

fn is_named(story: &mut Story, wanted: &str) -> bool {
    let names = names(story, "the panel for agents");
    names.iter().any(|name| name.contains(wanted))
}

#[gpui_kit::test]
fn kept_text_and_alarms_are_listed(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    fake.set_quality(report());
    story.keys("ctrl-alt-b").keys("alt-shift-i");
    story.settle();
    for wanted in [
        "far/big: 12 changes of 340 tokens kept: 30s 97 %, 24h ?; too little is known",
        "2023-11-14: edit by far/big: invalid_arguments: ",
        "? of the known turns satisfied",
    ] {
        assert!(is_named(&mut story, wanted), "{wanted}");
    }
    story.keys("escape");
    story.settle();
    assert!(!is_named(&mut story, "of the known turns satisfied"));
}

#[gpui_kit::test]
fn an_alarm_is_reported_with_a_chip_until_the_page_is_shown(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b");
    story.settle();
    fake.send_tool_alarm(&ToolAlarm {
        tool: "edit".to_owned(),
        model: "far/big".to_owned(),
        sentence: "edit by far/big: timeout: 5 of 8 calls".to_owned(),
    });
    story.settle();
    let reports = story.reports();
    assert!(
        reports
            .iter()
            .any(|report| report.starts_with("edit by far/big: timeout")),
        "{reports:?}"
    );
    assert!(is_named(&mut story, "1 alarm"));
    story.keys("alt-shift-i");
    story.settle();
    assert!(!is_named(&mut story, "1 alarm"));
}
