//! The state behind `FakeFiles`: a flat map from paths to nodes.
//!
//! Invariant: the parent of every path in the map is in the map and is a folder.
//! Invariant: no two paths in the map are the same by the rules for names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, PathBuf};

use base::{AbsPath, NameRules};

use super::FakeOperation;
use crate::error::ErrorReason;
use crate::stat::{FileKind, Stamp, Stat};
use crate::watch::{Ignore, WatchEvent};

/// The kernel's own limit.
const MAX_LINKS: usize = 40;

#[derive(Clone, Debug)]
pub(super) enum FakeNode {
    Folder { mode: u32 },
    File(FileNode),
    Link(PathBuf),
    Other,
}

#[derive(Clone, Debug)]
pub(super) struct FileNode {
    pub(super) content: Vec<u8>,
    pub(super) mode: u32,
    inode: u64,
    mtime_ns: i128,
}

pub(super) struct InjectedFault {
    pub(super) operation: FakeOperation,
    /// The number of calls of its kind until the fault occurs; 1 is the next.
    pub(super) nth: usize,
    pub(super) reason: ErrorReason,
    pub(super) is_lasting: bool,
}

pub(super) struct FakeWatch {
    pub(super) root: AbsPath,
    pub(super) ignore: Ignore,
    pub(super) visible: Vec<AbsPath>,
    pub(super) sender: async_channel::Sender<WatchEvent>,
}

pub(super) struct FakeFileSystem {
    pub(super) names: NameRules,
    pub(super) nodes: BTreeMap<AbsPath, FakeNode>,
    pub(super) faults: Vec<InjectedFault>,
    pub(super) watches: Vec<FakeWatch>,
    pub(super) locks: BTreeSet<AbsPath>,
    pub(super) trashed: Vec<AbsPath>,
    /// Grows with every change; serves as inode and time.
    ticks: u64,
}

impl Default for FakeFileSystem {
    fn default() -> Self {
        let root = AbsPath::new("/").expect("the root is absolute");
        Self {
            names: NameRules::EXACT,
            nodes: BTreeMap::from([(root, FakeNode::Folder { mode: 0o755 })]),
            faults: Vec::new(),
            watches: Vec::new(),
            locks: BTreeSet::new(),
            trashed: Vec::new(),
            ticks: 0,
        }
    }
}

impl FakeFileSystem {
    /// Counts a call of `operation` and returns the reason of the injected fault that is due with
    /// it, if any. The fault is removed unless it lasts.
    pub(super) fn strike(&mut self, operation: FakeOperation) -> Option<ErrorReason> {
        let mut struck = None;
        self.faults.retain_mut(|fault| {
            if fault.operation != operation {
                return true;
            }
            if fault.nth > 1 {
                fault.nth -= 1;
                return true;
            }
            struck = Some(fault.reason.clone());
            fault.is_lasting
        });
        struck
    }

    /// Resolves all links of a path that must exist.
    pub(super) fn resolve(&self, path: &AbsPath) -> Result<AbsPath, ErrorReason> {
        let resolved = self.resolve_name(path)?;
        if self.nodes.contains_key(&resolved) {
            Ok(resolved)
        } else {
            Err(ErrorReason::NotFound)
        }
    }

    /// Resolves all links of a path whose last component need not exist.
    pub(super) fn resolve_name(&self, path: &AbsPath) -> Result<AbsPath, ErrorReason> {
        let mut left = MAX_LINKS;
        self.follow(path, &mut left)
    }

