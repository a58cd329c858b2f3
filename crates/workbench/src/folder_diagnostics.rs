//! The diagnostics of an open folder: those of files that are not open, and numbers by file and folder.
//!
//! Must not know: servers, views.
//! Invariant: a report about a file costs its depth below the folder, however many files there are.
//! Start at `FolderDiagnostics::counts_of`.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use base::AbsPath;
use editor::DiagnosticCounts;
use gpui_kit::Hsla;
use lsp::{DiagnosticSeverity, UnopenedDiagnostic};
use settings::Colors;

/// The diagnostics of an open folder.
pub(crate) struct FolderDiagnostics {
    root: AbsPath,
    /// Diagnostics of files that are not open; no list is empty.
    closed: BTreeMap<AbsPath, Arc<[UnopenedDiagnostic]>>,
    /// Diagnostic counts by file, and their sums by folder up to the root. Entries without diagnostics are removed.
    counts: HashMap<AbsPath, DiagnosticCounts>,
}

impl FolderDiagnostics {
    /// Creates the diagnostics of a folder without any.
    pub(crate) fn new(root: &AbsPath) -> Self {
        Self {
            root: root.clone(),
            closed: BTreeMap::new(),
            counts: HashMap::new(),
        }
    }

    /// Forgets all diagnostics.
    pub(crate) fn clear(&mut self) {
        self.closed.clear();
        self.counts.clear();
    }

    /// Sets the diagnostic counts of an open file; the diagnostics themselves are in its document.
    pub(crate) fn set_open(&mut self, path: &AbsPath, counts: DiagnosticCounts) {
        self.closed.remove(path);
        self.set_counts(path, counts);
    }

    /// Sets the diagnostics of a file that is not open. A file outside of the folder is ignored.
    pub(crate) fn set_closed(&mut self, path: &AbsPath, mut items: Vec<UnopenedDiagnostic>) {
        if !path.is_within(&self.root) {
            return;
        }
        items.sort_by_key(|item| (item.range.row(), item.severity));
        items.dedup();
        let count = |severity| {
            let items = items.iter();
            items.filter(|item| item.severity == severity).count()
        };
        let counts = DiagnosticCounts {
            errors: count(DiagnosticSeverity::Error),
            warnings: count(DiagnosticSeverity::Warning),
        };
        self.set_counts(path, counts);
        if items.is_empty() {
            self.closed.remove(path);
        } else {
            self.closed.insert(path.clone(), items.into());
        }
    }

    fn set_counts(&mut self, path: &AbsPath, counts: DiagnosticCounts) {
        let old = self.counts_of(path);
        if old == counts || !path.is_within(&self.root) {
            return;
        }
        let mut next = Some(path.clone());
        while let Some(path) = next.filter(|path| path.is_within(&self.root)) {
            let sum = self.counts.entry(path.clone()).or_default();
            sum.errors = (sum.errors + counts.errors).saturating_sub(old.errors);
            sum.warnings = (sum.warnings + counts.warnings).saturating_sub(old.warnings);
            if *sum == DiagnosticCounts::default() {
                self.counts.remove(&path);
            }
            next = path.parent();
        }
    }

    /// Returns the number of errors and warnings in a file, or in all files below a folder.
    pub(crate) fn counts_of(&self, path: &AbsPath) -> DiagnosticCounts {
        self.counts.get(path).copied().unwrap_or_default()
    }

    /// Returns the number of errors and warnings in the folder.
    pub(crate) fn total(&self) -> DiagnosticCounts {
        self.counts_of(&self.root)
    }

    /// Returns the files that are not open and have diagnostics, sorted by path, each with its diagnostics sorted by row.
    pub(crate) fn closed(
        &self,
    ) -> impl DoubleEndedIterator<Item = (&AbsPath, &Arc<[UnopenedDiagnostic]>)> {
        self.closed.iter()
    }

    /// Returns those after a path.
    pub(crate) fn closed_after(
        &self,
        path: &AbsPath,
    ) -> impl Iterator<Item = (&AbsPath, &Arc<[UnopenedDiagnostic]>)> {
        self.closed.range((Bound::Excluded(path), Bound::Unbounded))
    }

