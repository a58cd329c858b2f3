//! Starts a command under a profile and distinguishes failures of the launcher from those of the
//! command.
//!
//! The launcher executes a shell. The shell writes a NUL byte to the launcher's standard error,
//! restores the standard error of the command, and executes the command. Everything before that byte
//! comes from the launcher.
#![expect(
    clippy::disallowed_methods,
    reason = "the launcher receives the caller's descriptors, and programs are looked up as the kernel does"
)]

use std::ffi::OsString;
use std::io::{self, BufReader, PipeReader, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use base::AbsPath;
use host::process::{ProcessExit, spawn_owned};

use super::child;
use super::command::SupervisedCommand;
use super::memory::TreeWatch;
use super::pool::SandboxResources;
use crate::net;
use crate::program::{environment, programs};
use crate::seatbelt::{ProfileContext, ProfilePaths, profile};
use crate::{Policy, ResourceLimits, SandboxError, SandboxLayer, SpawnRequest};

/// The programs of the system that confine a command and report denials.
#[derive(Clone, Debug)]
pub(super) struct Launcher {
    /// Confines itself with a profile and executes another program.
    pub(super) program: PathBuf,
    /// Prints the system's log.
    pub(super) log: PathBuf,
}

impl Launcher {
    pub(super) fn system() -> Self {
        Self {
            program: "/usr/bin/sandbox-exec".into(),
            log: "/usr/bin/log".into(),
        }
    }
}

/// The launcher's exit code for a profile that does not compile.
const BAD_PROFILE: i32 = 65;
/// The launcher's exit code if the system refuses to confine it, as inside another sandbox.
const REFUSED: i32 = 71;

/// Reports the start with a NUL byte, then executes the command with descriptor 3 as standard error.
const SHELL: &str = "/bin/sh";
const BECOME: &str = r#"printf '\000' >&2; exec 2>&3 3>&-; exec "$0" "$@""#;

/// Bytes of the launcher's messages that are kept.
const MAX_MESSAGE: usize = 4096;

/// Starts a command in a sandbox.
pub(super) fn run(
    launcher: &Launcher,
    policy: &Policy,
    resources: Arc<SandboxResources>,
    request: SpawnRequest,
) -> Result<SupervisedCommand, SandboxError> {
    let paths = ProfilePaths::find(policy)?;
    let folder = folder(&request.folder, &paths)?;
    let text = profile(policy, &paths, &context(&resources))?;
    let variables = variables(policy, &request, &resources);
    let program = program(&request, &variables)?;
    let limits = (!policy.without.contains(&SandboxLayer::Limits)).then_some(&policy.limits);
    let mut command = Command::new(&launcher.program);
    command
        .arg("-p")
        .arg(text)
        .arg("--")
        .args([SHELL, "-c", BECOME]);
    command.arg(program).args(&request.arguments);
    command.current_dir(folder).env_clear().envs(variables);
    let (process, messages) = spawn(launcher, command, request, limits)?;
    if let Some(message) = message(messages) {
        return Err(failure(process.wait(), message));
    }
    let process = Arc::new(process);
    // Without the watch the limits do not hold, so an error drops `process`, which kills the
    // command.
    let watch = TreeWatch::start(&process, limits).map_err(|cause| SandboxError::Missing {
        layer: SandboxLayer::Limits,
        step: "watching the memory and the processes of the command".to_owned(),
        cause,
        advice: "raise the limit on threads",
    })?;
    Ok(SupervisedCommand {
        watch,
        process,
        resources,
        fixed: paths.fixed,
        without: policy.without.clone(),
        is_over: false,
    })
}

/// Runs a command that does nothing.
pub(super) fn probe(
    launcher: &Launcher,
    policy: &Policy,
    resources: Arc<SandboxResources>,
) -> Result<(), SandboxError> {
    let nothing = || {
        std::fs::File::options()
            .read(true)
            .write(true)
            .open("/dev/null")
    };
    let streams = || -> io::Result<[OwnedFd; 3]> {
        Ok([nothing()?.into(), nothing()?.into(), nothing()?.into()])
    };
    let request = SpawnRequest {
        program: SHELL.into(),
        arguments: vec!["-c".into(), ":".into()],
        folder: policy.workspace.clone(),
        environment: Vec::new(),
        streams: streams().map_err(|cause| not_started(launcher, cause))?,
        terminal: false,
    };
    let outcome = run(launcher, policy, resources, request)?.wait();
    if outcome.exit.code() == 0 {
        return Ok(());
    }
    let code = outcome.exit.code();
    Err(SandboxError::Gone {
        reason: format!("a command that does nothing ended with code {code} in it"),
    })
}

fn context(resources: &SandboxResources) -> ProfileContext {
    ProfileContext {
        private: resources.private.path().clone(),
        proxy: resources.proxy.as_ref().map(|(_, port)| *port),
        message: resources.tag.message().to_owned(),
    }
}

/// Returns the folder to start in, free of links.
fn folder(given: &AbsPath, paths: &ProfilePaths) -> Result<PathBuf, SandboxError> {
    let refused = |reason: String| SandboxError::Folder {
        folder: given.clone(),
        reason,
    };
    let real = std::fs::canonicalize(given).map_err(|error| refused(error.to_string()))?;
    if !real.is_dir() {
        return Err(refused("it is not a folder".to_owned()));
    }
    let nearest = |paths: &[AbsPath]| {
        let above = paths.iter().filter(|path| real.starts_with(path.as_path()));
        above.map(|path| path.as_path().components().count()).max()
    };
    let given = nearest(&paths.writable).max(nearest(&paths.readable));
    if nearest(&paths.hidden) > given {
        return Err(refused("it is hidden from commands".to_owned()));
    }
    Ok(real)
}

/// The variables by which programs find a proxy. Those of the caller do not reach a command.
const PROXIES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];

