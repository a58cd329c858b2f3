//! The features of a repository that libgit2 lacks, and the tasks that therefore need the git
//! program.
//!
//! Reads the config and the header of the index itself, so that it also works where libgit2 cannot
//! open the repository. Start at `Capabilities::of_folder`.

mod index_header;

use std::collections::BTreeSet;
use std::fmt;

use base::AbsPath;
use git2::{Config, ConfigLevel};
use host::{FileKind, Files as _, RealFiles};

use crate::merge::TreePath;
use crate::repository::{Error, Repository, unreadable};
use index_header::IndexExtension;

/// A feature of a repository or a file that only the git program supports.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GitFeature {
    /// Objects are named by SHA-256.
    Sha256,
    /// References are in a reftable.
    Reftable,
    /// The index is split over two files.
    SplitIndex,
    /// The index holds whole folders.
    SparseIndex,
    /// Objects are fetched when they are needed.
    PartialClone,
    /// Large files are in Git LFS.
    Lfs,
    /// The config has a program for the filter of this name.
    FilterProgram(String),
    /// A file's `working-tree-encoding`.
    Encoding(String),
    /// Files with mixed line endings are refused (`core.safecrlf`).
    SafeLineEnds,
    /// An unknown extension of the repository format.
    Extension(String),
    /// An unknown extension of the index that readers must understand.
    IndexExtension(String),
}

/// A kind of work on a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GitTask {
    /// Reads references, commits and trees.
    History,
    /// Reads the index and compares it with the working tree.
    Status,
    /// Reads the contents of files of any commit.
    Contents,
    /// Writes the index.
    Staging,
}

/// The features of a repository that decide between libgit2 and the git program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    features: BTreeSet<GitFeature>,
}

/// Maximum size in bytes of the small files that are read from a git folder.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Maximum size in bytes of an index.
const MAX_INDEX_BYTES: u64 = 1 << 30;

/// Extensions of the repository format that libgit2 1.9 opens, or that have a feature of their own.
const KNOWN_EXTENSIONS: &[&str] = &[
    "noop",
    "objectformat",
    "partialclone",
    "preciousobjects",
    "refstorage",
    "relativeworktrees",
    "worktreeconfig",
];

impl Capabilities {
    /// Examines the repository whose working tree contains `folder`. Works for repositories that
    /// `Repository::discover` cannot open.
    pub fn of_folder(folder: &AbsPath) -> Result<Self, Error> {
        let mut above = Some(folder.clone());
        while let Some(root) = above {
            if let Some(git_dir) = git_dir_of(&root) {
                return Self::examine(&root, &git_dir);
            }
            above = root.parent();
        }
        Err(Error::NoRepository(folder.clone()))
    }

    /// Returns the features, sorted.
    pub fn features(&self) -> impl Iterator<Item = &GitFeature> {
        self.features.iter()
    }

    /// Returns the feature because of which a task needs the git program; `None` if libgit2 does
    /// it. Files with their own obstacle (a filter, an encoding) are refused one by one.
    pub fn obstacle(&self, task: GitTask) -> Option<&GitFeature> {
        self.features.iter().find(|feature| match feature {
            GitFeature::Sha256 | GitFeature::Reftable | GitFeature::Extension(_) => true,
            GitFeature::SplitIndex | GitFeature::SparseIndex | GitFeature::IndexExtension(_) => {
                matches!(task, GitTask::Status | GitTask::Staging)
            }
            GitFeature::PartialClone => task == GitTask::Contents,
            GitFeature::Lfs
            | GitFeature::FilterProgram(_)
            | GitFeature::Encoding(_)
            | GitFeature::SafeLineEnds => false,
        })
    }

    fn examine(root: &AbsPath, git_dir: &AbsPath) -> Result<Self, Error> {
        let common_dir = common_dir_of(git_dir);
        let config = config_of(git_dir, &common_dir)
            .map_err(|error| unreadable(common_dir.join("config").as_path(), &error))?;
        let mut features = BTreeSet::new();
        let text = |name: &str| config.get_string(name).unwrap_or_default();
        let is_sha256 = text("extensions.objectformat").eq_ignore_ascii_case("sha256");
        if is_sha256 {
            features.insert(GitFeature::Sha256);
        }
        if text("extensions.refstorage").eq_ignore_ascii_case("reftable") {
            features.insert(GitFeature::Reftable);
        }
        if config.get_bool("core.safecrlf").unwrap_or(false) {
            features.insert(GitFeature::SafeLineEnds);
        }
        features.extend(unknown_extensions(&config));
        features.extend(filter_programs(&config));
        if is_partial_clone(&config) {
            features.insert(GitFeature::PartialClone);
        }
        if uses_lfs(root, &common_dir) {
            features.insert(GitFeature::Lfs);
        }
        match RealFiles.read(&git_dir.join("index"), MAX_INDEX_BYTES) {
            Ok(index) => {
                let hash_bytes = if is_sha256 { 32 } else { 20 };
                let required = index_header::required_extensions(&index, hash_bytes);
                features.extend(required.into_iter().map(index_feature));
            }
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Self { features })
    }
}

impl Repository {
    /// Returns the features that decide which tasks need the git program.
    pub fn capabilities(&self) -> Result<Capabilities, Error> {
        let git_dir = self.git_dir().unwrap_or_else(|| self.common_dir());
        Capabilities::examine(self.workdir(), &git_dir)
    }
}

