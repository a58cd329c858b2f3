//! The list of sessions, by the keyboard: states, filter, names, archive, deletion, forks, export.

use std::sync::Arc;

use agent::record::TurnEnd;
use agent::{AgentEvent, SessionCommand, Stored};
use composer_panel::actions::{
    ArchiveSession, DeleteSession, ExportSession, ForkSession, NewSession, RenameSession,
    ReviewChanges, SelectPrevious, ShowArchived, ShowSessions, TogglePanel,
};
use composer_panel::agents::{
    FakeAgents, FakeRequest, SessionAgent, SessionChange, SessionChangeKind, SessionEntry,
    SessionMark, SessionStatus,
};
use gpui_kit::test::TestQueryExt as _;
use gpui_kit::{SystemNotificationResponse, TestAppContext};

use super::a11y::names;
use super::agents::{after_permission, open, stored_session, until_permission};
use super::{Story, path};

/// The names of the rows, in order.
fn rows(story: &mut Story) -> Vec<String> {
    let names = names(story, "the panel for agents").into_iter();
    let is_row = |name: &String| name.contains("local/coder \u{b7}");
    names.filter(is_row).collect()
}

fn is_shown(story: &mut Story, sentence: &str) -> bool {
    let names = names(story, "the panel for agents");
    names.iter().any(|name| name.contains(sentence))
}

/// A panel with these sessions, whose list is shown.
fn list(sessions: &[SessionEntry], cx: &mut TestAppContext) -> (Story, FakeAgents) {
    let (mut story, fake) = open(cx);
    fake.set_sessions(sessions.to_vec());
    story.keys("ctrl-alt-b").act(ShowSessions);
    (story, fake)
}

fn two() -> [SessionEntry; 2] {
    [
        stored_session("roof", "Mend the roof"),
        stored_session("door", "Paint the door"),
    ]
}

/// The id of the session that the panel shows.
fn shown(story: &mut Story, ids: &[&str]) -> Option<String> {
    story.read(|it, cx| {
        let panel = it.agents().read(cx);
        let id = ids.iter().find(|id| panel.shows_session(id));
        id.map(ToString::to_string)
    })
}

fn with_seq(event: AgentEvent, seq: u64) -> AgentEvent {
    match event {
        AgentEvent::Recorded(stored) => AgentEvent::Recorded(Arc::new(Stored {
            seq,
            ..stored.as_ref().clone()
        })),
        event => event,
    }
}

/// A whole turn, with numbered records.
fn turn(from: u64) -> Vec<AgentEvent> {
    let events = until_permission().into_iter().chain(after_permission());
    let numbered = (from..).zip(events);
    numbered.map(|(seq, event)| with_seq(event, seq)).collect()
}

#[gpui_kit::test]
fn two_running_sessions_go_on_while_either_is_opened(cx: &mut TestAppContext) {
    let (mut story, fake) = list(&two(), cx);
    let begin = |id: &str| {
        for event in until_permission() {
            assert!(fake.send_event_of(id, event), "{id} is attached");
        }
    };
    story.keys("enter");
    story.settle();
    begin("roof");
    story.settle();
    story.act(ShowSessions).keys("down").keys("enter");
    story.settle();
    begin("door");
    story.settle();
    for (id, key) in [("roof", "up"), ("door", "down"), ("roof", "up")] {
        story.act(ShowSessions).keys(key).keys("enter");
        story.settle();
        assert_eq!(shown(&mut story, &["roof", "door"]).as_deref(), Some(id));
        // The engine sends the records again, and goes on.
        begin(id);
        story.settle();
        assert!(story.read(|it, cx| it.agents().read(cx).is_running()));
    }
    story.act(NewSession);
    assert_eq!(fake.take_commands(), Vec::<SessionCommand>::new());
    assert_eq!(fake.opened(), ["roof", "door", "roof", "door", "roof"]);
}

