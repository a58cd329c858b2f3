//! Bisection: the search for the commit that broke something.

use crate::call::GitCall;
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::operation::OutputReceiver;
use crate::program::{GitProgram, SMALL_OUTPUT};
use crate::records::is_object_id;

/// A judgement on the commit that is checked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BisectVerdict {
    /// The error is not there yet.
    Good,
    /// The error is there.
    Bad,
    /// The commit cannot be tested.
    Skip,
}

/// The state of a bisection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BisectState {
    /// Git waits for a good or a bad commit to begin with.
    Waiting,
    /// A commit is checked out to be tested.
    Testing {
        /// Commits that are left after this one.
        revisions: u32,
        /// Steps that are left, roughly.
        steps: u32,
    },
    /// The first bad commit is known.
    Found(String),
    /// Only skipped commits are left, so that the first bad one is not known exactly.
    OnlySkipped,
}

impl GitProgram {
    /// Begins a bisection, with the commits that are known already.
    pub fn bisect_start(
        &self,
        bad: Option<&str>,
        good: &[String],
        cancellation: &Cancellation,
        on_output: OutputReceiver<'_>,
    ) -> Result<BisectState, Error> {
        let mut call = GitCall::write("bisect").arg("start");
        if let Some(bad) = bad {
            call = call.name(bad)?;
            for good in good {
                call = call.name(good)?;
            }
        }
        self.bisect(&call.arg("--"), cancellation, on_output)
    }

    /// Judges a commit, or the one that is checked out.
    pub fn bisect_mark(
        &self,
        verdict: BisectVerdict,
        commit: Option<&str>,
        cancellation: &Cancellation,
        on_output: OutputReceiver<'_>,
    ) -> Result<BisectState, Error> {
        let call = GitCall::write("bisect").arg(match verdict {
            BisectVerdict::Good => "good",
            BisectVerdict::Bad => "bad",
            BisectVerdict::Skip => "skip",
        });
        let call = match commit {
            Some(commit) => call.name(commit)?,
            None => call,
        };
        self.bisect(&call, cancellation, on_output)
    }

    /// Ends the bisection and returns to the branch before it.
    pub fn bisect_reset(&self, cancellation: &Cancellation) -> Result<(), Error> {
        let call = GitCall::write("bisect").arg("reset");
        self.output(call, SMALL_OUTPUT, cancellation).map(drop)
    }

    fn bisect(
        &self,
        call: &GitCall,
        cancellation: &Cancellation,
        on_output: OutputReceiver<'_>,
    ) -> Result<BisectState, Error> {
        match self.run_with_hooks(call, None, cancellation, on_output) {
            Ok(log) => Ok(parse_bisect(&log.text()).unwrap_or(BisectState::Waiting)),
            // Git fails when only skipped commits are left.
            Err(Error::Failed { command, message }) => {
                let state = parse_bisect(&message);
                state.ok_or(Error::Failed { command, message })
            }
            Err(error) => Err(error),
        }
    }
}

/// Parses what `git bisect` prints; `None` if it says nothing about the search.
pub fn parse_bisect(output: &str) -> Option<BisectState> {
    output.lines().find_map(|line| {
        if let Some(id) = line.strip_suffix(" is the first bad commit") {
            return is_object_id(id.as_bytes()).then(|| BisectState::Found(id.to_owned()));
        }
        if line.contains("only 'skip'ped commits left") {
            return Some(BisectState::OnlySkipped);
        }
        let rest = line.strip_prefix("Bisecting: ")?;
        let revisions = rest.split(' ').next()?.parse().ok()?;
        let (_, steps) = rest.split_once("(roughly ")?;
        let steps = steps.split(' ').next()?.parse().ok()?;
        Some(BisectState::Testing { revisions, steps })
    })
}

#[cfg(test)]
mod tests {
    use super::{BisectState, parse_bisect};

    #[test]
    fn the_state_of_the_search_is_read() {
        let testing = BisectState::Testing {
            revisions: 6,
            steps: 3,
        };
        let id = "1".repeat(40);
        for (output, expected) in [
            (
                "Bisecting: 6 revisions left to test after this (roughly 3 steps)\n[123] x"
                    .to_owned(),
                Some(testing),
            ),
            (
                format!("{id} is the first bad commit\ncommit"),
                Some(BisectState::Found(id.clone())),
            ),
            (
                "There are only 'skip'ped commits left to test.\n".to_owned(),
                Some(BisectState::OnlySkipped),
            ),
            (
                "status: waiting for both good and bad commits".to_owned(),
                None,
            ),
        ] {
            assert_eq!(parse_bisect(&output), expected, "{output}");
        }
    }
}
