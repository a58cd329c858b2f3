//! Asks the sources: names of files, the index, the text of files. Runs in the background.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::{AbsPath, Row, path_text};
use index::{Hit, Means, Query};
use project::fuzzy::{self, Kind};
use project::search::{FileMatches, SearchEvent, SearchQuery, SearchScope, Sieve, search};
use project::{Ground, WalkOptions};
use text::{RowSpan, Snapshot};

use super::found::{FoundPlace, Scope, Section};
use crate::code_index::CodeIndex;
use crate::pickers::byte_offsets;

/// A query of fewer letters is not looked for in the text of files.
pub(super) const LEAST_TEXT: usize = 3;

/// What the index knows of a name, and of a question.
pub(super) fn ask_index(
    index: &dyn CodeIndex,
    query: &str,
    scope: Scope,
) -> (Vec<FoundPlace>, Vec<FoundPlace>) {
    let most = |section| scope.most(section);
    let is_name = !query.contains(char::is_whitespace);
    let symbols = match most(Section::Symbols) {
        0 => Vec::new(),
        _ if query.is_empty() || (!is_name && scope == Scope::All) => Vec::new(),
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

/// What the index is asked for places by what they are about, if it is.
fn question(query: &str, scope: Scope) -> Option<Query> {
    let limit = scope.most(Section::Meaning);
    let is_asked = limit > 0 && query.chars().count() >= LEAST_TEXT;
    is_asked.then(|| Query {
        text: query.to_owned(),
        // Some of them may be shown as symbols already.
        limit: limit + 5,
        folder: None,
        means: Means::Fused,
    })
}

/// What the index says after a second look, and why it could not where it failed; `None` where nothing looks again.
pub(super) fn ask_twice(
    index: &dyn CodeIndex,
    query: &str,
    scope: Scope,
) -> Option<(Vec<FoundPlace>, Option<String>)> {
    let (answer, failed) = index.search_twice(&question(query, scope)?)?;
    Some((answer.hits.into_iter().map(meant).collect(), failed))
}

fn rows_of(hit: &Hit) -> RowSpan {
    RowSpan {
        start: Row(hit.rows.start),
        end: Row(hit.rows.end),
    }
}

fn symbol(hit: Hit, query: &str) -> FoundPlace {
    let title = hit.symbol.clone().unwrap_or_default();
    // Of a qualified name the last part is what was typed last.
    let last = query.rsplit([':', '.']).next().unwrap_or(query);
    let matched = fuzzy::positions(last, &title, Kind::Text);
    FoundPlace {
        section: Section::Symbols,
        matched: byte_offsets(&title, &matched),
        rows: rows_of(&hit),
        path: path_text(&hit.path),
        columns: None,
        title,
        kind: hit.kind,
    }
}

fn meant(hit: Hit) -> FoundPlace {
    let first = || {
        let says = |line: &&str| line.chars().any(char::is_alphanumeric);
        let line = hit.text.lines().map(str::trim).find(says);
        line.unwrap_or_default().to_owned()
    };
    FoundPlace {
        section: Section::Meaning,
        matched: Vec::new(),
        rows: rows_of(&hit),
        columns: None,
        title: hit.symbol.clone().unwrap_or_else(first),
        kind: hit.kind,
        path: path_text(&hit.path),
    }
}

/// What is searched when the text of files is.
#[derive(Clone)]
pub(super) struct Searched {
    pub(super) ground: Ground,
    pub(super) root: AbsPath,
    pub(super) unsaved: HashMap<AbsPath, Snapshot>,
    pub(super) sieve: Option<Arc<dyn Sieve>>,
}

/// The rows that hold the text, by path and row.
pub(super) fn find_text(
    query: &str,
    searched: Searched,
    limit: usize,
    cancel: &Arc<AtomicBool>,
) -> Vec<FoundPlace> {
    let root = searched.root.clone();
    let scope = SearchScope::new(searched.ground, searched.root)
        .with_unsaved(searched.unsaved)
        .with_sieve(searched.sieve);
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
            found.extend(places(&root, file));
        }
    }
    found.sort_by(|one: &FoundPlace, other| {
        (&one.path, one.rows.start).cmp(&(&other.path, other.rows.start))
    });
    found
}

fn places(root: &AbsPath, file: FileMatches) -> Vec<FoundPlace> {
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
            section: Section::Text,
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
