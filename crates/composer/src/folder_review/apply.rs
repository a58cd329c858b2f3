//! The actions on a folder's changes: keep, reject, restore, undo.

use std::collections::{BTreeSet, HashMap};

use ::base::AbsPath;
use serde::{Deserialize, Serialize};

use crate::change_history::merge::merge;
use crate::change_history::{
    ChangeAuthor, ChangeHistory, ChangeId, KeptChanges, ObserveScope, StoredVersion, VersionKind,
};
use crate::checkpoint::FileWrite;
use crate::worktrees::lock_of;
use crate::{Error, UndoConflict};

use super::groups::{LineGroup, joins_lines, text_without};
use super::plan::{ChosenChanges, FilePlan, FileWeave, PlannedContent, Planner, stale};
use super::{FolderReview, ReviewTarget};

/// Number of times that an action is planned again because a file was written meanwhile.
const MAX_PLANS: usize = 3;

/// A request of the user about the changes of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FolderAction {
    /// Keeps changes for good.
    Keep(ReviewTarget),
    /// Takes changes out, except kept ones.
    Reject(ReviewTarget),
    /// Takes back all changes since the message of a turn, counted from 1.
    Restore(u64),
    /// Undoes the latest restore or rejection.
    UndoLatest,
}

/// The result of an action.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoOutcome {
    /// The files that were written or removed.
    pub paths: Vec<String>,
    /// The edits for files with unsaved text, which were not written.
    pub buffers: Vec<BufferEdit>,
    /// The places that stay as they are because others changed them since.
    pub contested: Vec<UndoConflict>,
}

/// An edit of a file with unsaved text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferEdit {
    /// The file.
    pub path: AbsPath,
    /// The text from which the edit starts.
    pub before: String,
    /// The text that the buffer gets.
    pub after: String,
}

/// The writes of an action, and what stays.
#[derive(Default)]
struct ActionPlan {
    writes: Vec<FileWrite>,
    contested: Vec<UndoConflict>,
}

impl FolderReview {
    /// Runs an action on the changes of a session. `sessions` are the session and its subagents.
    /// Fails like the method of the action.
    pub fn run(&self, sessions: &[String], action: &FolderAction) -> Result<UndoOutcome, Error> {
        match action {
            FolderAction::Keep(target) => {
                self.keep(sessions, target)?;
                Ok(UndoOutcome::default())
            }
            FolderAction::Reject(target) => self.reject(sessions, target),
            FolderAction::Restore(turn) => self.restore(sessions, *turn),
            FolderAction::UndoLatest => self.undo_latest(),
        }
    }

    /// Keeps changes of a session, for good: they are not listed any more, and cannot be rejected.
    /// Keeping again does nothing. `sessions` are the session and its subagents. Fails with `Stale`
    /// if the named hunk is not there any more.
    fn keep(&self, sessions: &[String], target: &ReviewTarget) -> Result<(), Error> {
        let mut history = lock_of(&self.history);
        let mut weaves = lock_of(&self.weaves);
        history.observe_agents_files()?;
        let mut planner = Planner::new(&mut history, &mut weaves);
        let chosen = planner.chosen(sessions, target);
        let mut kept = Vec::new();
        for path in planner.target_paths(&chosen, target) {
            kept.extend(planner.kept(&path, &chosen, target)?);
        }
        history.keep(kept)
    }

    /// Takes changes of a session out of the folder, except kept ones. `sessions` are the session
    /// and its subagents. Fails with `Stale` if the named hunk is not there any more, with
    /// `NothingToUndo` if nothing would change, with `UndoConflicts` if all of it is contested.
    fn reject(&self, sessions: &[String], target: &ReviewTarget) -> Result<UndoOutcome, Error> {
        self.act(|planner| {
            let chosen = planner.chosen(sessions, target);
            let mut plan = ActionPlan::default();
            for path in planner.target_paths(&chosen, target) {
                planner.plan_write(&path, &chosen, target, &mut plan)?;
            }
            Ok(plan)
        })
    }

