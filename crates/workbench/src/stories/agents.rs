//! The panel for agents, by the keyboard alone.

use std::sync::Arc;

use agent::record::{SessionMode, StoredContent, StoredPart, StoredUsage, TurnEnd};
use agent::session::UserPrompt;
use agent::tool::{ToolClass, ToolDisplay};
use agent::user_prompts::{PermissionDecision, UserQuestion};
use agent::{AgentEvent, CallOutcome, SessionCommand, SessionRecord, Stored};
use composer_panel::actions::{ChooseModel, DistrustFolder, TogglePanel, TrustFolder};
use composer_panel::agents::{
    FakeAgents, FolderTrust, ModelEntry, ModelList, PendingHooks, PendingMcpServer, SessionEntry,
    SessionStatus,
};
use gpui_kit::test::TestQueryExt as _;
use gpui_kit::{App, TestAppContext, Window, px, size};

use super::a11y::names;
use super::{Story, path, project, services, start_with};
use crate::windows::OpenRequest;

pub(super) fn open(cx: &mut TestAppContext) -> (Story, FakeAgents) {
    open_with(&[], cx)
}

/// A window whose engines found these problems at their start.
pub(super) fn open_with(problems: &[&str], cx: &mut TestAppContext) -> (Story, FakeAgents) {
    let line = |id: &str, name: &str| ModelEntry {
        id: id.to_owned(),
        name: name.to_owned(),
        about: String::new(),
        traits: None,
    };
    open_with_models(
        ModelList {
            models: vec![line("local/coder", "Coder"), line("demo", "Demo model")],
            default: "local/coder".to_owned(),
            advice: String::new(),
            problems: problems.iter().map(ToString::to_string).collect(),
        },
        cx,
    )
}

/// A window whose engines have these models.
pub(super) fn open_with_models(models: ModelList, cx: &mut TestAppContext) -> (Story, FakeAgents) {
    let fake = FakeAgents::new(models, vec![stored_session("old", "tidy the tests")]);
    let files = project();
    let services = crate::Services {
        agents: Some(Arc::new(fake.clone())),
        ..services(&files)
    };
    let request = OpenRequest {
        folders: vec![path("/p")],
        files: Vec::new(),
    };
    let mut stories = start_with(services, &files, request, cx);
    let mut story = stories.pop().expect("a window");
    story.settle();
    (story, fake)
}

/// A session of the folder itself that is done.
pub(super) fn stored_session(id: &str, title: &str) -> SessionEntry {
    SessionEntry {
        id: id.to_owned(),
        title: title.to_owned(),
        age_ms: 0,
        model: "local/coder".to_owned(),
        cost_nano: None,
        status: SessionStatus::Done,
        agent: None,
        is_archived: false,
        is_unread: false,
    }
}

pub(super) fn recorded(record: SessionRecord) -> AgentEvent {
    AgentEvent::Recorded(Arc::new(Stored {
        seq: 0,
        at_ms: 0,
        record,
    }))
}

pub(super) fn text(text: &str) -> StoredPart {
    StoredPart {
        content: StoredContent::Text {
            text: text.to_owned(),
        },
        opaque: None,
    }
}

/// A turn up to the moment at which a call waits for permission.
pub(super) fn until_permission() -> Vec<AgentEvent> {
    let call = StoredPart {
        content: StoredContent::Call {
            id: "c1".to_owned(),
            name: "exec_command".to_owned(),
            arguments: "{}".to_owned(),
        },
        opaque: None,
    };
    vec![
        recorded(SessionRecord::Prompted {
            turn: 1,
            parts: vec![text("fix it")],
            is_steering: false,
        }),
        recorded(SessionRecord::Asked {
            turn: 1,
            step: 1,
            model: "local/coder".to_owned(),
            prompt: String::new(),
            bytes: 0,
            same_bytes: 0,
        }),
        AgentEvent::Text("I run ".to_owned()),
        recorded(SessionRecord::Answered {
            turn: 1,
            step: 1,
            model: "local/coder".to_owned(),
            parts: vec![text("I run **the tests**."), call],
            usage: StoredUsage::default(),
            cost_nano: None,
            stop: "tool_use".to_owned(),
        }),
        recorded(SessionRecord::LeaveAsked {
            call: "c1".to_owned(),
            title: "cargo test".to_owned(),
            details: "cargo test".to_owned(),
            reason: "it runs a program".to_owned(),
            rules: vec!["Bash(cargo test:*)".to_owned()],
        }),
    ]
}

