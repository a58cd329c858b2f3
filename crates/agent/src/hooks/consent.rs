//! Whether the person let exactly these hooks run in exactly this folder.

use base::AbsPath;
use host::{ContentHash, Files};

/// The file that stands for a consent. Its name is made from the folder and the text, so whoever changes a letter
/// of the hooks has to ask again.
fn mark(state: &AbsPath, root: &AbsPath, text: &str) -> AbsPath {
    let both = format!("{}\0{text}", root.as_path().to_string_lossy());
    let hash = ContentHash::of(both.as_bytes());
    state.join(format!("hooks/{:032x}", hash.0))
}

/// Whether the person consented to this text of a hooks file in this folder. Blocks on the disk.
pub fn is_given(files: &dyn Files, state: &AbsPath, root: &AbsPath, text: &str) -> bool {
    // The mark holds the text, so that two texts of one hash are still told apart.
    let kept = files.read(&mark(state, root, text), 1 << 20);
    kept.is_ok_and(|kept| kept == text.as_bytes())
}

/// Writes down that the person consents. Blocks on the disk.
pub fn give(
    files: &dyn Files,
    state: &AbsPath,
    root: &AbsPath,
    text: &str,
) -> Result<(), host::Error> {
    files.create_folder(&state.join("hooks"))?;
    files.write_private(&mark(state, root, text), text.as_bytes())
}
