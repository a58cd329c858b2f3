//! The folder of one sandbox for temporary files and sockets.

use std::path::{Path, PathBuf};

use base::AbsPath;

use crate::{SandboxError, SandboxLayer};

/// A folder that only this user can enter. Dropping it removes it.
#[derive(Debug)]
pub(super) struct PrivateFolder {
    folder: tempfile::TempDir,
    real: AbsPath,
}

impl PrivateFolder {
    /// Creates the folder in the user's folder for temporary files. Its name is short, because a
    /// socket's path has at most 103 bytes.
    ///
    /// # Errors
    /// `SandboxError::Missing` if it cannot be created.
    pub(super) fn new() -> Result<Self, SandboxError> {
        let missing = |cause| SandboxError::Missing {
            layer: SandboxLayer::Mounts,
            step: "creating a private folder for temporary files".to_owned(),
            cause,
            advice: "free space in the folder that TMPDIR names",
        };
        let made = tempfile::Builder::new()
            .prefix("b-")
            .rand_bytes(8)
            .tempdir();
        let folder = made.map_err(missing)?;
        let real = real(folder.path()).map_err(missing)?;
        let real =
            AbsPath::new(real).ok_or_else(|| missing(std::io::ErrorKind::InvalidInput.into()))?;
        Ok(Self { folder, real })
    }

    /// Returns the path of the folder, free of links.
    pub(super) fn path(&self) -> &AbsPath {
        &self.real
    }

    /// Returns the name of the folder, which no other sandbox has.
    pub(super) fn name(&self) -> String {
        let name = self.folder.path().file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

/// Returns the path by which the kernel knows the folder, which a profile needs.
fn real(path: &Path) -> std::io::Result<PathBuf> {
    std::fs::canonicalize(path)
}
