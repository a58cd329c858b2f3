//! Measures how soon a saved file is found, and the cost of a second worktree.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use ::index::{Index, IndexOptions, IndexQuery};
use cpu_time::ProcessTime;
use tempfile::TempDir;

use super::speed::QUERIES;
use super::{place, settled};
use crate::figure::Figure;
use crate::interleave::quantile;

const SAVES: usize = 60;
const WORKTREES: usize = 7;

/// Measures the time from writing a file until a new word in it is found.
pub(super) fn saves(tree: &Path) -> Result<Vec<Figure>, String> {
    let checkout = Checkout::of(tree)?;
    let index = settled(&checkout.tree, checkout.cache.path())?;
    let file = large_file(&checkout.tree)?;
    let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
    let path = place(&file)?;
    let (mut times, mut busy) = (Vec::new(), Vec::new());
    for turn in 0..SAVES {
        let word = format!("zebra{turn}quagga");
        let new = format!("{text}\n/// Follows.\npub fn {word}() -> usize {{\n    {turn}\n}}\n");
        std::fs::write(&file, new).map_err(|error| error.to_string())?;
        let (start, began) = (Instant::now(), ProcessTime::now());
        index.touch(vec![path.clone()]);
        index.wait_until_synced();
        let found = index.search(&IndexQuery::new(&word, 1)).hits;
        times.push(start.elapsed().as_secs_f64() * 1_000.0);
        busy.push(began.elapsed().as_secs_f64() * 1_000.0);
        if !found.first().is_some_and(|hit| hit.text.contains(&word)) {
            return Err(format!("{word} was saved and is not found first"));
        }
    }
    let bytes = text.len();
    let figure = |what: &str, times: &[f64], share, goal| {
        let value = quantile(times.iter().copied(), share);
        let name = format!("saved to found, {what}, a file of {} KB", bytes / 1_024);
        Figure::alone(name, value, "ms", times.len(), goal)
    };
    Ok(vec![
        figure("p50", &times, 0.5, Some(15.0)),
        figure("p99", &times, 0.99, None),
        figure("p50 in time of processors", &busy, 0.5, None),
    ])
}

/// Measures how much a second worktree of an indexed repository embeds, and when it first answers
/// completely.
pub(super) fn worktree(tree: &Path) -> Result<Vec<Figure>, String> {
    let checkout = Checkout::of(tree)?;
    let first = settled(&checkout.tree, checkout.cache.path())?;
    let (mut times, mut reused) = (Vec::new(), 1.0_f64);
    for turn in 0..WORKTREES {
        let second = checkout.worktree(turn)?;
        let query = IndexQuery::new(QUERIES[0], 10);
        let options = IndexOptions::kept_in(&place(checkout.cache.path())?);
        let place = place(&second)?;
        let start = Instant::now();
        let index = Index::open(place, options);
        let complete = answered(&index, &query)?;
        times.push(start.elapsed().as_secs_f64() * 1_000.0);
        if complete != first.search(&query).hits.len() {
            return Err("the second worktree answers otherwise than the first".to_owned());
        }
        let status = index.status();
        reused = reused.min(1.0 - status.embedded as f64 / status.done.max(1) as f64);
    }
    let median = quantile(times.iter().copied(), 0.5);
    Ok(vec![
        Figure::alone(
            "second worktree to its first whole answer",
            median,
            "ms",
            WORKTREES,
            Some(100.0),
        ),
        Figure::alone(
            "second worktree: files reused",
            reused * 100.0,
            "%",
            WORKTREES,
            None,
        )
        .at_least(99.0),
    ])
}

/// Waits for a complete answer and counts its hits.
fn answered(index: &Index, query: &IndexQuery) -> Result<usize, String> {
    let news = index.changed();
    loop {
        let answer = index.search(query);
        if answer.is_complete && !answer.hits.is_empty() {
            return Ok(answer.hits.len());
        }
        news.recv_blocking().map_err(|error| error.to_string())?;
    }
}

/// A writable clone, with a folder for its index.
struct Checkout {
    folder: TempDir,
    cache: TempDir,
    /// The measured folder of the clone.
    tree: PathBuf,
    below: PathBuf,
}

impl Checkout {
    fn of(tree: &Path) -> Result<Self, String> {
        let top = git(tree, &["rev-parse", "--show-toplevel"])?;
        let real = tree.canonicalize().map_err(|error| error.to_string())?;
        let below = real
            .strip_prefix(&top)
            .map_err(|error| error.to_string())?
            .to_path_buf();
        let folder = TempDir::new().map_err(|error| error.to_string())?;
        let clone = folder.path().join("clone");
        git(
            folder.path(),
            &["clone", "-q", "--shared", &top, &clone.to_string_lossy()],
        )?;
        Ok(Self {
            tree: clone.join(&below),
            cache: TempDir::new().map_err(|error| error.to_string())?,
            folder,
            below,
        })
    }

    /// Adds a worktree and returns the same folder in it.
    fn worktree(&self, number: usize) -> Result<PathBuf, String> {
        let worktree = self.folder.path().join(format!("worktree-{number}"));
        let target = worktree.to_string_lossy();
        git(
            &self.folder.path().join("clone"),
            &["worktree", "add", "-q", "--detach", &target],
        )?;
        Ok(worktree.join(&self.below))
    }
}

/// Returns the largest file below 60 kB, which takes long to split into chunks.
fn large_file(tree: &Path) -> Result<PathBuf, String> {
    let listed = git(tree, &["ls-files", "-z"])?;
    let size = |path: &PathBuf| std::fs::metadata(path).map_or(0, |file| file.len());
    let files = listed.split('\0').map(|path| tree.join(path));
    let mut files: Vec<PathBuf> = files
        .filter(|path| (1..60_000).contains(&size(path)))
        .collect();
    files.sort_by_key(size);
    files
        .pop()
        .ok_or_else(|| format!("{} has no files", tree.display()))
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git")
        .current_dir(folder)
        .args(arguments)
        .output();
    let output = output.map_err(|error| format!("cannot start git: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "git {} failed: {}",
            arguments.join(" "),
            said.trim()
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned())
}
