//! The record of a landing, written before each step.

use git::land::{CheckoutChange, CheckoutPlan, Signature};
use git::merge::{EntryMode, ObjectEntry, ObjectId, TreePath};
use serde::{Deserialize, Serialize};

use super::message::CommitMessage;
use super::{Check, LandingError, LandingRequest, Landings};
use crate::work::CommitId;

/// The id of a landing; later landings have higher numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LandingId(pub u64);

/// The step that a landing has reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LandingStep {
    /// Queued for its turn.
    Waiting,
    /// The work conflicts with the branch.
    Conflicted {
        /// The commit of the branch it was merged with.
        onto: CommitId,
        /// Conflicting paths, for display.
        paths: Vec<String>,
    },
    /// Checks are running, or were when the program died.
    Checking {
        /// The commit of the branch it was merged with.
        onto: CommitId,
    },
    /// A check failed, and nothing moved.
    Failed {
        /// The results of all checks.
        checks: Vec<Check>,
    },
    /// Uncommitted work or another obstacle blocks the landing.
    Blocked {
        /// The obstacle, as a sentence.
        reason: String,
    },
    /// The branch is about to move, or has moved and the checkout follows.
    Moving {
        /// The old tip of the branch.
        from: CommitId,
        /// The new tip of the branch.
        to: CommitId,
        /// The update of the checkout; `None` if the branch is not checked out.
        plan: Option<PlanRecord>,
        /// The results of the checks.
        checks: Vec<Check>,
    },
    /// The work is on the branch.
    Landed {
        /// The old tip of the branch.
        from: CommitId,
        /// The new tip of the branch.
        to: CommitId,
        /// The results of the checks.
        checks: Vec<Check>,
        /// The landing that undid it.
        undone_by: Option<LandingId>,
    },
    /// The branch already contains all changes.
    Nothing,
    /// The user dropped it.
    Dropped,
}

/// A landing, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LandingSummary {
    /// Id of the landing.
    pub id: LandingId,
    /// The session that did the work.
    pub session: String,
    /// A short title for display.
    pub title: String,
    /// Full name of the branch.
    pub branch: String,
    /// The landing that this one undoes.
    pub undoes: Option<LandingId>,
    /// Object id of the tree of the queued work.
    pub tree: String,
    /// The step it has reached.
    pub step: LandingStep,
}

/// The recorded update of a checkout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRecord {
    pub(super) files: Vec<ChangeRecord>,
    pub(super) index: Vec<ChangeRecord>,
}

/// One path of a planned update, with its entries before and after. `None` means that there is no
/// file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ChangeRecord {
    path: String,
    before: Option<SlotRecord>,
    after: Option<SlotRecord>,
}

/// A mode and an object id: `file ce01…`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct SlotRecord(String);

/// The resolution of one conflict, with the conflict's fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ResolvedConflict {
    pub(super) path: String,
    pub(super) of: String,
    pub(super) with: Option<SlotRecord>,
}

/// The name and address of a commit's author.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PersonRecord {
    pub(super) name: String,
    pub(super) email: String,
}

/// The complete record of a landing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LandingRecord {
    pub(super) id: LandingId,
    pub(super) session: String,
    pub(super) title: String,
    pub(super) branch: String,
    /// The tree from which the work started.
    pub(super) from_tree: String,
    /// The tree of the work.
    pub(super) to_tree: String,
    /// Fast path of an undo: if the branch is still at the first commit, it moves to the second.
    pub(super) straight: Option<(CommitId, CommitId)>,
    pub(super) undoes: Option<LandingId>,
    pub(super) author: PersonRecord,
    #[serde(rename = "words")]
    pub(super) message: CommitMessage,
    pub(super) resolved: Vec<ResolvedConflict>,
    pub(super) step: LandingStep,
}

impl std::fmt::Display for LandingId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "landing {}", self.0)
    }
}

impl LandingStep {
    /// Describes the step in a few words: `in conflict in a.rs`.
    pub fn describe(&self) -> String {
        match self {
            LandingStep::Waiting => "waiting".to_owned(),
            LandingStep::Conflicted { paths, .. } => format!("in conflict in {}", paths.join(", ")),
            LandingStep::Checking { .. } => "being checked".to_owned(),
            LandingStep::Failed { checks } => {
                let failed = checks.iter().filter(|check| !check.is_passed);
                let names: Vec<&str> = failed.map(|check| check.name.as_str()).collect();
                format!("refused by {}", names.join(", "))
            }
            LandingStep::Blocked { reason } => format!("blocked: {reason}"),
            LandingStep::Moving { .. } => "moving the branch".to_owned(),
            LandingStep::Landed {
                undone_by: None, ..
            } => "landed".to_owned(),
            LandingStep::Landed {
                undone_by: Some(by),
                ..
            } => format!("undone by {by}"),
            LandingStep::Nothing => "already on the branch".to_owned(),
            LandingStep::Dropped => "dropped".to_owned(),
        }
    }
}

