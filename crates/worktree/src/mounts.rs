//! Mounts come and go with those who hold leases; what a killed program left mounted is taken away.
//!
//! What root mounts is seen by every program and outlives the one that mounted it. A person's lease stays mounted, so
//! that editors and terminals reach it; any other is mounted while it is held.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::inside::{Standing, standing};
use crate::lease::LeaseId;
use crate::mount;
use crate::owner::{self, Owner};
use crate::pool::Pool;
use crate::record::{self, LeaseRecord};
use crate::sweep;

/// How the folders begin in which something is mounted for a moment; the number of a process follows, and a dot before
/// anything else.
pub(crate) const PROBE: &str = ".probe-";

impl Pool {
    /// Takes away what looking into a lease mounted. Called with the lease's lock held.
    pub(crate) fn unmount_unless_kept(
        &self,
        record: &LeaseRecord,
        folder: &Path,
    ) -> Result<(), Error> {
        // In a namespace of our own nobody else sees the mount, and whoever takes the lease makes one of theirs.
        let is_seen = standing() == Standing::Root && record.owner == Owner::Person;
        match is_seen {
            true => Ok(()),
            false => mount::detach_below(folder).map_err(Error::file("unmount below", folder)),
        }
    }

    /// Takes away what killed programs left mounted, of every repository.
    pub(crate) fn clear_mounts(&self) -> Result<(), Error> {
        // In a namespace there are only mounts of our own, and those of the machine, which are not ours to touch.
        if standing() != Standing::Root {
            return Ok(());
        }
        let below = mount::mounted_below(&self.top);
        if below.is_empty() {
            return Ok(());
        }
        // The kernel names places without links.
        let top = self
            .top
            .canonicalize()
            .map_err(Error::file("look at", &self.top))?;
        let named: BTreeSet<PathBuf> = below
            .iter()
            .filter_map(|place| owner_of(&top, place))
            .collect();
        for folder in named {
            let is_probe = folder
                .file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with(PROBE));
            if is_probe {
                mount::detach_below(&folder).map_err(Error::file("unmount below", &folder))?;
                sweep::remove(&folder).map_err(Error::file("clear", &folder))?;
                continue;
            }
            let record: Option<LeaseRecord> = record::read(&folder.join("lease.json"));
            if record.is_some_and(|record| record.owner == Owner::Person) {
                continue;
            }
            // Held until it is unmounted, so that nobody takes it meanwhile.
            let Some(_lock) = owner::lock(&folder)? else {
                continue;
            };
            mount::detach_below(&folder).map_err(Error::file("unmount below", &folder))?;
        }
        Ok(())
    }
}

/// Whether a folder of that name is one in which a program that is gone wanted to mount something for a moment.
pub(crate) fn is_left_over(name: &str) -> bool {
    name.strip_prefix(PROBE).is_some_and(|rest| {
        let process = rest.split('.').next().unwrap_or(rest);
        !Path::new("/proc").join(process).exists()
    })
}

/// The folder of a lease, or of a trial of a program that is gone, in which something is mounted.
fn owner_of(top: &Path, place: &Path) -> Option<PathBuf> {
    let mut names = place.strip_prefix(top).ok()?.components();
    let repository = top.join(names.next()?);
    let inner = names.next()?;
    let name = inner.as_os_str().to_string_lossy();
    if name.starts_with(PROBE) {
        return is_left_over(&name).then(|| repository.join(inner));
    }
    let lease = names.next().filter(|_| name == "leases")?;
    LeaseId::parse(&lease.as_os_str().to_string_lossy())?;
    Some(repository.join(inner).join(lease))
}
