//! Failures of tests as the list of problems has them.

use base::Row;
use gpui_kit::Context;
use lsp::{DiagnosticSeverity, PositionEncoding, ServerRange, UnopenedDiagnostic};
use test_runner::TestFailure;

use super::session::WindowTests;
use crate::language_servers::Findings;
use crate::target::LineColumn;

/// The source of the problems.
const SOURCE: &str = "tests";
/// Maximum number of failures that are shown among the problems.
const MAX_FAILURES: usize = 1_000;

/// Returns the place of a failure.
pub(super) fn place_of(line: u32, column: Option<u32>) -> LineColumn {
    LineColumn::new(line, column.unwrap_or(1))
}

impl WindowTests {
    /// Shows the present failures among the problems of the folder, if they changed.
    pub(super) fn show_failures(&mut self, cx: &mut Context<Self>) {
        let mut failures = Findings::new();
        for failure in self.state.failures().take(MAX_FAILURES) {
            let file = failures.entry(failure.file.clone()).or_default();
            file.push(problem_of(&failure));
        }
        if failures == self.failures {
            return;
        }
        self.failures.clone_from(&failures);
        let source = self.source.clone();
        let servers = self.folder.read(cx).language_servers().clone();
        servers.update(cx, |servers, cx| servers.set_findings(source, failures, cx));
    }
}

/// Returns a failure as a problem from its place to the end of the line; from the first letter if the column is unknown.
fn problem_of(failure: &TestFailure<'_>) -> UnopenedDiagnostic {
    let name = failure.id.names.join(" \u{203a} ");
    let message = if failure.message.is_empty() {
        format!("{name} failed")
    } else {
        format!("{name}: {}", failure.message)
    };
    let row = Row(failure.line.saturating_sub(1));
    let column = failure.column.map_or(0, |column| column.saturating_sub(1));
    UnopenedDiagnostic {
        range: ServerRange::new((row, column), (row, u32::MAX), PositionEncoding::Utf32),
        severity: DiagnosticSeverity::Error,
        message,
        code: None,
        source: Some(SOURCE.to_owned()),
    }
}
