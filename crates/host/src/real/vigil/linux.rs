//! inotify, read by whoever asks.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
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
    /// Says when something is mounted or unmounted anywhere.
    mounts: File,
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
            mounts: File::open("/proc/self/mountinfo").ok()?,
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
        self.is_lost = self.is_lost || self.is_mounted_anew() || self.read(each).is_err();
        match self.is_lost {
            true => Err(Lost),
            false => Ok(()),
        }
    }

    fn is_mounted_anew(&self) -> bool {
        let mut wanted = [PollFd::new(&self.mounts, PollFlags::PRI)];
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        poll(&mut wanted, Some(&at_once)) != Ok(0)
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