    /// Resolves all links of a path whose last component need not exist. `left` is the number of
    /// links that may still be followed; more fail with `LinkLoop`.
    fn follow(&self, path: &AbsPath, left: &mut usize) -> Result<AbsPath, ErrorReason> {
        let mut real = AbsPath::new("/").expect("the root is absolute");
        let mut components = path.as_path().components().peekable();
        while let Some(component) = components.next() {
            let Component::Normal(name) = component else {
                continue;
            };
            let next = self.stored_child(&real, std::path::Path::new(name));
            real = match self.nodes.get(&next) {
                Some(FakeNode::Link(target)) => {
                    *left = left.checked_sub(1).ok_or(ErrorReason::LinkLoop)?;
                    self.follow(&real.join(target), left)?
                }
                Some(FakeNode::Folder { .. }) => next,
                Some(FakeNode::File(_) | FakeNode::Other) if components.peek().is_some() => {
                    return Err(ErrorReason::NotAFolder);
                }
                None if components.peek().is_some() => return Err(ErrorReason::NotFound),
                Some(FakeNode::File(_) | FakeNode::Other) | None => next,
            };
        }
        Ok(real)
    }

    /// Returns the entry of a folder that has this name by the rules, as it is stored.
    fn stored_child(&self, folder: &AbsPath, name: &std::path::Path) -> AbsPath {
        let given = folder.join(name);
        if self.names == NameRules::EXACT || self.nodes.contains_key(&given) {
            return given;
        }
        let is_same = |child: &&AbsPath| {
            child.parent().as_ref() == Some(folder) && self.names.is_same(child.file_name(), name)
        };
        self.nodes.keys().find(is_same).cloned().unwrap_or(given)
    }

    /// Returns the path with stored names; links are not followed.
    pub(super) fn stored_path(&self, path: &AbsPath) -> AbsPath {
        let root = AbsPath::new("/").expect("the root is absolute");
        let components = path.as_path().components().skip(1);
        components.fold(root, |folder, name| {
            self.stored_child(&folder, name.as_os_str().as_ref())
        })
    }

    /// Resolves the links in a path's folder, but not its last component.
    pub(super) fn own_name(&self, path: &AbsPath) -> Result<AbsPath, ErrorReason> {
        match path.parent() {
            None => Ok(path.clone()),
            Some(parent) => {
                let folder = self.resolve(&parent)?;
                if !matches!(self.nodes.get(&folder), Some(FakeNode::Folder { .. })) {
                    return Err(ErrorReason::NotAFolder);
                }
                Ok(self.stored_child(&folder, path.file_name().as_ref()))
            }
        }
    }

    /// Returns the state of a path, following links. A link that leads nowhere is a `BrokenLink`; a
    /// path without an entry fails with `NotFound`.
    pub(super) fn stat(&self, path: &AbsPath) -> Result<Stat, ErrorReason> {
        let resolved = match self.resolve(path) {
            Ok(resolved) => resolved,
            Err(reason) => {
                let own = self.own_name(path)?;
                return match self.nodes.get(&own) {
                    Some(FakeNode::Link(_)) => Ok(stat(FileKind::BrokenLink, 0o777, None)),
                    _ => Err(reason),
                };
            }
        };
        match self.nodes.get(&resolved) {
            Some(FakeNode::File(file)) => Ok(stat(FileKind::File, file.mode, Some(file))),
            Some(FakeNode::Folder { mode }) => Ok(stat(FileKind::Folder, *mode, None)),
            Some(FakeNode::Other) => Ok(stat(FileKind::Other, 0o644, None)),
            Some(FakeNode::Link(_)) | None => Err(ErrorReason::NotFound),
        }
    }

    /// Returns the content of a file, following links; `None` if there is no file.
    pub(super) fn content(&self, path: &AbsPath) -> Option<Vec<u8>> {
        match self.nodes.get(&self.resolve(path).ok()?)? {
            FakeNode::File(file) => Some(file.content.clone()),
            FakeNode::Folder { .. } | FakeNode::Link(_) | FakeNode::Other => None,
        }
    }

