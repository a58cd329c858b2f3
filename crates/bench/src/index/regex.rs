//! Compares text search over the trigram index with `rg`: first the results, then times, sizes and the delay
//! after a save.
//!
//! Burin's side is the editor's case: a running service, queried within the process. The peer is the alternative, an
//! `rg` process. Both apply the same ignore rules; patterns are mined from the corpus with a fixed seed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use ::index::trigram::Trigrams;
use base::AbsPath;
use host::{Files, RealFiles};
use project::WalkBackend;
use project::search::{CaseSensitivity, SearchEvent, SearchQuery, SearchScope, search};

use crate::corpus;
use crate::figure::Figure;
use crate::interleave::{Dice, Pairs, millis, quantile};
use crate::rg::{self, Places};

/// Number of mined patterns.
const LITERALS: usize = 500;
const EXPRESSIONS: usize = 200;
/// Expressions for which no index can help.
const HOPELESS: &[&str] = &[
    r"\w+\s*=\s*\w+;",
    r"[a-z]+_[a-z]+\(",
    r"^\s*}$",
    r"\d+\.\d+",
    r"[A-Z][a-z]+[A-Z]",
    r"^.{70,80}$",
    r"\S{90,}",
    r"^$",
];
/// Number of measurements per pattern.
const ROUNDS: usize = 3;
/// Variable with a number N: only every Nth pattern is timed; results are compared for all.
const EVERY: &str = "BURIN_BENCH_EVERY";

/// Number of files in the large folder.
const MANY: usize = 50_000;

/// Measures over a folder of a few thousand files (`BURIN_REGEX_TREE`, or the corpus), and over copies of it with
/// renamed identifiers, 50,000 files in all, which take disk space while this runs.
pub(super) fn figures() -> Result<Vec<Figure>, String> {
    corpus::need("rg", "apt-get install ripgrep")?;
    let small = match std::env::var_os("BURIN_REGEX_TREE") {
        Some(folder) => PathBuf::from(folder),
        None => corpus::root()?,
    };
    let small = std::fs::canonicalize(&small)
        .map_err(|error| format!("cannot find {}: {error}", small.display()))?;
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut figures = run("small", &small, scratch.path(), 3.0)?;
    let files = Corpus::read(&AbsPath::new(&small).ok_or("not an absolute path")?)?;
    let copies = MANY.div_ceil(files.paths.len().max(1));
    let large = scratch.path().join("copies");
    multiply(&small, &large, copies)?;
    figures.extend(run("large", &large, scratch.path(), 10.0)?);
    Ok(figures)
}

/// Measures over `root`, with the index in `scratch`. `least` is the minimum speed-up over `rg`.
fn run(name: &str, root: &Path, scratch: &Path, least: f64) -> Result<Vec<Figure>, String> {
    let root = std::fs::canonicalize(root).map_err(|error| error.to_string())?;
    let place = |path: &Path| AbsPath::new(path).ok_or("not an absolute path".to_owned());
    let (root, store) = (
        place(&root)?,
        place(&scratch.join(format!("regex-{name}")))?,
    );
    let corpus = Corpus::read(&root)?;
    let mut figures = Vec::new();
    let index = build(name, &root, &store, &corpus, &mut figures)?;
    let patterns = mine(&corpus);
    let bench = Bench { root, index };
    for pattern in &patterns {
        bench.same_results(pattern)?;
    }
    bench.times(name, &patterns, least, &mut figures);
    bench.saved_file(name, &mut figures)?;
    Ok(figures)
}

