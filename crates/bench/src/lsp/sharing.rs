//! The memory of rust-analyzer for four worktrees of a crate against one, and whether its answers stay apart.
//!
//! The program is `rust-analyzer` in `PATH`, or the one that `BURIN_BENCH_RUST_ANALYZER` names.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use base::{AbsPath, ByteOffset};
use host::{Files, RealClock, RealFiles};
use language::{FolderServers, InstalledServers, RunningOptions, RunningServers, ServerPool};
use lsp::LanguageServer;
use settings::SettingsSource;
use text::Snapshot;

use crate::figure::Figure;

const WORKTREES: usize = 4;
/// Time for the server to load the crates.
const LOAD_TIME: Duration = Duration::from_secs(180);
/// Time between two questions to a server that loads.
const PAUSE: Duration = Duration::from_millis(300);
/// Number of pauses without work after which a server counts as loaded.
const QUIET_PAUSES: usize = 20;
const ANSWER_TIME: Duration = Duration::from_secs(60);
const TEXT: &str =
    "pub fn measured() -> u32 {\n    7\n}\n\nfn main() {\n    println!(\"{}\", measured());\n}\n";

pub(super) fn run() -> Result<Vec<Figure>, String> {
    let program = program()?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let roots = worktrees(folder.path())?;
    let one = memory(&program, &roots[..1], StartOrder::AsOpened)?;
    let joined = memory(&program, &roots, StartOrder::AsOpened)?;
    let four = memory(&program, &roots, StartOrder::Again)?;
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let name = "four worktrees that were opened one by one against one";
    Ok(vec![
        Figure::alone("rust-analyzer, one worktree", megabytes(one), "MB", 1, None),
        Figure::alone(
            "rust-analyzer, four worktrees",
            megabytes(four),
            "MB",
            1,
            None,
        ),
        Figure::alone(
            "four worktrees against one",
            four as f64 / one as f64,
            "x",
            1,
            Some(1.15),
        ),
        Figure::alone(name, joined as f64 / one as f64, "x", 1, None),
    ])
}

fn program() -> Result<PathBuf, String> {
    let program = std::env::var_os("BURIN_BENCH_RUST_ANALYZER").map(PathBuf::from);
    let program = program.or_else(|| {
        let paths = std::env::var_os("PATH")?;
        let mut programs = std::env::split_paths(&paths).map(|it| it.join("rust-analyzer"));
        // The stand-in of rustup fails without the component.
        programs.find(|it| {
            let output = Command::new(it).arg("--version").output();
            output.is_ok_and(|output| output.status.success())
        })
    });
    program.ok_or_else(|| "rust-analyzer is missing: rustup component add rust-analyzer".to_owned())
}

/// Creates a crate and its linked worktrees; returns their folders.
fn worktrees(folder: &Path) -> Result<Vec<AbsPath>, String> {
    let failed = |error: std::io::Error| error.to_string();
    let main = folder.join("0");
    std::fs::create_dir_all(main.join("src")).map_err(failed)?;
    let manifest = "[package]\nname = \"measured\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    std::fs::write(main.join("Cargo.toml"), manifest).map_err(failed)?;
    std::fs::write(main.join("src/main.rs"), TEXT).map_err(failed)?;
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
        let mut command = Command::new("git");
        let status = command
            .current_dir(&main)
            .args(identity)
            .args(arguments)
            .status();
        let is_done = status
            .map_err(|error| format!("cannot run git: {error}"))?
            .success();
        is_done
            .then_some(())
            .ok_or_else(|| format!("git {arguments:?} failed"))
    };
    git(&["init", "--quiet"])?;
    git(&["add", "."])?;
    git(&["commit", "--quiet", "--message", "Add a crate"])?;
    for number in 1..WORKTREES {
        git(&[
            "worktree",
            "add",
            "--quiet",
            "--detach",
            &format!("../{number}"),
        ])?;
    }
    let roots = (0..WORKTREES).map(|number| AbsPath::new(folder.join(number.to_string())));
    roots
        .collect::<Option<_>>()
        .ok_or_else(|| "a relative folder".to_owned())
}

/// Whether the server starts again once all worktrees are open. Until then it keeps what it loaded for fewer.
#[derive(Clone, Copy, PartialEq)]
enum StartOrder {
    AsOpened,
    Again,
}

