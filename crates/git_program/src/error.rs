//! Errors of this crate, as sentences for the user, and their recognition in Git's messages.
//!
//! Git runs with `LC_ALL=C`, so that its messages can be recognized.
//! Invariant: every message says what failed, where and, where possible, what to do about it.

use std::fmt;
use std::path::PathBuf;

use base::AbsPath;

use crate::output_log::OutputLog;

/// Lines of a log that an error shows.
const SHOWN_LINES: usize = 12;

/// Reason why a call of Git failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder is not the user's own checkout, or is not trusted; no process was started.
    #[error("git does not run in {root}: the folder is not trusted; trust it first")]
    Untrusted {
        /// The folder.
        root: AbsPath,
    },
    /// The folder is the working tree of an agent; no process was started.
    #[error("git does not run in {root}: it is the working tree of an agent")]
    AgentTree {
        /// The folder.
        root: AbsPath,
    },
    /// The caller cancelled the call.
    #[error("git was cancelled")]
    Cancelled,
    /// A program could not be started, or a file could not be read or written.
    #[error(transparent)]
    Host(Box<host::Error>),
    /// The folder is in no repository.
    #[error("no git repository contains {root}")]
    NoRepository {
        /// The folder.
        root: AbsPath,
    },
    /// Git refuses a repository that belongs to another user.
    #[error("{message}")]
    DubiousOwnership {
        /// Git's own sentence, with the command that allows the repository.
        message: String,
    },
    /// Another program writes the index.
    #[error("{path} is held by {}; wait until it has finished, or remove the file if no git runs", .holder.as_deref().unwrap_or("another program"))]
    IndexLocked {
        /// The lock file, which is never removed here.
        path: AbsPath,
        /// The program with its process id, if it is known.
        holder: Option<String>,
    },
    /// A name or revision cannot be passed to Git.
    #[error(
        "{text:?} is not a name that git accepts; it must not be empty, begin with a dash or contain control characters"
    )]
    BadName {
        /// The name.
        text: String,
    },
    /// A hook refused the operation.
    #[error("{0}")]
    HookFailed(Box<HookFailure>),
    /// The signature could not be made; nothing was committed.
    #[error("the commit could not be signed: {message}")]
    SigningFailed {
        /// The last lines of Git and of the signing program.
        message: String,
        /// Whether gpg asked for a terminal, which a pinentry program with a window avoids.
        needs_terminal: bool,
    },
    /// Name or address of the author are not configured.
    #[error("git does not know your name and e-mail address; set user.name and user.email")]
    IdentityMissing,
    /// There is nothing to commit.
    #[error("nothing is staged in {root}; stage the changes first")]
    NothingStaged {
        /// The root of the working tree.
        root: AbsPath,
    },
    /// The operation would overwrite local changes; nothing was changed.
    #[error("{} would be overwritten; commit or stash the changes first", listed(.paths))]
    LocalChanges {
        /// The files, relative to the root.
        paths: Vec<PathBuf>,
    },
    /// The remote asked for credentials, and there were none.
    #[error("the remote refused the credentials: {message}")]
    Authentication {
        /// The remote's own words.
        message: String,
    },
    /// The remote could not be reached.
    #[error("the remote cannot be reached: {message}")]
    Unreachable {
        /// The words of Git or ssh.
        message: String,
    },
    /// The output exceeded the caller's limit.
    #[error("git {command} printed more than {limit} bytes")]
    TooLarge {
        /// The subcommand.
        command: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// Git, or a program such as gh, failed for another reason.
    #[error("git {command} failed: {message}")]
    Failed {
        /// The subcommand.
        command: String,
        /// The last lines that were printed.
        message: String,
    },
}

/// The failure of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookFailure {
    /// The name of the hook, such as `pre-commit`.
    pub hook: String,
    /// The end of the output, where hooks print the reason.
    pub last_lines: String,
    /// The whole output, bounded.
    pub log: OutputLog,
}

impl From<host::Error> for Error {
    fn from(error: host::Error) -> Self {
        Self::Host(Box::new(error))
    }
}