impl LandingRecord {
    /// Creates the record of a landing that waits for its turn. `base` is the commit from which the
    /// work started, and `work` is the tree of the work.
    pub(super) fn new(
        id: LandingId,
        request: &LandingRequest,
        branch: String,
        base: ObjectId,
        work: ObjectId,
    ) -> Self {
        Self {
            id,
            session: request.session.clone(),
            title: request.title.clone(),
            branch,
            from_tree: base.to_string(),
            to_tree: work.to_string(),
            straight: None,
            undoes: None,
            author: PersonRecord::of(&request.author),
            message: request.message.clone(),
            resolved: Vec::new(),
            step: LandingStep::Waiting,
        }
    }

    /// Returns the record for display.
    pub(super) fn summary(&self) -> LandingSummary {
        LandingSummary {
            id: self.id,
            session: self.session.clone(),
            title: self.title.clone(),
            branch: self.branch.clone(),
            undoes: self.undoes,
            tree: self.to_tree.clone(),
            step: self.step.clone(),
        }
    }

    /// The branch name without `refs/heads/`.
    pub(super) fn short_branch(&self) -> &str {
        self.branch
            .strip_prefix("refs/heads/")
            .unwrap_or(&self.branch)
    }
}

impl PersonRecord {
    /// Converts a signature for the record.
    pub(super) fn of(person: &Signature) -> Self {
        Self {
            name: person.name.clone(),
            email: person.email.clone(),
        }
    }

    /// Converts the record back to a signature.
    pub(super) fn to_signature(&self) -> Signature {
        Signature {
            name: self.name.clone(),
            email: self.email.clone(),
        }
    }
}

impl SlotRecord {
    /// Encodes an entry of a tree as text.
    pub(super) fn of(entry: &ObjectEntry) -> Self {
        Self::of_slot((entry.mode, entry.id))
    }

    fn of_slot((mode, id): (EntryMode, ObjectId)) -> Self {
        let mode = match mode {
            EntryMode::Plain => "file",
            EntryMode::Executable => "executable",
            EntryMode::Link => "link",
            EntryMode::Module => "module",
        };
        Self(format!("{mode} {id}"))
    }

    /// Decodes mode and id. Returns `None` if the text is invalid.
    pub(super) fn slot(&self) -> Option<(EntryMode, ObjectId)> {
        let (mode, id) = self.0.split_once(' ')?;
        let mode = match mode {
            "file" => EntryMode::Plain,
            "executable" => EntryMode::Executable,
            "link" => EntryMode::Link,
            "module" => EntryMode::Module,
            _ => return None,
        };
        Some((mode, ObjectId::parse(id)?))
    }
}

impl PlanRecord {
    /// Encodes a plan for the record.
    pub(super) fn of(plan: &CheckoutPlan) -> Self {
        let changes = |changes: &[CheckoutChange]| changes.iter().map(ChangeRecord::of).collect();
        Self {
            files: changes(&plan.files),
            index: changes(&plan.index),
        }
    }

    /// Decodes the plan; `None` if the record was tampered with.
    pub(super) fn plan(&self) -> Option<CheckoutPlan> {
        let changes = |changes: &[ChangeRecord]| {
            let changes = changes.iter().map(ChangeRecord::change);
            changes.collect::<Option<Vec<CheckoutChange>>>()
        };
        Some(CheckoutPlan {
            files: changes(&self.files)?,
            index: changes(&self.index)?,
        })
    }
}

impl ChangeRecord {
    fn of(change: &CheckoutChange) -> Self {
        Self {
            path: encode_path(&change.path),
            before: change.before.map(SlotRecord::of_slot),
            after: change.after.map(SlotRecord::of_slot),
        }
    }

    /// Decodes the change; `None` if the text of an entry is invalid.
    fn change(&self) -> Option<CheckoutChange> {
        let slot = |slot: &Option<SlotRecord>| match slot {
            None => Some(None),
            Some(slot) => slot.slot().map(Some),
        };
        Some(CheckoutChange {
            path: decode_path(&self.path),
            before: slot(&self.before)?,
            after: slot(&self.after)?,
        })
    }
}