#[gpui_kit::test]
fn rows_show_state_place_model_cost_and_age(cx: &mut TestAppContext) {
    let mut sessions = two().to_vec();
    sessions[0].status = SessionStatus::Failed("the key is wrong".to_owned());
    sessions[0].cost_nano = Some(1_500_000_000);
    sessions[0].age_ms = 7_200_000;
    sessions[1].agent = Some(SessionAgent {
        branch: "burin/door-1".to_owned(),
        job: Some("a1".to_owned()),
    });
    sessions[1].is_unread = true;
    let (mut story, fake) = list(&sessions, cx);
    assert_eq!(
        rows(&mut story),
        [
            "Mend the roof, failed, the key is wrong \u{b7} Here \u{b7} local/coder \u{b7} $1.50 \u{b7} 2 h ago",
            "unread, Paint the door, done, burin/door-1 \u{b7} local/coder \u{b7} now",
        ]
    );
    // The session of an agent opens through the board, with the sandbox of its worktree.
    story.keys("down").keys("enter");
    story.settle();
    assert_eq!(fake.watched(), ["a1"]);
    assert!(fake.opened().is_empty());
}

#[gpui_kit::test]
fn the_list_follows_changes_while_it_is_shown(cx: &mut TestAppContext) {
    let (mut story, fake) = list(&two(), cx);
    story.keys("down");
    let mut sessions = two().to_vec();
    sessions.insert(0, stored_session("gate", "Oil the gate"));
    sessions[2].title = "Paint the blue door".to_owned();
    fake.set_sessions(sessions);
    story.settle();
    assert!(rows(&mut story)[0].starts_with("Oil the gate"));
    // The selection stays on its session.
    story.keys("enter");
    story.settle();
    assert_eq!(fake.opened(), ["door"]);
}

#[gpui_kit::test]
fn typing_filters_the_list_and_escape_clears_it(cx: &mut TestAppContext) {
    let (mut story, fake) = list(&two(), cx);
    story.input("door");
    assert_eq!(rows(&mut story).len(), 1);
    assert!(is_shown(&mut story, "1 hidden by filter"));
    story.keys("escape");
    assert_eq!(rows(&mut story).len(), 2);
    assert!(!is_shown(&mut story, "hidden by filter"));
    story.input("nothing like it");
    assert!(is_shown(&mut story, "2 hidden by filter"));
    story.keys("enter");
    assert!(fake.opened().is_empty());
}

#[gpui_kit::test]
fn a_session_is_renamed_in_its_row(cx: &mut TestAppContext) {
    let (mut story, fake) = list(&two(), cx);
    story.keys("f2").input("My roof").keys("enter");
    story.settle();
    let renamed = SessionMark::Renamed {
        title: "My roof".to_owned(),
    };
    assert_eq!(fake.take_marks(), [("roof".to_owned(), renamed)]);
    assert!(rows(&mut story)[0].starts_with("My roof, done"));
    // Escape leaves the name, and so does a blank one.
    story.keys("f2").input("Another").keys("escape");
    story.keys("f2").input("  ").keys("enter");
    story.settle();
    assert_eq!(fake.take_marks(), []);
    assert!(fake.opened().is_empty());
    // From the open session, the command turns to its row.
    story.keys("down").keys("enter");
    story.settle();
    story.act(RenameSession).input("My door").keys("enter");
    story.settle();
    assert!(rows(&mut story)[1].starts_with("My door"));
}

#[gpui_kit::test]
fn archived_sessions_are_listed_apart(cx: &mut TestAppContext) {
    let (mut story, fake) = list(&two(), cx);
    story.keys("alt-e");
    story.settle();
    assert_eq!(
        fake.take_marks(),
        [("roof".to_owned(), SessionMark::Archived)]
    );
    assert_eq!(rows(&mut story).len(), 1);
    assert!(is_shown(&mut story, "1 archived"));
    story.act(ShowArchived);
    assert!(rows(&mut story)[0].starts_with("Mend the roof"));
    story.act(ArchiveSession);
    assert_eq!(
        fake.take_marks(),
        [("roof".to_owned(), SessionMark::Unarchived)]
    );
    assert!(is_shown(&mut story, "No archived sessions"));
    story.keys("alt-s");
    assert_eq!(rows(&mut story).len(), 2);
}

