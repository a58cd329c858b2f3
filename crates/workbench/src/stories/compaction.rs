//! The card of a compaction, and its summary edited by the keyboard.

use agent::{AgentEvent, SessionCommand, SessionRecord};
use composer_panel::actions::EditSummary;
use gpui_kit::TestAppContext;

use super::Story;
use super::a11y::names;
use super::agents::recorded;
use super::context::answered;

const SUMMARY: &str = "The conversation was shortened.\n<memory>\nGoal: speed\n</memory>\n\
    <said by=\"user\" nth=\"1\">\nmake it fast\n</said nth=\"1\">\n";

fn compacted(summary: &str) -> AgentEvent {
    recorded(SessionRecord::Compacted {
        through: 1,
        reduced: vec![("c1".to_owned(), "short".to_owned())],
        dropped: Vec::new(),
        summary: summary.to_owned(),
        bytes: (250_000, 60_000),
        tokens: Some((84_000, 21_000)),
        why: "the conversation has grown long".to_owned(),
    })
}

fn is_named(story: &mut Story, wanted: &str) -> bool {
    let names = names(story, "the panel for agents");
    names.iter().any(|name| name.contains(wanted))
}

#[gpui_kit::test]
fn the_summary_of_a_compaction_is_read_and_edited(cx: &mut TestAppContext) {
    let (mut story, fake) = answered(cx);
    fake.send_event(AgentEvent::Compacting { is_over: false });
    fake.send_event(compacted(SUMMARY));
    fake.send_event(AgentEvent::Compacting { is_over: true });
    story.settle();
    let title = "Compacted: 84k \u{2192} about 21k tokens, with";
    assert!(is_named(&mut story, &format!("{title} a summary")));
    assert!(!is_named(&mut story, "Goal: speed"), "it is collapsed");
    story.keys("alt-up").keys("enter");
    story.settle();
    assert!(is_named(&mut story, "Goal: speed"));
    story.keys("s");
    story.settle();
    assert!(is_named(&mut story, "Summary of the conversation"));
    // Letters are typed, although the transcript binds some of them.
    story.keys("ctrl-a").input("fast jokes").keys("ctrl-enter");
    story.settle();
    assert_eq!(
        fake.take_commands(),
        [SessionCommand::EditSummary {
            compaction: 0,
            memory: "fast jokes".to_owned()
        }]
    );
    assert!(!is_named(&mut story, "Summary of the conversation"));
    fake.send_event(recorded(SessionRecord::SummaryEdited {
        compaction: 0,
        summary: SUMMARY.replace("Goal: speed", "fast jokes"),
    }));
    story.settle();
    assert!(is_named(&mut story, &format!("{title} your summary")));
    assert!(is_named(&mut story, "fast jokes"));
}

#[gpui_kit::test]
fn an_edit_is_cancelled_and_needs_a_summary(cx: &mut TestAppContext) {
    let (mut story, fake) = answered(cx);
    fake.send_event(compacted(""));
    story.settle();
    story.keys("alt-up").keys("s");
    story.settle();
    assert!(is_named(&mut story, "There is no summary to edit"));
    fake.send_event(compacted(SUMMARY));
    story.settle();
    story.act(EditSummary);
    assert!(is_named(&mut story, "Summary of the conversation"));
    story.input("never").keys("escape");
    story.settle();
    assert!(!is_named(&mut story, "Summary of the conversation"));
    assert_eq!(fake.take_commands(), []);
    // The prompt has the focus.
    story.input("go on").keys("enter");
    assert_eq!(fake.take_commands().len(), 1);
}

#[gpui_kit::test]
fn an_item_is_pinned_and_unpinned_by_keyboard(cx: &mut TestAppContext) {
    let (mut story, fake) = answered(cx);
    let pin = |is_pinned| SessionCommand::Pin {
        record: 0,
        is_pinned,
    };
    // A call that has not ended has no text yet.
    story.keys("alt-up").keys("alt-shift-k");
    story.settle();
    assert!(is_named(&mut story, "can be pinned: select one"));
    assert_eq!(fake.take_commands(), []);
    story.keys("k").keys("alt-shift-k");
    story.settle();
    assert_eq!(fake.take_commands(), [pin(true)]);
    fake.send_event(recorded(SessionRecord::Pinned {
        record: 0,
        by: "agent".to_owned(),
        text: "I run **the tests**.".to_owned(),
    }));
    story.settle();
    assert!(is_named(&mut story, "Pinned: sent again after each"));
    story.keys("alt-shift-k");
    story.settle();
    assert_eq!(fake.take_commands(), [pin(false)]);
    fake.send_event(recorded(SessionRecord::Unpinned { record: 0 }));
    story.settle();
    assert!(!is_named(&mut story, "Pinned: sent again after each"));
}
