//! An index in which git has noted what it would find out by looking at every file and folder of a base: that all files
//! are as committed, and which folders hold files it does not know. With it, and with a monitor that tells what changed,
//! the first status in a lease looks at nothing else.
//!
//! Git itself makes it, once for each base. Its notes on folders name the worktree they were made in (gitformat-index(5),
//! "Untracked cache"), so every lease has one of its own, in memory: as large as the index, 100 bytes a file. It lies in
//! a layer between the base and the lease, and goes with the mount; an index that git writes goes to the lease.
//! Invariant: where anything about it is not as expected there is none, and the lease begins with the base's index.

use std::ffi::{CString, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use host::environment::{Recipient, variables};
use rustix::mount::{MountFlags, mount};
use sha1_smol::Sha1;

use crate::error::Error;
use crate::fill::make_folder;
use crate::git_dir::{self, Own};
use crate::mount::{self as mounts, Layers};
use crate::sweep;

/// How git names a worktree in its notes.
const LOCATION: &[u8] = b"Location ";
const SYSTEM: &[u8] = b", system Linux";
/// The place kept for that, in bytes: longer than any path.
const PLACE: usize = 4200;
/// The end of an index is the hash of what is before.
const HASH: usize = 20;
/// The first git that takes the name of a folder from its monitor.
const OLDEST: (u32, u32) = (2, 37);

/// The index, ready to be given to any lease of its base.
pub(crate) struct WarmIndex {
    content: Vec<u8>,
    /// Where the worktree is named: `PLACE` bytes.
    place: usize,
    /// Of everything before that.
    hash: Sha1,
}

impl std::fmt::Debug for WarmIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WarmIndex").finish_non_exhaustive()
    }
}

/// Where the one of a base lies, beside its layer.
fn file(base: &Path) -> PathBuf {
    base.join("warm-index")
}

impl WarmIndex {
    /// The one of the base in the folder `base`, if it has one.
    pub(crate) fn of(base: &Path) -> Option<Self> {
        let content = fs::read(file(base)).ok()?;
        let (place, _) = place(&content).filter(|(_, length)| *length == PLACE)?;
        let mut hash = Sha1::new();
        hash.update(&content[..place]);
        let warm = Self {
            content,
            place,
            hash,
        };
        let end = warm.content.len().checked_sub(HASH)?;
        let is_whole = warm.hash_to(&warm.content[..end]) == warm.content[end..];
        is_whole.then_some(warm)
    }

    /// Has git make the one of the base in `base`, in a tree that is mounted in the folder `trial` for that. `own` is a
    /// lease's, with the config that `config` makes for an upper layer. There may be none afterwards.
    pub(crate) fn make(
        base: &Path,
        trial: &Path,
        own: &Own<'_>,
        config: &dyn Fn(&Path) -> String,
        by_user: bool,
    ) -> Result<(), Error> {
        if !is_known_git() {
            return Ok(());
        }
        sweep::remove(trial).map_err(Error::file("clear", trial))?;
        make_folder(trial)?;
        let made = noted(trial, base, own, config, by_user);
        mounts::detach_below(trial).map_err(Error::file("unmount below", trial))?;
        sweep::remove(trial).map_err(Error::file("clear", trial))?;
        match made?.as_deref().and_then(widened) {
            Some(content) => {
                let path = file(base);
                fs::write(&path, content).map_err(Error::file("write", &path))
            }
            None => Ok(()),
        }
    }

    /// Mounts a layer with the index of the worktree `root`, for a moment: an overlay keeps it.
    pub(crate) fn lay(&self, at: &Path, root: &Path) -> io::Result<()> {
        let content = self.for_worktree(root)?;
        match fs::create_dir(at) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let size = content.len() + (256 << 10);
        let options = CString::new(format!("mode=700,size={size},nr_inodes=16"))?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("burin", at, "tmpfs", flags, Some(options.as_c_str()))?;
        fs::create_dir(at.join("git"))?;
        fs::write(at.join("git/index"), content)
    }

    fn for_worktree(&self, root: &Path) -> io::Result<Vec<u8>> {
        let root = root.canonicalize().or_else(|_| {
            // Not mounted yet: its parent is there.
            let name = root.file_name().unwrap_or_default();
            let parent = root.parent().unwrap_or(root);
            parent.canonicalize().map(|parent| parent.join(name))
        })?;
        let name = named(&root).ok_or(io::ErrorKind::InvalidFilename)?;
        let end = self.content.len() - HASH;
        let mut content = self.content.clone();
        content[self.place..self.place + PLACE].copy_from_slice(&name);
        let hash = self.hash_to(&content[..end]);
        content[end..].copy_from_slice(&hash);
        Ok(content)
    }

    /// The hash of a content that is ours up to the worktree's name.
    fn hash_to(&self, content: &[u8]) -> [u8; HASH] {
        let mut hash = self.hash.clone();
        hash.update(&content[self.place..]);
        hash.digest().bytes()
    }
}