    /// Takes back all changes of a session since it got the message of `turn`, kept ones included.
    /// `sessions` are the session and its subagents. Fails like `reject`.
    fn restore(&self, sessions: &[String], turn: u64) -> Result<UndoOutcome, Error> {
        self.act(|planner| {
            let session = sessions.first().map_or("", String::as_str);
            let mut checkpoints = planner.history.checkpoints().iter();
            // A turn without changes has no checkpoint; that of the next one marks the same moment.
            let checkpoint = checkpoints.find(|it| it.session == session && it.turn >= turn);
            let since = checkpoint.ok_or(Error::NothingToUndo)?.next;
            let chosen = ChosenChanges::since(planner.history, sessions, since);
            let mut plan = ActionPlan::default();
            for path in planner.paths(&chosen) {
                planner.plan_write(&path, &chosen, &ReviewTarget::All, &mut plan)?;
            }
            Ok(plan)
        })
    }

    /// Undoes the latest restore or rejection. Fails with `NothingToUndo` if there is none, with
    /// `UndoConflicts` if others changed the same lines since.
    fn undo_latest(&self) -> Result<UndoOutcome, Error> {
        self.act(|planner| {
            let operation = planner.history.latest_undo().ok_or(Error::NothingToUndo)?;
            planner.plan_undo_of(operation)
        })
    }

    /// Observes the files that agents changed, plans and writes. Plans again if a file was written in between.
    fn act(
        &self,
        plan: impl Fn(&mut Planner<'_>) -> Result<ActionPlan, Error>,
    ) -> Result<UndoOutcome, Error> {
        let mut history = lock_of(&self.history);
        let mut weaves = lock_of(&self.weaves);
        let mut attempt = 1;
        loop {
            history.observe_agents_files()?;
            let planned = plan(&mut Planner::new(&mut history, &mut weaves))?;
            match self.write(&mut history, planned) {
                Err(Error::Busy(_)) if attempt < MAX_PLANS => attempt += 1,
                outcome => return outcome,
            }
        }
    }

    /// Writes the files that have no unsaved text, and returns edits for the others.
    fn write(&self, history: &mut ChangeHistory, plan: ActionPlan) -> Result<UndoOutcome, Error> {
        let mut outcome = UndoOutcome {
            contested: plan.contested,
            ..UndoOutcome::default()
        };
        let mut writes = Vec::new();
        for write in plan.writes {
            let path = history.root().join(&write.path);
            let unsaved = self.unsaved.as_ref().and_then(|it| it.text(&path));
            match unsaved {
                Some(text) => match merged_buffer(history, &write, &text)? {
                    Ok(after) if after == text => {}
                    Ok(after) => outcome.buffers.push(BufferEdit {
                        path,
                        before: text,
                        after,
                    }),
                    Err(conflict) => outcome.contested.push(conflict),
                },
                None => writes.push(write),
            }
        }
        if writes.is_empty() && outcome.buffers.is_empty() {
            return Err(if outcome.contested.is_empty() {
                Error::NothingToUndo
            } else {
                Error::UndoConflicts(outcome.contested)
            });
        }
        if !writes.is_empty() {
            outcome.paths = history.run_operation(writes)?.paths;
        }
        Ok(outcome)
    }
}

/// Merges a write into a file's unsaved text, or returns why it cannot be.
fn merged_buffer(
    history: &ChangeHistory,
    write: &FileWrite,
    text: &str,
) -> Result<Result<String, UndoConflict>, Error> {
    let conflict = |why: &str| UndoConflict {
        path: write.path.clone(),
        rows: None,
        why: why.to_owned(),
    };
    let (Some(from), Some(to)) = (&write.from, &write.to) else {
        return Ok(Err(conflict("the file has text that you have not saved")));
    };
    let (from, to) = (history.content(from)?, history.content(to)?);
    let (Ok(from), Ok(to)) = (String::from_utf8(from), String::from_utf8(to)) else {
        return Ok(Err(conflict("the file has text that you have not saved")));
    };
    let merged = merge(&from, text, &to);
    Ok(merged.map_err(|_| conflict("you have changed the same lines and not saved them")))
}

impl Planner<'_> {
    /// The changes that a target selects, without what the user kept.
    fn chosen(&self, sessions: &[String], target: &ReviewTarget) -> ChosenChanges {
        ChosenChanges::of_sessions(self.history, sessions, |call| match target {
            // Turns of subagents belong to a call of the session's turn.
            ReviewTarget::Turn(turn) => {
                sessions.first() == Some(&call.session) && call.turn == *turn
            }
            ReviewTarget::Call(id) => call.call == *id,
            ReviewTarget::Hunk { .. } | ReviewTarget::File(_) | ReviewTarget::All => true,
        })
    }

