//! Hunks of several candidates in one tree.

use std::collections::BTreeMap;

use crate::authored::merge::{hunks, lines, merge};
use crate::authored::{Author, Authored, Scope, Version, VersionKind};
use crate::board::JobId;
use crate::checkpoint::{Conflict, Stuck, Undone};

use super::text;

/// What is taken of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pick {
    /// Whose.
    pub job: JobId,
    /// The file; all of its files where it is `None`.
    pub path: Option<String>,
    /// Which hunks of the file; all where it is `None`.
    pub hunks: Option<Vec<usize>>,
}

/// A file as one candidate has it, as far as it was picked.
enum Picked {
    /// All of it: new, gone, or no text.
    Whole(Option<(VersionKind, Vec<u8>)>),
    /// Hunks of it, put into the base.
    Text(VersionKind, String),
}

impl Authored {
    /// Makes this tree, which is as the base, hold what was picked of candidates that grew out of the same base. All of
    /// it or nothing; where two picks are in each other's way, each such place is named. It can be taken back. Blocks
    /// on the disk.
    pub fn mix(
        &mut self,
        candidates: &[(JobId, &Authored)],
        picks: &[Pick],
    ) -> Result<Undone, Stuck> {
        self.observe(Scope::All, &Author::Disk)?;
        let mut files: BTreeMap<String, Vec<Picked>> = BTreeMap::new();
        for pick in picks {
            let candidate = candidates.iter().find(|(job, _)| *job == pick.job);
            let Some((_, candidate)) = candidate else {
                return Err(Stuck::Failed(format!("there is no candidate {}", pick.job)));
            };
            for (path, picked) in picked(candidate, pick)? {
                files.entry(path).or_default().push(picked);
            }
        }
        let mut mixed = Vec::new();
        let mut conflicts = Vec::new();
        for (path, picked) in files {
            let base = self.base_version(&path).cloned();
            match self.mixed(&path, base.as_ref(), picked) {
                Ok(version) => mixed.push((path, version)),
                Err(Stuck::Conflicts(more)) => conflicts.extend(more),
                Err(stuck) => return Err(stuck),
            }
        }
        match conflicts.is_empty() {
            true => self.become_files(mixed),
            false => Err(Stuck::Conflicts(conflicts)),
        }
    }

    fn mixed(
        &mut self,
        path: &str,
        base: Option<&Version>,
        picked: Vec<Picked>,
    ) -> Result<Option<Version>, Stuck> {
        let base_text = match base {
            Some(_) => text(self, base)?.unwrap_or_default(),
            None => String::new(),
        };
        let is_alone = picked.len() == 1;
        let mut all = (
            base.map_or(VersionKind::File, |base| base.kind),
            base_text.clone(),
        );
        for picked in picked {
            match picked {
                Picked::Whole(whole) if is_alone => {
                    return Ok(match whole {
                        Some((kind, bytes)) => Some(self.keep_version(kind, &bytes)?),
                        None => None,
                    });
                }
                Picked::Whole(_) => {
                    return Err(in_the_way(
                        path,
                        None,
                        "one takes it whole, and another, too",
                    ));
                }
                Picked::Text(kind, theirs) => {
                    if base.is_some_and(|base| base.kind != kind) {
                        all.0 = kind;
                    }
                    all.1 = merge(&base_text, &all.1, &theirs).map_err(|clashes| {
                        let row = clashes.first().map(|clash| clash.ours.clone());
                        let rows = row.map(|rows| rows.start as u32..rows.end as u32);
                        in_the_way(path, rows, "two of what was picked change the same lines")
                    })?;
                }
            }
        }
        Ok(Some(self.keep_version(all.0, all.1.as_bytes())?))
    }
}

/// A file that was picked: its kind and its bytes, or `None` where it goes.
pub type PickedFile = Option<(VersionKind, Vec<u8>)>;

/// What picks take of one tree, by file, as it would stand with nothing else.
pub fn accepted(
    candidate: &Authored,
    picks: &[Pick],
) -> Result<BTreeMap<String, PickedFile>, Stuck> {
    let mut files = BTreeMap::new();
    for pick in picks {
        for (path, picked) in picked(candidate, pick)? {
            let file = match picked {
                Picked::Whole(whole) => whole,
                Picked::Text(kind, text) => Some((kind, text.into_bytes())),
            };
            files.insert(path, file);
        }
    }
    Ok(files)
}

/// What a pick takes of a candidate, by file.
fn picked(candidate: &Authored, pick: &Pick) -> Result<Vec<(String, Picked)>, Stuck> {
    let mut files = Vec::new();
    for one in candidate.differences() {
        if pick.path.as_ref().is_some_and(|path| *path != one.path) {
            continue;
        }
        let before = text(candidate, one.before.as_ref())?;
        let after = text(candidate, one.after.as_ref())?;
        let picked = match (&one.before, &one.after, before, after) {
            (Some(_), Some(version), Some(before), Some(after))
                if version.kind != VersionKind::Link =>
            {
                let text = match &pick.hunks {
                    None => after,
                    Some(wanted) => with_hunks(&before, &after, wanted),
                };
                Picked::Text(version.kind, text)
            }
            (_, Some(version), ..) => {
                Picked::Whole(Some((version.kind, candidate.content(version)?)))
            }
            (_, None, ..) => Picked::Whole(None),
        };
        files.push((one.path, picked));
    }
    match files.is_empty() && pick.path.is_some() {
        true => Err(Stuck::Failed(format!(
            "{} did not change {}",
            pick.job,
            pick.path.as_deref().unwrap_or_default()
        ))),
        false => Ok(files),
    }
}

/// A text with some of the hunks by which it became another.
fn with_hunks(before: &str, after: &str, wanted: &[usize]) -> String {
    let (old, new) = (lines(before), lines(after));
    let mut text = String::with_capacity(after.len());
    let mut at = 0;
    for (number, hunk) in hunks(before, after).iter().enumerate() {
        text.extend(old[at..hunk.before.start.0 as usize].iter().copied());
        let part = match wanted.contains(&number) {
            true => &new[hunk.after.start.0 as usize..hunk.after.end.0 as usize],
            false => &old[hunk.before.start.0 as usize..hunk.before.end.0 as usize],
        };
        text.extend(part.iter().copied());
        at = hunk.before.end.0 as usize;
    }
    text.extend(old[at..].iter().copied());
    text
}

fn in_the_way(path: &str, rows: Option<std::ops::Range<u32>>, why: &str) -> Stuck {
    Stuck::Conflicts(vec![Conflict {
        path: path.to_owned(),
        rows,
        why: why.to_owned(),
    }])
}
