//! Incremental updates: changed, created and removed files, and unsaved texts.

use std::sync::{PoisonError, RwLockWriteGuard};

use base::AbsPath;
use git::Repository;
use git::merge::ObjectId;
use host::{FileKind, Files, RealFiles, Stamp};

use crate::embedding::EmbeddingTable;
use crate::policy::{self, MAX_FILE_BYTES, SkipReason};
use crate::prepare::prepare;
use crate::record::Blob;
use crate::repo_layout::RepoLayout;
use crate::state::IndexState;
use crate::store::{ChunkStore, Persistence};
use crate::view::{ViewedFile, WorktreeView};

/// Names of files that affect which other files are ignored.
const IGNORE_FILES: [&str; 3] = [".gitignore", ".ignore", "exclude"];
/// If more files change at once, a full pass is made instead.
const MAX_SINGLE_FILES: usize = 200;

/// Updates single files of an index, after events of the watcher and edits.
#[derive(Clone, Copy)]
pub(crate) struct IndexUpdater<'a> {
    pub(crate) state: &'a IndexState,
    pub(crate) layout: &'a RepoLayout,
    pub(crate) store: &'a ChunkStore,
}

/// The result of reading a file for the index: the content is already known, is new, or is gone.
pub(crate) enum ReadOutcome {
    /// The file is indexed already, or has no chunks.
    Known(ViewedFile),
    /// A new record to be added.
    New(Stamp, Vec<u8>),
    /// The file does not exist.
    Gone,
}

