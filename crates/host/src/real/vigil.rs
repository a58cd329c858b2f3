//! Standing watch over many folders for somebody who asks now and then whether anything happened.
//!
//! The kernel queues an event before the call that changes a file returns, so whoever looks into the queue has seen
//! every change that was made before. Nothing runs in between: no thread, no look at the disk. What goes unseen is a
//! file that is written through another name outside of the folders, or through a mapping that is still open, and what
//! another machine does to a shared disk; folders of the last kind are refused.
//! Start at `Vigil::over`. Only Linux grants this.

use std::path::{Path, PathBuf};

use base::AbsPath;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// A file's content, or what is known of it, may be another.
    Changed(PathBuf),
    /// A file came, went or was replaced.
    Moved(PathBuf),
    /// Something happened that cannot be told by file: a folder came or went, or too much happened at once. Nothing is
    /// known any more.
    Lost,
}

/// Folders that the kernel watches.
#[derive(Debug)]
pub struct Vigil(
    #[cfg(target_os = "linux")] linux::Queue,
    #[cfg(not(target_os = "linux"))] std::convert::Infallible,
);

#[cfg(target_os = "linux")]
impl Vigil {
    /// Begins to watch; `folders` are relative to `root`. `None` where the system does not grant it, or the disk is one
    /// whose changes it does not see.
    pub fn over(root: &AbsPath, folders: &mut dyn ExactSizeIterator<Item = &Path>) -> Option<Self> {
        linux::Queue::over(root, folders).map(Self)
    }

    /// Whether nothing waits to be taken.
    pub fn is_quiet(&self) -> bool {
        self.0.is_quiet()
    }

    /// Takes all that happened since the last time; paths are relative to the root.
    pub fn news(&self, take: &mut dyn FnMut(News)) {
        self.0.news(take);
    }
}

#[cfg(not(target_os = "linux"))]
impl Vigil {
    /// Never begins.
    pub fn over(_: &AbsPath, _: &mut dyn ExactSizeIterator<Item = &Path>) -> Option<Self> {
        None
    }

    /// There is none to ask.
    pub fn is_quiet(&self) -> bool {
        match self.0 {}
    }

    /// There is none to ask.
    pub fn news(&self, _: &mut dyn FnMut(News)) {
        match self.0 {}
    }
}

#[cfg(target_os = "linux")]
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

    use super::News;

    /// Magic numbers of file systems whose changes all pass through this kernel, from `statfs(2)`: ext4, btrfs, xfs,
    /// tmpfs, overlayfs, f2fs, zfs.
    const LOCAL: &[i64] = &[
        0xef53,
        0x9123_683e,
        0x5846_5342,
        0x0102_1994,
        0x794c_7630,
        0xf2f5_2010,
        0x2fc1_2fc1,
    ];
    /// Of all watches that a user may have, this part is left to others.
    const SHARE: u64 = 4;

    #[derive(Debug)]
    pub(super) struct Queue {
        inotify: OwnedFd,
        folders: HashMap<i32, PathBuf>,
    }

    impl Queue {
        pub(super) fn over(
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

        pub(super) fn is_quiet(&self) -> bool {
            rustix::io::ioctl_fionread(&self.inotify) == Ok(0)
        }

        pub(super) fn news(&self, take: &mut dyn FnMut(News)) {
            let mut buffer = [MaybeUninit::uninit(); 16 << 10];
            let mut reader = Reader::new(&self.inotify, &mut buffer);
            loop {
                match reader.next() {
                    Ok(event) => {
                        let name = event.file_name().map(|name| name.to_bytes());
                        take(self.told(event.wd(), event.events(), name));
                    }
                    Err(Errno::INTR) => {}
                    Err(Errno::WOULDBLOCK) => return,
                    Err(_) => return take(News::Lost),
                }
            }
        }

        fn told(&self, watch: i32, what: ReadFlags, name: Option<&[u8]>) -> News {
            let whole = ReadFlags::QUEUE_OVERFLOW
                | ReadFlags::IGNORED
                | ReadFlags::UNMOUNT
                | ReadFlags::DELETE_SELF
                | ReadFlags::MOVE_SELF;
            let is_content = ReadFlags::MODIFY | ReadFlags::ATTRIB | ReadFlags::CLOSE_WRITE;
            let (Some(folder), Some(name)) = (self.folders.get(&watch), name) else {
                // An event of a watched folder itself: its permissions, or its end.
                return News::Lost;
            };
            if what.intersects(whole | ReadFlags::ISDIR) {
                return News::Lost;
            }
            let path = folder.join(OsStr::from_bytes(name));
            match is_content.contains(what) {
                true => News::Changed(path),
                false => News::Moved(path),
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