pub(super) fn after_permission() -> Vec<AgentEvent> {
    vec![
        recorded(SessionRecord::LeaveGiven {
            call: "c1".to_owned(),
            decision: PermissionDecision::Once,
        }),
        recorded(SessionRecord::CallBegan {
            turn: 1,
            call: "c1".to_owned(),
            tool: "exec_command".to_owned(),
            name: "exec_command".to_owned(),
            class: ToolClass::Execute,
            title: "cargo test".to_owned(),
            input: serde_json::Value::Null,
        }),
        recorded(SessionRecord::CallEnded {
            turn: 1,
            call: "c1".to_owned(),
            tool: "exec_command".to_owned(),
            outcome: CallOutcome::Ok,
            detail: None,
            content: vec![text("ok")],
            shown: vec![
                ToolDisplay::Command {
                    command: "cargo test".to_owned(),
                    code: Some(0),
                    output: "2 passed".to_owned(),
                },
                ToolDisplay::Diff {
                    path: "src/main.rs".to_owned(),
                    old: Some("a\nb\n".to_owned()),
                    new: Some("a\nc\n".to_owned()),
                },
            ],
            millis: 1_200,
        }),
        recorded(SessionRecord::TurnEnded {
            turn: 1,
            end: TurnEnd::Done,
        }),
        AgentEvent::Idle(TurnEnd::Done),
    ]
}

pub(super) fn said(text: &str) -> UserPrompt {
    UserPrompt {
        text: text.to_owned(),
        images: Vec::new(),
    }
}

#[gpui_kit::test]
fn a_turn_with_a_permission_by_the_keyboard(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b").input("fix it").keys("enter");
    story.settle();
    let started = fake.started();
    assert_eq!(started.len(), 1);
    assert_eq!(started[0].model, "local/coder");
    assert_eq!(started[0].root, path("/p"));
    assert_eq!(
        fake.take_commands(),
        [SessionCommand::Prompt(said("fix it"))]
    );

    for event in until_permission() {
        fake.send_event(event);
    }
    story.settle();
    assert!(story.read(|it, cx| it.agents().read(cx).is_running()));
    let asking = story.read(|it, cx| {
        let transcript = it.agents().read(cx).transcript();
        transcript
            .and_then(|it| it.pending_approval())
            .map(|it| it.call.title.clone())
    });
    assert_eq!(asking.as_deref(), Some("cargo test"));
    let in_status = |story: &mut Story| {
        let names = names(story, "the status bar");
        let of_agents = names.iter().find_map(|name| {
            let count = name.strip_prefix("The agents of this folder: ")?;
            Some(count.to_owned())
        });
        of_agents.unwrap_or_default()
    };
    assert_eq!(in_status(&mut story), "1 agent waits for you");
    // Enter with nothing typed allows nothing.
    story.keys("enter");
    assert_eq!(fake.take_commands(), []);
    story.keys("alt-y");
    let once = SessionCommand::Decide {
        call: "c1".to_owned(),
        decision: PermissionDecision::Once,
    };
    assert_eq!(fake.take_commands(), [once]);

    for event in after_permission() {
        fake.send_event(event);
    }
    story.settle();
    assert!(!story.read(|it, cx| it.agents().read(cx).is_running()));
    assert_eq!(in_status(&mut story), "");
    // The next prompt starts another turn.
    story.input("and now the docs").keys("enter");
    assert_eq!(
        fake.take_commands(),
        [SessionCommand::Prompt(said("and now the docs"))]
    );
}

