//! Denials as the kernel reports them to the unified log.
//!
//! Every denial of a profile carries a message with the name of its sandbox. One `log stream` for the
//! whole program passes the lines on.
//! Limits: best effort. The log drops lines under load, and it cannot be read from inside another
//! sandbox; then only the proxy's denials are known.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use base::{AbsPath, LogErr as _};
use host::process::{OwnedProcess, spawn_owned};

use crate::{DenialLog, DeniedAccess, PathAccess};

/// The end of every message, by which lines of this program are found.
pub(super) fn suffix() -> String {
    format!("_burin_{}", std::process::id())
}

/// The logs of running sandboxes by their message.
static LOGS: Mutex<Option<HashMap<String, DenialLog>>> = Mutex::new(None);

/// A registered sandbox. Dropping it ends the registration.
#[derive(Debug)]
pub(super) struct DenialTag(String);

impl DenialTag {
    /// Registers a sandbox by a name that no other has.
    pub(super) fn register(name: &str, denials: DenialLog) -> Self {
        let tag = format!("{name}{}", suffix());
        logs().get_or_insert_default().insert(tag.clone(), denials);
        Self(tag)
    }

    /// Returns the message that its denials carry.
    pub(super) fn message(&self) -> &str {
        &self.0
    }
}

impl Drop for DenialTag {
    fn drop(&mut self) {
        if let Some(logs) = &mut *logs() {
            logs.remove(&self.0);
        }
    }
}

fn logs() -> MutexGuard<'static, Option<HashMap<String, DenialLog>>> {
    LOGS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts to read the log with `program`, once per process. Does not wait until it is read.
pub(super) fn listen(program: &Path) {
    static STREAM: OnceLock<Option<OwnedProcess>> = OnceLock::new();
    STREAM.get_or_init(|| stream(program.to_owned()));
}

#[expect(
    clippy::disallowed_methods,
    reason = "host::process passes output to a sink of bytes; here lines are read as they come"
)]
fn stream(program: PathBuf) -> Option<OwnedProcess> {
    let (reader, writer) = std::io::pipe().log_err()?;
    let mut command = Command::new(program);
    let predicate = format!("eventMessage ENDSWITH \"{}\"", suffix());
    command
        .args(["stream", "--style", "ndjson", "--predicate", &predicate])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(Stdio::null());
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let started = spawn_owned(&mut command).log_err()?;
    // The child has the only copy of the pipe's end.
    drop(command);
    let reading = thread::Builder::new().name("sandbox log".to_owned());
    reading
        .spawn(move || read(BufReader::new(reader)))
        .log_err()?;
    Some(started)
}

/// Passes the lines of a log on until it ends.
pub(super) fn read(lines: impl BufRead) {
    for line in lines.lines().map_while(Result::ok) {
        let Some((tag, denied)) = parse(&line) else {
            continue;
        };
        let log = logs().as_ref().and_then(|logs| logs.get(&tag).cloned());
        if let Some(log) = log {
            log.add(denied);
        }
    }
}

/// Returns the message of a line and the denial that it reports: an object whose `eventMessage` is
/// `Sandbox: NAME(PID) deny(1) OPERATION OBJECT`, then the profile's message on a line of its own.
fn parse(line: &str) -> Option<(String, DeniedAccess)> {
    let entry: serde_json::Value = serde_json::from_str(line).ok()?;
    let text = entry.get("eventMessage")?.as_str()?;
    let (report, tag) = text.rsplit_once('\n')?;
    let report = report.lines().find(|line| line.contains("Sandbox: "))?;
    let (_, denied) = report.split_once(" deny(")?;
    let (_, denied) = denied.split_once(") ")?;
    let (operation, object) = denied.split_once(' ').unwrap_or((denied, ""));
    Some((tag.trim().to_owned(), denial(operation, object.trim())?))
}

