//! The changes of one working tree: a log in which every change has an author.
//!
//! The log knows every file as it was last observed. Each observation finds the files that differ
//! since then and attributes them to an author. Two observations surround a tool call: the one
//! before it attributes differences to other programs, the one after it attributes the rest to the
//! call. Commands are therefore covered with all their side effects, and untracked files are
//! treated like tracked ones. In the user's folder, files that Git checked out since the observation
//! before are changes of Git: HEAD has moved, and they are as in its commit.
//!
//! Invariant: the changes of a path form a chain: each one starts from the version that the
//! previous one left.
//! Invariant: every version in the log has its content in the store or in the base, unless it is
//! larger than `MAX_CONTENT_BYTES`.
//! Invariant: symlinks are never followed; `.git` and files ignored by Git are not observed.
//! Invariant: the log of a killed program can be opened; an interrupted operation is finished or
//! rolled back (`checkpoint`).
//! Limitations: a content larger than `MAX_CONTENT_BYTES` is noticed but not stored, so it cannot be
//! restored. After a power cut (not after a crash of the program) the contents of the last seconds
//! may be missing, which reading detects.
//! Start at `ChangeHistory::open`; undo is in `checkpoint`, the observer of tool calls in
//! `tree_watchers`.

mod base;
mod blame;
mod change;
mod following;
pub(crate) mod merge;
mod scan;
mod session_authors;
mod tree_watchers;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use ::base::AbsPath;
use git::{IndexStat, blob_id};
use host::{AppendLog, Clock, FileLock, Files, FolderTree, TreeEntry, TreeKind};

pub use base::{BaseCommit, FakeBase, GitBase, GitMove, HeadState};
pub use blame::BlameRange;
pub use change::{
    AgentCall, ChangeAuthor, ChangeId, Checkpoint, RecordedChange, StoredVersion, VersionKind,
};
pub(crate) use change::{KeptChanges, KeptLine};
pub use scan::ObserveScope;
pub use session_authors::SessionAuthors;
pub use tree_watchers::{CallGate, TreeWatchers};

use crate::Error;
use crate::retention_recorder::RetentionRecorder;
use change::ChangeHistoryEntry;

/// The maximum size of a stored content, in bytes.
pub const MAX_CONTENT_BYTES: u64 = 16 << 20;
/// The maximum size of a log that is read, in bytes: some millions of changes.
const MAX_LOG_BYTES: u64 = 1 << 30;

/// The change log of one working tree. Only one process has it open at a time.
pub struct ChangeHistory {
    tree: FolderTree,
    base: Box<dyn BaseCommit>,
    base_files: BTreeMap<String, StoredVersion>,
    /// Ids of the contents that the base has.
    base_ids: HashSet<String>,
    index: HashMap<String, IndexStat>,
    /// Stored contents, addressed by their ids.
    contents: FolderTree,
    folder: AbsPath,
    files: Arc<dyn Files>,
    clock: Arc<dyn Clock>,
    log: Box<dyn AppendLog>,
    /// Sorted by number, ascending.
    changes: Vec<RecordedChange>,
    checkpoints: Vec<Checkpoint>,
    /// The user's decisions to keep changes, oldest first.
    kept: Vec<KeptChanges>,
    /// While a new log takes its first look at the tree: the size of the contents that it may still
    /// store, in bytes.
    first_look_bytes: Option<u64>,
    /// HEAD as last seen, in a folder of the user.
    head: Option<HeadState>,
    /// A move of HEAD whose files were not all observed yet.
    git_move: Option<GitMove>,
    /// Every file as last observed, by path.
    known: BTreeMap<String, ObservedFile>,
    /// The author of a background command. Differences that no other author claims are attributed
    /// to it.
    running: Option<ChangeAuthor>,
    /// The calls that run, with the paths that they may change; `None` for all paths.
    active_calls: Vec<(ChangeAuthor, Option<Vec<String>>)>,
    problems: Vec<String>,
    /// Follows the texts that agents write; `None` follows nothing.
    recorder: Option<RetentionRecorder>,
    _lock: FileLock,
}

