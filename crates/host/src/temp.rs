//! Temporary folders for tests.

use base::AbsPath;

use crate::error::{Error, ErrorReason};

/// A new empty folder, removed with its contents on drop.
#[derive(Debug)]
pub struct TempFolder {
    _folder: tempfile::TempDir,
    path: AbsPath,
}

impl TempFolder {
    /// Creates one in the system's temporary folder.
    pub fn new() -> Result<Self, Error> {
        Self::inside(&std::env::temp_dir())
    }

    /// Creates one inside `parent`.
    pub fn inside(parent: &std::path::Path) -> Result<Self, Error> {
        let doing = "create a temporary folder in";
        let parent = std::path::absolute(parent).unwrap_or_else(|_| parent.to_owned());
        let Some(place) = AbsPath::new(&parent) else {
            let root = AbsPath::new("/").expect("the root is absolute");
            let reason = ErrorReason::Other(format!("{} is not absolute", parent.display()));
            return Err(Error::new(&root, doing, reason));
        };
        let folder = tempfile::Builder::new()
            .prefix("burin-test-")
            .tempdir_in(&place)
            .map_err(|error| Error::from_io(&place, doing, &error))?;
        // Free of links, so that paths compare with those that the system reports.
        let real = std::fs::canonicalize(folder.path())
            .map_err(|error| Error::from_io(&place, doing, &error))?;
        let path = AbsPath::new(real).unwrap_or(place);
        Ok(Self {
            _folder: folder,
            path,
        })
    }

    /// Returns the folder's path.
    pub fn path(&self) -> &AbsPath {
        &self.path
    }
}
