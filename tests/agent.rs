//! Runs `burin-agent` as a separate process.
//!
//! The process is this test binary, started again to run only the test below, so that no other
//! program needs to be built or found.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};

use base::AbsPath;
use host::{Files, RealFiles, TempFolder};

/// Variable with the arguments of the process, one per line. If it is set, the test below acts as
/// `burin-agent`.
pub(crate) const ARGUMENTS: &str = "BURIN_STORY_ARGUMENTS";
/// Id of a user and group that own nothing.
pub(crate) const NOBODY: u32 = 65_534;

/// A copy of the program that every user may run, and a home for its state.
pub(crate) struct Agent {
    folder: TempFolder,
    program: PathBuf,
}

/// The way in which the program is run.
#[derive(Clone, Copy, Default)]
pub(crate) struct Way<'a> {
    /// Whether it runs as the user that owns nothing, which only root can do.
    pub(crate) is_nobody: bool,
    /// The arguments of strace: the calls to change, and its output file.
    pub(crate) strace: &'a [String],
}

impl Agent {
    pub(crate) fn new() -> Self {
        let folder = TempFolder::new().expect("a temporary folder");
        let program = folder.path().as_path().join("burin-agent");
        let own = std::env::current_exe().expect("the path of this program");
        if fs::hard_link(&own, &program).is_err() {
            fs::copy(&own, &program).expect("a copy of this program");
        }
        fs::set_permissions(folder.path(), mode(0o755)).expect("a mode");
        fs::set_permissions(&program, mode(0o755)).expect("a mode");
        Self { folder, program }
    }

    /// Runs a command with `state` as its own folder and `input` as its input.
    pub(crate) fn run(
        &self,
        way: Way<'_>,
        arguments: &[&Path],
        input: &Path,
        state: &Path,
    ) -> Output {
        let mut line: Vec<OsString> = Vec::new();
        if !way.strace.is_empty() {
            line.push("strace".into());
            line.extend(way.strace.iter().map(OsString::from));
        }
        if way.is_nobody {
            let user = format!("--reuid={NOBODY}");
            let group = format!("--regid={NOBODY}");
            line.extend([
                "setpriv".into(),
                user.into(),
                group.into(),
                "--clear-groups".into(),
            ]);
        }
        line.push(self.program.clone().into());
        let test = [
            "agent::is_burin_agent",
            "--exact",
            "--nocapture",
            "--test-threads=1",
        ];
        line.extend(test.map(OsString::from));
        let arguments: Vec<_> = arguments
            .iter()
            .map(|path| path.to_string_lossy())
            .collect();
        Command::new(&line[0])
            .args(&line[1..])
            .current_dir(self.folder.path())
            // Cargo lists dozens of folders there; the loader's search through them would make more
            // calls than the counted ones.
            .env_remove("LD_LIBRARY_PATH")
            .env(ARGUMENTS, arguments.join("\n"))
            .env("BURIN_CONFIG_DIR", state.join("config"))
            .env("BURIN_STATE_DIR", state)
            .env("BURIN_CACHE_DIR", state.join("cache"))
            .stdin(File::open(input).expect("the input"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output()
            .expect("a process")
    }
}

pub(crate) fn mode(mode: u32) -> fs::Permissions {
    fs::Permissions::from_mode(mode)
}

/// Returns whether a program is installed.
pub(crate) fn has(program: &str) -> bool {
    let found = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    found.is_ok_and(|status| status.success())
}

pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// Runs as the child process; see the module documentation.
#[test]
fn is_burin_agent() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else {
        return;
    };
    // The test harness also uses files on a thread of its own. After this marker, call numbers
    // identify our calls.
    let null = AbsPath::new("/dev/null").expect("absolute");
    let mut nowhere = File::create(&null).expect("a place for nothing");
    for _ in 0..160 {
        nowhere.write_all(b"-").expect("written to nowhere");
        fs::read(&null).expect("nothing");
        RealFiles.stat(&null).expect("what it is");
    }
    let arguments = std::iter::once("burin-agent").chain(arguments.lines());
    let code = cli::run(
        arguments.map(OsString::from),
        &mut cli::Streams {
            // Not locked: commands that wait for the input read it on other threads.
            input: &mut std::io::stdin(),
            output: &mut std::io::stdout(),
            errors: &mut std::io::stderr(),
        },
    );
    // `ExitCode` hides its number, but equals one made from the same number.
    let number = (0..=u8::MAX).find(|number| ExitCode::from(*number) == code);
    std::process::exit(number.map_or(1, i32::from));
}
