//! Pulled reports about all documents of the workspace.
//!
//! They are kept while their documents are open, too: the server confirms a report by its identifier
//! alone, and after the document is closed, the report counts again.
//! Invariant: their length is bounded, however many files a server reports about.

use std::collections::HashMap;

use base::AbsPath;
use serde_json::value::{RawValue, to_raw_value};
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
    /// Returns whether it says nothing that is worth keeping.
    fn is_empty(&self) -> bool {
        self.pushed.is_none() && self.result_id.is_none()
    }

    /// Returns the length that it takes with the path of its document, in bytes.
    fn length(&self, path: &AbsPath) -> usize {
        let pushed = self.pushed.as_ref().map_or(0, |it| it.json().len());
        let names = [&self.provider, &self.result_id].into_iter().flatten();
        pushed + names.map(String::len).sum::<usize>() + path.as_path().as_os_str().len()
    }
}

/// A question for one provider, whose parameters are made without the lock on the session.
pub(crate) struct WorkspaceQuestion {
    pub(crate) provider: Option<String>,
    /// The documents with a report, and its identifier.
    known: Vec<(AbsPath, String)>,
}

impl WorkspaceQuestion {
    /// Returns the parameters of the request in JSON.
    pub(crate) fn params(&self) -> Option<Box<RawValue>> {
        let known = self.known.iter();
        let ids = known.map(|(path, id)| json!({ "uri": file_uri(path), "value": id }));
        let mut params = json!({ "previousResultIds": ids.collect::<Vec<_>>() });
        if let Some(provider) = &self.provider {
            params["identifier"] = json!(provider);
        }
        let text = to_raw_value(&params);
        text.inspect_err(|error| base::never!("a value has a JSON text: {error}"))
            .ok()
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
        let (is_known, documents) = (self.reports.contains_key(path), self.reports.len());
        let known = self.reports.entry(path.clone()).or_default();
        let before = known.iter().position(|it| it.provider == report.provider);
        if let Some(before) = before {
            self.bytes -= known.swap_remove(before).length(path);
        }
        let length = report.length(path);
        let fits = self.bytes + length <= MAX_BYTES && (is_known || documents < MAX_REPORTS);
        if fits && !report.is_empty() {
            self.bytes += length;
            known.push(report);
        }
        if known.is_empty() {
            self.reports.remove(path);
        }
        fits
    }

    /// Removes the reports of all other providers, and returns the documents about which they had diagnostics.
    fn keep(&mut self, providers: &[Option<String>]) -> Vec<AbsPath> {
        let (mut changed, mut removed) = (Vec::new(), 0);
        self.reports.retain(|path, reports| {
            let is_gone = |report: &WorkspaceReport| !providers.contains(&report.provider);
            let gone = reports.extract_if(.., |report| is_gone(report));
            let mut was_diagnosed = false;
            for report in gone {
                removed += report.length(path);
                was_diagnosed |= report.pushed.is_some();
            }
            if was_diagnosed {
                changed.push(path.clone());
            }
            !reports.is_empty()
        });
        self.bytes -= removed;
        changed
    }

    /// Replaces the identifier of a provider's report, which is forgotten if there is no room; returns false if there
    /// is no report.
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
                self.bytes -= report.length(path);
                report.result_id = result_id.or(report.result_id.take());
                if self.bytes + report.length(path) > MAX_BYTES {
                    report.result_id = None;
                }
                self.bytes += report.length(path);
                true
            }
            None => false,
        }
    }

    /// Returns the documents about which a provider reported, with the identifiers of the reports.
    fn result_ids(&self, provider: Option<&str>) -> Vec<(AbsPath, String)> {
        let reports = self.reports.iter();
        let ids = reports.filter_map(|(path, reports)| {
            let mut reports = reports.iter();
            let report = reports.find(|it| it.provider.as_deref() == provider)?;
            Some((path.clone(), report.result_id.clone()?))
        });
        ids.collect()
    }
}

impl ServerSession {
    /// Returns the questions for the providers that can be asked for the diagnostics of all documents.
    pub(crate) fn workspace_questions(&self) -> Vec<WorkspaceQuestion> {
        if !self.is_running() {
            return Vec::new();
        }
        let providers = self.workspace_providers().into_iter();
        let questions = providers.map(|provider| WorkspaceQuestion {
            known: self.unopened.pulled.result_ids(provider.as_deref()),
            provider,
        });
        questions.collect()
    }