/// The arguments of `ChangeHistory::open`.
pub struct ChangeHistoryOptions {
    /// The root of the working tree, as a canonical path.
    pub root: AbsPath,
    /// The commit from which the tree started.
    pub base: Box<dyn BaseCommit>,
    /// Private folder for the log and the contents, outside the working tree.
    pub folder: AbsPath,
    /// File access for that folder.
    pub files: Arc<dyn Files>,
    /// The clock that stamps changes.
    pub clock: Arc<dyn Clock>,
}

/// A file as last observed.
#[derive(Clone, Debug)]
struct ObservedFile {
    version: StoredVersion,
    /// Metadata at the time of reading; a file with the same metadata is not read again. `None` if
    /// the file may have changed within the same clock tick.
    entry: Option<TreeEntry>,
}

/// A file that differs from the base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDifference {
    /// Path from the root, separated by `/`.
    pub path: String,
    /// The version in the base; `None` for a new file.
    pub before: Option<StoredVersion>,
    /// The present version; `None` for a removed file.
    pub after: Option<StoredVersion>,
}

impl ChangeHistory {
    /// Opens or creates the log, and finishes or rolls back an operation that a killed program left
    /// unfinished. Differences from the log are attributed to `first` if the log is new, to other
    /// programs otherwise. Blocks on the disk.
    pub fn open(parts: ChangeHistoryOptions, first: ChangeAuthor) -> Result<Self, Error> {
        let ChangeHistoryOptions {
            root,
            base,
            folder,
            files,
            clock,
        } = parts;
        files.create_folder(&folder.join("contents"))?;
        let lock = files.lock(&folder.join("lock"))?;
        let lock = lock.ok_or_else(|| {
            Error::Busy(format!(
                "another Burin process is working on {root}; wait until it has ended"
            ))
        })?;
        let path = folder.join("changes.jsonl");
        let past = match files.read(&path, MAX_LOG_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.is_not_found() => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let mut log = files.open_log(&path)?;
        if past.last().is_some_and(|byte| *byte != b'\n') {
            // A line that was cut short ends here and is skipped by `replay`.
            log.append(b"\n")?;
        }
        let base_files = base.files()?;
        let mut history = Self {
            tree: FolderTree::open(&root)?,
            contents: FolderTree::open(&folder.join("contents"))?,
            base_ids: base_files.values().map(|it| it.id.clone()).collect(),
            index: if past.is_empty() || base.is_users_folder() {
                base.index_stats()
            } else {
                HashMap::new()
            },
            known: BTreeMap::new(),
            base,
            base_files,
            folder,
            files,
            clock,
            log,
            changes: Vec::new(),
            checkpoints: Vec::new(),
            kept: Vec::new(),
            first_look_bytes: None,
            head: None,
            git_move: None,
            running: None,
            active_calls: Vec::new(),
            problems: Vec::new(),
            recorder: None,
            _lock: lock,
        };
        history.replay(&past);
        let is_new = past.is_empty();
        history.recover()?;
        history.first_look_bytes = history.base.first_look_bytes().filter(|_| is_new);
        history.observe(
            ObserveScope::All,
            &if is_new { first } else { ChangeAuthor::Disk },
        )?;
        history.first_look_bytes = None;
        history.note_head()?;
        Ok(history)
    }

    /// Loads the recorded changes and checkpoints.
    fn replay(&mut self, past: &[u8]) {
        for (path, version) in &self.base_files {
            let version = version.clone();
            let seen = ObservedFile {
                version,
                entry: None,
            };
            self.known.insert(path.clone(), seen);
        }
        let lines = past.split(|byte| *byte == b'\n');
        for (number, line) in lines.enumerate().filter(|(_, line)| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(ChangeHistoryEntry::Change(change)) => self.apply(change),
                Ok(ChangeHistoryEntry::Checkpoint(checkpoint)) => self.checkpoints.push(checkpoint),
                Ok(ChangeHistoryEntry::Kept(kept)) => self.kept.push(kept),
                Ok(ChangeHistoryEntry::Head(head)) => self.head = Some(head),
                Err(error) => self.problems.push(format!(
                    "cannot read line {} of {}, skipped: {error}",
                    number + 1,
                    self.folder.join("changes.jsonl")
                )),
            }
        }
    }

    fn apply(&mut self, change: RecordedChange) {
        match &change.after {
            Some(version) => {
                let seen = ObservedFile {
                    version: version.clone(),
                    entry: None,
                };
                self.known.insert(change.path.clone(), seen);
            }
            None => {
                self.known.remove(&change.path);
            }
        }
        self.changes.push(change);
    }

