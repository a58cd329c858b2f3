//! One leased worktree, held by this process.

use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

use base::{AbsPath, LogErr};

use crate::error::Error;
use crate::mount;
use crate::owner::{Lock, Owner};
use crate::record::LeaseRecord;
use crate::rung::Rung;
use crate::setup::SetUp;
use crate::share::Shared;

/// The name of a lease in its repository: "wt-3".
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId(String);

impl LeaseId {
    /// A name as a person gives it; `None` when no lease is called so.
    pub fn parse(name: &str) -> Option<Self> {
        let number = name.strip_prefix("wt-")?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| Self(name.to_owned()))
    }

    pub(crate) fn numbered(number: u64) -> Self {
        Self(format!("wt-{number}"))
    }

    /// Its number.
    pub fn number(&self) -> u64 {
        let number = self
            .0
            .strip_prefix("wt-")
            .and_then(|number| number.parse().ok());
        number.unwrap_or(0)
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for LeaseId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A worktree of one's own. Dropping it lets go of it, and leaves the worktree for whoever takes it next: its overlay
/// is mounted for as long as somebody holds it, a person's for good.
#[derive(Debug)]
pub struct Lease {
    /// Its name.
    pub id: LeaseId,
    /// The top of its files.
    pub root: AbsPath,
    /// Its git folder, beside the root; `.git` in the root points to it.
    pub git_dir: AbsPath,
    /// The person's checkout it was leased from.
    pub hub: AbsPath,
    /// The commit it began with, in full.
    pub base: String,
    /// The branch it is on: "burin/wt-3".
    pub branch: String,
    /// Ports that no other lease has.
    pub ports: Range<u16>,
    /// A name for databases and the like: small letters, digits, underscores; at most 48 bytes, a letter first.
    pub name: String,
    /// How its tree was made.
    pub rung: Rung,
    /// Who has it.
    pub owner: Owner,
    /// Folders of the checkout it sees copy-on-write, and files that were copied from it.
    pub shared: Vec<Shared>,
    /// What it does not have that the checkout has, as sentences.
    pub caveats: Vec<String>,
    /// How setting it up went; `None` where there was nothing to do.
    pub set_up: Option<SetUp>,
    /// The name of the base it stands on.
    pub(crate) tree: String,
    /// Whether git is told what changed in it.
    pub(crate) has_monitor: bool,
    /// Holds everything of it.
    pub(crate) folder: PathBuf,
    pub(crate) _lock: Option<Lock>,
}

impl Lease {
    pub(crate) fn of(
        record: &LeaseRecord,
        folder: &Path,
        lock: Option<Lock>,
    ) -> Result<Self, Error> {
        let broken = || Error::Spoilt {
            id: record.id.clone(),
            what: "its record names no absolute paths; release it with --discard".to_owned(),
        };
        let path = |path: PathBuf| AbsPath::new(path).ok_or_else(broken);
        Ok(Self {
            id: LeaseId::parse(&record.id).ok_or_else(broken)?,
            root: path(folder.join("mnt/tree"))?,
            git_dir: path(folder.join("mnt/git"))?,
            hub: path(PathBuf::from(&record.hub))?,
            base: record.commit.clone(),
            branch: record.branch.clone(),
            ports: record.ports.clone(),
            name: record.name.clone(),
            rung: record.rung,
            owner: record.owner.clone(),
            shared: record.shared.clone(),
            caveats: record.caveats.clone(),
            set_up: record.set_up.clone(),
            tree: record.tree.clone(),
            has_monitor: record.has_monitor,
            folder: folder.to_path_buf(),
            _lock: lock,
        })
    }

    /// What programs started in it find in their environment beside the usual.
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

    /// The folder with what changed in it, which git has to see to be told of it; `None` where it is told nothing.
    pub fn layer(&self) -> Option<AbsPath> {
        let layer = AbsPath::new(self.folder.join("upper/tree"));
        layer.filter(|_| self.has_monitor)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // A mount that root makes outlives the program. While the lock is held nobody else counts on it.
        let is_ours = self._lock.is_some() && self.owner != Owner::Person;
        if is_ours && self.rung == Rung::Overlay {
            mount::detach_below(&self.folder).log_err();
        }
    }
}

/// A name for databases and the like, out of the checkout's name, the repository's key and the lease's number.
pub(crate) fn resource_name(hub: &AbsPath, key: &str, id: &LeaseId) -> String {
    let plain = |text: &str| -> String {
        let letters = text.chars().map(|letter| match letter {
            'a'..='z' | '0'..='9' => letter,
            'A'..='Z' => letter.to_ascii_lowercase(),
            _ => '_',
        });
        letters.collect()
    };
    let hub: String = plain(&hub.name()).chars().take(16).collect();
    let hash = &key[key.len().saturating_sub(8)..];
    format!("burin_{hub}_{}_wt{}", plain(hash), id.number())
}