    /// Returns those before a path, the last first.
    pub(crate) fn closed_before(
        &self,
        path: &AbsPath,
    ) -> impl Iterator<Item = (&AbsPath, &Arc<[UnopenedDiagnostic]>)> {
        self.closed.range(..path).rev()
    }
}

/// Returns the colour for a name with errors or warnings; `None` without any.
pub(crate) fn color(counts: DiagnosticCounts, colors: &Colors<Hsla>) -> Option<Hsla> {
    match (counts.errors, counts.warnings) {
        (0, 0) => None,
        (0, _) => Some(colors.warning),
        _ => Some(colors.error),
    }
}

/// Returns the numbers as a phrase, such as "2 errors, 1 warning"; empty without any.
pub(crate) fn phrase(counts: DiagnosticCounts) -> String {
    let counted = |count: usize, noun: &str| match count {
        0 => None,
        1 => Some(format!("1 {noun}")),
        count => Some(format!("{count} {noun}s")),
    };
    let parts = [
        counted(counts.errors, "error"),
        counted(counts.warnings, "warning"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use base::Span;
    use lsp::ServerRange;
    use text::Snapshot;

    use super::*;

    fn path(path: &str) -> AbsPath {
        AbsPath::new(path).expect("absolute")
    }

    fn counts(errors: usize, warnings: usize) -> DiagnosticCounts {
        DiagnosticCounts { errors, warnings }
    }

    fn item(row: usize, severity: DiagnosticSeverity) -> UnopenedDiagnostic {
        let text = Snapshot::new("\n\n\n\n");
        UnopenedDiagnostic {
            range: ServerRange::of(&text, Span::from(row..row)),
            severity,
            message: "it is wrong".to_owned(),
            code: None,
            source: None,
        }
    }

    #[test]
    fn folders_count_their_files() {
        use DiagnosticSeverity::{Error, Hint, Warning};
        let mut diagnostics = FolderDiagnostics::new(&path("/p"));
        diagnostics.set_open(&path("/p/a/b/one.rs"), counts(1, 2));
        let items = vec![
            item(3, Warning),
            item(1, Error),
            item(1, Error),
            item(0, Hint),
        ];
        diagnostics.set_closed(&path("/p/a/two.rs"), items.clone());
        diagnostics.set_closed(&path("/other/three.rs"), items);
        let check = |diagnostics: &FolderDiagnostics, at: &str, expected| {
            assert_eq!(diagnostics.counts_of(&path(at)), expected, "{at}");
        };
        check(&diagnostics, "/p/a/b/one.rs", counts(1, 2));
        check(&diagnostics, "/p/a/b", counts(1, 2));
        check(&diagnostics, "/p/a/two.rs", counts(1, 1));
        check(&diagnostics, "/p/a", counts(2, 3));
        check(&diagnostics, "/other", counts(0, 0));
        assert_eq!(diagnostics.total(), counts(2, 3));
        let rows = |(_, items): (_, &Arc<[UnopenedDiagnostic]>)| -> Vec<u32> {
            items.iter().map(|item| item.range.row().0).collect()
        };
        let closed: Vec<_> = diagnostics.closed().map(rows).collect();
        assert_eq!(closed, [[0, 1, 3]]);
        // Opened, repaired, and closed again.
        diagnostics.set_open(&path("/p/a/two.rs"), counts(0, 1));
        assert_eq!(diagnostics.closed().count(), 0);
        check(&diagnostics, "/p/a", counts(1, 3));
        diagnostics.set_closed(&path("/p/a/two.rs"), Vec::new());
        diagnostics.set_closed(&path("/p/a/b/one.rs"), Vec::new());
        assert!(diagnostics.counts.is_empty());
    }

    #[test]
    fn numbers_are_spoken() {
        assert_eq!(phrase(counts(0, 0)), "");
        assert_eq!(phrase(counts(1, 2)), "1 error, 2 warnings");
        assert_eq!(phrase(counts(0, 1)), "1 warning");
    }
}