impl fmt::Display for GitFeature {
    /// Writes the feature as the end of a sentence "git must do this because …".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GitFeature::Sha256 => f.write_str("the repository names objects by SHA-256"),
            GitFeature::Reftable => f.write_str("the repository keeps references in a reftable"),
            GitFeature::SplitIndex => f.write_str("the index is split"),
            GitFeature::SparseIndex => f.write_str("the index is sparse"),
            GitFeature::PartialClone => {
                f.write_str("the repository is a partial clone, which fetches contents on demand")
            }
            GitFeature::Lfs => f.write_str("the repository stores large files in Git LFS"),
            GitFeature::FilterProgram(name) => {
                write!(f, "the filter \"{name}\" of the file is a program")
            }
            GitFeature::Encoding(name) => {
                write!(
                    f,
                    "the attribute working-tree-encoding of the file is {name}"
                )
            }
            GitFeature::SafeLineEnds => f.write_str("core.safecrlf is true"),
            GitFeature::Extension(name) => {
                write!(f, "the repository has the extension \"{name}\"")
            }
            GitFeature::IndexExtension(name) => {
                write!(f, "the index has the extension \"{name}\"")
            }
        }
    }
}

fn index_feature(extension: IndexExtension) -> GitFeature {
    match &extension.0 {
        b"link" => GitFeature::SplitIndex,
        b"sdir" => GitFeature::SparseIndex,
        name => GitFeature::IndexExtension(String::from_utf8_lossy(name).into_owned()),
    }
}

/// Returns the folder with git's own files of the working tree whose root is `root`; `None` if it is no root. Works for
/// repositories that libgit2 cannot open.
pub fn git_dir_of(root: &AbsPath) -> Option<AbsPath> {
    let place = root.join(".git");
    match RealFiles.stat(&place).ok()?.kind {
        FileKind::Folder => Some(place),
        FileKind::File => {
            let text = RealFiles.read(&place, MAX_FILE_BYTES).ok()?;
            let target = text.strip_prefix(b"gitdir:")?.trim_ascii();
            Some(root.join(TreePath::new(target).to_path()))
        }
        FileKind::BrokenLink | FileKind::Other => None,
    }
}

/// Returns the folder that the worktrees of a repository share, from the git folder of one of them.
pub fn common_dir_of(git_dir: &AbsPath) -> AbsPath {
    match RealFiles.read(&git_dir.join("commondir"), MAX_FILE_BYTES) {
        Ok(text) => git_dir.join(TreePath::new(text.trim_ascii()).to_path()),
        Err(_) => git_dir.clone(),
    }
}

/// Returns the user's config together with that of the repository.
fn config_of(git_dir: &AbsPath, common_dir: &AbsPath) -> Result<Config, git2::Error> {
    let mut config = Config::open_default().or_else(|_| Config::new())?;
    config.add_file(
        common_dir.join("config").as_path(),
        ConfigLevel::Local,
        true,
    )?;
    if config
        .get_bool("extensions.worktreeconfig")
        .unwrap_or(false)
    {
        config.add_file(
            git_dir.join("config.worktree").as_path(),
            ConfigLevel::Worktree,
            true,
        )?;
    }
    config.snapshot()
}

/// Returns the names of the settings that match a regular expression, with their values.
fn settings(config: &Config, pattern: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let Ok(entries) = config.entries(Some(pattern)) else {
        return found;
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let read = entries.for_each(|entry| {
        let value = entry.has_value().then(|| text(entry.value_bytes()));
        found.push((text(entry.name_bytes()), value.unwrap_or_default()));
    });
    match read {
        Ok(()) => found,
        Err(_) => Vec::new(),
    }
}

/// Returns the extensions of the repository format that neither libgit2 nor this crate knows. They
/// count from version 1 of the format.
fn unknown_extensions(config: &Config) -> Vec<GitFeature> {
    if config.get_i32("core.repositoryformatversion").unwrap_or(0) < 1 {
        return Vec::new();
    }
    let names = settings(config, "^extensions\\.").into_iter();
    let names = names.filter_map(|(name, _)| {
        let name = name.strip_prefix("extensions.")?.to_owned();
        (!KNOWN_EXTENSIONS.contains(&name.as_str())).then_some(name)
    });
    names.map(GitFeature::Extension).collect()
}

fn filter_programs(config: &Config) -> Vec<GitFeature> {
    let programs = settings(config, "^filter\\..*\\.(clean|process|smudge)$").into_iter();
    let names = programs.filter(|(_, program)| !program.is_empty());
    let names = names.filter_map(|(name, _)| {
        let name = name.strip_prefix("filter.")?;
        Some(name.rsplit_once('.')?.0.to_owned())
    });
    names.map(GitFeature::FilterProgram).collect()
}

fn is_partial_clone(config: &Config) -> bool {
    let promisors = settings(config, "^remote\\..*\\.promisor$");
    promisors.iter().any(|(_, value)| value != "false")
        || config.get_string("extensions.partialclone").is_ok()
}

/// Returns whether the repository has objects of Git LFS, or attributes at its root that name it.
fn uses_lfs(root: &AbsPath, common_dir: &AbsPath) -> bool {
    let attributes = RealFiles.read(&root.join(".gitattributes"), MAX_FILE_BYTES);
    let names_lfs = |text: Vec<u8>| String::from_utf8_lossy(&text).contains("filter=lfs");
    RealFiles.exists(&common_dir.join("lfs")) || attributes.is_ok_and(names_lfs)
}

#[cfg(test)]
mod tests;
