//! Reports about documents that are not open: pushed ones, and those pulled for the whole workspace.
//!
//! Invariant: their length is bounded, however many files a server reports about.

use std::collections::{BTreeSet, HashMap};

use base::AbsPath;

use super::ServerSession;
use super::reports::PulledReport;
use super::workspace_reports::WorkspaceReports;
use crate::diagnostics::wire::{self, WirePublish};
use crate::diagnostics::{ReadDiagnostics, ReportSource, UnopenedDiagnostic};
use crate::events::ServerEvent;
use crate::message::Payload;
use crate::position::PositionEncoding;
use crate::violations::{Violation, Violations};

/// Maximum number of documents whose reports wait for the owner; those beyond it are read with the next report.
const MAX_CHANGED: usize = 20_000;
/// Maximum length of all kept reports about unopened documents, in bytes.
const MAX_UNOPENED_BYTES: usize = 16 << 20;

/// Reports about documents that are not open. Their positions can be read once the text is known.
#[derive(Default)]
pub(crate) struct UnopenedReports {
    reports: HashMap<AbsPath, UnopenedReport>,
    bytes: usize,
    /// Documents whose report was replaced since the owner took the changes.
    changed: BTreeSet<AbsPath>,
    pub(super) pulled: WorkspaceReports,
}

/// A pushed report about a document that is not open.
pub(crate) enum UnopenedReport {
    /// The parameters of the notification, in JSON.
    Pushed(Payload),
    /// The diagnostics of a document that was open when they arrived, each with its JSON text.
    Kept(Vec<(UnopenedDiagnostic, Box<str>)>),
}

impl UnopenedReport {
    /// Returns the length of its JSON text, in bytes.
    fn length(&self) -> usize {
        match self {
            Self::Pushed(params) => params.json().len(),
            Self::Kept(items) => items.iter().map(|(_, source)| source.len()).sum(),
        }
    }
}

impl UnopenedReports {
    /// Replaces the report about a document. Returns whether there was room for it.
    pub(super) fn insert(&mut self, path: &AbsPath, report: UnopenedReport) -> bool {
        self.remove(path);
        let length = report.length();
        let fits = self.bytes + length <= MAX_UNOPENED_BYTES;
        if fits {
            self.bytes += length;
            self.reports.insert(path.clone(), report);
        }
        fits
    }

    /// Removes the report about a document and returns it.
    pub(super) fn remove(&mut self, path: &AbsPath) -> Option<UnopenedReport> {
        let report = self.reports.remove(path)?;
        self.bytes -= report.length();
        Some(report)
    }
}

impl ServerSession {
    /// Replaces the pushed report about a document that is not open.
    pub(super) fn push_unopened(
        &mut self,
        path: &AbsPath,
        publish: &WirePublish<'_>,
        params: &Payload,
    ) {
        if publish.diagnostics.is_empty() {
            if self.unopened.remove(path).is_none() {
                return;
            }
        } else {
            let report = UnopenedReport::Pushed(Payload::of(params.json()));
            if !self.unopened.insert(path, report) {
                self.violations.count(Violation::DiagnosticBeyondBound, 1);
            }
        }
        self.note_unopened(path);
    }

    /// Keeps the pushed diagnostics of an open document that is about to be closed. Those that were
    /// pulled for the workspace count again.
    pub(crate) fn keep_report(&mut self, path: &AbsPath) {
        let Some(document) = self.documents.get(path) else {
            return;
        };
        if document.reports.is_empty() {
            if self.unopened.pulled.is_diagnosed(path) {
                self.note_unopened(path);
            }
            return;
        }
        let pushed = document.reports.pushed();
        let kept: Vec<_> = pushed
            .map(|(item, source)| {
                let item = UnopenedDiagnostic::of(item, &document.text);
                (item, Box::from(source))
            })
            .collect();
        if !kept.is_empty() && !self.unopened.insert(path, UnopenedReport::Kept(kept)) {
            self.violations.count(Violation::DiagnosticBeyondBound, 1);
        }
        self.note_unopened(path);
    }

    pub(super) fn note_unopened(&mut self, path: &AbsPath) {
        if self.unopened.changed.len() < MAX_CHANGED {
            self.unopened.changed.insert(path.clone());
        }
        self.events.push(ServerEvent::UnopenedDiagnosticsChanged);
    }

    /// Takes the documents that are not open and whose diagnostics were replaced, each with whether there are any now.
    pub(crate) fn take_unopened_changes(&mut self) -> Vec<(AbsPath, bool)> {
        let changed = std::mem::take(&mut self.unopened.changed).into_iter();
        let unopened = &self.unopened;
        changed
            .map(|path| {
                let is_pushed = unopened.reports.contains_key(&path);
                let is_diagnosed = is_pushed || unopened.pulled.is_diagnosed(&path);
                (path, is_diagnosed)
            })
            .collect()
    }

    /// Returns the diagnostics about a document that is not open: those that are read, and the parameters in which the
    /// others are, to be read without the lock.
    pub(crate) fn unopened(&self, path: &AbsPath) -> (Vec<Payload>, Vec<UnopenedDiagnostic>) {
        let mut params: Vec<_> = self.unopened.pulled.of(path).cloned().collect();
        let mut kept = Vec::new();
        match self.unopened.reports.get(path) {
            None => {}
            Some(UnopenedReport::Pushed(pushed)) => params.push(pushed.clone()),
            Some(UnopenedReport::Kept(items)) => {
                kept.extend(items.iter().map(|(item, _)| item.clone()));
            }
        }
        (params, kept)
    }

    /// Reads the report that arrived before the document was opened.
    pub(super) fn convert_unopened(&mut self, path: &AbsPath) {
        let Some(report) = self.unopened.remove(path) else {
            return;
        };
        let basis = self
            .documents
            .get(path)
            .and_then(|document| document.basis(None));
        let Some(basis) = basis else {
            return;
        };
        let mut violations = Violations::default();
        let encoding = self.capabilities.encoding();
        let items = match report {
            UnopenedReport::Pushed(params) => {
                let Ok(publish) = serde_json::from_str::<WirePublish<'_>>(params.json()) else {
                    return;
                };
                wire::read_items(&publish.diagnostics, &basis.text, encoding, &mut violations)
            }
            UnopenedReport::Kept(items) => {
                let mut diagnostics = ReadDiagnostics::default();
                for (item, source) in items {
                    // The text may have another length than the one that was closed.
                    if let Some(item) = item.place(&source, &basis.text) {
                        diagnostics.items.push(item);
                        diagnostics.sources.push(source);
                    }
                }
                diagnostics
            }
        };
        self.violations.add(&violations);
        let report = PulledReport::Full {
            result_id: None,
            items,
        };
        self.report(path, &ReportSource::Push, basis.version, report);
    }
}

/// Reads the diagnostics in the parameters of a pushed report.
pub(crate) fn read_unopened(
    params: &Payload,
    encoding: PositionEncoding,
) -> Vec<UnopenedDiagnostic> {
    let publish = serde_json::from_str::<WirePublish<'_>>(params.json());
    publish.map_or_else(
        |_| Vec::new(),
        |publish| wire::read_unplaced(&publish.diagnostics, encoding),
    )
}
