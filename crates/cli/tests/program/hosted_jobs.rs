//! External agents on the board: in their own worktrees, sandboxed, reviewed and landed like ours.

use std::path::Path;
use std::time::Duration;

use agent::record::SessionMode;
use agent::user_prompts::PermissionDecision;
use agent::{AgentEvent, SessionCommand, SessionRecord};
use composer::job::{AwaitedInput, JobState};
use composer::review::HunkVerdict;
use composer::view::Board;
use composer::{Command, JobCommand, StartAgents};
use futures::StreamExt as _;
use serde_json::json;

use super::compose::{Story, has_python};
use super::desk::Person;
use super::guests::{echo, installed};
use super::home::Home;

fn git(folder: &Path, arguments: &[&str]) {
    let done = std::process::Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
        .args(arguments)
        .current_dir(folder)
        .status();
    assert!(done.expect("git").success(), "{arguments:?}");
}

/// A repository with one file, and an external agent of the user's settings.
fn story(agent: &serde_json::Value) -> Story {
    let home = Home::new(&json!([{ "reply": [{ "text": "Greetings from the mock." }] }]));
    let text = std::fs::read_to_string(home.path("config/settings.json")).expect("settings");
    let mut settings: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    settings["agents"] = json!({ "external": { "guest": agent } });
    home.write("config/settings.json", &settings.to_string());
    home.write("project/a.txt", "one\ntwo\n");
    let hub = home.path("project");
    git(&hub, &["init", "-qb", "main"]);
    git(&hub, &["add", "."]);
    git(&hub, &["commit", "-qm", "begin"]);
    Story { home, hub }
}

fn start(prompt: &str) -> Command {
    Command::Start(StartAgents {
        prompt: prompt.to_owned(),
        model: String::new(),
        agent: Some("guest".to_owned()),
        mode: SessionMode::Build,
        agents: 1,
        is_best_of: false,
    })
}

fn steer(text: &str) -> Command {
    Command::Job(JobCommand::Steer {
        job: "a1".to_owned(),
        text: text.to_owned(),
    })
}

impl Person {
    /// The records of the agent's session.
    fn records(&self) -> Vec<SessionRecord> {
        let watched = self.composer.watch("a1").expect("it has begun");
        let records = watched.past.into_iter().filter_map(|event| match event {
            AgentEvent::Recorded(stored) => Some(stored.record.clone()),
            _ => None,
        });
        records.collect()
    }

    /// The model in the last record about options.
    fn offered_model(&self) -> Option<String> {
        let records = self.records().into_iter().rev();
        let mut models = records.filter_map(|record| match record {
            SessionRecord::Offered { options, commands } => {
                assert_eq!(commands[0].name, "review");
                options.into_iter().find(|it| it.id == "model")
            }
            _ => None,
        });
        models.next().map(|model| model.now)
    }

    /// Sends a prompt and waits until the turn with this number has ended so.
    async fn turn(&mut self, text: &str, turn: u64, label: &str) {
        self.send(steer(text));
        self.until(&format!("turn {turn} is {label}"), |board| {
            let job = board.job("a1");
            job.is_some_and(|it| it.status.turns == turn && it.state().label() == label)
        })
        .await;
    }

    /// The text of the agent's last answer.
    fn answer(&self) -> String {
        let records = self.records();
        let answer = records.iter().rev().find_map(|record| match record {
            SessionRecord::Answered { parts, .. } => Some(agent::stored_parts::texts(parts)),
            _ => None,
        });
        answer.unwrap_or_default()
    }
}

