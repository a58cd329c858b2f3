//! Paths as edits write them: relative to the root, and never out of it.

/// The path with `/` between its parts and without `.`.
///
/// # Errors
///
/// A sentence that says why it cannot be used: absolute, leading out of the root, or no path.
pub fn clean_path(path: &str) -> Result<String, String> {
    let refuse = |why: &str| {
        Err(format!(
            "{path:?} {why}; name a path below the root, such as src/main.rs"
        ))
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
    match parts.is_empty() || path.ends_with('/') {
        true => refuse("names no file"),
        false => Ok(parts.join("/")),
    }
}
