//! The environment of the user's login shell, for a program that the desktop started.
//!
//! The Finder and the Dock start programs with launchd's environment, whose `PATH` lacks what shells
//! set up. The login shell is therefore run once with a command that prints its environment between
//! two markers. Shells print greetings, wait for input and start background processes; so the shell
//! has no terminal and no input, leads its own session, is read up to the second marker, and is
//! killed then or after a time limit.
//!
//! Variables that the allow-list may pass on are cached until a start-up file of the shell changes,
//! so that children need not wait for the shell. Others may be secrets and are never written.

mod cache;
mod shell;

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal as _, Read, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base::{AbsPath, LogErr as _};

use super::{MARK, Variable, current, is_loader_variable};
use crate::dirs::Dirs;
use crate::process::{LiveProcess, ProcessEnvironment, StartRequest, start};
use shell::LoginShell;

/// Time limit for the shell.
const LIMIT: Duration = Duration::from_secs(5);
/// Bytes read from the shell at most.
const MAX_OUTPUT: u64 = 4 << 20;
/// First argument of this program when it prints its environment; the marker follows.
const PRINT: &str = "--print-environment";
/// Variable by which start-up files can tell that no user waits at a prompt.
const RESOLVING: &str = "BURIN_RESOLVING_ENVIRONMENT";

/// The reason that the environment of the login shell is not known.
#[derive(Debug)]
enum LoginError {
    /// The shell did not start.
    Start(crate::Error),
    /// It did not print its environment in time.
    Slow(Duration),
    /// It ended without printing its environment.
    Silent,
}

impl std::fmt::Display for LoginError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Start(error) => write!(f, "{error}"),
            Self::Slow(limit) => write!(
                f,
                "it did not finish within {} seconds; look for a start-up file that waits",
                limit.as_secs()
            ),
            Self::Silent => f.write_str("it ended early; look for an error in its start-up files"),
        }
    }
}

/// Returns the path of the user's login shell: the one that `SHELL` names, or else the user record.
pub fn login_shell() -> PathBuf {
    LoginShell::of_user().program
}

/// Reads the environment of the user's login shell in the background if the desktop started this
/// program, and uses it for children and keys from then on. Returns `None` if a terminal started the
/// program, and on Linux, where the desktop session has that environment already. The receiver
/// yields a sentence for the user if reading fails, and closes.
///
/// Until the shell has answered, for five seconds at most, `variables` waits unless its answer is
/// cached in `dirs.state`, and the other functions of `environment` wait.
pub fn adopt_login_environment(dirs: &Dirs) -> Option<async_channel::Receiver<String>> {
    if !started_by_desktop() {
        return None;
    }
    let home = std::env::var_os("HOME").and_then(AbsPath::new)?;
    let shell = LoginShell::of_user();
    let program = std::env::current_exe().log_err()?;
    let printer = vec![program.into_os_string(), PRINT.into()];
    let cache = dirs.state.join("login-environment");
    let (sender, failure) = async_channel::bounded(1);
    current::begin(Instant::now() + LIMIT, cache::read(&cache, &shell, &home));
    thread::spawn(move || {
        let read = read(&shell, &printer, &home, LIMIT);
        if let Ok(variables) = &read {
            cache::write(&cache, &shell, &home, variables).log_err();
        }
        let failed = read.as_ref().err().map(|error| sentence(&shell, error));
        current::finish(read.ok());
        if let Some(sentence) = failed {
            // The window may be gone.
            sender.send_blocking(sentence).ok();
        }
    });
    Some(failure)
}

fn sentence(shell: &LoginShell, error: &LoginError) -> String {
    format!(
        "The environment of the login shell {} could not be read: {error}. Programs that it alone \
         finds are not found; start Burin from a terminal to use its environment.",
        shell.program.display()
    )
}

/// Prints this process's environment if the login shell started it for that, and returns the exit
/// code then. Call it first in `main` of a program that calls `adopt_login_environment`.
pub fn print_environment_main() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != PRINT {
        return None;
    }
    let text = printed(&arguments.next()?, std::env::vars_os());
    let written = io::stdout().write_all(&text);
    Some(written.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}

