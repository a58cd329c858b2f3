//! Commands to a hosted agent and their effects, with the agent of `examples/acp_echo`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use connect::acp::host::{HostedAgentCommand, HostedAgentEvent, SessionStart};
use connect::acp::protocol::{
    CallKind, CallStatus, OptionAbout, OptionChoice, OptionValue, PermissionChoiceKind, PromptStop,
    Update,
};

use super::guest::{Guest, Program};

fn echo() -> Program {
    let test = std::env::current_exe().expect("our path");
    let folder = test
        .parent()
        .and_then(|deps| deps.parent())
        .expect("a target folder");
    let program: PathBuf = folder.join("examples/acp_echo");
    assert!(
        program.exists(),
        "{} is built with the tests",
        program.display()
    );
    Program::new(program, &[])
}

async fn begun() -> Guest {
    let mut guest = echo().start();
    guest.begun().await;
    guest
}

#[tokio::test]
async fn a_turn_from_hello_to_its_end() {
    let mut guest = begun().await;
    let about = guest.events.iter().find_map(|event| match event {
        HostedAgentEvent::Hello(about) => Some(about.clone()),
        _ => None,
    });
    let about = about.expect("it said hello");
    assert_eq!(
        (about.name.as_str(), about.loads, about.resumes),
        ("Echo", true, true)
    );
    let (said, end) = guest.turn("say hello there").await;
    assert_eq!((said.as_str(), end), ("hello there", PromptStop::Done));
    let (said, _) = guest.turn("where").await;
    assert_eq!(said, format!("{} 0", guest.root().display()));
    assert_eq!(guest.turn("refuse").await.1, PromptStop::Refused);
    assert_eq!(
        guest.turn("fail no luck").await.1,
        PromptStop::Failed("no luck".to_owned())
    );
    let (_, end) = guest.turn("dance").await;
    assert_eq!(end, PromptStop::Failed("dance is not known".to_owned()));
    guest.say(HostedAgentCommand::Close).await;
    assert_eq!(guest.closed().await, None);
}

#[tokio::test]
async fn every_update_arrives_and_calls_are_whole() {
    let mut guest = begun().await;
    let (said, _) = guest.turn("show").await;
    assert_eq!(said, "all shown");
    let calls = guest.calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!(calls[0].title.as_deref(), Some("edit a.txt"));
    assert_eq!(
        (calls[0].kind, calls[0].state),
        (Some(CallKind::Edit), Some(CallStatus::Done))
    );
    assert_eq!(calls[0].content.as_ref().map(Vec::len), Some(2));
    let has = |wanted: fn(&Update) -> bool| {
        guest
            .events
            .iter()
            .any(|event| matches!(event, HostedAgentEvent::Update(it) if wanted(it)))
    };
    assert!(has(
        |it| matches!(it, Update::Plan(items) if items[0].is_urgent)
    ));
    assert!(has(
        |it| matches!(it, Update::Commands(all) if all[0].name == "review")
    ));
    assert!(has(|it| matches!(it, Update::Mode(mode) if mode == "plan")));
    assert!(has(
        |it| matches!(it, Update::Options(all) if all.len() == 2)
    ));
    assert!(has(
        |it| matches!(it, Update::Title(Some(title)) if title == "A title")
    ));
    assert!(has(
        |it| matches!(it, Update::Usage(usage) if usage.used == 10)
    ));
    assert!(has(|it| matches!(
        it,
        Update::Notice {
            is_warning: true,
            ..
        }
    )));
    assert!(has(|it| matches!(
        it,
        Update::Compaction { is_over: true, .. }
    )));
}

#[tokio::test]
async fn permission_is_requested_and_granted() {
    let mut guest = begun().await;
    guest.prompt("ask").await;
    let (number, choices) = guest
        .until(|event| match event {
            HostedAgentEvent::Asking {
                number,
                choices,
                call,
            } => {
                assert_eq!(call.title.as_deref(), Some("rm -rf build"));
                Some((*number, choices.clone()))
            }
            _ => None,
        })
        .await;
    let kinds: Vec<_> = choices.iter().map(|choice| choice.kind).collect();
    assert_eq!(
        kinds,
        [
            PermissionChoiceKind::AllowOnce,
            PermissionChoiceKind::AllowAlways,
            PermissionChoiceKind::RejectOnce
        ]
    );
    let choice = Some("always".to_owned());
    guest
        .say(HostedAgentCommand::Decide { number, choice })
        .await;
    assert_eq!(guest.ended().await, PromptStop::Done);
    assert_eq!(super::guest::agent_text(&guest.events), "Some(\"always\")");
}

#[tokio::test]
async fn stopped_turn_cancels_its_requests() {
    let mut guest = begun().await;
    guest.prompt("ask").await;
    guest
        .until(|event| matches!(event, HostedAgentEvent::Asking { .. }).then_some(()))
        .await;
    guest.say(HostedAgentCommand::Stop).await;
    guest.ended().await;
    assert_eq!(super::guest::agent_text(&guest.events), "None");
    let start = Instant::now();
    guest.prompt("hang").await;
    guest
        .until(|event| matches!(event, HostedAgentEvent::TurnBegan).then_some(()))
        .await;
    guest.say(HostedAgentCommand::Stop).await;
    assert_eq!(guest.ended().await, PromptStop::Stopped);
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
    // It continues afterwards.
    assert_eq!(guest.turn("say on").await.0, "on");
}

