//! Who changed what in one working tree: a log of changes, each with its author, over snapshots of what differs.
//!
//! The log knows every file as it was last seen. Looking again finds what became different, and whoever looks says
//! whom that is put down to: around a call of an agent, a look before puts what came from elsewhere down to other
//! programs, and a look after puts the rest down to the call. So commands are covered with all their side effects, and
//! files that git does not track yet are as good as any.
//!
//! Invariant: the changes of a path follow on each other: what one leaves, the next begins with.
//! Invariant: what is in the log has its content in the store or in the base, but for files beyond `MOST`.
//! Invariant: links are never gone through; `.git` and what git ignores are not looked at.
//! Invariant: a killed program leaves a log that can be opened; an operation that was under way is finished or taken
//! back (`checkpoint`).
//! Limitations: a content of more than `MOST` bytes is noticed, not kept, so it cannot be brought back; after a power
//! cut (not after a crash of the program) contents of the last seconds may be missing, which is found when they are
//! read.
//! Start at `Authored::open`; how changes are taken back is in `checkpoint`, how tools are watched in `watched`.

mod change;
mod lines;
mod look;
pub(crate) mod merge;
mod origin;
mod watched;
mod writers;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use base::AbsPath;
use git::{IndexStat, blob_id};
use host::{AppendLog, Clock, Files, Lock, Tree, TreeEntry, TreeKind};

pub use change::{Author, Change, ChangeId, Checkpoint, Doing, Version, VersionKind};
pub use lines::Owned;
pub use look::Scope;
pub use origin::{Base, FakeBase, GitBase};
pub use watched::{Gate, Watched, Watchers};
pub use writers::Writers;

use change::Line;

/// The largest content that is kept, in bytes.
pub const MOST: u64 = 16 << 20;
/// The largest log that is read, in bytes: some millions of changes.
const MOST_LOG: u64 = 1 << 30;

/// The changes of one working tree. One program at a time has it open.
pub struct Authored {
    tree: Tree,
    base: Box<dyn Base>,
    base_files: BTreeMap<String, Version>,
    /// Contents that the base has.
    base_ids: HashSet<String>,
    index: HashMap<String, IndexStat>,
    /// Contents by their ids.
    contents: Tree,
    folder: AbsPath,
    files: Arc<dyn Files>,
    clock: Arc<dyn Clock>,
    log: Box<dyn AppendLog>,
    /// By number, rising.
    changes: Vec<Change>,
    checkpoints: Vec<Checkpoint>,
    /// What stands where, as last seen.
    known: BTreeMap<String, Seen>,
    /// A command that goes on beside its session: what nobody else did is its doing.
    running: Option<Author>,
    problems: Vec<String>,
    _lock: Lock,
}

/// What an `Authored` is opened with.
pub struct Parts {
    /// The working tree; a real path.
    pub root: AbsPath,
    /// What it grew out of.
    pub base: Box<dyn Base>,
    /// Where its log and its contents are kept: a folder of ours, outside of the working tree.
    pub folder: AbsPath,
    /// Files, for that folder.
    pub files: Arc<dyn Files>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// A file as last seen.
#[derive(Clone, Debug)]
struct Seen {
    version: Version,
    /// How it looked when it was read; a file that looks so still is not read again. `None` where it might have
    /// changed within the same tick of the clock.
    entry: Option<TreeEntry>,
}

/// A file that is not as in the base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// From the top, with `/`.
    pub path: String,
    /// As in the base; `None` where it is new.
    pub before: Option<Version>,
    /// As it is now; `None` where it is gone.
    pub after: Option<Version>,
}

