//! The record of a program's trees, from which the next program ends what a killed one left.
//!
//! A record is a file whose first line names the machine's start; the lines of `TreeRecord` follow.
//! Its program holds a lock on it, so a record that can be locked belongs to a dead one.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use base::{AbsPath, LogErr as _};

use super::table::ProcessTable;
use super::tracked::TrackedTree;
use super::tracker::TrackedSearch;
use super::{ScanPasses, terminate};
use crate::process::guard;
use crate::process::record::TreeRecord;

/// Ending of a record's name.
const ENDING: &str = ".trees";

/// The folder of the records, once it is known.
static FOLDER: Mutex<Option<AbsPath>> = Mutex::new(None);

/// Begins this program's record in `folder`. Errors are logged: without a record, only the guard
/// ends what is left.
pub(super) fn keep_record(folder: &AbsPath, boot: &str) {
    let mut kept = FOLDER.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.as_ref() == Some(folder) {
        return;
    }
    if let Some(file) = begin(folder).log_err() {
        guard::record_in(file, boot);
    }
    *kept = Some(folder.clone());
}

fn begin(folder: &AbsPath) -> io::Result<File> {
    crate::dirs::create_private(folder).map_err(|error| io::Error::other(error.to_string()))?;
    let own = std::process::id();
    let identity = super::start_time(own.cast_signed());
    let name = format!("{own}-{identity}{ENDING}");
    let file = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(false)
        .mode(0o600)
        .open(folder.join(name).as_path())?;
    file.try_lock().map_err(io::Error::from)?;
    Ok(file)
}

/// Ends the processes in the records of dead programs and removes the records. Returns their
/// number.
pub(super) fn end_recorded(table: Arc<dyn ProcessTable>, boot: &str) -> usize {
    let folder = FOLDER
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    folder.map_or(0, |folder| end_recorded_in(&folder, &table, boot))
}

fn end_recorded_in(folder: &AbsPath, table: &Arc<dyn ProcessTable>, boot: &str) -> usize {
    let entries = fs::read_dir(folder.as_path());
    let paths = entries.into_iter().flatten().flatten();
    let paths = paths
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with(ENDING));
    let ended = paths.filter_map(|path| end_record(&path, table, boot).log_err());
    ended.sum()
}

fn end_record(path: &Path, table: &Arc<dyn ProcessTable>, boot: &str) -> io::Result<usize> {
    let mut file = File::open(path)?;
    if file.try_lock().is_err() {
        // Its program lives.
        return Ok(0);
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let mut lines = text.lines();
    let mut record = TreeRecord::new();
    // Ids of an earlier start of the machine, or of an unknown one, mean other processes.
    if lines.next() == Some(boot) && !boot.is_empty() {
        lines.for_each(|line| record.apply(line));
    }
    let ended = end_trees(&record, table);
    fs::remove_file(path)?;
    Ok(ended)
}

/// Kills all that is left of the recorded trees, except for this process, its ancestors and its
/// descendants. Returns the number of processes.
pub(in crate::process) fn end_trees(record: &TreeRecord, table: &Arc<dyn ProcessTable>) -> usize {
    let mut ended = HashSet::new();
    for (first, recorded) in record.trees() {
        let tree = TrackedTree::new(first, Some(recorded.first).filter(|id| *id != 0))
            .with_known(recorded.members.iter().copied())
            .sparing(std::process::id().cast_signed());
        let search = TrackedSearch::new(tree, Arc::clone(table), |_, _| {});
        let grace = std::time::Duration::ZERO;
        ended.extend(terminate(&search, grace, ScanPasses::Twice));
    }
    ended.len()
}

#[cfg(test)]
mod tests;
