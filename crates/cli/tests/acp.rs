//! Tests the program as an agent with the demo model: driven by the protocol's own client, by Burin as a host, and
//! by invalid messages.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use connect::Variables;
use connect::acp::host::{
    AgentLaunch, HostedAgentCommand, HostedAgentEvent, SessionStart, StopTimeouts, start,
};
use connect::acp::peers::{ObservedRun, prompt};
use connect::acp::protocol::{
    CallContent, CallStatus, CallUpdate, MessageContent, PermissionChoiceKind, PromptStop, Update,
    Voice,
};
use host::{RealFiles, TempFolder};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command as Process};
use tokio::sync::mpsc;

const PATIENCE: Duration = Duration::from_secs(120);
const FIX: &str = "please fix the failing test";

/// Returns the path of `burin-agent`. Cargo sets the variable when it runs tests; checks for another
/// system do not know it at compile time.
fn program() -> String {
    std::env::var("CARGO_BIN_EXE_burin-agent").expect("a path from Cargo")
}

/// A home for the program's own files, and a copy of the sample project.
struct World {
    folder: TempFolder,
}

impl World {
    fn new() -> Self {
        let folder = TempFolder::new().expect("a folder");
        let world = Self { folder };
        for (path, text) in mockllm::demo::SAMPLE {
            let path = world.project().join(path);
            let parent = path.parent().expect("a folder");
            std::fs::create_dir_all(parent).expect("a folder");
            write(&path, text);
        }
        world
    }

    fn project(&self) -> PathBuf {
        self.folder.path().as_path().join("project")
    }

    /// Contains no keys and nothing from the environment of the test run.
    fn environment(&self) -> Variables {
        let own = |name: &str| {
            self.folder
                .path()
                .as_path()
                .join(name)
                .display()
                .to_string()
        };
        let path = std::env::var("PATH").expect("a PATH");
        let variables = [
            ("PATH", path),
            ("HOME", own("home")),
            ("BURIN_CONFIG_DIR", own("config")),
            ("BURIN_STATE_DIR", own("state")),
            ("BURIN_CACHE_DIR", own("cache")),
        ];
        let named = variables.map(|(name, value)| (name.to_owned(), value));
        named.into_iter().collect()
    }

    fn run(&self, arguments: &[&str]) -> Child {
        Process::new(program())
            .args(arguments)
            .env_clear()
            .envs(self.environment())
            .current_dir(self.folder.path().as_path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the program starts")
    }

    /// Runs a turn with the protocol's own client; returns its result, and the program's exit code
    /// and error output.
    async fn own_client(
        &self,
        folder: PathBuf,
        arguments: &[&str],
        text: &str,
    ) -> (ObservedRun, i32, String) {
        let mut child = self.run(arguments);
        let (from, to) = (child.stdout.take(), child.stdin.take());
        let seen = prompt(from.expect("a pipe"), to.expect("a pipe"), folder, text);
        let seen = tokio::time::timeout(PATIENCE, seen).await;
        let seen = seen.expect("in time").expect("a turn");
        let (code, complaints) = ended(child).await;
        (seen, code, complaints)
    }

    fn host(&self, begin: SessionStart) -> Host {
        let root = RealRoot::of(&self.project());
        let state = self.folder.path().join("host");
        std::fs::create_dir_all(state.as_path()).expect("a folder");
        let (commands, events) = start(AgentLaunch {
            name: "Burin".to_owned(),
            program: program(),
            arguments: ["acp", "--model", "demo"].map(str::to_owned).to_vec(),
            environment: self.environment(),
            root: root.0,
            session: begin,
            servers: Vec::new(),
            sign_in: None,
            auth_meta: serde_json::Map::new(),
            terminals: None,
            signs_in_by_terminal: false,
            sandbox: None,
            stop: StopTimeouts::default(),
            files: Arc::new(RealFiles),
            ignore: Arc::new(|_, _| false),
            recovery: state,
        });
        Host {
            commands,
            events,
            told: Vec::new(),
        }
    }
}

struct RealRoot(base::AbsPath);

impl RealRoot {
    fn of(path: &Path) -> Self {
        let real = path.canonicalize().expect("a real path");
        Self(base::AbsPath::new(real).expect("absolute"))
    }
}

/// Burin as the host of Burin.
struct Host {
    commands: mpsc::Sender<HostedAgentCommand>,
    events: mpsc::Receiver<HostedAgentEvent>,
    told: Vec<HostedAgentEvent>,
}

impl Host {
    async fn say(&self, command: HostedAgentCommand) {
        self.commands.send(command).await.expect("it listens");
    }

