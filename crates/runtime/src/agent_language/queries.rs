//! The queries of an agent's tools to the servers of its tree.
//!
//! Invariant: before every query the open documents are brought up to date with the files.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use agent::language::{
    DiagnosticsAnswer, FileDiagnostic, LanguageQueries, LineRange, OfferedAction, ReportedFile,
    SymbolLocation, SymbolPosition, SymbolRelation, TextChange,
};
use base::AbsPath;
use futures::future::BoxFuture;
use language::DocumentReadiness;
use lsp::{DiagnosticSeverity, LanguageServer, Location, LocationKind, WorkspaceEdit};
use text::Snapshot;
use tokio::time::Instant;

use super::document_query::{DocumentQuery, failed};
use super::edits::text_changes;
use super::tree::{RunningTree, TreeServers, shown_path};

/// Time for a query, in which the servers may have to start.
const QUERY_TIME: Duration = Duration::from_secs(30);
/// Time after which a server that answers and does no work is asked, although it has reported nothing.
const SILENCE: Duration = Duration::from_secs(3);
/// Time without a change after which the reports about other files count as complete.
const QUIET: Duration = Duration::from_millis(250);
/// Maximum number of locations for which the text of the line is read.
const MAX_LINES: usize = 200;

impl LanguageQueries for TreeServers {
    fn open(&self, paths: Vec<String>) {
        if let Some(this) = self.shared() {
            let until = Instant::now() + QUERY_TIME;
            tokio::spawn(async move {
                this.synchronise(&this.absolute(&paths), until).await;
            });
        }
    }

    fn diagnostics(
        &self,
        paths: Vec<String>,
        time: Duration,
    ) -> BoxFuture<'static, Result<DiagnosticsAnswer, agent::Error>> {
        self.ask(move |this| async move { Ok(this.report(&paths, time).await) })
    }

    fn locations(
        &self,
        relation: SymbolRelation,
        position: SymbolPosition,
    ) -> BoxFuture<'static, Result<Vec<SymbolLocation>, agent::Error>> {
        let kind = match relation {
            SymbolRelation::Definition => LocationKind::Definition,
            SymbolRelation::References => LocationKind::References {
                include_declaration: true,
            },
        };
        self.ask(move |this| async move {
            let query = this.query(&position.path).await?;
            let offset = query.offset(position.line, position.column);
            let send = |server: &LanguageServer| server.locations(kind, &query.path, offset);
            let found = query.first(send, |found: &Vec<Location>| !found.is_empty());
            let found = found.await?.unwrap_or_default();
            this.shown_locations(found).await
        })
    }

    fn hover(
        &self,
        position: SymbolPosition,
    ) -> BoxFuture<'static, Result<Option<String>, agent::Error>> {
        self.ask(move |this| async move {
            let query = this.query(&position.path).await?;
            let offset = query.offset(position.line, position.column);
            let send = |server: &LanguageServer| server.hover(&query.path, offset);
            let found = query.first(send, Option::is_some).await?;
            Ok(found.flatten().map(|hover| hover.text.value))
        })
    }

    fn rename(
        &self,
        position: SymbolPosition,
        new_name: String,
    ) -> BoxFuture<'static, Result<Vec<TextChange>, agent::Error>> {
        self.ask(move |this| async move {
            let query = this.query(&position.path).await?;
            let offset = query.offset(position.line, position.column);
            let send = |server: &LanguageServer| server.rename(&query.path, offset, &new_name);
            let is_edit = |edit: &WorkspaceEdit| !edit.operations.is_empty();
            let edit = query.first(send, is_edit).await?.unwrap_or_default();
            this.changes(query, edit).await
        })
    }

    fn code_actions(
        &self,
        lines: LineRange,
    ) -> BoxFuture<'static, Result<Vec<OfferedAction>, agent::Error>> {
        self.ask(move |this| async move {
            let query = this.query(&lines.path).await?;
            let actions = query.actions(&lines).await?;
            let offered = actions.into_iter().map(|(_, action)| OfferedAction {
                title: action.title,
                kind: action.kind.unwrap_or_default(),
                is_preferred: action.is_preferred,
            });
            Ok(offered.collect())
        })
    }

    fn code_action_changes(
        &self,
        lines: LineRange,
        title: String,
    ) -> BoxFuture<'static, Result<Vec<TextChange>, agent::Error>> {
        self.ask(move |this| async move {
            let query = this.query(&lines.path).await?;
            let actions = query.actions(&lines).await?;
            let mut actions = actions.into_iter();
            let action = actions.find(|(_, action)| action.title.trim() == title);
            let Some((server, action)) = action else {
                return Err(failed(format!("no action there has the title {title:?}")));
            };
            let edit = query.action_edit(&server, action).await?;
            this.changes(query, edit).await
        })
    }
}

