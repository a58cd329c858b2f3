//! Diagnostics of a server as diagnostics of a file: byte ranges become lines and columns.

use base::{AbsPath, ByteOffset, Span};
use lsp::{DiagnosticSeverity, DocumentDiagnostics};
use text::Snapshot;

use super::{CheckSeverity, FileDiagnostic};

/// Returns the diagnostics of a file, with their lines and columns.
pub(super) fn file_diagnostics(
    path: &AbsPath,
    server: &str,
    found: &DocumentDiagnostics,
) -> Vec<FileDiagnostic> {
    let items = found.items.iter();
    items
        .map(|item| FileDiagnostic {
            path: path.clone(),
            start: line_and_column(&found.text, item.span.start),
            end: line_and_column(&found.text, item.span.end),
            severity: match item.severity {
                DiagnosticSeverity::Error => CheckSeverity::Error,
                DiagnosticSeverity::Warning => CheckSeverity::Warning,
                DiagnosticSeverity::Information => CheckSeverity::Information,
                DiagnosticSeverity::Hint => CheckSeverity::Hint,
            },
            message: item.message.clone(),
            source: item.source.clone(),
            code: item.code.clone(),
            server: server.to_owned(),
        })
        .collect()
}

/// Returns line and column in chars, counted from 1.
fn line_and_column(text: &Snapshot, offset: ByteOffset) -> (u32, u32) {
    let row = text.point_at(offset).row;
    let before = Span {
        start: text.row_start(row),
        end: offset,
    };
    let column = u32::try_from(text.char_count(before)).unwrap_or(u32::MAX - 1);
    (row.0 + 1, column + 1)
}
