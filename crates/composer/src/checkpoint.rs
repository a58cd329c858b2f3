//! Taking back: to how a turn found things, or what was chosen of all that was changed, and that again.
//!
//! What others changed stays. A file that both changed is merged line by line; where both changed the same lines, all
//! of it is refused with every such place named, and nothing is touched.
//! Invariant: an operation changes all its files or none, whenever the program dies: what is to become of each file is
//! written down before the first is touched.
//! Invariant: an operation is a set of changes as any other, so it can be taken back, too.
//! Limitations: between the last look at a file and its replacement another program may write it; that write is kept
//! as a content of the log only if it was looked at.
//! Start at `Authored::restore` and `Authored::undo`.

mod over;
mod plan;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::authored::{Author, Authored, Change, ChangeId, Scope, Version};

/// What is to be taken back. All that is said must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Of these sessions.
    pub sessions: Option<Vec<String>>,
    /// Of this turn.
    pub turn: Option<u64>,
    /// Of this call.
    pub call: Option<String>,
    /// By this author.
    pub author: Option<Author>,
    /// Of these files.
    pub paths: Option<Vec<String>>,
    /// These changes.
    pub changes: Option<Vec<ChangeId>>,
}

/// What was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The operation's number: `Author::Undo` names it.
    pub operation: u64,
    /// The changes that it made; to take it back, select its author.
    pub changes: Vec<ChangeId>,
    /// The files that became others.
    pub paths: Vec<String>,
}

/// Why nothing was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// Nothing of what is selected is still there.
    Nothing,
    /// Others changed the same.
    Conflicts(Vec<Conflict>),
    /// The disk, or what was kept, does not let it be; a sentence.
    Failed(String),
}

/// A place that cannot be taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// The file.
    pub path: String,
    /// Its lines as they are now, from 0; `None` where it is the whole file.
    pub rows: Option<Range<u32>>,
    /// Why, a few words.
    pub why: String,
}

/// What is to become of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Write {
    path: String,
    from: Option<Version>,
    to: Option<Version>,
    undoes: Vec<ChangeId>,
}

/// An operation that was begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Journal {
    operation: u64,
    at_ms: u64,
    writes: Vec<Write>,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing of it is left to be taken back"),
            Self::Failed(sentence) => f.write_str(sentence),
            Self::Conflicts(conflicts) => {
                f.write_str("nothing was taken back, since others changed the same: ")?;
                for (ix, conflict) in conflicts.iter().enumerate() {
                    let comma = if ix == 0 { "" } else { "; " };
                    write!(f, "{comma}{conflict}")?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rows {
            Some(rows) => write!(f, "{}:{} ({})", self.path, rows.start + 1, self.why),
            None => write!(f, "{} ({})", self.path, self.why),
        }
    }
}

impl From<String> for Stuck {
    fn from(sentence: String) -> Self {
        Self::Failed(sentence)
    }
}

impl Selection {
    /// Everything that these sessions did.
    pub fn of_sessions(sessions: Vec<String>) -> Self {
        Self {
            sessions: Some(sessions),
            ..Self::default()
        }
    }

    /// What an operation did.
    pub fn of_operation(operation: u64) -> Self {
        Self {
            author: Some(Author::Undo { operation }),
            ..Self::default()
        }
    }

