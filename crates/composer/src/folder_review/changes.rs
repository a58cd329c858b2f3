//! The changes of a session in a folder, as hunks for display.

use std::collections::{BTreeMap, BTreeSet};

use host::ContentHash;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::change_history::{
    AgentCall, ChangeAuthor, ChangeHistory, ChangeId, StoredVersion, VersionKind,
};
use crate::worktrees::lock_of;

use super::FolderReview;
use super::groups::LineGroup;
use super::plan::{ChosenChanges, FilePlan, PlannedContent, Planner};
use super::weave::{Weave, WovenLine};

/// Maximum number of earlier lines of a hunk.
const MAX_EARLIER_LINES: usize = 200;

/// The changes of a session that the user has neither kept nor rejected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderChanges {
    /// The session.
    pub session: String,
    /// The hunks, in the order of the files' paths, then of the lines.
    pub hunks: Vec<FolderHunk>,
    /// Number of changed files.
    pub files: usize,
    /// Number of added lines.
    pub added: u32,
    /// Number of removed lines.
    pub removed: u32,
    /// The messages that can be restored: those with changes since, oldest first.
    pub turns: Vec<TurnCheckpoint>,
    /// Whether the latest restore or rejection can be undone.
    pub can_undo: bool,
}

/// A change of a session in one place of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderHunk {
    /// Id of the hunk: a hash of its lines and of their origin.
    pub id: String,
    /// Path of the file, relative to the root.
    pub path: String,
    /// Its first line in the present file, from 1.
    pub line: u32,
    /// The removed lines, without line endings.
    pub before: Vec<String>,
    /// The added lines, without line endings.
    pub after: Vec<String>,
    /// Lines that the session added there and changed again since, without line endings.
    pub earlier: Vec<String>,
    /// A description if the whole file changes: `new file`, `deleted`, `binary file`.
    pub note: Option<String>,
    /// The calls that made it, oldest first.
    pub calls: Vec<AgentCall>,
    /// The author who has changed the same lines since, so that the hunk cannot be rejected.
    pub contested: Option<String>,
}

/// The start of a turn, to which a session's changes can be taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnCheckpoint {
    /// Number of the turn, from 1.
    pub turn: u64,
    /// Time of the first change, in milliseconds since 1970.
    pub at_ms: u64,
    /// The files that a restore would change, with the numbers of lines that go and come back.
    pub files: Vec<(String, u32, u32)>,
}

/// A hunk together with its place in the plan of its file.
pub(super) struct PlannedHunk {
    pub(super) hunk: FolderHunk,
    /// Index of its group; `None` for a hunk about the whole file.
    pub(super) group: Option<usize>,
}

impl FolderReview {
    /// Returns the open changes of a session, the first of `sessions`; the others are its
    /// subagents. Reads the files that agents changed if they changed again. Fails if one cannot be
    /// read.
    pub fn changes(&self, sessions: &[String]) -> Result<FolderChanges, Error> {
        let mut history = lock_of(&self.history);
        let mut weaves = lock_of(&self.weaves);
        history.observe_agents_files()?;
        let can_undo = history.latest_undo().is_some();
        let mut planner = Planner::new(&mut history, &mut weaves);
        let chosen = ChosenChanges::of_sessions(planner.history, sessions, |_| true);
        let mut changes = FolderChanges {
            session: sessions.first().cloned().unwrap_or_default(),
            can_undo,
            ..FolderChanges::default()
        };
        let mut files: BTreeMap<String, Vec<FolderHunk>> = BTreeMap::new();
        for path in planner.paths(&chosen) {
            let hunks = planner.hunks(&path, &chosen);
            if !hunks.is_empty() {
                files.insert(path, hunks.into_iter().map(|it| it.hunk).collect());
            }
        }
        changes.files = files.len();
        changes.hunks = files.into_values().flatten().collect();
        for hunk in &changes.hunks {
            changes.added += count(hunk.after.len());
            changes.removed += count(hunk.before.len());
        }
        changes.turns = planner.turns(sessions);
        Ok(changes)
    }
}

impl ChosenChanges {
    /// The changes of these sessions whose call matches, without what the user kept.
    pub(super) fn of_sessions(
        history: &ChangeHistory,
        sessions: &[String],
        matches: impl Fn(&AgentCall) -> bool,
    ) -> Self {
        let is_chosen = |author: &ChangeAuthor| {
            let call = author.agent_call();
            call.is_some_and(|call| sessions.contains(&call.session) && matches(call))
        };
        let chosen = history.changes().iter().filter(|it| is_chosen(&it.author));
        Self {
            changes: chosen.map(|it| it.id).collect(),
            spares_kept: true,
        }
    }

