//! A prepared Git index of a base, in which Git has recorded that all files are as committed and
//! which folders hold untracked files. With it and a file system monitor, the first `git status` in
//! a lease examines no other file.
//!
//! Git itself makes it, once per base. Its untracked cache names the worktree it was made for
//! (gitformat-index(5), "Untracked cache"), so every lease gets its own copy, in memory: as large
//! as the index, 100 bytes per file. It is in a layer between the base and the lease and ends with
//! the mount; an index that Git writes goes to the lease.
//! Invariant: if anything about it is unexpected, it is not used, and the lease starts with the
//! base's index.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use host::environment::{Recipient, variables};
use sha1_smol::Sha1;

use crate::dir_tree;
use crate::error::Error;
use crate::fill::make_folder;
use crate::git_dir::{self, OwnGitFiles};
use crate::mount::{self, OverlayLayers};

/// The prefix by which Git's untracked cache names a worktree.
const LOCATION: &[u8] = b"Location ";
const SYSTEM: &[u8] = b", system Linux";
/// Space reserved for the worktree's name, in bytes: longer than any path.
const LOCATION_BYTES: usize = 4200;
/// Length of the hash at the end of an index, in bytes.
const HASH_BYTES: usize = 20;
/// The first Git version that accepts names of folders from its monitor.
const MIN_GIT_VERSION: (u32, u32) = (2, 37);

/// The index, ready to be adapted to any lease of its base.
pub(crate) struct WarmIndex {
    content: Vec<u8>,
    /// Offset of the worktree's name, which has `PLACE` bytes.
    place: usize,
    /// The hash of all bytes before it.
    hash: Sha1,
}

impl std::fmt::Debug for WarmIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WarmIndex").finish_non_exhaustive()
    }
}

/// The path of a base's warm index, beside its layer.
fn file(base: &Path) -> PathBuf {
    base.join("warm-index")
}

impl WarmIndex {
    /// Loads the warm index of the base in the folder `base`, if it has one.
    pub(crate) fn load(base: &Path) -> Option<Self> {
        let content = fs::read(file(base)).ok()?;
        let (place, _) = find_location(&content).filter(|(_, length)| *length == LOCATION_BYTES)?;
        let mut hash = Sha1::new();
        hash.update(&content[..place]);
        let warm = Self {
            content,
            place,
            hash,
        };
        let end = warm.content.len().checked_sub(HASH_BYTES)?;
        let is_whole = warm.hash_to(&warm.content[..end]) == warm.content[end..];
        is_whole.then_some(warm)
    }

    /// Makes Git create the warm index of the base in `base`, in a tree mounted in the folder
    /// `trial`. `own` is that of a lease; `config` makes its config for an upper layer. There may
    /// be none afterwards.
    pub(crate) fn make(
        base: &Path,
        trial: &Path,
        own: &OwnGitFiles<'_>,
        config: &dyn Fn(&Path) -> String,
        by_user: bool,
    ) -> Result<(), Error> {
        if !is_known_git() {
            return Ok(());
        }
        dir_tree::remove_all(trial).map_err(Error::file("clear", trial))?;
        make_folder(trial)?;
        let made = build_index(trial, base, own, config, by_user);
        mount::detach_below(trial).map_err(Error::file("unmount below", trial))?;
        dir_tree::remove_all(trial).map_err(Error::file("clear", trial))?;
        match made?.as_deref().and_then(widen_location) {
            Some(content) => {
                let path = file(base);
                fs::write(&path, content).map_err(Error::file("write", &path))
            }
            None => Ok(()),
        }
    }

    /// Mounts a layer with the index for the worktree `root` at `at`. The caller detaches it once an
    /// overlay uses it.
    pub(crate) fn mount_layer(&self, at: &Path, root: &Path) -> io::Result<()> {
        let content = self.for_worktree(root)?;
        match fs::create_dir(at) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let size = content.len() + (256 << 10);
        mount::memory(at, size)?;
        fs::create_dir(at.join("git"))?;
        fs::write(at.join("git/index"), content)
    }

