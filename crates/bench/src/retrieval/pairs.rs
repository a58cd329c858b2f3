//! Documentation → function, among functions of packages that nothing was trained or fitted on.
//!
//! Every candidate is a file of its own in one folder, named by its number, so that the index answers as it does in
//! use: it cuts, counts and embeds, and the file of a hit is the answer. Paths say nothing.

use std::path::{Path, PathBuf};

use index::{Index, QueryMode, RankWeights};
use serde_json::Value;
use tempfile::TempDir;

use super::{minilm, sample, score};
use crate::figure::Figure;
use crate::interleave::Dice;

/// Candidates of one language.
const SAMPLE: usize = 1_500;
/// How far the fused answer must be above BM25.
const ABOVE_WORDS: f64 = 0.12;

/// A documentation's first sentence and its function.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) query: String,
    name: String,
    code: String,
}

/// Which pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    HeldOut,
    Weights,
}

/// A language that is measured.
#[derive(Clone, Copy)]
pub(super) struct Language {
    pub(super) name: &'static str,
    extension: &'static str,
    /// What the fused answer must reach.
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

/// The figures. `BURIN_BENCH_LANGUAGES` names those wanted: python, rust, typescript, go, c.
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

/// Functions, each a file, and the index over them.
pub(super) struct Haystack {
    queries: Vec<String>,
    /// The file that answers each query.
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
    /// The code, if wanted without the function's own name.
    fn code(&self, is_masked: bool) -> String {
        if is_masked {
            masked(&self.code, &self.name)
        } else {
            self.code.clone()
        }
    }
}

/// `code` with `fn_x` wherever the word `name` stands.
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

/// So many pairs of a side, drawn the same way each time.
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
