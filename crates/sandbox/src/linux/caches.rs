//! Missing cache folders, created empty for the lifetime of a sandbox as mount points, and removed
//! afterwards.
//!
//! Invariant: a folder is removed only if no sandbox of this program uses it, and only if it is
//! empty.
//! Limitations: a program that is killed leaves empty folders behind.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The created folders, and the number of sandboxes that use each.
static USED: Mutex<BTreeMap<PathBuf, usize>> = Mutex::new(BTreeMap::new());

/// The folders created for one sandbox, or shared with others. Dropping it removes them.
#[derive(Debug, Default)]
pub(super) struct CacheFolders(Vec<PathBuf>);

impl CacheFolders {
    /// Creates a folder and its missing parents. Folders that cannot be created are skipped.
    pub(super) fn add(&mut self, path: &Path) {
        let mut used = used();
        let mut folders: Vec<&Path> = path.ancestors().collect();
        folders.reverse();
        for folder in folders {
            let is_shared = used.contains_key(folder);
            if folder.is_dir() && !is_shared || self.0.iter().any(|known| known == folder) {
                continue;
            }
            let made = fs::DirBuilder::new().mode(0o700).create(folder);
            if let Err(error) = made
                && !folder.is_dir()
            {
                return log::debug!("{} cannot be made: {error}", folder.display());
            }
            *used.entry(folder.to_owned()).or_default() += 1;
            self.0.push(folder.to_owned());
        }
    }
}

impl Drop for CacheFolders {
    fn drop(&mut self) {
        let mut used = used();
        // In reverse order of creation, deepest first.
        for folder in self.0.iter().rev() {
            let count = used.get(folder).copied().unwrap_or_default();
            if count > 1 {
                used.insert(folder.clone(), count - 1);
                continue;
            }
            used.remove(folder);
            // Another program may have put something into it meanwhile.
            if let Err(error) = fs::remove_dir(folder) {
                log::debug!("{} stays: {error}", folder.display());
            }
        }
    }
}

/// Locks the numbers of sandboxes that use each created folder.
fn used() -> MutexGuard<'static, BTreeMap<PathBuf, usize>> {
    USED.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "the test makes what is mounted over"
)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stays_as_long_as_somebody_uses_it() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join(".local/state");
        let (mut one, mut two) = (CacheFolders::default(), CacheFolders::default());
        one.add(&path);
        two.add(&path);
        two.add(&home.path().join(".cache"));
        drop(one);
        assert!(path.is_dir());
        fs::write(home.path().join(".cache/x"), "").expect("written");
        drop(two);
        assert!(!home.path().join(".local").exists());
        assert!(
            home.path().join(".cache/x").exists(),
            "what is in use stays"
        );
        let mut there = CacheFolders::default();
        there.add(&home.path().join(".cache"));
        drop(there);
        assert!(home.path().join(".cache").is_dir(), "what was there stays");
    }
}