    /// Waits for a matching event, and allows every permission request meanwhile.
    async fn until<T>(&mut self, wanted: impl Fn(&HostedAgentEvent) -> Option<T>) -> T {
        loop {
            let event = tokio::time::timeout(PATIENCE, self.events.recv()).await;
            let event = event.unwrap_or_else(|_| panic!("too late: {:#?}", self.told));
            let event = event.unwrap_or_else(|| panic!("it ended: {:#?}", self.told));
            if let HostedAgentEvent::Asking {
                number, choices, ..
            } = &event
            {
                let yes = choices
                    .iter()
                    .find(|choice| choice.kind == PermissionChoiceKind::AllowOnce);
                let choice = yes.map(|choice| choice.id.clone());
                let number = *number;
                self.say(HostedAgentCommand::Decide { number, choice })
                    .await;
            }
            let found = wanted(&event);
            self.told.push(event);
            if let Some(found) = found {
                return found;
            }
        }
    }

    async fn begun(&mut self) -> String {
        self.until(|event| match event {
            HostedAgentEvent::Began { session, .. } => Some(session.clone()),
            HostedAgentEvent::Closed(why) => panic!("it closed: {why:?}"),
            _ => None,
        })
        .await
    }

    async fn turn(&mut self, text: &str) -> PromptStop {
        self.say(HostedAgentCommand::Prompt(vec![MessageContent::Text(
            text.to_owned(),
        )]))
        .await;
        self.until(|event| match event {
            HostedAgentEvent::TurnEnded(end) => Some(end.clone()),
            _ => None,
        })
        .await
    }

    async fn close(mut self) -> Vec<HostedAgentEvent> {
        self.say(HostedAgentCommand::Close).await;
        let why = self
            .until(|event| match event {
                HostedAgentEvent::Closed(why) => Some(why.clone()),
                _ => None,
            })
            .await;
        assert_eq!(why, None);
        self.told
    }
}

/// Returns the final state of every call, the whole text and the whole reasoning.
fn settled(told: &[HostedAgentEvent]) -> (Vec<CallUpdate>, String, String) {
    let mut calls: Vec<CallUpdate> = Vec::new();
    let (mut said, mut thought) = (String::new(), String::new());
    for event in told {
        match event {
            HostedAgentEvent::Update(Update::Call(update)) => {
                match calls.iter_mut().find(|call| call.id == update.id) {
                    Some(call) => call.merge(update.clone()),
                    None => calls.push(update.clone()),
                }
            }
            HostedAgentEvent::Update(Update::Said { voice, piece, .. }) => match voice {
                Voice::Agent => said.push_str(&piece.text()),
                Voice::Thought => thought.push_str(&piece.text()),
                Voice::User => {}
            },
            _ => {}
        }
    }
    (calls, said, thought)
}

async fn ended(mut child: Child) -> (i32, String) {
    drop(child.stdin.take());
    let output = tokio::time::timeout(PATIENCE, child.wait_with_output()).await;
    let output = output.expect("in time").expect("an end");
    let complaints = String::from_utf8(output.stderr).expect("text");
    (output.status.code().expect("an exit code"), complaints)
}

#[expect(clippy::disallowed_methods, reason = "tests make files by hand")]
fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("a file");
}

#[expect(clippy::disallowed_methods, reason = "tests look at files by hand")]
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a file")
}

const FIXED: &str = "(weekday - today.weekday() - 1) % 7 + 1";

#[tokio::test]
async fn the_protocols_own_client_has_a_test_fixed() {
    let world = World::new();
    let (seen, code, complaints) = world
        .own_client(world.project(), &["acp", "--model", "demo"], FIX)
        .await;
    assert_eq!(
        (seen.reason.as_str(), code),
        ("end_turn", 0),
        "{complaints}"
    );
    assert!(seen.asked > 0);
    assert!(read(&world.project().join("todo/dates.py")).contains(FIXED));
    assert_eq!(complaints, "");
    // `sessions list` contains it.
    let listed = world.run(&["sessions", "list", "--json"]);
    let output = listed.wait_with_output().await.expect("an end");
    let listed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(listed[0]["title"], FIX);
    assert_eq!(
        listed[0]["root"],
        json!(RealRoot::of(&world.project()).0.as_path())
    );
}

