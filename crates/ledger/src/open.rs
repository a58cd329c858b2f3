//! Opens the file: readable by its user only, migrated to the newest schema, moved aside if
//! damaged.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use base::AbsPath;

use crate::{Error, Ledger, OpenedLedger};

/// Poll interval and number of polls while another process writes: 5 seconds in all. SQLite's own
/// busy handler backs off to a tenth of a second and starves next to a process that writes
/// continuously.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
const MAX_POLLS: i32 = 5_000;

/// Schema migrations in order; the file's `user_version` counts those applied. Migrations are
/// added, never changed.
const MIGRATIONS: &[&str] = &[
    include_str!("open/first.sql"),
    include_str!("open/predictions.sql"),
    include_str!("open/marks.sql"),
    include_str!("open/occurrences.sql"),
    include_str!("open/quality.sql"),
];

/// A damaged ledger that `Ledger::open` moved aside before creating a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuarantinedLedger {
    /// Its new path; the `-wal` file lies next to it.
    pub moved_to: AbsPath,
    /// Description of the damage.
    pub cause: String,
}

impl std::fmt::Display for QuarantinedLedger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "the ledger was damaged ({}) and has been replaced by a new one; the old one is kept \
             as {}",
            self.cause, self.moved_to
        )
    }
}

impl Ledger {
    /// Opens the file, creating it and its folder if missing. `now_ms`, in milliseconds since 1970,
    /// becomes part of the name of a damaged file that is moved aside. Blocks on the disk, and on
    /// other processes that open it.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be created, is locked for too long, or was written by a newer
    /// Burin. Damage is not an error.
    pub fn open(path: &AbsPath, now_ms: u64) -> Result<OpenedLedger, Error> {
        if let Some(folder) = path.as_path().parent() {
            fs::create_dir_all(folder)
                .map_err(|error| Error::io("create the folder of", path, &error))?;
        }
        // Openers are serialized, so that a second process does not move aside the fresh file that
        // the first has just created. The lock is released on drop, and by the kernel after a
        // crash.
        let _lock = lock(path)?;
        match open_and_check(path) {
            Ok(ledger) => Ok(OpenedLedger {
                ledger,
                quarantined: None,
            }),
            Err(Error::Damaged { cause, .. }) => {
                let moved_to = quarantine(path, now_ms)?;
                let ledger = open_and_check(path)?;
                Ok(OpenedLedger {
                    ledger,
                    quarantined: Some(QuarantinedLedger { moved_to, cause }),
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Opens another handle on the same file, for use in another thread; without the check that
    /// `open` makes.
    pub fn reopen(&self) -> Result<Self, Error> {
        let connection = connect(&self.path)?;
        Ok(Self {
            connection,
            path: self.path.clone(),
        })
    }

    /// Converts an error of SQLite; `doing` is the attempted action. Damage found during work is
    /// recorded next to the file, since opening checks the whole file only if there is a reason to.
    pub(crate) fn convert_error(&self, doing: &'static str, error: &rusqlite::Error) -> Error {
        let error = Error::new(doing, &self.path, error);
        if matches!(error, Error::Damaged { .. })
            && let Err(unmarked) = File::create(with_suffix(&self.path, ".suspect"))
        {
            log::warn!("cannot mark the ledger as damaged: {unmarked}");
        }
        error
    }
}

/// Waits for the lock file beside the ledger, and holds it until the returned file is dropped.
fn lock(path: &AbsPath) -> Result<File, Error> {
    let failed = |error: &io::Error| Error::io("lock", path, error);
    let file = private(&with_suffix(path, ".lock")).map_err(|error| failed(&error))?;
    file.lock().map_err(|error| failed(&error))?;
    Ok(file)
}

/// Opens or creates a file that only this user may read.
fn private(path: &AbsPath) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .read(true)
        .mode(0o600)
        .open(path)
}

/// Opens the ledger or creates it, checks it if it is marked as suspect, and migrates it. Fails
/// with `Damaged` if the check or SQLite finds damage.
fn open_and_check(path: &AbsPath) -> Result<Ledger, Error> {
    drop(private(path).map_err(|error| Error::io("open", path, &error))?);
    let mut connection = connect(path)?;
    let suspect = with_suffix(path, ".suspect");
    if suspect.as_path().exists() {
        check_whole(&connection, path)?;
        fs::remove_file(&suspect).map_err(|error| Error::io("clear the mark of", path, &error))?;
    }
    migrate(&mut connection, path)?;
    Ok(Ledger {
        connection,
        path: path.clone(),
    })
}

/// Opens a connection that waits while another process writes, and syncs at every commit.
fn connect(path: &AbsPath) -> Result<Connection, Error> {
    let failed = |error: rusqlite::Error| Error::new("open", path, &error);
    let mut connection = Connection::open(path.as_path()).map_err(failed)?;
    connection.busy_handler(Some(wait)).map_err(failed)?;
    connection
        .pragma_update(None, "journal_mode", "wal")
        .map_err(failed)?;
    // Without these two, macOS syncs to the drive's cache only, and a power cut may lose commits or,
    // at a checkpoint, the file. Other systems ignore them.
    for pragma in ["fullfsync", "checkpoint_fullfsync"] {
        connection
            .pragma_update(None, pragma, true)
            .map_err(failed)?;
    }
    // In WAL mode only FULL syncs at every commit; NORMAL may lose the last ones in a power cut.
    connection
        .pragma_update(None, "synchronous", "full")
        .map_err(failed)?;
    Ok(connection)
}

/// Sleeps for `POLL_INTERVAL`, and returns whether SQLite is to try again after `looks` tries. A
/// busy handler.
fn wait(looks: i32) -> bool {
    std::thread::sleep(POLL_INTERVAL);
    looks < MAX_POLLS
}

/// Reads the whole file; fails with `Damaged` if SQLite finds a problem.
fn check_whole(connection: &Connection, path: &AbsPath) -> Result<(), Error> {
    let verdict: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|error| Error::new("check", path, &error))?;
    match verdict.as_str() {
        "ok" => Ok(()),
        _ => Err(Error::Damaged {
            path: path.clone(),
            cause: verdict,
        }),
    }
}

/// Applies the missing migrations in one transaction. Fails with `Newer` if the file has more
/// migrations than this program knows.
fn migrate(connection: &mut Connection, path: &AbsPath) -> Result<(), Error> {
    let failed = |error: rusqlite::Error| Error::new("migrate", path, &error);
    let known = count(MIGRATIONS.len());
    // Usually there is nothing to migrate; checking first avoids waiting for another process's
    // write.
    if version(connection).map_err(failed)? == known {
        return Ok(());
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(failed)?;
    let found = version(&transaction).map_err(failed)?;
    if found > known {
        return Err(Error::Newer {
            path: path.clone(),
            found,
            known,
        });
    }
    let taken = usize::try_from(found).unwrap_or(0);
    for step in &MIGRATIONS[taken..] {
        transaction.execute_batch(step).map_err(failed)?;
    }
    if found < known {
        transaction
            .pragma_update(None, "user_version", known)
            .map_err(failed)?;
    }
    transaction.commit().map_err(failed)
}

/// Returns the number of migrations applied to the file.
fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Renames the damaged file and its log, and returns the new path. Fails if either cannot be
/// renamed; the log may be absent.
fn quarantine(path: &AbsPath, now_ms: u64) -> Result<AbsPath, Error> {
    let failed = |error: io::Error| Error::io("move aside the damaged", path, &error);
    let aside = with_suffix(path, &format!(".damaged-{now_ms}"));
    fs::rename(path, &aside).map_err(failed)?;
    for (suffix, must) in [("-wal", true), ("-shm", false), (".suspect", false)] {
        match fs::rename(with_suffix(path, suffix), with_suffix(&aside, suffix)) {
            Err(error) if must && error.kind() != io::ErrorKind::NotFound => {
                return Err(failed(error));
            }
            // The log's index or a marker: worthless without the database file.
            Ok(()) | Err(_) => {}
        }
    }
    Ok(aside)
}

/// Returns `path` with `suffix` appended to its file name.
fn with_suffix(path: &AbsPath, suffix: &str) -> AbsPath {
    let mut name = path.as_path().as_os_str().to_owned();
    name.push(suffix);
    AbsPath::new(name).unwrap_or_else(|| {
        base::never!("an absolute path stays absolute when its name grows");
        path.clone()
    })
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