#[gpui_kit::test]
fn a_deletion_is_asked_for_and_says_what_stays(cx: &mut TestAppContext) {
    let (mut story, fake) = list(&two(), cx);
    story.act(DeleteSession);
    assert!(story.is_asking());
    story.keys("enter");
    story.settle();
    assert_eq!(fake.take_marks(), [], "the safe answer has the focus");
    story.keys("alt-d");
    story.settle();
    story.keys("left").keys("enter");
    story.settle();
    assert_eq!(
        fake.take_marks(),
        [("roof".to_owned(), SessionMark::Deleted)]
    );
    assert_eq!(rows(&mut story).len(), 1);
    fake.refuse(FakeRequest::Mark, Some("this session is running"));
    story.keys("alt-d");
    story.settle();
    story.keys("left").keys("enter");
    story.settle();
    assert!(is_shown(&mut story, "this session is running"));
}

#[gpui_kit::test]
fn the_menu_of_a_row_acts_on_that_row(cx: &mut TestAppContext) {
    let (mut story, fake) = list(&two(), cx);
    let row = rows(&mut story)[1].clone();
    let at = story.cx.update(|window, _| window.find_by_label(&row));
    let at = at.bounds().center();
    story.cx.simulate_mouse_down(
        at,
        gpui_kit::MouseButton::Right,
        gpui_kit::Modifiers::default(),
    );
    story.settle();
    let item = story.cx.update(|window, _| window.find_by_label("Archive"));
    let at = item.bounds().center();
    story.cx.simulate_click(at, gpui_kit::Modifiers::default());
    story.settle();
    assert_eq!(
        fake.take_marks(),
        [("door".to_owned(), SessionMark::Archived)]
    );
}

#[gpui_kit::test]
fn a_fork_copies_the_session_up_to_the_message(cx: &mut TestAppContext) {
    let (mut story, fake) = list(&two(), cx);
    story.keys("enter");
    story.settle();
    for event in turn(0).into_iter().chain(turn(20)) {
        fake.send_event_of("roof", event);
    }
    story.settle();
    // From the last item: the whole session.
    story.act(ForkSession);
    assert_eq!(fake.opened(), ["roof", "fork"]);
    let after = fake.forks()[0].1;
    assert_eq!(shown(&mut story, &["fork"]).as_deref(), Some("fork"));
    assert!((20..30).contains(&after), "{after}");
    // From the second message of the user: the first turn, and the message returns to the prompt.
    for event in turn(0).into_iter().chain(turn(20)) {
        fake.send_event_of("fork", event);
    }
    story.settle();
    let count = story.read(|it, cx| {
        let transcript = it.agents().read(cx).transcript();
        transcript.map_or(0, |it| it.items().len())
    });
    // Each turn has a message, a text and a call.
    assert_eq!(count, 6);
    for _ in 0..3 {
        story.act(SelectPrevious);
    }
    story.keys("f");
    story.settle();
    let end_of_first = turn(0).len() as u64 - 2;
    assert_eq!(fake.forks()[1], ("fork".to_owned(), end_of_first));
    story.keys("enter");
    story.settle();
    let prompts: Vec<String> = fake
        .take_commands()
        .into_iter()
        .filter_map(|command| match command {
            SessionCommand::Prompt(prompt) => Some(prompt.text),
            _ => None,
        })
        .collect();
    assert_eq!(prompts, ["fix it"]);
}

#[gpui_kit::test]
fn an_export_opens_as_an_untitled_text(cx: &mut TestAppContext) {
    let (mut story, _fake) = list(&two(), cx);
    story.act(ExportSession);
    assert_eq!(story.text(), "# roof\n");
}

fn ended(id: &str, has_view: bool) -> SessionChange {
    SessionChange {
        id: id.to_owned(),
        folder: path("/p"),
        kind: SessionChangeKind::Ended {
            end: TurnEnd::Done,
            is_followed: false,
        },
        has_view,
    }
}

fn status(story: &mut Story) -> String {
    let names = names(story, "the status bar");
    let agents = names
        .iter()
        .find_map(|name| name.strip_prefix("The agents of this folder: "));
    agents.unwrap_or_default().to_owned()
}

