//! The persistent records of leases and bases, in our own folders.

use std::fs;
use std::io::Write;
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::backend::TreeBackend;
use crate::error::Error;
use crate::owner::Owner;
use crate::setup::SetupResult;
use crate::share::SharedPath;

/// The record of a lease. It is written last: a lease without it was never complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeaseRecord {
    pub(crate) version: u32,
    pub(crate) id: String,
    /// The checkout from which it was leased.
    pub(crate) hub: String,
    /// The full id of the commit from which it started.
    pub(crate) commit: String,
    /// The commit at which its branch started; differs from `commit` only for restored archives.
    pub(crate) start: String,
    /// The tree of `start`, which names its base.
    pub(crate) tree: String,
    pub(crate) branch: String,
    pub(crate) rung: TreeBackend,
    /// Whether its overlay uses the user's attributes.
    pub(crate) by_user: bool,
    pub(crate) ports: Range<u16>,
    /// Name for databases and similar resources.
    pub(crate) name: String,
    pub(crate) created_ms: u64,
    pub(crate) owner: Owner,
    /// The config of its git folder, as we wrote it.
    pub(crate) config: String,
    /// Whether the config names a file system monitor.
    #[serde(default)]
    pub(crate) has_monitor: bool,
    #[serde(default)]
    pub(crate) shared: Vec<SharedPath>,
    #[serde(default)]
    pub(crate) caveats: Vec<String>,
    #[serde(default)]
    pub(crate) set_up: Option<SetupResult>,
    /// The commit whose work is known to have landed.
    #[serde(default)]
    pub(crate) landed: Option<String>,
    /// The work that has landed completely.
    #[serde(default)]
    pub(crate) whole: Option<WholeLanding>,
}

/// The work of a lease that has landed completely.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WholeLanding {
    /// The tree of the lease, as Git would store it.
    pub(crate) tree: String,
    /// The commit of the main repository that contains it.
    pub(crate) commit: String,
}

/// The record of a base. It is written last: a base without it is incomplete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BaseRecord {
    pub(crate) version: u32,
    pub(crate) tree: String,
    /// The rules by which its files were written; only bases with equal rules share files.
    pub(crate) fit: String,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    #[serde(default)]
    pub(crate) caveats: Vec<String>,
    /// The boot during which it was made.
    pub(crate) boot: String,
}

/// The version of the record format.
pub(crate) const VERSION: u32 = 1;

/// Writes a record atomically. A crash of the machine within the next seconds may lose it; `settle`
/// waits for the disk.
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

/// Reads a record; `None` if it is missing or invalid.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Waits until a record and its directory entry are on the disk.
pub(crate) fn sync(path: &Path) -> std::io::Result<()> {
    fs::File::open(path)?.sync_all()?;
    match path.parent() {
        Some(folder) => fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
