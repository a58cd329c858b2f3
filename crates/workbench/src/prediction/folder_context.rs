//! Context for model requests: gathered in the background, read without waiting.
//!
//! Pure except `look_up`, which queries the index and runs in the background.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use autocomplete::EditorState;
use autocomplete::context::{
    ContextSnippet, ContextSource, Diagnostic, MAX_DIAGNOSTICS, SnippetReason, names_near,
};
use base::{AbsPath, Revision, Row};
use composer_panel::board::{BoardHunk, HunkVerdict};
use editor::DocumentModel;
use index::{IndexQuery, QueryMode, SearchHit};
use lsp::DiagnosticSeverity;
use text::Snapshot;

use crate::code_index::CodeIndex;

/// Maximum number of recently viewed excerpts.
const MAX_VIEWED: usize = 6;
/// Rows of a viewed excerpt.
const VIEWED_ROWS: u32 = 20;
/// Names whose definitions are looked up at a time.
const MAX_NAMES: usize = 12;
/// Maximum number of cached definitions.
const MAX_DEFINITIONS: usize = 200;
/// Maximum length of an excerpt of a definition, in bytes.
const MAX_DEFINITION_BYTES: usize = 600;
/// Rows above and below the caret whose diagnostics are included.
const NEAR_ROWS: u32 = 30;
/// Maximum number of diagnostics that are read per key.
const MAX_READ: usize = 100;
/// Maximum number of similar excerpts.
const MAX_SIMILAR: usize = 4;

/// Context gathered for the texts of a folder.
#[derive(Default)]
pub(crate) struct FolderContext {
    /// Definitions by name; empty if the name has none.
    definitions: HashMap<String, Vec<ContextSnippet>>,
    alike: Vec<ContextSnippet>,
    viewed: VecDeque<ContextSnippet>,
    unmerged: Vec<BoardHunk>,
    diagnostics: NearbyDiagnostics,
}

/// Errors and warnings near the caret.
#[derive(Default)]
pub(crate) struct NearbyDiagnostics {
    /// Path and revision of the text that the rows refer to.
    text: (Option<AbsPath>, Revision),
    /// The diagnostics, sorted by their distance from the caret.
    nearest: Vec<Diagnostic>,
}

/// Returns the errors and warnings within `NEAR_ROWS` rows of the caret. Reads at most `MAX_READ`
/// diagnostics, however many a server reports.
pub(crate) fn nearby_diagnostics(model: &DocumentModel, state: &EditorState) -> NearbyDiagnostics {
    let snapshot = &state.snapshot;
    let caret = snapshot.point_at(state.caret).row;
    let first = Row(caret.0.saturating_sub(NEAR_ROWS));
    let last = Row(caret.0 + NEAR_ROWS).min(snapshot.last_row());
    let end = snapshot.row_end(last);
    let mut placed: Vec<(Row, Arc<lsp::Diagnostic>)> = model
        .diagnostics_from(snapshot.row_start(first))
        .take_while(|placed| placed.span.start <= end)
        .take(MAX_READ)
        .filter(|placed| placed.diagnostic.severity <= DiagnosticSeverity::Warning)
        .map(|placed| {
            let row = snapshot.point_at(placed.span.start).row;
            (row, placed.diagnostic)
        })
        .collect();
    placed.sort_by_key(|(row, diagnostic)| (row.0.abs_diff(caret.0), diagnostic.severity));
    let nearest = placed.into_iter().take(MAX_DIAGNOSTICS);
    let nearest = nearest.map(|(row, diagnostic)| Diagnostic {
        row,
        is_error: diagnostic.severity == DiagnosticSeverity::Error,
        message: diagnostic.message.clone(),
    });
    NearbyDiagnostics {
        text: (state.path.clone(), snapshot.revision()),
        nearest: nearest.collect(),
    }
}

/// Response of the index for an editor state.
pub(crate) struct ContextLookup {
    definitions: Vec<(String, Vec<ContextSnippet>)>,
    alike: Vec<ContextSnippet>,
}

/// Returns names near the caret whose definitions are not cached. The number of names is limited.
pub(crate) fn missing(context: &FolderContext, state: &EditorState) -> Vec<String> {
    let mut names = names_near(state);
    names.retain(|name| !context.definitions.contains_key(name));
    names.truncate(MAX_NAMES);
    names
}