    fn target_paths(&self, chosen: &ChosenChanges, target: &ReviewTarget) -> Vec<String> {
        match target {
            ReviewTarget::Hunk { path, .. } | ReviewTarget::File(path) => vec![path.clone()],
            _ => self.paths(chosen),
        }
    }

    /// The groups of a file that a target selects, by index, and whether it selects the whole file.
    fn selected(
        &mut self,
        path: &str,
        chosen: &ChosenChanges,
        target: &ReviewTarget,
    ) -> Result<(Vec<usize>, bool), Error> {
        let hunks = self.hunks(path, chosen);
        let ReviewTarget::Hunk { hunk, .. } = target else {
            return Ok((hunks.iter().filter_map(|it| it.group).collect(), true));
        };
        let found = hunks.iter().find(|it| it.hunk.id == *hunk);
        let found = found.ok_or_else(|| stale(path))?;
        Ok((found.group.into_iter().collect(), hunks.len() == 1))
    }

    /// The decision to keep what a target selects in a file; `None` if that is nothing.
    fn kept(
        &mut self,
        path: &str,
        chosen: &ChosenChanges,
        target: &ReviewTarget,
    ) -> Result<Option<KeptChanges>, Error> {
        let (selected, is_whole) = self.selected(path, chosen, target)?;
        let Some(plan) = self.plan(path, chosen).filter(|plan| !plan.is_empty()) else {
            return Ok(None);
        };
        let mut lines = Vec::new();
        if let (PlannedContent::Text(groups), Some(file)) = (&plan.content, self.weaves.get(path)) {
            for group in selected.iter().filter_map(|at| groups.get(*at)) {
                let mark = |at: &usize, is_removal| file.weave.lines()[*at].mark(is_removal);
                lines.extend(group.added.iter().map(|at| mark(at, false)));
                lines.extend(group.removed.iter().map(|at| mark(at, true)));
            }
        }
        Ok(Some(KeptChanges {
            path: path.to_owned(),
            next: self.history.next_id(),
            lines,
            // A new file of which a part is kept is kept as a file.
            is_whole: is_whole || plan.is_created,
        }))
    }

    /// Plans the write of a file without what a target selects.
    fn plan_write(
        &mut self,
        path: &str,
        chosen: &ChosenChanges,
        target: &ReviewTarget,
        to: &mut ActionPlan,
    ) -> Result<(), Error> {
        let (selected, is_whole) = self.selected(path, chosen, target)?;
        let Some(plan) = self.plan(path, chosen).filter(|plan| !plan.is_empty()) else {
            return Ok(());
        };
        let write = match &plan.content {
            PlannedContent::Whole { changes, .. } => match self.history.plan_undo(path, changes) {
                Ok(Some(write)) if write.to.as_ref().is_some_and(|it| !it.is_kept()) => {
                    to.contested.push(UndoConflict {
                        path: path.to_owned(),
                        rows: None,
                        why: "its earlier content was not stored".to_owned(),
                    });
                    None
                }
                Ok(write) => write.map(|write| FileWrite {
                    undoes: Vec::new(),
                    ..write
                }),
                Err(Error::UndoConflicts(conflicts)) => {
                    to.contested.extend(conflicts);
                    None
                }
                Err(error) => return Err(error),
            },
            PlannedContent::Text(groups) => {
                let groups = selected.iter().filter_map(|at| groups.get(*at));
                let (taken, contested): (Vec<&LineGroup>, Vec<&LineGroup>) =
                    groups.partition(|group| group.contested_by.is_none());
                for group in &contested {
                    to.contested.push(self.conflict(path, group));
                }
                let is_whole = is_whole && contested.is_empty();
                self.text_write(&plan, &taken, is_whole, to)?
            }
        };
        to.writes.extend(write);
        Ok(())
    }

