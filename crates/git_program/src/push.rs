//! Pushes and the reasons for which remotes refuse them.
//!
//! Invariant: a branch is never overwritten without a lease: `--force-with-lease --force-if-includes` is the only force.

use crate::call::{GitCall, check_name};
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::program::{GitProgram, SMALL_OUTPUT};
use crate::progress::{ProgressParser, RemoteReport};
use crate::records::text;

/// A push of branches or tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushRequest {
    /// The remote.
    pub remote: String,
    /// The refspecs, such as `main` or `HEAD:refs/heads/topic`; `:refs/heads/old` deletes.
    pub refspecs: Vec<String>,
    /// Makes the pushed branch the upstream of the current one.
    pub set_upstream: bool,
    /// Replaces the remote branch if it is as it was last fetched and all of it was seen here.
    pub with_lease: bool,
    /// Pushes annotated tags of the pushed commits, too.
    pub follow_tags: bool,
}

/// The result of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushOutcome {
    /// The references, each accepted or not.
    pub updates: Vec<PushUpdate>,
    /// The lines of the remote, such as the address for a pull request. Foreign.
    pub remote_lines: Vec<String>,
}

/// A reference of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushUpdate {
    /// The local reference; empty for a deletion.
    pub from: String,
    /// The reference on the remote.
    pub to: String,
    /// The reason of the refusal; `None` if it was accepted or already there.
    pub rejection: Option<PushRejection>,
    /// Git's summary, such as `1234..5678` or `[rejected] (fetch first)`.
    pub summary: String,
}

/// The reason for which a push was refused, named for what the user does about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushRejection {
    /// The remote has commits that are not here: pull, or force with a lease.
    NonFastForward,
    /// The remote branch is not as it was last fetched: fetch and look.
    StaleLease,
    /// The remote branch is protected: push to another branch and open a pull request.
    Protected,
    /// A hook of the remote refused: read its words.
    RemoteHook,
    /// The tag exists with another target.
    TagExists,
    /// Another reason, in the summary.
    Other,
}

impl PushOutcome {
    /// Returns the first refused reference.
    pub fn first_rejection(&self) -> Option<(&PushUpdate, PushRejection)> {
        let mut updates = self.updates.iter();
        updates.find_map(|update| Some((update, update.rejection?)))
    }
}

impl GitProgram {
    /// Returns the request that pushes the current branch to its upstream, or else to a branch of the same name on the
    /// first remote, which becomes its upstream.
    ///
    /// # Errors
    /// HEAD is detached, or there is no remote.
    pub fn push_of_branch(
        &self,
        with_lease: bool,
        cancellation: &Cancellation,
    ) -> Result<PushRequest, Error> {
        let call = GitCall::read("symbolic-ref").args(["--quiet", "--short", "HEAD"]);
        let head = self.finish(&call, cancellation, &mut |_| {})?;
        if !head.is_success {
            return Err(failed("HEAD is on no branch; switch to one, or create one"));
        }
        let branch = text(head.output.trim_ascii());
        let value = |key: &str| {
            let name = format!("branch.{branch}.{key}");
            self.configured(&["--get", &name], cancellation)
        };
        let remote = value("remote")?.filter(|remote| remote != ".");
        if let Some((remote, merge)) = remote.zip(value("merge")?) {
            let refspecs = vec![format!("refs/heads/{branch}:{merge}")];
            return Ok(PushRequest {
                remote,
                refspecs,
                set_upstream: false,
                with_lease,
                follow_tags: false,
            });
        }
        let remotes = self.output(GitCall::read("remote"), SMALL_OUTPUT, cancellation)?;
        let remotes = text(&remotes);
        let origin = remotes.lines().find(|remote| *remote == "origin");
        let remote = origin.or_else(|| remotes.lines().next());
        let remote =
            remote.ok_or_else(|| failed("there is no remote; add one with `git remote add`"))?;
        Ok(PushRequest {
            remote: remote.to_owned(),
            refspecs: vec![format!("refs/heads/{branch}")],
            set_upstream: true,
            with_lease,
            follow_tags: false,
        })
    }

    /// Pushes. A refusal of the remote is a result, not an error.
    ///
    /// # Errors
    /// `HookFailed` if the hook `pre-push` refused; `Authentication`, `Unreachable` and others.
    pub fn push(
        &self,
        request: &PushRequest,
        cancellation: &Cancellation,
        on_report: &mut (dyn FnMut(RemoteReport) + Send),
    ) -> Result<PushOutcome, Error> {
        let trace = self.hook_trace(cancellation)?;
        let mut call = push_call(request)?;
        call.variables
            .extend(trace.iter().flat_map(|trace| trace.variables()));
        let mut parser = ProgressParser::default();
        let mut remote_lines = Vec::new();
        let mut receive = |report: RemoteReport| {
            if let RemoteReport::Remote(line) = &report {
                remote_lines.push(line.clone());
            }
            on_report(report);
        };
        let finished = self.finish(&call, cancellation, &mut |bytes| {
            parser.feed(bytes).into_iter().for_each(&mut receive);
        })?;
        parser.finish().into_iter().for_each(&mut receive);
        let updates = parse_push(&finished.output, &remote_lines);
        let is_refused = updates.iter().any(|update| update.rejection.is_some());
        if finished.is_success || is_refused {
            return Ok(PushOutcome {
                updates,
                remote_lines,
            });
        }
        let hook = trace.as_ref().and_then(|trace| trace.failed_hook());
        Err(match hook {
            Some(hook) => Self::hook_failure(hook, finished.log),
            None => self.recognize("push", &finished.log),
        })
    }
}

