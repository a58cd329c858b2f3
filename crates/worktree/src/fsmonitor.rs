//! A file system monitor for Git that needs no watcher: an overlay keeps all changes of a lease in
//! its upper layer, so Git need not examine unchanged files.
//!
//! The protocol is that of Git's hook `fsmonitor-watchman`, version 2 (githooks(5)): the arguments
//! are `2` and the last token; the answer is a new token and a list of names, each ended by a zero
//! byte. A name that ends in `/` means a folder with all known files in it; `/` alone means
//! everything. Git runs it in the root of the tree.
//! Invariant: the answer may contain too many names, never too few. A name that has vanished from
//! the layer because the base does not contain it is reported once more: the token carries it.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use host::no_follow::{self, FolderEntry};
use rustix::fs::{FileType, fgetxattr};
use rustix::io::Errno;

/// The first argument when Git runs the program as a monitor.
const QUERY_ARGUMENT: &str = "--what-changed-in";
/// The prefix of a token, with the version of its format.
const VERSION: &str = "burin:1:";
/// The attribute namespaces in which the kernel marks a layer: root's, which only root can read, or
/// the user's.
const ROOT_XATTRS: &str = "trusted";
const USER_XATTRS: &str = "user";
/// Means "everything" in a token.
const ALL: &[u8] = b"*";
/// Maximum length of a token, in bytes: an argument of a program is limited to 128 KiB.
const MAX_TOKEN_BYTES: usize = 48 << 10;
/// Maximum number of names; beyond it, everything is reported as changed.
const MAX_NAMES: usize = 5000;
/// Maximum length of a folder's path, in bytes, since each level keeps a folder open.
const MAX_FOLDER_NAME_BYTES: usize = 1000;
/// A name that no file has. Reported beside files that may have come or gone, it makes Git reread
/// their folder.
const PLACEHOLDER_NAME: &[u8] = b".burin-nobody";

/// Answers Git on standard output if Git started this program as a monitor, and returns the exit
/// code; `None` if the arguments are for the program itself. Programs that `PoolSettings::monitor`
/// may name call this first in `main`.
pub fn answer_fsmonitor_query() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != QUERY_ARGUMENT {
        return None;
    }
    let rest: Vec<OsString> = arguments.collect();
    // For an unknown protocol version, Git examines the files itself.
    let [layer, marks, version, token] = rest.as_slice() else {
        return Some(ExitCode::FAILURE);
    };
    if version != "2" {
        return Some(ExitCode::FAILURE);
    }
    let marks = if marks == USER_XATTRS {
        USER_XATTRS
    } else {
        ROOT_XATTRS
    };
    let Ok(answer) = build_answer(Path::new(layer), Path::new("."), marks, token.as_bytes()) else {
        return Some(ExitCode::FAILURE);
    };
    match io::stdout().lock().write_all(&answer) {
        Ok(()) => Some(ExitCode::SUCCESS),
        Err(_) => Some(ExitCode::FAILURE),
    }
}

/// Returns the shell command by which Git asks `program` about the upper layer `layer`, whose marks
/// are in the user's attributes (`by_user`) or in root's. `None` if a path is not UTF-8.
///
/// For an untouched lease the shell answers itself, in half the time: the layer is empty and not
/// newer than the index. If the program is missing, the command fails silently, and Git examines
/// the files itself.
pub(crate) fn command(program: &Path, layer: &Path, by_user: bool) -> Option<String> {
    let (program, layer) = (quoted(program)?, quoted(layer)?);
    let marks = if by_user { USER_XATTRS } else { ROOT_XATTRS };
    Some(format!(
        "answer() {{ if test \"$2\" = {VERSION} && test -r {layer} && test -f ../git/index && \
         test ! {layer} -nt ../git/index; then n=; for f in {layer}/* {layer}/.[!.]* {layer}/..?*; do \
         if test -e \"$f\" || test -L \"$f\"; then n=1; break; fi; done; test $n || {{ printf '{VERSION}\\000'; return; }}; fi; \
         test -x {program} && exec {program} 2>/dev/null {QUERY_ARGUMENT} {layer} {marks} \"$@\"; }}; answer"
    ))
}

/// Quotes a path for a shell; `None` if it is not UTF-8.
fn quoted(path: &Path) -> Option<String> {
    Some(format!("'{}'", path.to_str()?.replace('\'', "'\\''")))
}

/// Builds the answer for a layer whose tree is mounted at `tree`, given the last token.
fn build_answer(layer: &Path, tree: &Path, marks: &str, token: &[u8]) -> io::Result<Vec<u8>> {
    let top = no_follow::open_root(layer)?;
    let tree = no_follow::open_root(tree)?;
    let mut now = ChangedNames::default();
    let is_all = now.gather(&top, &tree, marks, &mut Vec::new()).is_err();
    let before = ChangedNames::of_token(token).filter(|_| !is_all);
    let mut answer = now.token(is_all);
    answer.push(0);
    let names = match before {
        Some(before) => now.0.union(&before.0).cloned().collect(),
        None => BTreeSet::from([b"/".to_vec()]),
    };
    for name in names {
        answer.extend_from_slice(&name);
        answer.push(0);
    }
    Ok(answer)
}

/// Too many changes for a list of names.
struct TooMuch;

/// The names of files that may have changed.
#[derive(Debug, Default, PartialEq, Eq)]
struct ChangedNames(BTreeSet<Vec<u8>>);

