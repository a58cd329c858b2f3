//! A mounted folder whose names fold as on the default volume of macOS: a FUSE layer over a
//! temporary folder.
//!
//! Names keep the spelling they were created with; every spelling finds them. A replacing rename
//! keeps the old spelling, an exchange is not supported, and there are no extended attributes. A
//! rename between two spellings of one name never reaches the layer: Linux takes it for done.
//! Invariant: no two names in a folder have the same key.

#![expect(
    clippy::disallowed_methods,
    reason = "a file system acts on the files behind it, and knows nothing of Burin"
)]

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileTimes, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base::NameRules;
use fuser::{
    BackgroundSession, BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem,
    FopenFlags, Generation, INodeNo, LockOwner, MountOption, OpenAccMode, OpenFlags, RenameFlags,
    ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use tempfile::TempDir;

/// The kernel asks again each time: it must not remember one spelling as the only one.
const TTL: Duration = Duration::ZERO;
const FIRST: Generation = Generation(0);
/// `ENOENT`.
const NOT_FOUND: i32 = 2;
/// `EEXIST`.
const EXISTS: i32 = 17;

/// A mounted volume; unmounted on drop.
pub struct FoldingVolume {
    session: Option<BackgroundSession>,
    mounted: PathBuf,
    /// Holds the backing folder and the mount point.
    _folder: TempDir,
}

impl FoldingVolume {
    /// Mounts a new, empty volume.
    ///
    /// # Errors
    /// If there is no `/dev/fuse`, or this process may not mount.
    pub fn mount() -> io::Result<Self> {
        let folder = TempDir::new()?;
        let (backing, mounted) = (folder.path().join("backing"), folder.path().join("Volume"));
        fs::create_dir(&backing)?;
        fs::create_dir(&mounted)?;
        let mut config = Config::default();
        let name = MountOption::FSName("folding".to_owned());
        config.mount_options.push(name);
        let session = fuser::spawn_mount(FoldingLayer::new(backing), &mounted, &config)?;
        Ok(Self {
            session: Some(session),
            mounted: fs::canonicalize(mounted)?,
            _folder: folder,
        })
    }

    /// Returns the folder in which names fold.
    pub fn path(&self) -> &Path {
        &self.mounted
    }
}

impl Drop for FoldingVolume {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.session.take().map(BackgroundSession::umount_and_join) {
            let text = format!("cannot unmount {}: {error}\n", self.mounted.display());
            crate::write_uncaptured(&text);
        }
    }
}

struct FoldingLayer {
    state: Mutex<LayerState>,
}

struct LayerState {
    root: PathBuf,
    /// Inode numbers of the backing folder with their paths there; 1 is the root.
    paths: HashMap<u64, PathBuf>,
    open: HashMap<u64, File>,
    next_handle: u64,
}

