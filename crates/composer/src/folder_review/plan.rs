//! Plans what taking out a set of changes does to one file.
//!
//! Start at `Planner::plan`.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use crate::Error;
use crate::change_history::{
    ChangeAuthor, ChangeHistory, ChangeId, RecordedChange, StoredVersion, VersionKind,
};

use super::groups::LineGroup;
use super::line_roles::ChangeSet;
use super::weave::{Weave, WeaveAuthor};

/// The weave of a file, up to some change of the log.
pub(super) struct FileWeave {
    pub(super) weave: Weave,
    /// Whether every version so far is a text whose content is stored.
    is_text: bool,
    /// The first change that is not applied.
    next: ChangeId,
    /// Number of the log's decisions that are applied.
    kept: usize,
    /// The first change that no decision about the whole file covers.
    whole_kept: ChangeId,
}

/// The changes to take out.
#[derive(Clone, Debug, Default)]
pub(super) struct ChosenChanges {
    pub(super) changes: HashSet<ChangeId>,
    /// Whether what the user kept stays.
    pub(super) spares_kept: bool,
}

/// A planner over a folder's log. Lives for one operation.
pub(super) struct Planner<'a> {
    pub(super) history: &'a mut ChangeHistory,
    pub(super) weaves: &'a mut HashMap<String, FileWeave>,
    in_effect: HashSet<ChangeId>,
}

/// The effect of taking the chosen changes out of a file.
pub(super) struct FilePlan {
    pub(super) path: String,
    /// The present version; `None` if there is no file.
    pub(super) now: Option<StoredVersion>,
    /// The kind of the file without the changes; `None` if there would be none.
    pub(super) kind: Option<VersionKind>,
    /// Whether the changes created the file.
    pub(super) is_created: bool,
    pub(super) content: PlannedContent,
}

/// The effect on the content of a file.
pub(super) enum PlannedContent {
    /// A text: the places that change, in order.
    Text(Vec<LineGroup>),
    /// A file without lines to review: the chosen changes in effect, and the version before them.
    Whole {
        changes: HashSet<ChangeId>,
        before: Option<StoredVersion>,
    },
}

impl FilePlan {
    /// Whether the file stays the same.
    pub(super) fn is_empty(&self) -> bool {
        match &self.content {
            PlannedContent::Text(groups) => groups.is_empty() && !self.changes_kind(),
            PlannedContent::Whole { changes, .. } => changes.is_empty(),
        }
    }

    /// Whether the file would be created, removed, or change its kind.
    pub(super) fn changes_kind(&self) -> bool {
        self.now.as_ref().map(|it| it.kind) != self.kind
    }
}

impl FileWeave {
    fn starting_with(history: &ChangeHistory, first: &RecordedChange) -> Self {
        let text = text_of(history, first.before.as_ref());
        Self {
            is_text: text.is_some(),
            weave: Weave::of_text(&text.unwrap_or_default()),
            next: ChangeId(0),
            kept: 0,
            whole_kept: ChangeId(0),
        }
    }

    /// Applies what the log has beyond `next`.
    fn catch_up(&mut self, history: &ChangeHistory, path: &str) {
        let is_agents = |id: ChangeId| {
            let change = history.change(id);
            change.is_some_and(|it| it.author.agent_call().is_some())
        };
        let from = history.changes().partition_point(|it| it.id < self.next);
        for change in &history.changes()[from..] {
            if change.path != path {
                continue;
            }
            self.keep_until(history, path, change.id);
            let text = text_of(history, change.after.as_ref());
            self.is_text &= text.is_some();
            if let Some(text) = text.filter(|_| self.is_text) {
                let author = weave_author(change);
                self.weave.apply(change.id, author, &text, &is_agents);
            }
        }
        self.next = history.next_id();
        self.keep_until(history, path, self.next);
    }

    /// Applies the decisions before change `end`.
    fn keep_until(&mut self, history: &ChangeHistory, path: &str, end: ChangeId) {
        while let Some(kept) = history.kept().get(self.kept).filter(|it| it.next <= end) {
            if kept.path == path {
                self.weave.keep(&kept.lines);
                if kept.is_whole {
                    self.whole_kept = kept.next;
                }
            }
            self.kept += 1;
        }
    }
}

impl<'a> Planner<'a> {
    /// A planner over the log as it is now.
    pub(super) fn new(
        history: &'a mut ChangeHistory,
        weaves: &'a mut HashMap<String, FileWeave>,
    ) -> Self {
        Self {
            in_effect: history.changes_in_effect(None, &HashSet::new()),
            history,
            weaves,
        }
    }

