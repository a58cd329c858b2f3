//! What in a git folder decides what git runs.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::bytes::{content, entries, open_folder, state};
use super::walk::{MOST_MARKS, all_of, below, unseen};
use super::{Mark, Marks, State, Way, index};
use crate::names::{GIT_CONTROL, GIT_WATCHED, is_git};

/// Modules of modules and so on; deeper ones are said to be unseen.
const DEEPEST: usize = 16;
/// Longest index that is read.
const LONGEST_INDEX: i64 = 256 << 20;

/// Whether these are what git takes for a repository without a folder around it.
pub(super) fn is_bare(entries: &[(&OsStr, FileType)]) -> bool {
    let has = |wanted: &str| {
        entries
            .iter()
            .any(|(name, _)| name.as_bytes().eq_ignore_ascii_case(wanted.as_bytes()))
    };
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

/// Whether a file of this name can be part of such a repository.
pub(super) fn makes_bare(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name.eq_ignore_ascii_case(b"HEAD") || name.eq_ignore_ascii_case(b"commondir")
}

/// Looks at a git folder, and at those of its modules and worktrees.
pub(super) fn look(folder: &OwnedFd, path: &Path, marks: &mut Marks, depth: usize) {
    if depth > DEEPEST || marks.len() >= MOST_MARKS {
        return unseen(path, marks);
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

/// Looks at what of a git folder says where more objects lie.
pub(super) fn look_at_objects(folder: &OwnedFd, marks: &mut Marks) {
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
            Err(_) => return unseen(path, marks),
        },
    };
    let here = path.join(name);
    let last = OsStr::new(last);
    let way = way(name);
    match (way, content(&above, last, 1 << 20)) {
        (_, Err(Errno::NOENT)) => {}
        (Way::Drivers, Ok(Some(text))) => hold(here, way, drivers(&text), marks),
        (_, Ok(Some(_))) => match state(&above, last) {
            Ok(state) => {
                marks.insert(here, Mark { way, state });
            }
            Err(_) => unseen(&here, marks),
        },
        // A folder, a link or something stranger.
        (_, Ok(None) | Err(_)) => match (way, open_folder(&above, last)) {
            (Way::Rebase, Ok(inner)) => rebase(&inner, &here, marks),
            (_, Ok(inner)) => {
                all_of(inner, &here, way, marks, &is_sample, 0);
            }
            (_, Err(_)) => match state(&above, last) {
                Ok(state) => {
                    marks.insert(here, Mark { way, state });
                }
                Err(_) => unseen(&here, marks),
            },
        },
    }
}

fn way(name: &str) -> Way {
    match name {
        "config" | "config.worktree" | "remotes" | "branches" => Way::Config,
        "hooks" | "lfs/hooks" => Way::Hook,
        "info/attributes" => Way::Drivers,
        "rebase-merge" | "rebase-apply" | "sequencer" => Way::Rebase,
        _ => Way::Layout,
    }
}

fn hold(path: std::path::PathBuf, way: Way, bytes: Vec<u8>, marks: &mut Marks) {
    if !bytes.is_empty() {
        let state = State::Holds(bytes);
        marks.insert(path, Mark { way, state });
    }
}

pub(super) fn is_sample(name: &OsStr) -> bool {
    name.as_bytes().ends_with(b".sample")
}

/// A folder in a git folder; `None` when there is none. A link in its place is a mark of its own.
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
                    let way = Way::Layout;
                    marks.insert(here, Mark { way, state });
                }
                return None;
            }
        }
    }
    Some(held)
}

/// Git folders in a folder, some of them under names with slashes.
fn each_of(folder: &OwnedFd, path: &Path, marks: &mut Marks, depth: usize) {
    let Ok(entries) = entries(folder) else {
        return unseen(path, marks);
    };
    let of_git = ["config", "HEAD", "commondir", "gitdir"];
    for entry in entries {
        let path = path.join(&entry.name);
        match open_folder(folder, &entry.name) {
            Ok(inner) => {
                let is_git = of_git
                    .iter()
                    .any(|name| super::bytes::stat(&inner, OsStr::new(name)).is_ok());
                match is_git {
                    true => look(&inner, &path, marks, depth + 1),
                    false if depth < DEEPEST => each_of(&inner, &path, marks, depth + 1),
                    false => unseen(&path, marks),
                }
            }
            Err(Errno::NOTDIR | Errno::NOENT) if entry.kind != FileType::Symlink => {}
            Err(_) => unseen(&path, marks),
        }
    }
}

/// The lines of a rebase that run commands.
fn rebase(folder: &OwnedFd, path: &Path, marks: &mut Marks) {
    for name in ["git-rebase-todo", "todo"] {
        let Ok(Some(text)) = content(folder, OsStr::new(name), 4 << 20) else {
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
        hold(path.join(name), Way::Rebase, commands.join(&b'\n'), marks);
    }
}

/// The drivers that attributes name, sorted, a line each.
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
    match content(folder, OsStr::new("index"), LONGEST_INDEX) {
        Err(_) => {}
        Ok(None) => unseen(&path.join("index"), marks),
        Ok(Some(bytes)) => match index::gitlinks(&bytes) {
            Some(links) => {
                // Where the link stands in the files, or, for a git folder that lies elsewhere, in the index.
                let root = match path.file_name() {
                    Some(name) if is_git(name) => path.parent().unwrap_or(path).to_owned(),
                    _ => path.join("index"),
                };
                for link in links {
                    let way = Way::Gitlink;
                    let state = State::There;
                    let mark = Mark { way, state };
                    marks.entry(below(&root, &link)).or_insert(mark);
                }
            }
            None => unseen(&path.join("index"), marks),
        },
    }
}
