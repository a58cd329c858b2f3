//! The open documents of a tree, kept in sync with the disk and with unsaved texts of windows.
//!
//! Invariant: at most `MAX_DOCUMENTS` are open; the least recently used one is closed first.

use std::collections::HashMap;
use std::sync::Arc;

use agent::services::Buffers;
use base::AbsPath;
use host::{Files, RealFiles};
use language::{FolderServers, RunningServers};
use text::{Author, Buffer, EditKind, EditOrigin, Snapshot, Timestamp};

/// Maximum number of open documents.
const MAX_DOCUMENTS: usize = 64;
/// The largest file that is opened, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The open documents of a tree.
pub(super) struct OpenDocuments {
    root: AbsPath,
    buffers: Option<Arc<dyn Buffers>>,
    /// The documents by path, each with its last use.
    documents: HashMap<AbsPath, (Snapshot, u64)>,
    uses: u64,
}

/// The reason for which a file cannot be opened, a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum UnopenedReason {
    #[error("it does not exist, or is no text file of moderate size")]
    Unreadable,
    #[error("no installed language server serves it")]
    Unserved,
}

impl OpenDocuments {
    pub(super) fn new(root: AbsPath, buffers: Option<Arc<dyn Buffers>>) -> Self {
        Self {
            root,
            buffers,
            documents: HashMap::new(),
            uses: 0,
        }
    }

    /// Returns the open documents, sorted.
    pub(super) fn paths(&self) -> Vec<AbsPath> {
        let mut paths: Vec<AbsPath> = self.documents.keys().cloned().collect();
        paths.sort();
        paths
    }

    /// Returns the text of an open document that was passed on last.
    pub(super) fn text(&self, path: &AbsPath) -> Option<Snapshot> {
        self.documents.get(path).map(|(text, _)| text.clone())
    }

    /// Passes the current texts of all open documents on, and closes those that are gone. Returns whether anything
    /// changed. Blocks on the disk.
    pub(super) fn refresh(&mut self, servers: &RunningServers) -> bool {
        let mut has_changed = false;
        for path in self.paths() {
            match (self.read(&path), self.documents.get_mut(&path)) {
                (Some(text), Some((known, _))) => {
                    if !is_text(known, &text) {
                        pass_on(servers, &path, known, &text);
                        has_changed = true;
                    }
                }
                _ => {
                    self.documents.remove(&path);
                    servers.close_document(&path);
                    has_changed = true;
                }
            }
        }
        has_changed
    }

    /// Opens a file unless it is open. Returns whether it was closed before. Blocks on the disk.
    pub(super) fn open(
        &mut self,
        path: &AbsPath,
        servers: &RunningServers,
        folder: &FolderServers,
    ) -> Result<bool, UnopenedReason> {
        self.uses += 1;
        let uses = self.uses;
        if let Some((_, last_use)) = self.documents.get_mut(path) {
            *last_use = uses;
            return Ok(false);
        }
        let text = self.read(path).ok_or(UnopenedReason::Unreadable)?;
        if !folder.serves(path) {
            return Err(UnopenedReason::Unserved);
        }
        self.make_room(servers);
        let snapshot = Snapshot::new(&text);
        servers.open_document(path, &snapshot);
        self.documents.insert(path.clone(), (snapshot, uses));
        Ok(true)
    }

    fn make_room(&mut self, servers: &RunningServers) {
        if self.documents.len() < MAX_DOCUMENTS {
            return;
        }
        let oldest = self.documents.iter().min_by_key(|(_, (_, uses))| *uses);
        if let Some(path) = oldest.map(|(path, _)| path.clone()) {
            self.documents.remove(&path);
            servers.close_document(&path);
        }
    }

    /// Returns the text of a file as tools see it; `None` if it is not text. No symlink below the root is followed.
    pub(super) fn read(&self, path: &AbsPath) -> Option<String> {
        if let Some(text) = self.buffers.as_ref().and_then(|it| it.text(path)) {
            return Some(text);
        }
        let beneath = RealFiles.open_beneath(&self.root);
        let files = beneath.as_deref().unwrap_or(&RealFiles);
        let bytes = files.read(path, MAX_FILE_BYTES).ok()?;
        String::from_utf8(bytes).ok()
    }
}

/// Returns whether a snapshot has this text.
pub(super) fn is_text(snapshot: &Snapshot, text: &str) -> bool {
    snapshot.len().0 == text.len() && snapshot.to_string() == text
}

/// Passes a new text on, as an edit of the old one.
fn pass_on(servers: &RunningServers, path: &AbsPath, known: &mut Snapshot, text: &str) {
    let mut buffer = Buffer::from_snapshot(known.clone());
    let origin = EditOrigin::new(Author::Disk, EditKind::Other, Timestamp(0));
    let change = buffer.edit(&known.edits_to(text), &origin);
    *known = buffer.snapshot();
    servers.change_document(path, &change, known);
    servers.save_document(path);
}
