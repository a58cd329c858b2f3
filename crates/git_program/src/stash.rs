//! The stash: entries, and parts of the changes to put there.

use std::path::PathBuf;

use crate::call::GitCall;
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::operation::{OperationOutcome, OutputReceiver};
use crate::program::{GitProgram, SMALL_OUTPUT};
use crate::records::{is_object_id, number, text};

/// Changes to put into the stash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StashRequest {
    /// The message; Git's own if `None`.
    pub message: Option<String>,
    /// The part of the changes.
    pub parts: StashParts,
    /// Stashes untracked files, too.
    pub with_untracked: bool,
}

/// The part of the changes that is stashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StashParts {
    /// All changes of tracked files.
    Tracked,
    /// The staged changes alone.
    Staged,
    /// The unstaged changes; the staged ones stay, too.
    KeepStaged,
    /// The changes of these paths, relative to the root.
    Paths(Vec<PathBuf>),
}

/// An entry of the stash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StashEntry {
    /// The position; 0 is the latest.
    pub position: usize,
    /// The commit. It can be applied as long as Git keeps it, also after the entry was dropped.
    pub id: String,
    /// The time in seconds since 1970.
    pub seconds: i64,
    /// The message.
    pub message: String,
}

impl GitProgram {
    /// Returns the entries, the latest first.
    pub fn stashes(&self, cancellation: &Cancellation) -> Result<Vec<StashEntry>, Error> {
        let call = GitCall::read("stash").args(["list", "-z", "--format=tformat:%H%x00%ct%x00%gs"]);
        let output = self.output(call, SMALL_OUTPUT, cancellation)?;
        Ok(parse_stashes(&output))
    }

    /// Moves changes to the stash; returns the entry.
    ///
    /// # Errors
    /// `NothingStaged` if there is nothing to stash.
    pub fn stash_push(
        &self,
        request: &StashRequest,
        cancellation: &Cancellation,
    ) -> Result<StashEntry, Error> {
        let call = stash_call(request);
        let output = self.output(call, SMALL_OUTPUT, cancellation)?;
        if text(&output).contains("No local changes to save") {
            let root = self.root().clone();
            return Err(Error::NothingStaged { root });
        }
        // The changes are there already: a cancellation is too late.
        let entries = self.stashes(&Cancellation::default())?;
        let latest = entries.into_iter().next();
        latest.ok_or_else(|| Error::unexpected("stash"))
    }

    /// Applies an entry and keeps it.
    pub fn stash_apply(
        &self,
        id: &str,
        cancellation: &Cancellation,
        on_output: OutputReceiver<'_>,
    ) -> Result<OperationOutcome, Error> {
        let call = GitCall::write("stash")
            .args(["apply", "--index"])
            .name(id)?;
        let applied = self.operate(&call, cancellation, on_output);
        match applied {
            // The index cannot be restored where it differs; the files can.
            Err(Error::Failed { message, .. }) if message.contains("index") => {
                let call = GitCall::write("stash").arg("apply").name(id)?;
                self.operate(&call, cancellation, on_output)
            }
            other => other,
        }
    }

    /// Applies an entry and drops it if there was no conflict.
    pub fn stash_pop(
        &self,
        entry: &StashEntry,
        cancellation: &Cancellation,
        on_output: OutputReceiver<'_>,
    ) -> Result<OperationOutcome, Error> {
        let outcome = self.stash_apply(&entry.id, cancellation, on_output)?;
        if outcome == OperationOutcome::Done {
            self.stash_drop(entry, cancellation)?;
        }
        Ok(outcome)
    }

    /// Drops an entry. Its commit stays in the repository until Git collects it.
    ///
    /// # Errors
    /// `Failed` if the entry is gone. Its position may have changed meanwhile.
    pub fn stash_drop(&self, entry: &StashEntry, cancellation: &Cancellation) -> Result<(), Error> {
        let entries = self.stashes(cancellation)?;
        let now = entries.iter().find(|other| other.id == entry.id);
        let Some(now) = now else {
            return Err(Error::Failed {
                command: "stash drop".to_owned(),
                message: format!("the entry \"{}\" is gone", entry.message),
            });
        };
        let call = GitCall::write("stash")
            .arg("drop")
            .arg(format!("stash@{{{}}}", now.position));
        self.output(call, SMALL_OUTPUT, cancellation).map(drop)
    }
}

fn stash_call(request: &StashRequest) -> GitCall {
    let mut call = match &request.parts {
        StashParts::Paths(_) => GitCall::write_paths("stash"),
        _ => GitCall::write("stash"),
    };
    call = call
        .arg("push")
        .arg_if(request.with_untracked, "--include-untracked");
    if let Some(message) = &request.message {
        call = call.arg(format!("--message={message}"));
    }
    match &request.parts {
        StashParts::Tracked => call,
        StashParts::Staged => call.arg("--staged"),
        StashParts::KeepStaged => call.arg("--keep-index"),
        StashParts::Paths(paths) => call.paths(paths),
    }
}

/// Parses `ID SECONDS MESSAGE` of each entry, every field ended by a zero byte.
fn parse_stashes(output: &[u8]) -> Vec<StashEntry> {
    let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    let entries = fields.chunks_exact(3).enumerate();
    let entry = |(position, fields): (usize, &[&[u8]])| {
        let [id, seconds, message] = fields else {
            return None;
        };
        is_object_id(id).then(|| StashEntry {
            position,
            id: text(id),
            seconds: number(seconds).unwrap_or(0),
            message: text(message),
        })
    };
    entries.filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::{StashParts, StashRequest, parse_stashes, stash_call};

    #[test]
    fn entries_are_read() {
        let id = "1".repeat(40);
        let output = format!("{id}\x0017\0WIP on a\0{id}\x0016\0two\0");
        let entries = parse_stashes(output.as_bytes());
        assert_eq!(entries.len(), 2);
        assert_eq!(
            (entries[1].position, entries[1].message.as_str()),
            (1, "two")
        );
        assert!(parse_stashes(b"x\0y").is_empty());
    }

    #[test]
    fn a_message_is_one_argument() {
        let request = StashRequest {
            message: Some("-a b".to_owned()),
            parts: StashParts::Paths(vec!["p".into()]),
            with_untracked: true,
        };
        let call = stash_call(&request);
        assert!(call.arguments.contains(&"--message=-a b".into()));
        assert_eq!(call.input, b"p\0");
    }
}
