//! Control groups: limits on memory and on the number of processes for a whole tree, if this user
//! may create groups.
//!
//! Limitations: if no group can be created, memory is not limited; the number of processes is still
//! limited by the user namespace, except for root. Newer kernels limit process ids instead; on
//! older ones root may create groups.
#![expect(
    clippy::disallowed_methods,
    reason = "control groups are a kernel interface, not a user's files"
)]

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use super::{kernel, plan};
use crate::{Policy, SandboxLayer};

/// One group in one or more hierarchies; removed on drop.
#[derive(Debug, Default)]
pub(super) struct ControlGroup {
    folders: Vec<PathBuf>,
    /// A process that writes `0` here joins the group.
    counters: Vec<OwnedFd>,
}

const TREES: &str = "/sys/fs/cgroup";

static MADE: AtomicU32 = AtomicU32::new(0);

/// Groups that still contained exiting processes.
static LEFT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

impl ControlGroup {
    /// Creates a group for the limits that nothing cheaper enforces; returns `None` if there is
    /// nothing to limit or no place to do it. Moving a process into a group makes the kernel wait
    /// for every CPU, which takes longer than the rest of a start.
    pub(super) fn new(policy: &Policy) -> Option<Self> {
        let limits = &policy.limits;
        let is_administrator = kernel::user_and_group().0 == 0;
        let is_counted = is_administrator && plan::pid_limit(policy).is_none();
        let processes = limits.processes.filter(|_| is_counted);
        if policy.without.contains(&SandboxLayer::Limits)
            || (limits.memory, processes) == (None, None)
        {
            return None;
        }
        static SWEPT: Once = Once::new();
        SWEPT.call_once(sweep);
        remove_left();
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("burin-{}-{number}", std::process::id());
        let mut group = Self::default();
        if let Some(memory) = limits.memory {
            let unified = [("memory.max", memory), ("memory.swap.max", 0)];
            group.limit("memory", &name, &unified, "memory.limit_in_bytes", memory);
        }
        if let Some(processes) = processes {
            let unified = [("pids.max", processes)];
            group.limit("pids", &name, &unified, "pids.max", processes);
        }
        (!group.counters.is_empty()).then_some(group)
    }

    pub(super) fn counters(&self) -> impl Iterator<Item = &OwnedFd> {
        self.counters.iter()
    }

    /// Sets a limit in the unified hierarchy of newer systems, or else in the hierarchy of that
    /// controller.
    fn limit(&mut self, kind: &str, name: &str, unified: &[(&str, u64)], file: &str, value: u64) {
        let Some(folder) = folder("") else {
            return self.limit_in(folder(kind), name, &[(file, value)]);
        };
        let controllers = fs::read_to_string(folder.join("cgroup.controllers"));
        if controllers.is_ok_and(|known| known.split_whitespace().any(|known| known == kind)) {
            self.limit_in(Some(folder), name, unified)
        } else {
            self.limit_in(self::folder(kind), name, &[(file, value)])
        }
    }

    /// Creates the folder and sets the first value; sets the others if the system supports them.
    fn limit_in(&mut self, tree: Option<PathBuf>, name: &str, values: &[(&str, u64)]) {
        let Some(folder) = tree.map(|tree| tree.join(name)) else {
            return;
        };
        if fs::create_dir(&folder).is_err() && !self.folders.contains(&folder) {
            return;
        }
        let written: Vec<bool> = values
            .iter()
            .map(|(name, value)| fs::write(folder.join(name), value.to_string()).is_ok())
            .collect();
        let mut counter = fs::OpenOptions::new();
        match counter.write(true).open(folder.join("cgroup.procs")) {
            Ok(counter) if written.first() == Some(&true) => {
                self.counters.push(counter.into());
                self.folders.push(folder);
            }
            _ => remove(folder),
        }
    }
}

/// Returns this process's own group in a controller's hierarchy, or in the unified one.
fn folder(kind: &str) -> Option<PathBuf> {
    let mine = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = mine.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (kinds, path) = rest.split_once(":/")?;
        kinds
            .split(',')
            .any(|known| known == kind)
            .then(|| path.to_owned())
    })?;
    let tree = match kind {
        "" if Path::new(TREES).join("unified").exists() => Path::new(TREES).join("unified"),
        kind => Path::new(TREES).join(kind),
    };
    Some(tree.join(path))
}

/// Removes a group now or, if a process in it is still exiting, before the next one is created.
fn remove(folder: PathBuf) {
    if fs::remove_dir(&folder).is_err() && folder.exists() {
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        left.push(folder);
    }
}

fn remove_left() {
    let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    left.retain(|folder| fs::remove_dir(folder).is_err() && folder.exists());
}

/// Removes the groups of programs that were killed.
fn sweep() {
    for tree in ["", "memory", "pids"].into_iter().filter_map(folder) {
        let entries = fs::read_dir(&tree).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let process = name
                .strip_prefix("burin-")
                .and_then(|rest| rest.split('-').next())
                .and_then(|text| text.parse::<u32>().ok());
            if process.is_some_and(|process| !Path::new("/proc").join(process.to_string()).exists())
                && let Err(error) = fs::remove_dir(entry.path())
            {
                log::debug!("the control group {name} stays: {error}");
            }
        }
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        self.folders.drain(..).for_each(remove);
    }
}