/// The same with this to be decided on.
fn asks_for(details: &str) -> Vec<AgentEvent> {
    let mut events = until_permission();
    events.pop();
    events.push(recorded(SessionRecord::LeaveAsked {
        call: "c1".to_owned(),
        title: "ls #\u{2026}".to_owned(),
        details: details.to_owned(),
        reason: "it runs a program".to_owned(),
        rules: vec!["Bash(ls)".to_owned()],
    }));
    events
}

/// Presses the control of this name with the mouse.
pub(super) fn press(story: &mut Story, name: &str) {
    let element = story.cx.update(|window, _| window.find_by_label(name));
    let at = element.bounds().center();
    story.cx.simulate_click(at, gpui_kit::Modifiers::default());
    story.settle();
}

#[gpui_kit::test]
fn nothing_is_allowed_before_all_of_it_was_shown(cx: &mut TestAppContext) {
    let once = SessionCommand::Decide {
        call: "c1".to_owned(),
        decision: PermissionDecision::Once,
    };
    let long = format!("ls #\n{}rm victim.txt\r", "true\n".repeat(60));
    for with_mouse in [false, true] {
        let (mut story, fake) = open(cx);
        story.keys("ctrl-alt-b").input("fix it").keys("enter");
        for event in asks_for(&long) {
            fake.send_event(event);
        }
        story.settle();
        fake.take_commands();
        let seen = names(&mut story, "a folded question");
        let is_seen = |seen: &[String], what: &str| seen.iter().any(|name| name.contains(what));
        assert!(!is_seen(&seen, "rm victim.txt"), "{seen:?}");
        assert!(is_seen(&seen, "Show 50 more lines"), "{seen:?}");
        if with_mouse {
            press(&mut story, "Allow once");
            press(&mut story, "Always in this project");
            assert_eq!(fake.take_commands(), []);
            press(&mut story, "Show 50 more lines");
        } else {
            story.keys("alt-y").keys("alt-a");
            assert_eq!(fake.take_commands(), []);
            story.keys("alt-o");
            story.settle();
        }
        let seen = names(&mut story, "a question that was opened");
        assert!(is_seen(&seen, "rm victim.txt\u{240d}"), "{seen:?}");
        story.keys("alt-y");
        assert_eq!(fake.take_commands(), std::slice::from_ref(&once));
    }
}

#[gpui_kit::test]
fn a_refusal_needs_no_reading(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b").input("fix it").keys("enter");
    for event in asks_for(&"true\n".repeat(60)) {
        fake.send_event(event);
    }
    story.settle();
    fake.take_commands();
    story.keys("alt-r");
    let refuse = SessionCommand::Decide {
        call: "c1".to_owned(),
        decision: PermissionDecision::Refuse { instead: None },
    };
    assert_eq!(fake.take_commands(), [refuse]);
}

#[gpui_kit::test]
fn from_the_prompt_to_the_transcript_and_to_a_file(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b").input("fix it").keys("enter");
    for event in until_permission().into_iter().chain(after_permission()) {
        fake.send_event(event);
    }
    story.settle();
    story.keys("alt-up");
    story.keys("o");
    story.settle();
    assert_eq!(story.tabs(), "[main.rs]");
    // Escape goes back, one step at a time.
    story.keys("ctrl-alt-i").keys("escape");
    story.input("// here\n");
    assert!(story.text().starts_with("// here\n"));
}

#[gpui_kit::test]
fn sessions_are_listed_and_opened(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b").keys("alt-h");
    story.settle();
    story.keys("enter");
    story.settle();
    assert_eq!(fake.opened(), ["old"]);
    for event in until_permission().into_iter().chain(after_permission()) {
        fake.send_event(event);
    }
    story.settle();
    let items = story.read(|it, cx| {
        let transcript = it.agents().read(cx).transcript();
        transcript.map_or(0, |it| it.items().len())
    });
    assert_eq!(items, 3);
}