    /// The weave of a file, up to date; `None` if the log has no change of it.
    pub(super) fn weave(&mut self, path: &str) -> Option<&FileWeave> {
        let weave = match self.weaves.entry(path.to_owned()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let mut changes = self.history.changes().iter();
                let first = changes.find(|it| it.path == path)?;
                entry.insert(FileWeave::starting_with(self.history, first))
            }
        };
        weave.catch_up(self.history, path);
        Some(weave)
    }

    /// The files with chosen changes, in the order of their first one.
    pub(super) fn paths(&self, chosen: &ChosenChanges) -> Vec<String> {
        let mut paths: Vec<String> = Vec::new();
        let mut known: HashSet<&str> = HashSet::new();
        for change in self.history.changes() {
            if chosen.changes.contains(&change.id) && known.insert(&change.path) {
                paths.push(change.path.clone());
            }
        }
        paths
    }

    /// Plans the removal of the chosen changes from a file; `None` if the log has no change of it.
    pub(super) fn plan(&mut self, path: &str, chosen: &ChosenChanges) -> Option<FilePlan> {
        self.weave(path)?;
        let weave = self.weaves.get(path)?;
        let spared = if chosen.spares_kept {
            weave.whole_kept
        } else {
            ChangeId(0)
        };
        let is_chosen = |id: ChangeId| chosen.changes.contains(&id);
        let own = self.history.changes().iter().filter(|it| it.path == path);
        // An undo of an undo restores the changes before both.
        let effective = own.filter(|it| self.in_effect.contains(&it.id) && it.undoes.is_empty());
        let effective: Vec<&RecordedChange> = effective.collect();
        let is_out = |it: &RecordedChange| is_chosen(it.id) && it.id >= spared;
        let kind_of = |version: &Option<StoredVersion>| version.as_ref().map(|it| it.kind);
        let first = self.history.changes().iter().find(|it| it.path == path)?;
        let mut kind = kind_of(&first.before);
        let mut is_created = false;
        for change in &effective {
            if kind_of(&change.before) != kind_of(&change.after) {
                if is_out(change) {
                    is_created |= change.before.is_none();
                } else {
                    kind = kind_of(&change.after);
                    is_created &= change.after.is_some();
                }
            }
        }
        let now = self.history.known_version(path).cloned();
        let content = if weave.is_text {
            let is_undo = |id: ChangeId| {
                let change = self.history.change(id);
                change.is_some_and(|it| matches!(it.author, ChangeAuthor::Undo { .. }))
            };
            let set = ChangeSet {
                has: &is_chosen,
                is_undo: &is_undo,
                spares_kept: chosen.spares_kept,
            };
            PlannedContent::Text(set.groups(&weave.weave))
        } else {
            let out: Vec<&&RecordedChange> = effective.iter().filter(|it| is_out(it)).collect();
            let before = out.first().and_then(|it| it.before.clone());
            // Changes that an undo took back as text of the file are not in effect any more.
            let is_back = !out.is_empty() && before == now;
            PlannedContent::Whole {
                changes: if is_back {
                    HashSet::new()
                } else {
                    out.iter().map(|it| it.id).collect()
                },
                before,
            }
        };
        Some(FilePlan {
            path: path.to_owned(),
            now,
            kind,
            is_created,
            content,
        })
    }
}

/// The bytes of a version, empty for a missing file; `None` if it is no text or not stored.
fn text_of(history: &ChangeHistory, version: Option<&StoredVersion>) -> Option<Vec<u8>> {
    let Some(version) = version else {
        return Some(Vec::new());
    };
    if version.kind == VersionKind::Link {
        return None;
    }
    let bytes = history.content(version).ok()?;
    (!bytes.contains(&0)).then_some(bytes)
}

fn weave_author(change: &RecordedChange) -> WeaveAuthor {
    match &change.author {
        ChangeAuthor::Agent(_) | ChangeAuthor::Command(_) => WeaveAuthor::Agent,
        ChangeAuthor::Undo { .. } if change.undoes.is_empty() => WeaveAuthor::Undo,
        ChangeAuthor::Undo { .. } => WeaveAuthor::Redo,
        ChangeAuthor::Formatter { .. } => WeaveAuthor::Formatter,
        ChangeAuthor::Git => WeaveAuthor::Git,
        ChangeAuthor::Person | ChangeAuthor::Disk => WeaveAuthor::Other,
    }
}

/// Fails if the log has no such change any more.
pub(super) fn stale(path: &str) -> Error {
    Error::Stale(format!(
        "{path} has changed since: look at its present changes, then try again"
    ))
}
