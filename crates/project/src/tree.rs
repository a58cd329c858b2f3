//! The folder tree of a project: its open folders and their entries.
//!
//! Lazy: a folder is listed when it is first opened, by a `ListJob` that runs off the UI thread; a
//! file system change lists only known folders. The state is plain data; the view reads `rows`.
//! Invariant: `rows` shows exactly the known entries below open folders, folders first, then by
//! name, ignoring case. Start at `ProjectTree`.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use base::AbsPath;
use host::{FileKind, Files};

use crate::walk::{folder_rules, is_ignored_by, is_litter_in};

/// The folder tree of one project: the entries of the folders listed so far, which folders are
/// open, and the visible rows. Plain data; the disk is read by its jobs.
#[derive(Debug)]
pub struct ProjectTree {
    root: AbsPath,
    folders: HashMap<AbsPath, TreeFolder>,
    open: BTreeSet<AbsPath>,
    rows: Vec<ProjectTreeRow>,
}

#[derive(Debug, Default)]
struct TreeFolder {
    entries: Vec<ProjectTreeEntry>,
    /// Reason why it could not be read, entirely or partly.
    problem: Option<String>,
    is_listed: bool,
}

/// A file, folder or link in a folder of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectTreeEntry {
    /// Path of the entry.
    pub path: AbsPath,
    /// Kind of the file, with links followed.
    pub kind: FileKind,
    /// Whether it is a link.
    pub is_link: bool,
    /// Whether ignore rules match it.
    pub is_ignored: bool,
}

/// A visible row of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectTreeRow {
    /// Entry shown in the row.
    pub entry: ProjectTreeEntry,
    /// Nesting depth; 0 for entries directly in the root.
    pub depth: usize,
    /// Whether it is an open folder.
    pub is_open: bool,
    /// Reason why the folder's content is missing or partial.
    pub problem: Option<String>,
}

/// A job that lists one folder in the background; pass its result to `ProjectTree::accept`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListJob {
    root: AbsPath,
    folder: AbsPath,
}

/// The entries of one folder in the order of the tree, as found by a `ListJob`.
#[derive(Clone, Debug)]
pub struct FolderListing {
    folder: AbsPath,
    entries: Vec<ProjectTreeEntry>,
    problem: Option<String>,
}

impl ListJob {
    /// Returns the folder that it lists.
    pub fn folder(&self) -> &AbsPath {
        &self.folder
    }

    /// Lists the folder and applies the ignore rules. Blocks on the disk; an error becomes the
    /// problem of the listing.
    pub fn run(&self, files: &dyn Files) -> FolderListing {
        let listing = match files.list(&self.folder) {
            Ok(listing) => listing,
            Err(error) => {
                return FolderListing {
                    folder: self.folder.clone(),
                    entries: Vec::new(),
                    problem: Some(error.to_string()),
                };
            }
        };
        let rules: Vec<_> = ancestry(&self.root, &self.folder)
            .iter()
            .filter_map(|folder| folder_rules(files, folder))
            .collect();
        let above_ignored = ancestry(&self.root, &self.folder)
            .iter()
            .skip(1)
            .any(|folder| is_ignored_by(&rules, folder, true));
        let mut entries: Vec<_> = listing
            .entries
            .into_iter()
            .filter(|entry| entry.path.name() != ".git" && !is_litter_in(files, &entry.path))
            .map(|entry| ProjectTreeEntry {
                is_ignored: above_ignored
                    || is_ignored_by(&rules, &entry.path, entry.kind == FileKind::Folder),
                path: entry.path,
                kind: entry.kind,
                is_link: entry.is_link,
            })
            .collect();
        entries.sort_by(in_tree_order);
        let problem = match listing.problems.as_slice() {
            [] => None,
            [only] => Some(only.to_string()),
            [first, rest @ ..] => Some(format!("{first} (and {} more)", rest.len())),
        };
        FolderListing {
            folder: self.folder.clone(),
            entries,
            problem,
        }
    }
}

impl ProjectTree {
    /// Creates the tree of `root`, with nothing listed yet; the job lists the root.
    pub fn new(root: AbsPath) -> (Self, ListJob) {
        let mut tree = Self {
            open: BTreeSet::from([root.clone()]),
            folders: HashMap::new(),
            rows: Vec::new(),
            root,
        };
        let job = tree.job(tree.root.clone());
        (tree, job)
    }

    /// Returns the root folder of the project.
    pub fn root(&self) -> &AbsPath {
        &self.root
    }

    /// Returns the visible rows, top to bottom, without the root itself.
    pub fn rows(&self) -> &[ProjectTreeRow] {
        &self.rows
    }

    /// Returns the index of the row that shows `path`; `None` if no row does, such as in a closed
    /// folder.
    pub fn row_of(&self, path: &AbsPath) -> Option<usize> {
        self.rows.iter().position(|row| row.entry.path == *path)
    }

    /// Returns the reason why the root could not be read, entirely or partly; `None` if it could,
    /// or is not listed yet.
    pub fn problem(&self) -> Option<&str> {
        self.folders.get(&self.root)?.problem.as_deref()
    }

    /// Returns whether the root was listed at least once.
    pub fn is_loaded(&self) -> bool {
        self.folders
            .get(&self.root)
            .is_some_and(|folder| folder.is_listed)
    }

    /// Returns the open folders, without the root.
    pub fn open_folders(&self) -> impl Iterator<Item = &AbsPath> {
        self.open.iter().filter(|path| **path != self.root)
    }

    /// Opens a folder and shows its known entries; the returned job lists it. `None` if it is
    /// already listed.
    pub fn open(&mut self, folder: &AbsPath) -> Option<ListJob> {
        self.open.insert(folder.clone());
        let job = (!self.is_listed(folder)).then(|| self.job(folder.clone()));
        self.rebuild();
        job
    }

