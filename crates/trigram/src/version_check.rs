//! Compares the versions of many paths with those on disk.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;

use host::{BulkStat, FileVersion};

/// Returns whether the path, relative to the root of `bulk_stat`, still has the version `mark`.
/// Returns `false` if `mark` is `None`.
pub(crate) fn is_unchanged(bulk_stat: &BulkStat, path: &Path, mark: Option<FileVersion>) -> bool {
    mark.is_some() && bulk_stat.version(path) == mark
}

/// Returns the numbers below `count` for which `holds` is false, in order. Uses two threads if
/// `count` is large.
pub(crate) fn except(count: usize, holds: impl Fn(usize) -> bool + Sync) -> Vec<usize> {
    /// Below this count a second thread is not worth starting.
    const ALONE: usize = 1500;
    let look =
        |range: std::ops::Range<usize>| -> Vec<usize> { range.filter(|ix| !holds(*ix)).collect() };
    if count <= ALONE {
        return look(0..count);
    }
    let second = Mutex::new(None);
    let mut first = thread::scope(|scope| {
        let builder = thread::Builder::new().name("search".to_owned());
        let other = builder.spawn_scoped(scope, || {
            let found = look(count / 2..count);
            *second.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        });
        drop(other);
        look(0..count / 2)
    });
    let second = second.into_inner().unwrap_or_else(PoisonError::into_inner);
    first.extend(second.unwrap_or_else(|| look(count / 2..count)));
    first
}
