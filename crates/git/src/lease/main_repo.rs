//! The main repository, from which worktrees are leased.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use base::{AbsPath, NameRules};
use git2::{ErrorCode, ObjectType, Oid, Repository};

use super::Error;
use crate::merge::is_git_folder;
use crate::repository::as_stored;

/// A repository with a checkout and at least one commit, opened for leasing.
pub struct MainRepo {
    pub(crate) repository: Repository,
    workdir: AbsPath,
    common_dir: PathBuf,
}

/// A commit with its tree and branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadCommit {
    /// Full id of the commit.
    pub commit: String,
    /// Full id of its tree.
    pub tree: String,
    /// Name of the branch that HEAD points to, such as "main"; `None` if detached.
    pub branch: Option<String>,
}

/// One file of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitFile {
    /// Path from the root, separated by `/`; every component is a safe name.
    pub path: Vec<u8>,
    /// Full id of its blob.
    pub id: String,
    /// File mode: 0o100644, 0o100755 or 0o120000.
    pub mode: u32,
}

/// All files of a commit.
#[derive(Clone, Debug, Default)]
pub struct CommitContents {
    /// Files and symlinks, in git's order.
    pub files: Vec<CommitFile>,
    /// Paths of submodules; they remain empty folders.
    pub submodules: Vec<Vec<u8>>,
}

impl MainRepo {
    /// Opens the repository whose checkout contains `path`.
    ///
    /// # Errors
    /// `NoRepository` if no folder above `path` is one, `Bare` if it has no checkout.
    pub fn open(path: &AbsPath) -> Result<Self, Error> {
        let repository = Repository::discover(path.as_path()).map_err(|error| {
            if error.code() == ErrorCode::NotFound {
                Error::NoRepository(path.as_path().to_path_buf())
            } else {
                Error::new("open", path.as_path(), &error)
            }
        })?;
        let workdir = repository.workdir().and_then(AbsPath::new);
        let workdir = workdir.ok_or_else(|| Error::Bare(repository.path().to_path_buf()))?;
        let common_dir = repository.commondir();
        let common_dir = common_dir
            .canonicalize()
            .unwrap_or_else(|_| common_dir.to_path_buf());
        let common_dir = match AbsPath::new(&common_dir) {
            Some(real) => as_stored(&repository, real).as_path().to_path_buf(),
            None => common_dir,
        };
        Ok(Self {
            workdir: as_stored(&repository, workdir),
            common_dir,
            repository,
        })
    }

