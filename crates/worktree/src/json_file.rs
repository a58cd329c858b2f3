//! Small JSON files in our own folders, replaced atomically.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Writes `value` atomically, readable by the user alone. A crash of the machine within the next seconds may lose it; `sync`
/// waits for the disk.
pub(crate) fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), Error> {
    let text = serde_json::to_vec_pretty(value)
        .map_err(|error| Error::file("write", path)(std::io::Error::other(error.to_string())))?;
    // Two threads may write the same file at once.
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

/// Reads a file; `None` if it is missing or invalid.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Waits until a file and its directory entry are on the disk.
pub(crate) fn sync(path: &Path) -> std::io::Result<()> {
    fs::File::open(path)?.sync_all()?;
    match path.parent() {
        Some(folder) => fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
