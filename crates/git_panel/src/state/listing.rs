//! Makes the rows of a state. Takes time proportional to the number of changes.

use std::collections::BTreeMap;

use base::AbsPath;
use git::changes::{Change, ChangeGroup, LineCounts};
use git::merge::TreePath;

use super::{PanelState, RepositoryState};
use crate::rows::{GROUPS, PanelRow, RowKey, group_name, shown, shown_bytes};

/// A group whose rows are made.
struct GroupRows<'s> {
    state: &'s PanelState,
    root: &'s AbsPath,
    group: ChangeGroup,
    depth: usize,
    /// The rows of folders; `None` for one inside a folded folder.
    folders: BTreeMap<TreePath, Option<usize>>,
}

/// Returns the rows of a state.
pub(super) fn rows_of(state: &PanelState) -> Vec<PanelRow> {
    let mut rows = Vec::new();
    // A single repository needs no row of its own.
    let has_sections = state.repositories.len() > 1;
    for repository in &state.repositories {
        let mut is_open = true;
        if has_sections {
            let key = RowKey::Repository(repository.info.root.clone());
            is_open = !state.folded.contains(&key);
            rows.push(PanelRow {
                key,
                name: shown(&repository.info.name),
                depth: 0,
                is_open: Some(is_open),
                count: repository.file_count(),
                lines: LineCounts::default(),
            });
        }
        if is_open {
            let depth = usize::from(has_sections);
            for group in GROUPS {
                add_group(state, repository, group, depth, &mut rows);
            }
        }
    }
    rows
}

fn add_group(
    state: &PanelState,
    repository: &RepositoryState,
    group: ChangeGroup,
    depth: usize,
    rows: &mut Vec<PanelRow>,
) {
    let mut changes: Vec<&Change> = repository.group(group).collect();
    if changes.is_empty() {
        return;
    }
    let root = &repository.info.root;
    let key = RowKey::Group(root.clone(), group);
    let is_open = !state.folded.contains(&key);
    let mut lines = LineCounts::default();
    for change in &changes {
        add_lines(&mut lines, change);
    }
    rows.push(PanelRow {
        key,
        name: group_name(group).to_owned(),
        depth,
        is_open: Some(is_open),
        count: changes.len(),
        lines,
    });
    if !is_open {
        return;
    }
    if state.is_tree {
        // In bytewise order, `a.rs` and `a/b.rs` would split the folder `a/`.
        changes.sort_by(|one, two| one.path.components().cmp(two.path.components()));
    }
    let mut group = GroupRows {
        state,
        root,
        group,
        depth: depth + 1,
        folders: BTreeMap::new(),
    };
    for change in changes {
        group.add(change, rows);
    }
}

impl GroupRows<'_> {
    fn add(&mut self, change: &Change, rows: &mut Vec<PanelRow>) {
        let mut depth = self.depth;
        if self.state.is_tree {
            let Some(below) = self.add_folders(change, rows) else {
                return;
            };
            depth = below;
        }
        rows.push(PanelRow {
            key: RowKey::File(self.root.clone(), self.group, change.path.clone()),
            name: shown_bytes(change.path.name()),
            depth,
            is_open: None,
            count: 1,
            lines: change.lines.unwrap_or_default(),
        });
    }

    /// Adds the folders of a change that are not among the rows, and counts it in all of them. Returns the depth below
    /// them; `None` if one is folded.
    fn add_folders(&mut self, change: &Change, rows: &mut Vec<PanelRow>) -> Option<usize> {
        let mut folders: Vec<TreePath> = change.path.folders().collect();
        folders.reverse();
        let mut depth = Some(self.depth);
        for folder in folders {
            let key = RowKey::Folder(self.root.clone(), self.group, folder.clone());
            let is_open = !self.state.folded.contains(&key);
            let name = shown_bytes(folder.name());
            let ix = *self.folders.entry(folder).or_insert_with(|| {
                rows.push(PanelRow {
                    key,
                    name,
                    depth: depth?,
                    is_open: Some(is_open),
                    count: 0,
                    lines: LineCounts::default(),
                });
                Some(rows.len() - 1)
            });
            if let Some(row) = ix.and_then(|ix| rows.get_mut(ix)) {
                row.count += 1;
                add_lines(&mut row.lines, change);
            }
            depth = depth.filter(|_| is_open).map(|depth| depth + 1);
        }
        depth
    }
}

fn add_lines(sum: &mut LineCounts, change: &Change) {
    let lines = change.lines.unwrap_or_default();
    sum.added += lines.added;
    sum.removed += lines.removed;
}
