//! A model of the disk beneath a profile: folders, links, names in any spelling, and system calls as
//! the operations that the sandbox sees.
//!
//! Rules: opening follows links before the check; a rename removes one path and creates another; a
//! second name creates a path and links the old one; a clone reads the old path. `/System/Volumes/Data`
//! leads to the same files as `/`.
//! Limits: permissions, mounts and hard links that existed before are not modelled.

use std::collections::BTreeMap;

use base::NameRules;

use super::evaluator::{Object, Question};

/// The entries by path; a link has a target.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    entries: BTreeMap<String, Option<String>>,
    /// Whether names are the same in any spelling.
    pub(super) folds: bool,
}

/// The greatest number of links on one path.
const MAX_LINKS: usize = 40;

impl Disk {
    pub(super) fn new(folds: bool) -> Self {
        let mut disk = Self {
            entries: BTreeMap::new(),
            folds,
        };
        for (link, target) in [
            ("/tmp", "private/tmp"),
            ("/var", "private/var"),
            ("/etc", "private/etc"),
        ] {
            disk.entries
                .insert(link.to_owned(), Some(target.to_owned()));
        }
        disk
    }

    /// Adds a file or folder, and the folders above.
    pub(super) fn add(&mut self, path: &str) {
        let mut at = String::new();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            at = format!("{at}/{name}");
            self.entries.entry(at.clone()).or_insert(None);
        }
    }

    pub(super) fn link(&mut self, path: &str, target: &str) {
        self.entries
            .insert(path.to_owned(), Some(target.to_owned()));
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        path == "/" || self.entries.contains_key(path)
    }

    /// Moves an entry with everything below it.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        let is_moved = |path: &str| path == from || path.starts_with(&format!("{from}/"));
        let moved: Vec<String> = self
            .entries
            .keys()
            .filter(|path| is_moved(path))
            .cloned()
            .collect();
        for path in moved {
            if let Some(entry) = self.entries.remove(&path) {
                self.entries
                    .insert(format!("{to}{}", &path[from.len()..]), entry);
            }
        }
    }

    pub(super) fn remove(&mut self, path: &str) {
        self.entries
            .retain(|known, _| known != path && !known.starts_with(&format!("{path}/")));
    }

    /// Returns the path that the kernel would know a file by.
    pub(super) fn real(&self, path: &str, follows_last: bool) -> String {
        let mut rest: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
        let mut at = String::new();
        let mut links = 0;
        while let Some(name) = rest.pop() {
            match name.as_str() {
                "" | "." => continue,
                ".." => {
                    at.truncate(at.rfind('/').unwrap_or(0));
                    continue;
                }
                _ => {}
            }
            let child = self.child(&at, &name);
            match self.entries.get(&child) {
                Some(Some(target)) if follows_last || !rest.is_empty() => {
                    links += 1;
                    if links > MAX_LINKS {
                        return child;
                    }
                    if target.starts_with('/') {
                        at.clear();
                    }
                    rest.extend(target.split('/').rev().map(str::to_owned));
                }
                _ => at = child,
            }
            if at == "/System/Volumes/Data" {
                at.clear();
            }
        }
        if at.is_empty() { "/".to_owned() } else { at }
    }

    /// Returns an existing entry that the name denotes, or the path of a new one.
    fn child(&self, folder: &str, name: &str) -> String {
        let exact = format!("{folder}/{name}");
        if !self.folds || self.entries.contains_key(&exact) {
            return exact;
        }
        let prefix = format!("{folder}/");
        let inner = self.entries.range(prefix.clone()..);
        let mut inner = inner.take_while(|(path, _)| path.starts_with(&prefix));
        let same = inner.find(|(path, _)| {
            let other = &path[prefix.len()..];
            !other.contains('/') && NameRules::FOLDING.is_same(other, name)
        });
        same.map_or(exact, |(path, _)| path.clone())
    }

    /// Returns the operations of a system call.
    pub(super) fn operations(&self, call: &Call<'_>) -> Vec<Question> {
        let at = |operation, path: &str| vec![Question::path(operation, path)];
        let follow = |path: &str| self.real(path, true);
        let keep = |path: &str| self.real(path, false);
        match *call {
            Call::Read(path) => at("file-read-data", &follow(path)),
            Call::Execute(path) => at("file-map-executable", &follow(path)),
            Call::Stat(path) => at("file-read-metadata", &follow(path)),
            Call::Write(path) if self.exists(&follow(path)) => at("file-write-data", &follow(path)),
            Call::Write(path) => at("file-write-create", &follow(path)),
            Call::Create(path) => at("file-write-create", &keep(path)),
            Call::Link(path, _) => at("file-write-create", &keep(path)),
            Call::Unlink(path) => at("file-write-unlink", &keep(path)),
            Call::Change(operation, path) => at(operation, &follow(path)),
            Call::Rename(from, to) => {
                let mut operations = at("file-write-unlink", &keep(from));
                operations.extend(at("file-write-create", &keep(to)));
                if self.exists(&keep(to)) {
                    operations.extend(at("file-write-unlink", &keep(to)));
                }
                operations
            }
            Call::SecondName(old, new) => {
                let mut operations = at("file-link", &follow(old));
                operations.extend(at("file-write-create", &keep(new)));
                operations
            }
            Call::Clone(old, new) => {
                let mut operations = at("file-read-data", &follow(old));
                operations.extend(at("file-clone", &follow(old)));
                operations.extend(at("file-write-create", &keep(new)));
                operations
            }
            Call::ConnectPath(path) => vec![Question {
                operation: "network-outbound",
                object: Object::RemoteSocket(follow(path)),
            }],
        }
    }

    /// Makes the change of a call that was allowed.
    pub(super) fn apply(&mut self, call: &Call<'_>) {
        match *call {
            Call::Write(path) => self.add(&self.real(path, true)),
            Call::Create(path) => self.add(&self.real(path, false)),
            Call::Link(path, target) => self.link(&self.real(path, false), target),
            Call::Unlink(path) => self.remove(&self.real(path, false)),
            Call::Rename(from, to) => self.rename(&self.real(from, false), &self.real(to, false)),
            Call::SecondName(_, new) | Call::Clone(_, new) => self.add(&self.real(new, false)),
            Call::Read(_)
            | Call::Execute(_)
            | Call::Stat(_)
            | Call::Change(..)
            | Call::ConnectPath(_) => {}
        }
    }
}

