//! The diagnostics of an open folder: those of files that are not open, and numbers by file and folder.
//!
//! Must not know: servers, views.
//! Invariant: a report about a file costs its depth below the folder, however many files there are.
//! Start at `FolderDiagnostics::counts_of`.

use std::collections::{BTreeMap, HashMap, HashSet};
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
    /// Those of them that servers report.
    reported: HashMap<AbsPath, Arc<[UnopenedDiagnostic]>>,
    /// Those of them that tasks and tests found.
    found: HashMap<AbsPath, Arc<[UnopenedDiagnostic]>>,
    /// Diagnostic counts by file, and their sums by folder up to the root. Entries without diagnostics are removed.
    counts: HashMap<AbsPath, DiagnosticCounts>,
}

impl FolderDiagnostics {
    /// Creates the diagnostics of a folder without any.
    pub(crate) fn new(root: &AbsPath) -> Self {
        Self {
            root: root.clone(),
            closed: BTreeMap::new(),
            reported: HashMap::new(),
            found: HashMap::new(),
            counts: HashMap::new(),
        }
    }

    /// Forgets the diagnostics of servers and those of open files.
    pub(crate) fn clear(&mut self) {
        self.closed.clear();
        self.reported.clear();
        self.counts.clear();
        let found: Vec<AbsPath> = self.found.keys().cloned().collect();
        found.iter().for_each(|path| self.join(path));
    }

    /// Sets the diagnostic counts of an open file; the diagnostics themselves are in its document.
    pub(crate) fn set_open(&mut self, path: &AbsPath, counts: DiagnosticCounts) {
        self.closed.remove(path);
        self.reported.remove(path);
        self.found.remove(path);
        self.set_counts(path, counts);
    }

    /// Sets the diagnostics of servers about a file that is not open. A file outside of the folder is ignored.
    pub(crate) fn set_closed(&mut self, path: &AbsPath, items: Vec<UnopenedDiagnostic>) {
        if path.is_within(&self.root) {
            replace(&mut self.reported, path, items);
            self.join(path);
        }
    }

    /// Sets the diagnostics that tasks and tests found in a file that is not open. A file outside of the folder is ignored.
    pub(crate) fn set_found(&mut self, path: &AbsPath, items: Vec<UnopenedDiagnostic>) {
        if path.is_within(&self.root) {
            replace(&mut self.found, path, items);
            self.join(path);
        }
    }

    /// Joins the diagnostics of both origins about a file that is not open. A problem of both is that of the servers.
    fn join(&mut self, path: &AbsPath) {
        let items: Arc<[UnopenedDiagnostic]> = match (self.reported.get(path), self.found.get(path))
        {
            (Some(only), None) | (None, Some(only)) => only.clone(),
            (None, None) => Arc::from([]),
            (Some(reported), Some(found)) => joined(reported, found),
        };
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
            self.closed.insert(path.clone(), items);
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

/// Sets the sorted diagnostics of a file, or removes its entry.
fn replace(
    files: &mut HashMap<AbsPath, Arc<[UnopenedDiagnostic]>>,
    path: &AbsPath,
    items: Vec<UnopenedDiagnostic>,
) {
    if items.is_empty() {
        files.remove(path);
    } else {
        files.insert(path.clone(), sorted(items));
    }
}

/// Returns the reported diagnostics and those of the found ones that are not reported in the same row.
fn joined(
    reported: &[UnopenedDiagnostic],
    found: &[UnopenedDiagnostic],
) -> Arc<[UnopenedDiagnostic]> {
    let key = |item: &UnopenedDiagnostic| (item.range.row(), item.headline());
    // Lists omit hints.
    let listed = reported.iter();
    let listed = listed.filter(|item| item.severity != DiagnosticSeverity::Hint);
    let known: HashSet<_> = listed.map(key).collect();
    let own = found.iter().filter(|item| !known.contains(&key(item)));
    sorted(reported.iter().chain(own).cloned().collect())
}

fn sorted(mut items: Vec<UnopenedDiagnostic>) -> Arc<[UnopenedDiagnostic]> {
    items.sort_by_key(|item| (item.range.row(), item.severity));
    items.dedup();
    items.into()
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
    fn findings_of_tasks_are_beside_reports_of_servers() {
        use DiagnosticSeverity::{Error, Warning};
        let mut diagnostics = FolderDiagnostics::new(&path("/p"));
        let file = path("/p/a.rs");
        diagnostics.set_closed(&file, vec![item(3, Error)]);
        diagnostics.set_found(&file, vec![item(1, Warning), item(3, Error)]);
        diagnostics.set_found(&path("/other/b.rs"), vec![item(1, Error)]);
        assert_eq!(diagnostics.total(), counts(1, 1));
        diagnostics.set_closed(&file, Vec::new());
        assert_eq!(diagnostics.counts_of(&file), counts(1, 1));
        diagnostics.set_closed(&file, vec![item(4, Error)]);
        // The servers start anew; the tasks do not run again.
        diagnostics.clear();
        assert_eq!(diagnostics.total(), counts(1, 1));
        diagnostics.set_open(&file, counts(0, 1));
        assert_eq!(diagnostics.closed().count(), 0);
        diagnostics.set_found(&file, Vec::new());
        assert_eq!(diagnostics.total(), counts(0, 0));
    }

    #[test]
    fn a_problem_of_a_task_hides_while_a_server_reports_it() {
        use DiagnosticSeverity::{Error, Hint, Warning};
        let mut diagnostics = FolderDiagnostics::new(&path("/p"));
        let file = path("/p/a.rs");
        let of_task = UnopenedDiagnostic {
            message: "it  is wrong [E1]".to_owned(),
            source: Some("rustc".to_owned()),
            ..item(3, Warning)
        };
        diagnostics.set_found(&file, vec![of_task, item(2, Error)]);
        diagnostics.set_closed(&file, vec![item(3, Error)]);
        let messages = |diagnostics: &FolderDiagnostics| -> Vec<(u32, Option<String>)> {
            let items = diagnostics.closed().flat_map(|(_, items)| items.iter());
            items
                .map(|item| (item.range.row().0, item.source.clone()))
                .collect()
        };
        assert_eq!(messages(&diagnostics), [(2, None), (3, None)]);
        assert_eq!(diagnostics.total(), counts(2, 0));
        diagnostics.set_closed(&file, vec![item(3, Hint)]);
        assert_eq!(diagnostics.total(), counts(1, 1));
        diagnostics.set_closed(&file, Vec::new());
        let rustc = Some("rustc".to_owned());
        assert_eq!(messages(&diagnostics), [(2, None), (3, rustc)]);
    }

    #[test]
    fn numbers_are_spoken() {
        assert_eq!(phrase(counts(0, 0)), "");
        assert_eq!(phrase(counts(1, 2)), "1 error, 2 warnings");
        assert_eq!(phrase(counts(0, 1)), "1 warning");
    }
}
