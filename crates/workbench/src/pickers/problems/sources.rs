//! The diagnostics of a folder at one time, and the list of problems made from them.
//!
//! Invariant: reading them costs the window's thread one counted reference for each diagnostic of an open file and for each
//! other file, and copies no message; rows and texts are made in the background.
//! Start at `ProblemSources::problems`.

use std::sync::Arc;

use base::AbsPath;
use editor::PlacedDiagnostic;
use lsp::UnopenedDiagnostic;
use text::Snapshot;

use super::listing::{Problem, ordered};

/// The diagnostics of a folder at one time.
#[derive(Default)]
pub(crate) struct ProblemSources {
    open: Vec<OpenFile>,
    closed: Vec<(AbsPath, String, Arc<[UnopenedDiagnostic]>)>,
}

struct OpenFile {
    path: AbsPath,
    name: String,
    snapshot: Snapshot,
    diagnostics: Vec<PlacedDiagnostic>,
}

impl ProblemSources {
    /// Adds the diagnostics of an open file, which is displayed as `name`.
    pub(crate) fn add_open(
        &mut self,
        path: AbsPath,
        name: String,
        snapshot: Snapshot,
        diagnostics: Vec<PlacedDiagnostic>,
    ) {
        self.open.push(OpenFile {
            path,
            name,
            snapshot,
            diagnostics,
        });
    }

    /// Adds the diagnostics of a file that is not open.
    pub(crate) fn add_closed(
        &mut self,
        path: AbsPath,
        name: String,
        diagnostics: Arc<[UnopenedDiagnostic]>,
    ) {
        self.closed.push((path, name, diagnostics));
    }

    /// Returns the problems in the order of their list. The time grows with their number and the length of their
    /// messages.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let open = self.open.iter().flat_map(|file| {
            file.diagnostics.iter().map(|placed| {
                let start = file.snapshot.point_at(placed.span.start);
                Problem::placed(&file.path, &file.name, start, placed)
            })
        });
        let closed = self.closed.iter().flat_map(|(path, name, items)| {
            let items = items.iter();
            items.map(move |item| Problem::closed(path, name, item))
        });
        ordered(open.chain(closed).collect())
    }
}