fn variables(
    policy: &Policy,
    request: &SpawnRequest,
    resources: &SandboxResources,
) -> Vec<(OsString, OsString)> {
    let private = resources.private.path();
    let mut own: Vec<(OsString, OsString)> = Vec::new();
    for name in ["TMPDIR", "TMP", "TEMP"] {
        own.push((name.into(), private.as_path().into()));
    }
    // Both lie in a folder of the user that a command cannot write, whatever TMPDIR says.
    own.push(("xcrun_nocache".into(), "1".into()));
    let modules = private.join("clang-modules");
    own.push(("CLANG_MODULE_CACHE_PATH".into(), modules.as_path().into()));
    if let Some((_, port)) = &resources.proxy {
        own.extend(net::environment(*port, ""));
    }
    let mut variables = environment(policy, request, &own);
    if !policy.without.contains(&SandboxLayer::Network) {
        let is_proxy = |name: &OsString| {
            let name = name.to_string_lossy().to_uppercase();
            PROXIES.contains(&name.as_str())
        };
        variables.retain(|(name, value)| {
            !is_proxy(name) || own.contains(&(name.clone(), value.clone()))
        });
    }
    variables
}

/// Returns the path of the program, as a shell would find it.
fn program(
    request: &SpawnRequest,
    variables: &[(OsString, OsString)],
) -> Result<OsString, SandboxError> {
    let mut cause = io::ErrorKind::NotFound;
    for path in programs(request, variables) {
        match std::fs::metadata(Path::new(&path)) {
            Ok(facts) if facts.is_file() && facts.permissions().mode() & 0o111 != 0 => {
                return Ok(path);
            }
            Ok(_) => cause = io::ErrorKind::PermissionDenied,
            Err(_) => {}
        }
    }
    Err(SandboxError::Program {
        program: request.program.to_string_lossy().into_owned(),
        cause: cause.into(),
    })
}

fn spawn(
    launcher: &Launcher,
    mut command: Command,
    request: SpawnRequest,
    limits: Option<&ResourceLimits>,
) -> Result<(host::process::OwnedProcess, PipeReader), SandboxError> {
    let failed = |cause| not_started(launcher, cause);
    let (reader, writer) = io::pipe().map_err(failed)?;
    let [input, output, errors] = request.streams;
    command.stdin(input).stdout(output).stderr(writer);
    let held = child::prepare(&mut command, errors, request.terminal, limits).map_err(failed)?;
    let process = spawn_owned(&mut command).map_err(failed)?;
    // Otherwise the ends of the pipe here would keep the reader waiting.
    drop((command, held));
    Ok((process, reader))
}

fn not_started(launcher: &Launcher, cause: io::Error) -> SandboxError {
    SandboxError::Setup {
        step: format!("starting {}", launcher.program.display()),
        cause,
        advice: "it is part of macOS; check that it was not removed and that the limits on processes \
                 and open files are not reached",
    }
}

/// Waits until the command runs; returns the launcher's message if it failed.
fn message(pipe: PipeReader) -> Option<String> {
    let mut text = Vec::new();
    for byte in BufReader::new(pipe).bytes() {
        match byte {
            Ok(0) => return None,
            Ok(byte) if text.len() < MAX_MESSAGE => text.push(byte),
            // Warnings may be long; the launcher has failed only if it ends without the NUL byte.
            Ok(_) => {}
            Err(_) => break,
        }
    }
    Some(String::from_utf8_lossy(&text).trim().to_owned())
}

/// Returns the error for a launcher that ended before the command ran.
fn failure(exit: ProcessExit, message: String) -> SandboxError {
    match exit {
        ProcessExit::Exited(BAD_PROFILE) => SandboxError::Profile { reason: message },
        ProcessExit::Exited(REFUSED) => SandboxError::Nested,
        ProcessExit::Exited(code) => SandboxError::Gone {
            reason: format!("its launcher ended with code {code}: {message}"),
        },
        ProcessExit::Signalled(signal) => SandboxError::Gone {
            reason: format!("its launcher was killed by signal {signal}"),
        },
        ProcessExit::TimedOut => SandboxError::Gone {
            reason: "its launcher was killed".to_owned(),
        },
    }
}
