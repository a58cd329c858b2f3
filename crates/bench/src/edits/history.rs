//! Real edits from git histories.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::truth::Edit;
use crate::blobs::{Blobs, git};

/// The repositories of `BURIN_REPOS`, separated by colons.
pub(super) fn repositories() -> Result<Vec<PathBuf>, String> {
    let Some(list) = std::env::var_os("BURIN_REPOS") else {
        return Err(
            "set BURIN_REPOS to git repositories with full histories, separated by colons, such as \
             clones of BurntSushi/ripgrep, tokio-rs/tokio, pytest-dev/pytest, vitejs/vite and \
             gohugoio/hugo"
                .to_owned(),
        );
    };
    let repositories: Vec<PathBuf> = std::env::split_paths(&list).collect();
    for repository in &repositories {
        if !repository.is_dir() {
            return Err(format!("there is no repository {}", repository.display()));
        }
    }
    Ok(repositories)
}

/// Blob ids of two versions of one file.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Pair {
    pub(super) path: String,
    old: String,
    new: String,
}

/// Returns the changes of single files, newest first.
pub(super) fn pairs(repository: &Path) -> Result<Vec<Pair>, String> {
    let output = git(repository)
        .args([
            "log",
            "--no-merges",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            "--diff-filter=M",
            "--format=",
        ])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start git: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut seen = HashSet::new();
    let pairs = text.lines().filter_map(|line| {
        // `:100644 100644 OLD NEW M<tab>PATH`
        let (head, path) = line.strip_prefix(':')?.split_once('\t')?;
        let mut words = head.split(' ');
        let is_file = words.next()?.starts_with("100") && words.next()?.starts_with("100");
        let (old, new) = (words.next()?.to_owned(), words.next()?.to_owned());
        let is_plain = is_file && !path.starts_with('"');
        is_plain.then(|| Pair {
            path: path.to_owned(),
            old,
            new,
        })
    });
    Ok(pairs.filter(|pair| seen.insert(pair.clone())).collect())
}

/// Returns the edit if both versions are text of a suitable size.
pub(super) fn edit(blobs: &mut Blobs, pair: &Pair) -> Result<Option<Edit>, String> {
    let (old, new) = (blobs.read(&pair.old)?, blobs.read(&pair.new)?);
    Ok(old.zip(new).map(|(old, new)| Edit {
        path: pair.path.clone(),
        old,
        new,
    }))
}