impl FoldingLayer {
    fn new(root: PathBuf) -> Self {
        let state = LayerState {
            paths: HashMap::from([(INodeNo::ROOT.0, root.clone())]),
            root,
            open: HashMap::new(),
            next_handle: 1,
        };
        Self {
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, LayerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LayerState {
    fn path(&self, ino: INodeNo) -> io::Result<PathBuf> {
        let path = self.paths.get(&ino.0).cloned();
        path.ok_or_else(|| io::Error::from_raw_os_error(NOT_FOUND))
    }

    /// Returns the entry of this name in any spelling, as it is stored.
    fn stored(&self, parent: INodeNo, name: &OsStr) -> io::Result<Option<PathBuf>> {
        for entry in fs::read_dir(self.path(parent)?)? {
            let stored = entry?.file_name();
            if NameRules::FOLDING.is_same(&stored, name) {
                return Ok(Some(self.path(parent)?.join(stored)));
            }
        }
        Ok(None)
    }

    fn existing(&self, parent: INodeNo, name: &OsStr) -> io::Result<PathBuf> {
        let stored = self.stored(parent, name)?;
        stored.ok_or_else(|| io::Error::from_raw_os_error(NOT_FOUND))
    }

    fn unused(&self, parent: INodeNo, name: &OsStr) -> io::Result<PathBuf> {
        match self.stored(parent, name)? {
            Some(_) => Err(io::Error::from_raw_os_error(EXISTS)),
            None => Ok(self.path(parent)?.join(name)),
        }
    }

    /// Returns the attributes of an entry, which is known by its number from now on.
    fn entry(&mut self, path: PathBuf) -> io::Result<FileAttr> {
        let attr = self.attr(&fs::symlink_metadata(&path)?);
        self.paths.insert(attr.ino.0, path);
        Ok(attr)
    }

    fn attr(&self, metadata: &Metadata) -> FileAttr {
        let is_root = fs::symlink_metadata(&self.root).is_ok_and(|it| it.ino() == metadata.ino());
        let since = |seconds: i64, nanos: i64| {
            let nanos = u64::try_from(nanos).unwrap_or(0);
            let seconds = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
            UNIX_EPOCH + seconds + Duration::from_nanos(nanos)
        };
        FileAttr {
            ino: if is_root {
                INodeNo::ROOT
            } else {
                INodeNo(metadata.ino())
            },
            size: metadata.size(),
            blocks: metadata.blocks(),
            atime: since(metadata.atime(), metadata.atime_nsec()),
            mtime: since(metadata.mtime(), metadata.mtime_nsec()),
            ctime: since(metadata.ctime(), metadata.ctime_nsec()),
            crtime: UNIX_EPOCH,
            kind: kind(metadata.file_type()),
            perm: (metadata.mode() & 0o7777) as u16,
            nlink: u32::try_from(metadata.nlink()).unwrap_or(u32::MAX),
            uid: metadata.uid(),
            gid: metadata.gid(),
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }

    fn open(&mut self, file: File) -> FileHandle {
        let handle = self.next_handle;
        self.next_handle += 1;
        self.open.insert(handle, file);
        FileHandle(handle)
    }

    fn file(&self, handle: FileHandle) -> io::Result<&File> {
        let file = self.open.get(&handle.0);
        file.ok_or_else(|| io::Error::from_raw_os_error(NOT_FOUND))
    }

    fn rename(
        &mut self,
        from: (INodeNo, &OsStr),
        to: (INodeNo, &OsStr),
        flags: RenameFlags,
    ) -> Result<(), Errno> {
        if flags.contains(RenameFlags::RENAME_EXCHANGE) {
            return Err(Errno::ENOTSUP);
        }
        let old = self.existing(from.0, from.1)?;
        let new = match self.stored(to.0, to.1)? {
            Some(_) if flags.contains(RenameFlags::RENAME_NOREPLACE) => return Err(Errno::EEXIST),
            Some(stored) => stored,
            None => self.path(to.0)?.join(to.1),
        };
        fs::rename(&old, &new)?;
        for path in self.paths.values_mut() {
            if let Ok(rest) = path.strip_prefix(&old) {
                *path = if rest.as_os_str().is_empty() {
                    new.clone()
                } else {
                    new.join(rest)
                };
            }
        }
        Ok(())
    }
}

fn kind(kind: fs::FileType) -> FileType {
    FileType::from_std(kind).unwrap_or(FileType::RegularFile)
}

fn options(flags: OpenFlags) -> OpenOptions {
    let mut options = OpenOptions::new();
    match flags.acc_mode() {
        OpenAccMode::O_RDONLY => options.read(true),
        OpenAccMode::O_WRONLY => options.write(true),
        OpenAccMode::O_RDWR => options.read(true).write(true),
    };
    options
}

fn time(time: TimeOrNow) -> SystemTime {
    match time {
        TimeOrNow::SpecificTime(time) => time,
        TimeOrNow::Now => SystemTime::now(),
    }
}

/// Answers a request, or with the error.
macro_rules! answer {
    ($reply:ident, $result:expr, $value:pat => $success:expr) => {
        match $result {
            Ok($value) => $success,
            Err(error) => $reply.error(Errno::from(error)),
        }
    };
}

impl Filesystem for FoldingLayer {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let mut state = self.state();
        let found = state.existing(parent, name);
        let found = found.and_then(|path| state.entry(path));
        answer!(reply, found, attr => reply.entry(&TTL, &attr, FIRST));
    }

    fn getattr(&self, _: &Request, ino: INodeNo, fh: Option<FileHandle>, reply: ReplyAttr) {
        let state = self.state();
        let metadata = match fh.and_then(|fh| state.open.get(&fh.0)) {
            Some(file) => file.metadata(),
            None => state.path(ino).and_then(fs::symlink_metadata),
        };
        answer!(reply, metadata, metadata => reply.attr(&TTL, &state.attr(&metadata)));
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        fh: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let state = self.state();
        let change = || -> io::Result<Metadata> {
            let path = state.path(ino)?;
            if let Some(mode) = mode {
                fs::set_permissions(&path, Permissions::from_mode(mode & 0o7777))?;
            }
            if uid.is_some() || gid.is_some() {
                std::os::unix::fs::lchown(&path, uid, gid)?;
            }
            let open = fh.and_then(|fh| state.open.get(&fh.0));
            if let Some(size) = size {
                match open {
                    Some(file) => file.set_len(size)?,
                    None => OpenOptions::new().write(true).open(&path)?.set_len(size)?,
                }
            }
            let mut times = FileTimes::new();
            times = atime.map_or(times, |at| times.set_accessed(time(at)));
            times = mtime.map_or(times, |at| times.set_modified(time(at)));
            if atime.is_some() || mtime.is_some() {
                match open {
                    Some(file) => file.set_times(times)?,
                    None => File::open(&path)?.set_times(times)?,
                }
            }
            open.map_or_else(|| fs::symlink_metadata(&path), File::metadata)
        };
        answer!(reply, change(), metadata => reply.attr(&TTL, &state.attr(&metadata)));
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        let target = self.state().path(ino).and_then(fs::read_link);
        answer!(reply, target, target => reply.data(target.as_os_str().as_encoded_bytes()));
    }

    fn mkdir(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        reply: ReplyEntry,
    ) {
        let mut state = self.state();
        let made = state.unused(parent, name).and_then(|path| {
            fs::create_dir(&path)?;
            fs::set_permissions(&path, Permissions::from_mode(mode & !umask & 0o7777))?;
            state.entry(path)
        });
        answer!(reply, made, attr => reply.entry(&TTL, &attr, FIRST));
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let removed = self
            .state()
            .existing(parent, name)
            .and_then(fs::remove_file);
        answer!(reply, removed, () => reply.ok());
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let removed = self.state().existing(parent, name).and_then(fs::remove_dir);
        answer!(reply, removed, () => reply.ok());
    }

    fn symlink(
        &self,
        _: &Request,
        parent: INodeNo,
        link_name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let mut state = self.state();
        let made = state.unused(parent, link_name).and_then(|path| {
            symlink(target, &path)?;
            state.entry(path)
        });
        answer!(reply, made, attr => reply.entry(&TTL, &attr, FIRST));
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let renamed = self
            .state()
            .rename((parent, name), (newparent, newname), flags);
        answer!(reply, renamed, () => reply.ok());
    }

    fn link(
        &self,
        _: &Request,
        ino: INodeNo,
        newparent: INodeNo,
        newname: &OsStr,
        reply: ReplyEntry,
    ) {
        let mut state = self.state();
        let made = state.unused(newparent, newname).and_then(|path| {
            fs::hard_link(state.path(ino)?, &path)?;
            state.entry(path)
        });
        answer!(reply, made, attr => reply.entry(&TTL, &attr, FIRST));
    }

    fn open(&self, _: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let mut state = self.state();
        let file = state.path(ino).and_then(|path| options(flags).open(path));
        answer!(reply, file, file => reply.opened(state.open(file), FopenFlags::empty()));
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let mut state = self.state();
        let made = state.unused(parent, name).and_then(|path| {
            let mut options = options(OpenFlags(flags));
            options
                .write(true)
                .create_new(true)
                .mode(mode & !umask & 0o7777);
            let file = options.open(&path)?;
            Ok((state.entry(path)?, state.open(file)))
        });
        answer!(reply, made, (attr, handle) => {
            reply.created(&TTL, &attr, FIRST, handle, FopenFlags::empty());
        });
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let state = self.state();
        let mut buffer = vec![0; size as usize];
        let mut filled = 0;
        while filled < buffer.len() {
            let file = state.file(fh);
            match file.and_then(|it| it.read_at(&mut buffer[filled..], offset + filled as u64)) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) => return reply.error(Errno::from(error)),
            }
        }
        reply.data(&buffer[..filled]);
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let state = self.state();
        let written = state
            .file(fh)
            .and_then(|file| file.write_all_at(data, offset));
        answer!(reply, written, () => reply.written(u32::try_from(data.len()).unwrap_or(0)));
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.state().open.remove(&fh.0);
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, fh: FileHandle, _: bool, reply: ReplyEmpty) {
        let synced = self.state().file(fh).and_then(File::sync_all);
        answer!(reply, synced, () => reply.ok());
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }

    fn readdir(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let state = self.state();
        let entries = state.path(ino).and_then(|folder| {
            let mut entries: Vec<(INodeNo, FileType, OsString)> = vec![
                (ino, FileType::Directory, OsString::from(".")),
                (ino, FileType::Directory, OsString::from("..")),
            ];
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                let metadata = entry.metadata()?;
                let ino = INodeNo(metadata.ino());
                entries.push((ino, kind(metadata.file_type()), entry.file_name()));
            }
            entries.sort_by(|one, other| one.2.cmp(&other.2));
            Ok(entries)
        });
        answer!(reply, entries, entries => {
            let from = usize::try_from(offset).unwrap_or(usize::MAX);
            for (ix, (ino, kind, name)) in entries.iter().enumerate().skip(from) {
                if reply.add(*ino, ix as u64 + 1, *kind, name) {
                    break;
                }
            }
            reply.ok();
        });
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(1 << 30, 1 << 29, 1 << 29, 1 << 20, 1 << 20, 4096, 255, 4096);
    }
}

#[cfg(test)]
mod tests;
