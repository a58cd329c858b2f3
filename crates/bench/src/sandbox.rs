//! Cost of starting a command in the sandbox, cold and warm, compared with a bare command, bubblewrap with the same
//! view of the disk, and codex's sandbox.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use ::sandbox::{CommandExit, Policy, SpawnRequest, UserEnvironment, WarmSandbox};
use base::AbsPath;

use crate::figure::Figure;
use crate::interleave::Pairs;

/// Number of rounds, except with codex's sandbox, which takes too long.
const ROUNDS: usize = 300;
/// Number of rounds with codex.
const CODEX_ROUNDS: usize = 30;

/// Runs all measurements and returns their figures.
pub(crate) fn run() -> Result<Vec<Figure>, String> {
    ::sandbox::prepare();
    let folder = Path::new("/var/tmp").join(format!("burin-bench-{}", std::process::id()));
    std::fs::create_dir(&folder).map_err(|error| error.to_string())?;
    let figures = measured(&folder);
    std::fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
    figures
}

fn measured(folder: &Path) -> Result<Vec<Figure>, String> {
    let policy = policy(folder)?;
    let room = WarmSandbox::open(&policy).map_err(|refused| refused.to_string())?;
    let codex = codex()?;
    let bubble = bubblewrap(&policy);
    let bare = || timed(|| status(&mut Command::new("/bin/true")));
    let warm = || timed(|| ended(room.start(order(&policy.workspace)?)));
    let cold = || timed(|| ended(::sandbox::start(&policy, order(&policy.workspace)?)));
    let wrapped = || timed(|| status(Command::new("bwrap").args(&bubble)));
    let boxed = || {
        let mut command = Command::new(&codex);
        command.args(["sandbox", "--", "/bin/true"]);
        timed(|| status(command.current_dir(folder)))
    };
    // Each is tried once first, so that a missing program is reported instead of measured.
    for tried in [bare(), warm(), cold(), wrapped(), boxed()] {
        tried?;
    }
    let against_bare = Pairs::take(ROUNDS, || known(warm()), || known(bare()));
    let against_wrap = Pairs::take(ROUNDS, || known(cold()), || known(wrapped()));
    let against_codex = Pairs::take(CODEX_ROUNDS, || known(cold()), || known(boxed()));
    let began = Instant::now();
    for _ in 0..ROUNDS {
        warm()?;
    }
    let per_second = ROUNDS as f64 / began.elapsed().as_secs_f64();
    Ok(vec![
        Figure::against(
            "start in a room",
            "fork and exec",
            &against_bare,
            "ms",
            Some(2.2),
        ),
        Figure::against(
            "full policy from nothing",
            "bwrap --unshare-all",
            &against_wrap,
            "ms",
            Some(0.5),
        ),
        Figure::against(
            "full policy from nothing",
            "codex sandbox",
            &against_codex,
            "ms",
            Some(0.05),
        ),
        Figure::alone(
            "time between starts in a room (2 ms are 500 a second)",
            1_000.0 / per_second,
            "ms",
            ROUNDS,
            Some(2.0),
        ),
    ])
}

fn codex() -> Result<std::ffi::OsString, String> {
    std::env::var_os("BURIN_CODEX").ok_or_else(|| {
        "codex is needed to compare with: npm install @openai/codex, and set BURIN_CODEX to the program codex in it"
            .to_owned()
    })
}

fn known(milliseconds: Result<f64, String>) -> f64 {
    milliseconds.unwrap_or(f64::NAN)
}

/// Returns the milliseconds that a run took; fails if the run does.
fn timed(run: impl FnOnce() -> Result<bool, String>) -> Result<f64, String> {
    let began = Instant::now();
    if run()? {
        Ok(began.elapsed().as_secs_f64() * 1_000.0)
    } else {
        Err("true did not end well".to_owned())
    }
}

fn status(command: &mut Command) -> Result<bool, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let done = command.stdin(Stdio::null()).stderr(Stdio::null()).status();
    match done {
        Ok(status) if status.success() => Ok(true),
        Ok(status) => Err(format!("{program} ended with {status}")),
        Err(error) => Err(format!("{program} is needed to compare with: {error}")),
    }
}

fn ended(
    started: Result<::sandbox::RunningCommand, ::sandbox::SandboxError>,
) -> Result<bool, String> {
    let running = started.map_err(|refused| refused.to_string())?;
    Ok(running.wait().exit == CommandExit::Exit(0))
}

fn policy(workspace: &Path) -> Result<Policy, String> {
    let home = std::env::var_os("HOME").unwrap_or("/root".into());
    let person = UserEnvironment {
        home: AbsPath::new(home).ok_or("HOME is not an absolute path")?,
        own: Vec::new(),
        environment: host::environment::variables(host::environment::Recipient::Foreign),
    };
    let workspace = AbsPath::new(workspace).ok_or("no absolute path")?;
    Ok(Policy::usual(workspace, &person, &[".vscode", ".envrc"]))
}

fn order(folder: &AbsPath) -> Result<SpawnRequest, String> {
    let nothing = || {
        let opened = File::options().read(true).write(true).open("/dev/null");
        opened.map_err(|error| error.to_string())
    };
    let streams = [nothing()?.into(), nothing()?.into(), nothing()?.into()];
    Ok(SpawnRequest {
        program: "/bin/true".into(),
        arguments: Vec::new(),
        folder: folder.clone(),
        environment: Vec::new(),
        streams,
        terminal: false,
    })
}

/// Returns the arguments that give bubblewrap the same view of the disk.
fn bubblewrap(policy: &Policy) -> Vec<String> {
    let mut told: Vec<String> =
        "--unshare-all --die-with-parent --new-session --ro-bind / / --dev /dev \
        --proc /proc --tmpfs /tmp --tmpfs /run --tmpfs /var/tmp"
            .split_whitespace()
            .map(str::to_owned)
            .collect();
    let mut tell = |words: &[&str]| told.extend(words.iter().map(|word| (*word).to_owned()));
    let workspace = policy.workspace.to_string();
    tell(&["--bind", &workspace, &workspace]);
    for path in policy.hidden.iter().chain(&policy.scratch) {
        let text = path.to_string();
        if path.as_path().is_dir() {
            tell(&["--tmpfs", &text]);
        } else if path.as_path().is_file() {
            tell(&["--ro-bind", "/dev/null", &text]);
        }
    }
    tell(&["/bin/true"]);
    told
}