    /// The root of the working tree.
    pub fn root(&self) -> &AbsPath {
        self.tree.root()
    }

    /// Returns all changes so far, oldest first, with consecutive numbers.
    pub fn changes(&self) -> &[RecordedChange] {
        &self.changes
    }

    /// Returns a change by its number, or `None` if there is no such change.
    pub fn change(&self, id: ChangeId) -> Option<&RecordedChange> {
        let at = self.changes.binary_search_by_key(&id, |change| change.id);
        at.ok().and_then(|at| self.changes.get(at))
    }

    /// All checkpoints, oldest first.
    pub fn checkpoints(&self) -> &[Checkpoint] {
        &self.checkpoints
    }

    /// The user's decisions to keep changes, oldest first.
    pub(crate) fn kept(&self) -> &[KeptChanges] {
        &self.kept
    }

    /// Records the user's decision to keep changes of some files. The decision is final.
    pub(crate) fn keep(&mut self, kept: Vec<KeptChanges>) -> Result<(), Error> {
        let lines: Vec<ChangeHistoryEntry> =
            kept.iter().cloned().map(ChangeHistoryEntry::Kept).collect();
        self.append(&lines)?;
        self.kept.extend(kept);
        Ok(())
    }

    /// Takes the problems met so far, as sentences, and clears them.
    pub fn take_problems(&mut self) -> Vec<String> {
        std::mem::take(&mut self.problems)
    }

    /// Returns the version of a path as last observed, which may be older than the disk. Returns
    /// `None` if there was no such file.
    pub fn known_version(&self, path: &str) -> Option<&StoredVersion> {
        self.known.get(path).map(|seen| &seen.version)
    }

    /// Marks the beginning of a session's turn at the present end of the log. A second mark of the
    /// same turn does nothing.
    pub fn checkpoint(&mut self, session: &str, turn: u64) -> Result<(), Error> {
        let is_there = |it: &Checkpoint| it.session == session && it.turn == turn;
        if self.checkpoints.iter().any(is_there) {
            return Ok(());
        }
        let checkpoint = Checkpoint {
            session: session.to_owned(),
            turn,
            at_ms: self.clock.wall_ms(),
            next: self.next_id(),
        };
        self.append(&[ChangeHistoryEntry::Checkpoint(checkpoint.clone())])?;
        self.checkpoints.push(checkpoint);
        Ok(())
    }

    /// Returns the files that differ from the base as last observed, sorted by path.
    pub fn differences(&self) -> Vec<FileDifference> {
        let mut differences: BTreeMap<&str, FileDifference> = BTreeMap::new();
        for (path, seen) in &self.known {
            let before = self.base_files.get(path);
            if before != Some(&seen.version) {
                let difference = FileDifference {
                    path: path.clone(),
                    before: before.cloned(),
                    after: Some(seen.version.clone()),
                };
                differences.insert(path, difference);
            }
        }
        for (path, version) in &self.base_files {
            if !self.known.contains_key(path) {
                let difference = FileDifference {
                    path: path.clone(),
                    before: Some(version.clone()),
                    after: None,
                };
                differences.insert(path, difference);
            }
        }
        differences.into_values().collect()
    }

    /// Reads the bytes of a version. Fails if they were not stored.
    pub fn content(&self, version: &StoredVersion) -> Result<Vec<u8>, Error> {
        if !version.is_kept() {
            return Err(Error::NotStored(format!(
                "the file is larger than {} MiB or was never read, so its content was not stored \
                 and cannot be restored",
                MAX_CONTENT_BYTES >> 20
            )));
        }
        let kept = self
            .contents
            .read(&content_path(&version.id), MAX_CONTENT_BYTES);
        if let Some((_, bytes)) = kept?
            && blob_id(&bytes) == version.id
        {
            return Ok(bytes);
        }
        self.base.content(&version.id)?.ok_or_else(|| {
            Error::NotStored(format!(
                "content {} is neither stored nor known to Git",
                version.id
            ))
        })
    }

    /// Stores a content under its blob id, unless the base or the store has it already.
    fn store_content(&mut self, id: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = content_path(id);
        let is_there = self.base_ids.contains(id)
            || matches!(self.contents.entry(&path), Ok(Some(entry)) if entry.size == bytes.len() as u64);
        if is_there {
            Ok(())
        } else {
            Ok(self.contents.write(&path, TreeKind::File, bytes, false)?)
        }
    }