    /// Returns whether a provider can be asked for the diagnostics of all documents.
    pub(crate) fn diagnoses_workspace(&self, provider: &Option<String>) -> bool {
        self.is_running() && self.workspace_providers().contains(provider)
    }

    fn workspace_providers(&self) -> Vec<Option<String>> {
        let mut providers: Vec<Option<String>> = Vec::new();
        let options = self.capabilities.workspace_options(PULL_DIAGNOSTICS);
        for options in options.filter(|options| diagnoses_workspace(options)) {
            let identifier = options.get("identifier").and_then(Value::as_str);
            let identifier = identifier.map(str::to_owned);
            if !providers.contains(&identifier) && providers.len() < MAX_PROVIDERS {
                providers.push(identifier);
            }
        }
        providers
    }

    /// Removes the reports of providers that the server took back.
    pub(super) fn drop_reports_of_gone_providers(&mut self) {
        let providers = self.workspace_providers();
        for path in self.unopened.pulled.keep(&providers) {
            if !self.documents.contains_key(&path) {
                self.note_unopened(&path);
            }
        }
    }

    /// Stores a new report about a document, unless its provider was taken back since it was asked.
    pub(crate) fn store_workspace_report(&mut self, path: &AbsPath, report: WorkspaceReport) {
        if !self.diagnoses_workspace(&report.provider) {
            return;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> AbsPath {
        AbsPath::new(name).expect("absolute")
    }

    fn report(provider: &str, id: Option<usize>, pushed: Option<&str>) -> WorkspaceReport {
        WorkspaceReport {
            provider: Some(provider.to_owned()),
            result_id: id.map(|length| "i".repeat(length)),
            pushed: pushed.map(Payload::of),
        }
    }

    /// Checks the number of documents and bytes after these reports about `/a`.
    fn check(reports: Vec<WorkspaceReport>, documents: usize, bytes: usize) {
        let mut known = WorkspaceReports::default();
        for report in reports {
            known.replace(&path("/a"), report);
        }
        assert_eq!((known.reports.len(), known.bytes), (documents, bytes));
    }

    #[test]
    fn the_length_counts_the_path_and_the_names() {
        check(vec![report("p", Some(10), Some("{}"))], 1, 2 + 1 + 10 + 2);
        check(
            vec![report("p", Some(10), None), report("q", None, Some("[]"))],
            1,
            2 + 1 + 10 + 2 + 1 + 2,
        );
        check(
            vec![report("p", Some(10), None), report("p", Some(3), None)],
            1,
            2 + 1 + 3,
        );
    }

    #[test]
    fn a_report_without_diagnostics_and_id_is_not_kept() {
        check(vec![report("p", None, None)], 0, 0);
        check(
            vec![report("p", Some(1), Some("{}")), report("p", None, None)],
            0,
            0,
        );
    }

    #[test]
    fn an_id_without_room_is_forgotten() {
        let mut known = WorkspaceReports::default();
        assert!(known.replace(&path("/a"), report("p", None, Some("{}"))));
        let long = Some("i".repeat(MAX_BYTES));
        assert!(known.confirm(&path("/a"), Some("p"), long));
        assert_eq!(known.result_ids(Some("p")), []);
        assert_eq!(known.bytes, 2 + 1 + 2);
        assert!(!known.replace(&path("/b"), report("p", Some(MAX_BYTES), None)));
        assert_eq!((known.reports.len(), known.bytes), (1, 2 + 1 + 2));
    }

    #[test]
    fn reports_of_gone_providers_are_removed() {
        let mut known = WorkspaceReports::default();
        known.replace(&path("/a"), report("p", None, Some("{}")));
        known.replace(&path("/a"), report("q", Some(1), None));
        known.replace(&path("/b"), report("q", None, Some("{}")));
        assert_eq!(known.keep(&[Some("p".to_owned())]), [path("/b")]);
        assert_eq!((known.reports.len(), known.bytes), (1, 2 + 1 + 2));
        assert_eq!(known.keep(&[]), [path("/a")]);
        assert_eq!((known.reports.len(), known.bytes), (0, 0));
    }
}
