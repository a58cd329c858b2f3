//! Implements `Files` for `FakeFiles`.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base::AbsPath;

use super::world::{FakeFileSystem, FakeNode, FakeWatch};
use super::{FakeFiles, FakeOperation};
use crate::content_hash::ContentHash;
use crate::error::{Error, ErrorReason};
use crate::files::{
    AppendLog, ExpectedContent, FileLock, Files, InterruptedSave, OnDisk, SaveMethod, SaveRequest,
    SaveResult,
};
use crate::listing::{ListedEntry, Listing};
use crate::stat::{FileKind, Stat};
use crate::watch::{WatchControl, WatchEvent, WatchRequest, Watcher};

const CHUNK: usize = 4096;
const EVENTS: usize = 4096;

impl Files for FakeFiles {
    fn read_with_stat(&self, path: &AbsPath, limit: u64) -> Result<(Vec<u8>, Stat), Error> {
        let doing = "read";
        let world = self.enter(FakeOperation::Read, path, doing)?;
        let failed = |reason| Error::new(path, doing, reason);
        world.resolve(path).map_err(failed)?;
        let stat = world.stat(path).map_err(failed)?;
        let Some(content) = world.content(path) else {
            return Err(failed(not_a_file(&stat)));
        };
        let size = content.len() as u64;
        if size > limit {
            return Err(failed(ErrorReason::TooLarge { size, limit }));
        }
        if stat.mode & 0o444 == 0 {
            return Err(failed(ErrorReason::PermissionDenied));
        }
        Ok((content, stat))
    }

