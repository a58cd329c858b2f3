//! What git ignores and work needs: build folders seen copy-on-write, and files that a project names to be copied.
//!
//! Limits: where an overlay is used, the lower layer is the checkout's live folder. Files that somebody writes there
//! may be seen changed in a lease until it has written them itself.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use base::AbsPath;
use git::lease::Hub;
use globset::{GlobBuilder, GlobMatcher};
use rustix::fs::FileType;
use serde::{Deserialize, Serialize};

use crate::beneath::{Beneath, Held};
use crate::error::Error;
use crate::fill::{as_path, make_folder};
use crate::mount::{self, Layers};
use crate::rung::Rung;
use crate::settings::Settings;
use crate::sweep;

/// Something ignored that came along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shared {
    /// Its name from the top.
    pub path: String,
    /// How it came, or why it did not.
    pub way: Way,
}

/// How something ignored came along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// An overlay over the checkout's folder.
    Overlay,
    /// Its files were cloned.
    Reflink,
    /// It was copied.
    Copy,
    /// It did not, for this reason.
    LeftOut(String),
}

/// What is to come along into each lease.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    folders: Vec<String>,
    files: Vec<PathBuf>,
    limit: u64,
}

/// The name of the file in which a project lists ignored files that its worktrees need, in the words of `.gitignore`.
const INCLUDE: &str = ".worktreeinclude";
/// Ignored folders are looked through for named files up to so many entries.
const MOST: usize = 5000;
/// Larger files are not copied for being named: in bytes.
const LARGEST: u64 = 64 << 20;

impl Plan {
    pub(crate) fn new(hub: &Hub, base_tree: &Path, settings: &Settings) -> Self {
        let root = hub.workdir();
        let is_shared = |name: &&String| {
            let path = Path::new(name.as_str());
            let is_below = path
                .components()
                .all(|part| matches!(part, std::path::Component::Normal(_)));
            let is_folder = fs::symlink_metadata(root.join(path)).is_ok_and(|found| found.is_dir());
            is_below && is_folder && !base_tree.join(path).exists() && hub.is_ignored(path)
        };
        let folders: Vec<String> = settings.shared.iter().filter(is_shared).cloned().collect();
        let files = match Beneath::open(root.as_path()) {
            Ok(beneath) => included(&beneath, hub, &settings.shared),
            Err(_) => Vec::new(),
        };
        Self {
            folders,
            files,
            limit: settings.shared_limit,
        }
    }

    /// Makes the folders on which overlays will be mounted, in the upper layer of a tree that is not mounted yet.
    pub(crate) fn prepare(&self, upper_tree: &Path) -> Result<(), Error> {
        for folder in &self.folders {
            let path = upper_tree.join(folder);
            fs::create_dir_all(&path).map_err(Error::file("create", &path))?;
        }
        Ok(())
    }

    /// Brings everything into the lease in `lease`, whose tree is at `root`.
    pub(crate) fn apply(
        &self,
        hub: &AbsPath,
        lease: &Path,
        root: &Path,
        rung: Rung,
        by_user: bool,
    ) -> Result<Vec<Shared>, Error> {
        let mut shared = Vec::new();
        for (ix, folder) in self.folders.iter().enumerate() {
            let from = hub.join(folder);
            let way = match rung {
                Rung::Overlay => overlay(from.as_path(), lease, ix, &root.join(folder), by_user),
                rung => self.repeat(from.as_path(), &root.join(folder), rung),
            };
            shared.push(Shared {
                path: folder.clone(),
                way: way.unwrap_or_else(|error| Way::LeftOut(error.to_string())),
            });
        }
        if self.files.is_empty() {
            return Ok(shared);
        }
        let from = Beneath::open(hub.as_path()).map_err(Error::file("open", hub.as_path()))?;
        let to = Beneath::open(root).map_err(Error::file("open", root))?;
        for file in &self.files {
            let copied = from.held(file, LARGEST).and_then(|held| match held {
                Held::File(..) | Held::Link(_) => to.put(file, &held),
                _ => Err(std::io::Error::other("it is no longer a file")),
            });
            shared.push(Shared {
                path: file.to_string_lossy().into_owned(),
                way: match copied {
                    Ok(()) => Way::Copy,
                    Err(error) => Way::LeftOut(error.to_string()),
                },
            });
        }
        Ok(shared)
    }

    fn repeat(&self, from: &Path, to: &Path, rung: Rung) -> Result<Way, Error> {
        let size = sweep::size(from);
        if rung != Rung::Reflink && size > self.limit {
            return Ok(Way::LeftOut(format!(
                "it has {} MiB, and at most {} MiB are copied; it will be built anew",
                size >> 20,
                self.limit >> 20
            )));
        }
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(Error::file("create", parent))?;
        }
        copy_folder(from, to, rung == Rung::Reflink)?;
        Ok(match rung {
            Rung::Reflink => Way::Reflink,
            _ => Way::Copy,
        })
    }
}

/// Mounts the shared folders of a lease again.
pub(crate) fn mount_again(
    shared: &[Shared],
    hub: &AbsPath,
    lease: &Path,
    root: &Path,
    by_user: bool,
) -> Vec<String> {
    let mut problems = Vec::new();
    for (ix, folder) in shared
        .iter()
        .enumerate()
        .filter(|(_, shared)| shared.way == Way::Overlay)
    {
        let from = hub.join(&folder.path);
        let at = root.join(&folder.path);
        if mount::is_mounted(&at) {
            continue;
        }
        if let Err(error) = overlay(from.as_path(), lease, ix, &at, by_user) {
            problems.push(format!("{} is not shared any more: {error}", folder.path));
        }
    }
    problems
}