    /// Returns the number that the next change gets.
    pub(crate) fn next_id(&self) -> ChangeId {
        ChangeId(self.changes.last().map_or(0, |change| change.id.0 + 1))
    }

    /// Appends changes to the log on disk, then applies them in memory. If the disk refuses the
    /// changes, the state in memory stays unchanged.
    pub(crate) fn append_changes(&mut self, changes: Vec<RecordedChange>) -> Result<(), Error> {
        let lines: Vec<ChangeHistoryEntry> = changes
            .iter()
            .cloned()
            .map(ChangeHistoryEntry::Change)
            .collect();
        self.append(&lines)?;
        self.record_together(&changes);
        for change in changes {
            self.apply(change);
        }
        Ok(())
    }

    /// Stores a content on disk and returns its version. Equal contents are stored only once.
    pub(crate) fn store_version(
        &mut self,
        kind: VersionKind,
        bytes: &[u8],
    ) -> Result<StoredVersion, Error> {
        let id = blob_id(bytes);
        self.store_content(&id, bytes)?;
        Ok(StoredVersion { id, kind })
    }

    /// Returns the version of a path in the base, or `None` if the base has no such file.
    pub(crate) fn base_version(&self, path: &str) -> Option<&StoredVersion> {
        self.base_files.get(path)
    }

    /// Writes a version to a path of the working tree, or removes the path if the version is
    /// `None`. Does not log the change.
    pub(crate) fn write_version(
        &mut self,
        path: &str,
        version: Option<&StoredVersion>,
    ) -> Result<(), Error> {
        let put = match version {
            Some(version) => {
                let bytes = self.content(version)?;
                self.tree
                    .write(path, version.kind.tree_kind(), &bytes, true)
            }
            None => self.tree.remove(path),
        };
        Ok(put?)
    }

    /// Removes temporary files of an interrupted `write_version`.
    pub(crate) fn remove_temporaries(&self, path: &str) -> Result<(), Error> {
        Ok(self.tree.sweep(path)?)
    }

    /// Writes the journal of an undo operation, which `recover` reads if the program is killed.
    pub(crate) fn write_journal(&self, bytes: &[u8]) -> Result<(), Error> {
        Ok(self.files.write_private(&self.journal_path(), bytes)?)
    }

    /// Reads the journal of an unfinished undo operation. Returns `None` if there is no journal.
    pub(crate) fn read_journal(&self) -> Result<Option<Vec<u8>>, Error> {
        match self.files.read(&self.journal_path(), MAX_LOG_BYTES) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes the journal once the operation is complete.
    pub(crate) fn remove_journal(&self) -> Result<(), Error> {
        Ok(self.files.remove(&self.journal_path())?)
    }

    fn journal_path(&self) -> AbsPath {
        self.folder.join("operation.json")
    }

    /// Returns the current time, in milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.wall_ms()
    }

    /// Looks at HEAD, and notes a move that checked files out. A log begins with the first look at the
    /// tree, so this does nothing before.
    fn note_head(&mut self) -> Result<(), Error> {
        if self.first_look_bytes.is_some() {
            return Ok(());
        }
        let Some(head) = self.base.head() else {
            return Ok(());
        };
        if self.head.as_ref() == Some(&head) {
            return Ok(());
        }
        self.append(&[ChangeHistoryEntry::Head(head.clone())])?;
        let Some(before) = self.head.replace(head.clone()) else {
            return Ok(());
        };
        match self.base.moved_since(&before) {
            Some(moved) => self.git_move = Some(moved),
            None => self.record_commit(&before, &head),
        }
        Ok(())
    }

    /// Appends entries to the log on the disk, one per line.
    fn append(&mut self, lines: &[ChangeHistoryEntry]) -> Result<(), Error> {
        let mut bytes = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut bytes, line)?;
            bytes.push(b'\n');
        }
        if bytes.is_empty() {
            Ok(())
        } else {
            Ok(self.log.append(&bytes)?)
        }
    }
}

fn content_path(id: &str) -> String {
    let (folder, name) = id.split_at_checked(2).unwrap_or(("", id));
    format!("{folder}/{name}")
}