#[tokio::test]
async fn with_yes_nothing_is_asked() {
    let world = World::new();
    let (seen, code, complaints) = world
        .own_client(world.project(), &["acp", "--model", "demo", "--yes"], FIX)
        .await;
    assert_eq!((seen.reason.as_str(), seen.asked, code), ("end_turn", 0, 0));
    assert!(complaints.contains("Deny rules hold"), "{complaints}");
}

#[tokio::test]
async fn elsewhere_the_demo_works_on_a_copy_and_says_so() {
    let world = World::new();
    let empty = world.folder.path().as_path().join("empty");
    std::fs::create_dir(&empty).expect("a folder");
    let (seen, _, _) = world
        .own_client(empty.clone(), &["acp", "--model", "demo"], FIX)
        .await;
    assert_eq!(seen.reason, "end_turn");
    let said = seen.updates.iter().any(|update| {
        let text = update["content"]["text"].as_str();
        text.is_some_and(|text| text.contains("works on a sample project in"))
    });
    assert!(said, "{:#?}", seen.updates);
    assert_eq!(empty.read_dir().expect("a folder").count(), 0);
    assert!(!read(&world.project().join("todo/dates.py")).contains(FIXED));
}

#[tokio::test]
async fn a_longer_turn_keeps_its_conversation() {
    let world = World::new();
    let demo = ["acp", "--model", "demo"];
    let (seen, _, _) = world
        .own_client(world.project(), &demo, "add a count command")
        .await;
    let said: String = seen
        .updates
        .iter()
        .filter(|update| update["sessionUpdate"] == "agent_message_chunk")
        .filter_map(|update| update["content"]["text"].as_str())
        .collect();
    assert!(said.contains("and its test passes"), "{said}");
}

#[tokio::test]
async fn burin_hosts_burin() {
    let world = World::new();
    let mut host = world.host(SessionStart::New);
    let session = host.begun().await;
    assert_eq!(host.turn(FIX).await, PromptStop::Done);
    let (calls, said, thought) = settled(&host.told);
    assert!(said.contains("tests pass") && !thought.is_empty(), "{said}");
    let has_diff = |call: &CallUpdate| {
        let content = call.content.iter().flatten();
        content
            .into_iter()
            .any(|it| matches!(it, CallContent::Diff { new, .. } if new.contains(FIXED)))
    };
    assert!(calls.iter().any(has_diff), "{calls:#?}");
    assert!(
        calls
            .iter()
            .all(|call| call.state == Some(CallStatus::Done))
    );
    let told = host.close().await;
    let noise = told
        .iter()
        .filter(|event| matches!(event, HostedAgentEvent::Noise(_)));
    assert_eq!(noise.count(), 0);

    // Another process loads the session and replays it unchanged.
    let mut host = world.host(SessionStart::Load(session));
    host.begun().await;
    let (again_calls, again_said, again_thought) = settled(&host.told);
    assert_eq!((again_calls, again_said), (calls, said));
    assert_eq!(again_thought, thought);
    host.close().await;
}

#[tokio::test]
async fn invalid_messages_get_errors_and_eof_ends() {
    let world = World::new();
    let mut child = world.run(&["acp", "--model", "demo"]);
    let mut to = child.stdin.take().expect("a pipe");
    to.write_all(b"hello?\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"fly\"}\n")
        .await
        .expect("it listens");
    drop(to);
    let mut said = String::new();
    let mut from = child.stdout.take().expect("a pipe");
    let whole = tokio::time::timeout(PATIENCE, from.read_to_string(&mut said)).await;
    whole.expect("in time").expect("text");
    for line in said.lines() {
        let message: Value = serde_json::from_str(line).expect("JSON and nothing else");
        assert!(message["error"]["code"].is_i64(), "{line}");
    }
    assert!(said.lines().count() >= 1, "{said}");
    assert_eq!(ended(child).await.0, 0);
}

#[tokio::test]
async fn a_model_that_is_none_is_refused_at_once() {
    let world = World::new();
    let (code, complaints) = ended(world.run(&["acp", "--model", "nonsense"])).await;
    assert_eq!(code, 1);
    assert!(
        complaints.contains("\"nonsense\" is not a model"),
        "{complaints}"
    );
}
