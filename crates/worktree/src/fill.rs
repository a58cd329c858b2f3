//! Writes trees with several threads: from Git's objects, or from another tree.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::thread;

use base::AbsPath;
use git::lease::{BlobReader, CommitFile, FileStat, FileTime};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, linkat, lstat, utimensat};
use rustix::io::Errno;

use crate::clone;
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
/// the same order. Several threads share the work; a failure leaves a part of the files.
pub(crate) fn write_tree(
    to: &Path,
    orders: &[FileToWrite<'_>],
    source: FillSource<'_>,
) -> Result<Vec<FileStat>, Error> {
    make_folders(to, orders)?;
    let most = match source {
        FillSource::Clones(_) => clone::MAX_THREADS,
        _ => MAX_THREADS,
    };
    in_parts(orders, most, |part| fill_part(to, part, source))
}

/// Returns the metadata of files that are in the tree `to` already, in the same order. A file that
/// was modified after `latest` gets that time first: Git reads files as young as the index. Several
/// threads share the work.
pub(crate) fn stamp_tree(
    to: &Path,
    files: &[CommitFile],
    latest: FileTime,
) -> Result<Vec<FileStat>, Error> {
    in_parts(files, MAX_THREADS, |part| {
        let stamps = part.iter().map(|file| {
            let path = to.join(as_path(&file.path));
            let found = stamp(&path)?;
            if found.mtime <= latest {
                return Ok(found);
            }
            set_time(&path, latest).map_err(Error::file("write", &path))?;
            stamp(&path)
        });
        stamps.collect()
    })
}

/// The largest number of threads that work on one tree.
const MAX_THREADS: usize = 8;

/// Lets several threads work on parts of `all`, and joins their answers in order.
fn in_parts<T: Sync>(
    all: &[T],
    most: usize,
    work: impl Fn(&[T]) -> Result<Vec<FileStat>, Error> + Sync,
) -> Result<Vec<FileStat>, Error> {
    let threads = thread::available_parallelism()
        .map_or(2, usize::from)
        .min(most);
    let share = all.len().div_ceil(threads).max(64);
    let work = &work;
    let parts = thread::scope(|scope| {
        let workers: Vec<_> = all
            .chunks(share)
            .map(|part| scope.spawn(move || work(part)))
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

/// Creates the parent folders of all files below `to`. Existing ones are not an error.
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

/// The errors after which a file is copied: the number of hard links is limited, and some file systems
/// support none, or none of symlinks. Two of them are one on Linux.
const UNLINKABLE: [Errno; 4] = [Errno::MLINK, Errno::PERM, Errno::OPNOTSUPP, Errno::NOTSUP];

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
            Err(errno) if UNLINKABLE.contains(&errno) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    let stat = lstat(from)?;
    if file.mode == 0o120000 {
        symlink(fs::read_link(from)?, to)?;
    } else {
        let old = File::open(from)?;
        match source {
            FillSource::Clones(_) => clone::file(&old, to, file.mode)?,
            _ => {
                io::copy(&mut &old, &mut create(to, file.mode)?)?;
            }
        }
    }
    let time = FileTime {
        seconds: stat.st_mtime,
        nanoseconds: u32::try_from(stat.st_mtime_nsec).unwrap_or(0),
    };
    set_time(to, time)
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

/// Returns the metadata of a file or link, as the index stores it.
pub(crate) fn stamp(path: &Path) -> Result<FileStat, Error> {
    let stat = fs::symlink_metadata(path).map_err(Error::file("look at", path))?;
    let time = |seconds: i64, nanoseconds: i64| FileTime {
        seconds,
        nanoseconds: u32::try_from(nanoseconds).unwrap_or(0),
    };
    Ok(FileStat {
        ctime: time(stat.ctime(), stat.ctime_nsec()),
        mtime: time(stat.mtime(), stat.mtime_nsec()),
        device: stat.dev(),
        inode: stat.ino(),
        user: stat.uid(),
        group: stat.gid(),
        size: stat.size(),
    })
}

/// Returns bytes of Git as a path.
pub(crate) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// Returns bytes of Git as an owned path.
pub(crate) fn to_path(bytes: &[u8]) -> PathBuf {
    as_path(bytes).to_path_buf()
}