#[gpui_kit::test]
fn the_model_and_the_way_of_working_are_chosen(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story
        .keys("ctrl-alt-b")
        .keys("alt-/")
        .input("demo")
        .keys("enter");
    story.settle();
    story.keys("alt-m");
    story.keys("ctrl-alt-i").keys("ctrl-alt-i");
    story.input("plan it").keys("enter");
    story.settle();
    let started = fake.started();
    assert_eq!(started[0].model, "demo");
    assert_eq!(started[0].mode, SessionMode::Plan);
}

#[gpui_kit::test]
fn hooks_and_servers_of_a_folder_wait_for_trust(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    fake.set_folder_trust(FolderTrust {
        guides: vec!["AGENTS.md".to_owned(), ".cursor/rules".to_owned()],
        is_trusted: false,
        hooks: vec![PendingHooks {
            path: path("/p/.claude/settings.json"),
            commands: vec!["npm run fmt".to_owned(), "printf 'a\rb'".to_owned()],
            mark: "1".to_owned(),
        }],
        servers: vec![PendingMcpServer {
            name: "docs".to_owned(),
            path: path("/p/.mcp.json"),
            written: "{ \"command\": \"docs\" }".to_owned(),
            mark: "2".to_owned(),
        }],
        problems: Vec::new(),
    });
    story.keys("ctrl-alt-b");
    story.settle();
    let asks = |story: &mut Story, what: &str| {
        let seen = names(story, "the panel for agents");
        seen.iter().any(|name| name.contains(what))
    };
    assert!(asks(&mut story, "AGENTS.md, .cursor/rules"));
    assert!(asks(&mut story, ".claude/settings.json"));
    assert!(asks(&mut story, "npm run fmt\nprintf 'a\u{240d}b'"));
    assert!(asks(&mut story, "\u{201c}docs\u{201d} from .mcp.json"));
    story.act(TrustFolder);
    story.settle();
    assert!(!asks(&mut story, "AGENTS.md"));
    assert!(asks(&mut story, "Allow hooks"));
    story.act(DistrustFolder);
    story.settle();
    assert!(asks(&mut story, "AGENTS.md"));
    // A running session keeps the choices that it was started with.
    story.input("fix it").keys("enter");
    story.settle();
    assert!(!asks(&mut story, "AGENTS.md"));
}

#[gpui_kit::test]
fn problems_of_the_permissions_are_shown(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    let problem = "permissions.json:2:3: the rule \"Bash(rm\" lacks its last bracket";
    fake.set_folder_trust(FolderTrust {
        is_trusted: true,
        problems: vec![problem.to_owned()],
        ..FolderTrust::default()
    });
    story.keys("ctrl-alt-b");
    story.settle();
    let seen = names(&mut story, "the panel for agents");
    assert!(seen.iter().any(|name| name.contains(problem)), "{seen:?}");
}

#[gpui_kit::test]
fn every_control_has_a_name(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b").input("fix it").keys("enter");
    for event in until_permission() {
        fake.send_event(event);
    }
    story.settle();
    let seen = names(&mut story, "the panel for agents");
    for wanted in [
        "Prompt",
        "The agent requests permission: cargo test",
        "Refuse",
        "Allow once",
        "A lasting approval allows Bash(cargo test:*)",
        "Always in this project",
        "Always everywhere",
        "Transcript",
        "Stop",
    ] {
        assert!(
            seen.iter().any(|name| name.contains(wanted)),
            "{wanted}: {seen:?}"
        );
    }
}