impl fmt::Display for HookFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the hook {} failed: {}", self.hook, self.last_lines)
    }
}

/// Names up to three files.
pub(crate) fn listed(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().take(3).map(base::path_text).collect();
    match paths.len() {
        0 => "local changes".to_owned(),
        count @ 1..=3 => names[..count].join(", "),
        count => format!("{} and {} more files", names.join(", "), count - 3),
    }
}

impl Error {
    /// Creates the error of an output that is not what Git documents.
    pub(crate) fn unexpected(command: &str) -> Self {
        Self::Failed {
            command: command.to_owned(),
            message: "its output was not understood".to_owned(),
        }
    }

    /// Recognizes the reason in the output of a failed call in `root`.
    pub(crate) fn recognize(command: &str, root: &AbsPath, log: &OutputLog) -> Self {
        let text = log.text();
        let message = log.last_lines(SHOWN_LINES);
        let root = root.clone();
        let has = |words: &str| text.contains(words);
        if has("not a git repository") {
            return Self::NoRepository { root };
        }
        if has("detected dubious ownership") {
            return Self::DubiousOwnership { message };
        }
        if let Some(path) = locked_index(&text) {
            return Self::IndexLocked { path, holder: None };
        }
        if has("Please tell me who you are")
            || has("empty ident name")
            || has("auto-detect email address")
        {
            return Self::IdentityMissing;
        }
        if has("failed to write commit object")
            || has("unable to sign the tag")
            || has("gpg failed to sign")
        {
            let needs_terminal = has("Inappropriate ioctl");
            return Self::SigningFailed {
                message,
                needs_terminal,
            };
        }
        if has("nothing to commit")
            || has("nothing added to commit")
            || has("no changes added to commit")
        {
            return Self::NothingStaged { root };
        }
        if has("would be overwritten by") {
            return Self::LocalChanges {
                paths: overwritten(&text),
            };
        }
        if has("not uptodate. Cannot merge") {
            return Self::LocalChanges {
                paths: not_up_to_date(&text),
            };
        }
        if is_refused_login(&text) {
            return Self::Authentication { message };
        }
        if is_unreachable(&text) {
            return Self::Unreachable { message };
        }
        let command = command.to_owned();
        Self::Failed { command, message }
    }
}

/// Returns the lock file that Git could not create.
fn locked_index(text: &str) -> Option<AbsPath> {
    let (_, rest) = text.split_once("Unable to create '")?;
    let (path, rest) = rest.split_once('\'')?;
    let is_held = path.ends_with("index.lock") && rest.starts_with(": File exists");
    is_held.then(|| AbsPath::new(path)).flatten()
}

/// Returns the files that Git lists, each after a tab, below the sentence about overwriting.
fn overwritten(text: &str) -> Vec<PathBuf> {
    let lines = text
        .lines()
        .skip_while(|line| !line.contains("would be overwritten by"));
    let names = lines.skip(1).map_while(|line| line.strip_prefix('\t'));
    names.map(PathBuf::from).collect()
}

/// Returns the changed files because of which a reset that keeps them refused.
fn not_up_to_date(text: &str) -> Vec<PathBuf> {
    let names = text.lines().filter_map(|line| {
        let (_, rest) = line.split_once("Entry '")?;
        Some(rest.split_once("' not uptodate")?.0)
    });
    names.map(PathBuf::from).collect()
}

fn is_refused_login(text: &str) -> bool {
    let signs = [
        "Authentication failed",
        "could not read Username",
        "could not read Password",
        "Permission denied (",
        "Host key verification failed",
        "terminal prompts disabled",
    ];
    signs.iter().any(|sign| text.contains(sign))
}

fn is_unreachable(text: &str) -> bool {
    let signs = [
        "Could not resolve host",
        "Could not resolve hostname",
        "Connection refused",
        "Connection timed out",
        "Failed to connect to",
        "Couldn't connect to server",
        "Network is unreachable",
        "kex_exchange_identification",
    ];
    signs.iter().any(|sign| text.contains(sign))
}

#[cfg(test)]
mod tests;