    /// Returns the index with the name of the worktree `root` in it. Fails if neither `root` nor
    /// its parent exists, or if the name is too long.
    fn for_worktree(&self, root: &Path) -> io::Result<Vec<u8>> {
        let root = root.canonicalize().or_else(|_| {
            // It is not mounted yet, but its parent exists.
            let name = root.file_name().unwrap_or_default();
            let parent = root.parent().unwrap_or(root);
            parent.canonicalize().map(|parent| parent.join(name))
        })?;
        let name = location_entry(&root).ok_or(io::ErrorKind::InvalidFilename)?;
        let end = self.content.len() - HASH_BYTES;
        let mut content = self.content.clone();
        content[self.place..self.place + LOCATION_BYTES].copy_from_slice(&name);
        let hash = self.hash_to(&content[..end]);
        content[end..].copy_from_slice(&hash);
        Ok(content)
    }

    /// The hash of an index that equals ours up to the worktree's name.
    fn hash_to(&self, content: &[u8]) -> [u8; HASH_BYTES] {
        let mut hash = self.hash.clone();
        hash.update(&content[self.place..]);
        hash.digest().bytes()
    }
}

/// Mounts the base with an empty layer, runs `git status` until Git has recorded everything, and
/// reads the index.
fn build_index(
    trial: &Path,
    base: &Path,
    own: &OwnGitFiles<'_>,
    config: &dyn Fn(&Path) -> String,
    by_user: bool,
) -> Result<Option<Vec<u8>>, Error> {
    let folder = |name: &str| trial.join(name);
    for name in ["upper", "upper/git", "upper/tree", "work", "mnt"] {
        make_folder(&folder(name))?;
    }
    let own = OwnGitFiles {
        config: &config(&folder("upper/tree")),
        ..*own
    };
    git_dir::write_own(&folder("upper/git"), &own)?;
    let layer = base.join("layer");
    let layers = OverlayLayers {
        lower: &[layer.as_path()],
        upper: &folder("upper"),
        work: &folder("work"),
    };
    let mnt = folder("mnt");
    mount::overlay(layers, &mnt, by_user).map_err(Error::file("mount", &mnt))?;
    for _ in 0..2 {
        // Any output for an untouched tree means that this base cannot have a warm index.
        if status(&mnt.join("tree")) != Some(Vec::new()) {
            return Ok(None);
        }
    }
    Ok(fs::read(folder("upper/git/index")).ok())
}

/// Returns the output of `git status --porcelain` in a tree; `None` if Git cannot be run, fails or
/// writes to standard error.
fn status(tree: &Path) -> Option<Vec<u8>> {
    let mut git = Command::new("git");
    git.env_clear().envs(usual_variables());
    git.arg("-C").arg(tree).args(["status", "--porcelain"]);
    let done = git.stdin(Stdio::null()).output().ok()?;
    (done.status.success() && done.stderr.is_empty()).then_some(done.stdout)
}

/// The environment for Git, without variables that select a repository.
fn usual_variables() -> impl Iterator<Item = (OsString, OsString)> {
    let ours = variables(Recipient::Personal).into_iter();
    ours.filter(|(name, _)| !name.as_bytes().starts_with(b"GIT_"))
}

/// Whether Git is installed and accepts names of folders from a monitor.
fn is_known_git() -> bool {
    let mut git = Command::new("git");
    let said = git
        .arg("version")
        .env_clear()
        .envs(usual_variables())
        .output();
    let Some(words) = said
        .ok()
        .and_then(|done| String::from_utf8(done.stdout).ok())
    else {
        return false;
    };
    let numbers = words
        .trim()
        .strip_prefix("git version ")
        .unwrap_or_default();
    let mut numbers = numbers.split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= MIN_GIT_VERSION,
        _ => false,
    }
}

/// The worktree's name as Git records it, padded with zeros.
fn location_entry(root: &Path) -> Option<Vec<u8>> {
    let mut name = [LOCATION, root.as_os_str().as_bytes(), SYSTEM].concat();
    (name.len() < LOCATION_BYTES).then(|| {
        name.resize(LOCATION_BYTES, 0);
        name
    })
}

