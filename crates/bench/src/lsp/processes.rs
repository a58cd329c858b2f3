//! Processes that live on after their servers ended: closed, crashed, killed, or with a client that was killed.
//!
//! Each server starts a child that ignores signals, as `tsserver` is one.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use base::AbsPath;
use host::{Files, RealClock, RealFiles};
use language::{FolderServers, InstalledServers, RunningOptions, RunningServers, ServerState};
use settings::SettingsSource;
use text::Snapshot;

use crate::figure::Figure;

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/data/language-server.sh"
);
/// The argument with which this program runs a client until it is killed.
const CLIENT: &str = "lsp-client";
/// Servers of each kind without `BURIN_BENCH_TRIALS`.
const TRIALS: usize = 20;
/// Time for processes to end after a client was killed.
const END_TIME: Duration = Duration::from_secs(15);

pub(super) fn run() -> Result<Vec<Figure>, String> {
    let trials = crate::lsp::trials(TRIALS)?;
    let mut figures = Vec::new();
    for (name, end) in [
        ("closed", close as fn(&Path) -> Result<(), String>),
        ("crashed", crash),
        ("killed", kill),
        ("left by a killed client", kill_client),
    ] {
        let mut left = 0;
        for _ in 0..trials {
            let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
            end(folder.path())?;
            left += survivors(folder.path())?;
        }
        let name = format!("processes left of servers {name}");
        figures.push(Figure::alone(
            name,
            left as f64,
            "processes",
            trials,
            Some(0.0),
        ));
    }
    Ok(figures)
}

/// Runs a client until it is killed, if this program was started for that.
pub(crate) fn run_client() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next()? != CLIENT {
        return None;
    }
    let folder = arguments.next()?;
    let started = ScriptedServers::start(Path::new(&folder), "family");
    match started.and_then(|servers| servers.wait(is_running).map(|()| servers)) {
        Ok(servers) => {
            println!("running");
            loop {
                thread::park();
                // Keeps the servers.
                let _ = &servers;
            }
        }
        Err(reason) => {
            eprintln!("{reason}");
            Some(ExitCode::FAILURE)
        }
    }
}

fn close(folder: &Path) -> Result<(), String> {
    let servers = ScriptedServers::start(folder, "family")?;
    servers.wait(is_running)?;
    servers.close();
    Ok(())
}

fn crash(folder: &Path) -> Result<(), String> {
    let servers = ScriptedServers::start(folder, "brood")?;
    servers.wait(|state| matches!(state, ServerState::Restarting(_)))?;
    servers.close();
    Ok(())
}

fn kill(folder: &Path) -> Result<(), String> {
    let servers = ScriptedServers::start(folder, "family")?;
    servers.wait(is_running)?;
    let pid = pids(folder)?.into_iter().next().ok_or("no process")?;
    let killed = Command::new("kill").args(["-9", &pid]).status();
    killed.map_err(|error| format!("cannot run kill: {error}"))?;
    servers.wait(|state| matches!(state, ServerState::Restarting(_)))?;
    servers.close();
    Ok(())
}

fn kill_client(folder: &Path) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut client = Command::new(program)
        .arg(CLIENT)
        .arg(folder)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start a client: {error}"))?;
    let output = client.stdout.take().ok_or("no output")?;
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line)
        .map_err(|error| error.to_string())?;
    client.kill().map_err(|error| error.to_string())?;
    client.wait().map_err(|error| error.to_string())?;
    if line.trim() != "running" {
        return Err("the client did not start its server".to_owned());
    }
    let start = Instant::now();
    while survivors(folder)? > 0 && start.elapsed() < END_TIME {
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn is_running(state: &ServerState) -> bool {
    matches!(state, ServerState::Running { .. })
}

/// The servers of a folder with one document.
struct ScriptedServers {
    running: RunningServers,
    changed: async_channel::Receiver<()>,
}

impl ScriptedServers {
    fn start(folder: &Path, behaviour: &str) -> Result<Self, String> {
        let root = AbsPath::new(folder).ok_or("a relative folder")?;
        let server =
            serde_json::json!({ "command": SCRIPT, "args": [behaviour], "languages": ["SQL"] });
        let text = serde_json::json!({ "lsp": { "servers": { "script": server } } }).to_string();
        let (settings, _) = settings::parse(&[(SettingsSource::User, "settings.json", &text)]);
        let installed = InstalledServers::new(root.join("servers"));
        let files: Arc<dyn Files> = Arc::new(RealFiles);
        let logs = root.join("logs");
        let document = root.join("a.sql");
        let open = move || FolderServers::open(files, root, settings, installed, true);
        let (running, changed) = RunningServers::start(RunningOptions {
            open: Box::new(open),
            logs,
            clock: Arc::new(RealClock::default()),
        });
        running.open_document(&document, &Snapshot::new("a\n"));
        Ok(Self { running, changed })
    }

    /// Waits until the server has a wanted state.
    fn wait(&self, wanted: impl Fn(&ServerState) -> bool) -> Result<(), String> {
        while !self.running.statuses().iter().any(|it| wanted(&it.state)) {
            let changed = self.changed.recv_blocking();
            changed.map_err(|_| "the servers ended".to_owned())?;
        }
        Ok(())
    }

    /// Closes the folder and waits until the last thread of its servers has ended.
    fn close(self) {
        drop(self.running);
        while self.changed.recv_blocking().is_ok() {}
    }
}

/// Returns the ids of all processes that the servers of a folder had.
fn pids(folder: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(folder.join("server-pids"));
    let text = text.map_err(|error| error.to_string())?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Returns the number of them that live.
fn survivors(folder: &Path) -> Result<usize, String> {
    let mut count = 0;
    for pid in pids(folder)? {
        count += usize::from(is_alive(&pid)?);
    }
    Ok(count)
}

/// Returns whether a process lives. A zombie does not.
fn is_alive(pid: &str) -> Result<bool, String> {
    let output = Command::new("ps").args(["-o", "stat=", "-p", pid]).output();
    let output = output.map_err(|error| format!("cannot run ps: {error}"))?;
    let state = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(!matches!(state.trim().chars().next(), None | Some('Z')))
}