fn overlay(from: &Path, lease: &Path, ix: usize, at: &Path, by_user: bool) -> Result<Way, Error> {
    let own = lease.join("shared").join(ix.to_string());
    let (upper, work) = (own.join("upper"), own.join("work"));
    for folder in [&upper, &work] {
        fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
    }
    let layers = Layers {
        lower: &[from],
        upper: &upper,
        work: &work,
    };
    mount::overlay(layers, at, by_user).map_err(Error::file("share", from))?;
    Ok(Way::Overlay)
}

fn copy_folder(from: &Path, to: &Path, is_clone: bool) -> Result<(), Error> {
    make_folder(to)?;
    for entry in fs::read_dir(from).map_err(Error::file("read", from))? {
        let entry = entry.map_err(Error::file("read", from))?;
        let (old, new) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(Error::file("look at", &old))?;
        if kind.is_dir() {
            copy_folder(&old, &new, is_clone)?;
        } else if kind.is_symlink() {
            let target = fs::read_link(&old).map_err(Error::file("read", &old))?;
            std::os::unix::fs::symlink(target, &new).map_err(Error::file("write", &new))?;
        } else if kind.is_file() {
            copy_file(&old, &new, is_clone).map_err(Error::file("copy", &old))?;
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path, is_clone: bool) -> std::io::Result<()> {
    // Builds go by times.
    let old = fs::File::open(from)?;
    let found = old.metadata()?;
    if is_clone {
        let new = fs::File::create(to)?;
        rustix::fs::ioctl_ficlone(&new, &old)?;
        new.set_permissions(found.permissions())?;
        return new.set_modified(found.modified()?);
    }
    fs::copy(from, to)?;
    fs::File::options()
        .append(true)
        .open(to)?
        .set_modified(found.modified()?)
}

/// The ignored files that the project's list names.
fn included(root: &Beneath, hub: &Hub, shared: &[String]) -> Vec<PathBuf> {
    let Ok(Some(text)) = root.read(Path::new(INCLUDE), 1 << 20) else {
        return Vec::new();
    };
    let patterns = patterns(&String::from_utf8_lossy(&text));
    // Takes as long as a status: only projects with such a list pay for it.
    let mut waiting: VecDeque<(PathBuf, bool)> = hub
        .ignored()
        .iter()
        .map(|(path, is_folder)| (as_path(path).to_path_buf(), *is_folder))
        .collect();
    let mut found = Vec::new();
    let mut seen = 0;
    while let Some((path, is_folder)) = waiting.pop_front() {
        seen += 1;
        let is_build = shared.iter().any(|name| path.starts_with(name));
        if seen > MOST || is_build {
            continue;
        }
        if !is_folder {
            if is_named(&patterns, &path) {
                found.push(path);
            }
            continue;
        }
        let inner = root
            .folder(&path)
            .and_then(|folder| crate::beneath::names(&folder));
        for (name, kind) in inner.into_iter().flatten() {
            waiting.push_back((
                path.join(as_path(name.as_bytes())),
                kind == FileType::Directory,
            ));
        }
    }
    found.sort();
    found
}

struct Pattern {
    glob: GlobMatcher,
    is_negated: bool,
}

fn patterns(text: &str) -> Vec<Pattern> {
    let lines = text
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let (line, is_negated) = match line.strip_prefix('!') {
                Some(rest) => (rest, true),
                None => (line, false),
            };
            let line = line.strip_suffix('/').unwrap_or(line);
            let glob = match line.strip_prefix('/') {
                Some(anchored) => anchored.to_owned(),
                None if line.contains('/') => line.to_owned(),
                None => format!("**/{line}"),
            };
            let glob = GlobBuilder::new(&glob)
                .literal_separator(true)
                .build()
                .ok()?;
            Some(Pattern {
                glob: glob.compile_matcher(),
                is_negated,
            })
        })
        .collect()
}

/// The last pattern that names the file, or a folder above it, decides.
fn is_named(patterns: &[Pattern], path: &Path) -> bool {
    let mut above = path.ancestors().filter(|path| !path.as_os_str().is_empty());
    let names: Vec<_> = above.by_ref().collect();
    let last = patterns
        .iter()
        .rev()
        .find(|pattern| names.iter().any(|name| pattern.glob.is_match(name)));
    last.is_some_and(|pattern| !pattern.is_negated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_like_gitignore() {
        let check = |list: &str, path: &str, named: bool| {
            assert_eq!(
                is_named(&patterns(list), Path::new(path)),
                named,
                "{list:?} {path}"
            );
        };
        check(".env", ".env", true);
        check(".env", "deep/.env", true);
        check("/.env", "deep/.env", false);
        check(".env*\n!.env.example", ".env.local", true);
        check(".env*\n!.env.example", ".env.example", false);
        check("# .env\n\n", ".env", false);
        check("config/", "config/a/b.json", true);
        check("config/*.json", "config/a/b.json", false);
        check("config/*.json", "config/b.json", true);
    }
}
