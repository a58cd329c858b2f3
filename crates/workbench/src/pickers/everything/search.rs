//! Queries the sources: file names, the index, the text of files. Runs in the background.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::{AbsPath, Row, path_text};
use index::{IndexQuery, QueryMode, SearchHit};
use project::fuzzy::{self, CandidateKind};
use project::search::{FileMatches, Prefilter, SearchEvent, SearchQuery, SearchScope, search};
use project::{WalkBackend, WalkOptions};
use text::{RowSpan, Snapshot};

use super::matches::{EverythingScope, EverythingSection, FoundPlace};
use crate::code_index::CodeIndex;
use crate::pickers::byte_offsets;

/// Minimum query length, in characters, for searching the text of files.
pub(super) const MIN_QUERY_CHARS: usize = 3;

/// Queries the index for symbols by name and for code by meaning, as far as `scope` includes them.
/// The list for a kind that `scope` excludes is empty.
pub(super) fn ask_index(
    index: &dyn CodeIndex,
    query: &str,
    scope: EverythingScope,
) -> (Vec<FoundPlace>, Vec<FoundPlace>) {
    let most = |section| scope.max_rows(section);
    let is_name = !query.contains(char::is_whitespace);
    let symbols = match most(EverythingSection::Symbols) {
        0 => Vec::new(),
        _ if query.is_empty() || (!is_name && scope == EverythingScope::All) => Vec::new(),
        limit => {
            let hits = index.symbols(query, limit);
            hits.into_iter().map(|hit| symbol(hit, query)).collect()
        }
    };
    let asked = question(query, scope);
    let hits = asked.map(|asked| index.search(&asked).hits);
    let meaning = hits.unwrap_or_default().into_iter().map(meant).collect();
    (symbols, meaning)
}

/// Builds the query by meaning, if the scope and the text call for one.
fn question(query: &str, scope: EverythingScope) -> Option<IndexQuery> {
    let limit = scope.max_rows(EverythingSection::Meaning);
    let is_asked = limit > 0 && query.chars().count() >= MIN_QUERY_CHARS;
    is_asked.then(|| IndexQuery {
        text: query.to_owned(),
        // Some of them may already be listed as symbols.
        limit: limit + 5,
        folder: None,
        mode: QueryMode::Fused,
    })
}

/// Queries the index with reranking; the second value is the cause of a failed reranking. `None` if
/// no reranker is configured.
pub(super) fn search_reranked(
    index: &dyn CodeIndex,
    query: &str,
    scope: EverythingScope,
) -> Option<(Vec<FoundPlace>, Option<String>)> {
    let (answer, failed) = index.search_twice(&question(query, scope)?)?;
    Some((answer.hits.into_iter().map(meant).collect(), failed))
}

fn rows_of(hit: &SearchHit) -> RowSpan {
    RowSpan {
        start: Row(hit.rows.start),
        end: Row(hit.rows.end),
    }
}

fn symbol(hit: SearchHit, query: &str) -> FoundPlace {
    let title = hit.symbol.clone().unwrap_or_default();
    // The last part of a qualified name was typed last.
    let last = query.rsplit([':', '.']).next().unwrap_or(query);
    let matched = fuzzy::positions(last, &title, CandidateKind::Text);
    FoundPlace {
        section: EverythingSection::Symbols,
        matched: byte_offsets(&title, &matched),
        rows: rows_of(&hit),
        path: path_text(&hit.path),
        columns: None,
        title,
        kind: hit.kind,
    }
}

fn meant(hit: SearchHit) -> FoundPlace {
    let first = || {
        let says = |line: &&str| line.chars().any(char::is_alphanumeric);
        let line = hit.text.lines().map(str::trim).find(says);
        line.unwrap_or_default().to_owned()
    };
    FoundPlace {
        section: EverythingSection::Meaning,
        matched: Vec::new(),
        rows: rows_of(&hit),
        columns: None,
        title: hit.symbol.clone().unwrap_or_else(first),
        kind: hit.kind,
        path: path_text(&hit.path),
    }
}

/// Input of a text search.
#[derive(Clone)]
pub(super) struct TextSearchInput {
    pub(super) ground: WalkBackend,
    pub(super) root: AbsPath,
    pub(super) unsaved: HashMap<AbsPath, Snapshot>,
    pub(super) sieve: Option<Arc<dyn Prefilter>>,
}

/// Returns at most `limit` rows that contain the text, ordered by path and row. Once `cancel` is
/// true, stops early and returns the rows found so far. Blocks on the disk.
pub(super) fn find_text(
    query: &str,
    searched: TextSearchInput,
    limit: usize,
    cancel: &Arc<AtomicBool>,
) -> Vec<FoundPlace> {
    let root = searched.root.clone();
    let scope = SearchScope::new(searched.ground, searched.root)
        .with_unsaved(searched.unsaved)
        .with_prefilter(searched.sieve);
    let query = SearchQuery {
        files: WalkOptions::default(),
        limit,
        ..SearchQuery::literal(query)
    };
    let (sender, events) = async_channel::unbounded();
    if search(&query, &scope, cancel, &sender).is_err() {
        return Vec::new();
    }
    let mut found = Vec::new();
    while let Ok(event) = events.try_recv() {
        if let SearchEvent::File(file) = event {
            found.extend(match_places(&root, file));
        }
    }
    found.sort_by(|one: &FoundPlace, other| {
        (&one.path, one.rows.start).cmp(&(&other.path, other.rows.start))
    });
    found
}

fn match_places(root: &AbsPath, file: FileMatches) -> Vec<FoundPlace> {
    let Some(path) = file.path.relative_to(root) else {
        return Vec::new();
    };
    let path = path_text(path);
    let rows = file.rows.into_iter().filter(|row| !row.columns.is_empty());
    rows.map(|row| {
        let cut = row.text.len() - row.text.trim_start().len();
        let title = row.text.trim().to_owned();
        let columns = row.columns.first().cloned();
        let matched = row
            .highlights
            .iter()
            .flat_map(|matched| matched.clone())
            .filter_map(|at| at.checked_sub(cut))
            .filter(|at| *at < title.len() && title.is_char_boundary(*at))
            .collect();
        let column = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        FoundPlace {
            section: EverythingSection::Text,
            path: path.clone(),
            rows: RowSpan {
                start: row.row,
                end: row.row + 1,
            },
            columns: columns.map(|columns| (column(columns.start), column(columns.end))),
            title,
            matched,
            kind: None,
        }
    })
    .collect()
}
