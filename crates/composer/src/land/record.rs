//! What is written down about a landing, before it happens.

use git::land::{Change, Person, Plan};
use git::merge::{Entry, Mode, ObjectId, TreePath};
use serde::{Deserialize, Serialize};

use super::message::Words;
use super::{Check, Error, Landings, Request};
use crate::work::CommitId;

/// Names a landing; later ones have higher numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LandingId(pub u64);

/// How far a landing is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// It waits for its turn.
    Waiting,
    /// The branch and the work want the same lines otherwise.
    Conflicted {
        /// The commit of the branch it was merged with.
        onto: CommitId,
        /// Where, for people.
        paths: Vec<String>,
    },
    /// Checks are under way, or were when the program died.
    Checking {
        /// The commit of the branch it was merged with.
        onto: CommitId,
    },
    /// A check was not content.
    Failed {
        /// How each went.
        checks: Vec<Check>,
    },
    /// Something of the person's is in the way.
    Blocked {
        /// What, as a sentence.
        reason: String,
    },
    /// The branch is about to move, or has moved and the checkout follows.
    Moving {
        /// Where the branch was.
        from: CommitId,
        /// Where it goes.
        to: CommitId,
        /// What the checkout needs; `None` where the branch is not checked out.
        plan: Option<PlanRecord>,
        /// How the checks went.
        checks: Vec<Check>,
    },
    /// It is on the branch.
    Landed {
        /// Where the branch was.
        from: CommitId,
        /// Where it went.
        to: CommitId,
        /// How the checks went.
        checks: Vec<Check>,
        /// The landing that took it back.
        undone_by: Option<LandingId>,
    },
    /// The branch has it all already.
    Nothing,
    /// The person did not want it.
    Dropped,
}

/// A landing, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Names it.
    pub id: LandingId,
    /// The session whose work it is.
    pub session: String,
    /// A few words.
    pub title: String,
    /// The branch by its full name.
    pub branch: String,
    /// The landing that it takes back.
    pub undoes: Option<LandingId>,
    /// The id of the tree of the work, as it was put into the queue.
    pub tree: String,
    /// How far it is.
    pub step: Step,
}

/// What is done to a checkout, as written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRecord {
    pub(super) files: Vec<ChangeRecord>,
    pub(super) index: Vec<ChangeRecord>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ChangeRecord {
    path: String,
    before: Option<SlotRecord>,
    after: Option<SlotRecord>,
}

/// A mode and an id: `100644 ce01…`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct SlotRecord(String);

/// How one conflict was ended, and which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Resolved {
    pub(super) path: String,
    pub(super) of: String,
    pub(super) with: Option<SlotRecord>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PersonRecord {
    pub(super) name: String,
    pub(super) email: String,
}

/// Everything about a landing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) id: LandingId,
    pub(super) session: String,
    pub(super) title: String,
    pub(super) branch: String,
    /// The tree the work began from.
    pub(super) from_tree: String,
    /// The tree of the work.
    pub(super) to_tree: String,
    /// If the branch is still at the first, it simply goes to the second: nothing came on top.
    pub(super) straight: Option<(CommitId, CommitId)>,
    pub(super) undoes: Option<LandingId>,
    pub(super) author: PersonRecord,
    pub(super) words: Words,
    pub(super) resolved: Vec<Resolved>,
    pub(super) step: Step,
}

impl std::fmt::Display for LandingId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "landing {}", self.0)
    }
}

impl Step {
    /// In a few words: `in conflict in a.rs`.
    pub fn told(&self) -> String {
        match self {
            Step::Waiting => "waiting".to_owned(),
            Step::Conflicted { paths, .. } => format!("in conflict in {}", paths.join(", ")),
            Step::Checking { .. } => "being checked".to_owned(),
            Step::Failed { checks } => {
                let failed = checks.iter().filter(|check| !check.is_passed);
                let names: Vec<&str> = failed.map(|check| check.name.as_str()).collect();
                format!("refused by {}", names.join(", "))
            }
            Step::Blocked { reason } => format!("blocked: {reason}"),
            Step::Moving { .. } => "on its way".to_owned(),
            Step::Landed {
                undone_by: None, ..
            } => "landed".to_owned(),
            Step::Landed {
                undone_by: Some(by),
                ..
            } => format!("taken back by {by}"),
            Step::Nothing => "on the branch already".to_owned(),
            Step::Dropped => "dropped".to_owned(),
        }
    }
}

impl Record {
    pub(super) fn new(
        id: LandingId,
        request: &Request,
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
            words: request.words.clone(),
            resolved: Vec::new(),
            step: Step::Waiting,
        }
    }

    pub(super) fn summary(&self) -> Summary {
        Summary {
            id: self.id,
            session: self.session.clone(),
            title: self.title.clone(),
            branch: self.branch.clone(),
            undoes: self.undoes,
            tree: self.to_tree.clone(),
            step: self.step.clone(),
        }
    }

    /// The branch's name without what all of them begin with.
    pub(super) fn short_branch(&self) -> &str {
        self.branch
            .strip_prefix("refs/heads/")
            .unwrap_or(&self.branch)
    }
}

impl PersonRecord {
    pub(super) fn of(person: &Person) -> Self {
        Self {
            name: person.name.clone(),
            email: person.email.clone(),
        }
    }

