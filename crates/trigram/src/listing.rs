//! Lists the files: completely, or only the folders that changed.
//!
//! Invariant: a folder's version is stored only if it was taken before the folder was listed and
//! was settled then, so that an equal version later proves that the list is complete.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use base::AbsPath;
use host::{BulkStat, FileKind, FileVersion, WallTime};
use project::{IgnoreRules, ListedPath, list_below, list_directly_in};

use super::file_table::{ContentState, FileTable, IndexedFile, IndexedFolder};

/// Entries of a new `FileTable`, by path.
#[derive(Default)]
struct ListingDraft {
    /// Whether each file is visible to a walk that skips hidden files.
    files: BTreeMap<Vec<u8>, bool>,
    folders: BTreeMap<Vec<u8>, DraftFolder>,
    has_problems: bool,
}

#[derive(Clone, Copy)]
struct DraftFolder {
    is_plain: bool,
    has_rules: bool,
    mark: Option<FileVersion>,
}

/// Walks the whole root. The data in `old` about files that still exist is carried over unchecked.
/// Returns `None` if cancelled.
pub(super) fn list(
    root: &AbsPath,
    bulk_stat: &BulkStat,
    old: &FileTable,
    cancel: &AtomicBool,
) -> Option<FileTable> {
    let began = bulk_stat.now();
    let layout = list_below(root, root, cancel);
    if cancel.load(std::sync::atomic::Ordering::Relaxed) {
        return None;
    }
    let mut files = layout
        .files
        .iter()
        .map(|file| (bytes(&file.path), file.is_plain));
    let mut folders = Vec::with_capacity(layout.folders.len());
    for folder in &layout.folders {
        folders.push((bytes(&folder.path), draft_folder(bulk_stat, folder, began)));
    }
    let mut table = assemble(&mut files, &mut folders.into_iter(), old);
    table.has_problems = !layout.problems.is_empty();
    table.rules = rules(root, bulk_stat, &table, began);
    Some(table)
}

/// Lists only the folders with the given indices. Returns `None` if that does not suffice: ignore
/// rules changed, or a folder cannot be listed.
pub(super) fn list_folders(
    root: &AbsPath,
    bulk_stat: &BulkStat,
    old: &FileTable,
    changed: &[usize],
) -> Option<FileTable> {
    let began = bulk_stat.now();
    let mut draft = ListingDraft::of(old);
    for ix in changed {
        let folder = old.path(old.folders[*ix].name);
        draft.list_folder(root, bulk_stat, folder)?;
    }
    if draft.has_problems {
        return None;
    }
    let mut files = draft
        .files
        .iter()
        .map(|(path, is_plain)| (path.as_slice(), *is_plain));
    let mut folders = draft
        .folders
        .iter()
        .map(|(path, folder)| (path.as_slice(), *folder));
    let mut table = assemble(&mut files, &mut folders, old);
    table.rules = rules(root, bulk_stat, &table, began);
    table.rules.is_some().then_some(table)
}

impl ListingDraft {
    fn of(table: &FileTable) -> Self {
        let files = table.files.iter();
        let folders = table.folders.iter();
        Self {
            files: files
                .map(|file| (table.bytes(file.name).to_vec(), file.is_plain))
                .collect(),
            folders: folders
                .map(|folder| {
                    let draft = DraftFolder {
                        is_plain: folder.is_plain,
                        has_rules: folder.has_rules,
                        mark: folder.mark,
                    };
                    (table.bytes(folder.name).to_vec(), draft)
                })
                .collect(),
            has_problems: table.has_problems,
        }
    }

    /// Lists one known folder again, and new folders below it with their contents; drops what is
    /// gone. Returns `None` if the folder now has ignore rules and had none, or the other way
    /// round: then everything must be listed.
    fn list_folder(&mut self, root: &AbsPath, bulk_stat: &BulkStat, folder: &Path) -> Option<()> {
        // It may have been removed with a folder that was listed before.
        let Some(was) = self.folders.get(bytes(folder)).copied() else {
            return Some(());
        };
        let began = bulk_stat.now();
        let before = bulk_stat
            .version(folder)
            .filter(|mark| mark.kind == FileKind::Folder);
        let Some(before) = before else {
            self.remove_below(folder);
            return Some(());
        };
        if was.has_rules != has_rules(bulk_stat, folder) {
            return None;
        }
        let never = AtomicBool::new(false);
        let place = root.join(folder);
        let layout = list_directly_in(root, &place, &never);
        self.has_problems |= !layout.problems.is_empty();
        let inside = |one: &&ListedPath| one.path.parent() == Some(folder) && one.path != folder;
        let folders: Vec<&ListedPath> = layout.folders.iter().filter(inside).collect();
        self.remove_gone(folder, &folders);
        for file in layout.files.iter().filter(inside) {
            let is_plain = file.is_plain && was.is_plain;
            self.files.insert(bytes(&file.path).to_vec(), is_plain);
        }
        for one in folders {
            let is_plain = one.is_plain && was.is_plain;
            let table = self.folders.get_mut(bytes(&one.path));
            match table {
                Some(table) if table.is_plain == is_plain => {}
                _ => self.add_below(root, bulk_stat, one, is_plain),
            }
        }
        let mark = Some(before).filter(|mark| mark.is_settled_before(began));
        let entry = DraftFolder { mark, ..was };
        self.folders.insert(bytes(folder).to_vec(), entry);
        Some(())
    }

