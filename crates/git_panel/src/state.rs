//! The repositories of a folder with their changes, as plain data: requests in progress, refreshes, rows, selection.
//!
//! Must not know: views, the service.
//! Invariant: `rows` are made of `repositories`, `pending` and the folded rows alone, so that a failed request shows the
//! true state again as soon as its number is gone.

mod listing;

use std::collections::{BTreeSet, HashMap, HashSet};

use base::AbsPath;
use git::changes::{Change, ChangeGroup, Changes};
use git::merge::TreePath;

use crate::rows::{PanelRow, RowKey};
use crate::service::{GitFailure, GitRepository};

/// Number of files above which a repository is read as a whole.
const MAX_PATHS: usize = 50;

/// The state of the panel.
#[derive(Default)]
pub(crate) struct PanelState {
    pub(crate) repositories: Vec<RepositoryState>,
    /// Whether files are shown in their folders.
    pub(crate) is_tree: bool,
    pub(crate) folded: HashSet<RowKey>,
    pending: HashMap<(AbsPath, TreePath), PendingChange>,
    rows: Vec<PanelRow>,
    /// The row with the keyboard focus.
    pub(crate) cursor: Option<RowKey>,
    /// The other end of a selection of several rows.
    anchor: Option<RowKey>,
    /// Typed characters by which a row is searched.
    pub(crate) typed: String,
}

/// A repository and what is known of it.
pub(crate) struct RepositoryState {
    pub(crate) info: GitRepository,
    /// `None` until they were read.
    pub(crate) changes: Option<Changes>,
    pub(crate) failure: Option<GitFailure>,
    /// Whether a reading runs.
    is_reading: bool,
    /// The reading that is due.
    due: RefreshScope,
    /// Number of requests that change the repository.
    writes: usize,
}

/// The part of a repository to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum RefreshScope {
    /// Nothing.
    #[default]
    Nothing,
    /// These files.
    Files(BTreeSet<TreePath>),
    /// All of it.
    Everything,
}

/// Requests on a file that have no answer yet.
struct PendingChange {
    is_staged: bool,
    requests: usize,
}

/// The state of the checkbox of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StagedState {
    /// Nothing is staged.
    Unstaged,
    /// A part is staged.
    Partly,
    /// All is staged.
    Staged,
}

impl RefreshScope {
    fn add(&mut self, other: Self) {
        let scope = match (std::mem::take(self), other) {
            (Self::Nothing, scope) | (scope, Self::Nothing) => scope,
            (Self::Files(mut files), Self::Files(more)) => {
                files.extend(more);
                Self::Files(files)
            }
            (Self::Everything, _) | (_, Self::Everything) => Self::Everything,
        };
        *self = match scope {
            Self::Files(files) if files.len() > MAX_PATHS => Self::Everything,
            scope => scope,
        };
    }
}

impl RepositoryState {
    fn new(info: GitRepository) -> Self {
        Self {
            info,
            changes: None,
            failure: None,
            is_reading: false,
            due: RefreshScope::Everything,
            writes: 0,
        }
    }

    /// Returns the changes of a group.
    pub(crate) fn group(&self, group: ChangeGroup) -> impl Iterator<Item = &Change> {
        let entries = self.changes.iter().flat_map(|changes| &changes.entries);
        entries.filter(move |change| change.group == group)
    }

    /// Returns the change of a file in a group.
    fn find(&self, group: ChangeGroup, path: &TreePath) -> Option<&Change> {
        let entries = &self.changes.as_ref()?.entries;
        let found = entries.binary_search_by(|it| (it.group, &it.path).cmp(&(group, path)));
        entries.get(found.ok()?)
    }

    /// Returns the number of changed files; a file that is staged in part counts once.
    pub(crate) fn file_count(&self) -> usize {
        let entries = self.changes.iter().flat_map(|changes| &changes.entries);
        let paths: HashSet<&TreePath> = entries.map(|change| &change.path).collect();
        paths.len()
    }

