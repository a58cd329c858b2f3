//! The commit under a user's folder: `HEAD` of the repository around it, as far as the folder
//! contains it; empty for a folder without a repository.

use std::collections::{BTreeMap, HashMap, HashSet};

use ::base::AbsPath;
use git::{IndexStat, Repository};
use host::{Files as _, RealFiles};
use project::NamedFiles;

use crate::Error;
use crate::change_history::{BaseCommit, GitBase, GitMove, HeadState, StoredVersion};

/// The size of the contents outside the commit that the first look stores at most, in bytes.
const FIRST_LOOK_BYTES: u64 = 512 << 20;
/// The number of files outside the commit above which no log is begun.
const MAX_FIRST_FILES: usize = 50_000;
/// The largest log of HEAD that is read, in bytes.
const MAX_HEAD_LOG_BYTES: u64 = 16 << 20;
/// Number of commits at which HEAD was in between whose files are compared.
const MAX_PASSED_COMMITS: usize = 16;
/// The largest `.gitignore` that is read, in bytes.
const MAX_RULES_BYTES: u64 = 1 << 20;
/// Folders of generated files that are not observed in a folder without a repository.
const GENERATED: [&str; 5] = ["node_modules", "target", ".venv", "__pycache__", ".cache"];

/// The base of a user's folder.
pub(super) struct FolderBase {
    root: AbsPath,
    repository: Option<GitPart>,
    /// The ignore rules of a folder without a commit.
    ignored: NamedFiles,
}

/// A move of HEAD.
struct HeadMove {
    /// The commit before.
    from: String,
    message: String,
}

impl HeadMove {
    /// Reads a line of the log: both commits, the person and the time, a tab, the message.
    fn parse(line: &str) -> Self {
        let (head, message) = line.split_once('\t').unwrap_or((line, ""));
        let from = head.split(' ').next().unwrap_or_default();
        Self {
            from: from.to_owned(),
            message: message.to_owned(),
        }
    }

    /// Whether the move only recorded the working tree.
    fn is_commit(&self) -> bool {
        let commits = ["commit: ", "commit (initial): ", "commit (amend): "];
        commits.iter().any(|start| self.message.starts_with(start))
    }
}

/// The commit of the repository around the folder.
struct GitPart {
    base: GitBase,
    workdir: AbsPath,
    git_dir: AbsPath,
    /// The folder relative to the repository's root; ends in `/` unless it is empty.
    prefix: String,
}

impl FolderBase {
    /// Opens the base of a folder. A folder whose repository cannot be read counts as one without.
    pub(super) fn open(root: &AbsPath) -> Self {
        let rules = RealFiles.read(&root.join(".gitignore"), MAX_RULES_BYTES);
        let rules = String::from_utf8_lossy(&rules.unwrap_or_default()).into_owned();
        let rules = GENERATED.map(str::to_owned).into_iter().chain(
            rules
                .lines()
                .filter(|line| !line.is_empty() && !line.starts_with('#'))
                .map(str::to_owned),
        );
        let (ignored, _) = NamedFiles::new(Some(root), &rules.collect::<Vec<_>>());
        Self {
            root: root.clone(),
            repository: GitPart::open(root),
            ignored,
        }
    }
}

impl GitPart {
    fn open(root: &AbsPath) -> Option<Self> {
        let repository = Repository::discover(root).ok()?;
        let workdir = RealFiles.canonicalize(repository.workdir()).ok()?;
        let git_dir = repository.git_dir()?;
        // A repository without a commit has no base.
        let commit = repository.tip("HEAD").ok()?.to_string();
        let inner = root.relative_to(&workdir)?.to_str()?.to_owned();
        let base = GitBase::open(&workdir, &git_dir, &git_dir.join("index"), &commit);
        let base = base.inspect_err(|error| log::warn!("{error}")).ok()?;
        let prefix = if inner.is_empty() {
            inner
        } else {
            format!("{inner}/")
        };
        Some(Self {
            base,
            workdir,
            git_dir,
            prefix,
        })
    }

