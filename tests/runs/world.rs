//! The environment of a run: a home with settings, a project folder, and a server that acts as the
//! model.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use agent::store::SessionStore;
use base::AbsPath;
use host::{Dirs, TempFolder};
use ledger::Ledger;
use mockllm::{MockServer, ReplyPace, Script};
use serde_json::Value;

use crate::agent::ARGUMENTS;

/// The wires: the name in the settings, and the path after the server's address.
pub(super) const WIRES: [(&str, &str); 4] = [
    ("anthropic", ""),
    ("responses", "/v1"),
    ("openai", "/v1"),
    ("gemini", ""),
];

/// Variable that every process of a run inherits, and no other process has.
const MARK: &str = "BURIN_STORY_MARK";

/// A home and a project in it.
pub(super) struct World {
    folder: TempFolder,
    mark: String,
}

/// The output of a run.
pub(super) struct Left {
    pub(super) code: Option<i32>,
    /// The program's output, one JSON value per line.
    pub(super) told: Vec<Value>,
    pub(super) errors: String,
}

/// A run in progress.
pub(super) struct Going {
    pub(super) child: Child,
    told: Receiver<Value>,
}

/// The output of a run has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended;

/// Starts a server that plays a script without delays.
pub(super) fn serve(script: &str) -> MockServer {
    let mut script = Script::parse("story", script).unwrap_or_else(|error| panic!("{error}"));
    script.pace = ReplyPace::default();
    MockServer::start(script).expect("a server on loopback")
}

