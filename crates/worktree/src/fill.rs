//! Writes trees with several threads: from Git's objects, or from another tree.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::thread;

use base::AbsPath;
use git::lease::{BlobReader, CommitFile, FileStat, FileTime};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, linkat, lstat, utimensat};

use crate::error::Error;

/// The source of a tree's contents.
#[derive(Clone, Copy)]
pub(crate) enum FillSource<'a> {
    /// The objects of the repository with this checkout, and the tree's id.
    Objects(&'a AbsPath, &'a str),
    /// A read-only tree of ours, whose files are hard-linked.
    Links(&'a Path),
    /// A tree of ours, whose files are cloned block by block.
    Clones(&'a Path),
    /// A tree of ours, whose files are copied.
    Copies(&'a Path),
}

/// A file to write, with its modification time; the present time if `None`.
pub(crate) type FileToWrite<'a> = (&'a CommitFile, Option<FileTime>);

/// Writes `orders` into `to`, which must not contain them yet, and returns the metadata of each, in
/// the same order.
pub(crate) fn write_tree(
    to: &Path,
    orders: &[FileToWrite<'_>],
    source: FillSource<'_>,
) -> Result<Vec<FileStat>, Error> {
    make_folders(to, orders)?;
    let threads = thread::available_parallelism()
        .map_or(2, usize::from)
        .min(8);
    let share = orders.len().div_ceil(threads).max(64);
    let parts = thread::scope(|scope| {
        let workers: Vec<_> = orders
            .chunks(share)
            .map(|part| scope.spawn(move || fill_part(to, part, source)))
            .collect();
        let joined = workers.into_iter().map(|worker| {
            worker.join().unwrap_or_else(|_| {
                Err(Error::Refused(
                    "a thread that fills a worktree panicked".to_owned(),
                ))
            })
        });
        joined.collect::<Result<Vec<_>, Error>>()
    })?;
    Ok(parts.into_iter().flatten().collect())
}

/// Creates the parent folders of all files below `to`. Existing ones are no error.
fn make_folders(to: &Path, orders: &[FileToWrite<'_>]) -> Result<(), Error> {
    let mut folders = BTreeSet::new();
    for (file, _) in orders {
        let mut folder = as_path(&file.path).parent();
        while let Some(path) = folder.filter(|path| !path.as_os_str().is_empty()) {
            if !folders.insert(path.to_path_buf()) {
                break;
            }
            folder = path.parent();
        }
    }
    for folder in folders {
        make_folder(&to.join(folder))?;
    }
    Ok(())
}

/// Creates a folder in an existing one; does nothing if there is an entry of that name.
pub(crate) fn make_folder(path: &Path) -> Result<(), Error> {
    match fs::create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(Error::file("create", path)(error))
        }
        _ => Ok(()),
    }
}

/// Writes some of the files, in order, and returns the metadata of each.
fn fill_part(
    to: &Path,
    part: &[FileToWrite<'_>],
    source: FillSource<'_>,
) -> Result<Vec<FileStat>, Error> {
    let reader = match source {
        FillSource::Objects(main_repo, tree) => Some(BlobReader::open(main_repo, tree)?),
        _ => None,
    };
    let mut stamps = Vec::with_capacity(part.len());
    for (file, time) in part {
        let path = to.join(as_path(&file.path));
        match (source, &reader) {
            (FillSource::Links(from) | FillSource::Clones(from) | FillSource::Copies(from), _) => {
                let from = from.join(as_path(&file.path));
                duplicate_file(source, &from, &path, file).map_err(Error::file("write", &path))?;
            }
            (FillSource::Objects(..), Some(reader)) => {
                let content = reader.read(file)?;
                write(&path, file.mode, &content).map_err(Error::file("write", &path))?;
                if let Some(time) = time {
                    set_time(&path, *time).map_err(Error::file("write", &path))?;
                }
            }
            (FillSource::Objects(..), None) => {}
        }
        stamps.push(stamp(&path)?);
    }
    Ok(stamps)
}

/// Writes a new file, or a symlink with `content` as its target, depending on Git's `mode`. Fails
/// if the path exists.
fn write(path: &Path, mode: u32, content: &[u8]) -> io::Result<()> {
    if mode == 0o120000 {
        return symlink(std::ffi::OsStr::from_bytes(content), path);
    }
    create(path, mode)?.write_all(content)
}

/// Creates a file for writing, executable if Git's `mode` says so. Fails if the path exists.
fn create(path: &Path, mode: u32) -> io::Result<File> {
    let mode = if mode & 0o111 != 0 { 0o777 } else { 0o666 };
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(mode).open(path)
}

/// Links, clones or copies a file, and keeps its modification time.
fn duplicate_file(
    source: FillSource<'_>,
    from: &Path,
    to: &Path,
    file: &CommitFile,
) -> io::Result<()> {
    if matches!(source, FillSource::Links(_)) {
        match linkat(CWD, from, CWD, to, AtFlags::empty()) {
            Ok(()) => return Ok(()),
            // The number of hard links is limited, and some file systems support none.
            Err(
                rustix::io::Errno::MLINK | rustix::io::Errno::PERM | rustix::io::Errno::OPNOTSUPP,
            ) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    let stat = lstat(from)?;
    if file.mode == 0o120000 {
        symlink(fs::read_link(from)?, to)?;
    } else {
        let (old, mut new) = (File::open(from)?, create(to, file.mode)?);
        match source {
            FillSource::Clones(_) => rustix::fs::ioctl_ficlone(&new, &old)?,
            _ => {
                io::copy(&mut &old, &mut new)?;
            }
        }
    }
    set_time(to, times(stat.st_mtime, stat.st_mtime_nsec as u64))
}

/// Sets the access and the modification time of a file or symlink.
fn set_time(path: &Path, time: FileTime) -> io::Result<()> {
    let time = Timespec {
        tv_sec: time.seconds,
        tv_nsec: time.nanoseconds.into(),
    };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(())
}

/// The metadata of a file, as the index stores it.
pub(crate) fn stamp(path: &Path) -> Result<FileStat, Error> {
    let stat = lstat(path).map_err(Error::errno("look at", path))?;
    Ok(FileStat {
        ctime: times(stat.st_ctime, stat.st_ctime_nsec as u64),
        mtime: times(stat.st_mtime, stat.st_mtime_nsec as u64),
        device: stat.st_dev,
        inode: stat.st_ino,
        user: stat.st_uid,
        group: stat.st_gid,
        size: u64::try_from(stat.st_size).unwrap_or(0),
    })
}

fn times(seconds: i64, nanoseconds: u64) -> FileTime {
    FileTime {
        seconds,
        nanoseconds: u32::try_from(nanoseconds).unwrap_or(0),
    }
}

pub(crate) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// The same as `as_path`, as an owned path.
pub(crate) fn to_path(bytes: &[u8]) -> PathBuf {
    as_path(bytes).to_path_buf()
}
