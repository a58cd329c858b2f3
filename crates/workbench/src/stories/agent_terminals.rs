//! Commands of agents in the window's terminals, and terminals in prompts for agents.

use std::sync::Arc;

use agent::record::SessionMode;
use agent::{SessionCommand, SessionRecord};
use composer_panel::actions::ShowAgentTerminals;
use composer_panel::agents::{
    AgentCommand, AgentCommandId, CommandControl, CommandFeedEvent, CommandInput, FakeAgents,
    ModelEntry, ModelList,
};
use composer_panel::transcript::TranscriptEntry;
use gpui_kit::TestAppContext;
use terminal_panel::FakeTerminals;
use terminal_panel::actions::{
    CloseTerminal, ExplainLastFailure, FixLastFailure, MoveTerminalIntoEditorArea, TakeOver,
};

use super::a11y::names;
use super::agent_prompt::{shown, suggestions};
use super::agents::{after_permission, press, recorded, said, until_permission};
use super::{Story, path, project, services, start_with};
use crate::windows::OpenRequest;

/// A window with agents and terminals.
fn open(cx: &mut TestAppContext) -> (Story, FakeAgents, FakeTerminals) {
    let models = ModelList {
        models: vec![ModelEntry {
            id: "local/coder".to_owned(),
            name: "Coder".to_owned(),
            about: String::new(),
            traits: None,
        }],
        default: "local/coder".to_owned(),
        ..ModelList::default()
    };
    let (agents, terminals) = (
        FakeAgents::new(models, Vec::new()),
        FakeTerminals::default(),
    );
    let (files, service) = (project(), Arc::new(terminals.clone()));
    let services = crate::Services {
        agents: Some(Arc::new(agents.clone())),
        terminals: Some(Arc::new(move |_| service.clone())),
        ..services(&files)
    };
    let request = OpenRequest {
        folders: vec![path("/p")],
        files: Vec::new(),
    };
    let mut stories = start_with(services, &files, request, cx);
    let mut story = stories.pop().expect("a window");
    story.settle();
    (story, agents, terminals)
}

fn command(call: &str, line: &str) -> AgentCommand {
    AgentCommand {
        id: AgentCommandId {
            session: "new".to_owned(),
            call: call.to_owned(),
            number: 1,
        },
        agent: "fix it".to_owned(),
        command: line.to_owned(),
        folder: path("/p"),
        sandbox: "sandbox".to_owned(),
        has_terminal: true,
        size: (40, 120),
    }
}

/// A session whose call runs a command, which is shown in a terminal.
fn watch(cx: &mut TestAppContext) -> (Story, FakeAgents, AgentCommandId) {
    let (mut story, fake, _) = open(cx);
    story.keys("ctrl-alt-b").input("fix it").keys("enter");
    for event in until_permission()
        .into_iter()
        .chain(after_permission().into_iter().take(2))
    {
        fake.send_event(event);
    }
    let command = command("c1", "cargo test");
    let id = command.id.clone();
    fake.set_running_commands(std::slice::from_ref(&command));
    story.settle();
    press(&mut story, "Open in terminal");
    let output = CommandFeedEvent::Output {
        offset: 0,
        bytes: b"it runs\r\n".to_vec(),
        is_backlog: true,
    };
    let control = CommandFeedEvent::Control(CommandControl::Agent);
    for event in [CommandFeedEvent::Attached(command), control, output] {
        assert!(fake.send_command_event(&id, event));
    }
    story.settle();
    fake.take_command_inputs();
    (story, fake, id)
}

/// Takes the inputs of commands, without sizes.
fn inputs(fake: &FakeAgents) -> Vec<CommandInput> {
    let mut inputs = fake.take_command_inputs();
    inputs.retain(|it| !matches!(it, CommandInput::Resize { .. }));
    inputs
}

fn is_named(story: &mut Story, name: &str) -> bool {
    names(story, "terminals").iter().any(|it| it == name)
}

/// The text that the shown terminal would be quoted with.
fn quoted(story: &mut Story) -> String {
    story.read(|it, cx| {
        let dock = it.terminals().expect("terminals").read(cx);
        let mention = dock.mentions(cx).remove(0);
        let output = dock.mentioned_output(&mention.id, cx);
        output.expect("it is quoted").text
    })
}

/// The notices of the transcript.
fn notes(story: &mut Story) -> Vec<String> {
    story.read(|it, cx| {
        let transcript = it.agents().read(cx).transcript().expect("a session");
        let notes = transcript.items().iter().filter_map(|item| match item {
            TranscriptEntry::Note { text, .. } => Some(text.clone()),
            _ => None,
        });
        notes.collect()
    })
}

