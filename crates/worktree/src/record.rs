//! What is written about leases and bases, in our own folders.

use std::fs;
use std::io::Write;
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::owner::Owner;
use crate::rung::Rung;
use crate::setup::SetUp;
use crate::share::Shared;

/// What is kept of a lease. Written last of all its files: without it a lease was never ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeaseRecord {
    pub(crate) version: u32,
    pub(crate) id: String,
    /// The checkout it was leased from.
    pub(crate) hub: String,
    /// The commit it began with, in full.
    pub(crate) commit: String,
    /// The commit its branch stood at when it was made; another one only where archived work came back.
    pub(crate) start: String,
    /// The tree of `start`; the name of its base.
    pub(crate) tree: String,
    pub(crate) branch: String,
    pub(crate) rung: Rung,
    /// Whether its overlay notes things in attributes of the user.
    pub(crate) by_user: bool,
    pub(crate) ports: Range<u16>,
    /// For databases and the like.
    pub(crate) name: String,
    pub(crate) created_ms: u64,
    pub(crate) owner: Owner,
    /// The config of its git folder, as we wrote it.
    pub(crate) config: String,
    /// Whether that config names a program that tells git what changed.
    #[serde(default)]
    pub(crate) has_monitor: bool,
    #[serde(default)]
    pub(crate) shared: Vec<Shared>,
    #[serde(default)]
    pub(crate) caveats: Vec<String>,
    #[serde(default)]
    pub(crate) set_up: Option<SetUp>,
    /// The commit whose work is known to have landed.
    #[serde(default)]
    pub(crate) landed: Option<String>,
    /// What of it has landed as a whole.
    #[serde(default)]
    pub(crate) whole: Option<Whole>,
}

/// The work of a lease that landed, all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Whole {
    /// What lay in the lease, as a tree of git.
    pub(crate) tree: String,
    /// What it became in the checkout.
    pub(crate) commit: String,
}

/// What is kept of a base. Written last: without it the base is not whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BaseRecord {
    pub(crate) version: u32,
    pub(crate) tree: String,
    /// What decided how its files were written; files of a base with other words are not taken over.
    pub(crate) fit: String,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    #[serde(default)]
    pub(crate) caveats: Vec<String>,
    /// The run of the machine in which it was made.
    pub(crate) boot: String,
}

/// The form of these records.
pub(crate) const VERSION: u32 = 1;

/// Writes a record so that it is there whole or not at all. A crash of the machine within the next seconds may take it
/// back; `settle` waits for the disk.
pub(crate) fn write<T: Serialize>(path: &Path, record: &T) -> Result<(), Error> {
    let text = serde_json::to_vec_pretty(record)
        .map_err(|error| Error::file("write", path)(std::io::Error::other(error.to_string())))?;
    // Two threads may write the same record at once.
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_extension(format!("new-{}-{number}", std::process::id()));
    let written = fs::OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(&temporary)
        .and_then(|mut file| file.write_all(&text))
        .and_then(|()| fs::rename(&temporary, path));
    written.map_err(Error::file("write", path))
}

/// A record; `None` where there is none or it is torn.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Returns once a record and its name are on the disk.
pub(crate) fn settle(path: &Path) -> std::io::Result<()> {
    fs::File::open(path)?.sync_all()?;
    match path.parent() {
        Some(folder) => fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