#[gpui_kit::test]
fn news_of_a_session_that_is_not_shown_are_marked_until_it_is_opened(cx: &mut TestAppContext) {
    let (mut story, fake) = list(&two(), cx);
    // The engine marks a session that no view is attached to.
    let mut sessions = two().to_vec();
    sessions[0].is_unread = true;
    fake.change_session(&ended("roof", false));
    fake.set_sessions(sessions);
    story.settle();
    assert_eq!(status(&mut story), "1 unread session");
    assert!(rows(&mut story)[0].starts_with("unread, Mend the roof"));
    assert_eq!(
        notifications(&mut story),
        ["\u{201c}Mend the roof\u{201d} is done"]
    );
    story.keys("enter");
    story.settle();
    assert_eq!(status(&mut story), "");
    assert_eq!(fake.take_marks(), [("roof".to_owned(), SessionMark::Read)]);

    // The shown session is no news; behind the hidden panel it is.
    fake.change_session(&ended("roof", true));
    story.settle();
    assert_eq!(status(&mut story), "");
    assert_eq!(notifications(&mut story).len(), 1);
    story.act(TogglePanel);
    fake.change_session(&ended("roof", true));
    story.settle();
    assert_eq!(status(&mut story), "1 unread session");
    assert_eq!(notifications(&mut story).len(), 2);
    let unread = ("roof".to_owned(), SessionMark::Unread);
    assert_eq!(fake.take_marks(), [unread]);
    story.act(TogglePanel);
    assert_eq!(status(&mut story), "");
    assert_eq!(fake.take_marks(), [("roof".to_owned(), SessionMark::Read)]);
    let elsewhere = SessionChange {
        folder: path("/other"),
        ..ended("door", false)
    };
    fake.change_session(&elsewhere);
    story.settle();
    assert_eq!(status(&mut story), "");
}

#[gpui_kit::test]
fn a_session_whose_changes_are_shown_has_no_news(cx: &mut TestAppContext) {
    let (mut story, fake) = list(&two(), cx);
    story.keys("enter");
    story.settle();
    story.act(ReviewChanges);
    fake.change_session(&ended("roof", true));
    story.settle();
    assert_eq!(status(&mut story), "");
    assert!(notifications(&mut story).is_empty());
    // The changes come into sight with the panel.
    story.act(TogglePanel);
    fake.change_session(&ended("roof", true));
    story.settle();
    assert_eq!(status(&mut story), "1 unread session");
    story.act(TogglePanel);
    assert_eq!(status(&mut story), "");
    let marks = [SessionMark::Unread, SessionMark::Read];
    assert_eq!(fake.take_marks(), marks.map(|it| ("roof".to_owned(), it)));
}

#[gpui_kit::test]
fn a_click_on_a_notification_opens_its_session(cx: &mut TestAppContext) {
    let (mut story, fake) = list(&two(), cx);
    story.keys("escape");
    fake.change_session(&ended("door", false));
    story.settle();
    let delivered = story.cx.shown_system_notifications();
    let tag = delivered.last().expect("a notification").tag.clone();
    let clicked = SystemNotificationResponse {
        tag,
        action_id: None,
    };
    story.cx.simulate_system_notification_response(clicked);
    story.settle();
    assert_eq!(fake.opened(), ["door"]);
    assert_eq!(
        shown(&mut story, &["roof", "door"]).as_deref(),
        Some("door")
    );
}

fn notifications(story: &mut Story) -> Vec<String> {
    let shown = story.cx.shown_system_notifications();
    shown.iter().map(|it| it.title.to_string()).collect()
}

#[gpui_kit::test]
fn a_thousand_sessions_are_all_listed(cx: &mut TestAppContext) {
    let sessions: Vec<SessionEntry> = (0..1_000)
        .map(|ix| stored_session(&format!("s{ix}"), &format!("Task number {ix}")))
        .collect();
    let (mut story, fake) = list(&sessions, cx);
    story.input("number 999");
    assert!(is_shown(&mut story, "999 hidden by filter"));
    story.keys("enter");
    story.settle();
    assert_eq!(fake.opened(), ["s999"]);
}
