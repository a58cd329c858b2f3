//! The files of the repository that the checks read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the root folder of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors()
        .nth(2)
        .expect("crates/xtask lies two below the top")
        .to_path_buf()
}

/// A Rust file of the repository, with its path from the root.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Source {
    /// Returns whether the file contains only tests or code that only tests use.
    pub(crate) fn is_test(&self) -> bool {
        let name = &self.name;
        name.ends_with("tests.rs")
            || name.contains("/tests/")
            || name.starts_with("tests/")
            || name.contains("/stories")
            || name.contains("/examples/")
            || name.contains("/benches/")
            || name.starts_with("crates/test_support/")
    }

    /// Returns whether the file is part of a shipped program, or of a chore that generates a part
    /// of one. `replay` simulates users for benchmarks and trainers and is neither.
    pub(crate) fn is_production(&self) -> bool {
        !self.is_test() && !matches!(self.crate_name(), "xtask" | "bench" | "replay")
    }

    /// Returns the folder of the file's crate.
    pub(crate) fn crate_name(&self) -> &str {
        let path = self.name.strip_prefix("crates/").unwrap_or(&self.name);
        path.split('/').next().unwrap_or_default()
    }

    /// Returns the text without the tests in the same file.
    pub(crate) fn product(&self) -> &str {
        let end = self
            .text
            .match_indices("#[cfg(test)]\nmod ")
            .find(|(at, _)| {
                self.text[*at..]
                    .lines()
                    .nth(1)
                    .is_some_and(|line| line.ends_with('{'))
            });
        end.map_or(&self.text, |(at, _)| &self.text[..at])
    }
}

/// Returns every `.rs` file of the repository.
pub(crate) fn sources() -> Vec<Source> {
    let root = root();
    let mut sources = Vec::new();
    for top in ["app", "crates", "tests"] {
        collect(&root, &root.join(top), &mut sources);
    }
    sources
}

/// Returns every file below the given folders of the repository, with its size in bytes.
pub(crate) fn sizes(tops: &[&str]) -> Vec<(String, u64)> {
    fn collect(root: &Path, folder: &Path, found: &mut Vec<(String, u64)>) {
        for path in entries(folder) {
            if path.is_dir() {
                collect(root, &path, found);
            } else if let Ok(metadata) = path.metadata() {
                found.push((relative(root, &path), metadata.len()));
            }
        }
    }
    let root = root();
    let mut found = Vec::new();
    for top in tops {
        collect(&root, &root.join(top), &mut found);
    }
    found
}

fn collect(root: &Path, folder: &Path, sources: &mut Vec<Source>) {
    for path in entries(folder) {
        if path.is_dir() {
            collect(root, &path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("sources are UTF-8");
            let name = relative(root, &path);
            sources.push(Source { name, text });
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    paths.sort();
    paths
}

fn relative(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    path.to_string_lossy().into_owned()
}

/// Compares findings with the allowed ones in `file`, which has one entry `finding: reason` per line. Fails on a
/// finding without an entry, and on an entry without a finding, so that the list shrinks with every fix. The values of
/// `found` are locations. With `BURIN_BLESS=1` the list is rewritten; new entries get `reason`.
pub(crate) fn check_list(file: &str, found: &BTreeMap<String, String>, reason: &str) {
    let path = root().join(file);
    let text = fs::read_to_string(&path).expect("a list of exceptions");
    let entries: BTreeMap<&str, &str> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(": "))
        .collect();
    if std::env::var_os("BURIN_BLESS").is_some() {
        let heading = text.lines().filter(|line| line.starts_with('#'));
        let mut lines: Vec<String> = heading.map(str::to_owned).collect();
        for name in found.keys() {
            let reason = entries.get(name.as_str()).unwrap_or(&reason);
            lines.push(format!("{name}: {reason}"));
        }
        fs::write(&path, lines.join("\n") + "\n").expect("a list of exceptions");
        return;
    }
    let new = found
        .iter()
        .filter(|(name, _)| !entries.contains_key(name.as_str()))
        .map(|(name, place)| format!("new: {name} {place}"));
    let gone = entries
        .keys()
        .filter(|name| !found.contains_key(**name))
        .map(|name| format!("gone, to be removed from the list: {name}"));
    let problems: Vec<String> = new.chain(gone).collect();
    assert!(
        problems.is_empty(),
        "\n{}\nThe exceptions are in {file}; BURIN_BLESS=1 rewrites them.\n",
        problems.join("\n")
    );
}

/// Returns the Markdown documents, with their paths from the root.
pub(crate) fn documents() -> Vec<(String, String)> {
    let root = root();
    let tops = [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
    ];
    let mut paths: Vec<PathBuf> = tops.iter().map(|name| root.join(name)).collect();
    let pages = entries(&root.join("docs")).into_iter();
    paths.extend(pages.filter(|path| path.extension().is_some_and(|it| it == "md")));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("documents are UTF-8");
        (relative(&root, &path), text)
    };
    paths.into_iter().map(read).collect()
}