/// A system call on paths.
#[derive(Clone, Copy, Debug)]
pub(super) enum Call<'a> {
    Read(&'a str),
    Execute(&'a str),
    Stat(&'a str),
    /// Opening for writing, which creates a missing file.
    Write(&'a str),
    Create(&'a str),
    /// A symbolic link and its target.
    Link(&'a str, &'a str),
    Unlink(&'a str),
    Rename(&'a str, &'a str),
    /// A hard link from an old path.
    SecondName(&'a str, &'a str),
    Clone(&'a str, &'a str),
    /// An operation on the attributes of a file.
    Change(&'static str, &'a str),
    ConnectPath(&'a str),
}

#[test]
fn paths_lead_where_the_kernel_would_go() {
    let mut disk = Disk::new(true);
    disk.add("/Users/ada/Work/.git");
    disk.link("/Users/ada/Work/out", "../.ssh");
    for (path, real) in [
        ("/users/ADA/work/.GIT/config", "/Users/ada/Work/.git/config"),
        ("/System/Volumes/Data/Users/ada", "/Users/ada"),
        ("/tmp/x", "/private/tmp/x"),
        ("/Users/ada/Work/OUT/id", "/Users/ada/.ssh/id"),
        ("/Users/ada/Work/../Work/./x", "/Users/ada/Work/x"),
        ("/", "/"),
    ] {
        assert_eq!(disk.real(path, true), real, "{path}");
    }
    assert_eq!(disk.real("/tmp", false), "/tmp");
    disk.rename("/Users/ada/Work", "/Users/ada/w");
    assert!(disk.exists("/Users/ada/w/.git") && !disk.exists("/Users/ada/Work/.git"));
}