/// Opens worktrees, checks their symbols and a rename, and returns the memory of their server in bytes.
fn memory(program: &Path, roots: &[AbsPath], start: StartOrder) -> Result<u64, String> {
    let pool = ServerPool::default();
    let open: Vec<_> = roots
        .iter()
        .map(|root| open(&pool, program, root))
        .collect();
    for (root, (running, _)) in roots.iter().zip(&open) {
        loaded(running, root)?;
    }
    if let (StartOrder::Again, Some((running, _))) = (start, open.first()) {
        running.restart_shared();
    }
    for (root, (running, _)) in roots.iter().zip(&open) {
        let server = loaded(running, root)?;
        // A server that loads refuses to rename.
        settle(running)?;
        check_rename(&server, root)?;
    }
    let (running, _) = open.last().ok_or("no worktree")?;
    settle(running)?;
    running.measure_memory();
    let statuses = running.statuses();
    let memory = statuses.first().and_then(|status| status.memory);
    memory.ok_or_else(|| "the server has no memory".to_owned())
}

fn open(
    pool: &ServerPool,
    program: &Path,
    root: &AbsPath,
) -> (RunningServers, async_channel::Receiver<()>) {
    let server = serde_json::json!({ "command": program });
    let text = serde_json::json!({ "lsp": { "servers": { "rust-analyzer": server } } }).to_string();
    let (settings, _) = settings::parse(&[(SettingsSource::User, "settings.json", &text)]);
    let files: Arc<dyn Files> = Arc::new(RealFiles);
    let (folder, state) = (root.clone(), root.join("../state"));
    let installed = InstalledServers::new(state.join("servers"));
    let (running, changed) = pool.start(RunningOptions {
        open: Box::new(move || FolderServers::open(files, folder, settings, installed, true)),
        logs: state.join("logs"),
        clock: Arc::new(RealClock::default()),
    });
    running.open_document(&root.join("src/main.rs"), &Snapshot::new(TEXT));
    (running, changed)
}

/// Waits until the server finds the function of a worktree, and no other.
fn loaded(running: &RunningServers, root: &AbsPath) -> Result<LanguageServer, String> {
    let start = Instant::now();
    while start.elapsed() < LOAD_TIME {
        let servers = running.servers_of(&root.join("src/main.rs"));
        let server = servers.into_iter().next().map(|it| it.connection);
        let request = server
            .as_ref()
            .and_then(|it| it.workspace_symbols("measured"));
        let symbols = request.and_then(|request| request.wait(ANSWER_TIME).ok());
        let symbols = symbols.unwrap_or_default();
        if let Some(foreign) = symbols.iter().find(|it| !it.location.path.is_within(root)) {
            return Err(format!(
                "a symbol of {} was found in {root}",
                foreign.location.path
            ));
        }
        if let (Some(server), false) = (server, symbols.is_empty()) {
            return Ok(server);
        }
        thread::sleep(PAUSE);
    }
    Err(format!(
        "the server did not load {root}: {:?}",
        running.statuses()
    ))
}

/// Waits until the server has not worked for a while.
fn settle(running: &RunningServers) -> Result<(), String> {
    let start = Instant::now();
    let mut quiet = 0;
    while quiet < QUIET_PAUSES {
        if start.elapsed() > LOAD_TIME {
            return Err("the server does not finish its work".to_owned());
        }
        thread::sleep(PAUSE);
        let statuses = running.statuses();
        let is_quiet = statuses.iter().all(|it| it.progress.is_empty());
        quiet = if is_quiet { quiet + 1 } else { 0 };
    }
    Ok(())
}

/// Checks that a rename changes one worktree only.
fn check_rename(server: &LanguageServer, root: &AbsPath) -> Result<(), String> {
    let document = root.join("src/main.rs");
    let request = server.rename(&document, ByteOffset(7), "renamed");
    let edit = request.ok_or("renaming is not offered")?.wait(ANSWER_TIME);
    let paths = edit.map_err(|error| error.to_string())?.paths();
    match &paths[..] {
        [path] if *path == document => Ok(()),
        paths => Err(format!("a rename in {document} changes {paths:?}")),
    }
}