impl TreeServers {
    /// Runs a query that may outlive this call.
    fn ask<T, F>(
        &self,
        query: impl FnOnce(Arc<Self>) -> F + Send + 'static,
    ) -> BoxFuture<'static, Result<T, agent::Error>>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, agent::Error>> + Send + 'static,
    {
        match self.shared() {
            Some(this) => Box::pin(query(this)),
            None => Box::pin(std::future::ready(Err(failed("the session has ended")))),
        }
    }

    fn absolute(&self, paths: &[String]) -> Vec<AbsPath> {
        let root = &self.tree.root;
        paths.iter().map(|path| root.join(path)).collect()
    }

    /// Passes the current texts on and opens `paths`. Returns the servers with the reason for each path that is not open;
    /// `None` if the tree was not read until `deadline`.
    async fn synchronise(
        &self,
        paths: &[AbsPath],
        deadline: Instant,
    ) -> Option<(Arc<RunningTree>, Synchronised)> {
        let running = self.started();
        let folder = running.folder(deadline).await?;
        let (shared, paths) = (running.clone(), paths.to_vec());
        let work = tokio::task::spawn_blocking(move || {
            let mut result = Synchronised {
                has_changed: shared.pass_changes_on(),
                unopened: HashMap::new(),
            };
            let mut documents = shared.documents();
            for path in paths {
                match documents.open(&path, &shared.servers, &folder) {
                    Ok(is_new) => result.has_changed |= is_new,
                    Err(reason) => drop(result.unopened.insert(path, reason.to_string())),
                }
            }
            result
        });
        Some((running, work.await.ok()?))
    }

    /// Returns the current reports of the open documents; see `LanguageQueries::diagnostics`.
    async fn report(&self, paths: &[String], time: Duration) -> DiagnosticsAnswer {
        let deadline = Instant::now() + time;
        if paths.is_empty() && self.running().is_none() {
            return DiagnosticsAnswer::default();
        }
        let mut paths = self.absolute(paths);
        let Some((running, synchronised)) = self.synchronise(&paths, deadline).await else {
            let reason = "the servers have not started in time";
            return self.answer(
                Vec::new(),
                paths.iter().map(|path| (path, reason.to_owned())),
            );
        };
        if paths.is_empty() {
            paths = running.documents().paths();
        }
        let is_pending = |path: &AbsPath| {
            matches!(
                running.servers.readiness(path),
                DocumentReadiness::Starting
                    | DocumentReadiness::Ready {
                        has_reported: false
                    }
            )
        };
        let wanted = || {
            paths
                .iter()
                .filter(|path| !synchronised.unopened.contains_key(path))
        };
        let mut must_settle = running.renew_reports(deadline).await;
        must_settle |= synchronised.has_changed;
        loop {
            while wanted().any(is_pending) && running.wait(deadline).await {
                must_settle = true;
            }
            if !must_settle || Instant::now() >= deadline {
                break;
            }
            // Reports about other files may follow, and a server may begin with another part of its work.
            running.wait_for_quiet(QUIET, deadline).await;
            must_settle = wanted().any(is_pending);
        }
        let unreported = paths.iter().filter_map(|path| {
            let reason = match synchronised.unopened.get(path) {
                Some(reason) => reason.clone(),
                None => unreported_reason(running.servers.readiness(path))?,
            };
            Some((path, reason))
        });
        let open = running.documents().paths();
        let files = open
            .iter()
            .filter_map(|path| self.reported_file(&running, path));
        self.answer(files.collect(), unreported)
    }

    fn answer<'a>(
        &self,
        files: Vec<ReportedFile>,
        unreported: impl Iterator<Item = (&'a AbsPath, String)>,
    ) -> DiagnosticsAnswer {
        let unreported = unreported.map(|(path, reason)| (self.shown(path), reason));
        DiagnosticsAnswer {
            files,
            unreported: unreported.collect(),
        }
    }

    /// Returns the diagnostics of a document; `None` unless all of its servers have reported about its current text.
    fn reported_file(&self, running: &RunningTree, path: &AbsPath) -> Option<ReportedFile> {
        let readiness = running.servers.readiness(path);
        if readiness != (DocumentReadiness::Ready { has_reported: true }) {
            return None;
        }
        let mut diagnostics = Vec::new();
        for (_, found) in running.servers.diagnostics(path) {
            // The text may have changed since the readiness was looked at.
            if !found.is_current {
                return None;
            }
            let shown = found.items.iter();
            let shown = shown.filter(|it| it.severity != DiagnosticSeverity::Hint);
            diagnostics.extend(shown.map(|it| file_diagnostic(it, &found.text)));
        }
        diagnostics.sort_by_key(|it| it.line);
        Some(ReportedFile {
            path: self.shown(path),
            diagnostics,
        })
    }

    fn shown(&self, path: &AbsPath) -> String {
        shown_path(&self.tree.root, path)
    }

