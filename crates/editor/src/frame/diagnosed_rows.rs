//! Rows of diagnostics for the marks on the scrollbar.

use std::cell::RefCell;
use std::rc::Rc;

use base::Row;
use lsp::DiagnosticSeverity;
use text::Snapshot;

use crate::model::DocumentModel;

/// Maximum number of diagnostics that are looked at, from the start of the text.
const MAX_DIAGNOSTICS: usize = 500;

/// The rows with errors and warnings, kept while neither the reports nor the number of rows change: a key within a row moves
/// no mark.
#[derive(Default)]
pub(crate) struct DiagnosedRows(RefCell<KeptRows>);

#[derive(Default)]
struct KeptRows {
    /// The number of the report and the number of rows.
    key: Option<(u64, u32)>,
    rows: Rc<[(DiagnosticSeverity, Row)]>,
}

impl DiagnosedRows {
    /// Returns the rows in the text `snapshot` of a model, sorted.
    pub(crate) fn get(
        &self,
        model: &DocumentModel,
        snapshot: &Snapshot,
    ) -> Rc<[(DiagnosticSeverity, Row)]> {
        let key = Some((model.diagnostic_report(), snapshot.row_count()));
        let mut kept = self.0.borrow_mut();
        if kept.key != key {
            let placed = model.diagnostics().take(MAX_DIAGNOSTICS);
            let serious = placed.filter(|it| it.diagnostic.severity <= DiagnosticSeverity::Warning);
            let row = |at| snapshot.point_at(at).row;
            let rows = serious.map(|it| (it.diagnostic.severity, row(it.span.start)));
            *kept = KeptRows {
                key,
                rows: rows.collect(),
            };
        }
        kept.rows.clone()
    }
}
