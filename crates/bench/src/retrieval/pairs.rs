//! Finds a function by its documentation, among functions of packages used for neither training nor
//! fitting.
//!
//! Every candidate is a separate file in one folder, named by a number that reveals nothing, so that the index
//! works as in the editor: it splits, counts and embeds, and the file of a hit is the answer.

use std::path::{Path, PathBuf};

use index::{Index, QueryMode, RankWeights};
use serde_json::Value;
use tempfile::TempDir;

use super::{minilm, sample, score};
use crate::figure::Figure;
use crate::interleave::Dice;

/// Number of candidates per language.
const SAMPLE: usize = 1_500;
/// Minimum lead of the fused ranking over BM25.
const ABOVE_WORDS: f64 = 0.12;

/// The first sentence of a doc comment, and its function.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) query: String,
    name: String,
    code: String,
}

/// The use of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    HeldOut,
    Weights,
}

/// A measured language.
#[derive(Clone, Copy)]
pub(super) struct Language {
    pub(super) name: &'static str,
    extension: &'static str,
    /// Minimum for the fused ranking.
    goal: Option<f64>,
}

pub(super) const LANGUAGES: &[Language] = &[
    Language {
        name: "python",
        extension: "py",
        goal: Some(0.58),
    },
    Language {
        name: "rust",
        extension: "rs",
        goal: Some(0.69),
    },
    Language {
        name: "typescript",
        extension: "ts",
        goal: None,
    },
    Language {
        name: "go",
        extension: "go",
        goal: None,
    },
    Language {
        name: "c",
        extension: "c",
        goal: None,
    },
];

/// Returns the figures of the languages named in `BURIN_BENCH_LANGUAGES` (default all: python,
/// rust, typescript, go, c).
pub(super) fn figures() -> Result<Vec<Figure>, String> {
    let wanted = std::env::var("BURIN_BENCH_LANGUAGES").ok();
    let is_wanted = |language: &&Language| {
        let names = wanted.as_deref().map(|names| names.split(','));
        names.is_none_or(|mut names| names.any(|name| name.trim() == language.name))
    };
    let mut figures = Vec::new();
    for language in LANGUAGES.iter().filter(is_wanted) {
        let pairs = sample(*language, Side::HeldOut)?;
        if pairs.len() < SAMPLE && language.goal.is_none() {
            eprintln!(
                "{}: only {} pairs are held out; left out",
                language.name,
                pairs.len()
            );
            continue;
        }
        for is_masked in [false, true] {
            figures.extend(measured(*language, &pairs, is_masked)?);
        }
    }
    Ok(figures)
}

fn measured(language: Language, pairs: &[Pair], is_masked: bool) -> Result<Vec<Figure>, String> {
    let haystack = Haystack::new(language, pairs, is_masked)?;
    let weights = RankWeights::default();
    let by = |means| haystack.reciprocals(means, &weights);
    let (words, meaning, fused) = (
        by(QueryMode::Words),
        by(QueryMode::Meaning),
        by(QueryMode::Fused),
    );
    let stratum = if is_masked { ", names masked" } else { "" };
    let figure = |what: &str, values: &[f64], least: Option<f64>| {
        let name = format!("{}{stratum}: MRR@10 {what}", language.name);
        let figure = Figure::mean(name, score::mean(values), values.len(), least);
        eprintln!("{figure}");
        figure
    };
    let goal = language.goal.filter(|_| !is_masked);
    let least = goal.map(|goal| goal.max(score::mean(&words).0 + ABOVE_WORDS));
    let mut figures = vec![
        figure("BM25", &words, None),
        figure("meaning", &meaning, None),
        figure("fused", &fused, least),
    ];
    // The transformer is slow, so it runs only for languages with a goal.
    if language.goal.is_some() {
        let codes: Vec<String> = pairs.iter().map(|pair| pair.code(is_masked)).collect();
        let queries: Vec<&str> = pairs.iter().map(|pair| pair.query.as_str()).collect();
        let whole = minilm::reciprocals(&queries, &codes)?;
        figures.push(figure("full MiniLM", &whole, None));
        let ahead: Vec<f64> = fused
            .iter()
            .zip(&whole)
            .map(|(ours, theirs)| ours - theirs)
            .collect();
        let least = goal.map(|_| 0.0);
        figures.push(figure("fused − full MiniLM", &ahead, least));
    }
    Ok(figures)
}

