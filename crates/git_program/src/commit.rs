//! Commits with hooks, signatures and trailers.
//!
//! Invariant: the message reaches Git through a private file, never through an argument.

use std::sync::atomic::{AtomicU64, Ordering};

use base::{AbsPath, LogErr};
use host::{Files, RealFiles};

use crate::call::{GitCall, check_name};
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::program::{GitProgram, SMALL_OUTPUT};
use crate::records::text;
use crate::run::CallTerminal;

/// Limit of a commit template in bytes.
const TEMPLATE_BYTES: u64 = 1 << 20;

/// A commit to make from the index.
#[derive(Clone, Debug, Default)]
pub struct CommitRequest {
    /// The message. With `amend` or `fixup`, `None` keeps the one that Git chooses.
    pub message: Option<String>,
    /// The treatment of the message's comment lines.
    pub comments: MessageComments,
    /// Replaces the last commit.
    pub amend: bool,
    /// Adds the trailer `Signed-off-by`.
    pub sign_off: bool,
    /// Skips the hooks `pre-commit` and `commit-msg`.
    pub no_verify: bool,
    /// Permits a commit without changes.
    pub allow_empty: bool,
    /// The commit that this one corrects, for `rebase --autosquash`.
    pub fixup: Option<String>,
    /// Further authors as `NAME <ADDRESS>`, each a trailer `Co-authored-by`.
    pub co_authors: Vec<String>,
    /// The terminal in which hooks run; without one their output has no colours.
    pub terminal: Option<CallTerminal>,
}

/// The treatment of lines of a message that begin with the comment character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageComments {
    /// They are text: a message typed by the user may begin with `#12`.
    #[default]
    Keep,
    /// They are removed: the message began as a template.
    Strip,
}

/// The settings of Git that concern messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageSettings {
    /// The text of `commit.template`.
    pub template: Option<String>,
    /// The beginning of comment lines, of `core.commentString` or `core.commentChar`.
    pub comment: String,
    /// Whether every commit is signed.
    pub is_signed: bool,
}

impl GitProgram {
    /// Commits the index and returns the id of the commit. `on_output` receives the output of hooks
    /// and Git as it arrives.
    ///
    /// # Errors
    /// `HookFailed`, `SigningFailed`, `IdentityMissing`, `NothingStaged`, `Cancelled` and others;
    /// nothing is committed then.
    pub fn commit(
        &self,
        request: &CommitRequest,
        cancellation: &Cancellation,
        on_output: &mut dyn FnMut(&[u8]),
    ) -> Result<String, Error> {
        let file = match &request.message {
            Some(message) if request.fixup.is_none() => {
                Some(MessageFile::write(&self.git_dir(cancellation)?, message)?)
            }
            _ => None,
        };
        let call = commit_call(request, file.as_ref().map(|file| &file.path))?;
        let terminal = request.terminal.as_ref();
        self.run_with_hooks(&call, terminal, cancellation, on_output)?;
        // A cancellation that comes now is too late.
        self.resolve("HEAD", &Cancellation::default())
    }

    /// Returns the id of the object that a revision names.
    pub fn resolve(&self, revision: &str, cancellation: &Cancellation) -> Result<String, Error> {
        let call = GitCall::read("rev-parse")
            .args(["--verify", "--quiet", "--end-of-options"])
            .name(revision)?;
        let output = self.output(call, SMALL_OUTPUT, cancellation)?;
        Ok(text(output.trim_ascii()))
    }

    /// Returns the settings that concern messages. A template that cannot be read counts as none.
    pub fn message_settings(&self, cancellation: &Cancellation) -> Result<MessageSettings, Error> {
        let value = |arguments: &[&str]| self.configured(arguments, cancellation);
        let template = value(&["--type=path", "--get", "commit.template"])?;
        let template = template.and_then(|path| {
            let path = self.root().join(path);
            let content = RealFiles.read(&path, TEMPLATE_BYTES).log_err()?;
            Some(text(&content))
        });
        let comment = match value(&["--get", "core.commentString"])? {
            Some(comment) => Some(comment),
            None => value(&["--get", "core.commentChar"])?,
        };
        // With `auto`, Git chooses a character that the message does not use; `#` unless it does.
        let comment = comment.filter(|comment| comment != "auto");
        let is_signed = value(&["--type=bool", "--get", "commit.gpgSign"])?;
        Ok(MessageSettings {
            template,
            comment: comment.unwrap_or_else(|| "#".to_owned()),
            is_signed: is_signed.as_deref() == Some("true"),
        })
    }

