//! A home for runs of the program, and a model that answers from a script.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use host::TempFolder;
use mockllm::{MockServer, Script};
use serde_json::{Value, json};

/// A temporary home with settings, state and a project.
pub(super) struct Home {
    folder: TempFolder,
    pub(super) model: MockServer,
}

/// The output of a run.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) code: Option<i32>,
    pub(super) output: String,
    pub(super) errors: String,
}

impl Home {
    /// Creates a home whose model answers by these rules.
    pub(super) fn new(rules: &Value) -> Self {
        let folder = TempFolder::new().expect("a folder");
        let script = json!({ "rules": rules }).to_string();
        let script = Script::parse("test", &script).unwrap_or_else(|error| panic!("{error}"));
        let model = MockServer::start(script).expect("a port");
        let home = Self { folder, model };
        for name in ["config/models", "project"] {
            std::fs::create_dir_all(home.path(name)).expect("a folder");
        }
        let provider = json!({ "name": "mock", "wire": "anthropic", "url": home.model.url(), "key": "MOCK_KEY" });
        home.write(
            "config/settings.json",
            &json!({ "models": { "providers": [provider] } }).to_string(),
        );
        let row = json!({
            "provider": "mock", "model": "m", "kind": "chat", "context": 100_000, "output": 8192,
            "price": { "input": 1, "output": 1 }, "source": "the test", "date": "2026-01-01"
        });
        home.write(
            "config/models/prices.json",
            &json!({ "format": 1, "rows": [row] }).to_string(),
        );
        let profile = json!({ "match": ["mock/*"], "tools": true, "vision": true });
        home.write(
            "config/models/profiles.json",
            &json!({ "profiles": [profile] }).to_string(),
        );
        home
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        let real = self.folder.path().as_path().canonicalize();
        real.expect("a real path").join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        let folder = path.parent().expect("a folder");
        std::fs::create_dir_all(folder).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    /// Sets the rules that allow calls without permission.
    pub(super) fn allow(&self, rules: &[&str]) {
        let rules = json!({ "permissions": { "allow": rules } });
        self.write("config/permissions.json", &rules.to_string());
    }

    /// Runs the program in the project with empty input.
    pub(super) fn run(&self, arguments: &[&str]) -> Left {
        self.left(self.start(arguments, Stdio::null()))
    }

    /// Runs an agent on a task without a user.
    pub(super) fn task(&self, task: &str) -> Left {
        self.run(&["run", "--model", "mock/m", task])
    }

    pub(super) fn start(&self, arguments: &[&str], input: Stdio) -> Child {
        let mut command = self.command(arguments);
        command.stdin(input).spawn().expect("the program")
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let program = std::env::var_os("CARGO_BIN_EXE_burin-agent").expect("a path from Cargo");
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.path("project"))
            // The test must not use the environment's keys and addresses.
            .env_clear()
            .env("PATH", std::env::var_os("PATH").expect("a PATH"))
            .env("HOME", self.path(""))
            .env("MOCK_KEY", "any")
            .env("BURIN_CONFIG_DIR", self.path("config"))
            .env("BURIN_STATE_DIR", self.path("state"))
            .env("BURIN_CACHE_DIR", self.path("cache"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(super) fn left(&self, child: Child) -> Left {
        let output = child.wait_with_output().expect("its end");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Left {
            code: output.status.code(),
            output: text(&output.stdout),
            errors: text(&output.stderr),
        }
    }

    /// Returns the requests that the model received.
    pub(super) fn asked(&self) -> Vec<Value> {
        let seen = self.model.requests();
        let asked = seen.iter().filter(|seen| seen.path.ends_with("/messages"));
        asked.map(mockllm::LoggedRequest::json).collect()
    }
}

/// Returns the names of the tools that a request offers.
pub(super) fn offered(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().expect("tools");
    tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect()
}

/// Returns whether the path exists, even as a dangling link.
pub(super) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