/// Finds the worktree's name in the untracked cache: offset and length. File names may contain any
/// bytes, so the index is parsed instead of searched.
fn find_location(content: &[u8]) -> Option<(usize, usize)> {
    let end = content.len().checked_sub(HASH_BYTES)?;
    let mut at = entries_end(content)?;
    while at < end {
        let size = usize::try_from(number(content, at + 4)?).ok()?;
        let start = at + 8;
        if &content[at..at + 4] == b"UNTR" {
            return location_at(content.get(..start.checked_add(size)?)?, start);
        }
        at = start.checked_add(size)?;
    }
    None
}

/// The offset at which the entries end and the extensions begin (gitformat-index(5)).
fn entries_end(content: &[u8]) -> Option<usize> {
    /// Length of stat data, object id and flags.
    const FIXED: usize = 62;
    let version = number(content, 4).filter(|_| content.starts_with(b"DIRC"))?;
    let mut at = 12;
    for _ in 0..number(content, 8)? {
        let flags = content.get(at + FIXED - 2..at + FIXED)?;
        let name = at + FIXED + if flags[0] & 0x40 != 0 { 2 } else { 0 };
        let ends = |from: usize| Some(from + content.get(from..)?.iter().position(|it| *it == 0)?);
        at = match version {
            // Entries are padded with zeros to a multiple of eight, by at least one.
            2 | 3 => at + (ends(name)? - at + 8) / 8 * 8,
            // The length of the prefix shared with the previous name comes first.
            4 => ends(name + content.get(name..)?.iter().position(|it| it & 128 == 0)? + 1)? + 1,
            _ => return None,
        };
    }
    Some(at)
}

/// Returns the 32-bit big-endian number at a byte offset; `None` beyond the end.
fn number(content: &[u8], at: usize) -> Option<u32> {
    let bytes = content.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// The name at `at`, behind its length: offset and length; `None` if there is none.
fn location_at(content: &[u8], at: usize) -> Option<(usize, usize)> {
    let mut at = at;
    let mut byte = *content.get(at)?;
    let mut length = usize::from(byte & 127);
    while byte & 128 != 0 {
        at += 1;
        byte = *content.get(at)?;
        length = length.checked_add(1)?.checked_mul(128)? + usize::from(byte & 127);
    }
    let name = content.get(at + 1..at.checked_add(1)?.checked_add(length)?)?;
    name.starts_with(LOCATION).then_some((at + 1, length))
}

/// Adds space for any worktree's name.
fn widen_location(content: &[u8]) -> Option<Vec<u8>> {
    // If Git recorded the end of the entries, that hash becomes invalid, and Git ignores it.
    let (place, length) = find_location(content)?;
    let digits = length_of(length).len();
    let start = place.checked_sub(digits)?;
    let size = start.checked_sub(4)?;
    let old = number(content, size)?;
    let wide = length_of(LOCATION_BYTES);
    let grown = LOCATION_BYTES + wide.len() - length - digits;
    let new = old.checked_add(u32::try_from(grown).ok()?)?;
    let mut wider = content[..size].to_vec();
    wider.extend_from_slice(&new.to_be_bytes());
    wider.extend_from_slice(&wide);
    wider.resize(wider.len() + LOCATION_BYTES, 0);
    wider[start + wide.len()..][..LOCATION.len()].copy_from_slice(LOCATION);
    let end = content.len().checked_sub(HASH_BYTES)?;
    wider.extend_from_slice(content.get(place + length..end)?);
    let hash = Sha1::from(&wider).digest().bytes();
    wider.extend_from_slice(&hash);
    Some(wider)
}

/// Encodes a number in Git's variable-length format.
fn length_of(length: usize) -> Vec<u8> {
    let mut digits = vec![(length & 127) as u8];
    let mut rest = length >> 7;
    while rest != 0 {
        rest -= 1;
        digits.insert(0, 128 | (rest & 127) as u8);
        rest >>= 7;
    }
    digits
}

#[cfg(test)]
mod tests;
