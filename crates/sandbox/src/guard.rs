//! Paths that no program writes for a model, whichever way it takes.
//!
//! Commands are kept from them by mounts. This is for what writes files by itself, such as the edits of a model.

use std::path::Path;

use base::AbsPath;

use crate::git::Programs;
use crate::links::trace;
use crate::names::{self, Guard, START_FILES};

/// Why a file must not be written for a model; `None` where it can be. `path` and `root` are without links, `home` is
/// the person's home folder.
pub fn refusal(root: &AbsPath, path: &AbsPath, home: Option<&AbsPath>) -> Option<String> {
    let mut parts = path.as_path().iter();
    if parts.any(names::is_git) {
        return Some(format!(
            "{path} belongs to a Git folder, which decides which programs Git runs; change it yourself"
        ));
    }
    let inner = path.relative_to(root).unwrap_or(path.as_path());
    if let Some(name) = names::of(inner).filter(|name| name.guard == Guard::Closed) {
        return Some(format!("{path} {}; change it yourself", name.why));
    }
    let is_start = |home: &AbsPath| {
        let mut files = START_FILES.iter();
        files.any(|name| path.is_within(&home.join(name)))
    };
    if home.is_some_and(is_start) {
        return Some(format!(
            "{path} is run at the start of a session or of a program; change it yourself"
        ));
    }
    if linked(root, path.as_path()) {
        return Some(format!(
            "{path} is what a protected name leads to by a link; change it yourself"
        ));
    }
    let programs = Programs::of(root, home);
    programs.holds(path.as_path()).then(|| {
        format!(
            "Git runs {path} by itself, as its configuration or a hook says; change it yourself"
        )
    })
}

/// Whether a protected name in the folder leads to the path by links.
#[expect(
    clippy::disallowed_methods,
    reason = "what matters is where the disk leads, whatever `host::Files` would show"
)]
fn linked(root: &AbsPath, path: &Path) -> bool {
    let leads = |link: &Path| trace(root.as_path(), link).end.as_deref() == Some(path);
    names::closed().any(|name| {
        let named = root.join(name.path);
        let Ok(facts) = std::fs::symlink_metadata(&named) else {
            return false;
        };
        if facts.is_symlink() {
            let end = trace(root.as_path(), named.as_path()).end;
            return end.is_some_and(|end| path.starts_with(end));
        }
        let entries = std::fs::read_dir(&named).into_iter().flatten().flatten();
        entries.take(1_000).any(|entry| leads(&entry.path()))
    })
}
