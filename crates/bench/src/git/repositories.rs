//! Generated repositories that later runs use again, and git commands without the settings of the user.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use base::AbsPath;

use crate::figure;
use crate::index::place;

/// Variables of every git, ours and the peer's: no settings of the user or the system, and a fixed person.
pub(super) const VARIABLES: &[(&str, &str)] = &[
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_AUTHOR_NAME", "Bench"),
    ("GIT_AUTHOR_EMAIL", "bench@localhost"),
    ("GIT_COMMITTER_NAME", "Bench"),
    ("GIT_COMMITTER_EMAIL", "bench@localhost"),
];

/// Returns a git command that runs in a working tree.
pub(super) fn git(root: &AbsPath) -> Command {
    let mut command = crate::blobs::git(root.as_path());
    command.envs(VARIABLES.iter().copied());
    command
}

/// Runs git and returns its output.
pub(super) fn run_git(root: &AbsPath, arguments: &[&str]) -> Result<String, String> {
    output_of(git(root).args(arguments))
}

/// Runs a command that must succeed, and returns its output.
pub(super) fn output_of(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| format!("the peer git is missing ({error}); install it"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let errors = String::from_utf8_lossy(&output.stderr);
        Err(format!("{command:?} failed: {errors}"))
    }
}

/// Returns the repository of this name. It is made if an earlier run has not made it; the name changes with its content.
pub(super) fn kept(
    name: &str,
    make: impl FnOnce(&AbsPath) -> Result<(), String>,
) -> Result<AbsPath, String> {
    let failed = |error: io::Error| format!("cannot keep the repository {name}: {error}");
    let folder = figure::target().join("bench/git");
    let kept = folder.join(name);
    if kept.is_dir() {
        return place(&kept);
    }
    eprintln!("making the repository {}", kept.display());
    // An interrupted run leaves a repository in part.
    let draft = folder.join(format!("{name}.part"));
    if draft.is_dir() {
        fs::remove_dir_all(&draft).map_err(failed)?;
    }
    fs::create_dir_all(&draft).map_err(failed)?;
    make(&place(&draft)?)?;
    fs::rename(&draft, &kept).map_err(failed)?;
    place(&kept)
}

/// Makes a repository in an empty folder from a stream of `git fast-import`, and checks its branch `main` out.
pub(super) fn import(
    root: &AbsPath,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), String> {
    run_git(root, &["init", "--quiet", "--initial-branch=main"])?;
    let mut child = git(root)
        .args(["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start git: {error}"))?;
    let input = child.stdin.take().ok_or("git has no input")?;
    let mut out = BufWriter::with_capacity(1 << 20, input);
    let written = write(&mut out).and_then(|()| out.flush());
    drop(out);
    let status = child.wait().map_err(|error| error.to_string())?;
    written.map_err(|error| format!("git took no more commits: {error}"))?;
    if !status.success() {
        return Err("git took no commits".to_owned());
    }
    run_git(root, &["reset", "--quiet", "--hard"])?;
    settle_index(root)
}

/// Makes the index younger than all files. Otherwise every status would compare the contents of those that were written in
/// the same second as the index.
fn settle_index(root: &AbsPath) -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot settle the index of {root}: {error}");
    let index = fs::File::options()
        .append(true)
        .open(root.join(".git/index").as_path())
        .map_err(failed)?;
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    index
        .set_modified(std::time::SystemTime::now())
        .map_err(failed)
}

/// Writes a file of a working tree.
pub(super) fn write_file(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
