//! What changed in a lease, told to git when it asks: an overlay keeps all of it in its upper layer, so that nobody
//! has to look at the files that did not change, and nobody has to listen all the time.
//!
//! The protocol is that of git's hook `fsmonitor-watchman`, version 2 (githooks(5)): two arguments, `2` and the token
//! of the last answer; the answer is a new token and names, each ended by a zero byte. A name that ends in `/` is a
//! folder with every known file in it, `/` alone is all there is. Git asks from the top of the tree.
//! Invariant: too much may be told, never too little. A name that was told once and is gone from the layer without a
//! trace, because the base never had it, is told once more: the token carries it.

use std::collections::BTreeSet;
use std::ffi::{CStr, OsString};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, StatxFlags, fgetxattr, open, openat, statx};
use rustix::io::Errno;

use crate::beneath::names;

/// The first argument of a program that git asks.
const ASKED: &str = "--what-changed-in";
/// What a token begins with: a version of the words behind it.
const VERSION: &str = "burin:1:";
/// Where the kernel notes things about a layer: in attributes of root, which only root can read, or of the user.
const ROOT: &str = "trusted";
const USER: &str = "user";
/// Stands for everything, in a token.
const ALL: &[u8] = b"*";
/// Longer tokens, in bytes, are not passed on: no argument of a program may have more than 128 KiB.
const LONGEST: usize = 48 << 10;
/// More names than these are told as "everything".
const MOST: usize = 5000;
/// Longer names of folders, in bytes, too: no folder is kept open for each of a thousand levels.
const DEEPEST: usize = 1000;
const FOLDER: OFlags = OFlags::DIRECTORY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);
/// A name that no file has. Told as a neighbour of files that may have come or gone, it has git read their folder.
const NOBODY: &[u8] = b".burin-nobody";

/// Answers git, where the program was started by it for that: to be called first thing in `main` by programs that
/// `Settings::monitor` may name.
pub fn answer_git() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != ASKED {
        return None;
    }
    let rest: Vec<OsString> = arguments.collect();
    // Of another version nothing is known; git then looks for itself.
    let [layer, marks, version, token] = rest.as_slice() else {
        return Some(ExitCode::FAILURE);
    };
    if version != "2" {
        return Some(ExitCode::FAILURE);
    }
    let marks = match marks == USER {
        true => USER,
        false => ROOT,
    };
    let Ok(told) = tell(Path::new(layer), Path::new("."), marks, token.as_bytes()) else {
        return Some(ExitCode::FAILURE);
    };
    match io::stdout().lock().write_all(&told) {
        Ok(()) => Some(ExitCode::SUCCESS),
        Err(_) => Some(ExitCode::FAILURE),
    }
}

/// The line of a shell by which git asks `program` what lies in the upper layer `layer`, whose marks are in attributes
/// of the user or of root. `None` for paths that are no text.
///
/// Of a lease in which nothing was done yet the shell itself says so, in half the time: its layer is empty, and no
/// younger than the index. A program that is gone is passed over in silence, and git looks for itself.
pub(crate) fn command(program: &Path, layer: &Path, by_user: bool) -> Option<String> {
    let (program, layer) = (quoted(program)?, quoted(layer)?);
    let marks = if by_user { USER } else { ROOT };
    Some(format!(
        "told() {{ if test \"$2\" = {VERSION} && test -r {layer} && test -f ../git/index && \
         test ! {layer} -nt ../git/index; then n=; for f in {layer}/* {layer}/.[!.]* {layer}/..?*; do \
         if test -e \"$f\" || test -L \"$f\"; then n=1; break; fi; done; test $n || {{ printf '{VERSION}\\000'; return; }}; fi; \
         test -x {program} && exec {program} 2>/dev/null {ASKED} {layer} {marks} \"$@\"; }}; told"
    ))
}

fn quoted(path: &Path) -> Option<String> {
    Some(format!("'{}'", path.to_str()?.replace('\'', "'\\''")))
}

/// The answer for a layer whose tree is mounted at `tree`, to whoever got `token` last.
fn tell(layer: &Path, tree: &Path, marks: &str, token: &[u8]) -> io::Result<Vec<u8>> {
    let top = open(layer, FOLDER, Mode::empty())?;
    let tree = open(tree, FOLDER, Mode::empty())?;
    let mut now = Changed::default();
    let is_all = now.gather(&top, &tree, marks, &mut Vec::new()).is_err();
    let before = Changed::of_token(token).filter(|_| !is_all);
    let mut answer = now.token(is_all);
    answer.push(0);
    let told = match before {
        Some(before) => now.0.union(&before.0).cloned().collect(),
        None => BTreeSet::from([b"/".to_vec()]),
    };
    for name in told {
        answer.extend_from_slice(&name);
        answer.push(0);
    }
    Ok(answer)
}