    /// The chosen changes that wrote the text of a line, or else the change that added it.
    fn writers(&self, line: &WovenLine) -> Vec<ChangeId> {
        let is_chosen = |change: &ChangeId| self.changes.contains(change);
        let writers: Vec<ChangeId> = line.writers().filter(is_chosen).collect();
        if writers.is_empty() {
            return line.added_by.into_iter().collect();
        }
        writers
    }
}

impl Planner<'_> {
    /// The hunks of a file, in line order.
    pub(super) fn hunks(&mut self, path: &str, chosen: &ChosenChanges) -> Vec<PlannedHunk> {
        let Some(plan) = self.plan(path, chosen).filter(|plan| !plan.is_empty()) else {
            return Vec::new();
        };
        match &plan.content {
            PlannedContent::Whole { changes, before } => {
                let ids = changes.iter().copied().collect();
                vec![self.whole_hunk(&plan, before.as_ref(), ids)]
            }
            PlannedContent::Text(groups) => {
                let mut hunks = self.line_hunks(&plan, groups, chosen);
                if hunks.is_empty() && plan.changes_kind() {
                    let before = plan.kind.map(|kind| StoredVersion {
                        id: String::new(),
                        kind,
                    });
                    let own = self.history.changes().iter();
                    let own = own.filter(|it| it.path == path && chosen.changes.contains(&it.id));
                    let ids = own.map(|it| it.id).collect();
                    hunks.push(self.whole_hunk(&plan, before.as_ref(), ids));
                }
                hunks
            }
        }
    }

    fn line_hunks(
        &self,
        plan: &FilePlan,
        groups: &[LineGroup],
        chosen: &ChosenChanges,
    ) -> Vec<PlannedHunk> {
        let Some(file) = self.weaves.get(&plan.path) else {
            return Vec::new();
        };
        let weave = &file.weave;
        let rows = rows_of(weave);
        let mut hunks = Vec::with_capacity(groups.len());
        for (ix, group) in groups.iter().enumerate() {
            let earlier = earlier_lines(weave, group, chosen);
            let texts = |lines: &[usize]| -> Vec<String> {
                lines
                    .iter()
                    .map(|at| shown(&weave.lines()[*at].bytes))
                    .collect()
            };
            let (before, after) = (texts(&group.removed), texts(&group.added));
            let ids = group.changed().flat_map(|at| {
                let line = &weave.lines()[at];
                match line.removed_by {
                    Some(change) => vec![change],
                    None => chosen.writers(line),
                }
            });
            let first = group.changed().min().unwrap_or_default();
            let hunk = FolderHunk {
                id: id_of(&plan.path, weave, group),
                path: plan.path.clone(),
                line: rows.get(first).copied().unwrap_or_default() + 1,
                before,
                after,
                earlier: texts(&earlier),
                note: match (&plan.now, plan.kind) {
                    (None, Some(_)) => Some("deleted".to_owned()),
                    (Some(_), None) => Some("new file".to_owned()),
                    _ => None,
                },
                calls: self.calls_of(ids.collect()),
                contested: group.contested_by.map(|id| self.author_name(id)),
            };
            hunks.push(PlannedHunk {
                hunk,
                group: Some(ix),
            });
        }
        hunks
    }

    fn whole_hunk(
        &self,
        plan: &FilePlan,
        before: Option<&StoredVersion>,
        changes: BTreeSet<ChangeId>,
    ) -> PlannedHunk {
        let print = format!("{} {before:?} {:?}", plan.path, plan.now);
        let hunk = FolderHunk {
            id: format!("{:032x}", ContentHash::of(print.as_bytes()).0),
            path: plan.path.clone(),
            line: 1,
            before: Vec::new(),
            after: Vec::new(),
            earlier: Vec::new(),
            note: Some(whole_note(before, plan.now.as_ref()).to_owned()),
            calls: self.calls_of(changes),
            contested: None,
        };
        PlannedHunk { hunk, group: None }
    }

    fn calls_of(&self, changes: BTreeSet<ChangeId>) -> Vec<AgentCall> {
        let mut calls: Vec<AgentCall> = Vec::new();
        for id in changes {
            let call = self
                .history
                .change(id)
                .and_then(|it| it.author.agent_call());
            if let Some(call) = call.filter(|call| !calls.contains(call)) {
                calls.push(call.clone());
            }
        }
        calls
    }

    /// Names the author of a change.
    pub(super) fn author_name(&self, id: ChangeId) -> String {
        let change = self.history.change(id);
        change.map_or_else(String::new, |it| it.author.to_string())
    }

    /// The messages of a session with changes since.
    fn turns(&mut self, sessions: &[String]) -> Vec<TurnCheckpoint> {
        let session = sessions.first().map_or("", String::as_str);
        let checkpoints = self.history.checkpoints().iter();
        let own: Vec<(u64, ChangeId, u64)> = checkpoints
            .filter(|it| it.session == session)
            .map(|it| (it.turn, it.next, it.at_ms))
            .collect();
        let mut turns = Vec::new();
        for (turn, next, at_ms) in own {
            let chosen = ChosenChanges::since(self.history, sessions, next);
            let files = self.changed_files(&chosen);
            if !files.is_empty() {
                turns.push(TurnCheckpoint { turn, at_ms, files });
            }
        }
        turns
    }

    /// The files that taking out these changes would change, by path, with the lines that go and
    /// come back.
    fn changed_files(&mut self, chosen: &ChosenChanges) -> Vec<(String, u32, u32)> {
        let mut files = Vec::new();
        for path in self.paths(chosen) {
            let Some(plan) = self.plan(&path, chosen).filter(|plan| !plan.is_empty()) else {
                continue;
            };
            let (go, come) = match &plan.content {
                PlannedContent::Text(groups) => (
                    groups.iter().map(|it| it.added.len()).sum(),
                    groups.iter().map(|it| it.removed.len()).sum(),
                ),
                PlannedContent::Whole { .. } => (0, 0),
            };
            files.push((path, count(go), count(come)));
        }
        files.sort();
        files
    }
}