impl World {
    /// Creates a world with one provider, `mock`, that speaks a wire.
    pub(super) fn new((wire, path): (&str, &str), server: &MockServer) -> Self {
        let folder = TempFolder::new().expect("a temporary folder");
        let own = folder.path().as_path();
        let url = format!("{}{path}", server.url());
        let settings = format!(
            r#"{{ "models": {{ "default": "mock/m", "auto": ["mock/n"],
                "providers": [{{ "name": "mock", "wire": "{wire}", "url": "{url}" }}] }} }}"#
        );
        let prices = r#"{ "format": 1, "rows": [
            { "provider": "mock", "model": "m", "kind": "chat", "context": 1000000, "output": 8192, "tools": true,
              "price": { "input": 0, "output": 0 }, "source": "the story", "date": "2026-01-01" },
            { "provider": "mock", "model": "n", "kind": "chat", "context": 1000000, "output": 8192, "tools": true,
              "price": { "input": 0, "output": 0 }, "source": "the story", "date": "2026-01-01" }
        ] }"#;
        std::fs::create_dir_all(own.join("config/models")).expect("a folder");
        std::fs::create_dir_all(own.join("project")).expect("a folder");
        std::fs::write(own.join("config/settings.json"), settings).expect("settings");
        std::fs::write(own.join("config/models/prices.json"), prices).expect("a table");
        let mark = own.to_string_lossy().into_owned();
        Self { folder, mark }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path().as_path()
    }

    pub(super) fn project(&self) -> PathBuf {
        self.path().join("project")
    }

    /// Returns the text of a file of the project; empty if the file does not exist.
    pub(super) fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.project().join(path)).unwrap_or_default()
    }

    /// Starts `burin-agent run` in the project, in a process group of its own.
    pub(super) fn start(&self, arguments: &[&str]) -> Going {
        let root = self.project();
        let mut all = vec!["run", "--json", "--yes", "--model", "mock/m", "--root"];
        let root = root.to_string_lossy();
        all.push(&root);
        all.extend(arguments);
        self.start_agent(&all)
    }

    /// Starts `burin-agent` with these arguments, in a process group of its own.
    fn start_agent(&self, arguments: &[&str]) -> Going {
        let program = std::env::current_exe().expect("the path of this program");
        let mut child = Command::new(program)
            .args([
                "agent::is_burin_agent",
                "--exact",
                "--nocapture",
                "--test-threads=1",
            ])
            .current_dir(self.path())
            .process_group(0)
            // The test must not use the environment's keys and addresses.
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .env(ARGUMENTS, arguments.join("\n"))
            .env(MARK, &self.mark)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("BURIN_CONFIG_DIR", self.path().join("config"))
            .env("BURIN_STATE_DIR", self.path().join("state"))
            .env("BURIN_CACHE_DIR", self.path().join("cache"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::from(self.complaints()))
            .spawn()
            .expect("a process");
        let lines = BufReader::new(child.stdout.take().expect("its output"));
        // Reads continuously, because an unread pipe soon fills up and blocks the program.
        let (tell, told) = sync_channel(1024);
        std::thread::spawn(move || hear(lines, &tell));
        Going { child, told }
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Left {
        self.wait(self.start(arguments))
    }

    /// Runs `burin-agent` with these arguments, and returns the lines of its output that are JSON.
    pub(super) fn agent(&self, arguments: &[&str]) -> Left {
        self.wait(self.start_agent(arguments))
    }

    fn wait(&self, mut going: Going) -> Left {
        let told: Vec<Value> = std::iter::from_fn(|| going.next()).collect();
        let code = going.child.wait().expect("its end").code();
        let errors = std::fs::read_to_string(self.path().join("errors")).unwrap_or_default();
        Left { code, told, errors }
    }

    fn complaints(&self) -> std::fs::File {
        std::fs::File::create(self.path().join("errors")).expect("a place for complaints")
    }

    pub(super) fn dirs(&self) -> Dirs {
        let path = |name: &str| AbsPath::new(self.path().join(name)).expect("absolute");
        Dirs {
            config: path("config"),
            state: path("state"),
            cache: path("cache"),
        }
    }

    /// Opens the ledger and asserts that it is not damaged.
    pub(super) fn store(&self) -> SessionStore {
        let path = AbsPath::new(self.path().join("state/ledger.db")).expect("absolute");
        let opened = Ledger::open(&path, 1).expect("the ledger opens");
        assert!(opened.quarantined.is_none(), "the ledger was damaged");
        SessionStore::start(opened.ledger).expect("its thread")
    }

    /// Returns the running processes of this home, with their command lines.
    pub(super) fn survivors(&self) -> Vec<String> {
        marked(&format!("{MARK}={}", self.mark))
    }
}

impl Going {
    /// Returns the next event; `None` at the end of the output.
    pub(super) fn next(&mut self) -> Option<Value> {
        self.told.recv().ok()
    }

    /// Returns the next event, if it arrives in time.
    pub(super) fn next_within(&mut self, time: Duration) -> Result<Option<Value>, Ended> {
        match self.told.recv_timeout(time) {
            Ok(value) => Ok(Some(value)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Ended),
        }
    }

    /// Returns the value of this name in the program's `/proc/…/status`, in kB.
    pub(super) fn memory(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("it lives");
        let line = status.lines().find(|line| line.starts_with(name));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        number.and_then(|it| it.parse().ok()).expect("a number")
    }
}

/// Forwards a program's output, one value per line. A killed program may leave half a line.
fn hear(mut lines: BufReader<ChildStdout>, tell: &SyncSender<Value>) {
    let mut line = String::new();
    while matches!(lines.read_line(&mut line), Ok(1..)) {
        let start = line.find('{').unwrap_or(line.len());
        if let Ok(value) = serde_json::from_str(&line[start..])
            && tell.send(value).is_err()
        {
            return;
        }
        line.clear();
    }
}

/// Returns the running processes whose environment or command line contains a text.
pub(super) fn marked(text: &str) -> Vec<String> {
    let own = std::process::id().to_string();
    let entries = std::fs::read_dir("/proc").expect("the processes");
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let numbers = names.filter(|name| name.bytes().all(|it| it.is_ascii_digit()) && *name != own);
    numbers
        .filter_map(|pid| {
            let file = |name: &str| std::fs::read(format!("/proc/{pid}/{name}"));
            let stat = String::from_utf8_lossy(&file("stat").ok()?).into_owned();
            let (_, state) = stat.rsplit_once(") ")?;
            let line = file("cmdline").ok()?;
            let all = [file("environ").unwrap_or_default(), line.clone()].concat();
            let is_ours = all.windows(text.len()).any(|it| it == text.as_bytes());
            let is_dead = state.starts_with(['Z', 'X']);
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            (is_ours && !is_dead).then(|| format!("{pid}: {line}"))
        })
        .collect()
}

/// Returns the number in an environment variable, or the usual one.
pub(super) fn count(variable: &str, usual: usize) -> usize {
    let asked = std::env::var(variable).ok();
    asked.and_then(|it| it.parse().ok()).unwrap_or(usual)
}

/// A random number generator (xorshift64*) with the same numbers in each run.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound.max(1)
    }
}
