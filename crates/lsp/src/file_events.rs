//! The notification of a server about files that changed on disk.

use gen_lsp_types::{
    DidChangeWatchedFilesParams, FileChangeType as WireFileChangeType, FileEvent as WireFileEvent,
};

use crate::message;
use crate::server::LanguageServer;
use crate::uri::file_uri;
use crate::watched_files::{FileChangeType, FileEvent, WATCHED_FILES};

impl LanguageServer {
    /// Returns whether the server wants events about files.
    pub fn watches_files(&self) -> bool {
        let connection = self.connection();
        connection.with(|session| session.file_watchers().is_some())
    }

    /// Sends one notification with those of the events that the server's watchers want, in their order; none if there
    /// is no such event. Takes time for many events, so do not call it on a thread that must not wait.
    pub fn files_changed(&self, events: &[FileEvent]) {
        let connection = self.connection();
        let Some((watchers, folders)) = connection.with(|session| session.file_watchers()) else {
            return;
        };
        let wanted = events.iter().filter(|it| watchers.wants(it, &folders));
        let changes: Vec<WireFileEvent> = wanted
            .map(|it| WireFileEvent::new(file_uri(&it.path).into(), it.change.wire()))
            .collect();
        if changes.is_empty() {
            return;
        }
        let text = message::notification(WATCHED_FILES, &DidChangeWatchedFilesParams { changes });
        connection.with(|session| {
            if session.is_running() {
                session.push(text);
            }
        });
    }
}

impl FileChangeType {
    fn wire(self) -> WireFileChangeType {
        match self {
            Self::Created => WireFileChangeType::Created,
            Self::Changed => WireFileChangeType::Changed,
            Self::Deleted => WireFileChangeType::Deleted,
        }
    }
}