    pub(super) fn person(&self) -> Person {
        Person {
            name: self.name.clone(),
            email: self.email.clone(),
        }
    }
}

impl SlotRecord {
    pub(super) fn of(entry: &Entry) -> Self {
        Self::of_slot((entry.mode, entry.id))
    }

    fn of_slot((mode, id): (Mode, ObjectId)) -> Self {
        let mode = match mode {
            Mode::Plain => "file",
            Mode::Executable => "executable",
            Mode::Link => "link",
            Mode::Module => "module",
        };
        Self(format!("{mode} {id}"))
    }

    pub(super) fn slot(&self) -> Option<(Mode, ObjectId)> {
        let (mode, id) = self.0.split_once(' ')?;
        let mode = match mode {
            "file" => Mode::Plain,
            "executable" => Mode::Executable,
            "link" => Mode::Link,
            "module" => Mode::Module,
            _ => return None,
        };
        Some((mode, ObjectId::parse(id)?))
    }
}

impl PlanRecord {
    pub(super) fn of(plan: &Plan) -> Self {
        let changes = |changes: &[Change]| changes.iter().map(ChangeRecord::of).collect();
        Self {
            files: changes(&plan.files),
            index: changes(&plan.index),
        }
    }

    /// `None` when somebody wrote something else into the record.
    pub(super) fn plan(&self) -> Option<Plan> {
        let changes = |changes: &[ChangeRecord]| {
            let changes = changes.iter().map(ChangeRecord::change);
            changes.collect::<Option<Vec<Change>>>()
        };
        Some(Plan {
            files: changes(&self.files)?,
            index: changes(&self.index)?,
        })
    }
}

impl ChangeRecord {
    fn of(change: &Change) -> Self {
        Self {
            path: encoded(&change.path),
            before: change.before.map(SlotRecord::of_slot),
            after: change.after.map(SlotRecord::of_slot),
        }
    }

    fn change(&self) -> Option<Change> {
        let slot = |slot: &Option<SlotRecord>| match slot {
            None => Some(None),
            Some(slot) => slot.slot().map(Some),
        };
        Some(Change {
            path: decoded(&self.path),
            before: slot(&self.before)?,
            after: slot(&self.after)?,
        })
    }
}

/// A path as text, whatever its bytes: those that are no text, and `%`, are written as `%2F`.
pub(super) fn encoded(path: &TreePath) -> String {
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

pub(super) fn decoded(text: &str) -> TreePath {
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

const MOST_RECORD_BYTES: u64 = 256 << 20;

impl Landings {
    pub(super) fn save(&self, record: &Record) -> Result<(), Error> {
        let path = self.folder.join(format!("{}.json", record.id.0));
        let json = serde_json::to_vec(record).map_err(|error| Error::Unreadable {
            path: path.clone(),
            message: error.to_string(),
        })?;
        Ok(self.files.write_private(&path, &json)?)
    }

    pub(super) fn load(&self, id: LandingId) -> Result<Record, Error> {
        let path = self.folder.join(format!("{}.json", id.0));
        let json = match self.files.read(&path, MOST_RECORD_BYTES) {
            Ok(json) => json,
            Err(error) if error.is_not_found() => return Err(Error::Unknown(id)),
            Err(error) => return Err(error.into()),
        };
        serde_json::from_slice(&json).map_err(|error| Error::Unreadable {
            path,
            message: error.to_string(),
        })
    }

    pub(super) fn records(&self) -> Result<Vec<Record>, Error> {
        let mut ids = self.ids()?;
        ids.sort_unstable();
        ids.into_iter().map(|id| self.load(id)).collect()
    }

    /// A number nobody else has: its name is taken before anything is written under it.
    pub(super) fn next_id(&self) -> Result<LandingId, Error> {
        let mut next = self.numbers()?.into_iter().max().map_or(1, |last| last + 1);
        loop {
            match self
                .files
                .create_file(&self.folder.join(format!("{next}.taken")))
            {
                Ok(()) => return Ok(LandingId(next)),
                Err(error) if error.reason == host::Reason::AlreadyExists => next += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Keeps a landing to this caller for a while; given back when dropped and when the process dies.
    pub(super) fn hold(&self, id: LandingId) -> Result<host::Lock, Error> {
        let lock = self
            .files
            .lock(&self.folder.join(format!("{}.lock", id.0)))?;
        lock.ok_or(Error::UnderWay(id))
    }

    fn ids(&self) -> Result<Vec<LandingId>, Error> {
        let listing = self.files.list(&self.folder)?;
        let id = |entry: &host::Entry| {
            let name = entry.path.name();
            name.strip_suffix(".json")?.parse().ok().map(LandingId)
        };
        Ok(listing.entries.iter().filter_map(id).collect())
    }

    /// All numbers that were given, to landings or to what never became one.
    fn numbers(&self) -> Result<Vec<u64>, Error> {
        let listing = self.files.list(&self.folder)?;
        let number = |entry: &host::Entry| entry.path.name().split('.').next()?.parse().ok();
        Ok(listing.entries.iter().filter_map(number).collect())
    }
}

#[cfg(test)]
mod tests {
    use git::merge::TreePath;

    use super::{decoded, encoded};

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
            assert_eq!(decoded(&encoded(&path)), path);
        }
        assert_eq!(encoded(&TreePath::new(b"a\xff%")), "a%FF%25");
    }
}
