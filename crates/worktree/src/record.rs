//! The persistent records of leases and bases, in our own folders.

use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::backend::TreeBackend;
use crate::error::Error;
use crate::owner::Owner;
use crate::share::SharedPath;

/// The record of a lease. It is written last: a lease without it was never complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeaseRecord {
    pub(crate) version: u32,
    pub(crate) id: String,
    /// The checkout from which it was leased.
    #[serde(rename = "hub")]
    pub(crate) main_repo: String,
    /// The full id of the commit from which it started.
    pub(crate) commit: String,
    /// The commit at which its branch started; differs from `commit` only for restored archives.
    pub(crate) start: String,
    /// The tree of `start`, which names its base.
    pub(crate) tree: String,
    pub(crate) branch: String,
    #[serde(rename = "rung")]
    pub(crate) backend: TreeBackend,
    /// Whether its overlay uses the user's attributes.
    pub(crate) by_user: bool,
    pub(crate) ports: Range<u16>,
    /// Name for databases and similar resources.
    pub(crate) name: String,
    pub(crate) created_ms: u64,
    pub(crate) owner: Owner,
    /// The config of its git folder, as we wrote it.
    pub(crate) config: String,
    /// Whether the config names a file system monitor.
    #[serde(default)]
    pub(crate) has_monitor: bool,
    #[serde(default)]
    pub(crate) shared: Vec<SharedPath>,
    #[serde(default)]
    pub(crate) caveats: Vec<String>,
    /// The commit whose work is known to have landed.
    #[serde(default)]
    pub(crate) landed: Option<String>,
    /// The work that has landed completely.
    #[serde(default)]
    pub(crate) whole: Option<WholeLanding>,
}

impl LeaseRecord {
    /// Checks that the files of the lease in `folder` exist.
    pub(crate) fn check_files_exist(&self, folder: &Path) -> Result<(), Error> {
        let needed = match self.backend {
            // The files of the mount are in the layers below it.
            TreeBackend::Overlay => ["upper/tree", "upper/git"],
            _ => ["mnt/tree", "mnt/git"],
        };
        let missing = needed.map(|name| folder.join(name));
        let missing = missing.into_iter().find(|path| !path.is_dir());
        match missing {
            Some(path) => Err(Error::FilesMissing {
                id: self.id.clone(),
                path,
            }),
            None => Ok(()),
        }
    }
}

/// The work of a lease that has landed completely.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WholeLanding {
    /// The tree of the lease, as Git would store it.
    pub(crate) tree: String,
    /// The commit of the main repository that contains it.
    pub(crate) commit: String,
}

/// The record of a base. It is written last: a base without it is incomplete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BaseRecord {
    pub(crate) version: u32,
    pub(crate) tree: String,
    /// The rules by which its files were written; only bases with equal rules share files.
    pub(crate) fit: String,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    #[serde(default)]
    pub(crate) caveats: Vec<String>,
    /// The boot during which it was made.
    pub(crate) boot: String,
}

/// The version of the record format.
pub(crate) const VERSION: u32 = 1;

#[cfg(test)]
mod tests;