#[gpui_kit::test]
fn in_a_narrow_window_a_picker_covers_the_panel(cx: &mut TestAppContext) {
    let (mut story, _) = open(cx);
    story.cx.simulate_resize(size(px(700.0), px(520.0)));
    story.act(TogglePanel).act(ChooseModel);
    assert!(story.is_asking());
    let panel = story
        .cx
        .update(|window, _| window.find_by_label("Prompt"))
        .bounds();
    // The first model, near the right end of its row.
    let at = gpui_kit::point(px(640.0), px(104.0));
    assert!(at.x > panel.left(), "the panel lies below: {panel:?}");
    story.cx.simulate_click(at, gpui_kit::Modifiers::default());
    story.settle();
    assert!(!story.is_asking(), "the press chooses the model below it");
}

#[gpui_kit::test]
fn in_a_narrow_window_the_panel_hides_for_the_text(cx: &mut TestAppContext) {
    let (mut story, _) = open(cx);
    story.cx.simulate_resize(size(px(800.0), px(600.0)));
    story.open_file("main.rs");
    let is_visible = |story: &mut Story| {
        let workbench = story.workbench.clone();
        let read =
            |window: &mut Window, cx: &mut App| workbench.read(cx).is_agents_visible(window, cx);
        story.cx.update(read)
    };
    story.act(TogglePanel);
    assert!(is_visible(&mut story));
    story.act(ChooseModel);
    assert!(is_visible(&mut story), "a question over it leaves it there");
    story.keys("escape");
    story.act(crate::actions::project_search::Show).input("old");
    assert!(!is_visible(&mut story), "it would hide what is typed into");
    story.act(TogglePanel).input("hello");
    assert!(is_visible(&mut story));
    story.act(TogglePanel);
    assert!(!is_visible(&mut story));
    story.cx.simulate_resize(size(px(1200.0), px(600.0)));
    story
        .act(TogglePanel)
        .act(crate::actions::view::FocusEditor);
    assert!(is_visible(&mut story), "there is room for both");
}

fn of_child(session: &str, event: AgentEvent) -> AgentEvent {
    AgentEvent::Child {
        session: session.into(),
        event: Box::new(event),
    }
}

fn to_child(session: &str, command: SessionCommand) -> SessionCommand {
    SessionCommand::Child {
        session: session.to_owned(),
        command: Box::new(command),
    }
}

#[gpui_kit::test]
fn nested_subagents_get_their_permissions(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b").input("fix it").keys("enter");
    story.settle();
    for event in until_permission() {
        fake.send_event(of_child("s1", of_child("s2", event)));
    }
    story.settle();
    fake.take_commands();
    story.keys("alt-y");
    let once = SessionCommand::Decide {
        call: "c1".to_owned(),
        decision: PermissionDecision::Once,
    };
    assert_eq!(fake.take_commands(), [to_child("s1", to_child("s2", once))]);
}

#[gpui_kit::test]
fn every_question_is_asked_and_answered(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b").input("fix it").keys("enter");
    story.settle();
    fake.take_commands();
    let asking = |text: &str| AgentEvent::Asking {
        number: 1,
        question: UserQuestion {
            text: text.to_owned(),
            options: Vec::new(),
        },
    };
    fake.send_event(of_child("s1", asking("Which branch?")));
    fake.send_event(asking("Which folder?"));
    fake.send_event(of_child("s2", asking("Which test?")));
    fake.send_event(of_child("s2", AgentEvent::Idle(TurnEnd::Stopped)));
    story.settle();
    let is_asked = |story: &mut Story, text: &str| {
        let seen = names(story, "the panel for agents");
        seen.iter().any(|name| name.contains(text))
    };
    let reply = |text: &str| SessionCommand::Reply {
        question: 1,
        text: Some(text.to_owned()),
    };
    assert!(is_asked(&mut story, "Which branch?"));
    story.input("main").keys("enter");
    story.settle();
    assert_eq!(fake.take_commands(), [to_child("s1", reply("main"))]);
    assert!(is_asked(&mut story, "Which folder?"));
    story.input("src").keys("enter");
    story.settle();
    assert_eq!(fake.take_commands(), [reply("src")]);
    assert!(
        !is_asked(&mut story, "Which test?"),
        "its agent has stopped"
    );
}
