//! The peers that apply the same texts: aider's functions and codex's `apply_patch`.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;

/// The result of an edit.
pub(super) struct Answer {
    /// The new text; `None` if the edit was refused.
    pub(super) text: Option<String>,
    pub(super) millis: f64,
}

/// Parses blocks and applies each to the text, as aider does with a reply of a model.
const AIDER: &str = r#"
import json, os, sys, tempfile, time
from aider.coders.editblock_coder import do_replace, find_original_update_blocks
os.chdir(tempfile.mkdtemp())
fence = ("`" * 3, "`" * 3)
print("ready", flush=True)
for line in sys.stdin:
    task = json.loads(line)
    open("f", "a").close()
    start = time.perf_counter()
    try:
        text = task["old"]
        for edit in find_original_update_blocks(task["edits"], fence, [task["path"]]):
            text = do_replace("f", text, edit[1], edit[2], fence) if edit[0] else text
            if not text:
                break
    except Exception:  # what it cannot parse or trips over counts as refused
        text = None
    millis = (time.perf_counter() - start) * 1000
    print(json.dumps({"text": text, "millis": millis}), flush=True)
"#;

/// A Python process that keeps aider's functions loaded.
pub(super) struct Aider {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Aider {
    pub(super) fn start() -> Result<Self, String> {
        const INSTALL: &str = "the peer aider is missing; install it with: python3 -m venv aider && \
             aider/bin/pip install aider-chat, and set BURIN_AIDER_PYTHON=aider/bin/python";
        let python = std::env::var_os("BURIN_AIDER_PYTHON").unwrap_or_else(|| "python3".into());
        let mut process = Command::new(python)
            .args(["-c", AIDER])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{INSTALL} ({error})"))?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err("python has no pipes".to_owned());
        };
        let mut aider = Self {
            process,
            input,
            output: BufReader::new(output),
        };
        let mut line = String::new();
        aider
            .output
            .read_line(&mut line)
            .map_err(|error| error.to_string())?;
        match line.trim() {
            "ready" => Ok(aider),
            _ => Err(INSTALL.to_owned()),
        }
    }

    pub(super) fn apply(&mut self, path: &str, old: &str, edits: &str) -> Result<Answer, String> {
        let failed = |error: std::io::Error| format!("aider's process broke off: {error}");
        let task = json!({"path": path, "old": old, "edits": edits});
        writeln!(self.input, "{task}").map_err(failed)?;
        self.input.flush().map_err(failed)?;
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(failed)?;
        let answer: Value = serde_json::from_str(&line)
            .map_err(|error| format!("aider's process broke off: {error}"))?;
        Ok(Answer {
            text: answer["text"]
                .as_str()
                .filter(|text| !text.is_empty())
                .map(str::to_owned),
            millis: answer["millis"].as_f64().unwrap_or(f64::NAN),
        })
    }
}

impl Drop for Aider {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// Codex's `apply_patch`, run as a process for every patch.
pub(super) struct Codex {
    program: PathBuf,
    folder: TempDir,
}

impl Codex {
    pub(super) fn find() -> Result<Self, String> {
        const INSTALL: &str = "the peer codex is missing; install it with: npm install \
             --ignore-scripts @openai/codex, and set BURIN_CODEX to the program codex in \
             node_modules/@openai/codex-*/vendor/*/bin";
        let program = std::env::var_os("BURIN_CODEX")
            .map(PathBuf::from)
            .ok_or(INSTALL)?;
        // This only checks that the program starts; `apply` runs it as `apply_patch`.
        let is_there = Command::new(&program)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        is_there.map_err(|error| format!("{INSTALL} ({error})"))?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        Ok(Self { program, folder })
    }

    /// Applies a patch for the file `file`.
    pub(super) fn apply(&self, old: &str, patch: &str) -> Result<Answer, String> {
        let path = self.folder.path().join("file");
        std::fs::write(&path, old).map_err(|error| error.to_string())?;
        let start = Instant::now();
        let status = Command::new(&self.program)
            .args(["--codex-run-as-apply-patch", patch])
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(|error| format!("cannot start codex: {error}"))?;
        let millis = start.elapsed().as_secs_f64() * 1_000.0;
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
        let is_changed = status.success() || text != old;
        Ok(Answer {
            text: is_changed.then_some(text),
            millis,
        })
    }
}