    /// Prepares a query about a file: waits until its servers answer, and until they have loaded the project.
    async fn query(&self, path: &str) -> Result<DocumentQuery, agent::Error> {
        let path = self.tree.root.join(path);
        let deadline = Instant::now() + QUERY_TIME;
        let paths = std::slice::from_ref(&path);
        let Some((running, synchronised)) = self.synchronise(paths, deadline).await else {
            return Err(failed("the servers have not started in time"));
        };
        if let Some(reason) = synchronised.unopened.get(&path) {
            return Err(failed(format!("{}: {reason}", self.shown(&path))));
        }
        let mut silent_since = None;
        loop {
            match running.servers.readiness(&path) {
                DocumentReadiness::Unserved(reason) => {
                    return Err(failed(format!("{}: {reason}", self.shown(&path))));
                }
                DocumentReadiness::Ready { has_reported: true } => break,
                DocumentReadiness::Ready { .. } if is_idle(&running, &path) => {
                    let since = *silent_since.get_or_insert_with(Instant::now);
                    if since.elapsed() >= SILENCE {
                        break;
                    }
                }
                DocumentReadiness::Ready { .. } | DocumentReadiness::Starting => {
                    silent_since = None;
                }
            }
            if !running.wait(deadline).await {
                return Err(failed("the servers are not ready yet"));
            }
        }
        let text = running.documents().text(&path);
        Ok(DocumentQuery {
            text: text.ok_or_else(|| failed("the document was closed"))?,
            servers: running.servers.servers_of(&path),
            // The time limit for the answer starts again.
            deadline: Instant::now() + QUERY_TIME,
            running,
            path,
        })
    }

    /// Returns locations with the texts of their lines, except of secrets and of files outside the tree.
    async fn shown_locations(
        self: Arc<Self>,
        found: Vec<Location>,
    ) -> Result<Vec<SymbolLocation>, agent::Error> {
        let running = self.started();
        let shown = tokio::task::spawn_blocking(move || {
            let documents = running.documents();
            let mut texts: HashMap<AbsPath, Option<String>> = HashMap::new();
            let mut shown = Vec::new();
            for (ix, location) in found.into_iter().enumerate() {
                let path = location.path;
                let row = location.selection.row().0;
                let may_show = path.is_within(&self.tree.root)
                    && !project::is_secret(&path.to_string())
                    && ix < MAX_LINES;
                let text = if may_show {
                    let text = texts.entry(path.clone());
                    let text = text.or_insert_with(|| documents.read(&path));
                    text.as_ref()
                        .and_then(|text| text.lines().nth(row as usize))
                } else {
                    None
                };
                shown.push(SymbolLocation {
                    text: text.unwrap_or_default().to_owned(),
                    path: self.shown(&path),
                    line: row + 1,
                });
            }
            shown
        });
        shown.await.map_err(failed)
    }

    /// Returns the changes of an edit that a server gave for a query.
    async fn changes(
        self: Arc<Self>,
        query: DocumentQuery,
        edit: WorkspaceEdit,
    ) -> Result<Vec<TextChange>, agent::Error> {
        let changes = tokio::task::spawn_blocking(move || {
            text_changes(&edit, &self.tree.root, &query.running.documents())
        });
        changes.await.map_err(failed)?.map_err(failed)
    }
}

/// The state of the documents after they were brought up to date.
struct Synchronised {
    has_changed: bool,
    /// Requested files that are not open, each with the reason.
    unopened: HashMap<AbsPath, String>,
}

/// Returns whether no server of a document works in the background.
fn is_idle(running: &RunningTree, path: &AbsPath) -> bool {
    let servers = running.servers.servers_of(path);
    servers.iter().all(|it| it.connection.progress().is_empty())
}

/// Returns why a document has no current report, a clause; `None` if it has one.
fn unreported_reason(readiness: DocumentReadiness) -> Option<String> {
    match readiness {
        DocumentReadiness::Unserved(reason) => Some(reason),
        DocumentReadiness::Starting => Some("its server is still starting".to_owned()),
        DocumentReadiness::Ready { has_reported: true } => None,
        DocumentReadiness::Ready { .. } => Some("its server has not reported in time".to_owned()),
    }
}

fn file_diagnostic(diagnostic: &lsp::Diagnostic, text: &Snapshot) -> FileDiagnostic {
    let sources = [&diagnostic.source, &diagnostic.code];
    let sources: Vec<&str> = sources.into_iter().flatten().map(String::as_str).collect();
    let message = if sources.is_empty() {
        diagnostic.message.clone()
    } else {
        format!("{} [{}]", diagnostic.message, sources.join(" "))
    };
    FileDiagnostic {
        line: text.point_at(diagnostic.span.start).row.0 + 1,
        is_error: diagnostic.severity == DiagnosticSeverity::Error,
        message,
    }
}
