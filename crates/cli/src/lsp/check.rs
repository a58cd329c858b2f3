//! Prints the diagnostics that language servers give for files.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use base::{AbsPath, LineFeeds, count_of, printable};
use clap::Args;
use host::{Dirs, RealClock};
use language::{
    CheckFailure, CheckReport, CheckRequest, CheckSeverity, FileDiagnostic, FolderServers,
};
use serde_json::{Value, json};

use crate::{Streams, error_text, write_error};

/// Exit code if a server could not be asked.
const INCOMPLETE: u8 = 2;

/// Check files with their servers, and print the diagnostics
#[derive(Args)]
pub(super) struct CheckAction {
    /// Files and folders to check
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Print information and hints too, not only errors and warnings
    #[arg(long)]
    all: bool,
    /// Print an object with the diagnostics and the failures
    #[arg(long)]
    json: bool,
    /// Seconds to wait for the servers, from their last answer about a file
    #[arg(long, default_value_t = 60)]
    timeout: u32,
}

impl CheckAction {
    /// Returns exit code 2 if a server failed or none could be asked, otherwise 1 if there are errors.
    pub(super) fn run(
        &self,
        servers: &FolderServers,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> ExitCode {
        self.check(servers, dirs, streams)
            .unwrap_or_else(|problem| {
                crate::print_notice(streams, &problem);
                ExitCode::from(INCOMPLETE)
            })
    }

    fn check(
        &self,
        servers: &FolderServers,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let request = CheckRequest {
            documents: super::documents(&self.paths, servers.root())?,
            timeout: Duration::from_secs(self.timeout.into()),
            logs: dirs.server_logs(),
            clock: Arc::new(RealClock::default()),
        };
        let mut report = language::check(servers, &request).map_err(error_text)?;
        if !self.all {
            let diagnostics = &mut report.diagnostics;
            diagnostics.retain(|it| it.severity <= CheckSeverity::Warning);
        }
        let text = if self.json {
            format!("{:#}\n", to_json(&report))
        } else {
            let lines = report.diagnostics.iter();
            lines.map(|it| to_line(it, servers.root())).collect()
        };
        streams
            .output
            .write_all(text.as_bytes())
            .map_err(write_error)?;
        let failures = || report.failures.iter().chain(&report.binary);
        for failure in failures().chain(&report.missing) {
            crate::print_notice(streams, &failure.to_string());
        }
        if report.checked == 0 {
            crate::print_notice(streams, "no server was asked about these files");
        } else if !self.json {
            let count = count_of(report.diagnostics.len(), "diagnostic");
            let files = count_of(report.checked, "file");
            crate::print_notice(streams, &format!("{count} in {files}"));
        }
        let has_errors = |it: &FileDiagnostic| it.severity == CheckSeverity::Error;
        Ok(if failures().next().is_some() || report.checked == 0 {
            ExitCode::from(INCOMPLETE)
        } else if report.diagnostics.iter().any(has_errors) {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }
}

/// Returns `path:line:column: severity: message [source code]` on one line, with the path relative to
/// `root`.
fn to_line(diagnostic: &FileDiagnostic, root: &AbsPath) -> String {
    let path = diagnostic.path.relative_to(root);
    let path = path.map_or_else(
        || diagnostic.path.to_string(),
        |path| path.to_string_lossy().into_owned(),
    );
    let (line, column) = diagnostic.start;
    let severity = severity_word(diagnostic.severity);
    let source = diagnostic.source.as_ref().unwrap_or(&diagnostic.server);
    let code = diagnostic.code.iter().map(|code| format!(" {code}"));
    let text = format!(
        "{path}:{line}:{column}: {severity}: {} [{source}{}]",
        diagnostic.message.trim_end(),
        code.collect::<String>(),
    );
    printable(&text, LineFeeds::Escape).into_owned() + "\n"
}

fn severity_word(severity: CheckSeverity) -> &'static str {
    match severity {
        CheckSeverity::Error => "error",
        CheckSeverity::Warning => "warning",
        CheckSeverity::Information => "information",
        CheckSeverity::Hint => "hint",
    }
}

fn to_json(report: &CheckReport) -> Value {
    let position = |(line, column): (u32, u32)| json!({ "line": line, "column": column });
    let diagnostics = report.diagnostics.iter().map(|it| {
        json!({
            "path": it.path.to_string(),
            "start": position(it.start),
            "end": position(it.end),
            "severity": severity_word(it.severity),
            "message": it.message,
            "source": it.source,
            "code": it.code,
            "server": it.server,
        })
    });
    let reason = |it: &CheckFailure| json!({ "server": it.server, "reason": it.reason });
    let failures = report.failures.iter().chain(&report.binary);
    json!({
        "diagnostics": diagnostics.collect::<Vec<_>>(),
        "failures": failures.map(reason).collect::<Vec<_>>(),
        "missing": report.missing.iter().map(reason).collect::<Vec<_>>(),
        "checked": report.checked,
    })
}
