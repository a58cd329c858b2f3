//! Tests agents in the window: a permission is requested and granted, a turn succeeds, one is
//! cancelled, and one fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::desk::Desk;

/// Returns the `burin-agent` program beside ours; `None` if only the window was built.
fn agent() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_BIN_EXE_burin")).with_file_name("burin-agent");
    path.exists().then_some(path)
}

fn sessions(desk: &Desk, agent: &Path, arguments: &[&str]) -> String {
    run_agent(desk, agent, &[&["sessions"], arguments].concat())
}

/// Runs `burin-agent` and returns its output.
fn run_agent(desk: &Desk, agent: &Path, arguments: &[&str]) -> String {
    let home = desk.folder();
    let output = Command::new(agent)
        .args(arguments)
        .env("BURIN_CONFIG_DIR", home.join("config"))
        .env("BURIN_STATE_DIR", home.join("state"))
        .env("BURIN_CACHE_DIR", home.join("cache"))
        .output()
        .expect("it runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the names of all sessions, latest first.
fn names(desk: &Desk, agent: &Path) -> Vec<String> {
    let list = sessions(desk, agent, &["list", "--json"]);
    let list: Value = serde_json::from_str(&list).unwrap_or_default();
    let list = list.as_array().cloned().unwrap_or_default();
    let names = list.iter().filter_map(|line| line["id"].as_str());
    names.map(str::to_owned).collect()
}

/// One session and its records.
struct Session<'a> {
    desk: &'a Desk,
    agent: &'a Path,
    id: String,
}

impl<'a> Session<'a> {
    /// Sends `text` and returns the session that begins.
    fn begin(desk: &'a Desk, agent: &'a Path, text: &str) -> Self {
        let before = names(desk, agent);
        desk.type_text(text);
        desk.keys(&["Return"]);
        let new = || {
            let now = names(desk, agent);
            now.into_iter().find(|id| !before.contains(id))
        };
        desk.until("a session", 60, || new().is_some());
        let id = new().expect("a session");
        Self { desk, agent, id }
    }

    /// Returns the records of a kind.
    fn recorded(&self, kind: &str) -> Vec<Value> {
        let records = sessions(self.desk, self.agent, &["export", &self.id]);
        let records = records
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let is_wanted = |record: &Value| record.to_string().contains(&format!("\"{kind}\""));
        records.filter(is_wanted).collect()
    }

    fn is_waiting(&self) -> bool {
        self.recorded("leave_asked").len() > self.recorded("leave_given").len()
    }

    /// Returns the end of its turn; empty while it runs.
    fn end(&self) -> String {
        let ended = self.recorded("turn_ended");
        ended.first().map(Value::to_string).unwrap_or_default()
    }
}

/// Chooses a model from the palette's list by a word of its name.
fn choose(desk: &Desk, word: &str) {
    desk.keys(&["alt+slash"]);
    desk.wait(500);
    desk.type_text(word);
    desk.keys(&["Return"]);
    desk.wait(500);
}

/// Ends the background process when it is dropped.
struct StopsBackground<'a>(&'a Desk, &'a Path);

impl Drop for StopsBackground<'_> {
    fn drop(&mut self) {
        run_agent(self.0, self.1, &["serve", "--stop", "--force"]);
    }
}

/// Number of agents at work when the window is killed.
const AGENTS: usize = 8;

