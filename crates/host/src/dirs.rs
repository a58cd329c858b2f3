//! The folders for Burin's own files.
//!
//! They follow the XDG base directory rules; `BURIN_CONFIG_DIR`, `BURIN_STATE_DIR` and
//! `BURIN_CACHE_DIR` override them.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

use base::AbsPath;

use crate::error::{Error, ErrorReason};

/// The folders in which Burin keeps its own files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dirs {
    /// Settings, keymaps and themes: files that users edit.
    pub config: AbsPath,
    /// Journals, layout and recovery records: files that must survive a restart.
    pub state: AbsPath,
    /// Files that can be deleted at any time.
    pub cache: AbsPath,
}

impl Dirs {
    /// Returns the folders of the current user.
    pub fn from_environment() -> Result<Self, Error> {
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// Puts all three below one folder, for tests and for runs that must leave no trace.
    pub fn under(folder: &AbsPath) -> Self {
        Self {
            config: folder.join("config"),
            state: folder.join("state"),
            cache: folder.join("cache"),
        }
    }

    /// Returns the folder of the edit journals.
    pub fn journals(&self) -> AbsPath {
        self.state.join("journals")
    }

    /// Returns the folder of the records that precede overwriting in place.
    pub fn recovery(&self) -> AbsPath {
        self.state.join("recovery")
    }

    /// Creates the missing folders, accessible to this user only.
    pub fn create(&self) -> Result<(), Error> {
        for folder in [&self.config, &self.state, &self.cache] {
            create_private(folder)?;
        }
        Ok(())
    }

    /// Finds the folders from the environment, which `variable` reads by name. Fails if neither
    /// Burin's variable nor the XDG one nor `HOME` is an absolute path for one of them.
    fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, Error> {
        // The XDG rules say to ignore relative values.
        let absolute = |name: &str| variable(name).and_then(AbsPath::new);
        let home = absolute("HOME");
        let folder = |ours: &str, xdg: &str, below_home: &str| {
            absolute(ours)
                .or_else(|| absolute(xdg).map(|path| path.join("burin")))
                .or_else(|| Some(home.as_ref()?.join(below_home).join("burin")))
                .ok_or_else(|| no_home(ours))
        };
        Ok(Self {
            config: folder("BURIN_CONFIG_DIR", "XDG_CONFIG_HOME", ".config")?,
            state: folder("BURIN_STATE_DIR", "XDG_STATE_HOME", ".local/state")?,
            cache: folder("BURIN_CACHE_DIR", "XDG_CACHE_HOME", ".cache")?,
        })
    }
}

/// Creates a folder and its missing parents with access for this user only. An existing folder
/// keeps its mode unless other users may enter it.
pub(crate) fn create_private(folder: &AbsPath) -> Result<(), Error> {
    let doing = "create the folder";
    let created = fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder);
    created.map_err(|error| Error::from_io(folder, doing, &error))?;
    let tightened = fs::metadata(folder).and_then(|metadata| {
        if metadata.permissions().mode() & 0o077 == 0 {
            return Ok(());
        }
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
    });
    match tightened {
        // Another user's folder that this user may use; its owner decides on its mode.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        other => other.map_err(|error| Error::from_io(folder, doing, &error)),
    }
}

fn no_home(ours: &str) -> Error {
    let root = AbsPath::new("/").expect("the root is absolute");
    let sentence = format!("neither HOME nor {ours} names an absolute folder; set one of them");
    Error::new(
        &root,
        "find the home folder from",
        ErrorReason::Other(sentence),
    )
}

#[cfg(test)]
mod tests;
