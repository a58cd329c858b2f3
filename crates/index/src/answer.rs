//! From ranked chunks to hits that show their text.
//!
//! What is locked while a question is answered is let go before files are read.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use base::{AbsPath, Span};
use host::{Files, RealFiles};

use crate::chunk::Chunk;
use crate::ground::Ground;
use crate::hit::{Answer, Hit, Parts};
use crate::index::relative;
use crate::map::Bytes;
use crate::policy::{self, MOST_BYTES};
use crate::query::{Means, Query, Traits};
use crate::rank::{Ranked, Weights};
use crate::record::{Layout, chunks_of};
use crate::rough::{RoughHit, best_files, best_lines};
use crate::search::Sight;
use crate::shared::Shared;

/// A chunk that was found, with all it takes to show it.
struct Found {
    path: Arc<str>,
    layout: Layout,
    bytes: Bytes,
    place: usize,
    score: f32,
    parts: Parts,
}

impl Shared {
    /// The best places for a question.
    pub(crate) fn search(&self, query: &Query, weights: &Weights) -> Answer {
        let is_complete = self.is_complete();
        let (Some((ground, store)), Some(table)) = (self.place.get(), self.table.get()) else {
            return Answer::default();
        };
        let found: Vec<Found> = {
            let known = store.known();
            let view = self.view.read().unwrap_or_else(PoisonError::into_inner);
            let sight = Sight {
                known: &known,
                view: &view,
                table,
                weights,
                below: &ground.below,
            };
            let found = |one: Ranked<'_>| {
                let entry = known.owner(one.candidate.chunk)?;
                Some(Found {
                    path: entry.path.clone(),
                    layout: entry.layout,
                    bytes: entry.bytes.clone(),
                    place: one.candidate.place as usize,
                    score: one.score,
                    parts: Parts {
                        words: one.candidate.words,
                        meaning: one.candidate.meaning,
                        boosts: one.boosts,
                        ..Parts::default()
                    },
                })
            };
            sight.answer(query).into_iter().filter_map(found).collect()
        };
        let mut reader = Texts::new(self, &ground.top);
        let mut hits: Vec<Hit> = found
            .into_iter()
            .filter_map(|found| hit(found, &mut reader, ground))
            .collect();
        if !is_complete {
            self.add_rough(query, weights, ground, &mut reader, &mut hits);
        }
        Answer { hits, is_complete }
    }

    /// Adds what the words of files say that are not in yet.
    fn add_rough(
        &self,
        query: &Query,
        weights: &Weights,
        ground: &Ground,
        reader: &mut Texts<'_>,
        hits: &mut Vec<Hit>,
    ) {
        if query.means == Means::Meaning {
            return;
        }
        let parts = self
            .rough
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let traits = Traits::of(&query.text);
        let folder = query.folder.as_deref().unwrap_or(Path::new(""));
        let (rarities, best) = {
            let view = self.view.read().unwrap_or_else(PoisonError::into_inner);
            let is_wanted = |path: &str| {
                let is_in = relative(path, &ground.below).starts_with(folder);
                is_in && view.seen(path).is_none_or(|seen| seen.live().is_none())
            };
            best_files(&parts, &traits.words, &is_wanted)
        };
        let share = match (query.means, &traits.symbol) {
            (Means::Words, _) => 0.0,
            (_, Some(_)) => weights.meaning_symbol,
            (_, None) => weights.meaning_plain,
        };
        for RoughHit { path, score, z } in best.into_iter().take(query.limit) {
            let text = reader.text(&path).to_owned();
            let Some(chunk) = best_lines(&text, &traits.words, &rarities) else {
                continue;
            };
            let parts = Parts {
                words: score,
                ..Parts::default()
            };
            let path = relative(&path, &ground.below);
            hits.push(shown(path, &text, chunk, (1.0 - share) * z, parts));
        }
        hits.sort_by(|left, right| right.score.total_cmp(&left.score));
        hits.truncate(query.limit);
    }
}

fn hit(found: Found, reader: &mut Texts<'_>, ground: &Ground) -> Option<Hit> {
    let mut chunks = chunks_of(&found.layout, &found.bytes);
    if found.place >= chunks.len() {
        return None;
    }
    let chunk = chunks.swap_remove(found.place);
    let path = relative(&found.path, &ground.below);
    let text = reader.text(&found.path);
    Some(shown(path, text, chunk, found.score, found.parts))
}

fn shown(path: std::path::PathBuf, text: &str, chunk: Chunk, score: f32, parts: Parts) -> Hit {
    let span = chunk.span.clone();
    Hit {
        path,
        text: within(text, span.start, span.end).to_owned(),
        rows: chunk.rows,
        span: Span::from(span),
        symbol: chunk.symbol,
        kind: chunk.kind,
        score,
        parts,
    }
}

/// What lies between two offsets, as far as the text has them: it may be newer than what was indexed.
pub(crate) fn within(text: &str, start: usize, end: usize) -> &str {
    let end = text.floor_char_boundary(end);
    let start = text.floor_char_boundary(start.min(end));
    text.get(start..end).unwrap_or_default()
}

/// The texts of files that are shown, each read once.
pub(crate) struct Texts<'a> {
    shared: &'a Shared,
    top: &'a AbsPath,
    read: Vec<(Arc<str>, String)>,
}

impl<'a> Texts<'a> {
    pub(crate) fn new(shared: &'a Shared, top: &'a AbsPath) -> Self {
        Self {
            shared,
            top,
            read: Vec::new(),
        }
    }

    /// The text of a file: what somebody types into it, or what the disk has. Empty where there is none.
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
            .read(&self.top.join(path), MOST_BYTES)
            .unwrap_or_default();
        policy::by_content(&bytes)
            .map(str::to_owned)
            .unwrap_or_default()
    }
}
