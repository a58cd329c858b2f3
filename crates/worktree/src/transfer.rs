//! Transfer of uncommitted work from the checkout into a lease, and back.
//!
//! Invariant: a file that changed on both sides is never overwritten; if there is one, nothing is
//! written at all.

use std::path::PathBuf;

use base::AbsPath;
use git::lease::{MainRepo, StatusProbe, TouchedFile};

use crate::error::Error;
use crate::fill::to_path;
use crate::lease::Lease;
use crate::list::LeaseSnapshot;
use crate::open_beneath::{PathContent, RootedDir};

/// Maximum size of a transferred file, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 30;

impl Lease {
    /// Copies uncommitted changes of the checkout `main_repo` into the lease, and returns their paths.
    /// Files with merge conflicts keep their committed version.
    pub fn import_changes(&self, main_repo: &AbsPath) -> Result<Vec<PathBuf>, Error> {
        let opened = MainRepo::open(main_repo)?;
        let head = opened.head()?;
        let index = opened.index_file();
        let status = StatusProbe::new(main_repo, opened.workdir(), &index, &[])?;
        let unmerged = opened.unmerged()?;
        let mut touched = status.touched_since(&head.commit)?;
        touched.retain(|one| unmerged.binary_search(&one.path).is_err());
        transfer(&opened, &head.commit, touched, opened.workdir(), &self.root)
    }

    /// Copies all changes of the lease since its base, committed or not, into the checkout `main_repo`,
    /// and returns their paths. The checkout's index and branch stay the same.
    pub fn export_changes(&self, main_repo: &AbsPath) -> Result<Vec<PathBuf>, Error> {
        let opened = MainRepo::open(main_repo)?;
        let base_index = self
            .folder
            .join("../../base")
            .join(&self.tree)
            .join("layer/git/index");
        let snapshot = LeaseSnapshot::of_lease(
            &self.main_repo,
            &self.folder,
            self.id.as_str(),
            &base_index,
            self.backend,
        )?;
        let touched = snapshot.status.touched_since(&self.base)?;
        transfer(&opened, &self.base, touched, &self.root, opened.workdir())
    }
}

/// Transfers `touched` between two trees that both started from `commit`.
fn transfer(
    main_repo: &MainRepo,
    commit: &str,
    touched: Vec<TouchedFile>,
    from: &AbsPath,
    to: &AbsPath,
) -> Result<Vec<PathBuf>, Error> {
    let open = |path: &AbsPath| {
        RootedDir::open(path.as_path()).map_err(Error::file("open", path.as_path()))
    };
    let (source, target) = (open(from)?, open(to)?);
    let mut conflicts = Vec::new();
    let mut carried = Vec::new();
    for one in touched.into_iter().filter(|one| !one.is_repository) {
        let path = to_path(&one.path);
        let new = source
            .read_entry(&path, MAX_FILE_BYTES)
            .map_err(Error::file("read", &path))?;
        let now = target
            .read_entry(&path, MAX_FILE_BYTES)
            .map_err(Error::file("read", &path))?;
        if new == now {
            continue;
        }
        let old = main_repo.committed(commit, &one.path);
        if is_as_committed(&now, old.as_ref()) && is_transferable(&new) {
            carried.push((path, new))
        } else {
            conflicts.push(path.to_string_lossy().into_owned())
        }
    }
    if !conflicts.is_empty() {
        return Err(Error::Conflicts(conflicts));
    }
    // Removals come first: a folder may take the place of a file.
    carried.sort_by_key(|(_, new)| *new != PathContent::Absent);
    for (path, new) in &carried {
        target
            .write_entry(path, new)
            .map_err(Error::file("write", path))?;
    }
    Ok(carried.into_iter().map(|(path, _)| path).collect())
}

/// Whether an entry can be carried over: a removal, a regular file or a symlink.
fn is_transferable(held: &PathContent) -> bool {
    matches!(
        held,
        PathContent::Absent | PathContent::File(..) | PathContent::Link(_)
    )
}

/// Whether an entry equals the committed one, apart from line endings.
fn is_as_committed(now: &PathContent, old: Option<&(Vec<u8>, u32)>) -> bool {
    match (now, old) {
        (PathContent::Absent, None) => true,
        (PathContent::File(now, _), Some((old, mode))) if *mode != 0o120000 => {
            now == old || without_returns(now) == without_returns(old)
        }
        (PathContent::Link(now), Some((old, 0o120000))) => now == old,
        _ => false,
    }
}

fn without_returns(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| *byte != b'\r').collect()
}
