//! Hidden refs of the main repository below `refs/burin/`, which protect commits from Git's garbage
//! collection.
//!
//! They are written by Git's rules: a lock file beside the ref, then a rename. A lock left by a
//! killed process would block the user for ever, so every lock is a hard link to a note file that
//! names its process. The notes of dead processes are removed together with the locks that have the
//! same inode.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use git::lease::MainRepo;

use crate::error::Error;
use crate::owner::Owner;

/// The hidden refs of one repository.
pub(crate) struct HiddenRefs {
    common: PathBuf,
}

/// Number of attempts to get a lock that another program holds, `STEP` apart.
const LOCK_ATTEMPTS: usize = 300;
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(10);

static COUNT: AtomicU64 = AtomicU64::new(0);

impl HiddenRefs {
    /// Returns the hidden refs of a repository; nothing is read yet.
    pub(crate) fn new(main_repo: &MainRepo) -> Self {
        Self {
            common: main_repo.common_dir(),
        }
    }

    /// Sets `refs/burin/NAME` to `commit`, durably. Waits up to 3 seconds for another program's lock.
    pub(crate) fn set(&self, name: &str, commit: &str) -> Result<(), Error> {
        let path = self.path(name);
        let line = format!("{commit}\n");
        if fs::read(&path).is_ok_and(|found| found == line.as_bytes()) {
            return Ok(());
        }
        let set = || -> io::Result<()> {
            let note = self.note(line.as_bytes())?;
            let lock = self.lock(&note, &path)?;
            fs::rename(lock, &path)?;
            Ok(())
        };
        set().map_err(Error::file("write the hidden ref", &path))
    }

    /// Removes `refs/burin/NAME`; a missing ref is not an error. Waits up to 3 seconds for another
    /// program's lock.
    pub(crate) fn remove(&self, name: &str) -> Result<(), Error> {
        let path = self.path(name);
        let remove = || -> io::Result<()> {
            let note = self.note(b"")?;
            let lock = self.lock(&note, &path)?;
            let removed = self.remove_locked(name, &path);
            fs::remove_file(lock)?;
            removed
        };
        remove().map_err(Error::file("remove the hidden ref", &path))
    }

    /// Removes the notes of dead processes, and their locks.
    pub(crate) fn clear_stale(&self) -> Result<(), Error> {
        let folder = self.notes();
        let Ok(notes) = fs::read_dir(&folder) else {
            return Ok(());
        };
        for note in notes.flatten() {
            let name = note.file_name().to_string_lossy().into_owned();
            let mut parts = name.split('-').map(str::parse::<u64>);
            let (Some(Ok(pid)), Some(Ok(started))) = (parts.next(), parts.next()) else {
                continue;
            };
            let owner = Owner::Process {
                pid: u32::try_from(pid).unwrap_or(0),
                started,
            };
            if owner.is_alive() {
                continue;
            }
            if let Ok(found) = note.metadata() {
                self.clear_locks(found.dev(), found.ino())
                    .map_err(Error::file("clear locks below", &self.common))?;
            }
            remove_if_there(&note.path()).map_err(Error::file("clear", &note.path()))?;
        }
        Ok(())
    }

    /// Removes a ref from the packed refs, which it locks for this, and its file at `path`. The
    /// caller holds the lock of the ref. A missing ref is not an error.
    fn remove_locked(&self, name: &str, path: &Path) -> io::Result<()> {
        let packed = self.common.join("packed-refs");
        let line_end = format!(" refs/burin/{name}");
        let is_packed = |text: &[u8]| {
            String::from_utf8_lossy(text)
                .lines()
                .any(|line| line.ends_with(&line_end))
        };
        if fs::read(&packed).is_ok_and(|text| is_packed(&text)) {
            let mut note = self.note(b"")?;
            let lock = self.lock(&note, &packed)?;
            // The file may have changed before it was locked, so it is read again.
            let text = fs::read(&packed)?;
            let mut is_ours = false;
            for line in text.split_inclusive(|byte| *byte == b'\n') {
                let trimmed = line.strip_suffix(b"\n").unwrap_or(line);
                // The peeled value of an annotated tag follows in a line of its own.
                is_ours = trimmed.ends_with(line_end.as_bytes())
                    || (is_ours && trimmed.starts_with(b"^"));
                if !is_ours {
                    note.file.write_all(line)?;
                }
            }
            note.file.sync_data()?;
            fs::rename(lock, &packed)?;
        }
        remove_if_there(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.common.join("refs/burin").join(name)
    }

    fn notes(&self) -> PathBuf {
        self.common.join("burin")
    }

    /// Creates a note file of this process with this content, synced to the disk.
    fn note(&self, content: &[u8]) -> io::Result<LockNote> {
        let Owner::Process { pid, started } = Owner::current_process() else {
            return Err(io::Error::other("this process has no id"));
        };
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        fs::create_dir_all(self.notes())?;
        let path = self.notes().join(format!("{pid}-{started}-{count}"));
        let mut file = fs::File::create(&path)?;
        let note = |file| LockNote { path, file };
        file.write_all(content)?;
        file.sync_data()?;
        Ok(note(file))
    }

    /// Locks a ref or the packed refs as Git does, and returns the path of the lock.
    fn lock(&self, note: &LockNote, path: &Path) -> io::Result<PathBuf> {
        let mut lock = path.as_os_str().to_owned();
        lock.push(".lock");
        let lock = PathBuf::from(lock);
        for step in 0..LOCK_ATTEMPTS {
            match fs::hard_link(&note.path, &lock) {
                Ok(()) => return Ok(lock),
                // Git removes empty folders of refs.
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    if let Some(folder) = path.parent() {
                        fs::create_dir_all(folder)?;
                    }
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    if step == 0 {
                        self.clear_stale().map_err(io::Error::other)?;
                    } else {
                        thread::sleep(LOCK_RETRY_INTERVAL);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other(format!(
            "another program holds {}; if none runs, remove that file",
            lock.display()
        )))
    }

    /// Removes the locks that are hard links to one note.
    fn clear_locks(&self, device: u64, inode: u64) -> io::Result<()> {
        let mut folders = vec![self.common.join("refs/burin")];
        let mut locks = vec![self.common.join("packed-refs.lock")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    _ if entry.path().extension().is_some_and(|end| end == "lock") => {
                        locks.push(entry.path())
                    }
                    _ => {}
                }
            }
        }
        for lock in locks {
            let is_ours = fs::symlink_metadata(&lock)
                .is_ok_and(|found| found.dev() == device && found.ino() == inode);
            if is_ours {
                remove_if_there(&lock)?;
            }
        }
        Ok(())
    }
}

/// A note file to which a lock is hard-linked. Removed on drop; the notes of a killed process are
/// found by their names.
struct LockNote {
    path: PathBuf,
    file: fs::File,
}

impl Drop for LockNote {
    fn drop(&mut self) {
        remove_if_there(&self.path).ok();
    }
}

/// Removes a file; a missing one is not an error.
fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
