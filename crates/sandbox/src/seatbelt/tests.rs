//! Tests of profiles as text and by an evaluator of their language.

mod battery;
mod compared_with_linux;
mod disk;
pub(crate) mod evaluator;
mod mutation;
mod profile_text;
mod random;
mod random_disk;
mod read_only;
pub(crate) mod reader;

use base::AbsPath;

use super::{ProfileContext, ProfilePaths};

/// Returns an absolute path.
fn path(text: &str) -> AbsPath {
    AbsPath::new(text).expect("an absolute path")
}

/// Returns the context of a run on a Mac.
fn context() -> ProfileContext {
    ProfileContext {
        private: path("/private/var/folders/zz/zy/T/b-run"),
        proxy: Some(4711),
        message: "b-run_burin_1".to_owned(),
    }
}

/// Returns paths as they would be found on the disk of a Mac with a repository in the workspace.
fn repository_paths() -> ProfilePaths {
    let git = path("/Users/ada/work/.git");
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    ProfilePaths {
        writable: vec![path("/Users/ada/work"), git.clone()],
        readable: vec![path("/private/tmp/tool")],
        hidden: vec![
            path("/Users/ada/.ssh"),
            path("/Users/ada/Library/Keychains"),
            path("/Users/ada/work/secret"),
        ],
        fixed: vec![git.join("config"), git.join("hooks"), git.join("modules")],
        names: vec![
            (
                path("/Users/ada/work"),
                names(&[".git", ".vscode", ".envrc"]),
            ),
            (git.clone(), names(crate::names::GIT_CONTROL)),
        ],
        open: vec![git.join("modules/lib")],
        pins: vec![git.join("objects/info"), git.join("info")],
    }
}
