//! Resolution of paths in calls.
//!
//! Below the root, symlinks may lead to other paths below the root and nowhere else. A path outside
//! is represented by its real path, so that rules apply to the actual file and not to a symlink.

use base::AbsPath;
use host::FileKind;
use patch_apply::follow_links;
use project::{HiddenFiles, IgnoredFiles, WalkOptions};

use crate::error::sentence;
use crate::outcome::Detail;
use crate::tool::{LockScope, ToolContext, ToolResult};

use super::{invalid, unexpected};

/// A resolved path of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolPath {
    /// The path with symlinks resolved; missing components stay as written.
    pub(super) path: AbsPath,
    /// Relative to the root with `/`, empty for the root itself; absolute if outside.
    pub(super) shown: String,
    pub(super) is_inside: bool,
}

impl ToolPath {
    /// Returns the scope of the file or folder itself.
    pub(super) fn scope(&self) -> LockScope {
        LockScope::Path(self.shown.clone())
    }

    /// Returns the scope of the folder with its contents.
    pub(super) fn tree(&self) -> LockScope {
        LockScope::Tree(self.shown.clone())
    }

    /// Returns the name for messages: the root is `.`.
    pub(super) fn name(&self) -> &str {
        if self.shown.is_empty() {
            "."
        } else {
            &self.shown
        }
    }
}

/// Resolves a path, relative to the root unless absolute; `~/` is the home folder. Follows
/// symlinks; a missing path resolves too. Fails with the call's result if the text is not a path or
/// a link inside the root leads out of it.
pub(super) fn resolve(context: &ToolContext, given: &str) -> Result<ToolPath, ToolResult> {
    let trimmed = given.trim();
    if trimmed.contains('\0') || trimmed.contains('\n') {
        return Err(invalid(format!(
            "{given:?} is not a path; name one file or folder"
        )));
    }
    let written = match home(trimmed) {
        Some(path) => path,
        None => context.root.join(trimmed),
    };
    let real = follow_links(context.sources.files.as_ref(), &written);
    let real = real.map_err(|error| {
        unexpected(format!(
            "{} Look at what is there with list.",
            sentence(&error)
        ))
    })?;
    if let Some(inner) = real.relative_to(&context.root) {
        let shown = inner.to_string_lossy().into_owned();
        return Ok(ToolPath {
            shown,
            path: real,
            is_inside: true,
        });
    }
    if written.is_within(&context.root) {
        let text = format!(
            "{trimmed} is a link, or lies behind one, that leads out of the project to {real}; links are not followed out of it, so name a file of the project"
        );
        return Err(unexpected(text).with_detail(Detail::Denied));
    }
    Ok(ToolPath {
        shown: real.to_string(),
        path: real,
        is_inside: false,
    })
}

/// Resolves a path to be changed. Unlike `resolve`, refuses the root and paths outside it.
pub(super) fn resolve_below(context: &ToolContext, given: &str) -> Result<ToolPath, ToolResult> {
    let tool_path = resolve(context, given)?;
    if !tool_path.is_inside {
        let text = format!(
            "{given} is outside the project folder {}; only files below it can be changed, so name a path below it",
            context.root
        );
        return Err(unexpected(text).with_detail(Detail::Denied));
    }
    if tool_path.shown.is_empty() {
        return Err(invalid(format!(
            "{given:?} is the project folder itself; name a file below it"
        )));
    }
    Ok(tool_path)
}

/// Returns the path that `~` or `~/…` means. `None` for any other path, and if `HOME` is not set to
/// an absolute path.
fn home(path: &str) -> Option<AbsPath> {
    let rest = path.strip_prefix('~')?;
    if !rest.is_empty() && !rest.starts_with('/') {
        return None;
    }
    let home = AbsPath::new(std::env::var_os("HOME")?)?;
    Some(home.join(rest.trim_start_matches('/')))
}

/// Returns the result for a missing file, with similar names.
pub(super) fn missing(context: &ToolContext, tool_path: &ToolPath) -> ToolResult {
    let mut text = format!("There is no file {}.", tool_path.name());
    let near = nearest(context, tool_path);
    if near.is_empty() {
        text.push_str(" Look for it with glob or list.")
    } else {
        text.push_str(&format!(" Did you mean {}?", near.join(" or ")))
    }
    unexpected(text)
}

/// Returns up to three paths with the same name elsewhere, or with a similar name in the same
/// folder.
fn nearest(context: &ToolContext, tool_path: &ToolPath) -> Vec<String> {
    let name = tool_path.path.name();
    let mut near = Vec::new();
    if let Some(folder) = tool_path.path.parent()
        && let Ok(listing) = context.sources.files.list(&folder)
    {
        let mut similar: Vec<(usize, String)> = listing
            .entries
            .iter()
            .filter(|entry| matches!(entry.kind, FileKind::File | FileKind::Folder))
            .map(|entry| (distance(&name, &entry.path.name()), entry))
            .filter(|(far, _)| *far <= 2.max(name.chars().count() / 3))
            .map(|(far, entry)| (far, display_path(context, &entry.path)))
            .collect();
        similar.sort();
        near.extend(similar.into_iter().map(|(_, path)| path));
    }
    if tool_path.is_inside && near.len() < 3 {
        near.extend(namesakes(context, &name));
    }
    near.dedup();
    near.truncate(3);
    near
}

/// Returns files of the project with exactly this name.
fn namesakes(context: &ToolContext, name: &str) -> Vec<String> {
    let options = WalkOptions {
        include: vec![escape(name)],
        exclude: Vec::new(),
        hidden: HiddenFiles::Skip,
        ignored: IgnoredFiles::Skip,
    };
    let backend = project::WalkBackend::Disk;
    let found = project::file_list(&backend, &context.root, &options, &false.into());
    let paths = found.map(|(paths, _)| paths).unwrap_or_default();
    let paths = paths.iter().take(3);
    paths
        .map(|path| path.to_string_lossy().into_owned())
        .collect()
}

/// Returns a path for the model: relative to the root if below it.
pub(super) fn display_path(context: &ToolContext, path: &AbsPath) -> String {
    match path.relative_to(&context.root) {
        Some(inner) => inner.to_string_lossy().into_owned(),
        None => path.to_string(),
    }
}

/// Escapes a name for use in a glob.
pub(super) fn escape(name: &str) -> String {
    let mut glob = String::new();
    for sign in name.chars() {
        if matches!(sign, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!') {
            glob.push('\\');
        }
        glob.push(sign);
    }
    glob
}

/// Returns the case-insensitive edit distance of two names, by their first 128 characters.
fn distance(one: &str, two: &str) -> usize {
    let one: Vec<char> = one.to_lowercase().chars().take(128).collect();
    let two: Vec<char> = two.to_lowercase().chars().take(128).collect();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (ix, sign) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = ix + 1;
        for (jx, other) in two.iter().enumerate() {
            let change = diagonal + usize::from(sign != other);
            diagonal = row[jx + 1];
            row[jx + 1] = change.min(row[jx] + 1).min(diagonal + 1);
        }
    }
    row[two.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (one, two, far) in [
            ("a", "a", 0),
            ("Main.rs", "main.rs", 0),
            ("man", "main", 1),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(one, two), far, "{one} {two}");
            assert_eq!(distance(two, one), far, "{two} {one}");
        }
    }
}
