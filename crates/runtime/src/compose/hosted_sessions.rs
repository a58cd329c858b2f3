//! The running sessions of external agents, so that one is not opened while it still closes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use composer::worktrees::lock_of;
use tokio::sync::oneshot;

/// The sessions of external agents that this program started, by id, each with a receiver that ends
/// with it. Clones share them.
#[derive(Clone, Default)]
pub(super) struct HostedSessions(Arc<Mutex<HashMap<String, oneshot::Receiver<()>>>>);

impl HostedSessions {
    /// Adds a session that was started.
    pub(super) fn add(&self, id: &str, ended: oneshot::Receiver<()>) {
        lock_of(&self.0).insert(id.to_owned(), ended);
    }

    /// Waits until a session that is closing has ended: only then can it be opened again.
    pub(super) async fn wait_until_ended(&self, id: &str) {
        let running = lock_of(&self.0).remove(id);
        if let Some(ended) = running {
            // Nothing is ever sent: the channel closes.
            ended.await.ok();
        }
    }
}
