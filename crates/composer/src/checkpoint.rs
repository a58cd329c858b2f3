//! Undo of recorded changes: back to the start of a turn, or a selection of changes; an undo can be
//! undone.
//!
//! Changes of other authors stay. A file changed by both is merged by lines. If the same lines
//! changed since, the whole operation is refused with a list of all conflicts, and no file is
//! touched.
//! Invariant: an operation changes all its files or none, even if the program dies: the journal
//! records the target of every file before the first is touched.
//! Invariant: an operation appends ordinary changes to the log, so it can itself be undone.
//! Limitations: another program may write a file between the last observation and its replacement;
//! that write is lost unless it was observed.
//! Start at `ChangeHistory::restore` and `ChangeHistory::undo`.

mod plan;
mod transfer;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::change_history::{
    ChangeAuthor, ChangeHistory, ChangeId, ObserveScope, RecordedChange, StoredVersion,
};

/// A selection of changes to undo. A change must match every criterion that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoSelection {
    /// Made by one of these sessions.
    pub sessions: Option<Vec<String>>,
    /// Made in this turn.
    pub turn: Option<u64>,
    /// Made by this tool call.
    pub call: Option<String>,
    /// Made by this author.
    pub author: Option<ChangeAuthor>,
    /// Made to one of these files.
    pub paths: Option<Vec<String>>,
    /// One of these changes.
    pub changes: Option<Vec<ChangeId>>,
}

/// The result of an undo operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoResult {
    /// Number of the operation, as in `ChangeAuthor::Undo`.
    pub operation: u64,
    /// The changes that the operation made; to undo it, select its author.
    pub changes: Vec<ChangeId>,
    /// The files that were changed.
    pub paths: Vec<String>,
}

/// The planned replacement of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileWrite {
    pub(crate) path: String,
    pub(crate) from: Option<StoredVersion>,
    pub(crate) to: Option<StoredVersion>,
    pub(crate) undoes: Vec<ChangeId>,
}

/// The journal of an operation in progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct UndoJournal {
    operation: u64,
    at_ms: u64,
    writes: Vec<FileWrite>,
}

impl UndoSelection {
    /// Selects all changes of these sessions. An empty list selects no changes.
    pub fn of_sessions(sessions: Vec<String>) -> Self {
        Self {
            sessions: Some(sessions),
            ..Self::default()
        }
    }

    /// Selects the changes of an undo operation.
    pub fn of_operation(operation: u64) -> Self {
        Self {
            author: Some(ChangeAuthor::Undo { operation }),
            ..Self::default()
        }
    }

    /// Returns whether a change meets every criterion that is set. Changes of other authors than
    /// agents never meet a session, a turn or a call.
    fn matches(&self, change: &RecordedChange) -> bool {
        let agent = change.author.agent_call();
        let is_of = |sessions: &Vec<String>| agent.is_some_and(|it| sessions.contains(&it.session));
        self.sessions.as_ref().is_none_or(is_of)
            && self
                .turn
                .is_none_or(|turn| agent.is_some_and(|it| it.turn == turn))
            && self
                .call
                .as_ref()
                .is_none_or(|call| agent.is_some_and(|it| it.call == *call))
            && self.author.as_ref().is_none_or(|it| *it == change.author)
            && self
                .paths
                .as_ref()
                .is_none_or(|it| it.contains(&change.path))
            && self
                .changes
                .as_ref()
                .is_none_or(|it| it.contains(&change.id))
    }
}

impl ChangeHistory {
    /// Restores the state in which the given turn of the first session began. The other sessions
    /// are subagents of the first one; their changes are undone, too. Changes of other authors
    /// stay. Fails without changing a file if other changes conflict, or if there are no changes to
    /// undo. Blocks on the disk.
    pub fn restore(&mut self, sessions: &[String], turn: u64) -> Result<UndoResult, Error> {
        let first = sessions.first().map_or("", String::as_str);
        let checkpoint = self.checkpoints().iter();
        let mut checkpoint = checkpoint.filter(|it| it.session == first && it.turn >= turn);
        // A turn without tool calls has no checkpoint; that of the next turn marks the same moment.
        let since = match checkpoint.next() {
            Some(checkpoint) => checkpoint.next,
            None => return Err(Error::NothingToUndo),
        };
        self.observe(ObserveScope::All, &ChangeAuthor::Disk)?;
        let chosen = self.changes_since(sessions, since);
        self.undo_changes(&chosen)
    }