impl ChangedNames {
    /// Adds the changes in `layer`, whose merged view is `shown` and whose path is `within`: empty
    /// at the top, else ending in `/`.
    fn gather(
        &mut self,
        layer: &OwnedFd,
        shown: &OwnedFd,
        marks: &str,
        within: &mut Vec<u8>,
    ) -> Result<(), TooMuch> {
        let found = no_follow::entries(layer).map_err(|_| TooMuch)?;
        if within.is_empty() && found.is_empty() && is_untouched(layer) {
            return Ok(());
        }
        self.add(within, PLACEHOLDER_NAME, b"")?;
        for FolderEntry { name, kind } in found {
            let bytes = name.as_bytes();
            if kind != FileType::Directory {
                self.add(within, bytes, b"")?;
                // A whiteout: a removed file, or a removed folder with all its files.
                if kind == FileType::CharacterDevice {
                    self.add(within, bytes, b"/")?;
                }
                continue;
            }
            let length = within.len();
            within.extend_from_slice(bytes);
            within.push(b'/');
            let inner = no_follow::open_folder(shown, &name).map_err(|_| TooMuch)?;
            match open_merged_dir(layer, &name, marks) {
                Some(own) => self.gather(&own, &inner, marks, within)?,
                None => {
                    self.0.insert(within.clone());
                    self.gather_folders(&inner, within)?;
                }
            }
            within.truncate(length);
        }
        Ok(())
    }

    /// Makes Git reread a folder that is reported as a whole, and all its subfolders.
    fn gather_folders(&mut self, shown: &OwnedFd, within: &mut Vec<u8>) -> Result<(), TooMuch> {
        self.add(within, PLACEHOLDER_NAME, b"")?;
        let entries = no_follow::entries(shown).map_err(|_| TooMuch)?;
        for FolderEntry { name, kind } in entries {
            if kind != FileType::Directory {
                continue;
            }
            let length = within.len();
            within.extend_from_slice(name.as_bytes());
            within.push(b'/');
            let inner = no_follow::open_folder(shown, &name).map_err(|_| TooMuch)?;
            self.gather_folders(&inner, within)?;
            within.truncate(length);
        }
        Ok(())
    }

    /// Adds the name `within`, `name`, `end` joined. Fails if there are `MAX_NAMES` already, or if
    /// `within` is longer than `MAX_FOLDER_NAME_BYTES`.
    fn add(&mut self, within: &[u8], name: &[u8], end: &[u8]) -> Result<(), TooMuch> {
        if self.0.len() >= MAX_NAMES || within.len() > MAX_FOLDER_NAME_BYTES {
            return Err(TooMuch);
        }
        self.0.insert([within, name, end].concat());
        Ok(())
    }

    /// Encodes the names as a token.
    fn token(&self, is_all: bool) -> Vec<u8> {
        let mut token = VERSION.as_bytes().to_vec();
        // Additions and removals in a remaining folder are covered by the folder itself.
        for name in self
            .0
            .iter()
            .filter(|name| !name.ends_with(PLACEHOLDER_NAME))
        {
            for byte in name {
                match byte {
                    b'%' => token.extend_from_slice(b"%25"),
                    b'\n' => token.extend_from_slice(b"%0A"),
                    b'*' => token.extend_from_slice(b"%2A"),
                    byte => token.push(*byte),
                }
            }
            token.push(b'\n');
        }
        if is_all || token.len() > MAX_TOKEN_BYTES {
            token.truncate(VERSION.len());
            token.extend_from_slice(ALL);
        }
        token
    }

    /// Decodes a token; `None` if its format is unknown or it means everything.
    fn of_token(token: &[u8]) -> Option<Self> {
        let words = token.strip_prefix(VERSION.as_bytes())?;
        if words == ALL {
            return None;
        }
        let lines = words.split(|byte| *byte == b'\n');
        let names = lines.filter(|line| !line.is_empty()).map(decode_name);
        Some(Self(names.collect()))
    }
}

fn decode_name(line: &[u8]) -> Vec<u8> {
    let mut name = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((first, tail)) = rest.split_first() {
        let (byte, skipped) = match rest {
            [b'%', b'2', b'5', ..] => (b'%', 2),
            [b'%', b'0', b'A', ..] => (b'\n', 2),
            [b'%', b'2', b'A', ..] => (b'*', 2),
            _ => (*first, 0),
        };
        name.push(byte);
        rest = &tail[skipped..];
    }
    name
}

/// Opens a folder that the kernel merges with the base: copied up from it, and neither opaque nor
/// renamed. Other folders can hide or show anything, and so can one whose marks cannot be read;
/// they give `None`.
fn open_merged_dir(folder: &OwnedFd, name: &OsStr, marks: &str) -> Option<OwnedFd> {
    let inner = no_follow::open_folder(folder, name).ok()?;
    let marked = |mark: &str| {
        // A longer value occurs only in a renamed folder.
        let mut value = [0_u8; 1024];
        fgetxattr(&inner, format!("{marks}.overlay.{mark}"), &mut value)
    };
    let is_clear = |mark: &str| marked(mark) == Err(Errno::NODATA);
    let is_merged = marked("origin").is_ok() && is_clear("opaque") && is_clear("redirect");
    is_merged.then_some(inner)
}

/// Returns whether no entry was ever added to a folder or removed from it; `false` where the file
/// system keeps no time of creation.
fn is_untouched(folder: &OwnedFd) -> bool {
    let found = folder.try_clone().and_then(|it| File::from(it).metadata());
    let times = found.and_then(|found| Ok((found.created()?, found.modified()?)));
    times.is_ok_and(|(created, modified)| created == modified)
}

#[cfg(test)]
mod tests;