    /// All files of a commit below the folder.
    fn files_of(&self, commit: &str) -> Result<BTreeMap<String, StoredVersion>, Error> {
        let index = self.git_dir.join("index");
        let base = GitBase::open(&self.workdir, &self.git_dir, &index, commit)?;
        Ok(self.below(base.files()?).collect())
    }

    /// The moves of HEAD, oldest first, as Git logs them; empty without a log.
    fn moves(&self) -> Vec<HeadMove> {
        let log = RealFiles.read(&self.git_dir.join("logs/HEAD"), MAX_HEAD_LOG_BYTES);
        let log = log.unwrap_or_default();
        let text = String::from_utf8_lossy(&log);
        text.lines().map(HeadMove::parse).collect()
    }

    /// The entries below the folder, by path relative to it.
    fn below<T>(
        &self,
        entries: impl IntoIterator<Item = (String, T)>,
    ) -> impl Iterator<Item = (String, T)> {
        entries.into_iter().filter_map(|(path, value)| {
            let path = path.strip_prefix(&self.prefix)?.to_owned();
            Some((path, value))
        })
    }
}

impl BaseCommit for FolderBase {
    fn files(&self) -> Result<BTreeMap<String, StoredVersion>, Error> {
        match &self.repository {
            Some(part) => Ok(part.below(part.base.files()?).collect()),
            None => Ok(BTreeMap::new()),
        }
    }

    fn content(&self, id: &str) -> Result<Option<Vec<u8>>, Error> {
        match &self.repository {
            Some(part) => part.base.content(id),
            None => Ok(None),
        }
    }

    fn is_ignored(&self, path: &str) -> bool {
        match &self.repository {
            Some(part) => part.base.is_ignored(&format!("{}{path}", part.prefix)),
            // A rule for a folder applies to what is in it.
            None => {
                let path = match path.strip_suffix('/') {
                    Some(folder) => format!("{folder}/-"),
                    None => path.to_owned(),
                };
                self.ignored.matches(&self.root.join(path))
            }
        }
    }

    fn index_stats(&self) -> HashMap<String, IndexStat> {
        match &self.repository {
            Some(part) => part.below(part.base.index_stats()).collect(),
            None => HashMap::new(),
        }
    }

    fn is_users_folder(&self) -> bool {
        true
    }

    fn head(&self) -> Option<HeadState> {
        let part = self.repository.as_ref()?;
        let repository = Repository::discover(&self.root).ok()?;
        Some(HeadState {
            commit: repository.tip("HEAD").ok()?.to_string(),
            moves: part.moves().len(),
        })
    }

    fn moved_since(&self, before: &HeadState) -> Option<GitMove> {
        let part = self.repository.as_ref()?;
        let moves = part.moves();
        // A log that Git has shortened tells nothing.
        let since = moves.get(before.moves..).unwrap_or_default();
        if !since.is_empty() && since.iter().all(HeadMove::is_commit) {
            return None;
        }
        let repository = Repository::discover(&self.root).ok()?;
        let now = repository.tip("HEAD").ok()?.to_string();
        let files = part.files_of(&now);
        let files = files.inspect_err(|error| log::warn!("{error}")).ok()?;
        let passed = since.iter().rev().take(MAX_PASSED_COMMITS);
        let passed = passed.map(|it| it.from.as_str());
        let mut gone = HashSet::new();
        for commit in passed.chain([before.commit.as_str()]) {
            // An old commit may be gone.
            let old = part.files_of(commit).unwrap_or_default();
            gone.extend(old.into_keys().filter(|path| !files.contains_key(path)));
        }
        Some(GitMove { files, gone })
    }

    fn files_of(&self, commit: &str) -> Result<BTreeMap<String, StoredVersion>, Error> {
        match &self.repository {
            Some(part) => part.files_of(commit),
            None => Ok(BTreeMap::new()),
        }
    }

    fn first_look_bytes(&self) -> Option<u64> {
        Some(FIRST_LOOK_BYTES)
    }

    fn max_first_files(&self) -> Option<usize> {
        Some(MAX_FIRST_FILES)
    }
}
