//! The list of branches, for repositories whose references libgit2 cannot read.
//!
//! Pure but for `GitProgram::branches`. Lines that are not understood are left out.

use crate::call::GitCall;
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::program::GitProgram;
use crate::records::{number, text};

/// Limit of a list of branches in bytes.
const LIST_BYTES: usize = 64 << 20;
/// The fields of a branch.
const FORMAT: &str = "--format=%(refname)%00%(symref)%00%(objectname)%00%(authorname) %(authoremail)%00%(authordate:unix)%00\
                      %(committerdate:unix)%00%(upstream:short)%00%(upstream:track)%00%(HEAD)%00%(contents:subject)";

/// A branch with its latest commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedBranch {
    /// The full name, such as `refs/heads/main`.
    pub reference: String,
    /// The id of the latest commit.
    pub commit: String,
    /// Its author as `name <address>`.
    pub author: String,
    /// Its author time in seconds since 1970.
    pub authored_seconds: i64,
    /// Its time in seconds since 1970.
    pub committed_seconds: i64,
    /// The first line of its message.
    pub subject: String,
    /// The upstream branch.
    pub upstream: Option<ListedUpstream>,
    /// Whether HEAD is on it.
    pub is_head: bool,
}

/// The upstream branch of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedUpstream {
    /// The short name.
    pub name: String,
    /// Commits that the upstream branch lacks.
    pub ahead: usize,
    /// Commits that only the upstream branch has.
    pub behind: usize,
    /// Whether it does not exist any more.
    pub is_gone: bool,
}

impl GitProgram {
    /// Returns the branches, those of remotes included, in Git's order. References that name another branch are left out.
    pub fn branches(&self, cancellation: &Cancellation) -> Result<Vec<ListedBranch>, Error> {
        let call = GitCall::read("for-each-ref")
            .arg(FORMAT)
            .args(["refs/heads", "refs/remotes"]);
        let output = self.output(call, LIST_BYTES, cancellation)?;
        Ok(parse_branches(&output))
    }
}

fn parse_branches(output: &[u8]) -> Vec<ListedBranch> {
    let lines = output.split(|byte| *byte == b'\n');
    lines.filter_map(read_branch).collect()
}

fn read_branch(line: &[u8]) -> Option<ListedBranch> {
    let fields: Vec<&[u8]> = line.splitn(10, |byte| *byte == 0).collect();
    let [
        reference,
        symbolic,
        commit,
        author,
        authored,
        committed,
        upstream,
        track,
        head,
        subject,
    ] = fields[..]
    else {
        return None;
    };
    if !symbolic.is_empty() {
        return None;
    }
    Some(ListedBranch {
        reference: text(reference),
        commit: text(commit),
        author: text(author),
        authored_seconds: number(authored).unwrap_or(0),
        committed_seconds: number(committed).unwrap_or(0),
        subject: text(subject),
        upstream: (!upstream.is_empty()).then(|| read_upstream(upstream, track)),
        is_head: head == b"*",
    })
}

/// Reads `[ahead 1, behind 2]`, `[gone]` or nothing.
fn read_upstream(name: &[u8], track: &[u8]) -> ListedUpstream {
    let track = text(track);
    let words: Vec<&str> = track.trim_matches(['[', ']']).split([',', ' ']).collect();
    let count = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1)?.parse().ok()
    };
    ListedUpstream {
        name: text(name),
        ahead: count("ahead").unwrap_or(0),
        behind: count("behind").unwrap_or(0),
        is_gone: words.contains(&"gone"),
    }
}

#[cfg(test)]
mod tests {
    use super::{ListedUpstream, parse_branches};

    #[test]
    fn branches_and_their_distance_are_read() {
        let line = |name: &str, symbolic: &str, track: &str, head: &str| {
            format!(
                "{name}\0{symbolic}\x001234\0A <a@b>\x005\x006\0o/m\0{track}\0{head}\0subject\n"
            )
        };
        let output = line("refs/heads/m", "", "[ahead 1, behind 23]", "*")
            + &line("refs/remotes/o/HEAD", "refs/remotes/o/m", "", " ")
            + &line("refs/heads/old", "", "[gone]", " ")
            + "damaged\n";
        let branches = parse_branches(output.as_bytes());
        assert_eq!(branches.len(), 2);
        let expected = ListedUpstream {
            name: "o/m".to_owned(),
            ahead: 1,
            behind: 23,
            is_gone: false,
        };
        assert_eq!(branches[0].upstream, Some(expected));
        assert!(branches[0].is_head && !branches[1].is_head);
        assert!(branches[1].upstream.as_ref().is_some_and(|it| it.is_gone));
        assert_eq!(
            (branches[0].authored_seconds, branches[0].committed_seconds),
            (5, 6)
        );
    }
}