/// Returns the marker, the variables and the marker again, each ended by a null byte.
fn printed(marker: &OsStr, variables: impl Iterator<Item = Variable>) -> Vec<u8> {
    let mut text = [marker.as_bytes(), b"\0"].concat();
    for (name, value) in variables {
        text.extend([name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat());
    }
    text.extend([marker.as_bytes(), b"\0"].concat());
    text
}

fn started_by_desktop() -> bool {
    let has_terminal =
        io::stdin().is_terminal() || io::stdout().is_terminal() || io::stderr().is_terminal();
    system::DESKTOP_LACKS_SHELL
        && is_desktop_start(has_terminal, std::env::var_os("TERM").is_some())
}

/// A terminal started a program that has one, or whose output it redirected.
fn is_desktop_start(has_terminal: bool, is_term_set: bool) -> bool {
    !has_terminal && !is_term_set
}

#[cfg(target_os = "macos")]
mod system {
    pub(super) const DESKTOP_LACKS_SHELL: bool = true;
}

#[cfg(not(target_os = "macos"))]
mod system {
    pub(super) const DESKTOP_LACKS_SHELL: bool = false;
}

/// Runs the shell in `home`, with a command that runs `printer` with a marker. Blocks for `limit` at
/// most; on return no process of the shell is left.
fn read(
    shell: &LoginShell,
    printer: &[OsString],
    home: &AbsPath,
    limit: Duration,
) -> Result<Vec<Variable>, LoginError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let marker = format!(
        "burin-{}-{}",
        std::process::id(),
        now.map_or(0, |now| now.as_nanos())
    );
    let command: Vec<OsString> = printer
        .iter()
        .cloned()
        .chain([marker.clone().into()])
        .collect();
    let own = std::env::vars_os().filter(|(name, _)| !is_dropped(name));
    let request = StartRequest {
        program: shell.program.clone().into_os_string(),
        arguments: shell.arguments(&command),
        folder: home.clone(),
        environment: ProcessEnvironment::Only(
            own.chain([(RESOLVING.into(), "1".into())]).collect(),
        ),
    };
    let LiveProcess {
        input,
        output,
        mut errors,
        group,
    } = start(&request).map_err(LoginError::Start)?;
    drop(input);
    thread::spawn(move || io::copy(&mut errors, &mut io::sink()));
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        // The receiver is gone if the time is over.
        sender.send(read_between(output, marker.as_bytes())).ok();
    });
    let read = receiver.recv_timeout(limit);
    group.kill();
    match read {
        Ok(Some(variables)) => Ok(variables),
        Ok(None) => Err(LoginError::Silent),
        Err(_) => Err(LoginError::Slow(limit)),
    }
}

/// Reads until the second marker; `None` if the output ends before.
fn read_between(output: impl Read, marker: &[u8]) -> Option<Vec<Variable>> {
    let mut output = output.take(MAX_OUTPUT);
    let mut text = Vec::new();
    let mut chunk = [0; 16 << 10];
    loop {
        match output.read(&mut chunk) {
            Ok(0) => return None,
            Ok(count) => text.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return None,
        }
        if let Some(variables) = parse(&text, marker) {
            return Some(variables);
        }
    }
}

/// Returns the variables between the markers; `None` while the second one is missing.
fn parse(text: &[u8], marker: &[u8]) -> Option<Vec<Variable>> {
    let ended = [marker, b"\0"].concat();
    let start = text.windows(ended.len()).position(|part| part == ended)? + ended.len();
    let length = text[start..]
        .windows(ended.len())
        .position(|part| part == ended)?;
    let lines = text[start..start + length].split(|byte| *byte == 0);
    let variables = lines.filter_map(|line| {
        let at = line.iter().position(|byte| *byte == b'=')?;
        let of = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        Some((of(&line[..at]), of(&line[at + 1..])))
    });
    Some(variables.filter(|(name, _)| !is_dropped(name)).collect())
}

/// Returns whether a variable belongs to the shell's process or to the reading of its environment.
fn is_dropped(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    matches!(name, "_" | "PWD" | "OLDPWD" | "SHLVL" | "TERM")
        || name == RESOLVING
        || name.is_empty()
        || name.starts_with(MARK)
        || is_loader_variable(name)
}

#[cfg(test)]
mod tests;