/// Mounts the base with an empty layer, asks git for the status until it has noted everything, and reads the index.
fn noted(
    trial: &Path,
    base: &Path,
    own: &Own<'_>,
    config: &dyn Fn(&Path) -> String,
    by_user: bool,
) -> Result<Option<Vec<u8>>, Error> {
    let folder = |name: &str| trial.join(name);
    for name in ["upper", "upper/git", "upper/tree", "work", "mnt"] {
        make_folder(&folder(name))?;
    }
    let own = Own {
        config: &config(&folder("upper/tree")),
        ..*own
    };
    git_dir::write_own(&folder("upper/git"), &own)?;
    let layer = base.join("layer");
    let layers = Layers {
        lower: &[layer.as_path()],
        upper: &folder("upper"),
        work: &folder("work"),
    };
    let mnt = folder("mnt");
    mounts::overlay(layers, &mnt, by_user).map_err(Error::file("mount", &mnt))?;
    for _ in 0..2 {
        // What git says of a tree that nobody touched is nothing, or it is not for us.
        if status(&mnt.join("tree")) != Some(Vec::new()) {
            return Ok(None);
        }
    }
    Ok(fs::read(folder("upper/git/index")).ok())
}

fn status(tree: &Path) -> Option<Vec<u8>> {
    let mut git = Command::new("git");
    git.env_clear().envs(usual_variables());
    git.arg("-C").arg(tree).args(["status", "--porcelain"]);
    let done = git.stdin(Stdio::null()).output().ok()?;
    (done.status.success() && done.stderr.is_empty()).then_some(done.stdout)
}

/// What a git finds in its environment that is about no repository.
fn usual_variables() -> impl Iterator<Item = (OsString, OsString)> {
    let ours = variables(Recipient::Personal).into_iter();
    ours.filter(|(name, _)| !name.as_bytes().starts_with(b"GIT_"))
}

/// Whether there is a git, and it can be told of folders.
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
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= OLDEST,
        _ => false,
    }
}

/// The worktree as git notes it, with zeros behind it.
fn named(root: &Path) -> Option<Vec<u8>> {
    let mut name = [LOCATION, root.as_os_str().as_bytes(), SYSTEM].concat();
    (name.len() < PLACE).then(|| {
        name.resize(PLACE, 0);
        name
    })
}

/// Where the notes on folders name their worktree, and how many bytes that takes. Names of files and folders may hold
/// any bytes, so the way there goes from part to part.
fn place(content: &[u8]) -> Option<(usize, usize)> {
    let end = content.len().checked_sub(HASH)?;
    let mut at = entries_end(content)?;
    while at < end {
        let size = usize::try_from(number(content, at + 4)?).ok()?;
        let start = at + 8;
        if &content[at..at + 4] == b"UNTR" {
            return begins(content.get(..start.checked_add(size)?)?, start);
        }
        at = start.checked_add(size)?;
    }
    None
}

/// Where the entries end and what is noted beside them begins (gitformat-index(5)).
fn entries_end(content: &[u8]) -> Option<usize> {
    /// Stamps, id and flags.
    const FIXED: usize = 62;
    let version = number(content, 4).filter(|_| content.starts_with(b"DIRC"))?;
    let mut at = 12;
    for _ in 0..number(content, 8)? {
        let flags = content.get(at + FIXED - 2..at + FIXED)?;
        let name = at + FIXED + if flags[0] & 0x40 != 0 { 2 } else { 0 };
        let ends = |from: usize| Some(from + content.get(from..)?.iter().position(|it| *it == 0)?);
        at = match version {
            // To a multiple of eight, with a zero at least.
            2 | 3 => at + (ends(name)? - at + 8) / 8 * 8,
            // How much of the name before to take comes first.
            4 => ends(name + content.get(name..)?.iter().position(|it| it & 128 == 0)? + 1)? + 1,
            _ => return None,
        };
    }
    Some(at)
}

fn number(content: &[u8], at: usize) -> Option<u32> {
    let bytes = content.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// The name at `at`, behind its length; `None` where none is.
fn begins(content: &[u8], at: usize) -> Option<(usize, usize)> {
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

/// The index with room for any worktree's name.
fn widened(content: &[u8]) -> Option<Vec<u8>> {
    // Where git has noted where the entries end, its hash does not fit any more, and git does without.
    let (place, length) = place(content)?;
    let digits = length_of(length).len();
    let start = place.checked_sub(digits)?;
    let size = start.checked_sub(4)?;
    let old = number(content, size)?;
    let wide = length_of(PLACE);
    let grown = PLACE + wide.len() - length - digits;
    let new = old.checked_add(u32::try_from(grown).ok()?)?;
    let mut wider = content[..size].to_vec();
    wider.extend_from_slice(&new.to_be_bytes());
    wider.extend_from_slice(&wide);
    wider.resize(wider.len() + PLACE, 0);
    wider[start + wide.len()..][..LOCATION.len()].copy_from_slice(LOCATION);
    let end = content.len().checked_sub(HASH)?;
    wider.extend_from_slice(content.get(place + length..end)?);
    let hash = Sha1::from(&wider).digest().bytes();
    wider.extend_from_slice(&hash);
    Some(wider)
}

/// A number as git writes it in such notes.
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
