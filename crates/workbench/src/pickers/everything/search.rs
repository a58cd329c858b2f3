//! Queries the sources: file names, the index, the text of files. Runs in the background.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::{AbsPath, LineFeeds, Row, path_text, printable};
use index::{IndexQuery, QueryMode, SearchHit};
use lsp::WorkspaceSymbol;
use project::fuzzy::{self, CandidateKind};
use project::search::{FileMatches, Prefilter, SearchEvent, SearchQuery, SearchScope, search};
use project::{WalkBackend, WalkOptions};
use text::{RowSpan, Snapshot};

use super::matches::{EverythingScope, EverythingSection, FoundPlace, MAX_SYMBOLS};
use crate::code_index::CodeIndex;
use crate::pickers::byte_offsets;
use crate::server_symbols::outline_kind;

/// Minimum query length, in characters, for searching the text of files.
pub(super) const MIN_QUERY_CHARS: usize = 3;

/// Queries the index for symbols by name and for code by meaning, as far as `scope` includes them.
/// The list for a kind that `scope` excludes is empty.
pub(super) fn ask_index(
    index: &dyn CodeIndex,
    query: &str,
    scope: EverythingScope,
) -> (Vec<FoundPlace>, Vec<FoundPlace>) {
    let symbols = match max_symbols(query, scope) {
        0 => Vec::new(),
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

/// Returns the maximum number of symbols that a source lists; 0 if the scope and the query call for none.
pub(super) fn max_symbols(query: &str, scope: EverythingScope) -> usize {
    let is_name = !query.contains(char::is_whitespace);
    if query.is_empty() || (!is_name && scope == EverythingScope::All) {
        return 0;
    }
    scope.max_rows(EverythingSection::Symbols).min(MAX_SYMBOLS)
}

/// Returns the symbols of servers below the folder `root`: those with the name itself first, then those that begin with
/// it, else in the order of the servers.
pub(super) fn served_places(
    root: &AbsPath,
    query: &str,
    symbols: Vec<WorkspaceSymbol>,
) -> Vec<FoundPlace> {
    let last = last_part(query);
    let places = symbols.into_iter().filter_map(|symbol| {
        let path = path_text(symbol.location.path.relative_to(root)?);
        let row = symbol.location.selection.row();
        let title = printable(&symbol.name, LineFeeds::Escape).into_owned();
        let matched = fuzzy::positions(last, &title, CandidateKind::Text);
        let container = symbol.container.as_deref();
        Some(FoundPlace {
            section: EverythingSection::Symbols,
            path,
            rows: RowSpan {
                start: row,
                end: row + 1,
            },
            columns: None,
            matched: byte_offsets(&title, &matched),
            kind: Some(outline_kind(symbol.kind)),
            container: container.map(|it| printable(it, LineFeeds::Escape).into_owned()),
            range: Some(symbol.location.selection),
            title,
        })
    });
    let mut places: Vec<FoundPlace> = places.collect();
    let wanted = last.to_lowercase();
    places.sort_by_cached_key(|place| {
        let name = place.title.to_lowercase();
        (name != wanted, !name.starts_with(&wanted))
    });
    let mut seen = HashSet::new();
    places.retain(|place| seen.insert((place.path.clone(), place.rows.start, place.title.clone())));
    places.truncate(MAX_SYMBOLS);
    places
}

/// Returns the last part of a qualified name, which was typed last.
pub(super) fn last_part(query: &str) -> &str {
    query.rsplit([':', '.']).next().unwrap_or(query)
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
    let matched = fuzzy::positions(last_part(query), &title, CandidateKind::Text);
    FoundPlace {
        section: EverythingSection::Symbols,
        matched: byte_offsets(&title, &matched),
        rows: rows_of(&hit),
        path: path_text(&hit.path),
        columns: None,
        title,
        kind: hit.kind,
        container: None,
        range: None,
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
        container: None,
        range: None,
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
            container: None,
            range: None,
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use base::Span;
    use lsp::{Location, ServerRange, SymbolKind};

    use super::*;

    #[test]
    fn only_symbols_of_the_folder_are_listed_exact_names_first() {
        let text = Snapshot::new(&"\n".repeat(9));
        let symbol = |path: &str, row: usize, name: &str| {
            let range = ServerRange::of(&text, Span::from(row..row));
            WorkspaceSymbol {
                name: name.to_owned(),
                container: Some("Tree".to_owned()),
                kind: SymbolKind::Method,
                location: Location {
                    path: AbsPath::new(path).expect("absolute"),
                    range,
                    selection: range,
                },
            }
        };
        let symbols = vec![
            symbol("/p/a.rs", 1, "re_parse"),
            symbol("/other/a.rs", 2, "parse"),
            symbol("/p/a.rs", 3, "parse_all"),
            symbol("/p/b.rs", 4, "Parse"),
            symbol("/p/b.rs", 4, "Parse"),
        ];
        let root = AbsPath::new("/p").expect("absolute");
        let places = served_places(&root, "Tree::parse", symbols);
        let places = places.iter();
        let found: Vec<_> = places
            .map(|it| (it.path.as_str(), it.rows.start.0, it.title.as_str()))
            .collect();
        let expected = [
            ("b.rs", 4, "Parse"),
            ("a.rs", 3, "parse_all"),
            ("a.rs", 1, "re_parse"),
        ];
        assert_eq!(found, expected);
    }
}
