//! Finds the files that a commit changed by its message, in the tree before the commit.
//!
//! Paths, identifiers, code, trailers, issue numbers and the area before the first colon are removed from the
//! message, because they name the place. One index follows the checkouts, so each checkout costs only its difference
//! to the previous one. `BURIN_BENCH_CACHE` is a folder that stores the index, so that a later run does not read the
//! same contents again.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use index::{QueryMode, RankWeights};
use tempfile::TempDir;

use super::{sample, score};
use crate::figure::Figure;

/// Number of commits per repository.
const COMMITS: usize = 150;
/// Number of newest commits from which they are drawn.
const WINDOW: usize = 4_000;
/// Number of commits between two lines of progress; reading some hundred trees takes long.
const TOLD_AFTER: usize = 25;
/// Larger changes concern the whole tree.
const MOST_FILES: usize = 8;
/// Shorter messages are meaningless without the names.
const LEAST_WORDS: usize = 5;

/// A commit used as a query.
struct Commit {
    parent: String,
    message: String,
    /// The changed files that existed before.
    files: HashSet<PathBuf>,
}

pub(super) fn figures() -> Result<Vec<Figure>, String> {
    const FILL: &str = "set BURIN_COMMITS to folders of git repositories with their history, separated by colons, \
         such as clones of github.com/tokio-rs/tokio and github.com/rust-lang/rust-analyzer";
    let folders = std::env::var_os("BURIN_COMMITS").ok_or(FILL)?;
    let mut places = Places::default();
    for folder in std::env::split_paths(&folders) {
        let some = asked(&folder)?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        summary(&format!("commits of {name}"), &some);
        for (all, some) in places.iter_mut().zip(some) {
            all.extend(some);
        }
    }
    Ok(summary("commits", &places))
}

/// The rank of the first changed file of each commit, by BM25, by meaning and by both.
type Places = [Vec<Option<usize>>; 3];

fn summary(title: &str, places: &Places) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (means, places) in ["BM25", "meaning", "fused"].iter().zip(places) {
        for depth in [1, 5, 10] {
            let hits: Vec<f64> = places
                .iter()
                .map(|place| f64::from(u8::from(place.is_some_and(|place| place < depth))))
                .collect();
            figures.push(told(format!("{title}: Acc@{depth} {means}"), &hits));
        }
        let reciprocals: Vec<f64> = places
            .iter()
            .map(|place| score::reciprocal(*place))
            .collect();
        figures.push(told(format!("{title}: MRR@10 {means}"), &reciprocals));
    }
    figures
}

fn told(name: String, values: &[f64]) -> Figure {
    let figure = Figure::mean(name, score::mean(values), values.len(), None);
    eprintln!("{figure}");
    figure
}

/// Runs the queries of one repository's commits, each in the tree before the commit.
fn asked(folder: &Path) -> Result<Places, String> {
    let work = TempDir::new().map_err(|error| error.to_string())?;
    let cache = std::env::var_os("BURIN_BENCH_CACHE").map(PathBuf::from);
    let tree = work.path().join("tree");
    let checkout =
        |parent: &str| git(&tree, &["checkout", "-q", "-f", "--detach", parent]).map(drop);
    let source = folder.to_string_lossy();
    let target = tree.to_string_lossy();
    git(
        work.path(),
        &["clone", "-q", "--shared", "--no-checkout", &source, &target],
    )?;
    let commits = commits(&tree)?;
    let mut places = Places::default();
    let Some(first) = commits.first() else {
        return Err(format!("{} has no commits to ask about", folder.display()));
    };
    checkout(&first.parent)?;
    let index = sample::open_kept(
        &tree,
        cache.as_deref().unwrap_or(&work.path().join("cache")),
    )?;
    let weights = RankWeights::default();
    for (ix, commit) in commits.iter().enumerate() {
        checkout(&commit.parent)?;
        index.refresh();
        index.wait_until_synced();
        let ways = [QueryMode::Words, QueryMode::Meaning, QueryMode::Fused];
        for (means, places) in ways.into_iter().zip(&mut places) {
            let found = sample::files(&index, &commit.message, means, &weights);
            places.push(found.iter().position(|file| commit.files.contains(file)));
        }
        if (ix + 1) % TOLD_AFTER == 0 {
            eprintln!("{}: {} of {}", folder.display(), ix + 1, commits.len());
        }
    }
    eprintln!(
        "{}: {} commits, {} chunks",
        folder.display(),
        commits.len(),
        index.status().chunks
    );
    Ok(places)
}