#[tokio::test]
async fn unresponsive_agent_is_killed() {
    let mut guest = begun().await;
    guest.prompt("deaf").await;
    guest
        .until(|event| matches!(event, HostedAgentEvent::TurnBegan).then_some(()))
        .await;
    let start = Instant::now();
    guest.say(HostedAgentCommand::Stop).await;
    let left = guest
        .until(|event| match event {
            HostedAgentEvent::Overdue(left) => Some(*left),
            _ => None,
        })
        .await;
    assert_eq!(left, Duration::from_secs(1));
    let PromptStop::Failed(why) = guest.ended().await else {
        panic!("{:?}", guest.events);
    };
    assert!(why.contains("did not stop"), "{why}");
    assert!(
        start.elapsed() < Duration::from_secs(4),
        "{:?}",
        start.elapsed()
    );
    assert!(guest.closed().await.is_some());
}

#[tokio::test]
async fn dying_agent_ends_its_turn_with_its_error_output() {
    let mut guest = begun().await;
    let (_, end) = guest.turn("die").await;
    let PromptStop::Failed(why) = end else {
        panic!("{end:?}");
    };
    assert!(why.contains("the guest ended with code 9"), "{why}");
    assert!(why.contains("the disk is full"), "{why}");
    assert!(guest.closed().await.is_some());
}

#[tokio::test]
async fn agent_files_are_limited_to_the_root() {
    let mut guest = begun().await;
    let inside = guest.root().join("deep/note.txt");
    let outside = guest.root().join("../state/note.txt");
    let (said, _) = guest.turn(&format!("write {}", inside.display())).await;
    assert_eq!(said, "Some(Ok(()))");
    assert_eq!(
        std::fs::read_to_string(&inside).expect("a file"),
        "by the agent"
    );
    let (said, _) = guest.turn(&format!("read {}", inside.display())).await;
    assert_eq!(said, "Some(Ok(\"by the agent\"))");
    let (said, _) = guest.turn(&format!("write {}", outside.display())).await;
    assert!(said.contains("is not below"), "{said}");
    assert!(!outside.exists());
    // Changes below the root are detected, whatever program makes them.
    std::fs::write(guest.root().join("deep/other.txt"), "x").expect("a file");
    guest
        .until(|event| match event {
            HostedAgentEvent::Changed(paths) => paths
                .iter()
                .any(|path| path.ends_with("deep/other.txt"))
                .then_some(()),
            _ => None,
        })
        .await;
}

#[tokio::test]
async fn commands_run_in_terminals_of_the_host() {
    let mut guest = begun().await;
    let (said, _) = guest.turn("run printf 'one\\ntwo'; exit 3").await;
    assert_eq!(said, "Some(3) \"one\\ntwo\"");
    let (terminal, _) = guest.turn("start sleep 300").await;
    assert_eq!(terminal, "term-2");
    let (said, _) = guest.turn(&format!("end {terminal}")).await;
    assert_eq!(said, "\"\" true", "it is killed, and its terminal released");
}

#[tokio::test]
async fn a_host_without_terminals_runs_no_commands() {
    let mut program = echo();
    program.terminals = None;
    let mut guest = program.start();
    guest.begun().await;
    let (_, end) = guest.turn("run true").await;
    let PromptStop::Failed(why) = end else {
        panic!("{end:?}");
    };
    assert!(why.contains("unknown method terminal/create"), "{why}");
}

#[tokio::test]
async fn prompts_wait_for_each_other() {
    let mut guest = begun().await;
    guest.prompt("say one").await;
    guest.prompt("say two").await;
    assert_eq!(guest.ended().await, PromptStop::Done);
    assert_eq!(guest.ended().await, PromptStop::Done);
    assert_eq!(super::guest::agent_text(&guest.events), "onetwo");
}

#[tokio::test]
async fn models_and_modes_are_chosen() {
    let mut guest = begun().await;
    let set = HostedAgentCommand::SetOption {
        id: "model".to_owned(),
        chosen: OptionChoice::One("large".to_owned()),
    };
    guest.say(set).await;
    let now = guest
        .until(|event| match event {
            HostedAgentEvent::Update(Update::Options(options)) => {
                let model = options
                    .iter()
                    .find(|option| option.about == OptionAbout::Model)?;
                match &model.value {
                    OptionValue::One { now, .. } => Some(now.clone()),
                    OptionValue::Truth(_) => None,
                }
            }
            _ => None,
        })
        .await;
    assert_eq!(now, "large");
    guest
        .say(HostedAgentCommand::SetMode("plan".to_owned()))
        .await;
    let is_plan = |event: &HostedAgentEvent| match event {
        HostedAgentEvent::Update(Update::Mode(mode)) => Some(mode.clone()),
        _ => None,
    };
    assert_eq!(guest.until(is_plan).await, "plan");
    guest
        .say(HostedAgentCommand::SetMode("fly".to_owned()))
        .await;
    let problem = |event: &HostedAgentEvent| match event {
        HostedAgentEvent::Problem(text) => Some(text.clone()),
        _ => None,
    };
    assert_eq!(guest.until(problem).await, "there is no mode fly");
    guest.say(HostedAgentCommand::List).await;
    let sessions = |event: &HostedAgentEvent| match event {
        HostedAgentEvent::Sessions(all) => Some(all.clone()),
        _ => None,
    };
    assert_eq!(guest.until(sessions).await[0].id, "old");
}

