//! The newest commits of a repository, the oldest first, with the project before each.

use std::collections::BTreeMap;
use std::path::Path;

use autocomplete::local::{Corpus, CorpusView, DEFAULT_BYTES};
use base::AbsPath;
use syntax::{Language, language_for};

use crate::blobs::{Blobs, git};
pub(super) use replay::ChangedFile;

/// A commit before it is applied.
pub(super) struct Moment {
    pub(super) view: std::sync::Arc<CorpusView>,
    /// Changed files, in the order of the commit.
    pub(super) files: Vec<ChangedFile>,
}

/// Passes each commit to `make`, with the project before it in the corpus.
pub(super) fn replay(
    repository: &Path,
    commits: usize,
    mut make: impl FnMut(&Moment, &mut Corpus),
) -> Result<(), String> {
    let history = history(repository, commits)?;
    let Some((first, _)) = history.first() else {
        return Ok(());
    };
    let mut blobs = Blobs::of(repository)?;
    let mut corpus = Corpus::new();
    for (path, blob) in tree(repository, &format!("{first}^"))? {
        if language(&path).is_some()
            && let Some(text) = blobs.read(&blob)?
        {
            corpus.insert(&absolute(&path), &text);
        }
    }
    for (_, changes) in &history {
        let files = changed_files(changes, &mut blobs)?;
        corpus.compact(DEFAULT_BYTES);
        let moment = Moment {
            view: corpus.view(),
            files,
        };
        make(&moment, &mut corpus);
        for file in &moment.files {
            corpus.insert(&file.path, &file.new);
        }
    }
    Ok(())
}

/// Passes the changed source files of each commit to `make`.
pub(super) fn each_commit(
    repository: &Path,
    commits: usize,
    mut make: impl FnMut(&[ChangedFile]),
) -> Result<(), String> {
    let mut blobs = Blobs::of(repository)?;
    for (_, changes) in history(repository, commits)? {
        make(&changed_files(&changes, &mut blobs)?);
    }
    Ok(())
}

fn changed_files(changes: &[Change], blobs: &mut Blobs) -> Result<Vec<ChangedFile>, String> {
    let mut files = Vec::new();
    for (path, old, new) in changes {
        let Some(language) = language(path) else {
            continue;
        };
        if let (Some(old), Some(new)) = (blobs.read(old)?, blobs.read(new)?) {
            files.push(ChangedFile {
                path: absolute(path),
                language,
                old,
                new,
            });
        }
    }
    Ok(files)
}

fn absolute(path: &str) -> AbsPath {
    let root = AbsPath::new("/project");
    root.map_or_else(|| unreachable!(), |root| root.join(path))
}

/// Returns the language of a source file; `None` for documents and data.
fn language(path: &str) -> Option<Language> {
    let language = language_for(Path::new(path), "")?;
    const CODE: [&str; 11] = [
        "Rust",
        "Python",
        "TypeScript",
        "TSX",
        "JavaScript",
        "C",
        "C++",
        "Go",
        "Java",
        "Ruby",
        "Lua",
    ];
    CODE.contains(&language.name()).then_some(language)
}

/// A changed file: its path, the blob before and the blob after.
type Change = (String, String, String);

/// Returns the newest commits that change files, the oldest first.
fn history(repository: &Path, commits: usize) -> Result<Vec<(String, Vec<Change>)>, String> {
    let output = git(repository)
        .args([
            "log",
            "--no-merges",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            "--diff-filter=M",
        ])
        .args(["--format=commit %H", "-n", &commits.to_string()])
        .output()
        .map_err(|error| format!("cannot start git: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut history: Vec<(String, Vec<Change>)> = Vec::new();
    for line in text.lines() {
        if let Some(commit) = line.strip_prefix("commit ") {
            history.push((commit.to_owned(), Vec::new()));
        } else if let Some((head, path)) = line.strip_prefix(':').and_then(|it| it.split_once('\t'))
        {
            let words: Vec<&str> = head.split(' ').collect();
            if let ([_, _, old, new, ..], Some((_, changes))) =
                (words.as_slice(), history.last_mut())
            {
                changes.push((path.to_owned(), (*old).to_owned(), (*new).to_owned()));
            }
        }
    }
    history.reverse();
    Ok(history)
}

/// Returns the files of a tree with their blobs, by path: suggestions depend on the order in which the corpus gets files.
fn tree(repository: &Path, commit: &str) -> Result<BTreeMap<String, String>, String> {
    let output = git(repository)
        .args(["ls-tree", "-r", commit])
        .output()
        .map_err(|error| format!("cannot start git: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let entry = |line: &str| {
        let (head, path) = line.split_once('\t')?;
        let blob = head.split(' ').nth(2)?;
        Some((path.to_owned(), blob.to_owned()))
    };
    Ok(text.lines().filter_map(entry).collect())
}
