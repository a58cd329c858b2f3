//! The folder of one sandbox for temporary files and sockets.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use base::AbsPath;

use crate::SandboxError;

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
    /// `SandboxError::Setup` if it cannot be created.
    pub(super) fn new() -> Result<Self, SandboxError> {
        let failed = |cause| SandboxError::Setup {
            step: "creating a private folder for temporary files".to_owned(),
            cause,
            advice: "make the folder that TMPDIR names writable, and free space in it",
        };
        let made = tempfile::Builder::new()
            .prefix("b-")
            .rand_bytes(8)
            .permissions(Permissions::from_mode(0o700))
            .tempdir();
        let folder = made.map_err(failed)?;
        let real = real(folder.path()).map_err(failed)?;
        let real =
            AbsPath::new(real).ok_or_else(|| failed(std::io::ErrorKind::InvalidInput.into()))?;
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