    fn text_write(
        &mut self,
        plan: &FilePlan,
        groups: &[&LineGroup],
        is_whole: bool,
        to: &mut ActionPlan,
    ) -> Result<Option<FileWrite>, Error> {
        let Some(FileWeave { weave, .. }) = self.weaves.get(&plan.path) else {
            return Ok(None);
        };
        if joins_lines(weave, groups) {
            to.contested.push(UndoConflict {
                path: plan.path.clone(),
                rows: None,
                why: "the end of the file was changed since".to_owned(),
            });
            return Ok(None);
        }
        let text = text_without(weave, groups);
        let now_kind = plan.now.as_ref().map(|it| it.kind);
        let kind = if is_whole { plan.kind } else { now_kind };
        let version = match kind {
            // Text of others in a file that an agent created stays.
            None if text.is_empty() => None,
            None => Some(
                self.history
                    .store_version(now_kind.unwrap_or(VersionKind::File), &text)?,
            ),
            Some(kind) => Some(self.history.store_version(kind, &text)?),
        };
        // A removed file that others did not create again has no text to put back a part of.
        let version = version.filter(|_| plan.now.is_some() || !text.is_empty() || is_whole);
        Ok(write_of(plan, version))
    }

    fn conflict(&self, path: &str, group: &LineGroup) -> UndoConflict {
        let author = group.contested_by.map(|id| self.author_name(id));
        let rows = self.weaves.get(path).map(|file| {
            let lines = file.weave.lines().iter().enumerate();
            let first = group.changed().min().unwrap_or_default();
            let live = lines.filter(|(at, line)| *at < first && line.is_live());
            let start = u32::try_from(live.count()).unwrap_or(u32::MAX);
            start..start + u32::try_from(group.added.len()).unwrap_or(0)
        });
        UndoConflict {
            path: path.to_owned(),
            rows,
            why: format!(
                "the same lines were changed since by {}",
                author.unwrap_or_default()
            ),
        }
    }

    /// Plans to undo an undo operation; all of it or nothing.
    fn plan_undo_of(&mut self, operation: u64) -> Result<ActionPlan, Error> {
        let author = ChangeAuthor::Undo { operation };
        let own = self
            .history
            .changes()
            .iter()
            .filter(|it| it.author == author);
        let own: Vec<(String, ChangeId)> = own.map(|it| (it.path.clone(), it.id)).collect();
        let paths: BTreeSet<String> = own.iter().map(|it| it.0.clone()).collect();
        let chosen = own.into_iter().map(|it| it.1).collect();
        let mut plan = ActionPlan::default();
        let mut conflicts = Vec::new();
        for path in paths {
            match self.history.plan_undo(&path, &chosen) {
                Ok(write) => plan.writes.extend(write),
                Err(Error::UndoConflicts(more)) => conflicts.extend(more),
                Err(error) => return Err(error),
            }
        }
        if conflicts.is_empty() {
            Ok(plan)
        } else {
            Err(Error::UndoConflicts(conflicts))
        }
    }
}

fn write_of(plan: &FilePlan, to: Option<StoredVersion>) -> Option<FileWrite> {
    (to != plan.now).then(|| FileWrite {
        path: plan.path.clone(),
        from: plan.now.clone(),
        to,
        undoes: Vec::new(),
    })
}

impl ChangeHistory {
    /// Observes the files that agents have changed, or an undo. The cost grows with their number,
    /// not with the folder.
    pub(super) fn observe_agents_files(&mut self) -> Result<(), Error> {
        let by_agents = self.changes().iter().filter(|it| {
            it.author.agent_call().is_some() || matches!(it.author, ChangeAuthor::Undo { .. })
        });
        let paths: BTreeSet<&String> = by_agents.map(|it| &it.path).collect();
        let paths: Vec<String> = paths.into_iter().cloned().collect();
        self.observe(ObserveScope::Paths(&paths), &ChangeAuthor::Disk)
            .map(drop)
    }

    /// The latest undo operation that is in effect and undid changes, not an undo.
    pub(super) fn latest_undo(&self) -> Option<u64> {
        let in_effect = self.changes_in_effect(None, &std::collections::HashSet::new());
        let mut undone: HashMap<u64, bool> = HashMap::new();
        for change in self.changes() {
            if let ChangeAuthor::Undo { operation } = change.author {
                let counts = change.undoes.is_empty() && in_effect.contains(&change.id);
                *undone.entry(operation).or_default() |= counts;
            }
        }
        let operations = undone.into_iter().filter(|(_, counts)| *counts);
        operations.map(|(operation, _)| operation).max()
    }
}
