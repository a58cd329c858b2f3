//! The rights of agents in a folder, as the window shows and changes them.

use std::sync::Arc;

use agent::access::{AccessChange, FolderAccess, KeptRule, RuleList, RuleOrigin};
use base::AbsPath;
use connect::mcp::BrowserPage;
use host::RealFiles;
use tokio::sync::mpsc;

use super::AgentServices;
use crate::mcp_pool::FolderServers;
use crate::permissions::{add_rule, remove_grant, remove_rule};
use crate::{Error, folder_access, trust};

impl AgentServices {
    /// Returns the rights of agents in a folder. Blocks on the disk.
    pub fn folder_access(&self, root: &AbsPath) -> FolderAccess {
        folder_access::gather(&self.factory, root)
    }

    /// Changes the rights of agents in a folder, and returns the new rights. Starting a server takes
    /// half a minute at most. Fails with `Error::Changed` if a text has changed since it was shown.
    pub async fn change_access(
        self: Arc<Self>,
        root: AbsPath,
        change: AccessChange,
    ) -> Result<FolderAccess, Error> {
        let decides_server = matches!(
            change,
            AccessChange::AllowServer(_) | AccessChange::RefuseServer(_)
        );
        if let AccessChange::StartServer(name) = &change {
            self.factory.start_server(&root, name).await?;
        } else {
            let (this, root) = (self.clone(), root.clone());
            on_disk(move || this.store_change(&root, &change)).await??;
        }
        if decides_server {
            let problems = self.factory.reconnect_servers(&root).await;
            if let Some(problem) = problems.into_iter().next() {
                return Err(Error::McpServer(problem));
            }
        }
        on_disk(move || self.folder_access(&root)).await
    }

    /// Stores a change that concerns no running server.
    fn store_change(&self, root: &AbsPath, change: &AccessChange) -> Result<(), Error> {
        let dirs = &self.dirs;
        match change {
            AccessChange::RemoveRule(rule) => {
                if rule.origin != RuleOrigin::Session {
                    remove_rule(dirs, rule)?;
                }
                if rule.list == RuleList::Allow {
                    self.factory.forget_rule(root, rule);
                }
                Ok(())
            }
            AccessChange::RemoveGrant(grant) => remove_grant(dirs, grant),
            AccessChange::AllowServer(shown) => trust::decide_server(dirs, root, shown, true),
            AccessChange::RefuseServer(shown) => trust::decide_server(dirs, root, shown, false),
            AccessChange::SetTool { name, is_on } => {
                let rule = KeptRule {
                    rule: name.clone(),
                    list: RuleList::Deny,
                    origin: RuleOrigin::Project(root.to_string()),
                };
                if *is_on {
                    remove_rule(dirs, &rule).map_err(|error| match error {
                        Error::Unknown(_) => Error::Unknown(format!(
                            "another rule turns {name} off: remove it from the list of permissions"
                        )),
                        error => error,
                    })
                } else {
                    add_rule(dirs, &rule)
                }
            }
            AccessChange::SetTrusted { folder, is_trusted } => {
                trust::set_trusted(&RealFiles, dirs, folder, *is_trusted)
            }
            AccessChange::AllowHooks(shown) => {
                trust::consent_to_hooks(dirs, root, std::slice::from_ref(shown))
            }
            AccessChange::RevokeHooks(shown) => trust::revoke_hooks(dirs, root, shown),
            AccessChange::StartServer(_) => Ok(()),
        }
    }

    /// Signs in to a server of a folder and reconnects it; `pages` receives the pages that the user
    /// has to open. Returns a sentence about the success.
    pub async fn sign_in(
        &self,
        root: AbsPath,
        name: &str,
        pages: mpsc::Sender<BrowserPage>,
    ) -> Result<String, Error> {
        let (dirs, folder) = (self.dirs.clone(), root.clone());
        let read = move || FolderServers::read(Arc::new(RealFiles), &dirs, &folder);
        let sentence = on_disk(read).await?.sign_in(name, pages).await?;
        self.factory.start_server(&root, name).await?;
        Ok(sentence)
    }
}

/// Runs `work`, which blocks on the disk, on a thread for blocking work.
async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(Error::interrupted("the access of agents could not be read"))
}
