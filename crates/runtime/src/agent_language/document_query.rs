//! A query about one document: positions in its text, and answers of its servers.

use std::sync::Arc;

use agent::language::LineRange;
use base::{AbsPath, ByteOffset, Row, Span};
use language::DocumentServer;
use lsp::{CodeAction, LanguageServer, Request, WorkspaceEdit};
use text::Snapshot;
use tokio::time::{Instant, timeout_at};

use super::tree::RunningTree;

/// A query about an open document whose servers answer.
pub(super) struct DocumentQuery {
    pub(super) running: Arc<RunningTree>,
    pub(super) path: AbsPath,
    /// The text that was passed on last.
    pub(super) text: Snapshot,
    pub(super) servers: Vec<DocumentServer>,
    pub(super) deadline: Instant,
}

impl DocumentQuery {
    /// Returns the offset of a line and a column in chars, both counted from 1; the nearest one in the text.
    pub(super) fn offset(&self, line: u32, column: u32) -> ByteOffset {
        let row = Row(line.saturating_sub(1)).min(self.text.last_row());
        let chars = usize::try_from(column.saturating_sub(1)).unwrap_or(usize::MAX);
        let bytes = self.text.row_text(row);
        let bytes = bytes.chars().take(chars).map(char::len_utf8);
        ByteOffset(self.text.row_start(row).0 + bytes.sum::<usize>())
    }

    /// Returns the first answer that `is_useful`, asking one server after the other; `None` if no answer is. Fails if no
    /// server answers.
    pub(super) async fn first<T>(
        &self,
        send: impl Fn(&LanguageServer) -> Option<Request<T>>,
        is_useful: impl Fn(&T) -> bool,
    ) -> Result<Option<T>, agent::Error> {
        let mut failure = Some(failed("no language server of this file offers that"));
        for server in &self.servers {
            let Some(request) = send(&server.connection) else {
                continue;
            };
            match self.answer(request).await {
                Ok(answer) if is_useful(&answer) => return Ok(Some(answer)),
                Ok(_) => failure = None,
                Err(error) => failure = failure.map(|_| error),
            }
        }
        failure.map_or(Ok(None), Err)
    }

    async fn answer<T>(&self, request: Request<T>) -> Result<T, agent::Error> {
        match timeout_at(self.deadline, request).await {
            Ok(answer) => answer.map_err(failed),
            Err(_) => Err(failed("the server did not answer in time")),
        }
    }

    /// Returns the actions for lines that have an edit, each with its server.
    pub(super) async fn actions(
        &self,
        lines: &LineRange,
    ) -> Result<Vec<(LanguageServer, CodeAction)>, agent::Error> {
        let row = |line: u32| Row(line.saturating_sub(1)).min(self.text.last_row());
        let start = self.text.row_start(row(lines.first));
        let span = Span::new(start, self.text.row_end(row(lines.last)));
        let mut actions = Vec::new();
        let mut failure = Some(failed("no language server of this file offers that"));
        for server in &self.servers {
            let connection = &server.connection;
            let Some(request) = connection.code_actions(&self.path, span, &[]) else {
                continue;
            };
            match self.answer(request).await {
                Ok(found) => {
                    failure = None;
                    let usable = found.into_iter().filter(has_edit);
                    actions.extend(usable.map(|action| (connection.clone(), action)));
                }
                Err(error) => failure = failure.map(|_| error),
            }
        }
        failure.map_or(Ok(actions), Err)
    }

    /// Returns the edit of an action, for which the server may have to be asked.
    pub(super) async fn action_edit(
        &self,
        server: &LanguageServer,
        action: CodeAction,
    ) -> Result<WorkspaceEdit, agent::Error> {
        if let Some(edit) = action.edit {
            return Ok(edit);
        }
        let Some(request) = server.resolve_code_action(&action) else {
            return Err(failed("the server gives no edit for this action"));
        };
        let resolved = self.answer(request).await?;
        let reason = "this action runs a command of the server, which agents cannot do";
        resolved.edit.ok_or_else(|| failed(reason))
    }
}

fn has_edit(action: &CodeAction) -> bool {
    action.disabled_reason.is_none() && (action.edit.is_some() || action.needs_resolve())
}

/// Returns the error of a query that failed for this reason, a clause.
pub(super) fn failed(reason: impl ToString) -> agent::Error {
    agent::Error::LanguageQueryFailed(reason.to_string())
}
