//! The thread that pulls diagnostics from a server after the documents change.
//!
//! Invariant: at most one round of requests is under way, so a slow server is not flooded.

use std::collections::BTreeSet;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Weak};
use std::time::Duration;
use std::{io, thread};

use base::AbsPath;
use lsp::LanguageServer;

use super::Shared;
use super::state::ServerNumber;
use crate::server_log::{LogSource, ServerLog};

/// Time without a change after which the server is asked.
const PAUSE: Duration = Duration::from_millis(120);
/// Number of such times after which it is asked although changes go on.
const MAX_PAUSES: u32 = 8;
/// Time for each answer.
const ANSWER_TIME: Duration = Duration::from_secs(60);
/// Maximum number of other documents that are asked about after a change.
const MAX_OTHERS: usize = 32;

/// Starts the thread. It ends when the sender is dropped.
pub(super) fn start(
    shared: &Arc<Shared>,
    server: ServerNumber,
    connection: LanguageServer,
    log: ServerLog,
) -> io::Result<Sender<AbsPath>> {
    let (sender, changed) = mpsc::channel();
    let thread = thread::Builder::new().name("lsp-pull".to_owned());
    let puller = Puller {
        shared: Arc::downgrade(shared),
        server,
        connection,
        log,
    };
    thread.spawn(move || puller.run(&changed))?;
    Ok(sender)
}

struct Puller {
    shared: Weak<Shared>,
    server: ServerNumber,
    connection: LanguageServer,
    log: ServerLog,
}

impl Puller {
    fn run(self, changed: &Receiver<AbsPath>) {
        while let Ok(path) = changed.recv() {
            let Some(paths) = gather(path, changed) else {
                return;
            };
            let others = self.others(&paths);
            self.pull(paths.into_iter().chain(others));
        }
    }

    /// Pulls the diagnostics of documents concurrently and waits for the responses.
    fn pull(&self, paths: impl Iterator<Item = AbsPath>) {
        let mut pulls = self.connection.pull_all(paths);
        while let Some((_, result)) = pulls.next_answer(ANSWER_TIME) {
            if let Err(error) = result {
                self.log.add(LogSource::Process, &error.to_string());
            }
        }
    }

    /// Returns the other documents of the server, whose diagnostics may depend on those that changed.
    fn others(&self, changed: &BTreeSet<AbsPath>) -> Vec<AbsPath> {
        let depend = |path: &AbsPath| self.connection.diagnoses_across_files(path);
        if !changed.iter().any(depend) {
            return Vec::new();
        }
        let Some(shared) = self.shared.upgrade() else {
            return Vec::new();
        };
        let state = shared.state();
        let documents = state.documents_of(self.server).map(|(path, _)| path);
        let others = documents.filter(|path| !changed.contains(*path));
        others.take(MAX_OTHERS).cloned().collect()
    }
}

/// Gathers changed documents until a pause; `None` if no more can come.
fn gather(first: AbsPath, changed: &Receiver<AbsPath>) -> Option<BTreeSet<AbsPath>> {
    let mut paths = BTreeSet::from([first]);
    // Each change begins a new pause, so their number bounds the time only with the changes that waited.
    let mut pauses = 0;
    while pauses < MAX_PAUSES {
        match changed.recv_timeout(PAUSE) {
            Ok(path) => {
                paths.insert(path);
                paths.extend(changed.try_iter());
                pauses += 1;
            }
            Err(RecvTimeoutError::Timeout) => return Some(paths),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
    Some(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> AbsPath {
        AbsPath::new(name).expect("absolute")
    }

    #[test]
    fn changes_of_one_moment_are_gathered() {
        let (sender, changed) = mpsc::channel();
        for name in ["/b", "/a", "/b"] {
            sender.send(path(name)).expect("a receiver");
        }
        let paths = gather(path("/c"), &changed);
        let expected = ["/a", "/b", "/c"].map(path);
        assert_eq!(paths, Some(BTreeSet::from(expected)));
        drop(sender);
        assert_eq!(gather(path("/c"), &changed), None);
    }
}
