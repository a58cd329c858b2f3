//! The folders for Burin's own files.
//!
//! They follow the XDG base directory rules; `BURIN_CONFIG_DIR`, `BURIN_STATE_DIR` and
//! `BURIN_CACHE_DIR` override them. On macOS the cache is in `~/Library/Caches` unless a variable
//! names another folder; Time Machine and Spotlight leave it out.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

use base::AbsPath;

use crate::error::{Error, ErrorReason};

/// File in the state folder with the number of its format. Without the file, the format is the first.
const FORMAT_FILE: &str = "format";
/// The format that this program knows. It grows when an older program would lose or damage something by using the state.
const FORMAT: u32 = 1;

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
        Self::from_variables(|name| std::env::var_os(name), platform::CACHE_BELOW_HOME)
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

    /// Returns the folder of the notes about panics.
    pub fn crashes(&self) -> AbsPath {
        self.state.join("crashes")
    }

    /// Returns the folder of the language servers that Burin installed.
    pub fn servers(&self) -> AbsPath {
        self.state.join("servers")
    }

    /// Returns the folder of the logs of language servers.
    pub fn server_logs(&self) -> AbsPath {
        self.state.join("server_logs")
    }

    /// Checks that no newer program has changed the format of the state. Blocks on the disk.
    ///
    /// # Errors
    ///
    /// Fails if one has; then the state must not be used.
    pub fn check_format(&self) -> Result<(), Error> {
        let file = self.state.join(FORMAT_FILE);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Error::from_io(&file, "read", &error)),
        };
        let found = text.trim();
        // Anything but a known number was written by a program that this one does not know.
        let is_known = found.parse::<u32>().is_ok_and(|found| found <= FORMAT);
        if found.is_empty() || is_known {
            return Ok(());
        }
        let sentence = format!(
            "a newer Burin wrote it (format {found}, this version knows {FORMAT}); nothing was changed. Start the newer \
             version, or set BURIN_STATE_DIR to another folder"
        );
        Err(Error::new(
            &self.state,
            "use the state in",
            ErrorReason::Other(sentence),
        ))
    }

    /// Creates the missing folders, accessible to this user only.
    pub fn create(&self) -> Result<(), Error> {
        for folder in [&self.config, &self.state, &self.cache] {
            create_private(folder)?;
        }
        platform::exclude_from_backups(&self.cache);
        Ok(())
    }

    fn from_variables(
        variable: impl Fn(&str) -> Option<OsString>,
        cache_below_home: &str,
    ) -> Result<Self, Error> {
        // The XDG rules say to ignore relative values.
        let absolute = |name: &str| variable(name).and_then(AbsPath::new);
        let home = absolute("HOME");
        let folder = |ours: &str, xdg: &str, below_home: &str| {
            absolute(ours)
                .or_else(|| absolute(xdg).map(|path| path.join("burin")))
                .or_else(|| Some(home.as_ref()?.join(below_home)))
                .ok_or_else(|| no_home(ours))
        };
        Ok(Self {
            config: folder("BURIN_CONFIG_DIR", "XDG_CONFIG_HOME", ".config/burin")?,
            state: folder("BURIN_STATE_DIR", "XDG_STATE_HOME", ".local/state/burin")?,
            cache: folder("BURIN_CACHE_DIR", "XDG_CACHE_HOME", cache_below_home)?,
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

#[cfg(not(target_os = "macos"))]
mod platform {
    pub(super) const CACHE_BELOW_HOME: &str = ".cache/burin";

    pub(super) fn exclude_from_backups(_folder: &base::AbsPath) {}
}

#[cfg(target_os = "macos")]
mod platform {
    /// Spotlight does not index a folder whose name ends like this.
    pub(super) const CACHE_BELOW_HOME: &str = "Library/Caches/burin.noindex";

    /// The attribute by which Time Machine leaves a file out, and its value: the text
    /// `com.apple.backupd` as a binary property list.
    const EXCLUDED: (&str, &[u8]) = (
        "com.apple.metadata:com_apple_backup_excludeItem",
        b"bplist00_\x10\x11com.apple.backupd\x08\0\0\0\0\0\0\x01\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x1c",
    );

    /// Excludes a folder from Time Machine. A volume without attributes keeps it included.
    pub(super) fn exclude_from_backups(folder: &base::AbsPath) {
        let (name, value) = EXCLUDED;
        base::LogErr::log_err(xattr::set(folder, name, value));
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