/// Returns a denial by the operation's name and its object.
fn denial(operation: &str, object: &str) -> Option<DeniedAccess> {
    let path = |access| AbsPath::new(object).map(|path| DeniedAccess::Path { path, access });
    match operation {
        "file-write-create" | "file-link" | "file-clone" | "file-mknod" => path(PathAccess::Create),
        "file-write-unlink" => path(PathAccess::Remove),
        _ if operation.starts_with("file-write") => path(PathAccess::Write),
        // Programs examine paths that they do not need; only contents are worth a question.
        "file-read-data" => path(PathAccess::Read),
        "network-outbound" if object.starts_with('/') => path(PathAccess::Connect),
        "network-outbound" => {
            let (host, port) = object.rsplit_once(':')?;
            let host = host.to_owned();
            Some(DeniedAccess::Host {
                host,
                port: port.parse().ok()?,
            })
        }
        _ => {
            let known = REPORTED.iter().find(|name| **name == operation);
            known.map(|name| DeniedAccess::Call { name })
        }
    }
}

/// Operations without a path that a user may want to know of.
const REPORTED: &[&str] = &[
    "appleevent-send",
    "forbidden-exec-sugid",
    "ipc-posix-shm-write-create",
    "job-creation",
    "lsopen",
    "network-bind",
    "network-inbound",
    "process-exec*",
    "signal",
    "system-socket",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn line(message: &str) -> String {
        serde_json::json!({ "eventMessage": message, "process": "kernel" }).to_string()
    }

    #[test]
    fn a_denial_names_the_operation_and_its_object() {
        let path = |path: &str, access| {
            let path = AbsPath::new(path).expect("absolute");
            Some(DeniedAccess::Path { path, access })
        };
        for (operation, expected) in [
            (
                "file-read-data /Users/ada/.ssh/id (1)",
                path("/Users/ada/.ssh/id (1)", PathAccess::Read),
            ),
            (
                "file-write-create /Users/ada/x",
                path("/Users/ada/x", PathAccess::Create),
            ),
            (
                "file-write-unlink /Users/ada/x",
                path("/Users/ada/x", PathAccess::Remove),
            ),
            (
                "file-write-mode /Users/ada/x",
                path("/Users/ada/x", PathAccess::Write),
            ),
            (
                "network-outbound /private/var/run/x",
                path("/private/var/run/x", PathAccess::Connect),
            ),
            (
                "network-outbound 10.0.0.1:80",
                Some(DeniedAccess::Host {
                    host: "10.0.0.1".into(),
                    port: 80,
                }),
            ),
            ("lsopen", Some(DeniedAccess::Call { name: "lsopen" })),
            ("file-read-metadata /Users/ada", None),
            ("mach-lookup com.apple.x", None),
        ] {
            let text = line(&format!(
                "Sandbox: cat(71) deny(1) {operation}\ntag_burin_1"
            ));
            let found = parse(&text);
            assert_eq!(
                found.as_ref().map(|(_, denied)| denied),
                expected.as_ref(),
                "{operation}"
            );
            assert!(found.is_none_or(|(tag, _)| tag == "tag_burin_1"));
        }
        for text in [
            "",
            "{}",
            "Filtering the log data",
            &line("Sandbox: x"),
            &line("x deny(1) lsopen\nt"),
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_line_reaches_the_sandbox_that_it_names() {
        let [first, second] = [DenialLog::default(), DenialLog::default()];
        let one = DenialTag::register("b-one", first.clone());
        let other = DenialTag::register("b-two", second.clone());
        let report = |tag: &str, path: &str| {
            line(&format!(
                "Sandbox: x(1) deny(1) file-read-data {path}\n{tag}"
            ))
        };
        let gone = other.message().to_owned();
        let lines = [
            report(one.message(), "/a"),
            report(other.message(), "/b"),
            report("stranger", "/c"),
        ];
        read(lines.join("\n").as_bytes());
        assert_eq!((first.drain().len(), second.drain().len()), (1, 1));
        drop(other);
        read(report(&gone, "/d").as_bytes());
        assert_eq!((first.drain().len(), second.drain().len()), (0, 0));
    }
}