/// Queries the index. Takes several milliseconds: never call it on the UI thread.
pub(crate) fn look_up(
    index: &dyn CodeIndex,
    state: &EditorState,
    names: Vec<String>,
) -> ContextLookup {
    let definitions = names.into_iter().map(|name| {
        let hits = index.symbols(&name, 2);
        let is_it = |hit: &SearchHit| {
            let last = |symbol: &str| symbol.rsplit([':', '.']).next().map(str::to_owned);
            hit.symbol.as_deref().and_then(last).as_deref() == Some(name.as_str())
        };
        let found = hits.into_iter().filter(is_it);
        let found = found
            .map(|hit| excerpt(hit, SnippetReason::Definition))
            .collect();
        (name, found)
    });
    let definitions = definitions.collect();
    let asked = IndexQuery {
        text: query_text(state),
        limit: MAX_SIMILAR,
        folder: None,
        mode: QueryMode::Fused,
    };
    let hits = if asked.text.trim().is_empty() {
        Vec::new()
    } else {
        index.search(&asked).hits
    };
    ContextLookup {
        definitions,
        alike: hits
            .into_iter()
            .map(|hit| excerpt(hit, SnippetReason::Alike))
            .collect(),
    }
}

/// Returns the text around the caret as a query; the rows before the caret are the most relevant.
fn query_text(state: &EditorState) -> String {
    let row = state.snapshot.point_at(state.caret).row;
    let first = Row(row.0.saturating_sub(4));
    let start = state.snapshot.row_start(first);
    state
        .snapshot
        .text(base::Span::new(start, state.caret))
        .into_owned()
}

fn excerpt(hit: SearchHit, why: SnippetReason) -> ContextSnippet {
    ContextSnippet {
        path: hit.path.to_string_lossy().into_owned(),
        text: leading_rows(&hit.text).to_owned(),
        why,
    }
}

/// Returns the first rows of a text, up to `MAX_DEFINITION_BYTES`.
fn leading_rows(text: &str) -> &str {
    if text.len() <= MAX_DEFINITION_BYTES {
        return text;
    }
    let cut = text.floor_char_boundary(MAX_DEFINITION_BYTES);
    let end = text[..cut].rfind('\n').map_or(cut, |at| at + 1);
    &text[..end]
}

impl FolderContext {
    /// Merges the response of the index. If the cache of definitions is full, clears it first.
    pub(crate) fn apply_lookup(&mut self, found: ContextLookup) {
        if self.definitions.len() + found.definitions.len() > MAX_DEFINITIONS {
            self.definitions.clear();
        }
        self.definitions.extend(found.definitions);
        self.alike = found.alike;
    }

    /// Clears lookups that may be stale after files changed.
    pub(crate) fn clear_lookups(&mut self) {
        self.definitions.clear();
    }

    /// Records the rows that the user left: they may be relevant to the next edit elsewhere.
    pub(crate) fn record_view(&mut self, path: String, snapshot: &Snapshot, row: Row) {
        let first = Row(row.0.saturating_sub(VIEWED_ROWS / 2));
        let last = Row(first.0 + VIEWED_ROWS).min(snapshot.last_row());
        let span = base::Span::new(snapshot.row_start(first), snapshot.row_end(last));
        self.viewed.retain(|viewed| viewed.path != path);
        self.viewed.push_front(ContextSnippet {
            path,
            text: snapshot.text(span).into_owned(),
            why: SnippetReason::Viewed,
        });
        self.viewed.truncate(MAX_VIEWED);
    }

    /// Sets the errors and warnings near the caret.
    pub(crate) fn set_diagnostics(&mut self, diagnostics: NearbyDiagnostics) {
        self.diagnostics = diagnostics;
    }

    /// Sets the hunks of agents that are not landed yet.
    pub(crate) fn set_unmerged(&mut self, hunks: Vec<BoardHunk>) {
        self.unmerged = hunks;
        self.unmerged
            .retain(|hunk| hunk.verdict != HunkVerdict::Rejected);
    }
}

