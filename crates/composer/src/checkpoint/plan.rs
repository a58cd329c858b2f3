//! What a file would be without some of the changes that made it.

use std::collections::HashSet;
use std::ops::Range;

use crate::authored::merge::{Clash, hunks, lines, merge};
use crate::authored::{Authored, Change, ChangeId, Version, VersionKind};

use super::{Conflict, Stuck, Write};

/// A file in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) kind: VersionKind,
    pub(super) bytes: Vec<u8>,
}

/// Changes of one file that follow on each other, all of them to be taken back.
struct Run {
    before: Option<Version>,
    after: Option<Version>,
}

impl Authored {
    /// What becomes of a file where these changes are taken back; `None` where it stays as it is.
    pub(super) fn without(
        &mut self,
        path: &str,
        chosen: &HashSet<ChangeId>,
    ) -> Result<Option<Write>, Stuck> {
        let mut runs: Vec<Run> = Vec::new();
        let mut is_open = false;
        let mut undoes = Vec::new();
        for change in self.changes().iter().filter(|it| it.path == path) {
            let Change { before, after, .. } = change;
            match (chosen.contains(&change.id), is_open, runs.last_mut()) {
                (true, true, Some(run)) => run.after.clone_from(after),
                (true, ..) => runs.push(Run {
                    before: before.clone(),
                    after: after.clone(),
                }),
                (false, ..) => {}
            }
            is_open = chosen.contains(&change.id);
            if is_open {
                undoes.push(change.id);
            }
        }
        let from = self.known(path).cloned();
        let mut now = from.clone();
        for run in runs.iter().rev() {
            now = self.inverted(path, run, now)?;
        }
        Ok((now != from).then(|| Write {
            path: path.to_owned(),
            from,
            to: now,
            undoes,
        }))
    }

    /// What a file is where one run is taken back: a merge of what it is and what it was before the run, seen from
    /// what it was after it.
    fn inverted(
        &mut self,
        path: &str,
        run: &Run,
        now: Option<Version>,
    ) -> Result<Option<Version>, Stuck> {
        if now == run.after || run.before == run.after {
            return Ok(match now == run.after {
                true => run.before.clone(),
                false => now,
            });
        }
        if now == run.before {
            return Ok(now);
        }
        let (Some(base), Some(theirs), Some(ours)) = (&run.after, &run.before, &now) else {
            return Err(whole(path, absent(run, now.as_ref())));
        };
        let (base, theirs, ours) = (
            self.held(path, base)?,
            self.held(path, theirs)?,
            self.held(path, ours)?,
        );
        let merged = held_merged(path, &base, &ours, &theirs)?;
        let version = self.keep_version(merged.kind, &merged.bytes)?;
        Ok(Some(version))
    }

    fn held(&self, path: &str, version: &Version) -> Result<Held, Stuck> {
        let bytes = self.content(version);
        let bytes = bytes.map_err(|why| whole(path, &why))?;
        Ok(Held {
            kind: version.kind,
            bytes,
        })
    }

    /// What a file would be with these lines as in the base.
    pub(super) fn without_rows(
        &mut self,
        path: &str,
        rows: &Range<u32>,
    ) -> Result<Option<Version>, Stuck> {
        let before = self.base_version(path).cloned();
        let Some(now) = self.known(path).cloned() else {
            return Ok(before);
        };
        let Some(base) = before else {
            // All of a new file is one part.
            return Ok(None);
        };
        let (base, ours) = (self.held(path, &base)?, self.held(path, &now)?);
        let (Ok(base_text), Ok(our_text)) =
            (String::from_utf8(base.bytes), String::from_utf8(ours.bytes))
        else {
            return Ok(self.base_version(path).cloned());
        };
        let (base_lines, our_lines) = (lines(&base_text), lines(&our_text));
        let mut text = String::new();
        let mut at = 0;
        for hunk in hunks(&base_text, &our_text) {
            let (start, end) = (hunk.after.start.0, hunk.after.end.0);
            // Where lines were taken out nothing is left to point at but the line behind.
            let is_met = start < rows.end && rows.start < end.max(start + 1);
            text.extend(our_lines[at..start as usize].iter().copied());
            let (from, range) = match is_met {
                true => (&base_lines, hunk.before.start.0..hunk.before.end.0),
                false => (&our_lines, start..end),
            };
            let part = &from[range.start as usize..range.end as usize];
            text.extend(part.iter().copied());
            at = end as usize;
        }
        text.extend(our_lines[at..].iter().copied());
        Ok(Some(self.keep_version(ours.kind, text.as_bytes())?))
    }
}

pub(super) fn held_merged(
    path: &str,
    base: &Held,
    ours: &Held,
    theirs: &Held,
) -> Result<Held, Stuck> {
    let kind = three_way(&base.kind, &ours.kind, &theirs.kind);
    let kind = *kind.ok_or_else(|| whole(path, "its kind was changed, too"))?;
    if let Some(bytes) = three_way(&base.bytes, &ours.bytes, &theirs.bytes) {
        let bytes = bytes.clone();
        return Ok(Held { kind, bytes });
    }
    let text = |held: &Held| match held.kind {
        VersionKind::Link => None,
        VersionKind::File | VersionKind::Executable => String::from_utf8(held.bytes.clone()).ok(),
    };
    let (Some(base), Some(ours), Some(theirs)) = (text(base), text(ours), text(theirs)) else {
        return Err(whole(path, "it was changed since, and is no text"));
    };
    match merge(&base, &ours, &theirs) {
        Ok(text) => Ok(Held {
            kind,
            bytes: text.into_bytes(),
        }),
        Err(clashes) => Err(Stuck::Conflicts(
            clashes.iter().map(|clash| at(path, clash)).collect(),
        )),
    }
}

/// The one of two that differs from the base; `None` where both do.
fn three_way<'a, T: PartialEq>(base: &T, ours: &'a T, theirs: &'a T) -> Option<&'a T> {
    match (base == ours, base == theirs) {
        (true, _) => Some(theirs),
        (false, true) => Some(ours),
        (false, false) => (ours == theirs).then_some(ours),
    }
}

fn absent(run: &Run, now: Option<&Version>) -> &'static str {
    match (&run.before, &run.after, now) {
        (None, ..) => "it was made by what is taken back, and changed since",
        (_, _, None) => "it was removed since",
        _ => "it was removed by what is taken back, and another stands in its place",
    }
}

fn at(path: &str, clash: &Clash) -> Conflict {
    Conflict {
        path: path.to_owned(),
        rows: Some(clash.ours.start as u32..clash.ours.end as u32),
        why: "the same lines were changed since".to_owned(),
    }
}

pub(super) fn whole(path: &str, why: &str) -> Stuck {
    Stuck::Conflicts(vec![Conflict {
        path: path.to_owned(),
        rows: None,
        why: why.to_owned(),
    }])
}
