//! The diagnostics that an edit brought and removed, as text after the result of the edit.
//!
//! Invariant: only reports about the current texts count.
//! Limit: a report that comes after the waiting time counts for the next edit.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::count_of;
use futures::future::BoxFuture;
use model::PartContent;
use tokio::time::timeout;

use super::{DiagnosticsAnswer, FileDiagnostic, LanguageQueries};
use crate::outcome::CallOutcome;
use crate::tool::{LockScope, ToolAccess, ToolClass, ToolContext, ToolResult};

/// Time for the reports before an edit, about files that were not reported before.
const BASELINE_TIME: Duration = Duration::from_secs(2);
/// Time for the reports after an edit.
const REPORT_TIME: Duration = Duration::from_secs(2);
/// Time beyond which an answer is not waited for, although it has a time limit of its own.
const GRACE: Duration = Duration::from_secs(1);
/// Maximum number of new errors that are listed.
const MAX_NEW: usize = 10;
/// Maximum number of resolved errors that are listed.
const MAX_RESOLVED: usize = 5;
/// Maximum length of a message, in bytes.
const MAX_MESSAGE: usize = 300;

/// The diagnostics that were reported to the model of a session.
pub(crate) struct EditDiagnostics {
    queries: Arc<dyn LanguageQueries>,
    known: Mutex<KnownErrors>,
}

/// The errors that were reported to the model.
#[derive(Default)]
struct KnownErrors {
    /// The errors of each file by the last report that counted.
    files: HashMap<String, Vec<FileDiagnostic>>,
    /// Files that were edited before their first report, which is therefore no baseline.
    undated: HashSet<String>,
}

impl EditDiagnostics {
    /// Creates the state of a session in which no diagnostics were reported.
    pub(crate) fn new(queries: Arc<dyn LanguageQueries>) -> Self {
        Self {
            queries,
            known: Mutex::default(),
        }
    }

    /// Opens the files that a call read, so that their diagnostics are known before they are edited.
    pub(crate) fn note_reads(&self, class: ToolClass, access: &ToolAccess) {
        if class == ToolClass::Read {
            let paths: Vec<String> = paths(&access.reads);
            if !paths.is_empty() {
                self.queries.open(paths);
            }
        }
    }

    /// Awaits `run`, a call that edits, and adds the errors that it brought and removed to a successful
    /// result. Waits for each report for a limited time.
    pub(crate) async fn report(
        &self,
        access: &ToolAccess,
        context: &ToolContext,
        run: BoxFuture<'_, ToolResult>,
    ) -> ToolResult {
        let touched = paths(&access.writes);
        self.record_baseline(&touched, context).await;
        let mut result = run.await;
        if result.outcome == CallOutcome::Ok
            && let Some(text) = self.changes(&touched, context).await
        {
            append(&mut result.content, &text);
        }
        result
    }

    /// Records the errors before an edit of files that have no report yet. A file to be created has none.
    async fn record_baseline(&self, touched: &[String], context: &ToolContext) {
        let mut unknown = Vec::new();
        for path in touched {
            let mut known = self.known();
            if !exists(context, path) {
                known.files.insert(path.clone(), Vec::new());
            } else if !known.files.contains_key(path) && !known.undated.contains(path) {
                // Servers that did not report in time before are not waited for again.
                unknown.push(path.clone());
            }
        }
        let time = if unknown.is_empty() {
            Duration::ZERO
        } else {
            BASELINE_TIME
        };
        let answer = self.ask(unknown, time).await;
        let known = &mut *self.known();
        for file in answer.files {
            if !known.undated.contains(&file.path) {
                let known = known.files.entry(file.path);
                known.or_insert_with(|| errors(file.diagnostics));
            }
        }
    }

    /// Returns a text about the errors that differ from the known ones; `None` if none do.
    async fn changes(&self, touched: &[String], context: &ToolContext) -> Option<String> {
        let (present, gone): (Vec<String>, Vec<String>) = touched
            .iter()
            .cloned()
            .partition(|path| exists(context, path));
        let answer = self.ask(present.clone(), REPORT_TIME).await;
        let known = &mut *self.known();
        for path in gone {
            known.files.remove(&path);
        }
        let is_unknown = |path: &String| !known.files.contains_key(path);
        known.undated.extend(present.into_iter().filter(is_unknown));
        let mut changes = ErrorChanges::default();
        for file in answer.files {
            let errors = errors(file.diagnostics);
            let is_undated = known.undated.remove(&file.path);
            match known.files.insert(file.path.clone(), errors.clone()) {
                Some(before) => changes.compare(&file.path, &before, &errors),
                None if is_undated => changes.add_undated(&file.path, &errors),
                None => {}
            }
        }
        changes.text()
    }

