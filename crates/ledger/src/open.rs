//! Opening the file: private to its user, in its newest form, or moved aside when it is damaged.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use base::AbsPath;

use crate::{Error, Ledger, Opened};

/// How often one process looks whether another's write is done, and how many times: 5 seconds in all. SQLite's own
/// waiting grows to a tenth of a second between looks and starves beside somebody who writes all the time.
const LOOK: Duration = Duration::from_millis(1);
const LOOKS: i32 = 5_000;

/// The form of the tables, one step at a time; the file's `user_version` counts the steps that were taken.
/// Steps are added, never changed.
const STEPS: &[&str] = &[include_str!("open/first.sql")];

/// A damaged ledger that was moved out of the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// Where it lies now; its `-wal` lies beside it.
    pub moved_to: AbsPath,
    /// What was wrong with it.
    pub cause: String,
}

impl std::fmt::Display for SetAside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "the ledger was damaged ({}) and a new one was begun; the old one is kept as {}",
            self.cause, self.moved_to
        )
    }
}

impl Ledger {
    /// Opens the file, and creates it and its folder when they are missing. `now_ms` is milliseconds since
    /// 1970; it names a damaged file that has to be moved aside.
    pub fn open(path: &AbsPath, now_ms: u64) -> Result<Opened, Error> {
        if let Some(folder) = path.as_path().parent() {
            fs::create_dir_all(folder)
                .map_err(|error| Error::io("create the folder of", path, &error))?;
        }
        // While it is held nobody else opens, so that two of us never move aside one after the other and
        // take away the fresh file of the first. It is released when dropped, and by the kernel at a crash.
        let _lock = lock(path)?;
        match open_and_check(path) {
            Ok(ledger) => Ok(Opened {
                ledger,
                set_aside: None,
            }),
            Err(Error::Damaged { cause, .. }) => {
                let moved_to = move_aside(path, now_ms)?;
                let ledger = open_and_check(path)?;
                Ok(Opened {
                    ledger,
                    set_aside: Some(SetAside { moved_to, cause }),
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Another handle on the same file, for another thread.
    pub fn again(&self) -> Result<Self, Error> {
        let connection = connect(&self.path)?;
        Ok(Self {
            connection,
            path: self.path.clone(),
        })
    }

    /// An error of SQLite's as ours. A damage found at work is remembered beside the file, since opening
    /// looks at the whole file only when it has a reason to.
    pub(crate) fn fault(&self, doing: &'static str, error: &rusqlite::Error) -> Error {
        let error = Error::new(doing, &self.path, error);
        if matches!(error, Error::Damaged { .. })
            && let Err(unmarked) = File::create(beside(&self.path, ".suspect"))
        {
            log::warn!("cannot mark the ledger as damaged: {unmarked}");
        }
        error
    }
}

fn lock(path: &AbsPath) -> Result<File, Error> {
    let failed = |error: &io::Error| Error::io("lock", path, error);
    let file = private(&beside(path, ".lock")).map_err(|error| failed(&error))?;
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

fn open_and_check(path: &AbsPath) -> Result<Ledger, Error> {
    drop(private(path).map_err(|error| Error::io("open", path, &error))?);
    let mut connection = connect(path)?;
    let suspect = beside(path, ".suspect");
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

fn connect(path: &AbsPath) -> Result<Connection, Error> {
    let failed = |error: rusqlite::Error| Error::new("open", path, &error);
    let mut connection = Connection::open(path.as_path()).map_err(failed)?;
    connection.busy_handler(Some(wait)).map_err(failed)?;
    connection
        .pragma_update(None, "journal_mode", "wal")
        .map_err(failed)?;
    // In WAL mode only FULL syncs at every commit; NORMAL may lose the last ones in a power cut.
    connection
        .pragma_update(None, "synchronous", "full")
        .map_err(failed)?;
    Ok(connection)
}

fn wait(looks: i32) -> bool {
    std::thread::sleep(LOOK);
    looks < LOOKS
}

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

fn migrate(connection: &mut Connection, path: &AbsPath) -> Result<(), Error> {
    let failed = |error: rusqlite::Error| Error::new("bring up to date", path, &error);
    let known = count(STEPS.len());
    // Most openings find nothing to do, and need not wait for somebody's write to see it.
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
    for step in &STEPS[taken..] {
        transaction.execute_batch(step).map_err(failed)?;
    }
    if found < known {
        transaction
            .pragma_update(None, "user_version", known)
            .map_err(failed)?;
    }
    transaction.commit().map_err(failed)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn move_aside(path: &AbsPath, now_ms: u64) -> Result<AbsPath, Error> {
    let failed = |error: io::Error| Error::io("move aside the damaged", path, &error);
    let aside = beside(path, &format!(".damaged-{now_ms}"));
    fs::rename(path, &aside).map_err(failed)?;
    for (suffix, must) in [("-wal", true), ("-shm", false), (".suspect", false)] {
        match fs::rename(beside(path, suffix), beside(&aside, suffix)) {
            Err(error) if must && error.kind() != io::ErrorKind::NotFound => {
                return Err(failed(error));
            }
            // An index of the log, or a mark: worth nothing without the file.
            Ok(()) | Err(_) => {}
        }
    }
    Ok(aside)
}

/// `path` with a suffix to its name.
fn beside(path: &AbsPath, suffix: &str) -> AbsPath {
    let mut name = path.as_path().as_os_str().to_owned();
    name.push(suffix);
    AbsPath::new(name).unwrap_or_else(|| {
        base::never!("an absolute path with a longer name is absolute");
        path.clone()
    })
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
