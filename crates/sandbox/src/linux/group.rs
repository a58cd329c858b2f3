//! Control groups: memory and processes counted for a whole tree, where this user may make groups.
//!
//! Limits: where no group can be made, memory is not limited; the number of processes is limited all
//! the same, by the namespace of users.
#![expect(
    clippy::disallowed_methods,
    reason = "control groups are switches of the kernel, not files of a person"
)]

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{Layer, Limits};

/// One group, in one tree or two; removed when dropped.
#[derive(Debug)]
pub(super) struct Group {
    folders: Vec<PathBuf>,
    /// Whoever writes `0` here is counted.
    counters: Vec<OwnedFd>,
}

const TREES: &str = "/sys/fs/cgroup";

static MADE: AtomicU32 = AtomicU32::new(0);

impl Group {
    /// A group for these limits; `None` when there is nothing to count or nowhere to do it.
    pub(super) fn new(limits: &Limits, without: &BTreeSet<Layer>) -> Option<Self> {
        let memory = limits.memory?;
        if without.contains(&Layer::Limits) {
            return None;
        }
        sweep();
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("burin-{}-{number}", std::process::id());
        let mut group = Self {
            folders: Vec::new(),
            counters: Vec::new(),
        };
        group.limit(
            &unified().join(&name),
            &[("memory.max", memory), ("memory.swap.max", 0)],
        );
        if group.folders.is_empty() {
            let tree = Path::new(TREES).join("memory").join(&name);
            group.limit(&tree, &[("memory.limit_in_bytes", memory)]);
        }
        (!group.counters.is_empty()).then_some(group)
    }

    pub(super) fn counters(&self) -> impl Iterator<Item = &OwnedFd> {
        self.counters.iter()
    }

    /// Makes the folder and sets the first value; the others where the system knows them.
    fn limit(&mut self, folder: &Path, values: &[(&str, u64)]) {
        if fs::create_dir(folder).is_err() {
            return;
        }
        let written: Vec<bool> = values
            .iter()
            .map(|(name, value)| fs::write(folder.join(name), value.to_string()).is_ok())
            .collect();
        let counter = fs::OpenOptions::new()
            .write(true)
            .open(folder.join("cgroup.procs"));
        match counter {
            Ok(counter) if written.first() == Some(&true) => {
                self.counters.push(counter.into());
                self.folders.push(folder.to_owned());
            }
            _ => remove(folder),
        }
    }
}

fn unified() -> PathBuf {
    let mine = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mine = mine.lines().find_map(|line| line.strip_prefix("0::/"));
    Path::new(TREES).join(mine.unwrap_or_default())
}

fn remove(folder: &Path) {
    if let Err(error) = fs::remove_dir(folder) {
        log::debug!("the control group {} stays: {error}", folder.display());
    }
}

/// Removes the groups of programs that were killed.
fn sweep() {
    for tree in [unified(), Path::new(TREES).join("memory")] {
        let Ok(entries) = fs::read_dir(&tree) else {
            continue;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let process = name
                .strip_prefix("burin-")
                .and_then(|rest| rest.split('-').next());
            let Some(process) = process.and_then(|text| text.parse::<u32>().ok()) else {
                continue;
            };
            if !Path::new("/proc").join(process.to_string()).exists() {
                remove(&entry.path());
            }
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in &self.folders {
            remove(folder);
        }
    }
}
