//! External agents in the panel, by the keyboard alone.

use agent::record::{AgentOption, AgentOptionKind, AgentOptionValue, SessionMode};
use agent::{SessionCommand, SessionRecord};
use composer_panel::actions::{NewExternalSession, ShowSessions};
use composer_panel::agents::ExternalAgentEntry;
use composer_panel::board::{Board, Command, StartAgents};
use gpui_kit::TestAppContext;

use super::a11y::names;
use super::agents::{open, recorded};

fn entry(id: &str, is_installed: bool) -> ExternalAgentEntry {
    ExternalAgentEntry {
        id: id.to_owned(),
        name: id.to_uppercase(),
        is_installed,
        install_command: Some(format!("npm install {id}")),
        advice: "It needs Node 20.".to_owned(),
        sign_in: String::new(),
    }
}

#[gpui_kit::test]
fn a_prompt_starts_the_chosen_agent_in_a_worktree(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    fake.set_external_agents(vec![entry("claude", true), entry("codex", false)]);
    story.keys("ctrl-alt-b").keys("alt-shift-n");
    story.settle();
    story.input("claude").keys("enter");
    story.settle();
    fake.show_board(Board::default());
    story.settle();
    let seen = names(&mut story, "the prompt of an external agent");
    let banner = "The next prompt starts CLAUDE in its own worktree. Esc cancels.";
    assert!(seen.iter().any(|name| name.contains(banner)), "{seen:?}");
    story.input("tidy up").keys("enter");
    story.settle();
    let commands = fake.take_board_commands();
    let [
        Command::Start(StartAgents {
            prompt,
            agent,
            agents: 1,
            ..
        }),
    ] = &commands[..]
    else {
        panic!("{commands:?}");
    };
    assert_eq!(
        (prompt.as_str(), agent.as_deref()),
        ("tidy up", Some("claude"))
    );
    // The choice holds for one prompt, and Escape takes it back.
    story.act(NewExternalSession);
    story.settle();
    story.input("claude").keys("enter");
    story.settle();
    story.keys("escape").keys("i");
    story.input("more").keys("enter");
    story.settle();
    let commands = fake.take_board_commands();
    assert!(
        matches!(
            &commands[..],
            [Command::Start(StartAgents { agent: None, .. })]
        ),
        "{commands:?}"
    );
}

#[gpui_kit::test]
fn a_missing_agent_is_installed_after_a_confirmation(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    fake.set_external_agents(vec![entry("claude", true), entry("codex", false)]);
    story.act(NewExternalSession);
    story.settle();
    story.input("codex").keys("enter");
    story.settle();
    assert!(fake.installed().is_empty(), "the user decides");
    // The harmless answer has the focus.
    story.keys("enter");
    story.settle();
    assert!(fake.installed().is_empty());
    story.act(NewExternalSession);
    story.settle();
    story.input("codex").keys("enter");
    story.settle();
    story.keys("tab").keys("enter");
    story.settle();
    assert_eq!(fake.installed(), ["codex"]);
    story.input("tidy up").keys("enter");
    story.settle();
    let commands = fake.take_board_commands();
    assert!(
        matches!(&commands[..], [Command::Start(StartAgents { agent: Some(agent), .. })] if agent == "codex"),
        "{commands:?}"
    );
}

#[gpui_kit::test]
fn options_of_the_agent_are_chosen(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b").act(ShowSessions).keys("enter");
    story.settle();
    let value = |id: &str| AgentOptionValue {
        id: id.to_owned(),
        name: id.to_uppercase(),
        about: String::new(),
    };
    let option = |id: &str, kind| AgentOption {
        id: id.to_owned(),
        name: id.to_uppercase(),
        kind,
        now: "one".to_owned(),
        values: vec![value("one"), value("two")],
    };
    fake.send_event(recorded(SessionRecord::Began {
        root: "/p".to_owned(),
        parent: None,
        forked_from: None,
        mode: SessionMode::Build,
        model: "Echo".to_owned(),
    }));
    fake.send_event(recorded(SessionRecord::Hosted {
        agent: "Echo".to_owned(),
        session: "s".to_owned(),
        takes_images: false,
        can_continue: true,
    }));
    fake.send_event(recorded(SessionRecord::Offered {
        options: vec![
            option("mode", AgentOptionKind::Mode),
            option("model", AgentOptionKind::Model),
        ],
        commands: Vec::new(),
    }));
    story.settle();
    fake.take_commands();
    let set = |option: &str| SessionCommand::SetOption {
        option: option.to_owned(),
        value: "two".to_owned(),
    };
    story.keys("alt-,").input("mode").keys("enter");
    story.settle();
    story.input("two").keys("enter");
    story.settle();
    assert_eq!(fake.take_commands(), [set("mode")]);
    // The model's key chooses among the agent's models.
    story.keys("alt-/").input("two").keys("enter");
    story.settle();
    assert_eq!(fake.take_commands(), [set("model")]);
}
