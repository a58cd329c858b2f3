//! Ranks candidates: the weighted sum of two scores, and boosts by path and symbol.
//!
//! Pure. Both scores are given in standard deviations above the mean over all visible chunks, so
//! that they can be added. Every further signal is a multiple of the best sum.
//! Invariant: the order depends on scores, paths and rows alone, never on the order of the
//! candidates.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::prepare::{PathParts, plain_name};
use crate::query::QueryTraits;
use crate::record::{IN_TESTS, ONLY_REEXPORTS};

/// The weights of the ranking signals. The default is tuned on measured queries.
#[derive(Clone, Debug, PartialEq)]
pub struct RankWeights {
    /// Share of the embedding score for plain language; the rest is the word score's.
    pub meaning_plain: f32,
    /// The same for the name of a symbol.
    pub meaning_symbol: f32,
    /// Bonus for the best chunk of a file, scaled by the file's sum relative to the best file's.
    pub coherence: f32,
    /// Bonus for a chunk that defines the requested symbol.
    pub definition: f32,
    /// Factor of that bonus if the file has the symbol's name.
    pub definition_stem: f32,
    /// Factor of that bonus if the symbol is named in plain language.
    pub definition_named: f32,
    /// Bonus for a file with the symbol's name.
    pub stem: f32,
    /// Bonus for the share of the query's words in the path.
    pub path: f32,
    /// Bonus for the similarity of the query and the chunk's symbol.
    pub symbol: f32,
    /// Minimum share that counts.
    pub path_least: f32,
    /// Weight of a word that only the folder contains.
    pub path_folder: f32,
    /// Bonus for the share of the file's name in the query.
    pub name: f32,
    /// Factor for chunks of tests.
    pub tests: f32,
    /// Factor for code for old versions.
    pub legacy: f32,
    /// Factor for chunks of examples.
    pub examples: f32,
    /// Factor for files that only re-export.
    pub hands_on: f32,
    /// Factor for declarations without code.
    pub declarations: f32,
    /// Factor for chunks of documents.
    pub prose: f32,
    /// Factor for data and settings.
    pub data: f32,
    /// Factor for each further chunk of a file, applied cumulatively.
    pub saturation: f32,
    /// Number of candidates of each kind per requested hit.
    pub candidates: usize,
}

impl Default for RankWeights {
    fn default() -> Self {
        Self {
            meaning_plain: 0.8,
            meaning_symbol: 0.3,
            coherence: 0.3,
            definition: 3.0,
            definition_stem: 1.5,
            definition_named: 0.4,
            stem: 1.0,
            path: 1.5,
            symbol: 0.4,
            path_least: 0.1,
            path_folder: 0.75,
            name: 0.15,
            tests: 0.3,
            legacy: 0.3,
            examples: 0.3,
            hands_on: 0.5,
            declarations: 0.7,
            prose: 0.3,
            data: 0.7,
            saturation: 0.3,
            candidates: 5,
        }
    }
}

/// A chunk that may become a hit, with its raw scores.
#[derive(Clone, Debug)]
pub(crate) struct RankCandidate<'a> {
    pub(crate) chunk: u32,
    pub(crate) path: &'a str,
    /// The symbol it defines first or is a part of; empty if that has no name.
    pub(crate) symbol: &'a str,
    /// Its index among the chunks of its file.
    pub(crate) place: u32,
    pub(crate) flags: u8,
    /// The raw scores, and their deviations above the mean.
    pub(crate) words: f32,
    pub(crate) meaning: f32,
    pub(crate) words_z: f32,
    pub(crate) meaning_z: f32,
    /// Whether it defines a symbol that the query names.
    pub(crate) defines: bool,
}

/// A candidate with its score and the score's components.
#[derive(Clone, Debug)]
pub(crate) struct Ranked<'a> {
    pub(crate) candidate: RankCandidate<'a>,
    pub(crate) score: f32,
    pub(crate) boosts: Vec<(&'static str, f32)>,
}

