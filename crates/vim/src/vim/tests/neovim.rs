//! A real Neovim that runs cases of keys, for comparison.
//!
//! The program is `nvim`, or that of `BURIN_NVIM`. Start at `Neovim::find`.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const SCRIPT: &str = include_str!("nvim.lua");

/// The release of Neovim that is compared.
pub(super) const RELEASE: &str = "0.11.";

/// Keys on a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) lines: Vec<String>,
    pub(super) row: u32,
    /// Byte of the caret.
    pub(super) col: usize,
    /// Commands in Vim's notation, each complete.
    pub(super) commands: Vec<String>,
    /// Arguments of `:set`.
    pub(super) set: String,
}

impl Case {
    pub(super) fn keys(&self) -> String {
        self.commands.concat()
    }
}

/// A state that keys lead to, of either machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    pub(super) lines: Vec<String>,
    pub(super) row: u32,
    pub(super) col: usize,
    pub(super) mode: String,
    /// Text and type by name.
    pub(super) registers: std::collections::BTreeMap<String, (String, String)>,
    pub(super) marks: std::collections::BTreeMap<String, (u32, usize)>,
    /// A failure of the script.
    pub(super) error: Option<String>,
}

/// An installed Neovim.
pub(super) struct Neovim {
    program: PathBuf,
    pub(super) version: String,
}

impl Neovim {
    /// Finds the program. Only the release that the machine follows is compared: others differ in details, and old ones
    /// do not run the script.
    #[expect(
        clippy::disallowed_methods,
        reason = "the test compares with a program"
    )]
    pub(super) fn find() -> Option<Self> {
        let program = std::env::var_os("BURIN_NVIM").unwrap_or_else(|| "nvim".into());
        let program = PathBuf::from(program);
        let output = Command::new(&program).arg("--version").output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = text.lines().next()?.strip_prefix("NVIM v")?.to_owned();
        let is_wanted = version.starts_with(RELEASE);
        is_wanted.then_some(Self { program, version })
    }

    /// Runs cases one after the other in one process.
    pub(super) fn run(&self, cases: &[Case]) -> Vec<Outcome> {
        self.states(cases).iter().map(outcome).collect()
    }

    /// The states that cases lead to, as the script writes them.
    #[expect(
        clippy::disallowed_methods,
        reason = "the test compares with a program"
    )]
    pub(super) fn states(&self, cases: &[Case]) -> Vec<Value> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| folder.path().join(name);
        let inputs: Vec<Value> = cases.iter().map(input).collect();
        std::fs::write(path("script.lua"), SCRIPT).expect("written");
        std::fs::write(path("cases.json"), json!(inputs).to_string()).expect("written");
        let status = Command::new(&self.program)
            .args(["-u", "NONE", "-i", "NONE", "-n", "--headless", "-c"])
            .arg("luafile script.lua")
            .args([
                "-c",
                "call RunCases(luaeval(\"case_count\"))",
                "-c",
                "cquit",
            ])
            .env("BURIN_CASES", path("cases.json"))
            .env("BURIN_STATES", path("states.json"))
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("nvim starts");
        assert!(status.success(), "nvim failed: {status}");
        let text = std::fs::read_to_string(path("states.json")).expect("the states");
        let states: Vec<Value> = serde_json::from_str(&text).expect("JSON");
        assert_eq!(states.len(), cases.len());
        states
    }
}

/// A case as the script reads it.
pub(super) fn input(case: &Case) -> Value {
    json!({
        "lines": case.lines,
        "row": case.row,
        "col": case.col,
        "commands": case.commands,
        "set": case.set,
    })
}

/// The state that the script wrote.
pub(super) fn outcome(state: &Value) -> Outcome {
    if let Some(error) = state["error"].as_str() {
        return Outcome {
            error: Some(error.to_owned()),
            ..Outcome::default()
        };
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let lines = state["lines"].as_array().cloned().unwrap_or_default();
    let registers = state["registers"].as_object().cloned().unwrap_or_default();
    let marks = state["marks"].as_object().cloned().unwrap_or_default();
    Outcome {
        lines: lines.iter().map(text).collect(),
        row: number(&state["row"]) as u32,
        col: number(&state["col"]) as usize,
        mode: text(&state["mode"]),
        registers: registers
            .into_iter()
            .map(|(name, value)| (name, (text(&value[0]), text(&value[1]))))
            .collect(),
        marks: marks
            .into_iter()
            .map(|(name, value)| (name, (number(&value[0]) as u32, number(&value[1]) as usize)))
            .collect(),
        error: None,
    }
}
