//! A leased worktree, held by this process.

use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

use base::{AbsPath, LogErr};

use crate::backend::TreeBackend;
use crate::error::Error;
use crate::mount;
use crate::owner::{LeaseLock, Owner};
use crate::record::LeaseRecord;
use crate::share::SharedPath;

/// The name of a lease in its repository: "wt-3".
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId(String);

impl LeaseId {
    /// Parses the name of a lease; `None` if it is malformed.
    pub fn parse(name: &str) -> Option<Self> {
        let number = name.strip_prefix("wt-")?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| Self(name.to_owned()))
    }

    /// Returns the name with a number.
    pub(crate) fn numbered(number: u64) -> Self {
        Self(format!("wt-{number}"))
    }

    /// Returns the number in the name; 0 if it is too large.
    pub fn number(&self) -> u64 {
        let number = self
            .0
            .strip_prefix("wt-")
            .and_then(|number| number.parse().ok());
        number.unwrap_or(0)
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for LeaseId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A leased worktree. Dropping it releases the lock and keeps the worktree for the next holder. An
/// overlay is mounted while a process holds it, that of a user's lease always; every other tree is
/// a plain folder.
#[derive(Debug)]
pub struct Lease {
    /// Name of the lease.
    pub id: LeaseId,
    /// The root of its files.
    pub root: AbsPath,
    /// Its git folder, beside the root; `.git` in the root points to it.
    pub git_dir: AbsPath,
    /// The checkout of the main repository from which it was leased.
    pub main_repo: AbsPath,
    /// The full id of the commit from which it started.
    pub base: String,
    /// Its branch: "burin/wt-3".
    pub branch: String,
    /// Ports that no other lease has.
    pub ports: Range<u16>,
    /// A name for databases and similar resources: lower-case letters, digits, underscores; at most
    /// 48 bytes, starting with a letter.
    pub name: String,
    /// The backend that made its tree.
    pub backend: TreeBackend,
    /// The holder of the lease.
    pub owner: Owner,
    /// Folders of the checkout that it shares copy-on-write, and ignored files that were copied.
    pub shared: Vec<SharedPath>,
    /// Features of the checkout that it lacks, as sentences.
    pub caveats: Vec<String>,
    /// The tree id that names its base.
    pub(crate) tree: String,
    /// Whether Git asks a file system monitor about it.
    pub(crate) has_monitor: bool,
    /// The folder that holds all its parts.
    pub(crate) folder: PathBuf,
    pub(crate) _lock: Option<LeaseLock>,
}

impl Lease {
    /// Creates the handle of a lease from its record. `lock` is kept until the handle is dropped;
    /// `None` if another holds it or it is not needed. Fails with `Corrupt` if a path or the id in
    /// the record is invalid.
    pub(crate) fn from_record(
        record: &LeaseRecord,
        folder: &Path,
        lock: Option<LeaseLock>,
    ) -> Result<Self, Error> {
        let broken = || Error::Corrupt {
            id: record.id.clone(),
            what: "its record has paths that are not absolute; release it with \
                --discard"
                .to_owned(),
        };
        let path = |path: PathBuf| AbsPath::new(path).ok_or_else(broken);
        Ok(Self {
            id: LeaseId::parse(&record.id).ok_or_else(broken)?,
            root: path(folder.join("mnt/tree"))?,
            git_dir: path(folder.join("mnt/git"))?,
            main_repo: path(PathBuf::from(&record.main_repo))?,
            base: record.commit.clone(),
            branch: record.branch.clone(),
            ports: record.ports.clone(),
            name: record.name.clone(),
            backend: record.backend,
            owner: record.owner.clone(),
            shared: record.shared.clone(),
            caveats: record.caveats.clone(),
            tree: record.tree.clone(),
            has_monitor: record.has_monitor,
            folder: folder.to_path_buf(),
            _lock: lock,
        })
    }

    /// Returns the additional environment variables for processes in the lease: `BURIN_LEASE`,
    /// `BURIN_NAME`, `BURIN_WORKTREE`, `PORT`, and `BURIN_PORT_0` to `BURIN_PORT_15`.
    pub fn env(&self) -> Vec<(OsString, OsString)> {
        let mut variables: Vec<(OsString, OsString)> = vec![
            ("BURIN_LEASE".into(), self.id.as_str().into()),
            ("BURIN_NAME".into(), self.name.as_str().into()),
            ("BURIN_WORKTREE".into(), self.root.as_path().into()),
            ("PORT".into(), self.ports.start.to_string().into()),
        ];
        for (ix, port) in self.ports.clone().enumerate() {
            variables.push((format!("BURIN_PORT_{ix}").into(), port.to_string().into()));
        }
        variables
    }

    /// Returns the overlay's upper layer, which must be readable for the file system monitor; `None`
    /// without a monitor.
    pub fn layer(&self) -> Option<AbsPath> {
        let layer = AbsPath::new(self.folder.join("upper/tree"));
        layer.filter(|_| self.has_monitor)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // A mount made by root outlives the process. While the lock is held, no other process
        // relies on it.
        let is_ours = self._lock.is_some() && self.owner != Owner::Person;
        if is_ours && self.backend == TreeBackend::Overlay {
            mount::detach_below(&self.folder).log_err();
        }
    }
}

/// Builds a resource name from the checkout's name, the repository's key and the lease's number.
pub(crate) fn resource_name(main_repo: &AbsPath, key: &str, id: &LeaseId) -> String {
    let plain = |text: &str| -> String {
        let letters = text.chars().map(|letter| match letter {
            'a'..='z' | '0'..='9' => letter,
            'A'..='Z' => letter.to_ascii_lowercase(),
            _ => '_',
        });
        letters.collect()
    };
    let main_repo: String = plain(&main_repo.name()).chars().take(16).collect();
    let hash = &key[key.len().saturating_sub(8)..];
    format!("burin_{main_repo}_{}_wt{}", plain(hash), id.number())
}
