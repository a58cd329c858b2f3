//! Validates paths in edits: relative to the root, and never outside of it.

use crate::outcome::HunkRefusal;

/// Normalizes a path relative to the root to forward slashes without `.` and `..`. Does not access
/// the disk.
///
/// # Errors
///
/// `HunkRefusal::BadPath` if the path is absolute, leads out of the root, or names no file.
pub(crate) fn clean_path(path: &str) -> Result<String, HunkRefusal> {
    let refuse = |why: &str| {
        Err(HunkRefusal::BadPath(format!(
            "{path:?} {why}; name a path below the root, such as src/main.rs"
        )))
    };
    if path.contains('\0') || path.contains('\n') {
        return refuse("is not a path");
    }
    let is_drive =
        path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    if path.starts_with(['/', '\\', '~']) && !path.starts_with("~$") || is_drive {
        return refuse("is not relative to the root");
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => return refuse("leads upwards"),
            part if part.split('\\').any(|part| part == "..") => return refuse("leads upwards"),
            part => parts.push(part),
        }
    }
    if parts.is_empty() || path.ends_with('/') {
        refuse("names no file")
    } else {
        Ok(parts.join("/"))
    }
}