fn control_record(is_taken: bool, typed: u64) -> SessionRecord {
    SessionRecord::TerminalControl {
        call: "c1".to_owned(),
        command: "cargo test".to_owned(),
        is_taken,
        typed,
    }
}

#[gpui_kit::test]
fn a_running_command_is_watched_taken_over_and_given_back(cx: &mut TestAppContext) {
    let (mut story, fake, id) = watch(cx);
    assert!(is_named(
        &mut story,
        "fix it: cargo test, sandbox, watching"
    ));
    let bar = "Watching; typing takes the command over \u{b7} sandbox";
    assert!(is_named(&mut story, bar));
    assert!(quoted(&mut story).ends_with("\nit runs"));
    story.input("y");
    assert_eq!(inputs(&fake), [CommandInput::Typed(b"y".to_vec())]);
    fake.send_command_event(&id, CommandFeedEvent::Control(CommandControl::You));
    fake.send_event(recorded(control_record(true, 0)));
    story.settle();
    let bar = "You have control; the agent waits until you give the command back \u{b7} sandbox";
    assert!(is_named(&mut story, bar));
    assert!(is_named(
        &mut story,
        "fix it: cargo test, sandbox, you have control"
    ));
    story.keys("ctrl-shift-y");
    assert_eq!(inputs(&fake), [CommandInput::GiveBack]);
    fake.send_command_event(&id, CommandFeedEvent::Control(CommandControl::Agent));
    fake.send_event(recorded(control_record(false, 1)));
    story.settle();
    let notes = notes(&mut story);
    let [taken, given] = notes.as_slice() else {
        panic!("{notes:?}");
    };
    assert!(taken.starts_with("You took over the terminal of \u{201c}cargo test\u{201d}, at 19"));
    assert!(
        given.starts_with(
            "You gave back the terminal of \u{201c}cargo test\u{201d}, 1 key typed, at "
        )
    );
    // The window shows what it missed, and the end.
    fake.send_command_event(
        &id,
        CommandFeedEvent::Output {
            offset: 5_009,
            bytes: b"late".to_vec(),
            is_backlog: true,
        },
    );
    fake.send_command_event(&id, CommandFeedEvent::Ended(Some(3)));
    story.settle();
    let text = quoted(&mut story);
    assert!(
        text.ends_with("[skipped 5000 bytes of output]\nlate"),
        "{text}"
    );
    assert!(is_named(
        &mut story,
        "The agent\u{2019}s command ended with code 3"
    ));
    assert!(is_named(
        &mut story,
        "fix it: cargo test, sandbox, ended with 3"
    ));
}

#[gpui_kit::test]
fn closing_the_tab_lets_the_command_go_on(cx: &mut TestAppContext) {
    let (mut story, fake, id) = watch(cx);
    story.act(CloseTerminal);
    let reports = story.reports();
    assert!(
        reports[0].starts_with("\u{201c}fix it: cargo test\u{201d} goes on"),
        "{reports:?}"
    );
    assert!(inputs(&fake).is_empty());
    let event = CommandFeedEvent::Control(CommandControl::Agent);
    assert!(!fake.send_command_event(&id, event), "it is detached");
}

#[gpui_kit::test]
fn a_command_among_the_texts_is_found_and_detached(cx: &mut TestAppContext) {
    let (mut story, fake, _) = watch(cx);
    story.act(MoveTerminalIntoEditorArea);
    assert_eq!(story.tabs(), "[fix it: cargo test]");
    assert!(is_named(
        &mut story,
        "fix it: cargo test, sandbox, watching"
    ));
    story.input("y");
    assert_eq!(inputs(&fake), [CommandInput::Typed(b"y".to_vec())]);
    story.act(ShowAgentTerminals);
    story.input("cargo").keys("enter");
    story.settle();
    assert_eq!(story.tabs(), "[fix it: cargo test]");
    let is_panel_empty = story.read(|it, cx| it.terminals().map(|it| it.read(cx).is_empty()));
    assert_eq!(is_panel_empty, Some(true));
    story.act(CloseTerminal);
    assert_eq!(story.tabs(), "");
    let reports = story.reports();
    assert!(
        reports[0].starts_with("\u{201c}fix it: cargo test\u{201d} goes on"),
        "{reports:?}"
    );
}