/// Returns the best `limit` candidates, best first. `share` is the weight of embeddings against
/// words, from 0 to 1. With `signals`, boosts and penalties apply, for example by path or symbol.
/// Otherwise, the weighted sum alone decides.
pub(crate) fn ranked<'a>(
    candidates: Vec<RankCandidate<'a>>,
    traits: &QueryTraits,
    weights: &RankWeights,
    share: f32,
    signals: bool,
    limit: usize,
) -> Vec<Ranked<'a>> {
    let sum = |one: &RankCandidate<'_>| share * one.meaning_z + (1.0 - share) * one.words_z;
    let mut ranked: Vec<Ranked<'a>> = candidates
        .into_iter()
        .map(|candidate| Ranked {
            score: sum(&candidate).max(0.0),
            candidate,
            boosts: Vec::new(),
        })
        .collect();
    ranked.sort_unstable_by(order);
    if signals {
        let most = ranked.first().map_or(0.0, |best| best.score);
        add_coherence(&mut ranked, weights.coherence * most);
        for one in &mut ranked {
            one.add_signals(traits, weights, most);
            one.multiply_penalties(traits, weights);
        }
        ranked.sort_unstable_by(order);
        saturate(&mut ranked, weights.saturation, limit);
    }
    ranked.truncate(limit);
    ranked
}

/// Orders by score, best first, then by path and index.
fn order(left: &Ranked<'_>, right: &Ranked<'_>) -> Ordering {
    let (one, other) = (&left.candidate, &right.candidate);
    let by_score = right.score.total_cmp(&left.score);
    by_score.then_with(|| (one.path, one.place).cmp(&(other.path, other.place)))
}

/// Adds the coherence bonus to the best chunk of each file.
fn add_coherence(ranked: &mut [Ranked<'_>], most: f32) {
    let mut sums: HashMap<&str, f32> = HashMap::new();
    for one in ranked.iter() {
        *sums.entry(one.candidate.path).or_default() += one.score;
    }
    let largest = sums.values().copied().fold(0.0, f32::max);
    if largest <= 0.0 {
        return;
    }
    for one in ranked {
        if let Some(sum) = sums.remove(one.candidate.path) {
            one.add("file", most * sum / largest);
        }
    }
}

impl Ranked<'_> {
    fn add(&mut self, name: &'static str, amount: f32) {
        if amount > 0.0 {
            self.score += amount;
            self.boosts.push((name, amount));
        }
    }

    fn multiply(&mut self, name: &'static str, factor: f32) {
        if factor != 1.0 {
            let amount = self.score * (factor - 1.0);
            self.score += amount;
            self.boosts.push((name, amount));
        }
    }

    fn add_signals(&mut self, traits: &QueryTraits, weights: &RankWeights, most: f32) {
        let place = PathParts::of(self.candidate.path);
        if traits.symbol.is_some() {
            let has_stem = traits.names_stem(place.stem);
            if self.candidate.defines {
                let factor = if has_stem {
                    weights.definition_stem
                } else {
                    1.0
                };
                self.add("definition", most * weights.definition * factor);
            } else if has_stem {
                self.add("stem", most * weights.stem);
            }
            return;
        }
        if self.candidate.defines {
            let has_stem = |name: &String| plain_name(name) == plain_name(place.stem);
            let factor = if traits.named.iter().any(has_stem) {
                weights.definition_stem
            } else {
                1.0
            };
            let amount = most * weights.definition * weights.definition_named * factor;
            self.add("definition", amount);
        }
        let (held, said) = traits.path_shares(&place, weights.path_folder);
        if held >= weights.path_least {
            self.add("path", most * weights.path * held);
        }
        self.add("name", most * weights.name * said);
        let alike = traits.likeness(self.candidate.symbol);
        self.add("symbol", most * weights.symbol * alike);
    }

    fn multiply_penalties(&mut self, traits: &QueryTraits, weights: &RankWeights) {
        let kind = PathTraits::of(self.candidate.path);
        let in_tests = self.candidate.flags & IN_TESTS != 0;
        if (kind.is_test || in_tests) && !traits.wants_tests {
            self.multiply("tests", weights.tests);
        }
        if kind.is_legacy {
            self.multiply("legacy", weights.legacy);
        }
        if kind.is_example && !traits.wants_examples {
            self.multiply("examples", weights.examples);
        }
        if self.candidate.flags & ONLY_REEXPORTS != 0 {
            self.multiply("hands on", weights.hands_on);
        }
        if kind.is_declaration {
            self.multiply("declarations", weights.declarations);
        }
        if kind.is_prose && !traits.wants_prose {
            self.multiply("prose", weights.prose);
        }
        if kind.is_data {
            self.multiply("data", weights.data);
        }
    }
}

