//! Input of benchmarks: real source trees that are already on the machine.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns a large tree of real sources: `BURIN_CORPUS`, or cargo's registry, which holds the
/// sources of Burin's dependencies.
pub(crate) fn root() -> Result<PathBuf, String> {
    if let Some(folder) = std::env::var_os("BURIN_CORPUS") {
        return Ok(folder.into());
    }
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo = cargo.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let sources = cargo.map(|cargo| cargo.join("registry/src"));
    match sources {
        Some(folder) if folder.is_dir() => Ok(folder),
        _ => Err("set BURIN_CORPUS to a folder with a few thousand source files".to_owned()),
    }
}

/// Returns a Rust text of about `lines` lines, joined from real files of the corpus.
pub(crate) fn rust_file(lines: usize) -> Result<String, String> {
    let root = root()?;
    let mut paths = Vec::new();
    collect(&root, "rs", &mut paths);
    paths.sort();
    let mut text = String::new();
    let mut count = 0;
    for path in paths {
        let Ok(file) = std::fs::read_to_string(&path) else {
            continue;
        };
        // People do not edit files with very long lines or generated tables.
        if file.lines().any(|line| line.len() > 200) {
            continue;
        }
        count += file.lines().count();
        text.push_str(&file);
        text.push('\n');
        if count >= lines {
            return Ok(text);
        }
    }
    Err(format!(
        "{} holds only {count} lines of Rust",
        root.display()
    ))
}

/// Adds the files below a folder whose names have this extension.
pub(crate) fn collect(folder: &Path, extension: &str, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, extension, paths);
        } else if path.extension().is_some_and(|it| it == extension) {
            paths.push(path);
        }
    }
}

/// Fails with advice on how to install `program` if it is missing.
pub(crate) fn need(program: &str, install: &str) -> Result<(), String> {
    match Command::new(program).arg("--version").output() {
        Ok(_) => Ok(()),
        Err(_) => Err(format!(
            "the peer {program} is missing; install it with: {install}"
        )),
    }
}

/// Builds one of our packages in the release profile.
pub(crate) fn build(package: &str) -> Result<(), String> {
    build_with(package, &["--bins"])
}

/// Like `build`, with these targets of the package.
pub(crate) fn build_with(package: &str, targets: &[&str]) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--release", "--package", package])
        .args(targets)
        .status()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("cannot build {package}"))
    }
}
