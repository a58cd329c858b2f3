//! The files of the repository as tidy sees them.

use std::fs;
use std::path::{Path, PathBuf};

/// The top of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors()
        .nth(2)
        .expect("crates/xtask lies two below the top")
        .to_path_buf()
}

/// A text file of ours, with its path from the top.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Every `.rs` file of ours.
pub(crate) fn sources() -> Vec<Source> {
    let root = root();
    let mut sources = Vec::new();
    for top in ["app", "crates", "tests"] {
        collect(&root, &root.join(top), &mut sources);
    }
    sources
}

/// Every file beneath the given folders of ours, with its size in bytes.
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

/// The Markdown files for people, with their paths from the top.
pub(crate) fn documents() -> Vec<(String, String)> {
    let root = root();
    let mut paths = vec![root.join("README.md"), root.join("ARCHITECTURE.md")];
    paths.extend(entries(&root.join("docs")));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("documents are UTF-8");
        (relative(&root, &path), text)
    };
    paths.into_iter().map(read).collect()
}
