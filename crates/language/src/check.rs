//! Diagnostics of files, from all their servers.
//!
//! A server process is shared by the documents that it may serve together; the processes run side by side, each
//! on a thread. Nothing of them is left when `check` returns.
//! Start at `check`.

mod deadline;
mod positions;
mod readiness;
mod run;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use base::AbsPath;
use host::{Clock, Files};
use text::Snapshot;

use crate::Error;
use crate::error::UncheckableFile;
use crate::selection::{FolderServers, ProgramCache, ServerChoice};
use crate::server_log::ServerLog;
use crate::table::{DocumentLanguage, ServerDefinition, ServerSharing};
use run::ServerRun;

/// The largest file that is checked, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The parameters of a check.
pub struct CheckRequest {
    /// The files to check, below the folder of the servers.
    pub documents: Vec<AbsPath>,
    /// Time for a server to report, restarts included. It begins anew with each answer about a document, and for a while
    /// with each report of progress.
    pub timeout: Duration,
    /// The folder for the logs of the servers.
    pub logs: AbsPath,
    /// The source of time.
    pub clock: Arc<dyn Clock>,
}

/// The result of a check.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// Sorted by path and position, without duplicates.
    pub diagnostics: Vec<FileDiagnostic>,
    /// Servers and files that could not be asked, or not completely.
    pub failures: Vec<CheckFailure>,
    /// Files that are not text.
    pub binary: Vec<CheckFailure>,
    /// Servers for these files that are not installed; other servers may have been asked instead.
    pub missing: Vec<CheckFailure>,
    /// Number of files that a server was asked about.
    pub checked: usize,
}

/// A diagnostic of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileDiagnostic {
    /// The file.
    pub path: AbsPath,
    /// Line and column of its start, in chars, counted from 1.
    pub start: (u32, u32),
    /// Line and column after its end, in chars, counted from 1.
    pub end: (u32, u32),
    /// Its severity.
    pub severity: CheckSeverity,
    /// The server's sentence, not made printable.
    pub message: String,
    /// The tool that found it, such as a compiler behind the server.
    pub source: Option<String>,
    /// The tool's code for it.
    pub code: Option<String>,
    /// Id of the server.
    pub server: String,
}

/// The severity of a diagnostic, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckSeverity {
    /// An error.
    Error,
    /// A warning.
    Warning,
    /// Information.
    Information,
    /// A hint.
    Hint,
}

/// A server or file that could not be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFailure {
    /// Id of the server; `None` if the file itself cannot be checked.
    pub server: Option<String>,
    /// The reason, as a sentence.
    pub reason: String,
}

impl fmt::Display for CheckFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(server) = &self.server {
            write!(f, "{server}: ")?;
        }
        f.write_str(&self.reason)
    }
}

/// A document that a server is asked about.
#[derive(Clone)]
pub(crate) struct CheckedDocument {
    path: AbsPath,
    language: DocumentLanguage,
    text: Snapshot,
}

/// Documents that one process serves.
pub(crate) struct ServerGroup {
    choice: ServerChoice,
    /// The root folders of the documents; the first is that of `choice`.
    roots: Vec<AbsPath>,
    documents: Vec<CheckedDocument>,
}

/// Opens the documents in their servers and collects the diagnostics. Blocks.
///
/// # Errors
/// No server may start in the folder.
pub fn check(servers: &FolderServers, request: &CheckRequest) -> Result<CheckReport, Error> {
    servers.ensure_may_start()?;
    let mut report = CheckReport::default();
    let groups = groups(servers, &request.documents, &mut report);
    let parts: Vec<CheckReport> = thread::scope(|threads| {
        let runs: Vec<_> = groups
            .into_iter()
            .map(|group| {
                let id = group.choice.definition.id.clone();
                let log_id = id.clone();
                let run = threads.spawn(move || {
                    let files = servers.shared_files();
                    let clock = request.clock.clone();
                    let log = ServerLog::open(files, clock.clone(), request.logs.clone(), &log_id);
                    ServerRun::new(group, servers.variables(), log, clock, request.timeout).run()
                });
                (id, run)
            })
            .collect();
        let results = runs.into_iter().map(|(id, run)| (id, run.join()));
        results.map(|(id, result)| report_of(id, result)).collect()
    });
    for part in parts {
        report.diagnostics.extend(part.diagnostics);
        report.failures.extend(part.failures);
    }
    report.diagnostics.sort();
    report.diagnostics.dedup();
    Ok(report)
}

/// Returns the report of a server's thread; a failure if the thread panicked.
fn report_of(id: String, result: thread::Result<CheckReport>) -> CheckReport {
    result.unwrap_or_else(|_| CheckReport {
        failures: vec![CheckFailure {
            server: Some(id),
            reason: "the check of its documents failed unexpectedly".to_owned(),
        }],
        ..CheckReport::default()
    })
}

/// Groups the documents by process. Documents and servers that cannot be asked become failures.
fn groups(
    servers: &FolderServers,
    documents: &[AbsPath],
    report: &mut CheckReport,
) -> Vec<ServerGroup> {
    let mut groups = BTreeMap::<(String, Option<AbsPath>), ServerGroup>::new();
    let (mut missing, mut programs) = (BTreeMap::new(), ProgramCache::default());
    for path in documents {
        let Some(found) = servers.for_document_with(path, &mut programs) else {
            continue;
        };
        missing.extend(found.missing.into_iter().map(|it| (it.id.clone(), it)));
        if found.servers.is_empty() {
            continue;
        }
        let text = match read_text(servers.files(), path) {
            Ok(text) => text,
            Err(error) => {
                let failures = match error {
                    UncheckableFile::File(_) => &mut report.failures,
                    UncheckableFile::Binary(_) => &mut report.binary,
                };
                failures.push(CheckFailure {
                    server: None,
                    reason: error.to_string(),
                });
                continue;
            }
        };
        report.checked += 1;
        let document = CheckedDocument {
            path: path.clone(),
            language: found.language,
            text,
        };
        for choice in found.servers {
            let group = groups.entry(process_key(&choice));
            let group = group.or_insert_with(|| ServerGroup {
                choice: choice.clone(),
                roots: Vec::new(),
                documents: Vec::new(),
            });
            if !group.roots.contains(&choice.root) {
                group.roots.push(choice.root);
            }
            group.documents.push(document.clone());
        }
    }
    let missing = missing.into_values();
    report.missing = missing.map(|server| missing_server(&server)).collect();
    groups.into_values().collect()
}

/// Returns the documents of equal keys to the same process.
fn process_key(choice: &ServerChoice) -> (String, Option<AbsPath>) {
    let root = match choice.definition.sharing {
        ServerSharing::Shared => None,
        ServerSharing::PerFolder => Some(choice.root.clone()),
    };
    (choice.definition.id.clone(), root)
}

fn missing_server(server: &ServerDefinition) -> CheckFailure {
    let advice = server.install_advice(base::Platform::CURRENT);
    CheckFailure {
        server: Some(server.id.clone()),
        reason: format!("the server is not installed: {advice}"),
    }
}

fn read_text(files: &dyn Files, path: &AbsPath) -> Result<Snapshot, UncheckableFile> {
    let bytes = files.read(path, MAX_FILE_BYTES)?;
    let decoded = text::decode(&bytes);
    if decoded.binary {
        return Err(UncheckableFile::Binary(path.clone()));
    }
    Ok(Snapshot::new(&decoded.text))
}

#[cfg(test)]
mod tests;