    /// Returns a value of the configuration; `None` if it is not set.
    pub(crate) fn configured(
        &self,
        arguments: &[&str],
        cancellation: &Cancellation,
    ) -> Result<Option<String>, Error> {
        let mut call = GitCall::read("config").arg("-z");
        call.arguments.extend(arguments.iter().map(Into::into));
        let finished = self.finish(&call, cancellation, &mut |_| {})?;
        if !finished.is_success {
            // Code 1: the key is not set. Other codes mean a broken file, which other calls report.
            return Ok(None);
        }
        let value = finished.output.strip_suffix(&[0]);
        Ok(Some(text(value.unwrap_or(&finished.output))))
    }
}

fn commit_call(request: &CommitRequest, message: Option<&AbsPath>) -> Result<GitCall, Error> {
    let mut call = GitCall::write("commit")
        .arg_if(request.amend, "--amend")
        .arg_if(request.sign_off, "--signoff")
        .arg_if(request.no_verify, "--no-verify")
        .arg_if(request.allow_empty, "--allow-empty")
        .arg(match request.comments {
            MessageComments::Keep => "--cleanup=whitespace",
            MessageComments::Strip => "--cleanup=strip",
        });
    if request.comments == MessageComments::Keep
        && let Some(message) = &request.message
    {
        // Git puts trailers above comment lines at the end of the message.
        let option = format!("core.commentChar={}", unused_comment_char(message));
        call.options.extend(["-c".into(), option.into()]);
    }
    for author in &request.co_authors {
        check_name(author)?;
        call = call.arg(format!("--trailer=Co-authored-by: {author}"));
    }
    if let Some(commit) = &request.fixup {
        check_name(commit)?;
        return Ok(call.arg(format!("--fixup={commit}")));
    }
    Ok(match message {
        Some(path) => call.arg("-F").arg(path.as_path()),
        None => call.arg("--no-edit"),
    })
}

/// Returns a comment character with which no line of the message begins; the last one if every one is used.
fn unused_comment_char(message: &str) -> char {
    const CHARS: [char; 10] = ['#', ';', '@', '!', '$', '%', '^', '&', '|', ':'];
    let is_unused = |it: &char| !message.lines().any(|line| line.starts_with(*it));
    CHARS.into_iter().find(is_unused).unwrap_or(CHARS[9])
}

/// A private file with a message; removed on drop.
struct MessageFile {
    path: AbsPath,
}

impl MessageFile {
    fn write(git_dir: &AbsPath, message: &str) -> Result<Self, Error> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = git_dir.join(format!("burin-message-{}-{count}", std::process::id()));
        RealFiles.write_private(&path, message.as_bytes())?;
        Ok(Self { path })
    }
}

impl Drop for MessageFile {
    fn drop(&mut self) {
        RealFiles.remove(&self.path).log_err();
    }
}

#[cfg(test)]
mod tests {
    use base::AbsPath;

    use super::{CommitRequest, MessageComments, commit_call};

    fn arguments(request: &CommitRequest) -> Vec<String> {
        let path = AbsPath::new("/m").expect("absolute");
        let path = request.message.as_ref().map(|_| path);
        let call = commit_call(request, path.as_ref()).expect("good names");
        let arguments = call.arguments.iter();
        arguments
            .map(|it| it.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn options_of_a_commit_become_arguments() {
        let request = CommitRequest {
            message: Some("secret words".to_owned()),
            comments: MessageComments::Strip,
            amend: true,
            sign_off: true,
            co_authors: vec!["B <b@c>".to_owned()],
            ..CommitRequest::default()
        };
        let expected = [
            "commit",
            "--amend",
            "--signoff",
            "--cleanup=strip",
            "--trailer=Co-authored-by: B <b@c>",
            "-F",
            "/m",
        ];
        assert_eq!(arguments(&request), expected);
        let fixup = CommitRequest {
            fixup: Some("abc".to_owned()),
            ..CommitRequest::default()
        };
        assert_eq!(
            arguments(&fixup),
            ["commit", "--cleanup=whitespace", "--fixup=abc"]
        );
        let amend = CommitRequest {
            amend: true,
            ..CommitRequest::default()
        };
        assert_eq!(
            arguments(&amend).last().map(String::as_str),
            Some("--no-edit")
        );
    }

    #[test]
    fn an_author_that_looks_like_an_option_is_refused() {
        let request = CommitRequest {
            co_authors: vec!["a\nb".to_owned()],
            ..CommitRequest::default()
        };
        commit_call(&request, None).expect_err("a line feed");
    }
}
