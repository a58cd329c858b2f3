//! Finds the entries of a git folder that decide which programs git runs.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use host::no_follow::{self, entries, open_folder, read_file};
use rustix::fs::FileType;
use rustix::io::Errno;

use super::entry_state::state;
use super::walk::{MAX_MARKS, all_of, join_bytes, mark_unreadable};
use super::{FindingKind, MarkState, Marks, ScanMark, index};
use crate::names::{GIT_CONTROL, GIT_WATCHED, is_git};

/// Maximum depth of nested modules; deeper ones are reported as unseen.
const MAX_DEPTH: usize = 16;
/// Maximum size of an index that is read, in bytes.
const MAX_INDEX_BYTES: u64 = 256 << 20;

/// Returns whether these entries make git treat a folder as a bare repository.
pub(super) fn is_bare(entries: &[(&OsStr, FileType)]) -> bool {
    let has = |wanted: &str| {
        entries
            .iter()
            .any(|(name, _)| name.as_bytes().eq_ignore_ascii_case(wanted.as_bytes()))
    };
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

/// Returns whether a file of this name can be part of such a repository.
pub(super) fn makes_bare(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name.eq_ignore_ascii_case(b"HEAD") || name.eq_ignore_ascii_case(b"commondir")
}

/// Scans a git folder, and those of its modules and worktrees.
pub(super) fn scan_git_folder(folder: &OwnedFd, path: &Path, marks: &mut Marks, depth: usize) {
    if depth > MAX_DEPTH || marks.len() >= MAX_MARKS {
        return mark_unreadable(path, marks);
    }
    for name in GIT_CONTROL.iter().chain(GIT_WATCHED) {
        match *name {
            "modules" | "worktrees" => {
                if let Some(inner) = folder_of(folder, path, name, marks) {
                    each_of(&inner, &path.join(name), marks, depth);
                }
            }
            name => one(folder, path, name, marks),
        }
    }
    gitlinks(folder, path, marks);
}

/// Scans the files of a git folder that locate further objects.
pub(super) fn scan_objects(folder: &OwnedFd, marks: &mut Marks) {
    for name in GIT_CONTROL
        .iter()
        .filter(|name| name.starts_with("objects/"))
    {
        one(folder, Path::new(""), name, marks);
    }
}

fn one(folder: &OwnedFd, path: &Path, name: &str, marks: &mut Marks) {
    let (above, last) = match name.rsplit_once('/') {
        Some((above, last)) => match folder_of(folder, path, above, marks) {
            Some(inner) => (inner, last),
            None => return,
        },
        None => match folder.try_clone() {
            Ok(folder) => (folder, name),
            Err(_) => return mark_unreadable(path, marks),
        },
    };
    let here = path.join(name);
    let last = OsStr::new(last);
    let way = kind_of(name);
    match (way, read_file(&above, last, 1 << 20)) {
        (_, Err(Errno::NOENT)) => {}
        (FindingKind::Drivers, Ok(Some(text))) => add_bytes(here, way, drivers(&text), marks),
        (_, Ok(Some(_))) => match state(&above, last) {
            Ok(state) => {
                marks.insert(here, ScanMark { kind: way, state });
            }
            Err(_) => mark_unreadable(&here, marks),
        },
        // A folder, a link or another special file.
        (_, Ok(None) | Err(_)) => match (way, open_folder(&above, last)) {
            (FindingKind::Rebase, Ok(inner)) => rebase(&inner, &here, marks),
            (_, Ok(inner)) => {
                all_of(inner, &here, way, marks, &is_sample, 0);
            }
            (_, Err(_)) => match state(&above, last) {
                Ok(state) => {
                    marks.insert(here, ScanMark { kind: way, state });
                }
                Err(_) => mark_unreadable(&here, marks),
            },
        },
    }
}

fn kind_of(name: &str) -> FindingKind {
    match name {
        "config" | "config.worktree" | "remotes" | "branches" => FindingKind::Config,
        "hooks" | "lfs/hooks" => FindingKind::Hook,
        "info/attributes" => FindingKind::Drivers,
        "rebase-merge" | "rebase-apply" | "sequencer" => FindingKind::Rebase,
        _ => FindingKind::Layout,
    }
}

fn add_bytes(path: std::path::PathBuf, way: FindingKind, bytes: Vec<u8>, marks: &mut Marks) {
    if !bytes.is_empty() {
        let state = MarkState::Bytes(bytes);
        marks.insert(path, ScanMark { kind: way, state });
    }
}

/// Returns whether a name ends in `.sample`, as hooks do that git does not run.
pub(super) fn is_sample(name: &OsStr) -> bool {
    name.as_bytes().ends_with(b".sample")
}

/// Opens a folder in a git folder; returns `None` if there is none. A link in its place is a mark
/// itself.
fn folder_of(folder: &OwnedFd, path: &Path, name: &str, marks: &mut Marks) -> Option<OwnedFd> {
    let mut held = folder.try_clone().ok()?;
    let mut here = path.to_owned();
    for part in name.split('/') {
        here.push(part);
        match open_folder(&held, OsStr::new(part)) {
            Ok(inner) => held = inner,
            Err(Errno::NOENT) => return None,
            Err(_) => {
                if let Ok(state) = state(&held, OsStr::new(part)) {
                    let way = FindingKind::Layout;
                    marks.insert(here, ScanMark { kind: way, state });
                }
                return None;
            }
        }
    }
    Some(held)
}

/// Scans the git folders in a folder, some of them under names with slashes.
fn each_of(folder: &OwnedFd, path: &Path, marks: &mut Marks, depth: usize) {
    let Ok(entries) = entries(folder) else {
        return mark_unreadable(path, marks);
    };
    let of_git = ["config", "HEAD", "commondir", "gitdir"];
    for entry in entries {
        let path = path.join(&entry.name);
        match open_folder(folder, &entry.name) {
            Ok(inner) => {
                let is_git = of_git
                    .iter()
                    .any(|name| no_follow::stat(&inner, OsStr::new(name)).is_ok());
                if is_git {
                    scan_git_folder(&inner, &path, marks, depth + 1)
                } else if depth < MAX_DEPTH {
                    each_of(&inner, &path, marks, depth + 1)
                } else {
                    mark_unreadable(&path, marks)
                }
            }
            Err(Errno::NOTDIR | Errno::NOENT) if entry.kind != FileType::Symlink => {}
            Err(_) => mark_unreadable(&path, marks),
        }
    }
}

/// Marks the lines of a rebase that run commands.
fn rebase(folder: &OwnedFd, path: &Path, marks: &mut Marks) {
    for name in ["git-rebase-todo", "todo"] {
        let Ok(Some(text)) = read_file(folder, OsStr::new(name), 4 << 20) else {
            continue;
        };
        let is_command = |line: &&[u8]| {
            let word = line
                .trim_ascii_start()
                .split(u8::is_ascii_whitespace)
                .next();
            matches!(word, Some(b"exec" | b"x"))
        };
        let commands: Vec<&[u8]> = text
            .split(|byte| *byte == b'\n')
            .filter(is_command)
            .collect();
        add_bytes(
            path.join(name),
            FindingKind::Rebase,
            commands.join(&b'\n'),
            marks,
        );
    }
}

/// Returns the drivers that attributes name, sorted, one per line.
pub(super) fn drivers(text: &[u8]) -> Vec<u8> {
    let mut found: BTreeSet<&[u8]> = BTreeSet::new();
    for line in text.split(|byte| *byte == b'\n') {
        let words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        for word in words.skip(1) {
            let names_one = [&b"filter="[..], b"diff=", b"merge="]
                .iter()
                .any(|start| word.starts_with(start));
            if names_one {
                found.insert(word);
            }
        }
    }
    found.into_iter().collect::<Vec<_>>().join(&b'\n')
}

fn gitlinks(folder: &OwnedFd, path: &Path, marks: &mut Marks) {
    match read_file(folder, OsStr::new("index"), MAX_INDEX_BYTES) {
        Err(_) => {}
        Ok(None) => mark_unreadable(&path.join("index"), marks),
        Ok(Some(bytes)) => match index::gitlinks(&bytes) {
            Some(links) => {
                // The submodule's path in the workspace or, for a git folder that lies elsewhere,
                // in the index.
                let root = match path.file_name() {
                    Some(name) if is_git(name) => path.parent().unwrap_or(path).to_owned(),
                    _ => path.join("index"),
                };
                for link in links {
                    let way = FindingKind::Gitlink;
                    let state = MarkState::Present;
                    let mark = ScanMark { kind: way, state };
                    marks.entry(join_bytes(&root, &link)).or_insert(mark);
                }
            }
            None => mark_unreadable(&path.join("index"), marks),
        },
    }
}
