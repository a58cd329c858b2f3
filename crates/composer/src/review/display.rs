//! Presents hunks to the user: short ids, lines, and descriptions of changes without lines.

use std::fmt;

use git::merge::{EntryMode, ObjectEntry};

use super::{HunkChange, HunkId, Review, ReviewHunk, RiskReason};
use crate::Error;

/// Minimum number of digits of a short id.
const MIN_ID_DIGITS: usize = 6;
/// Number of digits of a full id.
const ID_DIGITS: usize = 32;

impl fmt::Display for HunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl HunkId {
    /// Parses a full id, as written by `Display`.
    pub fn parse(text: &str) -> Option<Self> {
        let is_whole = text.len() == ID_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let id = is_whole.then(|| u128::from_str_radix(text, 16).ok());
        id.flatten().map(Self)
    }
}

impl Review {
    /// Returns the shortest prefix of an id that is unique in this review, at least a few digits
    /// long.
    pub fn short(&self, id: HunkId) -> String {
        let whole = id.to_string();
        let shared = |other: &ReviewHunk| {
            let other = other.id.to_string();
            let same = whole.bytes().zip(other.bytes());
            same.take_while(|(one, two)| one == two).count()
        };
        let others = self.hunks.iter().filter(|hunk| hunk.id != id);
        let longest = others.map(shared).max().unwrap_or_default();
        whole[..(longest + 1).clamp(MIN_ID_DIGITS, ID_DIGITS)].to_owned()
    }

    /// Finds the hunk whose id begins with `name`. Fails if `name` is empty, or does not match
    /// exactly one hunk.
    pub fn find(&self, name: &str) -> Result<HunkId, Error> {
        let begins = |hunk: &&ReviewHunk| !name.is_empty() && hunk.id.to_string().starts_with(name);
        let mut found = self.hunks.iter().filter(begins);
        match (found.next(), found.next()) {
            (Some(only), None) => Ok(only.id),
            (Some(_), Some(_)) => Err(Error::NotFound(format!(
                "several hunks start with \"{name}\"; give more digits"
            ))),
            (None, _) => Err(Error::NotFound(format!("there is no hunk \"{name}\""))),
        }
    }

    /// The removed and added lines of a hunk, with line endings; empty for a binary file.
    pub fn changed_lines(&self, hunk: &ReviewHunk) -> (Vec<String>, Vec<String>) {
        let split = |bytes: &[u8]| -> Vec<String> {
            let text = String::from_utf8_lossy(bytes);
            text.split_inclusive('\n').map(str::to_owned).collect()
        };
        match &hunk.part {
            HunkChange::Lines { removed, added, .. } => (split(removed), split(added)),
            HunkChange::Whole {
                is_binary: false, ..
            } => {
                let is_its = |file: &&super::ReviewFile| {
                    file.session == hunk.session && file.path == hunk.path
                };
                let file = self.files.iter().find(is_its);
                let side = |version: Option<&super::ReviewedVersion>| {
                    version.map_or(Vec::new(), |version| split(&version.bytes))
                };
                (
                    side(file.and_then(|file| file.before.as_ref())),
                    side(file.and_then(|file| file.after.as_ref())),
                )
            }
            _ => (Vec::new(), Vec::new()),
        }
    }
}

impl ReviewHunk {
    /// The first row in the session's file, from 0.
    pub fn row(&self) -> u32 {
        match &self.part {
            HunkChange::Lines { after, .. } => after.start,
            _ => 0,
        }
    }

    /// Describes a change without changed lines, such as a new mode. Returns `None` for a change of
    /// lines.
    pub fn note(&self) -> Option<String> {
        let note = match &self.part {
            HunkChange::Lines { .. } => return None,
            HunkChange::Mode {
                to: EntryMode::Executable,
                ..
            } => "made executable".to_owned(),
            HunkChange::Mode { .. } => "no longer executable".to_owned(),
            HunkChange::Name { from } => format!("renamed from {from}"),
            HunkChange::Whole {
                before,
                after,
                is_binary,
            } => match (before, after) {
                (_, None) => "deleted".to_owned(),
                (_, Some(after)) => whole_file_note(before.is_none(), after, *is_binary),
            },
        };
        Some(note)
    }

    /// Returns the reason with the highest weight, or `None` if there are no reasons. Ignores
    /// `RiskReason::Unchecked`, because most hunks lack a check.
    pub fn reason(&self) -> Option<RiskReason> {
        let reasons = self.risk.reasons.iter().copied();
        let reasons = reasons.filter(|reason| *reason != RiskReason::Unchecked);
        // If two reasons have the same weight, the first one wins.
        reasons.rev().max_by_key(|reason| reason.weight())
    }
}

fn whole_file_note(is_new: bool, after: &ObjectEntry, is_binary: bool) -> String {
    match (after.mode, &after.bytes) {
        (EntryMode::Link, Some(target)) => {
            format!("symlink to {}", String::from_utf8_lossy(target))
        }
        (EntryMode::Link, None) => "link".to_owned(),
        (EntryMode::Module, _) => "nested repository".to_owned(),
        (EntryMode::Plain | EntryMode::Executable, _) => match (is_binary, is_new) {
            (true, true) => "new binary file".to_owned(),
            (true, false) => "binary file".to_owned(),
            (false, true) => "new file".to_owned(),
            (false, false) => "replaced file".to_owned(),
        },
    }
}
