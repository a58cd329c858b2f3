//! Folders for tests, gone when dropped.

use base::AbsPath;

use crate::error::{Error, Reason};

/// A new empty folder that is removed with everything in it when dropped.
#[derive(Debug)]
pub struct TempFolder {
    _folder: tempfile::TempDir,
    path: AbsPath,
}

impl TempFolder {
    /// Makes one in the system's folder for temporary files.
    pub fn new() -> Result<Self, Error> {
        Self::inside(&std::env::temp_dir())
    }

    /// Makes one inside `parent`.
    pub fn inside(parent: &std::path::Path) -> Result<Self, Error> {
        let doing = "create a temporary folder in";
        let parent = std::path::absolute(parent).unwrap_or_else(|_| parent.to_owned());
        let Some(place) = AbsPath::new(&parent) else {
            let root = AbsPath::new("/").expect("the root is absolute");
            let reason = Reason::Other(format!("{} is not absolute", parent.display()));
            return Err(Error::new(&root, doing, reason));
        };
        let folder = tempfile::Builder::new()
            .prefix("burin-test-")
            .tempdir_in(&place)
            .map_err(|error| Error::from_io(&place, doing, &error))?;
        // Without links in it, so that paths compare with what the system reports.
        let real = std::fs::canonicalize(folder.path())
            .map_err(|error| Error::from_io(&place, doing, &error))?;
        let path = AbsPath::new(real).unwrap_or(place);
        Ok(Self {
            _folder: folder,
            path,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &AbsPath {
        &self.path
    }
}
