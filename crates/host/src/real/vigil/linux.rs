//! inotify, read by whoever asks.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use base::AbsPath;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::{Happened, Lost};

/// Vigils of this process at once: the system grants a person 128 watchers for all programs together.
const MOST: usize = 16;
/// The part of the watches that the system grants a person which one vigil may take.
const SHARE: u64 = 4;
const BUFFER: usize = 64 * 1024;
/// File systems of this machine, by the number that `statfs` has for them: ext, XFS, Btrfs, tmpfs, overlay, F2FS, ZFS,
/// bcachefs. On others, changes may be made elsewhere.
const LOCAL: [i64; 8] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0x0102_1994,
    0x794c_7630,
    0xf2f5_2010,
    0x2fc1_2fc1,
    0xca45_1a4e,
];

#[derive(Debug)]
pub(super) struct Kept {
    inotify: OwnedFd,
    mounts: Mounts,
    /// The folder behind each watch.
    folders: HashMap<i32, PathBuf>,
    is_lost: bool,
    _counted: Counted,
}

impl Kept {
    pub(super) fn new(
        root: &AbsPath,
        folders: &mut dyn ExactSizeIterator<Item = &Path>,
    ) -> Option<Self> {
        let granted = fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()?;
        let granted: u64 = granted.trim().parse().ok()?;
        let counted = Counted::new()?;
        if folders.len() as u64 > granted / SHARE || !is_local(root.as_path()) {
            return None;
        }
        let mut kept = Self {
            inotify: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?,
            mounts: Mounts::below(root)?,
            folders: HashMap::with_capacity(folders.len()),
            is_lost: false,
            _counted: counted,
        };
        for folder in folders {
            kept.watch(root, folder)?;
        }
        Some(kept)
    }

    fn watch(&mut self, root: &AbsPath, folder: &Path) -> Option<()> {
        let mut flags = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MODIFY
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::ATTRIB
            | WatchFlags::MOVE
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        let mut path = root.as_path().to_owned();
        if !folder.as_os_str().is_empty() {
            flags |= WatchFlags::DONT_FOLLOW;
            path.push(folder);
        }
        let watch = inotify::add_watch(&self.inotify, &path, flags).ok()?;
        // One folder under two paths would be told under one.
        let before = self.folders.insert(watch, folder.to_owned());
        before.is_none().then_some(())
    }

    pub(super) fn happened(&mut self, each: &mut dyn FnMut(Happened<'_>)) -> Result<(), Lost> {
        self.is_lost = self.is_lost || self.mounts.is_one_new() || self.read(each).is_err();
        match self.is_lost {
            true => Err(Lost),
            false => Ok(()),
        }
    }

    fn read(&self, each: &mut dyn FnMut(Happened<'_>)) -> Result<(), Lost> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut reader = Reader::new(&self.inotify, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => {
                    let name = event.file_name().map(|name| name.to_bytes());
                    each(self.told(event.wd(), event.events(), name)?);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(_) => return Err(Lost),
            }
        }
    }

    fn told<'a>(
        &'a self,
        watch: i32,
        flags: ReadFlags,
        name: Option<&'a [u8]>,
    ) -> Result<Happened<'a>, Lost> {
        // What has no name is about a watched folder itself, or says that events were lost.
        let (Some(folder), Some(name)) = (self.folders.get(&watch), name) else {
            return Err(Lost);
        };
        if flags.contains(ReadFlags::ISDIR) {
            return Err(Lost);
        }
        let entries =
            ReadFlags::CREATE | ReadFlags::DELETE | ReadFlags::MOVED_FROM | ReadFlags::MOVED_TO;
        Ok(Happened {
            folder,
            name: OsStr::from_bytes(name),
            is_entry: flags.intersects(entries),
        })
    }
}

/// What is mounted over folders below one, which no watch tells of.
#[derive(Debug)]
struct Mounts {
    /// Says when something is mounted or unmounted anywhere.
    table: File,
    /// Without links.
    root: PathBuf,
}

impl Mounts {
    /// `None` where something is mounted there already.
    fn below(root: &AbsPath) -> Option<Self> {
        let table = File::open("/proc/self/mountinfo").ok()?;
        let root = fs::canonicalize(root.as_path()).ok()?;
        let mounts = Self { table, root };
        mounts.is_none().then_some(mounts)
    }

    fn is_one_new(&self) -> bool {
        let mut wanted = [PollFd::new(&self.table, PollFlags::PRI)];
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        poll(&mut wanted, Some(&at_once)) != Ok(0) && !self.is_none()
    }

    fn is_none(&self) -> bool {
        let mut table = Vec::new();
        let mut file = &self.table;
        let read = file.rewind().and_then(|()| file.read_to_end(&mut table));
        let mut rows = table.split(|byte| *byte == b'\n');
        let is_below = |row: &[u8]| {
            let place = row.split(|byte| *byte == b' ').nth(4);
            let place = place.map(|place| PathBuf::from(OsString::from_vec(unescaped(place))));
            place.is_some_and(|place| place != self.root && place.starts_with(&self.root))
        };
        read.is_ok() && !rows.any(is_below)
    }
}

/// Blanks, tabs, newlines and backslashes of a path are written as three octal digits.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..3).filter(|_| *first == b'\\');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        out.push(code.unwrap_or(*first));
        rest = &behind[if code.is_some() { 3 } else { 0 }..];
    }
    out
}

fn is_local(path: &Path) -> bool {
    rustix::fs::statfs(path).is_ok_and(|found| LOCAL.contains(&found.f_type))
}

/// One of the vigils of this process.
#[derive(Debug)]
struct Counted;

static COUNT: AtomicUsize = AtomicUsize::new(0);

impl Counted {
    fn new() -> Option<Self> {
        let more = |count: usize| (count < MOST).then_some(count + 1);
        let counted = COUNT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        counted.ok().map(|_| Self)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    //! How the table of mounts is read.

    use super::unescaped;

    #[test]
    fn paths_of_mounts_are_read() {
        let check =
            |text: &str, expect: &str| assert_eq!(unescaped(text.as_bytes()), expect.as_bytes());
        check("/a/b", "/a/b");
        check("/a\\040b\\134", "/a b\\");
        check("\\", "\\");
        check("\\04", "\\04");
        check("\\99x", "\\99x");
        check("\\777", "\\777");
    }
}