/// Returns the path of a file relative to `root`, with forward slashes, or the whole path if the
/// file lies elsewhere. Replaces bytes that are not UTF-8.
pub(crate) fn relative_name(path: &AbsPath, root: &AbsPath) -> String {
    let path = path.relative_to(root).unwrap_or(path.as_path());
    path.to_string_lossy().into_owned()
}

impl ContextSource for FolderContext {
    fn definitions(&self, _: &EditorState, names: &[String]) -> Vec<ContextSnippet> {
        let known = names.iter().filter_map(|name| self.definitions.get(name));
        known.flatten().cloned().collect()
    }

    fn snippets(&self, _: &EditorState) -> Vec<ContextSnippet> {
        self.alike.clone()
    }

    fn viewed(&self, _: &EditorState) -> Vec<ContextSnippet> {
        self.viewed.iter().cloned().collect()
    }

    fn unmerged(&self, _: &EditorState, names: &[String]) -> Vec<ContextSnippet> {
        let is_about = |hunk: &&BoardHunk| {
            let symbol = hunk.symbol.as_deref();
            names.iter().any(|name| {
                symbol == Some(name) || hunk.after.iter().any(|line| has_word(line, name))
            })
        };
        let hunks = self.unmerged.iter().filter(is_about);
        hunks
            .map(|hunk| ContextSnippet {
                path: hunk.path.clone(),
                text: leading_rows(&hunk.after.join("\n")).to_owned(),
                why: SnippetReason::Unmerged,
            })
            .collect()
    }

    fn diagnostics(&self, state: &EditorState) -> Vec<Diagnostic> {
        let (path, revision) = &self.diagnostics.text;
        // In another text, the rows would be wrong.
        if *path != state.path || *revision != state.snapshot.revision() {
            return Vec::new();
        }
        self.diagnostics.nearest.clone()
    }
}

/// Whether a line contains `word` as a whole word.
fn has_word(line: &str, word: &str) -> bool {
    let is_word = |ch: char| ch.is_alphanumeric() || ch == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(text: &str) -> EditorState {
        let snapshot = Snapshot::new(text);
        EditorState {
            path: None,
            caret: snapshot.len(),
            rows: (Row(0), Row(10)),
            syntax: None,
            language: None,
            indent: "    ".to_owned(),
            snapshot,
        }
    }

    fn hunk(after: &str, verdict: HunkVerdict) -> BoardHunk {
        BoardHunk {
            id: "1".to_owned(),
            job: "a".to_owned(),
            path: "src/a.rs".to_owned(),
            symbol: None,
            line: 1,
            before: Vec::new(),
            after: vec![after.to_owned()],
            note: None,
            author: None,
            risk: None,
            verdict,
        }
    }

    #[test]
    fn agents_hunks_are_included_if_related_to_the_text() {
        let mut context = FolderContext::default();
        context.set_unmerged(vec![
            hunk("fn parse(text: &str, strict: bool)", HunkVerdict::Open),
            hunk("fn parser()", HunkVerdict::Open),
            hunk("fn parse()", HunkVerdict::Rejected),
        ]);
        let unmerged = context.unmerged(&state("parse("), &["parse".to_owned()]);
        assert_eq!(unmerged.len(), 1);
        assert_eq!(unmerged[0].text, "fn parse(text: &str, strict: bool)");
    }

    #[test]
    fn viewed_excerpts_are_unique_and_newest_first() {
        let mut context = FolderContext::default();
        let text: String = (0..100).map(|row| format!("row {row}\n")).collect();
        let snapshot = Snapshot::new(&text);
        for path in ["a", "b", "a"] {
            context.record_view(path.to_owned(), &snapshot, Row(50));
        }
        let viewed = context.viewed(&state(""));
        let paths: Vec<&str> = viewed.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(paths, ["a", "b"]);
        assert!(viewed[0].text.starts_with("row 40\n"));
        assert!(viewed[0].text.ends_with("row 60"));
    }

    #[test]
    fn a_long_definition_is_cut_after_its_first_rows() {
        let row = "x".repeat(250);
        let text = format!("{row}\n{row}\n{row}\n");
        assert_eq!(leading_rows(&text).len(), 502);
        assert_eq!(leading_rows("short"), "short");
    }
}