/// Returns commits spread evenly over the window, oldest first.
fn commits(tree: &Path) -> Result<Vec<Commit>, String> {
    let window = format!("-n{WINDOW}");
    let format = "--format=%x00%P%x01%B%x01";
    let log = git(
        tree,
        &[
            "log",
            "--no-merges",
            "--name-status",
            "--no-renames",
            &window,
            format,
        ],
    )?;
    let mut all: Vec<Commit> = log.split('\0').filter_map(commit).collect();
    all.reverse();
    let count = all.len();
    let keeps = |ix: usize| count <= COMMITS || ix * COMMITS / count != (ix + 1) * COMMITS / count;
    let numbered = all.into_iter().enumerate();
    Ok(numbered
        .filter(|(ix, _)| keeps(*ix))
        .map(|(_, commit)| commit)
        .collect())
}

fn commit(entry: &str) -> Option<Commit> {
    let mut parts = entry.split('\u{1}');
    let (parent, message, changes) = (parts.next()?, parts.next()?, parts.next()?);
    let changes: Vec<(&str, &str)> = changes
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .collect();
    let files: HashSet<PathBuf> = changes
        .iter()
        .filter(|(kind, path)| *kind != "A" && is_source(path))
        .map(|(_, path)| PathBuf::from(path))
        .collect();
    let message = redacted(message);
    let is_asked = !parent.is_empty()
        && !files.is_empty()
        && changes.len() <= MOST_FILES
        && message.split_whitespace().count() >= LEAST_WORDS;
    is_asked.then(|| Commit {
        parent: parent.to_owned(),
        message,
        files,
    })
}

fn is_source(path: &str) -> bool {
    [".rs", ".py", ".ts", ".js", ".go", ".c", ".h", ".cc"]
        .iter()
        .any(|end| path.ends_with(end))
}

/// Returns a message without area, code, paths, identifiers, links, trailers and numbers.
fn redacted(message: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for (row, line) in message.lines().enumerate() {
        let line = line.trim();
        let is_trailer = line
            .split_once(": ")
            .is_some_and(|(key, _)| row > 0 && key.contains('-') && !key.contains(' '));
        if is_trailer || line.starts_with("```") || line.starts_with('>') {
            continue;
        }
        let line = match line.split_once(": ") {
            Some((area, rest)) if row == 0 && area.split(' ').count() <= 3 => rest,
            _ => line,
        };
        for (ix, plain) in line.split('`').enumerate() {
            if ix % 2 == 0 {
                words.extend(plain.split_whitespace().filter(|word| !names_a_place(word)));
            }
        }
    }
    words.join(" ")
}

fn names_a_place(word: &str) -> bool {
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let has_hump = word
        .chars()
        .zip(word.chars().skip(1))
        .any(|(one, next)| one.is_lowercase() && next.is_uppercase());
    word.is_empty()
        || has_hump
        || word.contains(['/', '_', '(', '<', '#', '@', '='])
        || word.contains("::")
        || word.chars().any(|letter| letter.is_ascii_digit())
        || word
            .rsplit_once('.')
            .is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty())
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git")
        .current_dir(folder)
        .args(arguments)
        .output()
        .map_err(|error| format!("cannot start git: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!(
            "git {} failed: {}",
            arguments.join(" "),
            said.trim()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_the_place_is_taken_out() {
        let check = |message: &str, after: &str| assert_eq!(redacted(message), after);
        check(
            "sync: fix a leak in `Notify` when notify_waiters races (#1234)\n\nSee tokio/src/sync/notify.rs.",
            "fix a leak in when races See",
        );
        check(
            "Say why Mutex::lock waits\n\nSigned-off-by: A B <a@b>",
            "Say why waits",
        );
        check(
            "fix: the JoinSet drops tasks, e.g. here.",
            "the drops tasks, here.",
        );
    }

    #[test]
    fn a_commit_is_asked_about_where_its_files_were_there() {
        let check = |entry: &str, files: &[&str]| {
            let found = commit(entry).map(|commit| commit.files);
            let files: HashSet<PathBuf> = files.iter().map(PathBuf::from).collect();
            assert_eq!(found.unwrap_or_default(), files);
        };
        check(
            "abc\u{1}wake all tasks that wait here\u{1}\n\nM\ta.rs\nA\tb.rs\n",
            &["a.rs"],
        );
        check(
            "abc\u{1}wake all tasks that wait here\u{1}\n\nA\tb.rs\n",
            &[],
        );
        check("\u{1}wake all tasks that wait here\u{1}\n\nM\ta.rs\n", &[]);
        check("abc\u{1}wake all\u{1}\n\nM\ta.rs\n", &[]);
    }
}