    /// The changes to undo so that exactly those changes of the sessions are in effect that were in
    /// effect just before change `since`.
    fn changes_since(&self, sessions: &[String], since: ChangeId) -> HashSet<ChangeId> {
        let is_theirs = |change: &&RecordedChange| {
            sessions
                .iter()
                .any(|session| change.author.is_by_session(session))
        };
        let then = self.changes_in_effect(Some(since), &HashSet::new());
        let mut chosen: HashSet<ChangeId> = HashSet::new();
        loop {
            let now = self.changes_in_effect(None, &chosen);
            let mut more: HashSet<ChangeId> = HashSet::new();
            for change in self.changes().iter().filter(is_theirs) {
                match (then.contains(&change.id), now.contains(&change.id)) {
                    (false, true) => more.extend([change.id]),
                    // Undoing an undo can affect further changes; the next round handles those.
                    (true, false) => more.extend(
                        self.changes()
                            .iter()
                            .filter(|it| now.contains(&it.id) && it.undoes.contains(&change.id))
                            .map(|it| it.id),
                    ),
                    _ => {}
                }
            }
            if more.is_empty() {
                return chosen;
            }
            // This terminates: each round adds to a set of finite size.
            chosen.extend(more);
        }
    }

    /// Undoes the selected changes, and skips changes that are already undone. Fails with
    /// `Error::NothingToUndo` if all are. If later changes conflict, fails with all conflicts
    /// before it writes any file. Blocks on the disk.
    pub fn undo(&mut self, selection: &UndoSelection) -> Result<UndoResult, Error> {
        self.observe(ObserveScope::All, &ChangeAuthor::Disk)?;
        let chosen = self.selected_changes(selection);
        self.undo_changes(&chosen)
    }

    /// Resets rows of a file to the base. `rows` count in the present file; every hunk that they
    /// touch is reset as a whole. Blocks on the disk.
    pub fn undo_rows(&mut self, path: &str, rows: Range<u32>) -> Result<UndoResult, Error> {
        self.observe(ObserveScope::All, &ChangeAuthor::Disk)?;
        let to = self.without_rows(path, &rows)?;
        let from = self.known_version(path).cloned();
        if from == to {
            return Err(Error::NothingToUndo);
        }
        self.run_operation(vec![FileWrite {
            path: path.to_owned(),
            from,
            to,
            undoes: Vec::new(),
        }])
    }

    /// Returns the selected changes that are not undone.
    pub fn selected_changes(&self, selection: &UndoSelection) -> HashSet<ChangeId> {
        let live = self.changes_in_effect(None, &HashSet::new());
        let chosen = self.changes().iter().filter(|it| selection.matches(it));
        let chosen = chosen.map(|change| change.id);
        chosen.filter(|id| live.contains(id)).collect()
    }

    /// The changes in effect just before change `before`, or now, if `gone` were undone as well. A
    /// change is in effect unless an undo in effect covers it.
    pub(crate) fn changes_in_effect(
        &self,
        before: Option<ChangeId>,
        gone: &HashSet<ChangeId>,
    ) -> HashSet<ChangeId> {
        let all = self.changes().iter();
        let all = all.filter(|it| before.is_none_or(|before| it.id < before));
        let mut live: HashSet<ChangeId> = all.clone().map(|it| it.id).collect();
        live.retain(|id| !gone.contains(id));
        for change in all.rev() {
            if live.contains(&change.id) {
                for undone in &change.undoes {
                    live.remove(undone);
                }
            }
        }
        live
    }

    /// Undoes these changes as one operation. Fails with all conflicts, or with `NothingToUndo` if
    /// no file has to change, before it writes any file.
    fn undo_changes(&mut self, chosen: &HashSet<ChangeId>) -> Result<UndoResult, Error> {
        let mut paths: Vec<String> = Vec::new();
        for change in self.changes().iter().filter(|it| chosen.contains(&it.id)) {
            if !paths.contains(&change.path) {
                paths.push(change.path.clone());
            }
        }
        let mut writes = Vec::new();
        let mut conflicts = Vec::new();
        for path in paths {
            match self.plan_undo(&path, chosen) {
                Ok(write) => writes.extend(write),
                Err(Error::UndoConflicts(more)) => conflicts.extend(more),
                Err(stuck) => return Err(stuck),
            }
        }
        match (conflicts.is_empty(), writes.is_empty()) {
            (false, _) => Err(Error::UndoConflicts(conflicts)),
            (true, true) => Err(Error::NothingToUndo),
            (true, false) => self.run_operation(writes),
        }
    }