#[gpui_kit::test]
fn the_running_commands_of_all_sessions_are_listed(cx: &mut TestAppContext) {
    let (mut story, fake, _) = open(cx);
    story.act(ShowAgentTerminals);
    assert_eq!(story.reports(), ["No command of an agent runs now."]);
    let commands = [command("c1", "npm run dev"), command("c2", "cargo test")];
    fake.set_running_commands(&commands);
    story.act(ShowAgentTerminals);
    story.input("cargo").keys("enter");
    story.settle();
    assert!(is_named(
        &mut story,
        "fix it: cargo test, sandbox, watching"
    ));
    // A second time the same tab is shown.
    story.act(ShowAgentTerminals);
    story.input("cargo").keys("enter");
    story.settle();
    let tabs = names(&mut story, "tabs");
    let tabs = tabs.iter().filter(|it| it.ends_with(", watching"));
    assert_eq!(tabs.count(), 1);
    let control = CommandFeedEvent::Control(CommandControl::Agent);
    assert!(fake.send_command_event(&commands[1].id, control));
    story.settle();
    fake.take_command_inputs();
    story.act(TakeOver);
    assert_eq!(inputs(&fake), [CommandInput::TakeOver]);
}

#[gpui_kit::test]
fn a_mentioned_terminal_is_quoted_and_no_other(cx: &mut TestAppContext) {
    let (mut story, fake, terminals) = open(cx);
    story.keys("ctrl-`");
    story.settle();
    let program = terminals.programs().remove(0);
    program.run_command("make", "it failed\r\n", 2);
    story.settle();
    story.keys("ctrl-alt-i").input("why @term");
    assert_eq!(suggestions(&mut story), ["make, p \u{b7} exit code 2"]);
    let quotes = |fake: &FakeAgents| fake.open_files().map(|it| it.1.terminals);
    assert!(quotes(&fake).unwrap_or_default().is_empty());
    story.keys("enter");
    story.settle();
    let quotes = quotes(&fake).expect("the files of the window");
    let [(id, text)] = quotes.as_slice() else {
        panic!("{quotes:?}");
    };
    assert!(text.ends_with("$ make\nit failed\n[exit code 2]"), "{text}");
    let prompt = format!("why @\"terminal:make #{id}\" ");
    assert_eq!(shown(&mut story), prompt);
    // It is one unit: a single key removes it.
    story.keys("end backspace backspace");
    assert_eq!(shown(&mut story), "why ");
}

/// The quotes that the engines have.
fn quotes(fake: &FakeAgents) -> Vec<(String, String)> {
    let files = fake.open_files();
    files.map(|it| it.1.terminals).unwrap_or_default()
}

#[gpui_kit::test]
fn a_failed_command_is_explained_once_the_user_sends_it(cx: &mut TestAppContext) {
    let (mut story, fake, terminals) = open(cx);
    story.act(ExplainLastFailure);
    assert_eq!(story.reports(), ["No command failed in a terminal."]);
    story.keys("ctrl-`");
    story.settle();
    let program = terminals.programs().remove(0);
    program.run_command("make", "it failed\r\n", 2);
    program.run_command("true", "", 0);
    program.show_prompt();
    story.settle();
    story.keys("ctrl-shift-i");
    story.settle();
    let quotes = quotes(&fake);
    let [(id, text)] = quotes.as_slice() else {
        panic!("{quotes:?}");
    };
    assert!(
        text.starts_with("Terminal \u{201c}p\u{201d} in /p\n"),
        "{text}"
    );
    assert!(text.ends_with("$ make\nit failed\n[exit code 2]"), "{text}");
    // The user sees all of it before it is sent.
    assert!(is_named(&mut story, text));
    let prompt = format!("Explain why this command failed. @\"terminal:make #{id}\"");
    assert_eq!(shown(&mut story), format!("{prompt} "));
    assert!(fake.started().is_empty(), "nothing is sent by itself");
    story.keys("enter");
    story.settle();
    let started = fake.started();
    assert_eq!(started[0].mode, SessionMode::Ask);
    assert_eq!(
        fake.take_commands(),
        [SessionCommand::Prompt(said(&prompt))]
    );
    assert!(!is_named(&mut story, text), "the prompt is empty");
}

#[gpui_kit::test]
fn a_failed_command_of_an_agent_is_fixed(cx: &mut TestAppContext) {
    let (mut story, fake, id) = watch(cx);
    fake.send_command_event(&id, CommandFeedEvent::Ended(Some(3)));
    story.settle();
    let started = fake.started().len();
    story.act(FixLastFailure);
    let quotes = quotes(&fake);
    let [(id, text)] = quotes.as_slice() else {
        panic!("{quotes:?}");
    };
    assert!(text.ends_with("\nit runs\n[exit code 3]"), "{text}");
    let mention = format!("@\"terminal:fix it: cargo test #{id}\"");
    let prompt = format!("Find out why this command failed and fix it. {mention} ");
    assert_eq!(shown(&mut story), prompt);
    story.keys("enter");
    story.settle();
    assert_eq!(fake.started()[started].mode, SessionMode::Build);
}
