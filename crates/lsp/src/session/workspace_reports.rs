//! Pulled reports about all documents of the workspace.
//!
//! They are kept while their documents are open, too: the server confirms a report by its identifier
//! alone, and after the document is closed, the report counts again.
//! Invariant: their length is bounded, however many files a server reports about.

use std::collections::HashMap;

use base::AbsPath;
use serde_json::{Value, json};

use super::ServerSession;
use crate::capabilities::PULL_DIAGNOSTICS;
use crate::message::Payload;
use crate::uri::file_uri;
use crate::violations::Violation;

/// Maximum number of documents with a report.
pub(crate) const MAX_REPORTS: usize = 20_000;
/// Maximum length of all reports, in bytes.
const MAX_BYTES: usize = 16 << 20;
/// Maximum number of providers that are asked.
const MAX_PROVIDERS: usize = 8;

/// Pulled reports about the documents of the workspace.
#[derive(Default)]
pub(crate) struct WorkspaceReports {
    /// By document; those of one document have different providers.
    reports: HashMap<AbsPath, Vec<WorkspaceReport>>,
    bytes: usize,
}

/// The report of one provider about a document.
pub(crate) struct WorkspaceReport {
    pub(crate) provider: Option<String>,
    /// Identifier with which the server recognises the report in the next pull.
    pub(crate) result_id: Option<String>,
    /// The diagnostics in the form of a pushed report; `None` if there are none.
    pub(crate) pushed: Option<Payload>,
}

impl WorkspaceReport {
    fn length(&self) -> usize {
        self.pushed.as_ref().map_or(0, |it| it.json().len())
    }
}

impl WorkspaceReports {
    /// Returns whether there are diagnostics about a document.
    pub(super) fn is_diagnosed(&self, path: &AbsPath) -> bool {
        self.of(path).next().is_some()
    }

    /// Returns the diagnostics about a document, those of each provider in the form of a pushed report.
    pub(super) fn of(&self, path: &AbsPath) -> impl Iterator<Item = &Payload> {
        let reports = self.reports.get(path).into_iter().flatten();
        reports.filter_map(|report| report.pushed.as_ref())
    }

    /// Replaces the report of a provider. Returns whether there was room for it.
    fn replace(&mut self, path: &AbsPath, report: WorkspaceReport) -> bool {
        let is_known = self.reports.contains_key(path);
        let known = self.reports.entry(path.clone()).or_default();
        let before = known.iter().position(|it| it.provider == report.provider);
        if let Some(before) = before {
            self.bytes -= known.swap_remove(before).length();
        }
        let fits = self.bytes + report.length() <= MAX_BYTES;
        if fits {
            self.bytes += report.length();
            known.push(report);
        }
        if known.is_empty() || !is_known && self.reports.len() > MAX_REPORTS {
            for report in self.reports.remove(path).unwrap_or_default() {
                self.bytes -= report.length();
            }
            return false;
        }
        fits
    }

    /// Replaces the identifier of a provider's report; returns false if there is none.
    fn confirm(
        &mut self,
        path: &AbsPath,
        provider: Option<&str>,
        result_id: Option<String>,
    ) -> bool {
        let reports = self.reports.get_mut(path);
        let mut reports = reports.into_iter().flatten();
        let known = reports.find(|it| it.provider.as_deref() == provider);
        match known {
            Some(report) => {
                report.result_id = result_id.or(report.result_id.take());
                true
            }
            None => false,
        }
    }

    /// Returns the identifiers of a provider's reports in the form of the protocol.
    fn result_ids(&self, provider: Option<&str>) -> Vec<Value> {
        let reports = self.reports.iter();
        let ids = reports.filter_map(|(path, reports)| {
            let mut reports = reports.iter();
            let report = reports.find(|it| it.provider.as_deref() == provider)?;
            let id = report.result_id.as_ref()?;
            Some(json!({ "uri": file_uri(path), "value": id }))
        });
        ids.collect()
    }
}

impl ServerSession {
    /// Returns the providers that can be asked for the diagnostics of all documents, each with the
    /// parameters of the request.
    pub(crate) fn workspace_pulls(&self) -> Vec<(Option<String>, Value)> {
        let mut providers: Vec<Option<String>> = Vec::new();
        if self.is_running() {
            let options = self.capabilities.workspace_options(PULL_DIAGNOSTICS);
            for options in options.filter(|options| diagnoses_workspace(options)) {
                let identifier = options.get("identifier").and_then(Value::as_str);
                let identifier = identifier.map(str::to_owned);
                if !providers.contains(&identifier) && providers.len() < MAX_PROVIDERS {
                    providers.push(identifier);
                }
            }
        }
        let pulls = providers.into_iter().map(|provider| {
            let ids = self.unopened.pulled.result_ids(provider.as_deref());
            let mut params = json!({ "previousResultIds": ids });
            if let Some(provider) = &provider {
                params["identifier"] = json!(provider);
            }
            (provider, params)
        });
        pulls.collect()
    }

    /// Stores a new report about a document.
    pub(crate) fn store_workspace_report(&mut self, path: &AbsPath, report: WorkspaceReport) {
        let pulled = &mut self.unopened.pulled;
        let had_any = pulled.is_diagnosed(path);
        let has_any = report.pushed.is_some();
        if !pulled.replace(path, report) {
            self.violations.count(Violation::DiagnosticBeyondBound, 1);
        }
        if (had_any || has_any) && !self.documents.contains_key(path) {
            self.note_unopened(path);
        }
    }

    /// Confirms the report about a document.
    pub(crate) fn confirm_workspace_report(
        &mut self,
        path: &AbsPath,
        provider: Option<&str>,
        result_id: Option<String>,
    ) {
        if !self.unopened.pulled.confirm(path, provider, result_id) {
            self.violations.count(Violation::UnknownVersion, 1);
        }
    }
}

/// Returns whether a provider says that it diagnoses documents that are not open.
fn diagnoses_workspace(options: &Value) -> bool {
    options.get("workspaceDiagnostics") == Some(&Value::Bool(true))
}
