//! Problems in the output of tasks as the list of problems has them.

use base::Row;
use lsp::{DiagnosticSeverity, PositionEncoding, ServerRange, UnopenedDiagnostic};
use tasks::{ColumnUnit, ProblemPosition, ProblemRange, ProblemSeverity, TaskProblem};

use crate::language_servers::Findings;

/// Groups problems by file.
pub(super) fn findings(problems: &[TaskProblem]) -> Findings {
    let mut findings = Findings::new();
    for problem in problems {
        let items = findings.entry(problem.path.clone()).or_default();
        items.push(finding(problem));
    }
    findings
}

fn finding(problem: &TaskProblem) -> UnopenedDiagnostic {
    UnopenedDiagnostic {
        range: server_range(&problem.range),
        severity: match problem.severity {
            ProblemSeverity::Error => DiagnosticSeverity::Error,
            ProblemSeverity::Warning => DiagnosticSeverity::Warning,
            ProblemSeverity::Information => DiagnosticSeverity::Information,
        },
        message: problem.message.clone(),
        code: problem.code.clone(),
        source: problem.source.clone(),
    }
}

/// Returns the range of a problem: the whole line without a column, and an empty range without an end.
fn server_range(range: &ProblemRange) -> ServerRange {
    let encoding = match range.unit {
        ColumnUnit::Bytes => PositionEncoding::Utf8,
        ColumnUnit::Utf16 => PositionEncoding::Utf16,
        ColumnUnit::Chars => PositionEncoding::Utf32,
    };
    let ProblemPosition { line, column } = range.start;
    let start = (Row(line), column.unwrap_or(0));
    let end = match (range.end, column) {
        (Some(end), _) => (Row(end.line), end.column.unwrap_or(u32::MAX)),
        (None, Some(column)) => (Row(line), column),
        (None, None) => (Row(line), u32::MAX),
    };
    ServerRange::new(start, end, encoding)
}
