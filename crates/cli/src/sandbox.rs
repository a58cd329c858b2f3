//! `burin-agent sandbox`: runs a command under a sandbox policy.
//!
//! The command inherits our streams, so its input and output pass through unchanged.
//! Start at `SandboxCommand::run`.

mod report;

use std::ffi::OsString;
use std::io::{stderr, stdin, stdout};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::ExitCode;

use base::AbsPath;
use clap::Args;
use host::environment::Recipient;
use host::{Dirs, Files};
use runtime::sandbox_policy::{self, HookScanner};
use sandbox::scan::{Finding, Quarantine};
use sandbox::{
    HostRule, Network, Policy, PolicyFile, SandboxLayer, SpawnRequest, UserEnvironment, names,
    start,
};

use self::report::{CommandEnd, SandboxReport};
use crate::{Streams, print_notice};

/// Longest policy file that is read.
const LONGEST_POLICY: u64 = 1 << 20;
/// The exit code when nothing was run.
const REFUSED: u8 = 125;

/// Run a command in a sandbox
///
/// It can write in the folder and nowhere else, finds no secrets, and reaches no network. Its
/// output passes through.
///
/// Exit codes: that of the command; 125 it was not run; 126 it is not a program; 127 it was not
/// found; 128 and more: the signal that ended it.
#[derive(Debug, Args)]
pub(crate) struct SandboxCommand {
    /// The folder that can be written; the working directory without it
    #[arg(long, alias = "workspace", value_name = "DIR")]
    root: Option<PathBuf>,
    /// A JSON file that adds to the usual policy: readable, writable, scratch, hidden, protected, repositories,
    /// hosts, environment, limits, without
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// File for a report of the run: layers, without, end, code, denials, findings
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Do without a layer that the machine does not give: namespaces, mounts, network, landlock, seccomp,
    /// no-new-privs, limits; it is recorded
    #[arg(long, value_name = "LAYER")]
    without: Vec<String>,
    /// A host that can be reached, as in crates.io, *.example.com or 127.0.0.1:8080; can be repeated
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Restore the files quarantined in this folder after an agent's command, and run nothing
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    restore: Option<PathBuf>,
    /// The command, after --
    #[arg(last = true, required_unless_present = "restore", value_name = "CMD")]
    command: Vec<OsString>,
}

