//! A queue of file changes below many folders, drained on demand.
//!
//! The kernel queues an event before the call that changes a file returns, so draining the queue
//! shows every change made before. Nothing runs in between: no thread and no disk access. Not seen
//! are writes through another hard link outside the folders, writes through an open memory mapping,
//! and changes that another machine makes on a network disk; folders on such disks are refused.
//! Start at `ChangeQueue::watch`. Linux only.

use std::path::{Path, PathBuf};

use base::AbsPath;

/// One change below a watched folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolledChange {
    /// A file's content or metadata may have changed.
    Changed(PathBuf),
    /// A file was created, removed or replaced.
    Moved(PathBuf),
    /// A change that cannot be attributed to a file: a folder was created or removed, or the queue
    /// overflowed. All earlier knowledge is void.
    Lost,
}

/// A set of watched folders and their event queue.
#[derive(Debug)]
pub struct ChangeQueue(
    #[cfg(all(target_os = "linux", not(burin_portable)))] linux::InotifyQueue,
    #[cfg(any(burin_portable, not(target_os = "linux")))] std::convert::Infallible,
);

#[cfg(all(target_os = "linux", not(burin_portable)))]
impl ChangeQueue {
    /// Starts watching; `folders` are relative to `root`. Returns `None` if the system refuses, or
    /// if the disk may change without this kernel's knowledge.
    pub fn watch(
        root: &AbsPath,
        folders: &mut dyn ExactSizeIterator<Item = &Path>,
    ) -> Option<Self> {
        linux::InotifyQueue::watch(root, folders).map(Self)
    }

    /// Returns whether no change is queued.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes all changes since the last call; paths are relative to the root.
    pub fn drain(&self, take: &mut dyn FnMut(PolledChange)) {
        self.0.drain(take);
    }
}

#[cfg(any(burin_portable, not(target_os = "linux")))]
impl ChangeQueue {
    /// Always returns `None` on this system.
    pub fn watch(_: &AbsPath, _: &mut dyn ExactSizeIterator<Item = &Path>) -> Option<Self> {
        None
    }

    /// Unreachable: no value exists.
    pub fn is_empty(&self) -> bool {
        match self.0 {}
    }

    /// Unreachable: no value exists.
    pub fn drain(&self, _: &mut dyn FnMut(PolledChange)) {
        match self.0 {}
    }
}

#[cfg(all(target_os = "linux", not(burin_portable)))]
mod linux {
    use std::collections::HashMap;
    use std::ffi::OsStr;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Path, PathBuf};

    use base::AbsPath;
    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use rustix::io::Errno;

    use super::PolledChange;

    /// Magic numbers, from `statfs(2)`, of file systems whose changes all pass through this kernel:
    /// ext4, btrfs, xfs, tmpfs, overlayfs, f2fs, zfs.
    const LOCAL: &[i64] = &[
        0xef53,
        0x9123_683e,
        0x5846_5342,
        0x0102_1994,
        0x794c_7630,
        0xf2f5_2010,
        0x2fc1_2fc1,
    ];
    /// At most one watch in this many of the user's limit is used.
    const SHARE: u64 = 4;

    #[derive(Debug)]
    pub(super) struct InotifyQueue {
        inotify: OwnedFd,
        folders: HashMap<i32, PathBuf>,
    }

    impl InotifyQueue {
        pub(super) fn watch(
            root: &AbsPath,
            folders: &mut dyn ExactSizeIterator<Item = &Path>,
        ) -> Option<Self> {
            let volume = rustix::fs::statfs(root.as_path()).ok()?;
            let most = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()?;
            let most: u64 = most.trim().parse().ok()?;
            if !LOCAL.contains(&volume.f_type) || folders.len() as u64 > most / SHARE {
                return None;
            }
            let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
            let wanted = WatchFlags::MODIFY
                | WatchFlags::ATTRIB
                | WatchFlags::CLOSE_WRITE
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MOVE
                | WatchFlags::DELETE_SELF
                | WatchFlags::MOVE_SELF
                | WatchFlags::ONLYDIR
                | WatchFlags::DONT_FOLLOW;
            let mut watched = HashMap::with_capacity(folders.len());
            for folder in folders {
                let at = root.join(folder);
                let watch = inotify::add_watch(&inotify, at.as_path(), wanted).ok()?;
                watched.insert(watch, folder.to_path_buf());
            }
            Some(Self {
                inotify,
                folders: watched,
            })
        }

        pub(super) fn is_empty(&self) -> bool {
            rustix::io::ioctl_fionread(&self.inotify) == Ok(0)
        }

        pub(super) fn drain(&self, take: &mut dyn FnMut(PolledChange)) {
            let mut buffer = [MaybeUninit::uninit(); 16 << 10];
            let mut reader = Reader::new(&self.inotify, &mut buffer);
            loop {
                match reader.next() {
                    Ok(event) => {
                        let name = event.file_name().map(|name| name.to_bytes());
                        take(self.classify(event.wd(), event.events(), name));
                    }
                    Err(Errno::INTR) => {}
                    Err(Errno::WOULDBLOCK) => return,
                    Err(_) => return take(PolledChange::Lost),
                }
            }
        }

        fn classify(&self, watch: i32, what: ReadFlags, name: Option<&[u8]>) -> PolledChange {
            let whole = ReadFlags::QUEUE_OVERFLOW
                | ReadFlags::IGNORED
                | ReadFlags::UNMOUNT
                | ReadFlags::DELETE_SELF
                | ReadFlags::MOVE_SELF;
            let is_content = ReadFlags::MODIFY | ReadFlags::ATTRIB | ReadFlags::CLOSE_WRITE;
            let (Some(folder), Some(name)) = (self.folders.get(&watch), name) else {
                // An event of a watched folder itself: its permissions changed, or it was removed.
                return PolledChange::Lost;
            };
            if what.intersects(whole | ReadFlags::ISDIR) {
                return PolledChange::Lost;
            }
            let path = folder.join(OsStr::from_bytes(name));
            if is_content.contains(what) {
                PolledChange::Changed(path)
            } else {
                PolledChange::Moved(path)
            }
        }
    }
}

#[cfg(all(test, target_os = "linux", not(burin_portable)))]
mod tests;