    fn read_chunks(
        &self,
        path: &AbsPath,
        buffer: &mut Vec<u8>,
        take: &mut dyn FnMut(&mut Vec<u8>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let content = self.read(path, u64::MAX)?;
        for chunk in content.chunks(CHUNK) {
            buffer.extend_from_slice(chunk);
            if take(buffer).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn read_range(&self, path: &AbsPath, offset: u64, length: usize) -> Result<Vec<u8>, Error> {
        let doing = "read";
        let world = self.enter(FakeOperation::Read, path, doing)?;
        let failed = |reason| Error::new(path, doing, reason);
        let real = world.resolve(path).map_err(failed)?;
        let Some(FakeNode::File(file)) = world.nodes.get(&real) else {
            let stat = world.stat(path).map_err(failed)?;
            return Err(failed(not_a_file(&stat)));
        };
        if file.mode & 0o444 == 0 {
            return Err(failed(ErrorReason::PermissionDenied));
        }
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = file.content.get(start..).unwrap_or_default();
        Ok(rest[..length.min(rest.len())].to_vec())
    }

    fn stat(&self, path: &AbsPath) -> Result<Stat, Error> {
        let doing = "look at";
        let world = self.enter(FakeOperation::Look, path, doing)?;
        world
            .stat(path)
            .map_err(|reason| Error::new(path, doing, reason))
    }

    fn list(&self, path: &AbsPath) -> Result<Listing, Error> {
        let doing = "list";
        let world = self.enter(FakeOperation::Look, path, doing)?;
        let failed = |reason| Error::new(path, doing, reason);
        let real = world.resolve(path).map_err(failed)?;
        match world.nodes.get(&real) {
            Some(FakeNode::Folder { mode }) if mode & 0o444 == 0 => {
                return Err(failed(ErrorReason::PermissionDenied));
            }
            Some(FakeNode::Folder { .. }) => {}
            _ => return Err(failed(ErrorReason::NotAFolder)),
        }
        let children = world.nodes.iter();
        let entries = children
            .filter(|(child, _)| child.parent().as_ref() == Some(&real))
            .map(|(child, node)| ListedEntry {
                path: path.join(child.file_name()),
                kind: world
                    .stat(child)
                    .map_or(FileKind::BrokenLink, |stat| stat.kind),
                is_link: matches!(node, FakeNode::Link(_)),
            })
            .collect();
        Ok(Listing {
            entries,
            problems: Vec::new(),
        })
    }

    fn canonicalize(&self, path: &AbsPath) -> Result<AbsPath, Error> {
        let doing = "resolve";
        let world = self.enter(FakeOperation::Look, path, doing)?;
        world
            .resolve(path)
            .map_err(|reason| Error::new(path, doing, reason))
    }

    fn save(&self, request: &SaveRequest<'_>) -> Result<SaveResult, Error> {
        let path = request.path;
        let mut world = self.enter(FakeOperation::Save, path, "save")?;
        save(&mut world, request).map_err(|reason| Error::new(path, "save", reason))
    }

    fn create_file(&self, path: &AbsPath) -> Result<(), Error> {
        self.arrange(path, "create", |world| {
            let own = free_name(world, path)?;
            let file = world.new_file(Vec::new(), 0o644);
            world.insert(&own, file);
            Ok(())
        })
    }

    fn create_folder(&self, path: &AbsPath) -> Result<(), Error> {
        self.arrange(path, "create the folder", |world| {
            for folder in path.as_path().ancestors().filter_map(AbsPath::new) {
                match world.stat(&folder).map(|stat| stat.kind) {
                    Ok(FileKind::Folder) if &folder == path => return Ok(()),
                    Ok(FileKind::Folder) | Err(_) => {}
                    Ok(_) if &folder == path => return Err(ErrorReason::AlreadyExists),
                    Ok(_) => return Err(ErrorReason::NotAFolder),
                }
            }
            world.add_folders(path);
            Ok(())
        })
    }

    fn rename(&self, from: &AbsPath, to: &AbsPath) -> Result<(), Error> {
        let mut world = self.enter(FakeOperation::Arrange, from, "rename")?;
        let failed = |reason| Error::new(from, "rename", reason);
        let own = existing_name(&world, from).map_err(failed)?;
        let new = free_name(&world, to);
        let new = match new {
            // Another spelling of the same entry is not taken.
            Err(ErrorReason::AlreadyExists) if is_respelling(&world, &own, to) => {
                Ok(parent_of(&own).join(Path::new(to.file_name())))
            }
            new => new.map_err(|reason| Error::new(to, "rename to", reason)),
        }?;
        for (rest, node) in world.descendants(&own) {
            world.nodes.insert(join_rest(&new, &rest), node);
        }
        world.remove(&own);
        world.changed(&new);
        Ok(())
    }

    fn copy(&self, from: &AbsPath, to: &AbsPath) -> Result<(), Error> {
        let mut world = self.enter(FakeOperation::Arrange, from, "copy")?;
        let failed = |reason| Error::new(from, "copy", reason);
        if to.is_within(from) && to != from {
            return Err(failed(ErrorReason::Other(format!("{to} lies inside it"))));
        }
        let own = existing_name(&world, from).map_err(failed)?;
        let new = free_name(&world, to).map_err(|reason| Error::new(to, "copy to", reason))?;
        for (rest, node) in world.descendants(&own) {
            let node = match node {
                FakeNode::File(file) => world.new_file(file.content, file.mode),
                other => other,
            };
            world.nodes.insert(join_rest(&new, &rest), node);
        }
        world.changed(&new);
        Ok(())
    }

    fn trash(&self, path: &AbsPath) -> Result<(), Error> {
        self.arrange(path, "move to the trash", |world| {
            let own = existing_name(world, path)?;
            world.remove(&own);
            world.trashed.push(own);
            Ok(())
        })
    }

    fn remove(&self, path: &AbsPath) -> Result<(), Error> {
        self.arrange(path, "remove", |world| {
            let own = existing_name(world, path)?;
            world.remove(&own);
            Ok(())
        })
    }

    fn write_private(&self, path: &AbsPath, content: &[u8]) -> Result<(), Error> {
        let doing = "save";
        let mut world = self.enter(FakeOperation::WritePrivate, path, doing)?;
        let own = world
            .own_name(path)
            .map_err(|reason| Error::new(path, doing, reason))?;
        let file = world.new_file(content.to_vec(), 0o600);
        world.insert(&own, file);
        Ok(())
    }

    fn read_link(&self, path: &AbsPath) -> Option<PathBuf> {
        let world = self.world();
        let own = world.own_name(path).ok()?;
        match world.nodes.get(&own) {
            Some(FakeNode::Link(target)) => Some(target.clone()),
            _ => None,
        }
    }

    fn open_log(&self, path: &AbsPath) -> Result<Box<dyn AppendLog>, Error> {
        let doing = "open";
        let mut world = self.enter(FakeOperation::Arrange, path, doing)?;
        let own = world
            .own_name(path)
            .map_err(|reason| Error::new(path, doing, reason))?;
        if !world.nodes.contains_key(&own) {
            let file = world.new_file(Vec::new(), 0o600);
            world.insert(&own, file);
        }
        Ok(Box::new(FakeLog {
            files: self.clone(),
            path: own,
        }))
    }

    fn lock(&self, path: &AbsPath) -> Result<Option<FileLock>, Error> {
        let mut world = self.world();
        let path = &world.stored_path(path);
        if !world.locks.insert(path.clone()) {
            return Ok(None);
        }
        if !world.nodes.contains_key(path) {
            let file = world.new_file(Vec::new(), 0o600);
            world.insert(path, file);
        }
        let held = FakeLock {
            world: self.world.clone(),
            path: path.clone(),
        };
        Ok(Some(FileLock {
            _held: Box::new(held),
        }))
    }

    fn watch(&self, request: WatchRequest) -> Result<Watcher, Error> {
        let mut world = self.enter(FakeOperation::Watch, &request.root, "watch")?;
        let (sender, events) = async_channel::bounded(EVENTS);
        sender.try_send(WatchEvent::Ready).ok();
        world.watches.retain(|watch| !watch.sender.is_closed());
        world.watches.push(FakeWatch {
            root: request.root,
            ignore: request.ignore,
            visible: Vec::new(),
            sender: sender.clone(),
        });
        let control = FakeControl {
            world: self.world.clone(),
            sender,
        };
        Ok(Watcher {
            events,
            control: Box::new(control),
        })
    }

    fn interrupted(&self, _: &AbsPath) -> (Vec<InterruptedSave>, Vec<Error>) {
        (Vec::new(), Vec::new())
    }

    fn sweep(&self, _: &AbsPath) -> Result<(), Error> {
        Ok(())
    }
}

impl FakeFiles {
    /// Runs `act` as one operation `FakeOperation::Arrange`. Fails with a fault injected for it, or
    /// with the reason of `act`; the error names `path` and `doing`.
    fn arrange(
        &self,
        path: &AbsPath,
        doing: &'static str,
        act: impl FnOnce(&mut FakeFileSystem) -> Result<(), ErrorReason>,
    ) -> Result<(), Error> {
        let mut world = self.enter(FakeOperation::Arrange, path, doing)?;
        act(&mut world).map_err(|reason| Error::new(path, doing, reason))
    }
}

struct FakeLog {
    files: FakeFiles,
    path: AbsPath,
}

impl AppendLog for FakeLog {
    fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut world = self
            .files
            .enter(FakeOperation::Append, &self.path, "write")?;
        if let Some(FakeNode::File(file)) = world.nodes.get_mut(&self.path) {
            file.content.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Error> {
        self.files
            .enter(FakeOperation::Sync, &self.path, "write")
            .map(drop)
    }

    fn len(&self) -> u64 {
        let content = self.files.content(&self.path);
        content.map_or(0, |content| content.len() as u64)
    }
}

struct FakeLock {
    world: Arc<Mutex<FakeFileSystem>>,
    path: AbsPath,
}

impl Drop for FakeLock {
    fn drop(&mut self) {
        let mut world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
        world.locks.remove(&self.path);
    }
}

struct FakeControl {
    world: Arc<Mutex<FakeFileSystem>>,
    sender: async_channel::Sender<WatchEvent>,
}

impl WatchControl for FakeControl {
    fn set_visible(&self, paths: Vec<AbsPath>) {
        let mut world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
        let own = world
            .watches
            .iter_mut()
            .find(|watch| watch.sender.same_channel(&self.sender));
        if let Some(watch) = own {
            watch.visible = paths;
        }
    }
}

/// Saves a file, following links. Fails like the real save if the folder is missing, the file is
/// read-only or not a regular file, or it is not as expected.
fn save(world: &mut FakeFileSystem, request: &SaveRequest<'_>) -> Result<SaveResult, ErrorReason> {
    let target = world.resolve_name(request.path)?;
    world.own_name(&target)?;
    let found = world.stat(&target).ok();
    if let Some(stat) = &found {
        if stat.kind != FileKind::File {
            return Err(not_a_file(stat));
        }
        if !stat.is_writable {
            return Err(ErrorReason::ReadOnly);
        }
    }
    check_expected(world, request.expected, &target, found.as_ref())?;
    world.write(&target, request.content.to_vec());
    Ok(SaveResult {
        on_disk: OnDisk {
            stamp: world.stat(&target)?.stamp,
            hash: ContentHash::of(request.content),
        },
        method: match found {
            Some(_) => SaveMethod::Replaced,
            None => SaveMethod::Created,
        },
        unconfirmed: None,
    })
}

/// Fails unless the file is as expected; `found` is its present state, `None` if it does not exist.
/// For `Unchanged`, an equal stamp or equal content is enough.
fn check_expected(
    world: &FakeFileSystem,
    expected: ExpectedContent,
    target: &AbsPath,
    found: Option<&Stat>,
) -> Result<(), ErrorReason> {
    match (expected, found) {
        (ExpectedContent::Anything, _) | (ExpectedContent::Absent, None) => Ok(()),
        (ExpectedContent::Absent, Some(_)) => Err(ErrorReason::AlreadyExists),
        (ExpectedContent::Unchanged(_), None) => Err(ErrorReason::ChangedOnDisk { now: None }),
        (ExpectedContent::Unchanged(known), Some(now)) => {
            let hash = world
                .content(target)
                .map(|content| ContentHash::of(&content));
            if now.stamp == known.stamp || hash == Some(known.hash) {
                return Ok(());
            }
            let now = Some(now.clone());
            Err(ErrorReason::ChangedOnDisk { now })
        }
    }
}

fn not_a_file(stat: &Stat) -> ErrorReason {
    match stat.kind {
        FileKind::BrokenLink => ErrorReason::NotFound,
        kind => ErrorReason::NotAFile(kind),
    }
}

/// Resolves the links in a path's folder, but not its last component. Fails with `NotFound` if
/// nothing has that name.
fn existing_name(world: &FakeFileSystem, path: &AbsPath) -> Result<AbsPath, ErrorReason> {
    let own = world.own_name(path)?;
    if world.nodes.contains_key(&own) {
        Ok(own)
    } else {
        Err(ErrorReason::NotFound)
    }
}

/// Resolves the links in a path's folder, but not its last component. Fails with `AlreadyExists` if
/// something has that name.
fn free_name(world: &FakeFileSystem, path: &AbsPath) -> Result<AbsPath, ErrorReason> {
    let own = world.own_name(path)?;
    if world.nodes.contains_key(&own) {
        Err(ErrorReason::AlreadyExists)
    } else {
        Ok(own)
    }
}

/// Returns whether `to` is another spelling of the entry `own`.
fn is_respelling(world: &FakeFileSystem, own: &AbsPath, to: &AbsPath) -> bool {
    let is_new = own.file_name() != to.file_name();
    is_new && world.own_name(to).is_ok_and(|stored| stored == *own)
}

fn parent_of(path: &AbsPath) -> AbsPath {
    path.parent().unwrap_or_else(|| path.clone())
}

/// Joins `rest` to `path`; returns `path` itself if `rest` is empty.
fn join_rest(path: &AbsPath, rest: &Path) -> AbsPath {
    path.join(rest)
}