/// Too much to be told name by name.
struct TooMuch;

/// Names of what may have changed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Changed(BTreeSet<Vec<u8>>);

impl Changed {
    /// Adds what lies in `layer`, which is `shown` in the tree and whose name with a `/` behind it is `within`; nothing
    /// for the top.
    fn gather(
        &mut self,
        layer: &OwnedFd,
        shown: &OwnedFd,
        marks: &str,
        within: &mut Vec<u8>,
    ) -> Result<(), TooMuch> {
        let found = names(layer).map_err(|_| TooMuch)?;
        if within.is_empty() && found.is_empty() && is_as_made(layer) {
            return Ok(());
        }
        self.add(within, NOBODY, b"")?;
        for (name, kind) in found {
            let bytes = name.to_bytes();
            if kind != FileType::Directory {
                self.add(within, bytes, b"")?;
                // The mark of what is gone: a file, or a folder with everything in it.
                if kind == FileType::CharacterDevice {
                    self.add(within, bytes, b"/")?;
                }
                continue;
            }
            let length = within.len();
            within.extend_from_slice(bytes);
            within.push(b'/');
            let inner = openat(shown, &name, FOLDER, Mode::empty()).map_err(|_| TooMuch)?;
            match merged(layer, &name, marks) {
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

    /// Has git read a folder that is told as a whole, and all folders in it.
    fn gather_folders(&mut self, shown: &OwnedFd, within: &mut Vec<u8>) -> Result<(), TooMuch> {
        self.add(within, NOBODY, b"")?;
        for (name, kind) in names(shown).map_err(|_| TooMuch)? {
            if kind != FileType::Directory {
                continue;
            }
            let length = within.len();
            within.extend_from_slice(name.to_bytes());
            within.push(b'/');
            let inner = openat(shown, &name, FOLDER, Mode::empty()).map_err(|_| TooMuch)?;
            self.gather_folders(&inner, within)?;
            within.truncate(length);
        }
        Ok(())
    }

    fn add(&mut self, within: &[u8], name: &[u8], end: &[u8]) -> Result<(), TooMuch> {
        if self.0.len() >= MOST || within.len() > DEEPEST {
            return Err(TooMuch);
        }
        self.0.insert([within, name, end].concat());
        Ok(())
    }

    /// To be given back when it is asked again.
    fn token(&self, is_all: bool) -> Vec<u8> {
        let mut token = VERSION.as_bytes().to_vec();
        // What comes and goes in a folder that stays is told by the folder.
        for name in self.0.iter().filter(|name| !name.ends_with(NOBODY)) {
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
        if is_all || token.len() > LONGEST {
            token.truncate(VERSION.len());
            token.extend_from_slice(ALL);
        }
        token
    }

    /// `None` where it is not ours, or stands for everything.
    fn of_token(token: &[u8]) -> Option<Self> {
        let words = token.strip_prefix(VERSION.as_bytes())?;
        if words == ALL {
            return None;
        }
        let lines = words.split(|byte| *byte == b'\n');
        let names = lines.filter(|line| !line.is_empty()).map(plain);
        Some(Self(names.collect()))
    }
}

fn plain(line: &[u8]) -> Vec<u8> {
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

/// A folder in which the kernel shows what the base has beside what lies here: one that it brought up from there, and
/// that was neither emptied nor renamed since. Any other may hide, or show, anything; so may one whose marks cannot be
/// read.
fn merged(folder: &OwnedFd, name: &CStr, marks: &str) -> Option<OwnedFd> {
    let inner = openat(folder, name, FOLDER, Mode::empty()).ok()?;
    let marked = |mark: &str| {
        // Longer than what this holds is only where a folder was renamed to.
        let mut value = [0_u8; 1024];
        fgetxattr(&inner, format!("{marks}.overlay.{mark}"), &mut value)
    };
    let is_clear = |mark: &str| marked(mark) == Err(Errno::NODATA);
    let is_merged = marked("origin").is_ok() && is_clear("opaque") && is_clear("redirect");
    is_merged.then_some(inner)
}

/// Whether no name ever came into a folder, or went.
fn is_as_made(folder: &OwnedFd) -> bool {
    let wanted = StatxFlags::BTIME | StatxFlags::MTIME;
    statx(folder, c"", AtFlags::EMPTY_PATH, wanted).is_ok_and(|found| {
        let time = |time: rustix::fs::StatxTimestamp| (time.tv_sec, time.tv_nsec);
        time(found.stx_btime) == time(found.stx_mtime)
    })
}

#[cfg(test)]
mod tests;
