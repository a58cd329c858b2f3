//! Records of the user's approval of hooks, per folder and text.

use base::AbsPath;
use host::{ContentHash, Files};

/// Returns the file that records an approval. Its name is derived from the folder and the text, so
/// a changed hooks file needs a new approval.
fn mark(state: &AbsPath, root: &AbsPath, text: &str) -> AbsPath {
    let both = format!("{}\0{text}", root.as_path().to_string_lossy());
    let hash = ContentHash::of(both.as_bytes());
    state.join(format!("hooks/{:032x}", hash.0))
}

/// Returns whether the user approved this text of a hooks file in this folder. Blocks on the disk.
pub fn is_given(files: &dyn Files, state: &AbsPath, root: &AbsPath, text: &str) -> bool {
    // The file contains the text, so that two texts with the same hash are distinguished.
    let kept = files.read(&mark(state, root, text), 1 << 20);
    kept.is_ok_and(|kept| kept == text.as_bytes())
}

/// Withdraws the user's approval of this text in this folder. Blocks on the disk.
pub fn revoke(
    files: &dyn Files,
    state: &AbsPath,
    root: &AbsPath,
    text: &str,
) -> Result<(), host::Error> {
    match files.remove(&mark(state, root, text)) {
        Err(error) if error.is_not_found() => Ok(()),
        removed => removed,
    }
}

/// Records the user's approval of this text in this folder, below the folder `state`. Blocks on the
/// disk.
pub fn give(
    files: &dyn Files,
    state: &AbsPath,
    root: &AbsPath,
    text: &str,
) -> Result<(), host::Error> {
    files.create_folder(&state.join("hooks"))?;
    files.write_private(&mark(state, root, text), text.as_bytes())
}