/// Encodes a path as text: `%` and bytes that are not UTF-8 become `%XX`.
pub(super) fn encode_path(path: &TreePath) -> String {
    let mut text = String::new();
    for chunk in path.as_bytes().utf8_chunks() {
        for it in chunk.valid().chars() {
            match it {
                '%' => text.push_str("%25"),
                it => text.push(it),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// Decodes a path that `encode_path` wrote. Leaves an invalid escape as it is.
pub(super) fn decode_path(text: &str) -> TreePath {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let code = match byte {
            b'%' => after.get(..2).and_then(|two| std::str::from_utf8(two).ok()),
            _ => None,
        };
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(code) => {
                bytes.push(code);
                rest = &after[2..];
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    TreePath::new(bytes)
}

const MAX_RECORD_BYTES: u64 = 256 << 20;

impl Landings {
    /// Writes the record of a landing, and waits until the record is on the disk.
    pub(super) fn save(&self, record: &LandingRecord) -> Result<(), LandingError> {
        let path = self.folder.join(format!("{}.json", record.id.0));
        let json = serde_json::to_vec(record).map_err(|error| LandingError::Unreadable {
            path: path.clone(),
            message: error.to_string(),
        })?;
        Ok(self.files.write_private(&path, &json)?)
    }

    /// Reads the record of a landing. Fails with `LandingError::Unknown` if there is none.
    pub(super) fn load(&self, id: LandingId) -> Result<LandingRecord, LandingError> {
        let path = self.folder.join(format!("{}.json", id.0));
        let json = match self.files.read(&path, MAX_RECORD_BYTES) {
            Ok(json) => json,
            Err(error) if error.is_not_found() => return Err(LandingError::Unknown(id)),
            Err(error) => return Err(error.into()),
        };
        serde_json::from_slice(&json).map_err(|error| LandingError::Unreadable {
            path,
            message: error.to_string(),
        })
    }

    /// Reads the records of all landings, oldest first.
    pub(super) fn records(&self) -> Result<Vec<LandingRecord>, LandingError> {
        let mut ids = self.ids()?;
        ids.sort_unstable();
        ids.into_iter().map(|id| self.load(id)).collect()
    }

    /// Reserves the next landing number, by creating a file with its name.
    pub(super) fn next_id(&self) -> Result<LandingId, LandingError> {
        let mut next = self.numbers()?.into_iter().max().map_or(1, |last| last + 1);
        loop {
            match self
                .files
                .create_file(&self.folder.join(format!("{next}.taken")))
            {
                Ok(()) => return Ok(LandingId(next)),
                Err(error) if error.reason == host::ErrorReason::AlreadyExists => next += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Locks a landing. Dropping the lock releases it, as does the end of the process. Fails at
    /// once with `LandingError::UnderWay` if the landing is already locked.
    pub(super) fn lock_landing(&self, id: LandingId) -> Result<host::FileLock, LandingError> {
        let lock = self
            .files
            .lock(&self.folder.join(format!("{}.lock", id.0)))?;
        lock.ok_or(LandingError::UnderWay(id))
    }

    /// Returns the ids of all recorded landings, in no particular order.
    fn ids(&self) -> Result<Vec<LandingId>, LandingError> {
        let listing = self.files.list(&self.folder)?;
        let id = |entry: &host::ListedEntry| {
            let name = entry.path.name();
            name.strip_suffix(".json")?.parse().ok().map(LandingId)
        };
        Ok(listing.entries.iter().filter_map(id).collect())
    }

    /// All numbers ever reserved, including those whose landing was never written.
    fn numbers(&self) -> Result<Vec<u64>, LandingError> {
        let listing = self.files.list(&self.folder)?;
        let number = |entry: &host::ListedEntry| entry.path.name().split('.').next()?.parse().ok();
        Ok(listing.entries.iter().filter_map(number).collect())
    }
}

#[cfg(test)]
mod tests {
    use git::merge::TreePath;

    use super::{decode_path, encode_path};

    #[test]
    fn paths_of_any_bytes_survive() {
        for bytes in [
            &b"a/b.rs"[..],
            b"100%",
            b"%41",
            b"\xff\xfe/x",
            "ä/ß".as_bytes(),
        ] {
            let path = TreePath::new(bytes);
            assert_eq!(decode_path(&encode_path(&path)), path);
        }
        assert_eq!(encode_path(&TreePath::new(b"a\xff%")), "a%FF%25");
    }
}