impl ChosenChanges {
    /// The changes of these sessions from change `since` on, with what the user kept.
    pub(super) fn since(history: &ChangeHistory, sessions: &[String], since: ChangeId) -> Self {
        let mut chosen = Self::of_sessions(history, sessions, |_| true);
        chosen.changes.retain(|id| *id >= since);
        chosen.spares_kept = false;
        chosen
    }
}

/// For each line of the weave, the number of live lines before it.
fn rows_of(weave: &Weave) -> Vec<u32> {
    let mut row = 0;
    let rows = weave.lines().iter().map(|line| {
        let before = row;
        row += u32::from(line.is_live());
        before
    });
    rows.collect()
}

/// The lines around a group, by index in the weave, that the chosen changes added and that are gone:
/// between the lines of the text before and after the group.
fn earlier_lines(weave: &Weave, group: &LineGroup, chosen: &ChosenChanges) -> Vec<usize> {
    let lines = weave.lines();
    let is_edge = |at: &usize| lines[*at].is_live() && group.added.binary_search(at).is_err();
    let (Some(first), Some(last)) = (group.changed().min(), group.changed().max()) else {
        return Vec::new();
    };
    let start = (0..first).rev().find(is_edge).map_or(0, |at| at + 1);
    let end = (last + 1..lines.len()).find(is_edge).unwrap_or(lines.len());
    let is_earlier = |at: &usize| {
        let line = &lines[*at];
        let is_own = line.writers().any(|it| chosen.changes.contains(&it));
        is_own && !line.is_live() && group.removed.binary_search(at).is_err()
    };
    (start..end)
        .filter(is_earlier)
        .take(MAX_EARLIER_LINES)
        .collect()
}

/// A hash of the lines of a group and of their origin.
fn id_of(path: &str, weave: &Weave, group: &LineGroup) -> String {
    let mut print = Vec::from(path.as_bytes());
    for (lines, sign) in [(&group.removed, b'-'), (&group.added, b'+')] {
        for at in lines {
            let line = &weave.lines()[*at];
            print.push(sign);
            print.extend(format!("{:?} ", line.key()).bytes());
            print.extend(line.bytes.iter());
        }
    }
    format!("{:032x}", ContentHash::of(&print).0)
}

/// Formats a line for display, without its ending.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_suffix('\n').unwrap_or(&text);
    text.strip_suffix('\r').unwrap_or(text).to_owned()
}

fn whole_note(before: Option<&StoredVersion>, now: Option<&StoredVersion>) -> &'static str {
    match (before.map(|it| it.kind), now.map(|it| it.kind)) {
        (None, Some(VersionKind::Link)) => "new symlink",
        (None, _) => "new file",
        (_, None) => "deleted",
        (Some(VersionKind::File), Some(VersionKind::Executable)) => "made executable",
        (Some(VersionKind::Executable), Some(VersionKind::File)) => "no longer executable",
        (Some(VersionKind::Link), _) | (_, Some(VersionKind::Link)) => "symlink changed",
        _ => "binary file",
    }
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