impl SandboxCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(crate) fn run(
        &self,
        files: &dyn Files,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        if let Some(folder) = &self.restore {
            let quarantine = Quarantine::open(&absolute(folder)?, files);
            let restored = quarantine.and_then(|quarantine| quarantine.restore(files));
            return restored
                .map(|()| ExitCode::SUCCESS)
                .map_err(|error| error.to_string());
        }
        let policy = match self.read(files, dirs) {
            Ok(policy) => policy,
            Err(sentence) => {
                print_notice(streams, &sentence);
                return Ok(ExitCode::from(REFUSED));
            }
        };
        let user = sandbox_policy::policy_user(dirs);
        if let Some(warning) = user.warning(&policy.workspace) {
            print_notice(streams, &warning);
        }
        let scanner = sandbox_policy::hook_scanner(&policy, &user, dirs);
        let report = self.perform(&policy, &scanner, streams)?;
        if let Some(sentence) = report.refusal() {
            print_notice(streams, sentence);
        }
        let code = report.code();
        if let Some(path) = &self.report {
            // A report that is missing must not look like a run without one.
            report.write(&absolute(path)?, files)?;
        }
        Ok(ExitCode::from(code))
    }

    /// Runs the command to its end and returns the report. A command that the sandbox refuses to
    /// start is part of the report; fails only if the streams cannot be passed on.
    fn perform(
        &self,
        policy: &Policy,
        scanner: &HookScanner,
        streams: &mut Streams<'_>,
    ) -> Result<SandboxReport, String> {
        let (program, arguments) = self.command.split_first().ok_or("no command was given")?;
        let order = SpawnRequest {
            program: program.clone(),
            arguments: arguments.to_vec(),
            folder: policy.workspace.clone(),
            environment: Vec::new(),
            streams: duplicate_stdio()?,
            terminal: false,
        };
        let mut report = SandboxReport::of(policy);
        scanner.command_started();
        match start(policy, order) {
            Ok(running) => {
                let fixed = running.fixed();
                let finished = running.wait();
                for (finding, aside) in scanner.collect_findings(&fixed) {
                    print_notice(streams, &describe_finding(&finding, aside.as_ref()));
                    report.findings.push(finding);
                }
                report.end = CommandEnd::of(finished.exit);
                report.denials = finished.denials;
                report.without = finished.without;
            }
            Err(refused) => {
                report.end = CommandEnd::Refused {
                    sentence: refused.to_string(),
                    code: u8::try_from(refused.exit_code()).unwrap_or(REFUSED),
                };
            }
        }
        Ok(report)
    }

    /// Returns the default policy with the additions of the file and the flags.
    fn read(&self, files: &dyn Files, dirs: &Dirs) -> Result<Policy, String> {
        let workspace = absolute(self.root.as_deref().unwrap_or(".".as_ref()))?;
        let home = std::env::var_os("HOME").and_then(AbsPath::new);
        let home = home.ok_or("cannot find your home folder: HOME is not set")?;
        let user = UserEnvironment {
            home: home.clone(),
            own: vec![dirs.config.clone(), dirs.state.clone(), dirs.cache.clone()],
            environment: host::environment::variables(Recipient::Foreign),
        };
        let closed: Vec<&str> = names::closed().map(|name| name.path).collect();
        let mut policy = Policy::usual(workspace, &user, &closed);
        if let Some(path) = &self.policy {
            self.add_file(&absolute(path)?, &home, files, &mut policy)?;
        }
        for layer in &self.without {
            let known = SandboxLayer::named(layer).ok_or_else(|| {
                let all: Vec<&str> = SandboxLayer::ALL.iter().map(|layer| layer.name()).collect();
                format!(
                    "there is no layer {layer:?}; the layers are {}",
                    all.join(", ")
                )
            })?;
            policy.without.insert(known);
        }
        if !self.allow_host.is_empty() {
            let mut hosts = match policy.network {
                Network::Hosts(hosts) => hosts,
                Network::None => Vec::new(),
            };
            for host in &self.allow_host {
                let rule: HostRule = host
                    .parse()
                    .map_err(|bad: sandbox::BadRule| bad.to_string())?;
                hosts.push(rule);
            }
            policy.network = Network::Hosts(hosts);
        }
        Ok(policy)
    }

    /// Applies a policy file to `policy`. Fails if it cannot be read or is invalid.
    fn add_file(
        &self,
        path: &AbsPath,
        home: &AbsPath,
        files: &dyn Files,
        policy: &mut Policy,
    ) -> Result<(), String> {
        let text = files
            .read(path, LONGEST_POLICY)
            .map_err(|error| error.to_string())?;
        let text = String::from_utf8(text).map_err(|_| format!("{path} is not UTF-8"))?;
        let file = PolicyFile::parse(&text).and_then(|file| file.apply(policy, home));
        file.map_err(|sentence| format!("{path}: {sentence}"))
    }
}

/// Describes a file that a command left behind.
fn describe_finding(finding: &Finding, aside: Option<&AbsPath>) -> String {
    let finding = finding.to_string();
    let finding = base::printable(&finding, base::LineFeeds::Escape);
    match aside {
        Some(folder) => {
            format!(
                "{finding}. It was quarantined; `burin-agent sandbox --restore {folder}` restores it"
            )
        }
        None => finding.into_owned(),
    }
}

/// Duplicates standard input, output and error, in this order.
fn duplicate_stdio() -> Result<[OwnedFd; 3], String> {
    let twin = |stream: &dyn AsFd| {
        let twin = stream.as_fd().try_clone_to_owned();
        twin.map_err(|error| format!("cannot hand on a stream: {error}"))
    };
    Ok([twin(&stdin())?, twin(&stdout())?, twin(&stderr())?])
}

/// Returns the absolute form of a path without resolving its links.
fn absolute(path: &std::path::Path) -> Result<AbsPath, String> {
    let here = std::env::current_dir();
    let here = here.map_err(|error| format!("cannot find the working directory: {error}"))?;
    let here = AbsPath::new(here).ok_or("the working directory is not an absolute path")?;
    Ok(here.join(path))
}

#[cfg(test)]
mod tests;