    /// Returns the files with unresolved merge conflicts, sorted by path.
    pub fn unmerged(&self) -> Result<Vec<Vec<u8>>, Error> {
        let failed = |error: git2::Error| self.failed("read the index of", &error);
        let index = self.repository.index().map_err(failed)?;
        // A file in conflict has one entry per side, with stages above 0.
        let is_unmerged = |entry: &git2::IndexEntry| entry.flags & 0x3000 != 0;
        let mut names: Vec<Vec<u8>> = index
            .iter()
            .filter(is_unmerged)
            .map(|entry| entry.path)
            .collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    /// Returns the root of the checkout, in the spelling that the disk stores.
    pub fn workdir(&self) -> &AbsPath {
        &self.workdir
    }

    /// Returns the folder with refs, config and objects, shared by linked worktrees. It has one path,
    /// however the repository was found.
    pub fn common_dir(&self) -> PathBuf {
        self.common_dir.clone()
    }

    /// Returns the object folder; its `alternates` file names further ones.
    pub fn object_folder(&self) -> PathBuf {
        self.common_dir().join("objects")
    }

    /// Returns the commit that HEAD points to.
    ///
    /// # Errors
    /// `NoCommit` if there is none yet.
    pub fn head(&self) -> Result<HeadCommit, Error> {
        let none = || Error::NoCommit(self.workdir.as_path().to_path_buf());
        let head = self.repository.head().map_err(|error| match error.code() {
            ErrorCode::UnbornBranch | ErrorCode::NotFound => none(),
            _ => self.failed("read HEAD of", &error),
        })?;
        let branch = if head.is_branch() {
            head.shorthand().ok().map(str::to_owned)
        } else {
            None
        };
        let commit = head.peel_to_commit();
        let commit = commit.map_err(|error| self.failed("read HEAD of", &error))?;
        Ok(HeadCommit {
            commit: commit.id().to_string(),
            tree: commit.tree_id().to_string(),
            branch,
        })
    }

    /// Resolves a branch, a tag or an id to its commit; the result names no branch.
    pub fn resolve(&self, name: &str) -> Result<HeadCommit, Error> {
        let object = self.repository.revparse_single(name);
        let commit = object.and_then(|object| object.peel_to_commit());
        let commit = commit.map_err(|error| self.failed("find that commit in", &error))?;
        Ok(HeadCommit {
            commit: commit.id().to_string(),
            tree: commit.tree_id().to_string(),
            branch: None,
        })
    }

    /// Returns all files of a tree, by its full id. Takes time per file.
    ///
    /// # Errors
    /// `BadName` for the first path that leads out of a checkout or into `.git` on any file system.
    pub fn contents(&self, tree: &str) -> Result<CommitContents, Error> {
        let id = Oid::from_str(tree).map_err(|error| self.failed("read a tree of", &error))?;
        let mut contents = CommitContents::default();
        self.collect(id, &mut Vec::new(), &mut contents)?;
        Ok(contents)
    }

    /// Returns the non-empty files of the index by path, each with its blob id and the modification
    /// time (seconds and nanoseconds since 1970) that its file in the checkout had when it held this
    /// blob. Whether the file still has that time is not checked.
    pub fn clean_times(&self) -> HashMap<Vec<u8>, (String, i64, u32)> {
        let Ok(index) = self.repository.index() else {
            return HashMap::new();
        };
        let clean = index.iter().filter(|entry| entry.file_size > 0);
        clean
            .map(|entry| {
                let time = (
                    entry.id.to_string(),
                    i64::from(entry.mtime.seconds()),
                    entry.mtime.nanoseconds(),
                );
                (entry.path, time)
            })
            .collect()
    }

    /// Returns whether git ignores this folder of the checkout, given by its path from the root.
    pub fn is_ignored(&self, folder: &Path) -> bool {
        // Patterns match it as a folder only with a trailing slash.
        let mut path = folder.as_os_str().to_owned();
        path.push("/");
        let ignored = self.repository.is_path_ignored(Path::new(&path));
        ignored.unwrap_or(false)
    }

    /// Returns the ignored paths of the checkout, relative to its root, with `true` for folders
    /// that are ignored as a whole.
    pub fn ignored(&self) -> Vec<(Vec<u8>, bool)> {
        let mut options = git2::StatusOptions::new();
        options
            .include_untracked(false)
            .include_ignored(true)
            .recurse_ignored_dirs(false)
            .exclude_submodules(true)
            .update_index(false);
        let Ok(statuses) = self.repository.statuses(Some(&mut options)) else {
            return Vec::new();
        };
        let ignored = statuses.iter().filter(|entry| entry.status().is_ignored());
        ignored
            .map(|entry| {
                let path = entry.path_bytes();
                match path.strip_suffix(b"/") {
                    Some(folder) => (folder.to_vec(), true),
                    None => (path.to_vec(), false),
                }
            })
            .collect()
    }

    /// Returns the path of the checkout's index.
    pub fn index_file(&self) -> PathBuf {
        self.repository.path().join("index")
    }

    /// Returns the config for a lease's git folder, written entirely by us and including the user's
    /// name. `monitor` is the shell command that reports changes to git, see githooks(5),
    /// "fsmonitor-watchman"; `names` are the rules of the volume that holds the lease, which may
    /// differ from those of the checkout's.
    pub fn lease_config(&self, monitor: Option<&str>, names: NameRules) -> String {
        let mut text = String::from(
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ../tree\n\
             \tlogallrefupdates = true\n\thooksPath = /dev/null\n\ttrustctime = false\n",
        );
        match monitor {
            Some(line) => text.push_str(&format!(
                "\tfsmonitor = {}\n\tfsmonitorHookVersion = 2\n\tuntrackedCache = true\n",
                quoted(line)
            )),
            None => text.push_str("\tfsmonitor = false\n"),
        }
        text.push_str(&format!("\tignorecase = {}\n", names.folds_case));
        // A volume that keeps the forms apart needs no conversion.
        text.push_str(&format!("\tprecomposeunicode = {}\n", names.normalizes));
        let config = self
            .repository
            .config()
            .and_then(|mut config| config.snapshot());
        let Ok(config) = config else {
            return text;
        };
        let mut section = "core";
        for name in COPIED {
            let Ok(value) = config.get_str(name) else {
                continue;
            };
            let Some((of, key)) = name.split_once('.') else {
                continue;
            };
            if of != section {
                text.push_str(&format!("[{of}]\n"));
                section = of;
            }
            text.push_str(&format!("\t{key} = {}\n", quoted(value)));
        }
        text.push_str(
            "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[commit]\n\tgpgSign = false\n[tag]\n\tgpgSign = false\n\
             [submodule]\n\trecurse = false\n",
        );
        text
    }

    /// Returns the differences between a lease and the checkout that the user should know, as
    /// sentences.
    pub fn caveats(&self, contents: &CommitContents) -> Vec<String> {
        let mut caveats = Vec::new();
        if let Some(first) = contents.submodules.first() {
            caveats.push(format!(
                "{} submodules remain empty folders in leases, for example {}",
                contents.submodules.len(),
                String::from_utf8_lossy(first)
            ));
        }
        let is_set = |name: &str| {
            let config = self.repository.config();
            config
                .and_then(|config| config.get_bool(name))
                .unwrap_or(false)
        };
        if is_set("core.sparseCheckout") {
            caveats.push("the checkout is sparse, but leases contain every file".to_owned());
        }
        if self.has_filters(contents) {
            caveats.push(
                "files with a filter program (such as Git LFS) appear in leases as committed, \
                 because no filter is run"
                    .to_owned(),
            );
        }
        caveats
    }

    /// Returns the `shallow` file, which lists the boundary commits of a shallow clone.
    pub fn shallow_ends(&self) -> Option<PathBuf> {
        self.repository
            .is_shallow()
            .then(|| self.common_dir().join("shallow"))
    }

    /// Returns the hidden refs below `refs/burin/FOLDER`, each with its commit.
    pub fn pinned(&self, folder: &str) -> Result<Vec<(String, String)>, Error> {
        let prefix = format!("refs/burin/{folder}/");
        let failed = |error: git2::Error| self.failed("list hidden refs of", &error);
        let glob = format!("{prefix}*");
        let found = self.repository.references_glob(&glob).map_err(failed)?;
        let mut pinned = Vec::new();
        for reference in found {
            let reference = reference.map_err(failed)?;
            let (Ok(name), Some(id)) = (reference.name(), reference.target()) else {
                continue;
            };
            let name = name.strip_prefix(&prefix).unwrap_or(name).to_owned();
            pinned.push((name, id.to_string()));
        }
        Ok(pinned)
    }

    /// Returns whether a local branch or HEAD contains this commit, or points to a commit with the
    /// same tree. False if the main repository lacks the commit.
    pub fn has_merged(&self, commit: &str) -> bool {
        let Ok(id) = Oid::from_str(commit) else {
            return false;
        };
        let Ok(found) = self.repository.find_commit(id) else {
            return false;
        };
        let mut tips = Vec::new();
        if let Ok(branches) = self.repository.branches(Some(git2::BranchType::Local)) {
            tips.extend(
                branches
                    .flatten()
                    .filter_map(|(branch, _)| branch.get().target()),
            );
        }
        tips.extend(self.repository.head().ok().and_then(|head| head.target()));
        tips.iter().any(|tip| {
            *tip == id
                || self
                    .repository
                    .graph_descendant_of(*tip, id)
                    .unwrap_or(false)
                || self
                    .repository
                    .find_commit(*tip)
                    .is_ok_and(|tip| tip.tree_id() == found.tree_id())
        })
    }

    /// Returns the stored bytes and the mode of the file at `path`; `None` if the commit lacks it.
    pub fn committed(&self, commit: &str, path: &[u8]) -> Option<(Vec<u8>, u32)> {
        let commit = self
            .repository
            .find_commit(Oid::from_str(commit).ok()?)
            .ok()?;
        let entry = commit.tree().ok()?.get_path(as_path(path)).ok()?;
        let blob = self.repository.find_blob(entry.id()).ok()?;
        Some((blob.content().to_vec(), entry.filemode().cast_unsigned()))
    }

    /// Adds the files and submodules of a tree, and of all trees below it, to `contents`. `prefix`
    /// is the path of the tree, empty or ending in `/`, and has its old value afterwards. Fails
    /// with `Error::BadName` for an unsafe name or below a path of over 4096 bytes.
    fn collect(
        &self,
        tree: Oid,
        prefix: &mut Vec<u8>,
        contents: &mut CommitContents,
    ) -> Result<(), Error> {
        let tree = self.repository.find_tree(tree);
        let tree = tree.map_err(|error| self.failed("read a tree of", &error))?;
        for entry in &tree {
            let name = entry.name_bytes();
            let length = prefix.len();
            prefix.extend_from_slice(name);
            if !is_harmless(name) || length > 4096 {
                return Err(Error::BadName(String::from_utf8_lossy(prefix).into_owned()));
            }
            match entry.kind() {
                Some(ObjectType::Tree) => {
                    prefix.push(b'/');
                    self.collect(entry.id(), prefix, contents)?;
                }
                Some(ObjectType::Commit) => contents.submodules.push(prefix.clone()),
                _ => contents.files.push(CommitFile {
                    path: prefix.clone(),
                    id: entry.id().to_string(),
                    mode: normal_mode(entry.filemode()),
                }),
            }
            prefix.truncate(length);
        }
        Ok(())
    }

    /// Returns whether a `.gitattributes` file of the commit assigns a filter to anything. Whether
    /// the filter has a program is not checked: this is for a warning only.
    fn has_filters(&self, contents: &CommitContents) -> bool {
        let mut attributes = contents
            .files
            .iter()
            .filter(|file| file.path.ends_with(b".gitattributes"));
        attributes.any(|file| {
            let id = Oid::from_str(&file.id);
            let blob = id.and_then(|id| self.repository.find_blob(id));
            blob.is_ok_and(|blob| {
                let text = String::from_utf8_lossy(blob.content());
                text.lines()
                    .any(|line| !line.starts_with('#') && line.contains("filter="))
            })
        })
    }

    /// Wraps an error of libgit2 about this repository; `doing` is a verb with its object.
    pub(crate) fn failed(&self, doing: &'static str, error: &git2::Error) -> Error {
        Error::new(doing, self.workdir.as_path(), error)
    }
}

/// Config keys copied from the user to a lease: the committer's identity and the checkout format.
const COPIED: &[&str] = &[
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.symlinks",
    "core.excludesfile",
    "user.name",
    "user.email",
    "merge.conflictstyle",
    "init.defaultbranch",
];

/// Quotes a value for a git config file.
pub(super) fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for letter in value.chars() {
        match letter {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\0' => {}
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

/// Returns whether a path component is safe to create in a folder of any volume: it leads nowhere
/// else, and no file system takes it for `.git`.
pub(super) fn is_harmless(name: &[u8]) -> bool {
    !(name.is_empty()
        || name == b"."
        || name == b".."
        || is_git_folder(name)
        || name.contains(&b'/')
        || name.contains(&0))
}

/// Returns the mode that a checkout uses: that of a symlink, else 100755 if any execute bit is set,
/// else 100644 (octal).
fn normal_mode(mode: i32) -> u32 {
    match mode {
        0o120000 => 0o120000,
        mode if mode & 0o111 != 0 => 0o100755,
        _ => 0o100644,
    }
}

/// Returns bytes of git as a path.
#[cfg(unix)]
pub(crate) fn as_path(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}
