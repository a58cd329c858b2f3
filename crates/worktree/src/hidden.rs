//! Hidden refs in the hub: `refs/burin/…`, which keep commits from being cleared away.
//!
//! Written by git's own rules: a lock file beside the ref, then a rename. A lock that a kill leaves would be in the
//! person's way for ever, so every lock is a second name of a note of ours that says whose it is. A note whose process
//! is gone is cleared away together with the lock that has its inode number, and no other.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use git::lease::Hub;

use crate::error::Error;
use crate::owner::Owner;

/// The hidden refs of one repository.
pub(crate) struct Hidden {
    common: PathBuf,
}

/// How long another program's lock is waited for, in steps of `STEP`.
const STEPS: usize = 300;
const STEP: Duration = Duration::from_millis(10);

static COUNT: AtomicU64 = AtomicU64::new(0);

impl Hidden {
    pub(crate) fn of(hub: &Hub) -> Self {
        Self {
            common: hub.common_dir(),
        }
    }

    /// Has `refs/burin/NAME` stand for `commit`, lastingly.
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

    /// Removes `refs/burin/NAME`; one that is not there is fine.
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

    /// Clears away what killed processes left: their notes, and the locks that are theirs.
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
            // Only what is read under the lock counts.
            let text = fs::read(&packed)?;
            let mut is_ours = false;
            for line in text.split_inclusive(|byte| *byte == b'\n') {
                let trimmed = line.strip_suffix(b"\n").unwrap_or(line);
                // What an annotated tag stands for follows it in a line of its own.
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

    fn note(&self, content: &[u8]) -> io::Result<Note> {
        let Owner::Process { pid, started } = Owner::this() else {
            return Err(io::Error::other("this process has no number"));
        };
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        fs::create_dir_all(self.notes())?;
        let path = self.notes().join(format!("{pid}-{started}-{count}"));
        let mut file = fs::File::create(&path)?;
        let note = |file| Note { path, file };
        file.write_all(content)?;
        file.sync_data()?;
        Ok(note(file))
    }

    /// Locks a ref or the file of packed ones as git does; the lock's path.
    fn lock(&self, note: &Note, path: &Path) -> io::Result<PathBuf> {
        let mut lock = path.as_os_str().to_owned();
        lock.push(".lock");
        let lock = PathBuf::from(lock);
        for step in 0..STEPS {
            match fs::hard_link(&note.path, &lock) {
                Ok(()) => return Ok(lock),
                // Git removes folders of refs when they are empty.
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    if let Some(folder) = path.parent() {
                        fs::create_dir_all(folder)?;
                    }
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    if step == 0 {
                        self.clear_stale().map_err(io::Error::other)?;
                    } else {
                        thread::sleep(STEP);
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

    /// Removes the locks that are second names of one note.
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

/// A file of ours that a lock is a second name of. Removed when dropped; what a kill leaves is found by its name.
struct Note {
    path: PathBuf,
    file: fs::File,
}

impl Drop for Note {
    fn drop(&mut self) {
        remove_if_there(&self.path).ok();
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