fn hunk(board: &Board, path: &str) -> Option<String> {
    let mut hunks = board.hunks.iter();
    let hunk = hunks.find(|hunk| hunk.path == path)?;
    assert_eq!(hunk.author, None, "the agent itself");
    Some(hunk.id.clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn work_of_an_external_agent_is_reviewed_and_landed() {
    let mut person = Person::at(story(&json!({ "name": "Guest", "command": echo() }))).await;
    // It writes by its own tool, and then by the protocol, in a new process.
    person.send(start("touch own.txt"));
    person.until_state("a1", "done").await;
    let board = person
        .until("its file is seen", |board| hunk(board, "own.txt").is_some())
        .await;
    let root = board
        .job("a1")
        .and_then(|job| job.root())
        .expect("a worktree");
    person
        .turn(&format!("write {}", root.join("sent.txt")), 2, "done")
        .await;
    let board = person
        .until("both are seen", |board| hunk(board, "sent.txt").is_some())
        .await;
    let records = person.records();
    let kinds: Vec<&str> = records.iter().map(SessionRecord::kind).collect();
    assert_eq!(
        &kinds[..4],
        ["began", "hosted", "offered", "prompted"],
        "{kinds:?}"
    );
    assert!(matches!(
        records.iter().find(|it| it.kind() == "call_began"),
        Some(SessionRecord::CallBegan { title, .. }) if title == "touch own.txt"
    ));
    let count = |kind: &str| kinds.iter().filter(|it| **it == kind).count();
    // The agent resumed its session, so nothing was told again.
    assert_eq!(
        (count("hosted"), count("prompted"), count("noted")),
        (1, 2, 0),
        "{kinds:?}"
    );

    let decide = |path: &str, verdict| Command::Decide {
        hunk: hunk(&board, path).expect("a hunk"),
        verdict,
    };
    person.send(decide("own.txt", HunkVerdict::Accepted));
    person.send(decide("sent.txt", HunkVerdict::Rejected));
    person
        .until("one is accepted", |board| board.accepted() == 1)
        .await;
    person.send(Command::Land(Vec::new()));
    person.until_state("a1", "landed").await;
    assert_eq!(person.story.read("own.txt"), "by its own tool\n");
    assert!(!person.story.hub.join("sent.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_of_an_external_agent_ask_stop_and_fail() {
    let mut person = Person::at(story(&json!({ "command": echo() }))).await;
    person.send(start("ask"));
    person.until_state("a1", "waits for you").await;
    let view = person.composer.watch("a1").expect("it has begun");
    let asked = view.past.iter().find_map(|event| match event {
        AgentEvent::Recorded(stored) => match &stored.record {
            SessionRecord::LeaveAsked {
                call, title, rules, ..
            } => {
                assert_eq!((title.as_str(), rules.len()), ("rm -rf build", 1));
                Some(call.clone())
            }
            _ => None,
        },
        _ => None,
    });
    let decision = PermissionDecision::Session;
    let call = asked.expect("a request");
    (view.send)(SessionCommand::Decide { call, decision });
    person.until_state("a1", "done").await;
    assert_eq!(person.answer(), "Some(\"always\")");

    person.send(steer("hang"));
    person
        .until("it works", |board| {
            board.job("a1").is_some_and(|job| job.status.turns == 2)
        })
        .await;
    person.send(Command::Job(JobCommand::Stop("a1".to_owned())));
    person.until_state("a1", "stopped").await;

    person.turn("die", 3, "failed").await;
    let activity = person.board.job("a1").map(|job| job.activity.clone());
    assert!(activity.is_some_and(|it| it.contains("the disk is full")));

    // Options are set again in the next process.
    let mut view = person.composer.watch("a1").expect("it has begun");
    (view.send)(SessionCommand::SetOption {
        option: "model".to_owned(),
        value: "large".to_owned(),
    });
    person.turn("show", 4, "done").await;
    // The agent's answer about the option can be recorded after the end of the turn.
    while person.offered_model().as_deref() != Some("large") {
        let next = tokio::time::timeout(Duration::from_secs(120), view.events.next());
        let event = next.await.expect("an answer in time");
        event.expect("the session goes on");
    }

    // The sandbox keeps it in its worktree.
    let outside = person.story.hub.join("evil.txt");
    person.send(steer(&format!("touch {}", outside.display())));
    person
        .until("turn 5 has ended", |board| {
            let job = board.job("a1");
            job.is_some_and(|it| it.status.turns == 5 && !it.state().is_live())
        })
        .await;
    assert!(!outside.exists());
}

#[test]
fn the_command_line_runs_an_external_agent_in_a_worktree() {
    let story = story(&json!({ "command": echo() }));
    let agents = story.home.run(&["agents"]);
    assert!(agents.output.contains("guest "), "{agents:?}");
    let run = ["compose", "--agent", "guest", "--yes", "touch made.txt"];
    let left = story.home.run(&run);
    assert_eq!(left.code, Some(0), "{left:?}");
    let hunks = story.hunks("a1");
    let paths: Vec<&str> = hunks.iter().map(|(_, path, _)| path.as_str()).collect();
    assert_eq!(paths, ["made.txt"]);
    let missing = story
        .home
        .run(&["compose", "--agent", "codex", "--yes", "say it"]);
    assert!(missing.output.contains("npm install"), "{missing:?}");
}

/// An agent that needs a sign-in for its first prompt, and sends an update of an unknown kind.
const SIGNS_IN: &str = r#"
import json, sys
signed = False
def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def update(update):
    send({"method": "session/update", "params": {"sessionId": "s", "update": update}})
for line in sys.stdin:
    message = json.loads(line)
    id, method = message.get("id"), message.get("method")
    if method == "initialize":
        methods = [{"id": "key", "name": "With a key"}, {"id": "login", "name": "Browser", "type": "terminal", "args": ["login"]}]
        send({"id": id, "result": {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": methods}})
    elif method == "authenticate":
        signed = message["params"]["methodId"] == "key"
        send({"id": id, "result": {}})
    elif method == "session/new":
        send({"id": id, "result": {"sessionId": "s"}})
    elif method == "session/prompt" and not signed:
        send({"id": id, "error": {"code": -32000, "message": "no key"}})
    elif method == "session/prompt":
        update({"sessionUpdate": "dream", "of": 7})
        update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hello"}})
        send({"id": id, "result": {"stopReason": "end_turn"}})
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_that_needs_a_sign_in_is_sent_again_after_it() {
    if !has_python() {
        test_support::skip("the agent that signs in needs python3");
        return;
    }
    let agent = json!({ "name": "Guest", "command": "python3", "args": ["-c", SIGNS_IN] });
    let mut person = Person::at(story(&agent)).await;
    person.send(start("greet"));
    let board = person.until_state("a1", "waits for you").await;
    let job = board.job("a1").expect("it");
    let JobState::Waiting {
        input: AwaitedInput::Answer { question, text, .. },
    } = job.state()
    else {
        panic!("{job:?}");
    };
    assert!(text.contains("Guest asks you to sign in"), "{text}");
    assert!(
        text.contains("no key") && text.contains("python3 login"),
        "{text}"
    );
    assert!(text.contains("With a key, Try again"), "{text}");
    let reply = SessionCommand::Reply {
        question: *question,
        text: Some("With a key".to_owned()),
    };
    let view = person.composer.watch("a1").expect("it has begun");
    (view.send)(reply);
    person.until_state("a1", "done").await;
    assert_eq!(person.answer(), "hello");
    let kinds: Vec<&str> = person.records().iter().map(SessionRecord::kind).collect();
    assert_eq!(
        kinds.iter().filter(|it| **it == "prompted").count(),
        1,
        "{kinds:?}"
    );
}

#[test]
fn an_agent_is_installed_by_its_command() {
    let home = Home::new(&json!([]));
    let npm = home.path("bin/npm");
    let install = |script: &str| {
        home.write("bin/npm", &format!("#!/bin/sh\n{script}\n"));
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&npm, mode).expect("a mode");
        let folder = npm.parent().expect("a folder").display().to_string();
        let mut command = home.command(&["agents", "--install", "codex"]);
        command.env("PATH", format!("{folder}:/usr/bin:/bin"));
        home.left(command.spawn().expect("the program"))
    };
    let left = install("echo 'no such package' >&2; exit 1");
    assert_eq!(left.code, Some(1));
    assert!(
        left.errors
            .contains("Codex was not installed: no such package"),
        "{left:?}"
    );
    // npm install --no-fund --no-audit --prefix FOLDER PACKAGE
    let left =
        install(r#"mkdir -p "$5/node_modules/.bin"; echo "$6" > "$5/node_modules/.bin/codex-acp""#);
    assert_eq!(left.code, Some(0), "{left:?}");
    let program = home.path("state/agents/codex/node_modules/.bin/codex-acp");
    assert!(
        left.output.contains(&program.display().to_string()),
        "{left:?}"
    );
    let package = std::fs::read_to_string(program).expect("it is installed");
    assert_eq!(package, "@agentclientprotocol/codex-acp\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_works_in_a_worktree() {
    let path = "claude/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js";
    let Some(path) = installed(path) else {
        return;
    };
    let story = story(&json!({}));
    let url = story.home.model.url();
    let host = url
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .to_owned();
    let config = story.home.path("claude");
    std::fs::create_dir_all(&config).expect("a folder");
    let agent = json!({
        "name": "Claude Code", "command": "node", "args": [path], "hosts": [host], "folders": [config],
        "env": {
            "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "any", "IS_SANDBOX": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CONFIG_DIR": config,
            "HOME": config,
        }
    });
    let text = std::fs::read_to_string(story.home.path("config/settings.json")).expect("settings");
    let mut settings: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    settings["agents"] = json!({ "external": { "guest": agent } });
    story
        .home
        .write("config/settings.json", &settings.to_string());
    let mut person = Person::at(story).await;
    person.send(start("Please greet me."));
    person
        .until("its turn has ended", |board| {
            board.job("a1").is_some_and(|job| !job.state().is_live())
        })
        .await;
    let job = person.board.job("a1").expect("it").clone();
    assert_eq!(job.state().label(), "done", "{job:?}");
    assert_eq!(person.answer(), "Greetings from the mock.");

    // It goes on in a new process, and writes with its own tool after the user's permission.
    let file = job.root().expect("a worktree").join("real.txt");
    let rules = json!({ "rules": [
        { "match": { "results": [{ "says": { "contains": "real.txt" } }] }, "reply": [{ "text": "It is written." }] },
        { "reply": [{ "call": { "tool": "Write", "arguments": {
            "file_path": file.to_string(), "content": "by Claude\n"
        } } }] }
    ] });
    let script = mockllm::Script::parse("write", &rules.to_string()).expect("a script");
    person.story.home.model.replace(script);
    person.send(steer("Write it."));
    person
        .until("it asks for permission", |board| {
            let job = board.job("a1");
            job.is_some_and(|it| it.status.turns == 2 && it.state().label() != "working")
        })
        .await;
    let records = person.records();
    let asked = records.iter().find_map(|record| match record {
        SessionRecord::LeaveAsked { call, details, .. } => {
            assert!(details.contains("by Claude"), "{details}");
            Some(call.clone())
        }
        _ => None,
    });
    let call = asked.unwrap_or_else(|| panic!("{records:#?}"));
    let decision = PermissionDecision::Once;
    let view = person.composer.watch("a1").expect("it has begun");
    (view.send)(SessionCommand::Decide { call, decision });
    person.until_state("a1", "done").await;
    assert_eq!(person.answer(), "It is written.");
    person
        .until("its file is seen", |board| {
            hunk(board, "real.txt").is_some()
        })
        .await;
}