/// Functions, each in a file, and the index over them.
pub(super) struct Haystack {
    queries: Vec<String>,
    /// The answer of each query: a file.
    answers: Vec<PathBuf>,
    index: Index,
    _folder: TempDir,
}

impl Haystack {
    pub(super) fn new(language: Language, pairs: &[Pair], is_masked: bool) -> Result<Self, String> {
        let cannot = |error: std::io::Error| format!("cannot write the functions: {error}");
        let folder = tempfile::tempdir().map_err(cannot)?;
        let answers = (0..pairs.len()).map(|ix| format!("{ix}.{}", language.extension).into());
        let answers: Vec<PathBuf> = answers.collect();
        for (pair, file) in pairs.iter().zip(&answers) {
            std::fs::write(folder.path().join(file), pair.code(is_masked)).map_err(cannot)?;
        }
        Ok(Self {
            queries: pairs.iter().map(|pair| pair.query.clone()).collect(),
            answers,
            index: sample::open(folder.path())?,
            _folder: folder,
        })
    }

    pub(super) fn reciprocals(&self, means: QueryMode, weights: &RankWeights) -> Vec<f64> {
        let answered = self
            .queries
            .iter()
            .zip(&self.answers)
            .map(|(query, answer)| {
                let files = sample::files(&self.index, query, means, weights);
                score::reciprocal(files.iter().position(|file| file == answer))
            });
        answered.collect()
    }
}

impl Pair {
    /// Returns the code, without the function's name if `is_masked`.
    fn code(&self, is_masked: bool) -> String {
        if is_masked {
            masked(&self.code, &self.name)
        } else {
            self.code.clone()
        }
    }
}

/// Returns `code` with each whole word `name` replaced by `fn_x`.
fn masked(code: &str, name: &str) -> String {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut rest = code;
    let mut text = String::with_capacity(code.len());
    while let Some(at) = rest.find(name).filter(|_| !name.is_empty()) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let begins = !before.ends_with(is_letter);
        let ends = !after.starts_with(is_letter);
        text.push_str(before);
        text.push_str(if begins && ends { "fn_x" } else { name });
        rest = after;
    }
    text.push_str(rest);
    text
}

/// Returns at most `SAMPLE` pairs of a side (`BURIN_BENCH_SAMPLE` overrides it), the same ones each time.
pub(super) fn sample(language: Language, side: Side) -> Result<Vec<Pair>, String> {
    let folder = std::env::var_os("BURIN_EMBED").unwrap_or_else(|| "target/embed".into());
    let side = match side {
        Side::HeldOut => "held-out",
        Side::Weights => "weights",
    };
    let file = Path::new(&folder).join(format!("{side}-{}.jsonl", language.name));
    let text = std::fs::read_to_string(&file).map_err(|error| {
        format!(
            "cannot read {}: {error}; make the pairs with: cargo xtask train-embed fetch mine, or say with \
             BURIN_EMBED where they are",
            file.display()
        )
    })?;
    let mut pairs: Vec<Pair> = text.lines().filter_map(parse).collect();
    let most = std::env::var("BURIN_BENCH_SAMPLE")
        .ok()
        .and_then(|most| most.parse().ok());
    let mut dice = Dice::new(29);
    for ix in (1..pairs.len()).rev() {
        pairs.swap(ix, dice.below(ix + 1));
    }
    pairs.truncate(most.unwrap_or(SAMPLE));
    Ok(pairs)
}

fn parse(line: &str) -> Option<Pair> {
    let row: Value = serde_json::from_str(line).ok()?;
    let text = |key: &str| row[key].as_str().map(str::to_owned);
    Some(Pair {
        query: text("query")?,
        name: text("name")?,
        code: text("code")?,
    })
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn only_the_whole_name_is_masked() {
        let check = |code: &str, name: &str, after: &str| assert_eq!(masked(code, name), after);
        check(
            "fn add(a) { add(a) + added }",
            "add",
            "fn fn_x(a) { fn_x(a) + added }",
        );
        check("fn é() { self.é() }", "é", "fn fn_x() { self.fn_x() }");
        check("fn x() {}", "", "fn x() {}");
    }
}
