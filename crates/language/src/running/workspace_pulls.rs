//! The thread that pulls the diagnostics of all files from a server, once its documents rest.
//!
//! Invariant: at most one request is under way, so a slow server is not flooded.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;
use std::{io, thread};

use lsp::{LanguageServer, WorkspacePullRequest};

use crate::server_log::{LogSource, ServerLog};

/// Time without a change after which the server is asked; tests do not wait.
const PAUSE: Duration = if cfg!(test) {
    Duration::from_millis(1)
} else {
    Duration::from_secs(2)
};
/// Time for an answer. Some servers answer only when there is something new; a later change asks them again.
const ANSWER_TIME: Duration = Duration::from_secs(300);

/// Starts the thread, which ends when the sender is dropped. A full channel means that the server will be asked anyway.
pub(super) fn start(connection: LanguageServer, log: ServerLog) -> io::Result<SyncSender<()>> {
    let (sender, changed) = mpsc::sync_channel(1);
    let thread = thread::Builder::new().name("lsp-pull-all".to_owned());
    thread.spawn(move || run(&connection, &log, &changed))?;
    Ok(sender)
}

fn run(connection: &LanguageServer, log: &ServerLog, changed: &Receiver<()>) {
    while changed.recv().is_ok() && rests(changed) {
        let request: Option<WorkspacePullRequest> = connection.pull_workspace_diagnostics();
        let result = request.map_or(Ok(()), |request| request.wait(ANSWER_TIME));
        if let Err(error) = result {
            log.add(LogSource::Process, &error.to_string());
        }
    }
}

/// Waits for a pause; returns false if no more change can come.
fn rests(changed: &Receiver<()>) -> bool {
    loop {
        match changed.recv_timeout(PAUSE) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}
