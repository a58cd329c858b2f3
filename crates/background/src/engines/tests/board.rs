//! Agents of the board get what their repository is trusted with, in the window's own wiring.

use std::process::Command as Process;

use agent_service::board::{Command, Event, StartAgents};
use agent_service::{Consent, FolderTrust};
use mockllm::{MockServer, Script};
use serde_json::json;

use super::*;

/// A server of tools as a shell script.
const SERVER: &str = r#"#!/bin/sh
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
  *'"method":"initialize"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"scripted","version":"1"}}}\n' "$id" ;;
  *'"method":"tools/list"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"look_up","description":"Looks up a page.","inputSchema":{"type":"object"}}]}}\n' "$id" ;;
  esac
done
"#;

/// A repository with everything that a project can give its agents, and a scripted model.
pub(super) struct Repository {
    pub(super) setup: Setup,
    pub(super) root: AbsPath,
    pub(super) model: MockServer,
}

impl Repository {
    /// Creates the repository; `None` without `git`.
    pub(super) fn new() -> Option<Self> {
        let setup = Setup::new();
        let root = setup.root.join("project");
        let script = r#"{ "rules": [{ "reply": [{ "text": "I am done." }] }] }"#;
        let model = MockServer::start(Script::parse("board", script).expect("a script"));
        let model = model.expect("a port");
        let provider = json!({ "name": "mock", "wire": "openai", "url": model.url() });
        let settings = json!({ "models": { "providers": [provider] } });
        write(
            &setup.engines.dirs.config.join("settings.json"),
            &settings.to_string(),
        );
        let models = setup.engines.dirs.config.join("models");
        let profile = json!({ "match": ["mock/*"], "tools": true });
        let profiles = json!({ "profiles": [profile] });
        write(&models.join("profiles.json"), &profiles.to_string());
        let row = json!({
            "provider": "mock", "model": "m", "kind": "chat", "context": 100_000, "output": 8192,
            "price": { "input": 1, "output": 1 }, "source": "the test", "date": "2026-01-01"
        });
        let prices = json!({ "format": 1, "rows": [row] });
        write(&models.join("prices.json"), &prices.to_string());

        write(&root.join("AGENTS.md"), "Prefer short names.\n");
        let rule = "---\nalwaysApply: true\n---\nMeasure before you change.\n";
        write(&root.join(".cursor/rules/measure.mdc"), rule);
        let skill =
            "---\nname: release\ndescription: Publishes a version.\n---\nRaise the number.\n";
        write(&root.join(".burin/skills/release/SKILL.md"), skill);
        let hook = json!({ "type": "command", "command": "echo the hook ran" });
        let hooks = json!({ "hooks": { "UserPromptSubmit": [{ "hooks": [hook] }] } });
        write(&root.join(".claude/settings.json"), &hooks.to_string());
        let server = setup.root.join("server.sh");
        write(&server, SERVER);
        let server = json!({ "command": "sh", "args": [server.to_string()] });
        let servers = json!({ "mcpServers": { "pages": server } });
        write(&root.join(".mcp.json"), &servers.to_string());
        let is_made = git(&root, &["init", "--quiet"])
            && git(&root, &["add", "--all"])
            && git(&root, &["commit", "--quiet", "--message", "all"]);
        is_made.then_some(Self { setup, root, model })
    }

    fn consent(&self, consent: Consent) -> FolderTrust {
        let engines = &self.setup.engines;
        block_on(engines.consent(self.root.clone(), consent)).expect("stored")
    }

    /// Lets an agent of the board do a task, and returns the request that its model received.
    fn request_of_agent(&self, task: &str) -> String {
        let board = block_on(self.setup.engines.board(self.root.clone()));
        let mut board = board.expect("a board");
        (board.send)(Command::Start(StartAgents {
            prompt: task.to_owned(),
            model: "mock/m".to_owned(),
            agent: None,
            mode: SessionMode::Build,
            agents: 1,
            is_best_of: false,
        }));
        block_on(async {
            while let Some(event) = board.events.next().await {
                let Event::Board(board) = event else {
                    continue;
                };
                let mut jobs = board.jobs.iter();
                let job = jobs.find(|job| job.status.task.prompt.contains(task));
                match job.map(|job| job.state().label()) {
                    Some("done") => return,
                    Some("failed") => panic!("{board:#?}"),
                    _ => {}
                }
            }
            panic!("the board ended");
        });
        let requests = self.model.requests().into_iter();
        let bodies = requests.map(|it| String::from_utf8_lossy(&it.body).into_owned());
        let mut of_task = bodies.filter(|body| body.contains(task));
        of_task.next().expect("a request about the task")
    }
}

pub(super) fn write(path: &AbsPath, text: &str) {
    let folder = path.parent().expect("a folder");
    RealFiles.create_folder(&folder).expect("a folder");
    let written = RealFiles.write_private(path, text.as_bytes());
    written.expect("written");
}

#[expect(clippy::disallowed_methods, reason = "the user's own Git")]
pub(super) fn git(folder: &AbsPath, arguments: &[&str]) -> bool {
    let status = Process::new("git")
        .args(["-c", "user.name=test", "-c", "user.email=test@localhost"])
        .args(["-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(folder.as_path())
        .status();
    status.is_ok_and(|status| status.success())
}

#[test]
fn agents_of_the_board_get_what_the_repository_is_trusted_with() {
    let Some(repository) = Repository::new() else {
        return test_support::skip("needs git");
    };
    const GIVEN: [&str; 5] = [
        "Prefer short names.",
        "Measure before you change.",
        "Publishes a version.",
        "the hook ran",
        "look_up",
    ];
    let before = repository.request_of_agent("Count the words");
    for given in GIVEN {
        assert!(!before.contains(given), "{given} without trust: {before}");
    }
    let trust = repository.consent(Consent::Trust);
    repository.consent(Consent::Hooks(trust.hooks.clone()));
    for server in trust.servers {
        repository.consent(Consent::Server(server));
    }
    let after = repository.request_of_agent("Count the lines");
    for given in GIVEN {
        assert!(after.contains(given), "{given} is missing: {after}");
    }
}
