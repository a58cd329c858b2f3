//! The permission of the user to run tasks: trust in a folder as for agents and language servers, and a record for each
//! allowed text of a file of tasks, as for hooks.
//!
//! Invariant: a changed file of tasks needs a new permission.

use agent::hooks::consent;
use base::AbsPath;
use host::{Dirs, RealFiles};
use tasks::TaskFile;

/// Returns the text that the user allows. Its first line keeps it apart from hooks.
fn allowed_text(file: &TaskFile) -> String {
    format!("tasks {}\n{}", file.name, file.text)
}

/// Returns whether the user allowed a file of tasks of the folder `root` with exactly this text. Blocks on the disk.
pub fn is_allowed(dirs: &Dirs, root: &AbsPath, file: &TaskFile) -> bool {
    consent::is_given(&RealFiles, &dirs.state, root, &allowed_text(file))
}

/// Records that the user allows the tasks of a file as long as its text stays the same. Does blocking file access.
///
/// # Errors
/// The record cannot be written.
pub fn allow(dirs: &Dirs, root: &AbsPath, file: &TaskFile) -> Result<(), host::Error> {
    consent::give(&RealFiles, &dirs.state, root, &allowed_text(file))
}
