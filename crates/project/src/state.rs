//! What the windows looked like, kept from one run to the next.
//!
//! The content is the window's business: here it is only JSON, one file for all windows.
//! Invariant: a damaged file costs the layout, never the start of the program.

use base::AbsPath;
use host::{Error, Files};
use serde_json::{Map, Value};

/// A layout longer than this, in bytes, is taken for damaged.
const LONGEST: u64 = 16 << 20;

/// The layout of every window, by the window's name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// What each window wants to find again.
    pub windows: Map<String, Value>,
}

impl State {
    /// Reads what was stored; empty where there is nothing. A problem is a sentence for the user.
    pub fn load(files: &dyn Files, file: &AbsPath) -> (Self, Option<String>) {
        let bytes = match files.read(file, LONGEST) {
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

    /// Stores it, so that a crash leaves the old or the new one. Blocks.
    pub fn store(&self, files: &dyn Files, file: &AbsPath) -> Result<(), Error> {
        let content = Value::Object(self.windows.clone()).to_string();
        let folder = file.parent().unwrap_or_else(|| file.clone());
        files.write_through(file, content.as_bytes(), &folder.join("recovery"))
    }
}

fn damaged(file: &AbsPath, reason: &str) -> String {
    format!("the window layout in {file} cannot be read ({reason}); windows start afresh")
}

#[cfg(test)]
mod tests;