#[test]
fn eight_agents_go_on_when_the_window_is_killed() {
    let Some(desk) = Desk::new() else {
        return test_support::skip("needs Xvfb, xdotool and git");
    };
    let Some(agent) = agent() else {
        return test_support::skip("burin-agent is not built beside burin");
    };
    let repo = desk.folder().join("repo");
    fs::create_dir_all(&repo).expect("create");
    fs::create_dir_all(desk.folder().join("config")).expect("create");
    let settings = r#"{ "agents": { "background": true } }"#;
    fs::write(desk.folder().join("config/settings.json"), settings).expect("write");
    let _stops = StopsBackground(&desk, &agent);
    let waiting_in_background = || {
        let status = run_agent(&desk, &agent, &["serve", "--status", "--json"]);
        let status: Value = serde_json::from_str(&status).unwrap_or_default();
        let sessions = status["sessions"].as_array().cloned().unwrap_or_default();
        let is_waiting = |it: &&Value| it["activity"] == "WaitingForUser";
        sessions.iter().filter(is_waiting).count()
    };

    let mut burin = desk.start(&[repo.as_os_str()]);
    desk.keys(&["ctrl+alt+b"]);
    desk.wait(4_000);
    choose(&desk, "demo");
    let begin = |ix: usize| {
        if ix > 0 {
            desk.keys(&["ctrl+alt+n"]);
        }
        let session = Session::begin(&desk, &agent, &format!("Fix the failing test {ix}"));
        desk.until("the question for leave", 60, || session.is_waiting());
        session
    };
    let sessions: Vec<Session<'_>> = (0..AGENTS).map(begin).collect();
    assert_eq!(waiting_in_background(), AGENTS);
    burin.kill();
    assert_eq!(
        waiting_in_background(),
        AGENTS,
        "they wait without a window"
    );

    let _again = desk.start(&[repo.as_os_str()]);
    // A new session shows the panel, which the window may have restored. The keys are repeated until
    // the window has read the list and shows the question.
    desk.until("the end of all tasks", 240, || {
        let waiting = (0..).zip(&sessions).filter(|(_, it)| it.is_waiting());
        for (ix, _) in waiting {
            desk.keys(&["ctrl+alt+n", "alt+h", "ctrl+a"]);
            desk.type_text(&format!("test {ix}"));
            if ix == 0 {
                desk.picture("agents-6-listed-again");
            }
            desk.keys(&["Return", "alt+a"]);
        }
        sessions.iter().all(|it| !it.end().is_empty())
    });
    for session in &sessions {
        assert!(session.end().contains("done"), "{}", session.end());
        let calls = |kind| -> Vec<String> {
            let records = session.recorded(kind);
            let mut calls: Vec<_> = records.iter().map(|it| it["call"].to_string()).collect();
            calls.sort();
            calls
        };
        let mut began = calls("call_began");
        assert_eq!(began, calls("call_ended"));
        began.dedup();
        assert_eq!(began, calls("call_ended"), "no call ran twice");
    }
    assert_eq!(names(&desk, &agent).len(), AGENTS, "nothing began twice");
    desk.wait(500);
    desk.picture("agents-7-done-in-background");
}

#[test]
fn an_agent_in_the_window() {
    let Some(desk) = Desk::new() else {
        return test_support::skip("needs Xvfb, xdotool and git");
    };
    let Some(agent) = agent() else {
        return test_support::skip("burin-agent is not built beside burin");
    };
    let repo = desk.folder().join("repo");
    fs::create_dir_all(&repo).expect("create");
    fs::write(repo.join("AGENTS.md"), "Be brief.\n").expect("write");
    let server = r#"{ "mcpServers": { "docs": { "command": "docs-server", "args": ["--all"] } } }"#;
    fs::write(repo.join(".mcp.json"), server).expect("write");
    fs::create_dir_all(desk.folder().join("config")).expect("create");
    // No server listens at this address, so the first request fails.
    let settings = r#"{ "models": { "default": "away/model", "providers": [{ "name": "away", "wire": "openai", "url": "http://127.0.0.1:9/v1" }] } }"#;
    fs::write(desk.folder().join("config/settings.json"), settings).expect("write");

    let _burin = desk.start(&[repo.as_os_str()]);
    desk.keys(&["ctrl+alt+b"]);
    desk.wait(4_000);
    desk.picture("agents-1-begin");

    // The demo model requests permission and succeeds.
    choose(&desk, "demo");
    let session = Session::begin(&desk, &agent, "Fix the failing test");
    desk.until("the question for leave", 60, || session.is_waiting());
    desk.wait(500);
    desk.picture("agents-2-asks");
    desk.keys(&["alt+a"]);
    desk.until("the end of the task", 90, || {
        if session.is_waiting() {
            desk.keys(&["alt+y"]);
        }
        !session.end().is_empty()
    });
    desk.wait(1_000);
    desk.picture("agents-3-done");
    assert!(session.end().contains("done"), "{}", session.end());

    // A turn is cancelled while it waits for permission.
    desk.keys(&["ctrl+alt+n"]);
    choose(&desk, "demo");
    let session = Session::begin(&desk, &agent, "Fix the failing test");
    desk.until("the second question", 60, || session.is_waiting());
    desk.keys(&["ctrl+shift+BackSpace"]);
    desk.until("the end", 30, || !session.end().is_empty());
    desk.wait(1_000);
    desk.picture("agents-4-stopped");
    assert!(session.end().contains("stopped"), "{}", session.end());

    // Chooses a model whose server does not exist.
    desk.keys(&["ctrl+alt+n"]);
    choose(&desk, "away");
    let session = Session::begin(&desk, &agent, "Say hello");
    desk.until("the failure", 120, || !session.end().is_empty());
    desk.wait(1_000);
    desk.picture("agents-5-failed");
    assert!(session.end().contains("failed"), "{}", session.end());
}
