//! The window layouts, stored between runs.
//!
//! The content belongs to the window: here it is plain JSON, one file for all windows.
//! Invariant: a damaged file loses the layout, never prevents the start of the program.
//! Invariant: the file of a newer format is neither used nor a reason to stop; the caller must not replace it.

use base::AbsPath;
use host::{Error, Files};
use serde_json::{Map, Value};

/// A layout longer than this, in bytes, is considered damaged.
const MAX_LAYOUT_BYTES: u64 = 16 << 20;
/// Key of the version in the file, and the version that this program writes. It grows when older programs would lose
/// something by reading a file and storing it again. Files without a version are the first one.
const VERSION_KEY: &str = "version";
const VERSION: u64 = 1;

/// The reason why stored layouts are not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutProblem {
    /// The file cannot be read, or its content makes no sense. It is replaced when layouts are stored.
    #[error(
        "the window layout in {file} cannot be read ({reason}); windows start with the default layout"
    )]
    Damaged {
        /// The file.
        file: AbsPath,
        /// The cause.
        reason: String,
    },
    /// A newer program wrote the file.
    #[error(
        "a newer Burin wrote the window layout in {file}; it stays as it is, windows start with the default layout, and \
         this version does not store theirs"
    )]
    Newer {
        /// The file.
        file: AbsPath,
    },
}

/// The layouts of all windows, by window name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowLayouts {
    /// State that each window wants to restore.
    pub windows: Map<String, Value>,
}

impl WindowLayouts {
    /// Reads the stored layouts; empty if the file is missing. A file that cannot be used also gives
    /// empty layouts, and the reason. Blocks.
    pub fn load(files: &dyn Files, file: &AbsPath) -> (Self, Option<LayoutProblem>) {
        let damaged = |reason: String| {
            let file = file.clone();
            let problem = LayoutProblem::Damaged { file, reason };
            (Self::default(), Some(problem))
        };
        let bytes = match files.read(file, MAX_LAYOUT_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.is_not_found() => return (Self::default(), None),
            Err(error) => return damaged(error.to_string()),
        };
        let mut windows = match serde_json::from_slice(&bytes) {
            Ok(Value::Object(windows)) => windows,
            Ok(_) => return damaged("it is not an object".to_owned()),
            Err(error) => return damaged(error.to_string()),
        };
        let version = windows.remove(VERSION_KEY);
        let version = version.as_ref().and_then(Value::as_u64).unwrap_or(VERSION);
        if version > VERSION {
            let problem = LayoutProblem::Newer { file: file.clone() };
            return (Self::default(), Some(problem));
        }
        (Self { windows }, None)
    }

    /// Stores the layouts atomically: after a crash the file is either the old or the new one.
    /// Blocks.
    pub fn store(&self, files: &dyn Files, file: &AbsPath) -> Result<(), Error> {
        let mut content = self.windows.clone();
        content.insert(VERSION_KEY.to_owned(), VERSION.into());
        let content = Value::Object(content).to_string();
        let folder = file.parent().unwrap_or_else(|| file.clone());
        files.write_through(file, content.as_bytes(), &folder.join("recovery"))
    }
}

#[cfg(test)]
mod tests;
