//! Turns ranked chunks into hits with their text.
//!
//! Locks taken to answer a query are released before files are read.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use base::{AbsPath, Span};
use host::{Files, RealFiles};

use crate::chunk::CodeChunk;
use crate::hit::{ScoreParts, SearchAnswer, SearchHit};
use crate::mapped_file::RecordBytes;
use crate::policy::{self, MAX_FILE_BYTES};
use crate::query::{IndexQuery, QueryMode, QueryTraits};
use crate::rank::{RankWeights, Ranked};
use crate::record::{RecordLayout, chunks_of};
use crate::repo_layout::{RepoLayout, relative};
use crate::rough::{RoughHit, best_files, best_lines};
use crate::search::SearchContext;
use crate::state::IndexState;

/// A ranked chunk, with the data needed to show it.
struct FoundChunk {
    path: Arc<str>,
    layout: RecordLayout,
    bytes: RecordBytes,
    place: usize,
    score: f32,
    parts: ScoreParts,
}

impl IndexState {
    /// Searches the current state of the index and returns the best chunks for a query, with their
    /// texts. Returns an empty answer until the store and the table are open. Reads the files of
    /// the returned chunks. Files that are not indexed yet are ranked by their words alone.
    pub(crate) fn search(&self, query: &IndexQuery, weights: &RankWeights) -> SearchAnswer {
        let is_complete = self.is_complete();
        let (Some((layout, store)), Some(table)) = (self.store.get(), self.table.get()) else {
            return SearchAnswer::default();
        };
        let found: Vec<FoundChunk> = {
            let contents = store.contents();
            let view = self.view.read().unwrap_or_else(PoisonError::into_inner);
            let context = SearchContext {
                contents: &contents,
                view: &view,
                table,
                weights,
                prefix: &layout.prefix,
            };
            let found = |one: Ranked<'_>| {
                let entry = contents.owner(one.candidate.chunk)?;
                Some(FoundChunk {
                    path: entry.path.clone(),
                    layout: entry.layout,
                    bytes: entry.bytes.clone(),
                    place: one.candidate.place as usize,
                    score: one.score,
                    parts: ScoreParts {
                        words: one.candidate.words,
                        meaning: one.candidate.meaning,
                        boosts: one.boosts,
                        ..ScoreParts::default()
                    },
                })
            };
            context
                .answer(query)
                .into_iter()
                .filter_map(found)
                .collect()
        };
        let mut reader = HitTexts::new(self, &layout.top);
        let mut hits: Vec<SearchHit> = found
            .into_iter()
            .filter_map(|found| hit(found, &mut reader, layout))
            .collect();
        if !is_complete {
            self.add_rough(query, weights, layout, &mut reader, &mut hits);
        }
        SearchAnswer { hits, is_complete }
    }

    /// Adds hits from the words of files that are not indexed yet.
    fn add_rough(
        &self,
        query: &IndexQuery,
        weights: &RankWeights,
        layout: &RepoLayout,
        reader: &mut HitTexts<'_>,
        hits: &mut Vec<SearchHit>,
    ) {
        if query.mode == QueryMode::Meaning {
            return;
        }
        let parts = self
            .rough
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let traits = QueryTraits::of(&query.text);
        let folder = query.folder.as_deref().unwrap_or(Path::new(""));
        let (rarities, best) = {
            let view = self.view.read().unwrap_or_else(PoisonError::into_inner);
            let is_wanted = |path: &str| {
                let is_in = relative(path, &layout.prefix).starts_with(folder);
                is_in && view.file(path).is_none_or(|file| file.live().is_none())
            };
            best_files(&parts, &traits.words, &is_wanted)
        };
        let share = match (query.mode, &traits.symbol) {
            (QueryMode::Words, _) => 0.0,
            (_, Some(_)) => weights.meaning_symbol,
            (_, None) => weights.meaning_plain,
        };
        for RoughHit { path, score, z } in best.into_iter().take(query.limit) {
            let text = reader.text(&path).to_owned();
            let Some(chunk) = best_lines(&text, &traits.words, &rarities) else {
                continue;
            };
            let parts = ScoreParts {
                words: score,
                ..ScoreParts::default()
            };
            let path = relative(&path, &layout.prefix);
            hits.push(make_hit(path, &text, chunk, (1.0 - share) * z, parts));
        }
        hits.sort_by(|left, right| right.score.total_cmp(&left.score));
        hits.truncate(query.limit);
    }
}

/// Returns the hit for a ranked chunk, with its text from `reader`. Returns `None` if the file's
/// record has no chunk with this index.
fn hit(found: FoundChunk, reader: &mut HitTexts<'_>, layout: &RepoLayout) -> Option<SearchHit> {
    let mut chunks = chunks_of(&found.layout, &found.bytes);
    if found.place >= chunks.len() {
        return None;
    }
    let chunk = chunks.swap_remove(found.place);
    let path = relative(&found.path, &layout.prefix);
    let text = reader.text(&found.path);
    Some(make_hit(path, text, chunk, found.score, found.parts))
}

fn make_hit(
    path: std::path::PathBuf,
    text: &str,
    chunk: CodeChunk,
    score: f32,
    parts: ScoreParts,
) -> SearchHit {
    let span = chunk.span.clone();
    SearchHit {
        path,
        text: slice_clamped(text, span.start, span.end).to_owned(),
        rows: chunk.rows,
        span: Span::from(span),
        symbol: chunk.symbol,
        kind: chunk.kind,
        score,
        parts,
    }
}

/// Returns the text between two byte offsets. Clamps both offsets to the length of the text and to
/// char boundaries, because the text may be newer than the indexed version, so the result may be
/// empty.
pub(crate) fn slice_clamped(text: &str, start: usize, end: usize) -> &str {
    let end = text.floor_char_boundary(end);
    let start = text.floor_char_boundary(start.min(end));
    text.get(start..end).unwrap_or_default()
}

/// The texts of the shown files, each read once.
pub(crate) struct HitTexts<'a> {
    shared: &'a IndexState,
    top: &'a AbsPath,
    read: Vec<(Arc<str>, String)>,
}

impl<'a> HitTexts<'a> {
    /// Creates an empty set. Paths are relative to `top`, the root of the working tree.
    pub(crate) fn new(shared: &'a IndexState, top: &'a AbsPath) -> Self {
        Self {
            shared,
            top,
            read: Vec::new(),
        }
    }

    /// Returns the text of a file: its unsaved version, or the content on disk, which the first
    /// call reads. Returns an empty text if the file cannot be read.
    pub(crate) fn text(&mut self, path: &Arc<str>) -> &str {
        let at = match self.read.iter().position(|(known, _)| known == path) {
            Some(at) => at,
            None => {
                let text = self.read_text(path);
                self.read.push((path.clone(), text));
                self.read.len() - 1
            }
        };
        &self.read[at].1
    }

    fn read_text(&self, path: &str) -> String {
        let texts = self
            .shared
            .texts
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = texts.get(path) {
            return text.to_string();
        }
        drop(texts);
        let bytes = RealFiles
            .read(&self.top.join(path), MAX_FILE_BYTES)
            .unwrap_or_default();
        policy::by_content(&bytes)
            .map(str::to_owned)
            .unwrap_or_default()
    }
}