    /// Runs an operation: writes the journal, then each file, removals last, then the log. Fails with
    /// `Busy` if a file no longer has the version that its write starts from; then no file is
    /// changed.
    pub(crate) fn run_operation(
        &mut self,
        mut writes: Vec<FileWrite>,
    ) -> Result<UndoResult, Error> {
        writes.sort_by_key(|write| write.to.is_none());
        let numbers = self.changes().iter().filter_map(|it| match it.author {
            ChangeAuthor::Undo { operation } => Some(operation),
            _ => None,
        });
        let journal = UndoJournal {
            operation: numbers.max().unwrap_or(0) + 1,
            at_ms: self.now_ms(),
            writes,
        };
        let bytes = serde_json::to_vec(&journal)?;
        self.write_journal(&bytes)?;
        for (ix, write) in journal.writes.iter().enumerate() {
            if let Err(cause) = self.apply_write(write) {
                return Err(self.roll_back(&journal.writes[..ix], cause));
            }
        }
        self.finish_operation(journal)
    }

    /// Writes the target version of a file to the disk, but not to the log. Fails with `Busy` if
    /// the file no longer has the version that the plan started from.
    fn apply_write(&mut self, write: &FileWrite) -> Result<(), Error> {
        if self.current_version(&write.path)? != write.from {
            return Err(Error::Busy(format!(
                "{} was changed at the same moment; nothing was undone, try again",
                write.path
            )));
        }
        self.write_version(&write.path, write.to.as_ref())
    }

    /// Rolls back the files written so far.
    fn roll_back(&mut self, done: &[FileWrite], cause: Error) -> Error {
        let not_rolled_back = |cause, rollback| Error::NotRolledBack {
            cause: Box::new(cause),
            rollback: Box::new(rollback),
        };
        for write in done {
            if let Err(error) = self.write_version(&write.path, write.from.as_ref()) {
                // The journal stays, so that the next `open` tries again.
                return not_rolled_back(cause, error);
            }
        }
        match self.remove_journal() {
            Ok(()) => cause,
            Err(error) => not_rolled_back(cause, error),
        }
    }

    /// Appends the operation to the log and removes the journal.
    fn finish_operation(&mut self, journal: UndoJournal) -> Result<UndoResult, Error> {
        let author = ChangeAuthor::Undo {
            operation: journal.operation,
        };
        let is_logged = |history: &Self, path: &str| {
            let mut changes = history.changes().iter();
            changes.any(|it| it.author == author && it.path == path)
        };
        let first = self.next_id().0;
        let left = journal
            .writes
            .iter()
            .filter(|it| !is_logged(self, &it.path));
        let changes: Vec<RecordedChange> = left
            .zip(first..)
            .map(|(write, id)| RecordedChange {
                id: ChangeId(id),
                at_ms: journal.at_ms,
                path: write.path.clone(),
                before: write.from.clone(),
                after: write.to.clone(),
                author: author.clone(),
                undoes: write.undoes.clone(),
            })
            .collect();
        let undone = UndoResult {
            operation: journal.operation,
            changes: changes.iter().map(|it| it.id).collect(),
            paths: journal.writes.iter().map(|it| it.path.clone()).collect(),
        };
        self.append_changes(changes)?;
        self.remove_journal()?;
        Ok(undone)
    }

    /// Finishes an interrupted operation, or rolls it back if one of its files was changed since.
    pub(crate) fn recover(&mut self) -> Result<(), Error> {
        let Some(bytes) = self.read_journal()? else {
            return Ok(());
        };
        let Ok(journal) = serde_json::from_slice::<UndoJournal>(&bytes) else {
            // The journal is written atomically, so an invalid one means that no file was touched.
            return self.remove_journal();
        };
        let mut is_ours = true;
        let mut states = Vec::new();
        for write in &journal.writes {
            self.remove_temporaries(&write.path)?;
            let present = self.current_version(&write.path)?;
            is_ours &= present == write.from || present == write.to;
            states.push(present);
        }
        for (write, present) in journal.writes.iter().zip(states) {
            if is_ours && present != write.to {
                self.write_version(&write.path, write.to.as_ref())?;
            }
            if !is_ours && present == write.to {
                self.write_version(&write.path, write.from.as_ref())?;
            }
        }
        if is_ours {
            self.finish_operation(journal).map(drop)
        } else {
            self.remove_journal()
        }
    }
}