fn failed(message: &str) -> Error {
    Error::Failed {
        command: "push".to_owned(),
        message: message.to_owned(),
    }
}

fn push_call(request: &PushRequest) -> Result<GitCall, Error> {
    let mut call = GitCall::write_elsewhere("push")
        .args(["--porcelain", "--progress"])
        .arg_if(request.set_upstream, "--set-upstream")
        .arg_if(request.follow_tags, "--follow-tags")
        .arg_if(request.with_lease, "--force-with-lease")
        .arg_if(request.with_lease, "--force-if-includes")
        .name(&request.remote)?;
    for refspec in &request.refspecs {
        check_name(refspec)?;
        if refspec.starts_with('+') {
            // A plus sign would force without a lease.
            let text = refspec.clone();
            return Err(Error::BadName { text });
        }
        call = call.arg(refspec);
    }
    Ok(call)
}

/// Parses the output of `git push --porcelain`. `remote_lines` tell why the remote refused.
fn parse_push(output: &[u8], remote_lines: &[String]) -> Vec<PushUpdate> {
    let output = text(output);
    let update = |line: &str| {
        let (flag, rest) = line.split_once('\t')?;
        let (references, summary) = rest.split_once('\t')?;
        let (from, to) = references.split_once(':')?;
        let is_rejected = flag.trim() == "!";
        Some(PushUpdate {
            from: from.to_owned(),
            to: to.to_owned(),
            rejection: is_rejected.then(|| rejection(summary, remote_lines)),
            summary: summary.to_owned(),
        })
    };
    output.lines().filter_map(update).collect()
}

/// Classifies the reason that Git prints behind a refused reference.
fn rejection(summary: &str, remote_lines: &[String]) -> PushRejection {
    let has = |words: &str| summary.contains(words);
    let says = |words: &str| {
        remote_lines
            .iter()
            .any(|line| line.to_lowercase().contains(words))
    };
    if has("protected") || says("protected branch") || says("gh006") || says("gh013") {
        PushRejection::Protected
    } else if has("non-fast-forward") || has("fetch first") {
        PushRejection::NonFastForward
    } else if has("stale info") || has("remote ref updated since checkout") {
        PushRejection::StaleLease
    } else if has("hook declined") {
        PushRejection::RemoteHook
    } else if has("already exists") {
        PushRejection::TagExists
    } else {
        PushRejection::Other
    }
}

#[cfg(test)]
mod tests {
    use super::{PushOutcome, PushRejection, PushRequest, parse_push, push_call};

    fn request(refspec: &str) -> PushRequest {
        PushRequest {
            remote: "origin".to_owned(),
            refspecs: vec![refspec.to_owned()],
            set_upstream: false,
            with_lease: true,
            follow_tags: false,
        }
    }

    #[test]
    fn the_only_force_has_a_lease() {
        let call = push_call(&request("main")).expect("good names");
        let arguments: Vec<_> = call
            .arguments
            .iter()
            .map(|it| it.to_string_lossy())
            .collect();
        assert!(arguments.contains(&"--force-with-lease".into()));
        assert!(arguments.contains(&"--force-if-includes".into()));
        assert!(!arguments.contains(&"--force".into()));
        push_call(&request("+main")).expect_err("a force");
        push_call(&request("--force")).expect_err("an option");
    }

    #[test]
    fn refusals_are_classified() {
        let output = "To h:r\n \trefs/heads/a:refs/heads/a\t1..2\n\
            !\trefs/heads/b:refs/heads/b\t[rejected] (fetch first)\n\
            !\trefs/heads/c:refs/heads/c\t[rejected] (stale info)\n\
            !\trefs/heads/d:refs/heads/d\t[remote rejected] (pre-receive hook declined)\n\
            =\trefs/heads/e:refs/heads/e\t[up to date]\nDone\n";
        let updates = parse_push(output.as_bytes(), &[]);
        let rejections: Vec<_> = updates.iter().map(|update| update.rejection).collect();
        let expected = [
            None,
            Some(PushRejection::NonFastForward),
            Some(PushRejection::StaleLease),
            Some(PushRejection::RemoteHook),
            None,
        ];
        assert_eq!(rejections, expected);
        let remote_lines = vec!["error: GH006: Protected branch update failed".to_owned()];
        let updates = parse_push(output.as_bytes(), &remote_lines);
        let outcome = PushOutcome {
            updates,
            remote_lines,
        };
        let first = outcome
            .first_rejection()
            .map(|(update, reason)| (update.to.as_str(), reason));
        assert_eq!(first, Some(("refs/heads/b", PushRejection::Protected)));
    }
}