    /// Takes the reading that is due, unless one runs or a request changes the repository.
    pub(crate) fn begin_reading(&mut self) -> Option<RefreshScope> {
        if self.is_reading || self.writes > 0 || self.due == RefreshScope::Nothing {
            return None;
        }
        self.is_reading = true;
        let scope = std::mem::take(&mut self.due);
        // There is nothing to which the changes of a few files could be added.
        Some(match self.changes {
            Some(_) => scope,
            None => RefreshScope::Everything,
        })
    }

    /// Stores all changes, or the reason why they cannot be read.
    pub(crate) fn end_reading(&mut self, read: Result<Changes, GitFailure>) {
        self.is_reading = false;
        match read {
            Ok(changes) => {
                self.changes = Some(changes);
                self.failure = None;
            }
            Err(failure) => self.failure = Some(failure),
        }
    }

    /// Replaces the changes of these files.
    pub(crate) fn end_reading_of(
        &mut self,
        files: &BTreeSet<TreePath>,
        read: Result<Vec<Change>, GitFailure>,
    ) {
        self.is_reading = false;
        let (Ok(changes), Some(shown)) = (read, &mut self.changes) else {
            // The reading of everything reports the reason.
            self.due = RefreshScope::Everything;
            return;
        };
        let is_of_file = |change: &Change| {
            files.contains(&change.path)
                || change
                    .old_path
                    .as_ref()
                    .is_some_and(|it| files.contains(it))
        };
        shown.entries.retain(|change| !is_of_file(change));
        // A rename that was asked for by one of its paths may be among the rest already.
        for change in changes {
            let key = (change.group, change.path.clone());
            shown
                .entries
                .retain(|it| (it.group, &it.path) != (key.0, &key.1));
            shown.entries.push(change);
        }
        shown
            .entries
            .sort_by(|one, two| (one.group, &one.path).cmp(&(two.group, &two.path)));
    }
}

impl PanelState {
    /// Replaces the list of repositories and keeps what is known of those that stay.
    pub(crate) fn set_repositories(&mut self, repositories: Vec<GitRepository>) {
        let mut before = std::mem::take(&mut self.repositories);
        for info in repositories {
            let known = before.iter().position(|it| it.info.root == info.root);
            self.repositories.push(match known {
                Some(ix) => {
                    let mut known = before.swap_remove(ix);
                    known.info = info;
                    known.due = RefreshScope::Everything;
                    known
                }
                None => RepositoryState::new(info),
            });
        }
        self.update_rows();
    }

    pub(crate) fn repository(&self, root: &AbsPath) -> Option<&RepositoryState> {
        self.repositories.iter().find(|it| it.info.root == *root)
    }

    pub(crate) fn repository_mut(&mut self, root: &AbsPath) -> Option<&mut RepositoryState> {
        self.repositories
            .iter_mut()
            .find(|it| it.info.root == *root)
    }

    /// Returns the repository of the selected row, else the first one.
    pub(crate) fn current(&self) -> Option<&RepositoryState> {
        let selected = self.cursor.as_ref().map(RowKey::root);
        let selected = selected.and_then(|root| self.repository(root));
        selected.or_else(|| self.repositories.first())
    }

    /// Notes that a part of a repository is to be read.
    pub(crate) fn request_reading(&mut self, root: &AbsPath, scope: RefreshScope) {
        if let Some(repository) = self.repository_mut(root) {
            repository.due.add(scope);
        }
    }

    /// Notes a request that stages or unstages files.
    pub(crate) fn begin_staging(&mut self, root: &AbsPath, paths: &[TreePath], is_staged: bool) {
        for path in paths {
            let key = (root.clone(), path.clone());
            let pending = self.pending.entry(key).or_insert(PendingChange {
                is_staged,
                requests: 0,
            });
            pending.is_staged = is_staged;
            pending.requests += 1;
        }
        self.begin_write(root);
    }

    /// Notes the answer to a request that staged or unstaged files.
    pub(crate) fn end_staging(&mut self, root: &AbsPath, paths: &[TreePath]) {
        for path in paths {
            let key = (root.clone(), path.clone());
            if let Some(pending) = self.pending.get_mut(&key) {
                pending.requests -= 1;
                if pending.requests == 0 {
                    self.pending.remove(&key);
                }
            }
        }
        self.end_write(root);
    }

