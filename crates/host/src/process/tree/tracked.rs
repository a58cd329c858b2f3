//! Membership of a tree by repeated looks at the process table.
//!
//! Invariant: a process that was a member in one look is a member until it ends, whatever it does
//! to its group, session or parents; so are the children it forks until then.
//! Invariant: no process becomes a member because it received the id of one that has ended.

use std::collections::{HashMap, HashSet};

use super::table::ProcessEntry;

/// Looks for which a process that has ended is remembered as a parent. A list that is not taken in
/// one instant can miss a child in the first.
const LOOKS_AFTER_END: u8 = 4;

/// The processes of one tree that were seen so far.
#[derive(Debug)]
pub(super) struct TrackedTree {
    first: i32,
    first_identity: Option<u64>,
    /// Members by identity, with the number of looks since they were last in the table.
    known: HashMap<u64, u8>,
    /// Members that may lead a group or session: the id, and the identity of its holder.
    leaders: HashMap<i32, Option<u64>>,
    /// A process that is never a member; neither are its ancestors and descendants.
    spared: Option<i32>,
}

/// The result of a look.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::process) struct Look {
    /// The living members.
    pub(in crate::process) members: Vec<ProcessEntry>,
    /// Identities of members that no earlier look had.
    pub(in crate::process) new: Vec<u64>,
    /// Identities that are forgotten from now on.
    pub(in crate::process) gone: Vec<u64>,
}

impl TrackedTree {
    /// Creates a tree of the process `first`, which leads its group. Without an identity it has
    /// ended, and only its group is known.
    pub(super) fn new(first: i32, identity: Option<u64>) -> Self {
        Self {
            first,
            first_identity: identity,
            known: identity.into_iter().map(|identity| (identity, 0)).collect(),
            leaders: HashMap::from([(first, identity)]),
            spared: None,
        }
    }

    /// Adds members that another program saw.
    pub(super) fn with_known(mut self, members: impl IntoIterator<Item = u64>) -> Self {
        self.known
            .extend(members.into_iter().map(|identity| (identity, 0)));
        self
    }

    /// Excludes a process with its ancestors and descendants.
    pub(super) fn sparing(mut self, pid: i32) -> Self {
        self.spared = Some(pid);
        self
    }

    /// Returns the id of the first process.
    pub(super) fn first(&self) -> i32 {
        self.first
    }

    /// Returns the identity of the first process; `None` if it had ended when the tree was created.
    pub(super) fn first_identity(&self) -> Option<u64> {
        self.first_identity
    }

    /// Returns whether a process outside the tree may share the group of the first one, given a
    /// list of all processes of the machine.
    pub(super) fn shares_group(&self, all: impl FnOnce() -> Vec<ProcessEntry>) -> bool {
        if self.spared.is_none() {
            return false;
        }
        let all = all();
        let spared = self.spared(&all);
        let mut group = all.iter().filter(|entry| entry.group == self.first);
        group.any(|entry| spared.contains(&entry.identity))
    }

    fn spared(&self, all: &[ProcessEntry]) -> HashSet<u64> {
        self.spared.map(|pid| family(all, pid)).unwrap_or_default()
    }

    /// Returns whether a look has seen this process as a member.
    #[cfg(test)]
    pub(super) fn knows(&self, identity: u64) -> bool {
        self.known.contains_key(&identity)
    }

    /// Finds the members among all processes of the machine.
    pub(super) fn look(&mut self, all: &[ProcessEntry]) -> Look {
        let spared = self.spared(all);
        let all: Vec<&ProcessEntry> = all
            .iter()
            .filter(|entry| !spared.contains(&entry.identity))
            .collect();
        let new = self.join(&all);
        let gone = self.forget(&all);
        let is_living =
            |entry: &&&ProcessEntry| !entry.is_zombie && self.known.contains_key(&entry.identity);
        let members = all.iter().filter(is_living).map(|entry| **entry).collect();
        Look { members, new, gone }
    }

    fn join(&mut self, all: &[&ProcessEntry]) -> Vec<u64> {
        let holders: HashMap<i32, u64> = all
            .iter()
            .map(|entry| (entry.pid, entry.identity))
            .collect();
        let mut new = Vec::new();
        loop {
            let before = new.len();
            for entry in all {
                if !self.known.contains_key(&entry.identity) && self.belongs(entry, &holders) {
                    self.known.insert(entry.identity, 0);
                    new.push(entry.identity);
                }
                if self.known.contains_key(&entry.identity) {
                    self.leaders.insert(entry.pid, Some(entry.identity));
                }
            }
            if new.len() == before {
                return new;
            }
        }
    }

    fn belongs(&self, entry: &ProcessEntry, holders: &HashMap<i32, u64>) -> bool {
        // Another process with the leader's id means that the id was reused.
        let is_led = |id: i32| {
            self.leaders.get(&id).is_some_and(|leader| {
                let holder = holders.get(&id);
                holder.is_none_or(|holder| leader.as_ref() == Some(holder))
            })
        };
        let has_parent = entry
            .parent
            .is_some_and(|parent| self.known.contains_key(&parent));
        has_parent || is_led(entry.group) || is_led(entry.session)
    }

    /// Drops members that ended some looks ago, and ids that no member's group or session has.
    fn forget(&mut self, all: &[&ProcessEntry]) -> Vec<u64> {
        let present: HashSet<u64> = all.iter().map(|entry| entry.identity).collect();
        let mut gone = Vec::new();
        let first = self.first_identity;
        self.known.retain(|identity, looks| {
            if present.contains(identity) {
                *looks = 0;
                return true;
            }
            *looks += 1;
            let is_kept = *looks <= LOOKS_AFTER_END || Some(*identity) == first;
            if !is_kept {
                gone.push(*identity);
            }
            *looks = (*looks).min(LOOKS_AFTER_END);
            is_kept
        });
        let members = all
            .iter()
            .filter(|entry| self.known.contains_key(&entry.identity));
        let used: HashSet<i32> = members
            .flat_map(|entry| [entry.pid, entry.group, entry.session])
            .collect();
        let first = self.first;
        self.leaders
            .retain(|id, _| *id == first || used.contains(id));
        gone
    }
}

/// Returns the identities of a process, its ancestors and its descendants.
fn family(all: &[ProcessEntry], pid: i32) -> HashSet<u64> {
    let parent_of = |identity: u64| {
        let entry = all.iter().find(|entry| entry.identity == identity);
        entry.and_then(|entry| entry.parent)
    };
    let own = all.iter().find(|entry| entry.pid == pid);
    let Some(own) = own.map(|entry| entry.identity) else {
        return HashSet::new();
    };
    let mut below = HashSet::from([own]);
    loop {
        let is_child = |entry: &&ProcessEntry| {
            let parent = entry.parent;
            parent.is_some_and(|parent| below.contains(&parent)) && !below.contains(&entry.identity)
        };
        let children = all.iter().filter(is_child);
        let children: Vec<u64> = children.map(|entry| entry.identity).collect();
        if children.is_empty() {
            break;
        }
        below.extend(children);
    }
    let mut above = HashSet::new();
    let mut next = parent_of(own);
    while let Some(parent) = next.filter(|parent| above.insert(*parent)) {
        next = parent_of(parent);
    }
    below.extend(above);
    below
}

#[cfg(test)]
mod tests;
