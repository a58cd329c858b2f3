//! The window layouts, stored between runs.
//!
//! The content belongs to the window: here it is plain JSON, one file for all windows.
//! Invariant: a damaged file loses the layout, never prevents the start of the program.

use base::AbsPath;
use host::{Error, Files};
use serde_json::{Map, Value};

/// A layout longer than this, in bytes, is considered damaged.
const MAX_LAYOUT_BYTES: u64 = 16 << 20;

/// The layouts of all windows, by window name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowLayouts {
    /// State that each window wants to restore.
    pub windows: Map<String, Value>,
}

impl WindowLayouts {
    /// Reads the stored layouts; empty if the file is missing. A damaged or unreadable file also
    /// gives empty layouts, and a message for the user. Blocks.
    pub fn load(files: &dyn Files, file: &AbsPath) -> (Self, Option<String>) {
        let bytes = match files.read(file, MAX_LAYOUT_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.is_not_found() => return (Self::default(), None),
            Err(error) => return (Self::default(), Some(error.to_string())),
        };
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(windows)) => (Self { windows }, None),
            Ok(_) => (Self::default(), Some(damaged(file, "it is not an object"))),
            Err(error) => (Self::default(), Some(damaged(file, &error.to_string()))),
        }
    }

    /// Stores the layouts atomically: after a crash the file is either the old or the new one.
    /// Blocks.
    pub fn store(&self, files: &dyn Files, file: &AbsPath) -> Result<(), Error> {
        let content = Value::Object(self.windows.clone()).to_string();
        let folder = file.parent().unwrap_or_else(|| file.clone());
        files.write_through(file, content.as_bytes(), &folder.join("recovery"))
    }
}

fn damaged(file: &AbsPath, reason: &str) -> String {
    format!(
        "the window layout in {file} cannot be read ({reason}); windows start with the default layout"
    )
}

#[cfg(test)]
mod tests;
