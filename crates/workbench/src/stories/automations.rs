//! The page with the automations of a folder.

use base::AbsPath;
use composer_panel::agents::{
    AutomationChange, AutomationEntry, AutomationState, OccurrenceEntry, OccurrenceState, RunLink,
};
use gpui_kit::TestAppContext;

use super::Story;
use super::a11y::names;
use super::agents::open;

const TEXT: &str = "---\non: { schedule: 0 7 * * 1-5 }\n---\nRead the log.\n";

fn automation(name: &str, state: AutomationState, text: &str) -> AutomationEntry {
    AutomationEntry {
        name: name.to_owned(),
        path: AbsPath::new(format!("/p/.burin/automations/{name}.md")).expect("absolute"),
        text: text.to_owned(),
        mark: format!("mark of {name}"),
        state,
        trigger: "schedule 0 7 * * 1-5".to_owned(),
        next_ms: None,
        history: Vec::new(),
        problems: Vec::new(),
    }
}

fn failed_run() -> OccurrenceEntry {
    OccurrenceEntry {
        number: 7,
        trigger: "schedule".to_owned(),
        planned_ms: 0,
        state: OccurrenceState::Failed("no answer".to_owned()),
        link: RunLink {
            session: Some("s-7".to_owned()),
            job: None,
        },
        cost_nano: Some(20_000_000),
    }
}

fn is_named(story: &mut Story, wanted: &str) -> bool {
    let names = names(story, "the panel for agents");
    names.iter().any(|name| name.contains(wanted))
}

#[gpui_kit::test]
fn an_automation_is_read_trusted_run_and_turned_off_by_keys(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b").keys("alt-shift-a");
    story.settle();
    assert!(is_named(&mut story, "Automations"));
    story.keys("escape");
    let with_run = AutomationEntry {
        history: vec![failed_run()],
        ..automation("review", AutomationState::On, TEXT)
    };
    fake.set_automations(vec![
        with_run,
        automation("nightly", AutomationState::Off, TEXT),
    ]);
    story.keys("alt-shift-a");
    story.settle();
    for wanted in [
        "review, on, last: failed: no answer",
        "nightly, off",
        "schedule \u{b7} failed: no answer, $0.02",
        "Read the log.",
        "Run now",
        "Open latest result",
    ] {
        assert!(is_named(&mut story, wanted), "{wanted}");
    }
    story.keys("down t");
    story.settle();
    let trust = AutomationChange::Trust {
        name: "nightly".to_owned(),
        mark: "mark of nightly".to_owned(),
    };
    assert_eq!(fake.take_automation_changes(), [trust]);
    assert!(is_named(&mut story, "nightly, on"));
    story.keys("r");
    story.settle();
    assert!(is_named(&mut story, "nightly, on, last: works"));
    story.keys("x");
    story.settle();
    assert!(is_named(&mut story, "nightly, off"));
    let name = || "nightly".to_owned();
    assert_eq!(
        fake.take_automation_changes(),
        [
            AutomationChange::Run(name()),
            AutomationChange::TurnOff(name())
        ]
    );
    // The result is an ordinary session.
    story.keys("up enter");
    story.settle();
    assert_eq!(fake.opened(), ["s-7"]);
}

#[gpui_kit::test]
fn a_long_automation_is_trusted_only_after_all_of_it_was_shown(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    let long = format!("{TEXT}{}", "Read one more line.\n".repeat(40));
    fake.set_automations(vec![automation("long", AutomationState::Changed, &long)]);
    story.keys("ctrl-alt-b").keys("alt-shift-a");
    story.settle();
    assert!(is_named(
        &mut story,
        "long, changed since you trusted it, off"
    ));
    story.keys("t");
    story.settle();
    assert_eq!(fake.take_automation_changes(), []);
    story.keys("alt-o").keys("t");
    story.settle();
    assert_eq!(fake.take_automation_changes().len(), 1);
    assert!(is_named(&mut story, "long, on"));
}