    fn takes(&self, change: &Change) -> bool {
        let doing = change.author.doing();
        let is_of =
            |sessions: &Vec<String>| doing.is_some_and(|doing| sessions.contains(&doing.session));
        self.sessions.as_ref().is_none_or(is_of)
            && self
                .turn
                .is_none_or(|turn| doing.is_some_and(|it| it.turn == turn))
            && self
                .call
                .as_ref()
                .is_none_or(|call| doing.is_some_and(|it| it.call == *call))
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

impl Authored {
    /// Brings what sessions changed back to how a turn of the first of them found it. The others are those that worked
    /// for it. What anybody else changed stays as it is. Blocks on the disk.
    pub fn restore(&mut self, sessions: &[String], turn: u64) -> Result<Undone, Stuck> {
        let first = sessions.first().map_or("", String::as_str);
        let checkpoint = self.checkpoints().iter();
        let mut checkpoint = checkpoint.filter(|it| it.session == first && it.turn >= turn);
        // A turn that called nothing has no checkpoint; the next one's is the same moment.
        let since = match checkpoint.next() {
            Some(checkpoint) => checkpoint.next,
            None => return Err(Stuck::Nothing),
        };
        self.observe(Scope::All, &Author::Disk)?;
        let chosen = self.back_to(sessions, since);
        self.take_back(&chosen)
    }

    /// What is to be taken back so that of these sessions what was in effect when `since` was the next to come is in
    /// effect again, and nothing else of them.
    fn back_to(&self, sessions: &[String], since: ChangeId) -> HashSet<ChangeId> {
        let is_theirs =
            |change: &&Change| sessions.iter().any(|session| change.author.is_of(session));
        let then = self.live(Some(since), &HashSet::new());
        let mut chosen: HashSet<ChangeId> = HashSet::new();
        loop {
            let now = self.live(None, &chosen);
            let mut more: HashSet<ChangeId> = HashSet::new();
            for change in self.changes().iter().filter(is_theirs) {
                match (then.contains(&change.id), now.contains(&change.id)) {
                    (false, true) => more.extend([change.id]),
                    // What takes it back goes, and may bring others along, which are looked at in the next round.
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
            // Each round adds to a set that only grows, so there is a last one.
            chosen.extend(more);
        }
    }

    /// Takes back what is selected; what is taken back already is passed over. Blocks on the disk.
    pub fn undo(&mut self, selection: &Selection) -> Result<Undone, Stuck> {
        self.observe(Scope::All, &Author::Disk)?;
        let chosen = self.chosen(selection);
        self.take_back(&chosen)
    }

    /// Makes lines of a file what they are in the base. `rows` are lines of the file as it is; a part of the file that
    /// became other lines is taken back whole where it meets them. Blocks on the disk.
    pub fn undo_rows(&mut self, path: &str, rows: Range<u32>) -> Result<Undone, Stuck> {
        self.observe(Scope::All, &Author::Disk)?;
        let to = self.without_rows(path, &rows)?;
        let from = self.known(path).cloned();
        if from == to {
            return Err(Stuck::Nothing);
        }
        self.operate(vec![Write {
            path: path.to_owned(),
            from,
            to,
            undoes: Vec::new(),
        }])
    }

    /// The changes that are selected and still in effect.
    pub fn chosen(&self, selection: &Selection) -> HashSet<ChangeId> {
        let live = self.live(None, &HashSet::new());
        let chosen = self.changes().iter().filter(|it| selection.takes(it));
        let chosen = chosen.map(|change| change.id);
        chosen.filter(|id| live.contains(id)).collect()
    }

    /// The changes that nothing takes back which is itself in effect: as it was when `before` was the next to come, and
    /// as it would be if `gone` were taken back besides.
    fn live(&self, before: Option<ChangeId>, gone: &HashSet<ChangeId>) -> HashSet<ChangeId> {
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

    fn take_back(&mut self, chosen: &HashSet<ChangeId>) -> Result<Undone, Stuck> {
        let mut paths: Vec<String> = Vec::new();
        for change in self.changes().iter().filter(|it| chosen.contains(&it.id)) {
            if !paths.contains(&change.path) {
                paths.push(change.path.clone());
            }
        }
        let mut writes = Vec::new();
        let mut conflicts = Vec::new();
        for path in paths {
            match self.without(&path, chosen) {
                Ok(write) => writes.extend(write),
                Err(Stuck::Conflicts(more)) => conflicts.extend(more),
                Err(stuck) => return Err(stuck),
            }
        }
        match (conflicts.is_empty(), writes.is_empty()) {
            (false, _) => Err(Stuck::Conflicts(conflicts)),
            (true, true) => Err(Stuck::Nothing),
            (true, false) => self.operate(writes),
        }
    }

    /// Does it: written down first, then file by file, then in the log.
    fn operate(&mut self, writes: Vec<Write>) -> Result<Undone, Stuck> {
        let numbers = self.changes().iter().filter_map(|it| match it.author {
            Author::Undo { operation } => Some(operation),
            _ => None,
        });
        let journal = Journal {
            operation: numbers.max().unwrap_or(0) + 1,
            at_ms: self.now_ms(),
            writes,
        };
        let bytes = serde_json::to_vec(&journal).map_err(|error| error.to_string())?;
        self.write_journal(&bytes)?;
        for (ix, write) in journal.writes.iter().enumerate() {
            if let Err(sentence) = self.carry_out(write) {
                return Err(self.back_out(&journal.writes[..ix], sentence));
            }
        }
        Ok(self.conclude(journal)?)
    }

    fn carry_out(&mut self, write: &Write) -> Result<(), String> {
        if self.present(&write.path)? != write.from {
            return Err(format!(
                "{} was changed by somebody else at this very moment; nothing was taken back, so try again",
                write.path
            ));
        }
        self.put(&write.path, write.to.as_ref())
    }

    /// Puts back what was begun.
    fn back_out(&mut self, done: &[Write], sentence: String) -> Stuck {
        for write in done {
            if let Err(error) = self.put(&write.path, write.from.as_ref()) {
                // The journal stays: it is tried again when the tree is opened the next time.
                return Stuck::Failed(format!("{sentence}; and {error}"));
            }
        }
        match self.remove_journal() {
            Ok(()) => Stuck::Failed(sentence),
            Err(error) => Stuck::Failed(format!("{sentence}; and {error}")),
        }
    }

    /// Writes down what was done, and that nothing is under way any more.
    fn conclude(&mut self, journal: Journal) -> Result<Undone, String> {
        let author = Author::Undo {
            operation: journal.operation,
        };
        let is_logged = |authored: &Self, path: &str| {
            let mut changes = authored.changes().iter();
            changes.any(|it| it.author == author && it.path == path)
        };
        let first = self.next_id().0;
        let left = journal
            .writes
            .iter()
            .filter(|it| !is_logged(self, &it.path));
        let changes: Vec<Change> = left
            .zip(first..)
            .map(|(write, id)| Change {
                id: ChangeId(id),
                at_ms: journal.at_ms,
                path: write.path.clone(),
                before: write.from.clone(),
                after: write.to.clone(),
                author: author.clone(),
                undoes: write.undoes.clone(),
            })
            .collect();
        let undone = Undone {
            operation: journal.operation,
            changes: changes.iter().map(|it| it.id).collect(),
            paths: journal.writes.iter().map(|it| it.path.clone()).collect(),
        };
        self.write(changes)?;
        self.remove_journal()?;
        Ok(undone)
    }

    /// Finishes what a killed program had begun, or takes it back where somebody else has changed one of its files
    /// since.
    pub(crate) fn recover(&mut self) -> Result<(), String> {
        let Some(bytes) = self.read_journal()? else {
            return Ok(());
        };
        let Ok(journal) = serde_json::from_slice::<Journal>(&bytes) else {
            // It is written in one piece, so nothing was done by one that is none.
            return self.remove_journal();
        };
        let mut is_ours = true;
        let mut states = Vec::new();
        for write in &journal.writes {
            self.sweep(&write.path)?;
            let present = self.present(&write.path)?;
            is_ours &= present == write.from || present == write.to;
            states.push(present);
        }
        for (write, present) in journal.writes.iter().zip(states) {
            if is_ours && present != write.to {
                self.put(&write.path, write.to.as_ref())?;
            }
            if !is_ours && present == write.to {
                self.put(&write.path, write.from.as_ref())?;
            }
        }
        match is_ours {
            true => self.conclude(journal).map(drop),
            false => self.remove_journal(),
        }
    }
}