    /// Removes the files directly in a folder, and the contents of subfolders that no longer exist.
    fn remove_gone(&mut self, folder: &Path, still: &[&ListedPath]) {
        let prefix = prefix(folder);
        let is_direct = |path: &[u8]| !path[prefix.len()..].contains(&b'/');
        let below = |path: &&Vec<u8>| path.starts_with(&prefix);
        let files = self.files.range(prefix.clone()..).map(|(path, _)| path);
        let files: Vec<Vec<u8>> = files
            .take_while(below)
            .filter(|path| is_direct(path))
            .cloned()
            .collect();
        for file in files {
            self.files.remove(&file);
        }
        let folders = self.folders.range(prefix.clone()..).map(|(path, _)| path);
        let folders: Vec<PathBuf> = folders
            .take_while(below)
            .filter(|path| !path.is_empty() && is_direct(path))
            .map(|path| PathBuf::from(std::ffi::OsStr::from_bytes(path)))
            .collect();
        for folder in folders {
            if !still.iter().any(|one| one.path == folder) {
                self.remove_below(&folder);
            }
        }
    }

    fn remove_below(&mut self, folder: &Path) {
        let prefix = prefix(folder);
        let is_outside = |path: &[u8]| path != bytes(folder) && !path.starts_with(&prefix);
        self.files.retain(|path, _| is_outside(path));
        self.folders.retain(|path, _| is_outside(path));
    }

    fn add_below(
        &mut self,
        root: &AbsPath,
        bulk_stat: &BulkStat,
        folder: &ListedPath,
        is_plain: bool,
    ) {
        let never = AtomicBool::new(false);
        let began = bulk_stat.now();
        self.remove_below(&folder.path);
        let layout = list_below(root, &root.join(&folder.path), &never);
        self.has_problems |= !layout.problems.is_empty();
        for file in &layout.files {
            let is_plain = file.is_plain && is_plain;
            self.files.insert(bytes(&file.path).to_vec(), is_plain);
        }
        for folder in &layout.folders {
            let mut entry = draft_folder(bulk_stat, folder, began);
            entry.is_plain &= is_plain;
            self.folders.insert(bytes(&folder.path).to_vec(), entry);
        }
    }
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// Returns the prefix of all paths in a folder.
fn prefix(folder: &Path) -> Vec<u8> {
    match bytes(folder) {
        [] => Vec::new(),
        path => [path, b"/"].concat(),
    }
}

fn draft_folder(bulk_stat: &BulkStat, folder: &ListedPath, began: WallTime) -> DraftFolder {
    // Taken after the folder was listed, so it must have been unchanged since before that.
    let mark = bulk_stat.version(&folder.path);
    let is_sound =
        |mark: &FileVersion| mark.kind == FileKind::Folder && mark.is_settled_before(began);
    DraftFolder {
        is_plain: folder.is_plain,
        has_rules: has_rules(bulk_stat, &folder.path),
        mark: mark.filter(is_sound),
    }
}

/// Whether the folder contains a file or folder that affects ignore rules.
fn has_rules(bulk_stat: &BulkStat, folder: &Path) -> bool {
    let mut names = IgnoreRules::NAMES.iter();
    names.any(|name| bulk_stat.version(&folder.join(name)).is_some())
}

/// Returns the fingerprint of the ignore rules; `None` if they changed while files were listed.
fn rules(root: &AbsPath, bulk_stat: &BulkStat, table: &FileTable, began: WallTime) -> Option<u64> {
    let inner = [".gitignore", ".ignore", ".git", ".git/info/exclude"];
    for folder in table.folders_with_rules() {
        let marks = inner.iter().filter_map(|name| {
            let mark = bulk_stat.version(&folder.join(name));
            // A repository's `.git` folder changes with every commit.
            mark.filter(|mark| mark.kind != FileKind::Folder)
        });
        if marks.into_iter().any(|mark| !mark.is_settled_before(began)) {
            return None;
        }
    }
    Some(fingerprint(root, table))
}

/// Returns a fingerprint of the current ignore rules.
pub(super) fn fingerprint(root: &AbsPath, table: &FileTable) -> u64 {
    let mut folders = table.folders_with_rules().map(|folder| root.join(folder));
    IgnoreRules::fingerprint(root, &mut folders)
}

/// Combines files and folders, both sorted, with the contents known from `old`.
fn assemble<'a>(
    files: &mut dyn Iterator<Item = (&'a [u8], bool)>,
    folders: &mut dyn Iterator<Item = (&'a [u8], DraftFolder)>,
    old: &FileTable,
) -> FileTable {
    let mut table = FileTable {
        segments: old.segments.clone(),
        ..FileTable::default()
    };
    let mut before = old.files.iter().peekable();
    for (path, is_plain) in files {
        let Some(name) = table.name(path) else {
            table.has_problems = true;
            break;
        };
        while before.next_if(|file| old.bytes(file.name) < path).is_some() {}
        let same = before.next_if(|file| old.bytes(file.name) == path);
        table.files.push(IndexedFile {
            name,
            is_plain,
            content: same.map_or(ContentState::Unread, |file| file.content),
        });
    }
    for (path, folder) in folders {
        let Some(name) = table.name(path) else {
            table.has_problems = true;
            break;
        };
        table.folders.push(IndexedFolder {
            name,
            is_plain: folder.is_plain,
            has_rules: folder.has_rules,
            mark: folder.mark,
        });
    }
    table
}