impl Authored {
    /// Opens the log, or begins one, and finishes or takes back what a killed program left half done. Blocks on the
    /// disk. What is different from what the log knows is put down to `first` where the log is new, and to other
    /// programs where it is not.
    pub fn open(parts: Parts, first: Author) -> Result<Self, String> {
        let sentence = |error: host::Error| error.to_string();
        let Parts {
            root,
            base,
            folder,
            files,
            clock,
        } = parts;
        files
            .create_folder(&folder.join("contents"))
            .map_err(sentence)?;
        let lock = files.lock(&folder.join("lock")).map_err(sentence)?;
        let lock = lock.ok_or_else(|| {
            format!("another Burin works on {root} at the moment; wait until it has ended")
        })?;
        let path = folder.join("changes.jsonl");
        let past = match files.read(&path, MOST_LOG) {
            Ok(bytes) => bytes,
            Err(error) if error.is_not_found() => Vec::new(),
            Err(error) => return Err(error.to_string()),
        };
        let mut log = files.open_log(&path).map_err(sentence)?;
        if past.last().is_some_and(|byte| *byte != b'\n') {
            // The line that was cut short stands by itself and is passed over.
            log.append(b"\n").map_err(sentence)?;
        }
        let base_files = base.files()?;
        let mut authored = Self {
            tree: Tree::open(&root).map_err(sentence)?,
            contents: Tree::open(&folder.join("contents")).map_err(sentence)?,
            base_ids: base_files.values().map(|it| it.id.clone()).collect(),
            index: match past.is_empty() {
                true => base.index_stats(),
                false => HashMap::new(),
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
            running: None,
            problems: Vec::new(),
            _lock: lock,
        };
        authored.replay(&past);
        let is_new = past.is_empty();
        authored.recover()?;
        authored.observe(Scope::All, &if is_new { first } else { Author::Disk })?;
        Ok(authored)
    }

    /// Takes over what was written down.
    fn replay(&mut self, past: &[u8]) {
        for (path, version) in &self.base_files {
            let version = version.clone();
            let seen = Seen {
                version,
                entry: None,
            };
            self.known.insert(path.clone(), seen);
        }
        let lines = past.split(|byte| *byte == b'\n');
        for (number, line) in lines.enumerate().filter(|(_, line)| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(Line::Change(change)) => self.take(change),
                Ok(Line::Checkpoint(checkpoint)) => self.checkpoints.push(checkpoint),
                Err(error) => self.problems.push(format!(
                    "line {} of {} cannot be read and is left out: {error}",
                    number + 1,
                    self.folder.join("changes.jsonl")
                )),
            }
        }
    }

