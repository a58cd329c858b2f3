//! The process trees of one program as lines of text, sent to the guard and stored in the record.
//!
//! - `begins PID IDENTITY`: this process is the first of a tree.
//! - `member PID IDENTITY`: this process was seen in the tree of the process `PID`.
//! - `gone PID IDENTITY`: that process has ended, and all its children have ended or were seen.
//! - `ends PID`: nothing is left of the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The trees that run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TreeRecord {
    trees: BTreeMap<i32, RecordedTree>,
}

/// One tree: the identity of its first process, and of the other processes that were seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordedTree {
    pub(super) first: u64,
    pub(super) members: BTreeSet<u64>,
}

impl TreeRecord {
    pub(super) const fn new() -> Self {
        Self {
            trees: BTreeMap::new(),
        }
    }

    /// Applies a line. Ignores one that is not complete: its writer was killed.
    pub(super) fn apply(&mut self, line: &str) {
        let mut words = line.split_ascii_whitespace();
        let (Some(what), Some(Ok(pid))) = (words.next(), words.next().map(str::parse)) else {
            return;
        };
        let identity = words.next().and_then(|word| word.parse().ok());
        match (what, identity) {
            ("begins", Some(first)) => {
                let members = BTreeSet::new();
                self.trees.insert(pid, RecordedTree { first, members });
            }
            ("ends", _) => {
                self.trees.remove(&pid);
            }
            ("member", Some(identity)) => {
                if let Some(tree) = self.trees.get_mut(&pid) {
                    tree.members.insert(identity);
                }
            }
            ("gone", Some(identity)) => {
                if let Some(tree) = self.trees.get_mut(&pid) {
                    tree.members.remove(&identity);
                }
            }
            _ => {}
        }
    }

    /// Returns lines that lead to this state.
    pub(super) fn lines(&self) -> String {
        let mut lines = String::new();
        for (pid, tree) in self.trees() {
            // Writing to a string cannot fail.
            writeln!(lines, "begins {pid} {}", tree.first).ok();
            for member in &tree.members {
                writeln!(lines, "member {pid} {member}").ok();
            }
        }
        lines
    }

    /// Iterates over the trees by the id of their first process.
    pub(super) fn trees(&self) -> impl Iterator<Item = (i32, &RecordedTree)> {
        self.trees.iter().map(|(pid, tree)| (*pid, tree))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_lead_to_the_same_state_and_torn_ones_are_ignored() {
        let mut record = TreeRecord::new();
        for line in [
            "begins 7 70",
            "member 7 71",
            "begins 9 90",
            "member 7 72",
            "gone 7 71",
            "begins 8 80",
            "ends 8",
            "member 8 81",
            "begins 1",
            "member 7",
            "mem",
            "",
        ] {
            record.apply(line);
        }
        assert_eq!(record.lines(), "begins 7 70\nmember 7 72\nbegins 9 90\n");
        let mut again = TreeRecord::new();
        record.lines().lines().for_each(|line| again.apply(line));
        assert_eq!(again, record);
        assert_eq!(record.trees().count(), 2);
    }
}
