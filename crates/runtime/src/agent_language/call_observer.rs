//! The observer of the calls of all sessions: logs their changes, then notifies language servers of the changed files.
//!
//! Start at `SessionCallObserver`.

use std::sync::Arc;

use agent::tool::ToolResult;
use agent::{CallObserver, ObservedCall, PossibleChanges};
use base::AbsPath;
use composer::change_history::TreeWatchers;
use composer::folder_review::FolderReviews;
use futures::future::BoxFuture;

use super::AgentLanguagePool;

/// Observes the calls of all sessions of the program.
pub(crate) struct SessionCallObserver {
    /// Logs the changes in the composer's worktrees and in the user's folders.
    pub(crate) watchers: TreeWatchers,
    /// Opens the logs of the user's folders.
    pub(crate) reviews: FolderReviews,
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
        if notice.is_none() {
            return self.watchers.observe(call, run);
        }
        Box::pin(async move {
            self.reviews.watch(&call.context.root).await;
            let result = self.watchers.observe(call, run).await;
            self.reviews.note_changed();
            drop(notice);
            result
        })
    }

    fn observe_hooks<'a>(
        &'a self,
        call: ObservedCall<'a>,
        run: BoxFuture<'a, ()>,
    ) -> BoxFuture<'a, ()> {
        if call.possible_changes().is_none() {
            return run;
        }
        Box::pin(async move {
            self.watchers.observe_hooks(call, run).await;
            self.reviews.note_changed();
        })
    }
}
