//! The observer of the calls of all sessions: logs their changes, then notifies language servers of the changed files.
//!
//! Start at `SessionCallObserver`.

use std::sync::Arc;

use agent::tool::ToolResult;
use agent::{CallObserver, ObservedCall, PossibleChanges};
use base::AbsPath;
use composer::change_history::TreeWatchers;
use futures::future::BoxFuture;

use super::AgentLanguagePool;

/// Observes the calls of all sessions of the program.
pub(crate) struct SessionCallObserver {
    /// Logs the changes in the composer's worktrees.
    pub(crate) watchers: TreeWatchers,
    pub(crate) language: Arc<AgentLanguagePool>,
}

/// Notifies language servers when it is dropped, since a cancelled call may have changed files as well.
struct ChangeNotice {
    language: Arc<AgentLanguagePool>,
    root: AbsPath,
    changed: PossibleChanges,
}

impl Drop for ChangeNotice {
    fn drop(&mut self) {
        self.language.files_changed(&self.root, &self.changed);
    }
}

impl CallObserver for SessionCallObserver {
    fn observe<'a>(
        &'a self,
        call: ObservedCall<'a>,
        run: BoxFuture<'a, ToolResult>,
    ) -> BoxFuture<'a, ToolResult> {
        let notice = call.possible_changes().map(|changed| ChangeNotice {
            language: self.language.clone(),
            root: call.context.root.clone(),
            changed,
        });
        let observed = self.watchers.observe(call, run);
        Box::pin(async move {
            let result = observed.await;
            drop(notice);
            result
        })
    }
}