    /// Notes a request that changes a repository.
    pub(crate) fn begin_write(&mut self, root: &AbsPath) {
        if let Some(repository) = self.repository_mut(root) {
            repository.writes += 1;
        }
    }

    /// Notes the answer to a request that changes a repository, which is to be read again.
    pub(crate) fn end_write(&mut self, root: &AbsPath) {
        if let Some(repository) = self.repository_mut(root) {
            repository.writes = repository.writes.saturating_sub(1);
            repository.due.add(RefreshScope::Everything);
        }
    }

    /// Returns whether a request that changes a repository has no answer yet.
    pub(crate) fn is_writing(&self) -> bool {
        self.repositories.iter().any(|it| it.writes > 0)
    }

    /// Returns whether a request on the file has no answer yet.
    pub(crate) fn is_pending(&self, root: &AbsPath, path: &TreePath) -> bool {
        self.pending.contains_key(&(root.clone(), path.clone()))
    }

    /// Returns the state of the checkbox of a file: the one that the latest request asked for, else the true one.
    pub(crate) fn staged_state(&self, root: &AbsPath, path: &TreePath) -> StagedState {
        if let Some(pending) = self.pending.get(&(root.clone(), path.clone())) {
            return if pending.is_staged {
                StagedState::Staged
            } else {
                StagedState::Unstaged
            };
        }
        let repository = self.repository(root);
        let has = |group| repository.is_some_and(|it| it.find(group, path).is_some());
        let rest = [
            ChangeGroup::Unstaged,
            ChangeGroup::Untracked,
            ChangeGroup::Conflicts,
        ];
        match (has(ChangeGroup::Staged), rest.into_iter().any(has)) {
            (true, false) => StagedState::Staged,
            (true, true) => StagedState::Partly,
            (false, _) => StagedState::Unstaged,
        }
    }

    /// Returns whether toggling this row of a file unstages it.
    pub(crate) fn toggle_unstages(&self, root: &AbsPath, change: &Change) -> bool {
        match self.pending.get(&(root.clone(), change.path.clone())) {
            Some(pending) => pending.is_staged,
            None => change.group == ChangeGroup::Staged,
        }
    }

    /// Returns the rows, as they are drawn.
    pub(crate) fn rows(&self) -> &[PanelRow] {
        &self.rows
    }

    /// Makes the rows anew. If the selected row is gone, selects the next one that was below it and still exists, else
    /// the nearest above it. Takes time proportional to the number of changes.
    pub(crate) fn update_rows(&mut self) {
        let rows = listing::rows_of(self);
        let before = std::mem::replace(&mut self.rows, rows);
        let is_there = |key: &RowKey| self.rows.iter().any(|row| row.key == *key);
        if self.anchor.as_ref().is_some_and(|key| !is_there(key)) {
            self.anchor = None;
        }
        let Some(cursor) = self.cursor.clone().filter(|key| !is_there(key)) else {
            return;
        };
        let place = before.iter().position(|row| row.key == cursor);
        let place = place.unwrap_or(0).min(before.len());
        let (above, below) = before.split_at(place);
        let is_same_group = |row: &&PanelRow| row.key.group() == cursor.group();
        let below_it = below.iter().filter(is_same_group);
        let above_it = above.iter().rev().filter(is_same_group);
        let kept: HashSet<&RowKey> = self.rows.iter().map(|row| &row.key).collect();
        let mut near = below_it.chain(above_it).map(|row| &row.key);
        let found = near.find(|key| kept.contains(key)).cloned();
        self.cursor = found.or_else(|| {
            let last = self.rows.len().checked_sub(1)?;
            Some(self.rows[place.min(last)].key.clone())
        });
    }

    /// Returns the index of the selected row.
    pub(crate) fn cursor_ix(&self) -> Option<usize> {
        let cursor = self.cursor.as_ref()?;
        self.rows.iter().position(|row| row.key == *cursor)
    }

    /// Selects a row, alone or with those between it and the end of the selection.
    pub(crate) fn select(&mut self, ix: usize, mode: SelectionMode) {
        let Some(row) = self.rows.get(ix) else {
            return;
        };
        let before = self.cursor.replace(row.key.clone());
        match mode {
            SelectionMode::Single => self.anchor = None,
            SelectionMode::Extend => {
                if self.anchor.is_none() {
                    self.anchor = before;
                }
            }
        }
    }

