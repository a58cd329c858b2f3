//! Paths that Burin never writes for a model, by any tool.
//!
//! Mounts protect these paths from commands. This module is for code that writes files itself, such
//! as the edit tools.

use std::path::Path;

use base::AbsPath;

use crate::git::GitPrograms;
use crate::links::trace;
use crate::names::{self, NameClass, START_FILES};

/// Returns the reason that a file must not be written for a model; `None` if it may. `path` and
/// `root` are free of links, `home` is the user's home folder.
pub fn refusal(root: &AbsPath, path: &AbsPath, home: Option<&AbsPath>) -> Option<String> {
    let mut parts = path.as_path().iter();
    if parts.any(names::is_git) {
        return Some(format!(
            "{path} belongs to a Git folder, which decides which programs Git runs; only the user may change it"
        ));
    }
    let inner = path.relative_to(root).unwrap_or(path.as_path());
    if let Some(name) = names::of(inner).filter(|name| name.class == NameClass::Closed) {
        return Some(format!("{path} {}; only the user may change it", name.why));
    }
    let is_start = |home: &AbsPath| {
        let mut files = START_FILES.iter();
        files.any(|name| path.is_within(&home.join(name)))
    };
    if home.is_some_and(is_start) {
        return Some(format!(
            "{path} is run at the start of a session or of a program; only the user may change it"
        ));
    }
    if linked(root, path.as_path()) {
        return Some(format!(
            "{path} is the target of a protected link; only the user may change it"
        ));
    }
    let programs = GitPrograms::of(root, home);
    programs.contains(path.as_path()).then(|| {
        format!("Git runs {path}, as its configuration or a hook says; only the user may change it")
    })
}

/// Returns whether a protected name in the folder leads to the path through links: it is a link to
/// the path or to a folder above it, or a folder of which one of the first 1000 entries is a link
/// to the path.
#[expect(
    clippy::disallowed_methods,
    reason = "what matters is where the disk leads, whatever `host::Files` would show"
)]
fn linked(root: &AbsPath, path: &Path) -> bool {
    let leads = |link: &Path| trace(root.as_path(), link).target.as_deref() == Some(path);
    names::closed().any(|name| {
        let named = root.join(name.path);
        let Ok(metadata) = std::fs::symlink_metadata(&named) else {
            return false;
        };
        if metadata.is_symlink() {
            let end = trace(root.as_path(), named.as_path()).target;
            return end.is_some_and(|end| path.starts_with(end));
        }
        let entries = std::fs::read_dir(&named).into_iter().flatten().flatten();
        entries.take(1_000).any(|entry| leads(&entry.path()))
    })
}
