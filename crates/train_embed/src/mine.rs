//! Mines pairs of a function and the first sentence of its documentation from packages.
//!
//! The md5 of a package's name, without the version, modulo 5 determines the side of its pairs: 0 is held out for
//! measuring, 1 is for fitting weights, the rest is for training. A query that repeats an earlier one of its
//! language is dropped, and so is code that nearly equals a function of an earlier side.

mod braces;
mod mask;
mod near;
mod python;
mod query;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use md5::{Digest, Md5};
use packages::archive;
use packages::sources::{Registry, Source};
use serde_json::{Value, json};

use super::error::Error;
use mask::Dialect;

/// Longer functions are cut here, in bytes.
const LONGEST_CODE: usize = 4_000;
const SHORTEST_CODE: usize = 60;
/// Larger files are generated or bundled.
const LARGEST_FILE: usize = 600_000;
/// Number of pairs kept per package; large packages would dominate otherwise.
const MOST_TO_TRAIN: usize = 2_500;
const MOST_TO_MEASURE: usize = 400;
const MOST_OF_STANDARD: usize = 3_000;

/// A function that a scanner found, with its documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) doc: String,
    pub(super) name: String,
    /// The code of the function, without the documentation.
    pub(super) code: String,
}

/// A language from which functions are mined; TypeScript and JavaScript count as one, as do C and
/// C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Language {
    Rust,
    Python,
    Script,
    Go,
    C,
}

impl Language {
    pub(super) const ALL: [Self; 5] = [Self::Rust, Self::Python, Self::Script, Self::Go, Self::C];

    /// Returns the name of the language in file names.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
            Self::Script => "typescript",
            Self::Go => "go",
            Self::C => "c",
        }
    }

    /// Returns the language of a file by its extension; `None` if it is unknown or not one that
    /// packages of this registry are written in.
    fn of(registry: Registry, path: &str) -> Option<Self> {
        let language = match path.rsplit_once('.')?.1 {
            "rs" => Self::Rust,
            "py" => Self::Python,
            "js" | "mjs" | "ts" | "tsx" | "jsx" => Self::Script,
            "go" => Self::Go,
            "c" | "h" | "cc" | "cpp" | "hpp" | "hh" | "cxx" => Self::C,
            _ => return None,
        };
        // Files in a language unusual for the registry are usually third-party code.
        let fits = match registry {
            Registry::Cargo => matches!(language, Self::Rust | Self::C),
            Registry::Debian => matches!(language, Self::Go | Self::C | Self::Python),
            Registry::Npm => matches!(language, Self::Script | Self::C),
            Registry::Pypi => matches!(language, Self::Python | Self::C),
        };
        fits.then_some(language)
    }
}

/// The use of a pair: for measuring, for fitting the weights of the ranking, or for training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    HeldOut,
    Weights,
    Train,
}

impl Side {
    pub(super) const ALL: [Self; 3] = [Self::HeldOut, Self::Weights, Self::Train];

    /// Returns the name of the side in file names.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::HeldOut => "held-out",
            Self::Weights => "weights",
            Self::Train => "train",
        }
    }

    /// Returns the side of all pairs of the package `name`, from a hash of the name; the standard
    /// library of Python is held out.
    pub(super) fn of(name: &str) -> Self {
        // Other projects measure with the standard library.
        if is_standard(name) {
            return Self::HeldOut;
        }
        let rest = Md5::digest(name)
            .iter()
            .fold(0, |rest, byte| (rest * 256 + u32::from(*byte)) % 5);
        match rest {
            0 => Self::HeldOut,
            1 => Self::Weights,
            _ => Self::Train,
        }
    }
}

/// Whether a package is the standard library of Python.
fn is_standard(name: &str) -> bool {
    name.starts_with("libpython3")
}

/// A query (the first sentence of a documentation) and the function that it describes.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) query: String,
    pub(super) name: String,
    pub(super) code: String,
    pub(super) path: String,
    pub(super) package: String,
}

impl Pair {
    fn line(&self) -> String {
        let row = json!({
            "query": self.query, "name": self.name, "code": self.code, "path": self.path, "package": self.package,
        });
        format!("{row}\n")
    }

    /// Parses a line that `line` wrote; `None` if it is not JSON or lacks a field.
    fn parse(line: &str) -> Option<Self> {
        let row: Value = serde_json::from_str(line).ok()?;
        let text = |key: &str| Some(row[key].as_str()?.to_owned());
        Some(Self {
            query: text("query")?,
            name: text("name")?,
            code: text("code")?,
            path: text("path")?,
            package: text("package")?,
        })
    }
}

/// All pairs, by side and language.
pub(super) type Pairs = BTreeMap<(Side, Language), Vec<Pair>>;

fn file(folder: &Path, side: Side, language: Language) -> std::path::PathBuf {
    folder.join(format!("{}-{}.jsonl", side.name(), language.name()))
}

/// Reads the pairs that [`run`] wrote to `folder`; every side and language has an entry. Unreadable
/// lines are left out.
pub(super) fn read(folder: &Path) -> Result<Pairs, Error> {
    let mut pairs = Pairs::new();
    for side in Side::ALL {
        for language in Language::ALL {
            let path = file(folder, side, language);
            let text = std::fs::read_to_string(&path).map_err(Error::io("read", &path))?;
            pairs.insert(
                (side, language),
                text.lines().filter_map(Pair::parse).collect(),
            );
        }
    }
    Ok(pairs)
}

