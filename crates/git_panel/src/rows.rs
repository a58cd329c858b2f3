//! The rows of the panel: repositories, groups, folders and files, and the words on them.

use base::{AbsPath, LineFeeds, printable};
use git::changes::{Change, ChangeGroup, ChangeKind, ConflictKind, LineCounts};
use git::merge::TreePath;

/// The groups, in the order of the panel.
pub(crate) const GROUPS: [ChangeGroup; 4] = [
    ChangeGroup::Conflicts,
    ChangeGroup::Staged,
    ChangeGroup::Unstaged,
    ChangeGroup::Untracked,
];

/// The identity of a row, which stays when other rows come and go.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RowKey {
    /// A repository.
    Repository(AbsPath),
    /// A group of a repository.
    Group(AbsPath, ChangeGroup),
    /// A folder of a group.
    Folder(AbsPath, ChangeGroup, TreePath),
    /// A file of a group.
    File(AbsPath, ChangeGroup, TreePath),
}

/// A row of the panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PanelRow {
    pub(crate) key: RowKey,
    /// The name for display.
    pub(crate) name: String,
    pub(crate) depth: usize,
    /// Whether the rows below it are shown; `None` for a file.
    pub(crate) is_open: Option<bool>,
    /// Number of files below it; 1 for a file.
    pub(crate) count: usize,
    pub(crate) lines: LineCounts,
}

impl RowKey {
    pub(crate) fn root(&self) -> &AbsPath {
        match self {
            Self::Repository(root)
            | Self::Group(root, _)
            | Self::Folder(root, ..)
            | Self::File(root, ..) => root,
        }
    }

    pub(crate) fn group(&self) -> Option<ChangeGroup> {
        match self {
            Self::Repository(_) => None,
            Self::Group(_, group) | Self::Folder(_, group, _) | Self::File(_, group, _) => {
                Some(*group)
            }
        }
    }

    pub(crate) fn is_file(&self) -> bool {
        matches!(self, Self::File(..))
    }

    /// Returns whether a change of its repository belongs to the row.
    pub(crate) fn holds(&self, change: &Change) -> bool {
        match self {
            Self::Repository(_) => true,
            Self::Group(_, group) => change.group == *group,
            Self::Folder(_, group, folder) => {
                change.group == *group && change.path.folders().any(|it| it == *folder)
            }
            Self::File(_, group, path) => change.group == *group && change.path == *path,
        }
    }
}

pub(crate) fn group_name(group: ChangeGroup) -> &'static str {
    match group {
        ChangeGroup::Conflicts => "Conflicts",
        ChangeGroup::Staged => "Staged",
        ChangeGroup::Unstaged => "Changes",
        ChangeGroup::Untracked => "Untracked",
    }
}

/// Returns the letter of a change, as Git prints it, and its kind in words.
pub(crate) fn kind_words(kind: ChangeKind) -> (&'static str, &'static str) {
    match kind {
        ChangeKind::Added => ("A", "added"),
        ChangeKind::Modified => ("M", "modified"),
        ChangeKind::Deleted => ("D", "deleted"),
        ChangeKind::Renamed => ("R", "renamed"),
        ChangeKind::TypeChanged => ("T", "another type of file"),
        ChangeKind::ModeChanged => ("M", "mode changed"),
        ChangeKind::Submodule => ("S", "submodule changed"),
        ChangeKind::Conflicted(conflict) => ("!", conflict_words(conflict)),
        ChangeKind::Untracked => ("U", "untracked"),
    }
}

fn conflict_words(conflict: ConflictKind) -> &'static str {
    match conflict {
        ConflictKind::BothModified => "both sides changed it",
        ConflictKind::BothAdded => "both sides added it",
        ConflictKind::DeletedByUs => "deleted here, changed there",
        ConflictKind::DeletedByThem => "changed here, deleted there",
        ConflictKind::AddedByUs => "added here",
        ConflictKind::AddedByThem => "added there",
        ConflictKind::BothDeleted => "both sides deleted it",
    }
}

/// Returns a text for display on one line.
pub(crate) fn shown(text: &str) -> String {
    printable(text, LineFeeds::Escape).into_owned()
}

/// Returns a path or a part of one for display on one line.
pub(crate) fn shown_bytes(bytes: &[u8]) -> String {
    shown(&String::from_utf8_lossy(bytes))
}
