//! Waiting for `index.lock`, which another program may hold.
//!
//! Invariant: the lock file is never removed here.

use std::path::Path;
use std::time::Duration;

use base::AbsPath;
use host::{Files, RealFiles};

use crate::cancellation::Cancellation;
use crate::error::Error;

/// The first pause; each following one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// The longest pause.
const LAST_PAUSE: Duration = Duration::from_secs(2);
/// Bytes read of a process's command line.
const COMMAND_LINE_BYTES: u64 = 1 << 20;

/// Waits until no program holds the index of the repository at `git_dir`, for about four seconds.
///
/// # Errors
/// `IndexLocked` with the holder, or `Cancelled`.
pub(crate) fn wait_for_index(
    root: &AbsPath,
    git_dir: &AbsPath,
    cancellation: &Cancellation,
) -> Result<(), Error> {
    let path = git_dir.join("index.lock");
    let mut pause = FIRST_PAUSE;
    while RealFiles.exists(&path) {
        if cancellation.is_cancelled() {
            return Err(Error::Cancelled);
        }
        if pause > LAST_PAUSE {
            let holder = holder(root);
            return Err(Error::IndexLocked { path, holder });
        }
        cancellation.wait(pause);
        pause *= 2;
    }
    Ok(())
}

/// Returns the name and id of a running git in the working tree, if the system lists processes
/// below `/proc`.
pub(crate) fn holder(root: &AbsPath) -> Option<String> {
    let processes = RealFiles.list(&AbsPath::new("/proc")?).ok()?;
    let own = std::process::id().to_string();
    processes.entries.iter().find_map(|entry| {
        let id = entry.path.name();
        let is_process = id.bytes().all(|byte| byte.is_ascii_digit()) && id != own;
        if !is_process {
            return None;
        }
        let folder = RealFiles.read_link(&entry.path.join("cwd"))?;
        if !folder.starts_with(root.as_path()) {
            return None;
        }
        let line = RealFiles.read(&entry.path.join("cmdline"), COMMAND_LINE_BYTES);
        let name = git_command(&line.ok()?)?;
        Some(format!("{name} (process {id})"))
    })
}

/// Returns `git` with its subcommand, if a command line of `/proc` runs it.
fn git_command(line: &[u8]) -> Option<String> {
    let mut words = line.split(|byte| *byte == 0);
    let program = String::from_utf8_lossy(words.next()?).into_owned();
    if Path::new(&program).file_name()? != "git" {
        return None;
    }
    let mut subcommand = None;
    while let Some(word) = words.next() {
        match word {
            // It takes no lock.
            b"--no-optional-locks" => return None,
            b"-c" | b"-C" => {
                words.next();
            }
            _ if word.is_empty() || word.starts_with(b"-") => {}
            _ => {
                subcommand = Some(word);
                break;
            }
        }
    }
    let subcommand = subcommand.map(|word| String::from_utf8_lossy(word).into_owned());
    Some(match subcommand {
        Some(subcommand) => format!("git {}", base::path_text(subcommand)),
        None => "git".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::git_command;

    #[test]
    fn command_lines_of_git_are_recognized() {
        let name = |line: &[u8]| git_command(line);
        assert_eq!(
            name(b"/usr/bin/git\0--no-pager\0rebase\0-i\0").as_deref(),
            Some("git rebase")
        );
        assert_eq!(name(b"git\0-c\0a.b=c\0add\0").as_deref(), Some("git add"));
        assert_eq!(name(b"git\0--no-optional-locks\0status\0"), None);
        assert_eq!(name(b"git\0").as_deref(), Some("git"));
        assert_eq!(name(b"/usr/bin/gitk\0"), None);
        assert_eq!(name(b""), None);
    }
}
