//! One file at a time: what changed, came or went, and what somebody types.

use std::sync::{PoisonError, RwLockWriteGuard};

use base::AbsPath;
use git::Repository;
use git::merge::ObjectId;
use host::{FileKind, Files, RealFiles, Stamp};

use crate::ground::Ground;
use crate::policy::{self, Left, MOST_BYTES};
use crate::prepare::prepare;
use crate::record::Blob;
use crate::shared::Shared;
use crate::store::{Keep, Store};
use crate::table::Table;
use crate::view::{Seen, View};

/// Names of files that decide which others count.
const IGNORE_FILES: [&str; 3] = [".gitignore", ".ignore", "exclude"];
/// More files at once than this are looked at all together.
const MOST_SINGLE: usize = 200;

/// Brings single files up to date.
#[derive(Clone, Copy)]
pub(crate) struct Changes<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) ground: &'a Ground,
    pub(crate) store: &'a Store,
}

/// A file that was read.
pub(crate) enum Read {
    /// It is known already, or has no chunks.
    Done(Seen),
    /// Its record is to be taken in.
    New(Stamp, Vec<u8>),
    /// It is not there.
    Gone,
}

impl Changes<'_> {
    /// The path below the top, with `/`; `None` for what lies elsewhere and for git's own.
    pub(crate) fn path(&self, path: &AbsPath) -> Option<String> {
        let path = path.relative_to(&self.ground.top)?.to_str()?;
        let is_gits = path.split('/').any(|part| part == ".git");
        let is_in = path.starts_with(&self.ground.below) && !path.is_empty();
        (is_in && !is_gits).then(|| path.to_owned())
    }

    pub(crate) fn view(&self) -> RwLockWriteGuard<'_, View> {
        self.shared
            .view
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings touched files up to date. Says whether everything has to be looked at, since only a walk knows whether
    /// a new file is ignored.
    pub(crate) fn touch(&self, mut touched: Vec<AbsPath>) -> bool {
        touched.sort_unstable();
        touched.dedup();
        let mut needs_walk = touched.len() > MOST_SINGLE;
        if needs_walk {
            return true;
        }
        let repository = Repository::discover(&self.shared.root).ok();
        for path in touched {
            let Some(name) = self.path(&path) else {
                needs_walk |= IGNORE_FILES.contains(&path.name().as_str());
                continue;
            };
            needs_walk |= IGNORE_FILES.contains(&path.name().as_str());
            let is_known = self.is_known(&name);
            let kind = RealFiles.stat(&path).map(|stat| stat.kind);
            match kind {
                Ok(FileKind::File) if is_known => self.update(&path, &name),
                Ok(FileKind::File | FileKind::Folder) => {
                    let is_ignored = |git: &Repository| git.is_ignored(&path);
                    needs_walk |= !repository.as_ref().is_some_and(is_ignored);
                }
                _ => self.remove(&name),
            }
        }
        needs_walk
    }

    fn is_known(&self, name: &str) -> bool {
        let view = self
            .shared
            .view
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        view.seen(name).is_some_and(|seen| seen.stamp.is_some())
    }

    fn update(&self, path: &AbsPath, name: &str) {
        match self.read(path, name) {
            Read::Done(seen) => self.set(name, seen),
            Read::Gone => self.remove(name),
            Read::New(stamp, record) => {
                let entry = self.store.add(vec![record], Keep::Kept).first().copied();
                let seen = Seen {
                    stamp: Some(stamp),
                    entry,
                    ..Seen::default()
                };
                self.set(name, seen);
                self.shared.tell(|status| status.embedded += 1);
            }
        }
    }

    /// Sets what the disk says of a file; an unsaved text stays.
    pub(crate) fn set(&self, name: &str, seen: Seen) {
        let known = self.store.known();
        self.view().change(&known, name, |place| {
            *place = Seen {
                unsaved: place.unsaved,
                ..seen
            };
        });
    }

    /// Takes a file out, or everything in a folder.
    fn remove(&self, name: &str) {
        let folder = format!("{name}/");
        let known = self.store.known();
        let mut view = self.view();
        let gone: Vec<_> = view
            .files()
            .map(|(path, _)| path)
            .filter(|path| &***path == name || path.starts_with(&folder))
            .cloned()
            .collect();
        for path in gone {
            view.change(&known, &path, |seen| {
                *seen = Seen {
                    unsaved: seen.unsaved,
                    ..Seen::default()
                };
            });
        }
    }

    /// Reads a file as far as it has to be.
    pub(crate) fn read(&self, path: &AbsPath, name: &str) -> Read {
        let left = |stamp, left| {
            Read::Done(Seen {
                stamp: Some(stamp),
                left: Some(left),
                ..Seen::default()
            })
        };
        let stat = match RealFiles.stat(path) {
            Ok(stat) => stat,
            Err(_) => return Read::Gone,
        };
        if let Some(why) = policy::by_name(name) {
            return left(stat.stamp, why);
        }
        if stat.stamp.size > MOST_BYTES {
            return left(stat.stamp, Left::Large);
        }
        let (bytes, stat) = match RealFiles.read_with_stat(path, MOST_BYTES) {
            Ok(read) => read,
            Err(error) if error.is_not_found() => return Read::Gone,
            Err(_) => return left(stat.stamp, Left::Unreadable),
        };
        let text = match policy::by_content(&bytes) {
            Ok(text) => text,
            Err(why) => return left(stat.stamp, why),
        };
        let Some((blob, table)) = blob_of(&bytes).zip(self.shared.table.get()) else {
            return left(stat.stamp, Left::Unreadable);
        };
        if let Some(entry) = self.store.find(name, &blob, bytes.len() as u64) {
            return Read::Done(Seen {
                stamp: Some(stat.stamp),
                entry: Some(entry),
                ..Seen::default()
            });
        }
        match prepared(blob, name, text, table) {
            Some(record) => Read::New(stat.stamp, record),
            None => left(stat.stamp, Left::Unreadable),
        }
    }

    /// Lets an unsaved text stand before the file, or the file count again.
    pub(crate) fn set_unsaved(&self, path: &AbsPath, text: Option<text::Snapshot>) {
        let Some(name) = self.path(path) else {
            return;
        };
        let entry = text.as_ref().and_then(|text| {
            let text = text.to_string();
            let text =
                policy::by_name(&name).map_or_else(|| policy::by_content(text.as_bytes()), Err);
            let (text, table) = text.ok().zip(self.shared.table.get())?;
            let record = prepared(blob_of(text.as_bytes())?, &name, text, table)?;
            self.store.add(vec![record], Keep::Passing).first().copied()
        });
        {
            let mut texts = self
                .shared
                .texts
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            match text {
                Some(text) => texts.insert(name.as_str().into(), text),
                None => texts.remove(name.as_str()),
            };
        }
        let mut before = None;
        {
            let known = self.store.known();
            self.view().change(&known, &name, |seen| {
                before = std::mem::replace(&mut seen.unsaved, entry);
            });
        }
        if let Some(before) = before {
            self.store.drop_passing(before);
        }
    }
}

/// The record of a file. One text that something below does not bear must not take the whole index along: it is left
/// out, and the log says why.
fn prepared(blob: Blob, name: &str, text: &str, table: &Table) -> Option<Vec<u8>> {
    let record = std::panic::catch_unwind(|| prepare(blob, name, text, table));
    if record.is_err() {
        log::error!("{name} cannot be cut into chunks and is left out of the index");
    }
    record.ok()
}

/// What git calls a content.
pub(crate) fn blob_of(bytes: &[u8]) -> Option<Blob> {
    blob(&ObjectId::of_blob(bytes))
}

/// The first bytes of an id: all of them in today's repositories.
pub(crate) fn blob(id: &ObjectId) -> Option<Blob> {
    id.as_bytes().get(..20)?.try_into().ok()
}