    /// Closes a folder. Its entries stay known.
    pub fn close(&mut self, folder: &AbsPath) {
        self.open.remove(folder);
        self.rebuild();
    }

    /// Closes every folder of the tree.
    pub fn close_all(&mut self) {
        self.open.retain(|folder| *folder == self.root);
        self.rebuild();
    }

    /// Opens every folder above `path`, so that it has a row once the returned jobs are done. Empty
    /// if all are listed, and for a path outside the root.
    pub fn reveal(&mut self, path: &AbsPath) -> Vec<ListJob> {
        let Some(parent) = path.parent().filter(|parent| parent.is_within(&self.root)) else {
            return Vec::new();
        };
        let mut jobs = Vec::new();
        for folder in ancestry(&self.root, &parent) {
            self.open.insert(folder.clone());
            if !self.is_listed(&folder) {
                jobs.push(self.job(folder));
            }
        }
        self.rebuild();
        jobs
    }

    /// Returns jobs that list again the known folders which are in `changed` or contain a changed
    /// path; for a changed ignore file, also all known folders below it. Changes nothing itself.
    pub fn refresh(&mut self, changed: &[AbsPath]) -> Vec<ListJob> {
        let mut folders = BTreeSet::new();
        for path in changed {
            folders.extend(path.parent().filter(|parent| self.is_listed(parent)));
            folders.extend(self.is_listed(path).then(|| path.clone()));
            // New ignore rules can affect everything below their folder.
            if matches!(path.name().as_str(), ".gitignore" | ".ignore") {
                let parent = path.parent();
                let beneath =
                    |folder: &&AbsPath| parent.as_ref().is_some_and(|p| folder.is_within(p));
                folders.extend(self.folders.keys().filter(beneath).cloned());
            }
        }
        folders.into_iter().map(|folder| self.job(folder)).collect()
    }

    /// Returns jobs that update every known folder.
    pub fn refresh_all(&mut self) -> Vec<ListJob> {
        let folders: BTreeSet<_> = self.folders.keys().cloned().collect();
        folders.into_iter().map(|folder| self.job(folder)).collect()
    }

    /// Applies the result of a job; returns whether something changed, so that the rows must be
    /// drawn again.
    pub fn accept(&mut self, listed: FolderListing) -> bool {
        let folder = self.folders.entry(listed.folder).or_default();
        if folder.is_listed && folder.entries == listed.entries && folder.problem == listed.problem
        {
            return false;
        }
        folder.is_listed = true;
        folder.entries = listed.entries;
        folder.problem = listed.problem;
        self.forget_missing();
        self.rebuild();
        true
    }

    fn job(&mut self, folder: AbsPath) -> ListJob {
        self.folders.entry(folder.clone()).or_default();
        ListJob {
            root: self.root.clone(),
            folder,
        }
    }

    /// Whether the entries of a folder are known. `false` for a folder that was never opened.
    fn is_listed(&self, folder: &AbsPath) -> bool {
        self.folders
            .get(folder)
            .is_some_and(|folder| folder.is_listed)
    }

    /// Drops folders that their parent no longer lists, so that a folder that reappears is listed
    /// again.
    fn forget_missing(&mut self) {
        let is_there = |folder: &AbsPath, folders: &HashMap<AbsPath, TreeFolder>| {
            let Some(parent) = folder.parent().and_then(|parent| folders.get(&parent)) else {
                return true;
            };
            !parent.is_listed
                || parent
                    .entries
                    .iter()
                    .any(|entry| entry.path == *folder && entry.kind == FileKind::Folder)
        };
        let gone: Vec<_> = self
            .folders
            .keys()
            .filter(|folder| **folder != self.root && !is_there(folder, &self.folders))
            .cloned()
            .collect();
        for gone in gone {
            self.folders.retain(|folder, _| !folder.is_within(&gone));
            self.open.retain(|folder| !folder.is_within(&gone));
        }
    }

    fn rebuild(&mut self) {
        let mut rows = Vec::with_capacity(self.rows.len());
        self.push_rows(&self.root, 0, &mut rows);
        self.rows = rows;
    }

    fn push_rows(&self, folder: &AbsPath, depth: usize, rows: &mut Vec<ProjectTreeRow>) {
        let Some(folder) = self.folders.get(folder) else {
            return;
        };
        for entry in &folder.entries {
            let is_open = entry.kind == FileKind::Folder && self.open.contains(&entry.path);
            let problem = self
                .folders
                .get(&entry.path)
                .and_then(|known| known.problem.clone());
            rows.push(ProjectTreeRow {
                entry: entry.clone(),
                depth,
                is_open,
                problem,
            });
            if is_open {
                self.push_rows(&entry.path, depth + 1, rows);
            }
        }
    }
}

/// Returns the folders from `root` down to `folder`, both included.
fn ancestry(root: &AbsPath, folder: &AbsPath) -> Vec<AbsPath> {
    let mut chain = Vec::new();
    let mut at = Some(folder.clone());
    while let Some(folder) = at.filter(|folder| folder.is_within(root)) {
        at = folder.parent();
        chain.push(folder);
    }
    chain.reverse();
    chain
}

fn in_tree_order(a: &ProjectTreeEntry, b: &ProjectTreeEntry) -> Ordering {
    let is_file = |entry: &ProjectTreeEntry| entry.kind != FileKind::Folder;
    let name = |entry: &ProjectTreeEntry| entry.path.name().to_lowercase();
    (is_file(a).cmp(&is_file(b)))
        .then_with(|| name(a).cmp(&name(b)))
        .then_with(|| a.path.cmp(&b.path))
}

#[cfg(test)]
mod tests;