/// Mines the archives of all `sources` on all cores and writes the pairs to `folder`, a file for
/// each side and language.
pub(super) fn run(sources: &[Source], inputs: &Path, folder: &Path) -> Result<(), Error> {
    let pairs = sides(mined(sources, inputs)?);
    for ((side, language), pairs) in &pairs {
        let path = file(folder, *side, *language);
        let text: String = pairs.iter().map(Pair::line).collect();
        std::fs::write(&path, text).map_err(Error::io("write", &path))?;
        let packages: HashSet<_> = pairs.iter().map(|pair| &pair.package).collect();
        eprintln!(
            "{}: {} pairs of {} packages",
            path.display(),
            pairs.len(),
            packages.len()
        );
    }
    Ok(())
}

/// Mines all sources in parallel. The result has the order of `sources`.
fn mined(sources: &[Source], inputs: &Path) -> Result<Vec<(Language, Pair)>, Error> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(source) = sources.get(number) else {
                return Ok(found);
            };
            found.push((number, package(source, &source.path(inputs))?));
        }
    };
    let results: Vec<Result<Vec<_>, Error>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..super::threads()).map(|_| scope.spawn(work)).collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        ended
            .map(|result| result.unwrap_or_else(|_| Err(Error::MinerPanicked)))
            .collect()
    });
    let mut all = Vec::new();
    for result in results {
        all.extend(result?);
    }
    all.sort_by_key(|(number, _)| *number);
    Ok(all.into_iter().flat_map(|(_, pairs)| pairs).collect())
}

/// Returns the pairs of one package, each query once per language. Returns an error if the archive
/// is damaged.
fn package(source: &Source, archive: &Path) -> Result<Vec<(Language, Pair)>, Error> {
    let mut files = Vec::new();
    let wants = |path: &str| Language::of(source.registry, path).is_some() && is_source(path);
    archive::each_file(archive, &wants, &mut |path, text| {
        files.push((path.to_owned(), text))
    })?;
    // Sources come before files built from them, so that the source of two equal queries is kept.
    files.sort_by_key(|(path, _)| (!path.contains("/src/"), path.clone()));
    let mut seen = HashSet::new();
    let mut pairs = Vec::new();
    for (path, text) in files {
        let Some(language) =
            Language::of(source.registry, &path).filter(|_| text.len() <= LARGEST_FILE)
        else {
            continue;
        };
        for function in functions(language, &text) {
            let Some(query) = query::query(&function.doc, &function.name) else {
                continue;
            };
            if function.code.len() >= SHORTEST_CODE
                && seen.insert((language, query.to_ascii_lowercase()))
            {
                let Function { name, code, .. } = function;
                pairs.push((
                    language,
                    Pair {
                        query,
                        name,
                        code,
                        path: path.clone(),
                        package: source.name.clone(),
                    },
                ));
            }
        }
    }
    Ok(pairs)
}

fn functions(language: Language, text: &str) -> Vec<Function> {
    match language {
        Language::Rust => braces::functions(text, Dialect::Rust),
        Language::Python => python::functions(text),
        Language::Script => braces::functions(text, Dialect::Script),
        Language::Go => braces::functions(text, Dialect::Go),
        Language::C => braces::functions(text, Dialect::C),
    }
}

/// Returns whether a path is the package's own source: not a test, generated, or third-party code.
fn is_source(path: &str) -> bool {
    let small = path.to_ascii_lowercase();
    let strange = [
        "/test/",
        "/tests/",
        "/testing/",
        "_test.",
        "/test_",
        ".test.",
        ".spec.",
        "/testdata/",
        "_vendor/",
        "/vendor/",
        "third_party",
        "thirdparty",
        "third-party",
        "node_modules",
        "/extern",
        "winapi",
        "web-sys",
        "bindings",
        "generated",
        ".pb.",
        "_pb2",
        "/umd/",
        ".min.",
        ".d.ts",
        ".d.mts",
        "/locale",
        "/__tests__/",
        "/idlelib/",
        "/lib2to3/",
        "zz_",
        "/examples/",
        "/amd/",
        "conftest",
    ];
    !strange.iter().any(|mark| small.contains(mark)) && !small.starts_with("windows")
}

/// Drops repeated queries, limits the pairs of large packages, and sorts all pairs by side.
fn sides(mined: Vec<(Language, Pair)>) -> Pairs {
    let mut pairs = Pairs::new();
    for side in Side::ALL {
        for language in Language::ALL {
            pairs.insert((side, language), Vec::new());
        }
    }
    let mut seen = HashSet::new();
    let mut per_package = BTreeMap::<_, Vec<Pair>>::new();
    // The measured sides come first, so that a query that occurs in several packages is measured and not trained on.
    let mut mined: Vec<_> = mined
        .into_iter()
        .map(|(language, pair)| (Side::of(&pair.package), language, pair))
        .collect();
    mined.sort_by_key(|(side, ..)| *side);
    for (side, language, pair) in mined {
        if seen.insert((language, pair.query.to_ascii_lowercase())) {
            per_package
                .entry((side, language, pair.package.clone()))
                .or_default()
                .push(pair);
        }
    }
    for ((side, language, package), found) in per_package {
        let most = match side {
            Side::Train => MOST_TO_TRAIN,
            _ if is_standard(&package) => MOST_OF_STANDARD,
            _ => MOST_TO_MEASURE,
        };
        let kept = spread(found, most);
        pairs.entry((side, language)).or_default().extend(kept);
    }
    for language in Language::ALL {
        near::drop_near(&mut pairs, language);
    }
    pairs
}

/// Returns at most `most` pairs, spread evenly over the package.
fn spread(pairs: Vec<Pair>, most: usize) -> Vec<Pair> {
    let count = pairs.len();
    let keeps =
        |number: usize| count <= most || number * most / count != (number + 1) * most / count;
    pairs
        .into_iter()
        .enumerate()
        .filter(|(number, _)| keeps(*number))
        .map(|(_, pair)| pair)
        .collect()
}
