//! Uncommitted work handed over: from the checkout into a lease, and back.
//!
//! Invariant: a file that changed on both sides is never overwritten; where there is one, nothing is written at all.

use std::path::PathBuf;

use base::AbsPath;
use git::lease::{Glance, Hub, Touched};

use crate::beneath::{Beneath, Held};
use crate::error::Error;
use crate::fill::to_path;
use crate::lease::Lease;
use crate::list::Look;

/// Larger files are not carried: in bytes.
const LARGEST: u64 = 1 << 30;

impl Lease {
    /// Writes what is not committed in the checkout `hub` into the lease, uncommitted; the names of the files. Files that
    /// a merge left in conflict stay as they were committed.
    pub fn carry_in(&self, hub: &AbsPath) -> Result<Vec<PathBuf>, Error> {
        let opened = Hub::open(hub)?;
        let head = opened.head()?;
        let index = opened.index_file();
        let glance = Glance::new(hub, opened.workdir(), &index, &[])?;
        let unmerged = opened.unmerged()?;
        let mut touched = glance.touched_since(&head.commit)?;
        touched.retain(|one| unmerged.binary_search(&one.path).is_err());
        carry(&opened, &head.commit, touched, opened.workdir(), &self.root)
    }

    /// Writes everything the lease changed since its base, committed or not, into the checkout `hub`; the names of the
    /// files. The checkout's index and branch stay as they are.
    pub fn carry_out(&self, hub: &AbsPath) -> Result<Vec<PathBuf>, Error> {
        let opened = Hub::open(hub)?;
        let base_index = self
            .folder
            .join("../../base")
            .join(&self.tree)
            .join("layer/git/index");
        let look = Look::into_lease(
            &self.hub,
            &self.folder,
            self.id.as_str(),
            &base_index,
            self.rung,
        )?;
        let touched = look.glance.touched_since(&self.base)?;
        carry(&opened, &self.base, touched, &self.root, opened.workdir())
    }
}

/// Carries `touched` from one tree to another, both of which began as `commit`.
fn carry(
    hub: &Hub,
    commit: &str,
    touched: Vec<Touched>,
    from: &AbsPath,
    to: &AbsPath,
) -> Result<Vec<PathBuf>, Error> {
    let open =
        |path: &AbsPath| Beneath::open(path.as_path()).map_err(Error::file("open", path.as_path()));
    let (source, target) = (open(from)?, open(to)?);
    let mut conflicts = Vec::new();
    let mut carried = Vec::new();
    for one in touched.into_iter().filter(|one| !one.is_repository) {
        let path = to_path(&one.path);
        let new = source
            .held(&path, LARGEST)
            .map_err(Error::file("read", &path))?;
        let now = target
            .held(&path, LARGEST)
            .map_err(Error::file("read", &path))?;
        if new == now {
            continue;
        }
        let old = hub.committed(commit, &one.path);
        match is_as_committed(&now, old.as_ref()) && is_carried(&new) {
            true => carried.push((path, new)),
            false => conflicts.push(path.to_string_lossy().into_owned()),
        }
    }
    if !conflicts.is_empty() {
        return Err(Error::Conflicts(conflicts));
    }
    // What is gone goes first: a folder may stand where a file was.
    carried.sort_by_key(|(_, new)| *new != Held::Absent);
    for (path, new) in &carried {
        target.put(path, new).map_err(Error::file("write", path))?;
    }
    Ok(carried.into_iter().map(|(path, _)| path).collect())
}

fn is_carried(held: &Held) -> bool {
    matches!(held, Held::Absent | Held::File(..) | Held::Link(_))
}

/// Whether what is there is what was committed, line ends aside.
fn is_as_committed(now: &Held, old: Option<&(Vec<u8>, u32)>) -> bool {
    match (now, old) {
        (Held::Absent, None) => true,
        (Held::File(now, _), Some((old, mode))) if *mode != 0o120000 => {
            now == old || without_returns(now) == without_returns(old)
        }
        (Held::Link(now), Some((old, 0o120000))) => now == old,
        _ => false,
    }
}

fn without_returns(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| *byte != b'\r').collect()
}
