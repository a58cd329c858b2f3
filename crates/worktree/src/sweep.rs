//! Removal of large folders in the background, one after the other.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use base::LogErr;

use crate::dir_tree;

/// The removals that a pool has begun. Dropping it waits for them: a program that ends earlier
/// leaves the rest of a folder, which the next `gc` removes.
#[derive(Debug, Default)]
pub(crate) struct Sweeper {
    /// The thread of the newest removal, which waits for those before it: many at once would slow
    /// down the leases that are made meanwhile.
    newest: Mutex<Option<JoinHandle<()>>>,
}

impl Sweeper {
    /// Removes `folder`, which nothing uses any more, in a thread, after all folders given before.
    ///
    /// # Errors
    /// If no thread can be started; the folder stays until the next `gc`.
    pub(crate) fn remove(&self, folder: PathBuf) -> std::io::Result<()> {
        let mut newest = self.newest();
        let earlier = newest.take();
        let thread = thread::Builder::new().name("worktree sweep".to_owned());
        *newest = Some(thread.spawn(move || {
            wait(earlier);
            dir_tree::remove_all(&folder).log_err();
        })?);
        Ok(())
    }

    /// Waits for all removals begun so far.
    pub(crate) fn finish(&self) {
        let newest = self.newest().take();
        wait(newest);
    }

    fn newest(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        self.finish();
    }
}

fn wait(removal: Option<JoinHandle<()>>) {
    if let Some(removal) = removal {
        // A removal that panicked leaves its folder to the next `gc`.
        removal.join().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_ends_after_its_removals() {
        let folder = tempfile::tempdir().unwrap();
        let sweeper = Sweeper::default();
        let gone: Vec<_> = (0..3)
            .map(|ix| folder.path().join(ix.to_string()))
            .collect();
        for path in &gone {
            std::fs::create_dir_all(path.join("a/b")).unwrap();
            sweeper.remove(path.clone()).unwrap();
        }
        sweeper.finish();
        assert!(gone.iter().all(|path| !path.exists()));
        std::fs::create_dir(&gone[0]).unwrap();
        sweeper.remove(gone[0].clone()).unwrap();
        drop(sweeper);
        assert!(!gone[0].exists());
    }
}
