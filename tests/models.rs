//! Tests models over the network: the real adapters and router against a scripted server on loopback.

mod asking;
mod faults;

use std::path::Path;
use std::process::{Command, Stdio};

use host::TempFolder;
use mockllm::{MockServer, Script};

use crate::agent;

/// The wires: the name in the settings, and the path after the server's address.
const WIRES: [(&str, &str); 4] = [
    ("anthropic", ""),
    ("responses", "/v1"),
    ("openai", "/v1"),
    ("gemini", ""),
];

fn server(script: &str) -> MockServer {
    let script = Script::parse("story", script).unwrap_or_else(|error| panic!("{error}"));
    MockServer::start(script).expect("a server on loopback")
}

/// A temporary home with settings, for runs of `burin-agent`.
struct Home {
    folder: TempFolder,
}

/// The output of a run.
struct Left {
    code: Option<i32>,
    output: String,
    errors: String,
}

impl Home {
    /// Creates a home with this `models` section of the settings.
    fn new(models: &str) -> Self {
        let folder = TempFolder::new().expect("a temporary folder");
        let config = folder.path().join("config");
        std::fs::create_dir_all(&config).expect("a folder");
        let settings = format!("{{ \"models\": {models} }}");
        std::fs::write(config.join("settings.json"), settings).expect("settings");
        Self { folder }
    }

    /// Creates a home with one provider, `mock`, which speaks a wire at an address, and a price for
    /// its model `m`.
    fn with_mock(wire: &str, url: &str, more: &str) -> Self {
        let home = Self::new(&format!(
            r#"{{ {more} "providers": [{{ "name": "mock", "wire": "{wire}", "url": "{url}", "key": "MOCK_KEY" }}] }}"#
        ));
        let models = home.folder.path().join("config/models");
        std::fs::create_dir_all(&models).expect("a folder");
        let prices = r#"{ "format": 1, "rows": [
            { "provider": "mock", "model": "m", "kind": "chat", "context": 100000, "output": 8192,
              "price": { "input": 1000000, "output": 10000000 }, "source": "the story", "date": "2026-01-01" }
        ] }"#;
        std::fs::write(models.join("prices.json"), prices).expect("a table");
        home
    }

    fn state(&self) -> &Path {
        self.folder.path().as_path()
    }

    fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Left {
        let program = std::env::current_exe().expect("the path of this program");
        let output = Command::new(program)
            .args([
                "agent::is_burin_agent",
                "--exact",
                "--nocapture",
                "--test-threads=1",
            ])
            .current_dir(self.state())
            // The test must not use the environment's keys and addresses.
            .env_clear()
            .env("PATH", "/nonexistent")
            .env("HOME", self.state())
            .env(agent::ARGUMENTS, arguments.join("\n"))
            .env("BURIN_CONFIG_DIR", self.state().join("config"))
            .env("BURIN_STATE_DIR", self.state().join("state"))
            .env("BURIN_CACHE_DIR", self.state().join("cache"))
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("a process");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Left {
            code: output.status.code(),
            output: text(&output.stdout),
            errors: text(&output.stderr),
        }
    }
}