impl IndexUpdater<'_> {
    /// Returns the path below the root of the repository, with `/`; `None` for files elsewhere and
    /// for git's own.
    pub(crate) fn path(&self, path: &AbsPath) -> Option<String> {
        let path = path.relative_to(&self.layout.top)?.to_str()?;
        let is_gits = path.split('/').any(|part| part == ".git");
        let is_in = path.starts_with(&self.layout.prefix) && !path.is_empty();
        (is_in && !is_gits).then(|| path.to_owned())
    }

    /// Locks the view of the worktree for writing.
    pub(crate) fn view(&self) -> RwLockWriteGuard<'_, WorktreeView> {
        self.state
            .view
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates or removes the known files among `touched`. Returns whether a full pass is needed,
    /// since only a walk determines whether a new file is ignored. Reads the disk.
    pub(crate) fn touch(&self, mut touched: Vec<AbsPath>) -> bool {
        touched.sort_unstable();
        touched.dedup();
        let mut needs_walk = touched.len() > MAX_SINGLE_FILES;
        if needs_walk {
            return true;
        }
        let repository = Repository::discover(&self.state.root).ok();
        for given in touched {
            // A file that is known by another spelling was renamed, or the event misspells it.
            let path = RealFiles.stored_path(&given);
            if path != given
                && let Some(name) = self.path(&given)
            {
                self.remove(&name);
            }
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

    /// Whether the index has read this file from the disk. `false` if it knows only an unsaved text
    /// of the file.
    fn is_known(&self, name: &str) -> bool {
        let view = self
            .state
            .view
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        view.file(name).is_some_and(|file| file.stamp.is_some())
    }

    fn update(&self, path: &AbsPath, name: &str) {
        match self.read(path, name) {
            ReadOutcome::Known(file) => self.set(name, file),
            ReadOutcome::Gone => self.remove(name),
            ReadOutcome::New(stamp, record) => {
                let entry = self
                    .store
                    .add(vec![record], Persistence::Durable)
                    .first()
                    .copied();
                let file = ViewedFile {
                    stamp: Some(stamp),
                    entry,
                    ..ViewedFile::default()
                };
                self.set(name, file);
                self.state.update_status(|status| status.embedded += 1);
            }
        }
    }

    /// Sets the on-disk state of a file; an unsaved text stays.
    pub(crate) fn set(&self, name: &str, file: ViewedFile) {
        let contents = self.store.contents();
        self.view().change(&contents, name, |place| {
            *place = ViewedFile {
                unsaved: place.unsaved,
                ..file
            };
        });
    }

    /// Removes a file, or everything in a folder.
    fn remove(&self, name: &str) {
        let folder = format!("{name}/");
        let contents = self.store.contents();
        let mut view = self.view();
        let gone: Vec<_> = view
            .files()
            .map(|(path, _)| path)
            .filter(|path| &***path == name || path.starts_with(&folder))
            .cloned()
            .collect();
        for path in gone {
            view.change(&contents, &path, |file| {
                *file = ViewedFile {
                    unsaved: file.unsaved,
                    ..ViewedFile::default()
                };
            });
        }
    }

    /// Reads a file as far as necessary: first the metadata, then the content if the metadata
    /// changed. `name` is the path of the file below the root of the repository.
    pub(crate) fn read(&self, path: &AbsPath, name: &str) -> ReadOutcome {
        let left = |stamp, left| {
            ReadOutcome::Known(ViewedFile {
                stamp: Some(stamp),
                skip_reason: Some(left),
                ..ViewedFile::default()
            })
        };
        let stat = match RealFiles.stat(path) {
            Ok(stat) => stat,
            Err(_) => return ReadOutcome::Gone,
        };
        if let Some(why) = policy::by_name(name) {
            return left(stat.stamp, why);
        }
        if stat.stamp.size > MAX_FILE_BYTES {
            return left(stat.stamp, SkipReason::Large);
        }
        let (bytes, stat) = match RealFiles.read_with_stat(path, MAX_FILE_BYTES) {
            Ok(read) => read,
            Err(error) if error.is_not_found() => return ReadOutcome::Gone,
            Err(_) => return left(stat.stamp, SkipReason::Unreadable),
        };
        let text = match policy::by_content(&bytes) {
            Ok(text) => text,
            Err(why) => return left(stat.stamp, why),
        };
        let Some((blob, table)) = blob_of(&bytes).zip(self.state.table.get()) else {
            return left(stat.stamp, SkipReason::Unreadable);
        };
        if let Some(entry) = self.store.find(name, &blob, bytes.len() as u64) {
            return ReadOutcome::Known(ViewedFile {
                stamp: Some(stat.stamp),
                entry: Some(entry),
                ..ViewedFile::default()
            });
        }
        match prepare_record(blob, name, text, table) {
            Some(record) => ReadOutcome::New(stat.stamp, record),
            None => left(stat.stamp, SkipReason::Unreadable),
        }
    }

    /// Indexes an unsaved text in place of the file's content on disk; `None` restores the content
    /// on disk. If the text is not to be indexed, searches do not find the file.
    pub(crate) fn set_unsaved(&self, path: &AbsPath, text: Option<text::Snapshot>) {
        let Some(name) = self.path(path) else {
            return;
        };
        let entry = text.as_ref().and_then(|text| {
            let text = text.to_string();
            let text =
                policy::by_name(&name).map_or_else(|| policy::by_content(text.as_bytes()), Err);
            let (text, table) = text.ok().zip(self.state.table.get())?;
            let record = prepare_record(blob_of(text.as_bytes())?, &name, text, table)?;
            self.store
                .add(vec![record], Persistence::Transient)
                .first()
                .copied()
        });
        {
            let mut texts = self
                .state
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
            let contents = self.store.contents();
            self.view().change(&contents, &name, |file| {
                before = std::mem::replace(&mut file.unsaved, entry);
            });
        }
        if let Some(before) = before {
            self.store.drop_transient(before);
        }
    }
}

/// Returns the record of a file. A text that makes the parser panic must not end the whole index:
/// it is left out and logged.
fn prepare_record(blob: Blob, name: &str, text: &str, table: &EmbeddingTable) -> Option<Vec<u8>> {
    let record = std::panic::catch_unwind(|| prepare(blob, name, text, table));
    if record.is_err() {
        log::error!("cannot split {name} into chunks; it is left out of the index");
    }
    record.ok()
}

/// Returns the first 20 bytes of the object id that Git gives a content; see `blob`. In practice,
/// always returns `Some`.
pub(crate) fn blob_of(bytes: &[u8]) -> Option<Blob> {
    blob(&ObjectId::of_blob(bytes))
}

/// Returns the first 20 bytes of an object id, which is the whole id in SHA-1 repositories. Returns
/// `None` if the id is shorter.
pub(crate) fn blob(id: &ObjectId) -> Option<Blob> {
    id.as_bytes().get(..20)?.try_into().ok()
}
