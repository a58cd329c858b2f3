//! Reports of diagnostics about open documents: pushed and pulled.
//!
//! A report is read without the lock on the session, on the text that it is about, and then carried
//! over the edits that were made meanwhile.

use base::{AbsPath, Span};
use gen_lsp_types::DocumentDiagnosticParams;
use serde_json::Value;

use crate::capabilities::PULL_DIAGNOSTICS;
use crate::diagnostics::wire::WirePublish;
use crate::diagnostics::{DiagnosticReport, DocumentDiagnostics, ReadDiagnostics, ReportSource};
use crate::document::ReportBasis;
use crate::events::ServerEvent;
use crate::message::Payload;
use crate::position::PositionEncoding;
use crate::range::range_value;
use crate::session::{ServerSession, identifier};
use crate::violations::Violation;

/// Maximum number of providers that are asked for one document.
const MAX_PROVIDERS: usize = 8;
/// Maximum number of diagnostics that are sent back to a server.
const MAX_QUOTED: usize = 256;

/// A report that was asked for: its document, its provider, and the text at that time.
#[derive(Clone, Debug)]
pub(crate) struct PullIdentity {
    pub(crate) path: AbsPath,
    pub(crate) source: ReportSource,
    pub(crate) basis: ReportBasis,
    pub(crate) encoding: PositionEncoding,
}

/// A report in an answer, read on the text that it is about.
pub(crate) enum PulledReport {
    /// A new report, which replaces the earlier one.
    Full {
        result_id: Option<String>,
        items: ReadDiagnostics,
    },
    /// The earlier report is still right.
    Unchanged { result_id: Option<String> },
}

impl ServerSession {
    /// Returns the diagnostics of an open document; `None` before the first report.
    pub(crate) fn diagnostics(&self, path: &AbsPath) -> Option<DocumentDiagnostics> {
        let document = self.documents.get(path)?;
        document
            .reports
            .diagnostics(&document.text, document.version)
    }

    /// Returns the text that a pushed report is about, with the encoding of its positions. Keeps the
    /// report for later if the document is not open.
    pub(crate) fn publish_basis(
        &mut self,
        path: &AbsPath,
        publish: &WirePublish<'_>,
        params: &Payload,
    ) -> Option<(ReportBasis, PositionEncoding)> {
        let Some(document) = self.documents.get(path) else {
            self.push_unopened(path, publish, params);
            return None;
        };
        let basis = document.basis(publish.version());
        if basis.is_none() {
            self.violations.count(Violation::UnknownVersion, 1);
        }
        Some((basis?, self.capabilities.encoding()))
    }

    /// Returns the diagnostics that touch a span of a document's text, as the server wrote them,
    /// but with their present ranges.
    pub(crate) fn diagnostic_values(&self, path: &AbsPath, span: Span) -> Vec<Value> {
        let Some(document) = self.documents.get(path) else {
            return Vec::new();
        };
        let encoding = self.capabilities.encoding();
        let touches = |other: Span| other.start <= span.end && span.start <= other.end;
        let items = document.reports.with_sources();
        items
            .filter(|(item, _)| touches(item.span))
            .take(MAX_QUOTED)
            .filter_map(|(item, source)| {
                let mut value: Value = serde_json::from_str(source).ok()?;
                let range = range_value(&document.text, item.span, encoding);
                value.as_object_mut()?.insert("range".to_owned(), range);
                Some(value)
            })
            .collect()
    }

    /// Stores a report about a version of a document, carried to its latest text.
    pub(crate) fn report(
        &mut self,
        path: &AbsPath,
        source: &ReportSource,
        version: i32,
        report: PulledReport,
    ) {
        let Some(document) = self.documents.get_mut(path) else {
            return;
        };
        let is_known = match report {
            PulledReport::Full {
                result_id,
                mut items,
            } => {
                let is_known = document.carry(version, &mut items.items);
                if is_known {
                    let report = DiagnosticReport {
                        result_id,
                        version,
                        items: items.items,
                        sources: items.sources,
                    };
                    document.reports.replace(source.clone(), report);
                }
                is_known
            }
            PulledReport::Unchanged { result_id } => {
                document.reports.confirm(source, result_id, version)
            }
        };
        if is_known {
            self.events
                .push(ServerEvent::DiagnosticsChanged(path.clone()));
        } else {
            self.violations.count(Violation::UnknownVersion, 1);
        }
    }

    /// Returns whether the server offers to be asked for the diagnostics of an open document now.
    pub(crate) fn offers_pull(&self, path: &AbsPath) -> bool {
        !self.pull_sources(path).is_empty()
    }

    /// Returns whether a provider says that the diagnostics of other documents may depend on this one.
    pub(crate) fn diagnoses_across_files(&self, path: &AbsPath) -> bool {
        let Some(document) = self.documents.get(path) else {
            return false;
        };
        let options = self
            .capabilities
            .options(PULL_DIAGNOSTICS, document.identity());
        let depends = Some(&Value::Bool(true));
        let mut options = options.into_iter();
        options.any(|options| options.get("interFileDependencies") == depends)
    }

    /// Returns the providers that can be asked for the diagnostics of a document.
    fn pull_sources(&self, path: &AbsPath) -> Vec<ReportSource> {
        let mut sources = Vec::new();
        for options in self.provider_options(PULL_DIAGNOSTICS, path) {
            let identifier = options.get("identifier").and_then(Value::as_str);
            let source = ReportSource::Pull(identifier.map(str::to_owned));
            if !sources.contains(&source) && sources.len() < MAX_PROVIDERS {
                sources.push(source);
            }
        }
        sources
    }

    /// Returns the requests that ask every provider for the diagnostics of a document.
    pub(crate) fn pulls(&self, path: &AbsPath) -> Vec<(PullIdentity, DocumentDiagnosticParams)> {
        let sources = self.pull_sources(path).into_iter();
        sources
            .filter_map(|source| self.pull(path, source))
            .collect()
    }

    /// Returns the request that asks one provider for the diagnostics of a document.
    pub(crate) fn pull(
        &self,
        path: &AbsPath,
        source: ReportSource,
    ) -> Option<(PullIdentity, DocumentDiagnosticParams)> {
        let document = self.documents.get(path)?;
        let ReportSource::Pull(provider) = &source else {
            return None;
        };
        let params = DocumentDiagnosticParams {
            text_document: identifier(path),
            identifier: provider.clone(),
            previous_result_id: document.reports.result_id(&source).map(str::to_owned),
            work_done_progress_params: Default::default(),
            partial_result_params: Default::default(),
        };
        let identity = PullIdentity {
            path: path.clone(),
            basis: document.basis(None)?,
            source,
            encoding: self.capabilities.encoding(),
        };
        Some((identity, params))
    }

    /// Returns the latest text of an open document, for a report about it in the answer for another.
    pub(crate) fn latest_basis(&self, path: &AbsPath) -> Option<ReportBasis> {
        self.documents.get(path)?.basis(None)
    }
}