/// Selects the best candidates one by one, each further chunk of a file with a lower score.
fn saturate(ranked: &mut Vec<Ranked<'_>>, factor: f32, limit: usize) {
    let mut taken: HashMap<&str, i32> = HashMap::new();
    let mut rest: Vec<Ranked<'_>> = std::mem::take(ranked);
    let worth = |one: &Ranked<'_>, taken: &HashMap<&str, i32>| {
        let times = taken.get(one.candidate.path).copied().unwrap_or(0);
        one.score * factor.powi(times)
    };
    while ranked.len() < limit && !rest.is_empty() {
        let mut best = (0, f32::NEG_INFINITY);
        for (ix, one) in rest.iter().enumerate() {
            let worth = worth(one, &taken);
            if worth > best.1 {
                best = (ix, worth);
            }
            // The remaining candidates' full scores are lower.
            if one.score < best.1 {
                break;
            }
        }
        let mut one = rest.remove(best.0);
        let times = taken.entry(one.candidate.path).or_insert(0);
        one.multiply("further of its file", factor.powi(*times));
        *times += 1;
        ranked.push(one);
    }
}

/// Properties of a file derived from its path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PathTraits {
    is_test: bool,
    is_legacy: bool,
    is_example: bool,
    is_declaration: bool,
    is_prose: bool,
    is_data: bool,
}

impl PathTraits {
    fn of(path: &str) -> Self {
        let lower = path.to_ascii_lowercase();
        let mut parts: Vec<&str> = lower.split('/').collect();
        let name = parts.pop().unwrap_or_default();
        let stem = name.split('.').next().unwrap_or_default();
        let has_folder = |names: &[&str]| parts.iter().any(|part| names.contains(part));
        let end = name.rsplit('.').next().unwrap_or_default();
        let has_end = |ends: &[&str]| ends.contains(&end);
        let is_test_name = stem.starts_with("test_")
            || stem.ends_with("_test")
            || stem.ends_with("_tests")
            || stem.ends_with("_spec")
            || ["test", "tests", "conftest"].contains(&stem)
            || name.contains(".test.")
            || name.contains(".spec.")
            || path.ends_with("Test.java")
            || path.ends_with("Tests.java");
        Self {
            is_test: is_test_name
                || has_folder(&[
                    "test",
                    "tests",
                    "__tests__",
                    "spec",
                    "specs",
                    "testing",
                    "testdata",
                    "fixtures",
                ]),
            is_legacy: has_folder(&["compat", "_compat", "legacy", "deprecated"])
                || ["compat", "_compat", "legacy", "deprecated"].contains(&stem),
            is_example: has_folder(&[
                "example",
                "examples",
                "_examples",
                "docs_src",
                "demo",
                "demos",
                "samples",
            ]),
            is_declaration: name.ends_with(".d.ts"),
            is_prose: has_end(&["md", "mdx", "markdown", "rst", "txt", "adoc", "org", "tex"])
                || ["readme", "changelog", "license", "contributing"].contains(&stem),
            is_data: has_end(&[
                "json", "yaml", "yml", "toml", "ini", "cfg", "lock", "csv", "xml", "svg",
            ]),
        }
    }
}

#[cfg(test)]
mod tests;
