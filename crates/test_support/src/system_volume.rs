//! A folder on the system's own volume, where that volume folds names.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A folder in which names fold; removed on drop.
pub struct FoldingVolume {
    path: PathBuf,
    _folder: TempDir,
}

impl FoldingVolume {
    /// Creates a new, empty folder.
    ///
    /// # Errors
    /// If it cannot be created, or if its volume distinguishes case.
    pub fn mount() -> io::Result<Self> {
        let folder = TempDir::new()?;
        let path = folder.path().canonicalize()?.join("Volume");
        std::fs::create_dir(&path)?;
        if !path.with_file_name("VOLUME").exists() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(Self {
            path,
            _folder: folder,
        })
    }

    /// Returns the folder in which names fold.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
