//! The lifetime of leases' mounts, and removal of those that killed programs left.
//!
//! A lease without an overlay is a plain folder, present at all times.
//! Root's mounts are visible to all processes and outlive their creator. A user's lease stays
//! mounted, so that editors and terminals reach it; any other is mounted while it is held.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::dir_tree;
use crate::error::Error;
use crate::json_file;
use crate::lease::LeaseId;
use crate::mount::{self, MountPrivilege, current_privilege};
use crate::owner::{self, Owner};
use crate::probe::{PROBE_PREFIX, is_left_over};
use crate::record::LeaseRecord;

/// Detaches the mounts of a lease that was mounted to be read; a user's lease that every process
/// sees stays mounted. The caller holds the lease's lock.
pub(crate) fn unmount_unless_kept(record: &LeaseRecord, folder: &Path) -> Result<(), Error> {
    // Mounts in our namespace are invisible to others; the next holder of the lease makes its
    // own.
    let is_seen = current_privilege() == MountPrivilege::Root && record.owner == Owner::Person;
    if is_seen {
        Ok(())
    } else {
        mount::detach_below(folder).map_err(Error::file("unmount below", folder))
    }
}

/// Detaches the mounts of killed programs below `top`, the folder with the leases of all
/// repositories.
pub(crate) fn clear_mounts(top: &Path) -> Result<(), Error> {
    // In a namespace there are only our own mounts and those of the machine, which must stay.
    if current_privilege() != MountPrivilege::Root {
        return Ok(());
    }
    let below = mount::mounted_below(top);
    if below.is_empty() {
        return Ok(());
    }
    // The kernel lists canonical paths.
    let top = top.canonicalize().map_err(Error::file("look at", top))?;
    let named: BTreeSet<PathBuf> = below
        .iter()
        .filter_map(|place| owning_folder(&top, place))
        .collect();
    for folder in named {
        let is_probe = folder
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(PROBE_PREFIX));
        if is_probe {
            mount::detach_below(&folder).map_err(Error::file("unmount below", &folder))?;
            dir_tree::remove_all(&folder).map_err(Error::file("clear", &folder))?;
            continue;
        }
        let record: Option<LeaseRecord> = json_file::read(&folder.join("lease.json"));
        if record.is_some_and(|record| record.owner == Owner::Person) {
            continue;
        }
        // The lock is held until the mount is detached, so that no process takes the lease
        // meanwhile.
        let Some(_lock) = owner::try_lock(&folder)? else {
            continue;
        };
        mount::detach_below(&folder).map_err(Error::file("unmount below", &folder))?;
    }
    Ok(())
}

/// The folder of the lease, or of the abandoned trial mount, that contains a mount point.
fn owning_folder(top: &Path, place: &Path) -> Option<PathBuf> {
    let mut names = place.strip_prefix(top).ok()?.components();
    let repository = top.join(names.next()?);
    let inner = names.next()?;
    let name = inner.as_os_str().to_string_lossy();
    if name.starts_with(PROBE_PREFIX) {
        return is_left_over(&name).then(|| repository.join(inner));
    }
    let lease = names.next().filter(|_| name == "leases")?;
    LeaseId::parse(&lease.as_os_str().to_string_lossy())?;
    Some(repository.join(inner).join(lease))
}
