//! Plans the undo of one file: computes its content without some of its changes.

use std::collections::HashSet;
use std::ops::Range;

use crate::change_history::merge::{LineConflict, hunks, merge, split_lines};
use crate::change_history::{ChangeHistory, ChangeId, RecordedChange, StoredVersion, VersionKind};

use super::FileWrite;
use crate::error::{Error, UndoConflict};

/// The content and kind of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VersionContent {
    pub(super) kind: VersionKind,
    pub(super) bytes: Vec<u8>,
}

/// Consecutive changes of one file that are all to be undone.
struct ChangeRun {
    before: Option<StoredVersion>,
    after: Option<StoredVersion>,
}

impl ChangeHistory {
    /// Plans the undo of these changes in one file; `None` if the file stays the same.
    pub(crate) fn plan_undo(
        &mut self,
        path: &str,
        chosen: &HashSet<ChangeId>,
    ) -> Result<Option<FileWrite>, Error> {
        let mut runs: Vec<ChangeRun> = Vec::new();
        let mut is_open = false;
        let mut undoes = Vec::new();
        for change in self.changes().iter().filter(|it| it.path == path) {
            let RecordedChange { before, after, .. } = change;
            match (chosen.contains(&change.id), is_open, runs.last_mut()) {
                (true, true, Some(run)) => run.after.clone_from(after),
                (true, ..) => runs.push(ChangeRun {
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
        let from = self.known_version(path).cloned();
        let mut now = from.clone();
        for run in runs.iter().rev() {
            now = self.undo_run(path, run, now)?;
        }
        Ok((now != from).then(|| FileWrite {
            path: path.to_owned(),
            from,
            to: now,
            undoes,
        }))
    }

    /// Undoes one run of changes by a three-way merge: the base is the version after the run, and
    /// the version before it is merged into the present one.
    fn undo_run(
        &mut self,
        path: &str,
        run: &ChangeRun,
        now: Option<StoredVersion>,
    ) -> Result<Option<StoredVersion>, Error> {
        if now == run.after || run.before == run.after {
            return Ok(if now == run.after {
                run.before.clone()
            } else {
                now
            });
        }
        if now == run.before {
            return Ok(now);
        }
        let (Some(base), Some(theirs), Some(ours)) = (&run.after, &run.before, &now) else {
            return Err(whole_file_conflict(
                path,
                missing_side_reason(run, now.as_ref()),
            ));
        };
        let (base, theirs, ours) = (
            self.load_content(path, base)?,
            self.load_content(path, theirs)?,
            self.load_content(path, ours)?,
        );
        let merged = merge_contents(path, &base, &ours, &theirs)?;
        let version = self.store_version(merged.kind, &merged.bytes)?;
        Ok(Some(version))
    }

    /// Loads the content of a version. A content that is not stored becomes a conflict of the whole
    /// file.
    fn load_content(&self, path: &str, version: &StoredVersion) -> Result<VersionContent, Error> {
        let bytes = self.content(version);
        let bytes = bytes.map_err(|why| whole_file_conflict(path, &why.to_string()))?;
        Ok(VersionContent {
            kind: version.kind,
            bytes,
        })
    }

    /// Resets the given rows of a file, from 0, to the base, stores the new content and returns its
    /// version. A hunk that the rows touch is reset as a whole. Returns `None` if the base does not
    /// contain the file.
    pub(super) fn without_rows(
        &mut self,
        path: &str,
        rows: &Range<u32>,
    ) -> Result<Option<StoredVersion>, Error> {
        let before = self.base_version(path).cloned();
        let Some(now) = self.known_version(path).cloned() else {
            return Ok(before);
        };
        let Some(base) = before else {
            // A new file is a single hunk.
            return Ok(None);
        };
        let (base, ours) = (
            self.load_content(path, &base)?,
            self.load_content(path, &now)?,
        );
        let (Ok(base_text), Ok(our_text)) =
            (String::from_utf8(base.bytes), String::from_utf8(ours.bytes))
        else {
            return Ok(self.base_version(path).cloned());
        };
        let (base_lines, our_lines) = (split_lines(&base_text), split_lines(&our_text));
        let mut text = String::new();
        let mut at = 0;
        for hunk in hunks(&base_text, &our_text) {
            let (start, end) = (hunk.after.start.0, hunk.after.end.0);
            // A deletion has no rows; it counts as touched by the row behind it.
            let is_met = start < rows.end && rows.start < end.max(start + 1);
            text.extend(our_lines[at..start as usize].iter().copied());
            let (from, range) = if is_met {
                (&base_lines, hunk.before.start.0..hunk.before.end.0)
            } else {
                (&our_lines, start..end)
            };
            let part = &from[range.start as usize..range.end as usize];
            text.extend(part.iter().copied());
            at = end as usize;
        }
        text.extend(our_lines[at..].iter().copied());
        Ok(Some(self.store_version(ours.kind, text.as_bytes())?))
    }
}

/// Merges contents line by line, and takes the kind from the side that changed it. Fails with an
/// undo conflict if both sides changed the kind, the same lines, or the content of a binary file.
pub(super) fn merge_contents(
    path: &str,
    base: &VersionContent,
    ours: &VersionContent,
    theirs: &VersionContent,
) -> Result<VersionContent, Error> {
    let kind = three_way(&base.kind, &ours.kind, &theirs.kind);
    let kind =
        *kind.ok_or_else(|| whole_file_conflict(path, "the kind of file was changed as well"))?;
    if let Some(bytes) = three_way(&base.bytes, &ours.bytes, &theirs.bytes) {
        let bytes = bytes.clone();
        return Ok(VersionContent { kind, bytes });
    }
    let text = |held: &VersionContent| match held.kind {
        VersionKind::Link => None,
        VersionKind::File | VersionKind::Executable => String::from_utf8(held.bytes.clone()).ok(),
    };
    let (Some(base), Some(ours), Some(theirs)) = (text(base), text(ours), text(theirs)) else {
        return Err(whole_file_conflict(
            path,
            "the file was changed since and is binary",
        ));
    };
    match merge(&base, &ours, &theirs) {
        Ok(text) => Ok(VersionContent {
            kind,
            bytes: text.into_bytes(),
        }),
        Err(clashes) => Err(Error::UndoConflicts(
            clashes
                .iter()
                .map(|clash| line_conflict(path, clash))
                .collect(),
        )),
    }
}

/// Returns the side that differs from the base; `None` if both do.
fn three_way<'a, T: PartialEq>(base: &T, ours: &'a T, theirs: &'a T) -> Option<&'a T> {
    match (base == ours, base == theirs) {
        (true, _) => Some(theirs),
        (false, true) => Some(ours),
        (false, false) => (ours == theirs).then_some(ours),
    }
}

fn missing_side_reason(run: &ChangeRun, now: Option<&StoredVersion>) -> &'static str {
    match (&run.before, &run.after, now) {
        (None, ..) => "the file was created by the undone change and modified since",
        (_, _, None) => "the file was removed since",
        _ => "the file was removed by the undone change and recreated since",
    }
}

fn line_conflict(path: &str, clash: &LineConflict) -> UndoConflict {
    UndoConflict {
        path: path.to_owned(),
        rows: Some(clash.ours.start as u32..clash.ours.end as u32),
        why: "the same lines were modified since".to_owned(),
    }
}

/// Returns an undo conflict about a whole file. `why` is the reason, in a few words.
pub(super) fn whole_file_conflict(path: &str, why: &str) -> Error {
    Error::UndoConflicts(vec![UndoConflict {
        path: path.to_owned(),
        rows: None,
        why: why.to_owned(),
    }])
}
