//! The state of a bisection in progress, as its references tell, also after a restart.

use crate::bisect::BisectState;
use crate::call::GitCall;
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::program::{GitProgram, SMALL_OUTPUT};
use crate::records::{is_object_id, text};

/// The reference of the commit with the error.
const BAD: &str = "refs/bisect/bad";
/// Beginning of the references of commits without it.
const GOOD: &str = "refs/bisect/good-";

impl GitProgram {
    /// Returns the state of the bisection in progress; `Waiting` if there is none. Skipped commits count as not tested.
    pub fn bisect_state(&self, cancellation: &Cancellation) -> Result<BisectState, Error> {
        let call = GitCall::read("for-each-ref")
            .args(["--format=%(refname) %(objectname)", "refs/bisect"]);
        let references = text(&self.output(call, SMALL_OUTPUT, cancellation)?);
        let pairs = || references.lines().filter_map(|line| line.split_once(' '));
        let bad = pairs().find(|(name, _)| *name == BAD);
        let has_good = pairs().any(|(name, _)| name.starts_with(GOOD));
        let Some((_, bad)) = bad.filter(|_| has_good) else {
            return Ok(BisectState::Waiting);
        };
        let call = GitCall::read("rev-list").args(["--bisect-vars", "--bisect"]);
        let variables = self.output(call, SMALL_OUTPUT, cancellation)?;
        let state = read_variables(&text(&variables), bad);
        state.ok_or_else(|| Error::unexpected("rev-list"))
    }
}

/// Reads the lines `bisect_rev='ID'`, `bisect_nr=NUMBER` and `bisect_steps=NUMBER`.
fn read_variables(output: &str, bad: &str) -> Option<BisectState> {
    let value = |name: &str| {
        let mut lines = output.lines().filter_map(|line| line.split_once('='));
        let found = lines.find(|(variable, _)| *variable == name);
        found.map(|(_, value)| value.trim_matches('\''))
    };
    let revision = value("bisect_rev")?;
    if revision == bad && is_object_id(bad.as_bytes()) {
        return Some(BisectState::Found(bad.to_owned()));
    }
    Some(BisectState::Testing {
        revisions: value("bisect_nr")?.parse().ok()?,
        steps: value("bisect_steps")?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::read_variables;
    use crate::bisect::BisectState;

    #[test]
    fn variables_tell_the_rest_or_the_found_commit() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let output = format!(
            "bisect_rev='{one}'\nbisect_nr=6\nbisect_good=6\nbisect_bad=6\nbisect_all=13\nbisect_steps=3\n"
        );
        let testing = BisectState::Testing {
            revisions: 6,
            steps: 3,
        };
        assert_eq!(read_variables(&output, &two), Some(testing));
        let found = BisectState::Found(one.clone());
        assert_eq!(read_variables(&output, &one), Some(found));
        assert_eq!(read_variables("damaged", &one), None);
    }
}