/// Copies `from` into `to` `copies` times, each copy with different identifiers.
fn multiply(from: &Path, to: &Path, copies: usize) -> Result<(), String> {
    let sources = Corpus::read(&AbsPath::new(from).ok_or("not an absolute path")?)?;
    for copy in 0..copies {
        for path in &sources.paths {
            let Ok(inner) = path.strip_prefix(from) else {
                continue;
            };
            let target = to.join(format!("copy-{copy}")).join(inner);
            let parent = target.parent().unwrap_or(to);
            std::fs::create_dir_all(parent).map_err(|error| error.to_string())?;
            let content = std::fs::read(path).map_err(|error| error.to_string())?;
            let renamed = renamed(&content, copy);
            std::fs::write(&target, renamed).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

/// Appends letters to every word of six bytes or more; copy 0 stays unchanged.
fn renamed(content: &[u8], copy: usize) -> Vec<u8> {
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let letter = |value: usize| b'a' + u8::try_from(value % 26).unwrap_or(0);
    let mut out = Vec::with_capacity(content.len() + content.len() / 8);
    for part in content.chunk_by(|one, two| is_inner(one) == is_inner(two)) {
        out.extend_from_slice(part);
        if part.len() >= 6 && part.iter().all(is_inner) && copy > 0 {
            out.extend([letter(copy), letter(copy / 26 + part.len())]);
        }
    }
    out
}

struct Corpus {
    paths: Vec<PathBuf>,
    bytes: u64,
}

impl Corpus {
    /// Lists the files that a search visits.
    fn read(root: &AbsPath) -> Result<Self, String> {
        let never = AtomicBool::new(false);
        let options = project::WalkOptions::default();
        let listed = project::file_list(&WalkBackend::Disk, root, &options, &never);
        let (paths, _) = listed.map_err(|error| error.to_string())?;
        let paths: Vec<PathBuf> = paths.iter().map(|path| root.as_path().join(path)).collect();
        let sizes = paths.iter().filter_map(|path| path.metadata().ok());
        let bytes = sizes.map(|metadata| metadata.len()).sum();
        Ok(Self { paths, bytes })
    }
}

fn build(
    name: &str,
    root: &AbsPath,
    store: &AbsPath,
    corpus: &Corpus,
    figures: &mut Vec<Figure>,
) -> Result<Arc<Trigrams>, String> {
    let megabytes = corpus.bytes as f64 / 1e6;
    let index = Trigrams::open(root.clone(), store.clone());
    let before = reset_peak();
    let start = Instant::now();
    let done = index.refresh(&AtomicBool::new(false));
    let seconds = start.elapsed().as_secs_f64();
    let done = done.map_err(|error| error.to_string())?;
    let stats = index.stats();
    let mut alone = |what: &str, value: f64, unit: &'static str, goal: f64| {
        let name = format!("regex index {name} ({} files): {what}", done.files);
        figures.push(Figure::alone(name, value, unit, 1, Some(goal)));
    };
    alone("build of 100 MB", seconds / megabytes * 100.0, "s", 10.0);
    alone(
        "bytes / corpus bytes",
        stats.bytes as f64 / corpus.bytes as f64,
        "×",
        0.6,
    );
    if let Some(before) = before {
        alone("peak above start", peak("VmHWM:") - before, "MiB", 160.0);
    }
    alone(
        "memory kept",
        stats.bytes_in_memory as f64 / f64::from(1 << 20),
        "MiB",
        40.0,
    );
    Ok(Arc::new(index))
}

/// Resets the peak memory use to the current use and returns it in MiB; `None` if the system does
/// not allow that.
fn reset_peak() -> Option<f64> {
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    Some(peak("VmRSS:"))
}

fn peak(row: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let found = status.lines().find_map(|line| line.strip_prefix(row));
    let kilobytes = found.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) / 1024.0
}

struct Pattern {
    text: String,
    is_literal: bool,
    is_folded: bool,
    is_hopeless: bool,
}

impl Pattern {
    fn query(&self) -> SearchQuery {
        SearchQuery {
            case: if self.is_folded {
                CaseSensitivity::Insensitive
            } else {
                CaseSensitivity::Sensitive
            },
            ..if self.is_literal {
                SearchQuery::literal(&self.text)
            } else {
                SearchQuery::regex(&self.text)
            }
        }
    }

    fn rg(&self, root: &AbsPath) -> Command {
        let mut command = Command::new("rg");
        command.args(self.is_literal.then_some("--fixed-strings"));
        command.args(self.is_folded.then_some("--ignore-case"));
        command
            .args(["--no-config", "-e", &self.text])
            .arg(root.as_path());
        command.stdin(Stdio::null());
        command
    }
}

/// Returns patterns that people search for: words, parts of rows, and expressions made of these.
fn mine(corpus: &Corpus) -> Vec<Pattern> {
    let mut dice = Dice::new(20);
    let mut patterns = Vec::new();
    let mut literals = 0;
    while literals < LITERALS {
        let Some(row) = some_row(corpus, &mut dice) else {
            continue;
        };
        let words = words(&row);
        let text = match dice.below(3) {
            0 => part_of(&row, &mut dice),
            _ if words.is_empty() => continue,
            _ => words[dice.below(words.len())].to_owned(),
        };
        patterns.push(pattern(text, true, dice.below(5) == 0));
        literals += 1;
    }
    let mut expressions = 0;
    while expressions < EXPRESSIONS - HOPELESS.len() {
        let Some(row) = some_row(corpus, &mut dice) else {
            continue;
        };
        let words = words(&row);
        if words.len() < 2 {
            continue;
        }
        let first = dice.below(words.len() - 1);
        let (one, two) = (words[first], words[first + 1]);
        let text = match dice.below(9) {
            0 => format!(r"\b{one}\b"),
            1 => format!("{one}.*{two}"),
            2 => format!(r"{one}\W+{two}"),
            3 => format!("{one}|{two}"),
            4 => format!(r"^\s*{one}\b"),
            5 => format!(r"\w+{one}\w*"),
            6 => format!(r"(?:{one}|{two})s?\("),
            7 => format!(r"{one}[\w:]*\s*[=({{]"),
            _ => format!(
                r"{}[a-z]+_?{}",
                &one[..one.len().min(4)],
                &one[one.len() - 1..]
            ),
        };
        patterns.push(pattern(text, false, dice.below(5) == 0));
        expressions += 1;
    }
    patterns.extend(HOPELESS.iter().map(|text| Pattern {
        is_hopeless: true,
        ..pattern((*text).to_owned(), false, false)
    }));
    patterns
}

fn pattern(text: String, is_literal: bool, is_folded: bool) -> Pattern {
    Pattern {
        text,
        is_literal,
        is_folded,
        is_hopeless: false,
    }
}

fn some_row(corpus: &Corpus, dice: &mut Dice) -> Option<String> {
    let path = &corpus.paths[dice.below(corpus.paths.len())];
    let text = std::fs::read_to_string(path).ok()?;
    let rows: Vec<&str> = text.lines().collect();
    let row = rows.get(dice.below(rows.len().max(1)))?.trim();
    let is_fit = row.is_ascii() && row.len() > 8 && row.len() < 200 && !row.contains('\0');
    is_fit.then(|| row.to_owned())
}

fn words(row: &str) -> Vec<&str> {
    let words = row.split(|char: char| !char.is_ascii_alphanumeric() && char != '_');
    words.filter(|word| word.len() >= 4).collect()
}

fn part_of(row: &str, dice: &mut Dice) -> String {
    let begin = dice.below(row.len() - 6);
    let length = 5 + dice.below(25);
    row[begin..row.len().min(begin + length)].to_owned()
}

struct Bench {
    root: AbsPath,
    index: Arc<Trigrams>,
}

impl Bench {
    /// Returns all results of Burin's search.
    fn ours(&self, pattern: &Pattern) -> Result<Vec<project::search::FileMatches>, String> {
        let (sender, events) = async_channel::unbounded();
        let prefilter: Arc<dyn project::search::Prefilter> = self.index.clone();
        let scope =
            SearchScope::new(WalkBackend::Disk, self.root.clone()).with_prefilter(Some(prefilter));
        let never = AtomicBool::new(false);
        search(&pattern.query(), &scope, &never, &sender).map_err(|error| error.to_string())?;
        let mut files = Vec::new();
        while let Ok(event) = events.try_recv() {
            match event {
                SearchEvent::File(file) => files.push(file),
                SearchEvent::Problem(problem) => return Err(problem.0),
                SearchEvent::Done(_) => {}
            }
        }
        Ok(files)
    }

    fn same_results(&self, pattern: &Pattern) -> Result<(), String> {
        let mut ours = Places::new();
        for file in self.ours(pattern)? {
            for row in &file.rows {
                let number = u64::from(row.row.0) + 1;
                let places = row.columns.iter();
                ours.extend(
                    places.map(|range| (file.path.to_string(), number, range.start, range.end)),
                );
            }
        }
        let theirs = places_of_rg(pattern, &self.root)?;
        if ours == theirs {
            return Ok(());
        }
        Err(format!(
            "results differ for {:?}: only ours {:?}, only rg's {:?}",
            pattern.text,
            ours.difference(&theirs).next(),
            theirs.difference(&ours).next(),
        ))
    }

    fn times(&self, name: &str, patterns: &[Pattern], least: f64, figures: &mut Vec<Figure>) {
        let (mut helped, mut hopeless) = (Pairs::default(), Pairs::default());
        let mut worst = (0.0_f64, "");
        let mut dice = Dice::new(7);
        let every = std::env::var(EVERY)
            .ok()
            .and_then(|every| every.parse().ok());
        let timed: Vec<&Pattern> = patterns
            .iter()
            .enumerate()
            .filter(|(ix, pattern)| {
                pattern.is_hopeless || ix % every.unwrap_or(1_usize).max(1) == 0
            })
            .map(|(_, pattern)| pattern)
            .collect();
        for pattern in &timed {
            let mut ratios = Vec::new();
            for _ in 0..ROUNDS {
                let ours = || millis(|| self.ours(pattern).map(|files| files.len()));
                let theirs = || millis(|| pattern.rg(&self.root).output());
                let (ours, theirs) = if dice.below(2) == 0 {
                    let ours = ours();
                    (ours, theirs())
                } else {
                    let theirs = theirs();
                    (ours(), theirs)
                };
                if pattern.is_hopeless {
                    hopeless.push(ours, theirs)
                } else {
                    helped.push(ours, theirs)
                }
                ratios.push(ours / theirs);
            }
            let ratio = quantile(ratios.into_iter(), 0.5);
            if ratio > worst.0 {
                worst = (ratio, pattern.text.as_str());
            }
        }
        let title = |what: &str| format!("regex {name}: warm service / rg process, {what}");
        let mut against = |what: &str, pairs: &Pairs, goal: f64| {
            figures.push(Figure::against(title(what), "rg", pairs, "ms", Some(goal)));
        };
        against("mined", &helped, 1.0 / least);
        against("mined, p95", &helped.tail(0.95), 1.2);
        against("hopeless", &hopeless, 1.2);
        let count = timed.len();
        figures.push(Figure::alone(
            title(&format!("worst pattern, {}", worst.1)),
            worst.0,
            "×",
            count,
            Some(1.2),
        ));
    }

    /// Measures a search directly after a save, before any watcher event; it must find the new
    /// text.
    fn saved_file(&self, name: &str, figures: &mut Vec<Figure>) -> Result<(), String> {
        let path = self.root.join("saved-by-the-benchmark.rs");
        let mut times = Vec::new();
        for round in 0..20 {
            let needle = format!("needle_{round}_of_the_benchmark");
            let text = format!("// {needle}\n");
            RealFiles
                .write_private(&path, text.as_bytes())
                .map_err(|error| error.to_string())?;
            let start = Instant::now();
            let found = self.ours(&pattern(needle.clone(), true, false))?;
            times.push(start.elapsed().as_secs_f64() * 1_000.0);
            if found.len() != 1 {
                return Err(format!("{needle} was saved and not found"));
            }
            self.index.touch(std::slice::from_ref(&path));
        }
        RealFiles.remove(&path).map_err(|error| error.to_string())?;
        let count = times.len();
        let median = quantile(times.into_iter(), 0.5);
        let title = format!("regex {name}: saved file visible");
        figures.push(Figure::alone(title, median, "ms", count, Some(10.0)));
        Ok(())
    }
}

fn places_of_rg(pattern: &Pattern, root: &AbsPath) -> Result<Places, String> {
    let output = pattern
        .rg(root)
        .arg("--json")
        .output()
        .map_err(|error| error.to_string())?;
    rg::places(&output.stdout)
}