    /// Writes a file and its parent folders, following links.
    pub(super) fn write(&mut self, path: &AbsPath, content: Vec<u8>) {
        let path = self.resolve_name(path).unwrap_or_else(|_| path.clone());
        let mtime_ns = self.tick();
        if let Some(FakeNode::File(file)) = self.nodes.get_mut(&path) {
            file.content = content;
            file.mtime_ns = mtime_ns;
            self.changed(&path);
        } else {
            let node = self.new_file(content, 0o644);
            self.insert(&path, node);
        }
    }

    pub(super) fn new_file(&mut self, content: Vec<u8>, mode: u32) -> FakeNode {
        let mtime_ns = self.tick();
        FakeNode::File(FileNode {
            content,
            mode,
            inode: self.ticks,
            mtime_ns,
        })
    }

    pub(super) fn insert(&mut self, path: &AbsPath, node: FakeNode) {
        let path = &self.stored_path(path);
        if let Some(parent) = path.parent() {
            self.add_folders(&parent);
        }
        self.nodes.insert(path.clone(), node);
        self.changed(path);
    }

    pub(super) fn add_folders(&mut self, path: &AbsPath) {
        let path = &self.stored_path(path);
        if self.nodes.contains_key(path) {
            return;
        }
        if let Some(parent) = path.parent() {
            self.add_folders(&parent);
        }
        self.nodes
            .insert(path.clone(), FakeNode::Folder { mode: 0o755 });
        self.changed(path);
    }

    pub(super) fn remove(&mut self, path: &AbsPath) {
        self.nodes.retain(|node, _| !node.is_within(path));
        self.changed(path);
    }

    pub(super) fn set_mode(&mut self, path: &AbsPath, new: u32) {
        let Ok(path) = self.resolve(path) else { return };
        match self.nodes.get_mut(&path) {
            Some(FakeNode::File(FileNode { mode, .. }) | FakeNode::Folder { mode }) => *mode = new,
            Some(FakeNode::Link(_) | FakeNode::Other) | None => {}
        }
    }

    /// Returns everything at `path` and below, keyed by the path relative to `path`.
    pub(super) fn descendants(&self, path: &AbsPath) -> Vec<(PathBuf, FakeNode)> {
        let below = self.nodes.iter();
        below
            .filter_map(|(node_path, node)| {
                Some((node_path.relative_to(path)?.to_owned(), node.clone()))
            })
            .collect()
    }

    pub(super) fn changed(&mut self, path: &AbsPath) {
        for watch in &self.watches {
            if watch.wants(path) {
                send(watch, &WatchEvent::Changed(vec![path.clone()]));
            }
        }
    }

    pub(super) fn announce(&self, event: &WatchEvent) {
        for watch in &self.watches {
            send(watch, event);
        }
    }

    fn tick(&mut self) -> i128 {
        self.ticks += 1;
        i128::from(self.ticks) * 1_000_000
    }
}

impl FakeWatch {
    /// Returns whether changes of a path are reported: it is visible, or at or below the root with
    /// neither it nor a folder on the way ignored.
    fn wants(&self, path: &AbsPath) -> bool {
        if self.visible.iter().any(|visible| visible == path) {
            return true;
        }
        let Some(below) = path.relative_to(&self.root) else {
            return false;
        };
        let mut folder = self.root.as_path().to_path_buf();
        let count = below.components().count();
        !below.components().enumerate().any(|(ix, component)| {
            folder.push(component);
            (self.ignore)(&folder, ix + 1 < count)
        })
    }
}

// A test that reads its events never fills the channel; one that does not misses some.
fn send(watch: &FakeWatch, event: &WatchEvent) {
    watch.sender.try_send(event.clone()).ok();
}

fn stat(kind: FileKind, mode: u32, file: Option<&FileNode>) -> Stat {
    Stat {
        kind,
        stamp: Stamp {
            device: 1,
            inode: file.map_or(0, |file| file.inode),
            mtime_ns: file.map_or(0, |file| file.mtime_ns),
            size: file.map_or(0, |file| file.content.len() as u64),
        },
        mode,
        links: 1,
        is_writable: mode & 0o222 != 0,
    }
}
