//! Removal of large folders in the background.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use base::LogErr;

use crate::dir_tree;

/// The removals that a pool has begun. Dropping it waits for them: a program that ends earlier
/// leaves the rest of a folder, which the next `gc` removes.
#[derive(Debug, Default)]
pub(crate) struct Sweeper {
    running: Mutex<Vec<JoinHandle<()>>>,
}

impl Sweeper {
    /// Removes `folder`, which nothing uses any more, in a thread.
    pub(crate) fn remove(&self, folder: PathBuf) -> std::io::Result<()> {
        let thread = thread::Builder::new().name("worktree sweep".to_owned());
        let begun = thread.spawn(move || {
            dir_tree::remove_all(&folder).log_err();
        })?;
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|removal| !removal.is_finished());
        running.push(begun);
        Ok(())
    }

    /// Waits for all removals begun so far.
    pub(crate) fn finish(&self) {
        let begun = {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *running)
        };
        for removal in begun {
            // A removal that panicked leaves its folder to the next `gc`.
            removal.join().ok();
        }
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        self.finish();
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
