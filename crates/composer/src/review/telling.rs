//! Hunks for people: their names, their lines, and what they do where no line changes.

use std::fmt;

use git::merge::{Entry, Mode};

use super::{Hunk, HunkId, Part, Reason, Review};

/// Digits of an id that are shown at least.
const LEAST: usize = 6;
/// Digits of a whole id.
const ALL: usize = 32;

impl fmt::Display for HunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl HunkId {
    /// A whole id, as `Display` writes it.
    pub fn parse(text: &str) -> Option<Self> {
        let is_whole = text.len() == ALL && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let id = is_whole.then(|| u128::from_str_radix(text, 16).ok());
        id.flatten().map(Self)
    }
}

impl Review {
    /// As much of an id as tells it from all others here.
    pub fn short(&self, id: HunkId) -> String {
        let whole = id.to_string();
        let shared = |other: &Hunk| {
            let other = other.id.to_string();
            let same = whole.bytes().zip(other.bytes());
            same.take_while(|(one, two)| one == two).count()
        };
        let others = self.hunks.iter().filter(|hunk| hunk.id != id);
        let longest = others.map(shared).max().unwrap_or_default();
        whole[..(longest + 1).clamp(LEAST, ALL)].to_owned()
    }

    /// The hunk whose id begins so; an error is a sentence.
    pub fn find(&self, name: &str) -> Result<HunkId, String> {
        let begins = |hunk: &&Hunk| !name.is_empty() && hunk.id.to_string().starts_with(name);
        let mut found = self.hunks.iter().filter(begins);
        match (found.next(), found.next()) {
            (Some(only), None) => Ok(only.id),
            (Some(_), Some(_)) => Err(format!(
                "several hunks begin with \"{name}\"; write more of the name"
            )),
            (None, _) => Err(format!("there is no hunk \"{name}\"")),
        }
    }

    /// The lines that a hunk takes and those that it brings, with their endings; none of what has no lines.
    pub fn lines(&self, hunk: &Hunk) -> (Vec<String>, Vec<String>) {
        let split = |bytes: &[u8]| -> Vec<String> {
            let text = String::from_utf8_lossy(bytes);
            text.split_inclusive('\n').map(str::to_owned).collect()
        };
        match &hunk.part {
            Part::Lines { removed, added, .. } => (split(removed), split(added)),
            Part::Whole {
                is_binary: false, ..
            } => {
                let is_its =
                    |file: &&super::File| file.session == hunk.session && file.path == hunk.path;
                let file = self.files.iter().find(is_its);
                let side = |version: Option<&super::Version>| {
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

impl Hunk {
    /// Where its lines begin in the session's file, from 0.
    pub fn row(&self) -> u32 {
        match &self.part {
            Part::Lines { after, .. } => after.start,
            _ => 0,
        }
    }

    /// What it does in a few words, where that is not told by its lines.
    pub fn note(&self) -> Option<String> {
        let note = match &self.part {
            Part::Lines { .. } => return None,
            Part::Mode {
                to: Mode::Executable,
                ..
            } => "made executable".to_owned(),
            Part::Mode { .. } => "no longer executable".to_owned(),
            Part::Name { from } => format!("renamed from {from}"),
            Part::Whole {
                before,
                after,
                is_binary,
            } => match (before, after) {
                (_, None) => "deleted".to_owned(),
                (_, Some(after)) => replaced(before.is_none(), after, *is_binary),
            },
        };
        Some(note)
    }

    /// Why it deserves a look: the weightiest reason. That no check ran over it is the usual case, and none.
    pub fn reason(&self) -> Option<Reason> {
        let reasons = self.risk.reasons.iter().copied();
        let reasons = reasons.filter(|reason| *reason != Reason::Unchecked);
        // Of two that weigh the same, the first.
        reasons.rev().max_by_key(|reason| reason.weight())
    }
}

fn replaced(is_new: bool, after: &Entry, is_binary: bool) -> String {
    match (after.mode, &after.bytes) {
        (Mode::Link, Some(target)) => format!("link to {}", String::from_utf8_lossy(target)),
        (Mode::Link, None) => "link".to_owned(),
        (Mode::Module, _) => "repository within".to_owned(),
        (Mode::Plain | Mode::Executable, _) => match (is_binary, is_new) {
            (true, true) => "new binary file".to_owned(),
            (true, false) => "binary file".to_owned(),
            (false, true) => "new file".to_owned(),
            (false, false) => "another file".to_owned(),
        },
    }
}