#[tokio::test]
async fn a_session_is_loaded_with_its_past_and_resumed_without() {
    let mut program = echo();
    program.begin = SessionStart::Load("old".to_owned());
    let mut guest = program.start();
    assert_eq!(guest.begun().await, "old");
    assert_eq!(super::guest::agent_text(&guest.events), "an old answer");
    assert_eq!(guest.turn("say new").await.0, "new");

    let mut program = echo();
    program.begin = SessionStart::Resume("old".to_owned());
    let mut guest = program.start();
    assert_eq!(guest.begun().await, "old");
    assert_eq!(super::guest::agent_text(&guest.events), "");

    // It resumes, so that the host's own transcript is not doubled.
    let mut program = echo();
    program.begin = SessionStart::Continue("old".to_owned());
    let mut guest = program.start();
    assert_eq!(guest.begun().await, "old");
    assert_eq!(super::guest::agent_text(&guest.events), "");

    // An agent that lost the session begins a new one.
    let mut program = echo();
    program.begin = SessionStart::Continue("unknown".to_owned());
    let mut guest = program.start();
    assert_eq!(guest.begun().await, "s0");
    assert_eq!(guest.turn("say new").await.0, "new");

    let mut program = echo();
    program.begin = SessionStart::Load("unknown".to_owned());
    let why = program.start().closed().await;
    assert!(why.is_some_and(|why| why.contains("there is no session unknown")));
}

#[tokio::test]
async fn signing_in_is_asked_for() {
    let mut guest = echo().with("ECHO_WANTS_SIGN_IN", "1").start();
    let why = guest
        .until(|event| match event {
            HostedAgentEvent::NeedsSignIn { why, .. } => Some(why.clone()),
            _ => None,
        })
        .await;
    assert_eq!(why, "sign in first");
    guest.say(HostedAgentCommand::Close).await;
    assert_eq!(guest.closed().await, None);
}

#[tokio::test]
async fn program_that_is_not_an_agent_is_reported() {
    let check = async |program: Program, expected: &str| {
        let mut guest = program.start();
        let why = guest.closed().await.expect("a reason");
        assert!(why.contains(expected), "{why}");
        guest
    };
    check(Program::new("burin-no-such-agent", &[]), "is not installed").await;
    let script = "echo 'usage: agent [--acp]'; echo 'unknown flag' >&2; exit 2";
    let guest = check(
        Program::new("sh", &["-c", script]),
        "it last said: unknown flag",
    )
    .await;
    let printed = HostedAgentEvent::Noise("it printed: usage: agent [--acp]".to_owned());
    assert!(guest.events.contains(&printed), "{:?}", guest.events);
    let nonsense = r#"read -r l; printf '\377\376\n{"jsonrpc":"2.0","id":0,"result":7}\n[]\n'"#;
    check(Program::new("sh", &["-c", nonsense]), "").await;
}

#[tokio::test]
async fn unknown_updates_are_reported_once_and_end_nothing() {
    let update = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"dream","of":7}}}"#;
    let script = format!(
        r#"read -r l; echo '{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":1}}}}'; echo '{update}'; echo '{update}'; sleep 60"#
    );
    let mut guest = Program::new("sh", &["-c", &script]).start();
    let noise = |event: &HostedAgentEvent| match event {
        HostedAgentEvent::Noise(text) => Some(text.clone()),
        _ => None,
    };
    assert!(guest.until(noise).await.contains("\"dream\""));
    guest.say(HostedAgentCommand::Close).await;
    assert_eq!(guest.closed().await, None);
    let reported = guest.events.iter().filter_map(noise).count();
    assert_eq!(reported, 1, "{:?}", guest.events);
}

#[tokio::test]
async fn random_bytes_from_an_agent_are_survived() {
    for seed in 0..6 {
        let script = format!(
            "read -r l; head -c 20000 /dev/urandom | tr '{seed}a-f' '\\n{{}}[]\":,'; \
             echo '{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"x\":1}}}}'; \
             echo '{{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"fs/read_text_file\",\"params\":[]}}'; \
             head -c 5000 /dev/urandom"
        );
        let mut guest = Program::new("sh", &["-c", &script]).start();
        assert!(guest.closed().await.is_some());
    }
}
