//! Servers that `burin-agent lsp install` installs, and their diagnostics of a file with one error.
//!
//! A story is skipped if the tool that installs its server is missing or the registry does not answer.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use host::environment::{self, Recipient, Variable};
use mockllm::{MockServer, Script};
use serde_json::{Value, json};

use super::{CommandResult, World};

/// A source of servers.
#[derive(Clone, Copy)]
pub(super) enum Registry {
    Npm,
    Pypi,
    /// The toolchain of rustup; nothing is added to it.
    Rustup,
}

/// A file that a server checks.
struct ServerFile {
    /// Path below the project.
    name: &'static str,
    wrong: &'static str,
    right: &'static str,
    /// The line of the diagnostic begins with this text.
    diagnostic: &'static str,
}

impl Registry {
    /// Returns whether a small package can be installed from the registry now; of a toolchain, whether it has the
    /// components already, since a test must not change the user's.
    fn answers(self, world: &World) -> bool {
        let folder = world.path("probe").display().to_string();
        let (program, arguments): (&str, &[&str]) = match self {
            Self::Npm => (
                "npm",
                &[
                    "install",
                    "--prefix",
                    &folder,
                    "--ignore-scripts",
                    "--no-audit",
                    "--no-fund",
                    "--fetch-retries=0",
                    "--fetch-timeout=20000",
                    "--",
                    "is-number@7.0.0",
                ],
            ),
            Self::Pypi => (
                "python3",
                &[
                    "-m",
                    "pip",
                    "install",
                    "--target",
                    &folder,
                    "--upgrade",
                    "--no-deps",
                    "--only-binary=:all:",
                    "--retries=0",
                    "--timeout=20",
                    "six==1.17.0",
                ],
            ),
            Self::Rustup => ("rustup", &["component", "list", "--installed"]),
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(world.variables.iter().cloned());
        command.env("HOME", world.path("."));
        let output = command.stdin(Stdio::null()).output();
        output.is_ok_and(|output| {
            let listed = String::from_utf8_lossy(&output.stdout);
            let has = |name: &str| listed.lines().any(|line| line.starts_with(name));
            let is_complete = match self {
                Self::Npm | Self::Pypi => true,
                Self::Rustup => has("rust-analyzer") && has("rust-src"),
            };
            output.status.success() && is_complete
        })
    }

    fn reason(self) -> &'static str {
        match self {
            Self::Npm => "npm is missing or its registry does not answer",
            Self::Pypi => "pip is missing or PyPI does not answer",
            Self::Rustup => "rustup or a component of the toolchain is missing",
        }
    }
}

impl World {
    /// A project without files, and no settings; its programs see the variables that all children get.
    pub(super) fn with_installed_servers() -> Self {
        let mut world = World::new("push");
        fs::remove_file(world.path("p/a.sql")).expect("removed");
        fs::remove_file(world.path("config/settings.json")).expect("removed");
        world.variables = variables(&world);
        world
    }

    /// Installs servers with the product's own command. Returns `false` if that is not possible now; then the test
    /// counts as skipped.
    pub(super) fn install(&self, registry: Registry, ids: &[&str]) -> bool {
        let skip = || {
            test_support::skip(format!("{}: {}", ids.join(", "), registry.reason()));
            false
        };
        if !registry.answers(self) {
            return skip();
        }
        let result = self.run(&[&["lsp", "install", "--yes"], ids].concat());
        if result.code != Some(0) && !registry.answers(self) {
            return skip();
        }
        assert_eq!(result.code, Some(0), "{result:?}");
        true
    }

    /// Checks a file, and that no process of its servers is left.
    fn check(&self, arguments: &[&str]) -> CommandResult {
        let result = self.run(&[&["lsp", "check", "--trust"], arguments].concat());
        assert_eq!(self.server_processes(), Vec::<String>::new());
        result
    }

    /// The command lines of all processes that name the folder of installed servers; on Linux, also the working
    /// folders of those that run in the project.
    pub(super) fn server_processes(&self) -> Vec<String> {
        let output = Command::new("ps").args(["axww", "-o", "args"]).output();
        let output = output.expect("a list of processes").stdout;
        let servers = self.path("state/servers").display().to_string();
        let text = String::from_utf8_lossy(&output);
        let lines = text.lines().filter(|line| line.contains(&servers));
        let lines = lines.map(str::to_owned);
        let root = self.path("p").canonicalize().expect("a folder");
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let folders = processes.filter_map(|process| process.path().join("cwd").read_link().ok());
        let folders = folders.filter(|folder| folder.starts_with(&root));
        lines
            .chain(folders.map(|folder| folder.display().to_string()))
            .collect()
    }
}

/// The variables that all children get, with the folders of rustup, which are below the user's home folder, and one
/// for the builds of the world.
fn variables(world: &World) -> Vec<Variable> {
    let mut variables = environment::variables(Recipient::Foreign);
    let value = |name: &str| {
        let found = variables.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| PathBuf::from(value))
    };
    let home = value("HOME").unwrap_or_default();
    let folders = [
        (
            "RUSTUP_HOME",
            value("RUSTUP_HOME").unwrap_or(home.join(".rustup")),
        ),
        (
            "CARGO_HOME",
            value("CARGO_HOME").unwrap_or(home.join(".cargo")),
        ),
        ("CARGO_TARGET_DIR", world.path("target")),
    ];
    for (name, folder) in folders {
        variables.retain(|(known, _)| known != name);
        variables.push((name.into(), folder.into()));
    }
    variables
}

