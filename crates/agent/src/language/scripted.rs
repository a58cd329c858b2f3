//! Language servers whose answers a test gives.

use std::collections::VecDeque;
use std::sync::Mutex;

use super::*;

/// Answers queries with given values, and logs them.
#[derive(Default)]
pub(crate) struct ScriptedLanguage {
    /// Answers for `diagnostics`, in order; nothing is reported after the last.
    pub(crate) reports: Mutex<VecDeque<DiagnosticsAnswer>>,
    pub(crate) locations: Vec<SymbolLocation>,
    pub(crate) hover: Option<String>,
    pub(crate) changes: Vec<TextChange>,
    pub(crate) actions: Vec<OfferedAction>,
    /// The reason for which every query fails.
    pub(crate) failure: Option<String>,
    /// The queries, in order.
    pub(crate) log: Mutex<Vec<String>>,
}

impl ScriptedLanguage {
    /// Takes the logged queries.
    pub(crate) fn log(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().expect("the log"))
    }

    fn answer<T: Send + 'static>(
        &self,
        query: String,
        answer: T,
    ) -> BoxFuture<'static, Result<T, Error>> {
        self.log.lock().expect("the log").push(query);
        let failure = self.failure.clone().map(Error::LanguageQueryFailed);
        Box::pin(std::future::ready(failure.map_or(Ok(answer), Err)))
    }
}

/// An answer with the errors of files, by line and message.
pub(crate) fn errors(files: &[(&str, &[(u32, &str)])]) -> DiagnosticsAnswer {
    let error = |(line, message): &(u32, &str)| FileDiagnostic {
        line: *line,
        is_error: true,
        message: (*message).to_owned(),
    };
    let files = files.iter().map(|(path, found)| ReportedFile {
        path: (*path).to_owned(),
        diagnostics: found.iter().map(error).collect(),
    });
    DiagnosticsAnswer {
        files: files.collect(),
        unreported: Vec::new(),
    }
}

fn at(position: &SymbolPosition) -> String {
    let SymbolPosition { path, line, column } = position;
    format!("{path}:{line}:{column}")
}

impl LanguageQueries for ScriptedLanguage {
    fn open(&self, paths: Vec<String>) {
        let query = format!("open {}", paths.join(" "));
        self.log.lock().expect("the log").push(query);
    }

    fn diagnostics(
        &self,
        paths: Vec<String>,
        _: Duration,
    ) -> BoxFuture<'static, Result<DiagnosticsAnswer, Error>> {
        let answer = self.reports.lock().expect("the reports").pop_front();
        let query = format!("diagnostics {}", paths.join(" "));
        self.answer(query, answer.unwrap_or_default())
    }

    fn locations(
        &self,
        relation: SymbolRelation,
        position: SymbolPosition,
    ) -> BoxFuture<'static, Result<Vec<SymbolLocation>, Error>> {
        let query = format!("{relation:?} {}", at(&position));
        self.answer(query, self.locations.clone())
    }

    fn hover(&self, position: SymbolPosition) -> BoxFuture<'static, Result<Option<String>, Error>> {
        self.answer(format!("hover {}", at(&position)), self.hover.clone())
    }

    fn rename(
        &self,
        position: SymbolPosition,
        new_name: String,
    ) -> BoxFuture<'static, Result<Vec<TextChange>, Error>> {
        let query = format!("rename {} {new_name}", at(&position));
        self.answer(query, self.changes.clone())
    }

    fn code_actions(
        &self,
        lines: LineRange,
    ) -> BoxFuture<'static, Result<Vec<OfferedAction>, Error>> {
        let LineRange { path, first, last } = lines;
        let query = format!("actions {path}:{first}-{last}");
        self.answer(query, self.actions.clone())
    }

    fn code_action_changes(
        &self,
        lines: LineRange,
        title: String,
    ) -> BoxFuture<'static, Result<Vec<TextChange>, Error>> {
        let LineRange { path, first, last } = lines;
        let query = format!("action {path}:{first}-{last} {title}");
        self.answer(query, self.changes.clone())
    }
}