    /// Moves the selection by some rows.
    pub(crate) fn select_by(&mut self, step: isize, mode: SelectionMode) {
        let Some(last) = self.rows.len().checked_sub(1) else {
            return;
        };
        let ix = match self.cursor_ix() {
            Some(ix) => ix.saturating_add_signed(step).min(last),
            None => 0,
        };
        self.select(ix, mode);
    }

    /// Returns the indexes of the selected rows; empty if there are none.
    pub(crate) fn selected_ixs(&self) -> std::ops::Range<usize> {
        let Some(cursor) = self.cursor_ix() else {
            return 0..0;
        };
        let anchor = self.anchor.as_ref();
        let anchor = anchor.and_then(|key| self.rows.iter().position(|row| row.key == *key));
        let anchor = anchor.unwrap_or(cursor);
        cursor.min(anchor)..cursor.max(anchor) + 1
    }

    /// Returns the changes of the selected rows, those of a selected group or folder included, each once.
    pub(crate) fn selected_changes(&self) -> Vec<(AbsPath, Change)> {
        let mut changes: Vec<(AbsPath, Change)> = Vec::new();
        let mut seen = HashSet::new();
        for row in &self.rows[self.selected_ixs()] {
            for (root, change) in self.changes_of(&row.key) {
                if seen.insert((root, change.group, &change.path)) {
                    changes.push((root.clone(), change.clone()));
                }
            }
        }
        changes
    }

    /// Returns the change of the row of a file; `None` for other rows.
    pub(crate) fn change_at(&self, key: &RowKey) -> Option<&Change> {
        match key {
            RowKey::File(root, group, path) => self.repository(root)?.find(*group, path),
            RowKey::Repository(_) | RowKey::Group(..) | RowKey::Folder(..) => None,
        }
    }

    /// Returns the changes of a row: one, or those below it.
    pub(crate) fn changes_of<'s>(
        &'s self,
        key: &'s RowKey,
    ) -> impl Iterator<Item = (&'s AbsPath, &'s Change)> {
        let repository = self.repository(key.root());
        repository.into_iter().flat_map(move |repository| {
            let entries = repository.changes.iter().flat_map(|it| &it.entries);
            let entries = entries.filter(move |change| key.holds(change));
            entries.map(move |change| (&repository.info.root, change))
        })
    }

    /// Selects the row to work on after those that were just staged or unstaged: the next file of the same group without
    /// a request, else the one before. Keeps the place on the screen, as the staged rows leave the group.
    pub(crate) fn advance(&mut self) {
        let selected = self.selected_ixs();
        let Some(group) = self.cursor.as_ref().and_then(RowKey::group) else {
            return;
        };
        let is_free = |ix: &usize| {
            let key = &self.rows[*ix].key;
            let change = self.change_at(key).filter(|change| change.group == group);
            change.is_some_and(|change| !self.is_pending(key.root(), &change.path))
        };
        let below = (selected.end..self.rows.len()).find(is_free);
        let next = below.or_else(|| (0..selected.start).rev().find(is_free));
        self.anchor = None;
        if let Some(ix) = next {
            self.cursor = Some(self.rows[ix].key.clone());
        }
    }

    /// Selects the first row at or below the selected one whose name begins with the typed characters.
    pub(crate) fn select_typed(&mut self) {
        let typed = self.typed.to_lowercase();
        let start = self.cursor_ix().unwrap_or(0);
        let count = self.rows.len();
        let begins = |ix: &usize| self.rows[*ix].name.to_lowercase().starts_with(&typed);
        let found = (0..count).map(|step| (start + step) % count).find(begins);
        if let Some(ix) = found {
            self.select(ix, SelectionMode::Single);
        }
    }
}

/// The effect of a selected row on the rows that were selected before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SelectionMode {
    /// They are no longer selected.
    Single,
    /// Those between it and the other end are selected.
    Extend,
}

#[cfg(test)]
mod tests;