fn check_server(registry: Registry, id: &str, file: &ServerFile) {
    let world = World::with_installed_servers();
    if !world.install(registry, &[id]) {
        return;
    }

    let path = world.path("p").join(file.name);
    fs::write(&path, file.wrong).expect("a file");
    let result = world.check(&[file.name]);
    let has_line = result
        .output
        .lines()
        .any(|line| line.starts_with(file.diagnostic));
    assert!(has_line, "{result:?}");
    assert_eq!(result.code, Some(1), "{result:?}");
    let result = world.check(&["--json", "."]);
    let report: Value = serde_json::from_str(&result.output).expect("JSON");
    assert_eq!(report["diagnostics"][0]["server"], id, "{report}");

    fs::write(&path, file.right).expect("a file");
    let result = world.check(&[file.name]);
    assert_eq!(
        (result.code, result.output.as_str()),
        (Some(0), ""),
        "{result:?}"
    );
}

#[test]
fn ruff_is_installed_and_finds_an_undefined_name() {
    let file = ServerFile {
        name: "a.py",
        wrong: "print(absent)\n",
        right: "print(1)\n",
        diagnostic: "a.py:1:7: error: Undefined name `absent` [Ruff F821]",
    };
    check_server(Registry::Pypi, "ruff", &file);
}

#[test]
fn ty_is_installed_and_finds_a_wrong_type() {
    let file = ServerFile {
        name: "a.py",
        wrong: "x: int = \"one\"\n",
        right: "x: int = 1\n",
        diagnostic: "a.py:1:",
    };
    check_server(Registry::Pypi, "ty", &file);
}

#[test]
fn an_agent_asks_an_installed_server_inside_its_sandbox() {
    let world = World::with_installed_servers();
    if !Registry::Pypi.answers(&world) {
        return test_support::skip(format!("ty: {}", Registry::Pypi.reason()));
    }
    let result = world.run(&["lsp", "install", "--yes", "ty"]);
    assert_eq!(result.code, Some(0), "{result:?}");
    let server = MockServer::start(agent_script()).expect("a server on loopback");
    let provider =
        json!({ "name": "mock", "wire": "openai", "url": format!("{}/v1", server.url()) });
    let settings = json!({ "models": { "default": "mock/m", "providers": [provider] } });
    fs::write(world.path("config/settings.json"), settings.to_string()).expect("settings");
    fs::write(world.path("p/a.py"), "x: int = 1\n").expect("a file");
    let root = world.path("p").display().to_string();
    let run = [
        "run", "--json", "--yes", "--model", "mock/m", "--root", &root, "the task",
    ];
    let result = world.run(&run);
    assert_eq!(result.code, Some(0), "{result:?}");
    for text in [
        "1 new error:\\na.py:1: ",
        "No errors and no warnings in 1 file",
    ] {
        assert!(result.output.contains(text), "{text}: {result:?}");
    }
    assert_eq!(world.server_processes(), Vec::<String>::new());
}

/// A model that looks for errors, then writes a wrong type.
fn agent_script() -> Script {
    let call = |tool: &str, arguments: Value| json!([{ "call": { "tool": tool, "arguments": arguments } }]);
    let step = |step: u32, reply: Value| json!({ "match": { "user": { "contains": "task" }, "step": step }, "reply": reply });
    let rules = json!([
        step(1, call("read", json!({ "path": "a.py" }))),
        step(2, call("diagnostics", json!({ "paths": ["a.py"] }))),
        step(3, call("write", json!({ "path": "a.py", "content": "x: int = \"one\"\n" }))),
        { "reply": [{ "text": "Done." }] },
    ]);
    let script = Script::parse("story", &json!({ "rules": rules }).to_string());
    script.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn typescript_is_installed_and_finds_a_wrong_type() {
    let file = ServerFile {
        name: "a.ts",
        wrong: "export const x: number = \"one\";\n",
        right: "export const x: number = 1;\n",
        diagnostic: "a.ts:1:14: error: Type 'string' is not assignable to type 'number'.",
    };
    check_server(Registry::Npm, "typescript-language-server", &file);
}

#[test]
fn json_is_installed_and_finds_a_missing_value() {
    let file = ServerFile {
        name: "a.json",
        wrong: "{ \"a\": }\n",
        right: "{ \"a\": 1 }\n",
        diagnostic: "a.json:1:8: error: Value expected",
    };
    check_server(Registry::Npm, "json", &file);
}

#[test]
fn rust_analyzer_finds_a_wrong_type_with_cargo() {
    let world = World::with_installed_servers();
    if !world.install(Registry::Rustup, &["rust-analyzer"]) {
        return;
    }
    let manifest = "[package]\nname = \"p\"\nversion = \"1.0.0\"\nedition = \"2024\"\n";
    fs::write(world.path("p/Cargo.toml"), manifest).expect("a file");
    fs::create_dir(world.path("p/src")).expect("a folder");
    let source = world.path("p/src/lib.rs");
    fs::write(&source, "pub const ONE: i32 = \"one\";\n").expect("a file");
    let result = world.check(&["."]);
    let line = "src/lib.rs:1:22: error: mismatched types";
    let is_found = result.output.lines().any(|it| it.starts_with(line));
    assert!(is_found && result.code == Some(1), "{result:?}");
    fs::write(&source, "pub const ONE: i32 = 1;\n").expect("a file");
    // A file outside of the crate has hints only.
    fs::write(world.path("p/other.rs"), "pub fn two() {}\n").expect("a file");
    let result = world.check(&["."]);
    assert_eq!(
        (result.code, result.output.as_str()),
        (Some(0), ""),
        "{result:?}"
    );
}
