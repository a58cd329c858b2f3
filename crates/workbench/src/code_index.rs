//! What the window asks of a folder's index; who opens one is told at the start.

use std::sync::Arc;

use async_channel::Receiver;
use base::AbsPath;
use index::{Answer, Hit, Query, Status};
use project::search::Sieve;
use text::Snapshot;

/// The index of one folder. Nothing here waits for the disk.
pub trait CodeIndex: Send + Sync {
    /// How far it is, how large, and what there is to tell.
    fn status(&self) -> Status;
    /// Ticks when the status is another.
    fn changed(&self) -> Receiver<()>;
    /// Stops or goes on with indexing; what is indexed is found all the same.
    fn set_paused(&self, is_paused: bool);
    /// These may have changed on the disk, come or gone.
    fn touch(&self, paths: Vec<AbsPath>);
    /// Anything may have changed on the disk.
    fn refresh(&self);
    /// What lets the search of text pass over files that cannot match, once there is something.
    fn sieve(&self) -> Option<Arc<dyn Sieve>>;
    /// An open text that is newer than its file; none when it is not any more.
    fn set_unsaved(&self, path: AbsPath, text: Option<Snapshot>);
    /// The best places for a question. Takes about a millisecond: ask in the background.
    fn search(&self, query: &Query) -> Answer;
    /// As `search`, in the order of a second look, and why there was none where it failed; `None` where nothing looks
    /// again. May take seconds.
    fn search_twice(&self, query: &Query) -> Option<(Answer, Option<String>)>;
    /// Where symbols of such a name are defined.
    fn symbols(&self, name: &str, limit: usize) -> Vec<Hit>;
}

impl CodeIndex for index::Index {
    fn status(&self) -> Status {
        self.status()
    }

    fn changed(&self) -> Receiver<()> {
        self.changed()
    }

    fn set_paused(&self, is_paused: bool) {
        self.set_paused(is_paused);
    }

    fn touch(&self, paths: Vec<AbsPath>) {
        self.touch(paths);
    }

    fn refresh(&self) {
        self.refresh();
    }

    fn sieve(&self) -> Option<Arc<dyn Sieve>> {
        self.sieve()
    }

    fn set_unsaved(&self, path: AbsPath, text: Option<Snapshot>) {
        self.set_unsaved(path, text);
    }

    fn search(&self, query: &Query) -> Answer {
        self.search(query)
    }

    fn search_twice(&self, query: &Query) -> Option<(Answer, Option<String>)> {
        self.search_twice(query)
    }

    fn symbols(&self, name: &str, limit: usize) -> Vec<Hit> {
        self.symbols(name, limit)
    }
}

/// Opens the index of a folder.
pub type OpenIndex = Arc<dyn Fn(AbsPath) -> Arc<dyn CodeIndex> + Send + Sync>;