    fn take(&mut self, change: Change) {
        match &change.after {
            Some(version) => {
                let seen = Seen {
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

    /// The working tree.
    pub fn root(&self) -> &AbsPath {
        self.tree.root()
    }

    /// All changes so far, the oldest first.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// A change by its number.
    pub fn change(&self, id: ChangeId) -> Option<&Change> {
        let at = self.changes.binary_search_by_key(&id, |change| change.id);
        at.ok().and_then(|at| self.changes.get(at))
    }

    /// All checkpoints, the oldest first.
    pub fn checkpoints(&self) -> &[Checkpoint] {
        &self.checkpoints
    }

    /// What could not be read, in sentences; asking clears them.
    pub fn take_problems(&mut self) -> Vec<String> {
        std::mem::take(&mut self.problems)
    }

    /// What stood at a path when it was last looked at.
    pub fn known(&self, path: &str) -> Option<&Version> {
        self.known.get(path).map(|seen| &seen.version)
    }

    /// Marks the moment at which a turn of a session begins, once.
    pub fn checkpoint(&mut self, session: &str, turn: u64) -> Result<(), String> {
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
        self.append(&[Line::Checkpoint(checkpoint.clone())])?;
        self.checkpoints.push(checkpoint);
        Ok(())
    }

    /// The files that are not as in the base, by path.
    pub fn differences(&self) -> Vec<Difference> {
        let mut differences: BTreeMap<&str, Difference> = BTreeMap::new();
        for (path, seen) in &self.known {
            let before = self.base_files.get(path);
            if before != Some(&seen.version) {
                let difference = Difference {
                    path: path.clone(),
                    before: before.cloned(),
                    after: Some(seen.version.clone()),
                };
                differences.insert(path, difference);
            }
        }
        for (path, version) in &self.base_files {
            if !self.known.contains_key(path) {
                let difference = Difference {
                    path: path.clone(),
                    before: Some(version.clone()),
                    after: None,
                };
                differences.insert(path, difference);
            }
        }
        differences.into_values().collect()
    }

    /// The bytes of a version. Fails with a sentence where they were not kept.
    pub fn content(&self, version: &Version) -> Result<Vec<u8>, String> {
        if !version.is_kept() {
            return Err(format!(
                "it has more than {} MiB, so it was not kept and cannot be brought back",
                MOST >> 20
            ));
        }
        let kept = self.contents.read(&content_path(&version.id), MOST);
        if let Some((_, bytes)) = kept.map_err(|error| error.to_string())?
            && blob_id(&bytes) == version.id
        {
            return Ok(bytes);
        }
        self.base.content(&version.id)?.ok_or_else(|| {
            format!(
                "its content {} is neither kept nor known to git",
                version.id
            )
        })
    }

    fn keep(&mut self, id: &str, bytes: &[u8]) -> Result<(), String> {
        let path = content_path(id);
        let is_there = self.base_ids.contains(id)
            || matches!(self.contents.entry(&path), Ok(Some(entry)) if entry.size == bytes.len() as u64);
        match is_there {
            true => Ok(()),
            false => self
                .contents
                .put(&path, TreeKind::File, bytes, false)
                .map_err(|error| error.to_string()),
        }
    }

    pub(crate) fn next_id(&self) -> ChangeId {
        ChangeId(self.changes.last().map_or(0, |change| change.id.0 + 1))
    }

    /// Writes changes down, then takes them over.
    pub(crate) fn write(&mut self, changes: Vec<Change>) -> Result<(), String> {
        let lines: Vec<Line> = changes.iter().cloned().map(Line::Change).collect();
        self.append(&lines)?;
        for change in changes {
            self.take(change);
        }
        Ok(())
    }

    /// A version with this content, which is kept.
    pub(crate) fn keep_version(
        &mut self,
        kind: VersionKind,
        bytes: &[u8],
    ) -> Result<Version, String> {
        let id = blob_id(bytes);
        self.keep(&id, bytes)?;
        Ok(Version { id, kind })
    }

    /// A file as in the base.
    pub(crate) fn base_version(&self, path: &str) -> Option<&Version> {
        self.base_files.get(path)
    }

    /// Puts a version in a path's place, or nothing.
    pub(crate) fn put(&mut self, path: &str, version: Option<&Version>) -> Result<(), String> {
        let put = match version {
            Some(version) => {
                let bytes = self.content(version)?;
                self.tree.put(path, version.kind.tree_kind(), &bytes, true)
            }
            None => self.tree.remove(path),
        };
        put.map_err(|error| error.to_string())
    }

    /// Clears away what a `put` that was cut short left.
    pub(crate) fn sweep(&self, path: &str) -> Result<(), String> {
        let swept = self.tree.sweep(path);
        swept.map_err(|error| error.to_string())
    }

    pub(crate) fn write_journal(&self, bytes: &[u8]) -> Result<(), String> {
        let written = self.files.write_private(&self.journal(), bytes);
        written.map_err(|error| error.to_string())
    }

    pub(crate) fn read_journal(&self) -> Result<Option<Vec<u8>>, String> {
        match self.files.read(&self.journal(), MOST_LOG) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    pub(crate) fn remove_journal(&self) -> Result<(), String> {
        let removed = self.files.remove(&self.journal());
        removed.map_err(|error| error.to_string())
    }

    fn journal(&self) -> AbsPath {
        self.folder.join("operation.json")
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.wall_ms()
    }

    fn append(&mut self, lines: &[Line]) -> Result<(), String> {
        let mut bytes = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut bytes, line).map_err(|error| error.to_string())?;
            bytes.push(b'\n');
        }
        match bytes.is_empty() {
            true => Ok(()),
            false => self.log.append(&bytes).map_err(|error| error.to_string()),
        }
    }
}

fn content_path(id: &str) -> String {
    let (folder, name) = id.split_at_checked(2).unwrap_or(("", id));
    format!("{folder}/{name}")
}