    /// Returns the reports of the open files; none if the servers cannot be asked.
    async fn ask(&self, paths: Vec<String>, time: Duration) -> DiagnosticsAnswer {
        let answer = timeout(time + GRACE, self.queries.diagnostics(paths, time)).await;
        match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => {
                log::debug!("no diagnostics for an edit: {error}");
                DiagnosticsAnswer::default()
            }
            Err(_) => DiagnosticsAnswer::default(),
        }
    }

    fn known(&self) -> MutexGuard<'_, KnownErrors> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Appends a text to a result, on a line of its own.
fn append(content: &mut Vec<PartContent>, text: &str) {
    if let Some(PartContent::Text(last)) = content.last_mut() {
        if !last.ends_with('\n') {
            last.push('\n');
        }
        last.push_str(text);
    } else {
        content.push(PartContent::Text(text.to_owned()));
    }
}

/// Returns the files below the root among these scopes.
fn paths(scopes: &[LockScope]) -> Vec<String> {
    let paths = scopes.iter().filter_map(|scope| match scope {
        LockScope::Path(path) if !path.is_empty() && !path.starts_with('/') => Some(path.clone()),
        _ => None,
    });
    paths.collect()
}

fn exists(context: &ToolContext, path: &str) -> bool {
    context.sources.files.exists(&context.root.join(path))
}

fn errors(mut diagnostics: Vec<FileDiagnostic>) -> Vec<FileDiagnostic> {
    diagnostics.retain(|it| it.is_error);
    diagnostics
}

/// The errors that differ between two reports, as lines of text.
#[derive(Default)]
struct ErrorChanges {
    new: Vec<String>,
    resolved: Vec<String>,
    /// Errors of files about which nothing is known from before the edit.
    undated: Vec<String>,
}

impl ErrorChanges {
    /// Adds the differences of one file. Errors are compared by their messages, since an edit moves lines.
    fn compare(&mut self, path: &str, before: &[FileDiagnostic], after: &[FileDiagnostic]) {
        self.new.extend(missing_from(before, after, path));
        self.resolved.extend(missing_from(after, before, path));
    }

    fn add_undated(&mut self, path: &str, errors: &[FileDiagnostic]) {
        self.undated.extend(errors.iter().map(|it| line(path, it)));
    }

    /// Returns the lines under headings; `None` if there are none.
    fn text(&self) -> Option<String> {
        let mut text = String::new();
        let count = |lines: &[String]| count_of(lines.len(), "error");
        let new = format!("{}:", count_of(self.new.len(), "new error"));
        push_list(&mut text, &new, &self.new, MAX_NEW);
        let undated = format!("{}, perhaps older than this edit:", count(&self.undated));
        push_list(&mut text, &undated, &self.undated, MAX_NEW);
        let resolved = format!("{} resolved:", count(&self.resolved));
        push_list(&mut text, &resolved, &self.resolved, MAX_RESOLVED);
        (!text.is_empty()).then_some(text)
    }
}

/// Returns a line for each error of `these` that is not among `others`; equal messages count one by one.
fn missing_from(others: &[FileDiagnostic], these: &[FileDiagnostic], path: &str) -> Vec<String> {
    let mut left: Vec<&str> = others.iter().map(|it| it.message.as_str()).collect();
    let mut lines = Vec::new();
    for error in these {
        match left.iter().position(|message| *message == error.message) {
            Some(ix) => drop(left.swap_remove(ix)),
            None => lines.push(line(path, error)),
        }
    }
    lines
}

fn line(path: &str, error: &FileDiagnostic) -> String {
    format!("{path}:{}: {}", error.line, one_line(&error.message))
}

/// Returns a message as one line of limited length.
fn one_line(message: &str) -> String {
    let mut text = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.len() > MAX_MESSAGE {
        text.truncate(text.floor_char_boundary(MAX_MESSAGE));
        text.push('…');
    }
    text
}

fn push_list(text: &mut String, heading: &str, lines: &[String], most: usize) {
    if lines.is_empty() {
        return;
    }
    // Writing to a string cannot fail.
    writeln!(text, "{heading}").ok();
    for line in lines.iter().take(most) {
        writeln!(text, "{line}").ok();
    }
    if lines.len() > most {
        writeln!(text, "(and {} more)", lines.len() - most).ok();
    }
}

#[cfg(test)]
mod tests;
