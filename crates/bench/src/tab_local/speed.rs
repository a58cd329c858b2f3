//! CPU time of a suggestion in a project of a million lines, and the cost of its corpus.

use std::path::{Path, PathBuf};

use autocomplete::EditorState;
use autocomplete::local::Corpus;
use base::{AbsPath, ByteOffset, Row};
use cpu_time::ThreadTime;
use syntax::{Budget, ParseStatus, SyntaxTree, language_named};
use text::Snapshot;

use super::local_tier::LocalTier;
use crate::figure::Figure;

const LINES: usize = 1_000_000;

/// Number of files in which suggestions are measured, and of carets in each.
const FILES: usize = 60;
const CARETS: usize = 40;

/// Measures the corpus of a million lines of Rust, and suggestions in it.
pub(super) fn figures() -> Result<Vec<Figure>, String> {
    let mut corpus = Corpus::new();
    let mut files = Vec::new();
    let mut lines = 0;
    let start = ThreadTime::now();
    gather(&crate::corpus::root()?, &mut |path, text| {
        lines += text.lines().count();
        if let Some(path) = AbsPath::new(path) {
            corpus.insert(&path, &text);
            files.push((path, text));
        }
        lines < LINES
    });
    let view = corpus.view();
    let built = start.elapsed();
    let n = corpus.token_count();
    let mut tier = LocalTier::new(view);
    let mut times = Vec::new();
    let step = (files.len() / FILES).max(1);
    for (path, text) in files.iter().step_by(step) {
        ask(&mut tier, path, text, &mut times);
    }
    times.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| {
        times
            .get((times.len() as f64 * share) as usize)
            .copied()
            .unwrap_or(0.0)
    };
    Ok(vec![
        Figure::alone("corpus, lines", lines as f64, "", files.len(), None),
        Figure::alone(
            "corpus, CPU time to build",
            built.as_secs_f64(),
            "s",
            n,
            None,
        ),
        Figure::alone("corpus, memory", corpus.bytes() as f64 / 1e6, "MB", n, None),
        Figure::alone(
            "suggest at a million lines, p50",
            at(0.5),
            "ms",
            times.len(),
            None,
        ),
        Figure::alone(
            "suggest at a million lines, p99",
            at(0.99),
            "ms",
            times.len(),
            Some(5.0),
        ),
    ])
}

/// Measures suggestions at carets all over a file, with the rest of each row removed.
fn ask(tier: &mut LocalTier, path: &AbsPath, text: &str, times: &mut Vec<f64>) {
    let Some(language) = language_named("Rust") else {
        return;
    };
    let rows: Vec<&str> = text.lines().collect();
    for row in (0..rows.len()).step_by((rows.len() / CARETS).max(1)) {
        let line = rows[row];
        let half = line
            .char_indices()
            .nth(line.chars().count() / 2)
            .map_or(0, |(at, _)| at);
        let mut typed: Vec<&str> = rows.clone();
        typed[row] = &line[..half];
        let snapshot = Snapshot::new(&typed.join("\n"));
        let mut tree = SyntaxTree::new(language);
        language.prepare();
        let status = tree.parse(&snapshot, &mut Budget::unlimited());
        debug_assert!(matches!(status, ParseStatus::Done | ParseStatus::Unsettled));
        let state = EditorState {
            path: Some(path.clone()),
            syntax: Some(tree.snapshot()),
            language: Some(language),
            caret: ByteOffset(snapshot.row_end(Row(row as u32)).0),
            rows: (Row(row as u32), Row(row as u32 + 50)),
            indent: "    ".to_owned(),
            snapshot,
        };
        let start = ThreadTime::now();
        let suggestions = tier.suggest(&state);
        times.push(start.elapsed().as_secs_f64() * 1000.0);
        drop(suggestions);
    }
}

/// Passes Rust files below a folder to `take` until that returns false.
fn gather(folder: &Path, take: &mut dyn FnMut(PathBuf, String) -> bool) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let goes_on = if path.is_dir() {
            gather(&path, take)
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            std::fs::read_to_string(&path).map_or(true, |text| take(path, text))
        } else {
            true
        };
        if !goes_on {
            return false;
        }
    }
    true
}
