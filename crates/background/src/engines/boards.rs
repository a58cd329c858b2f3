//! The boards of folders, for as long as the program runs.

use std::collections::HashMap;
use std::sync::Arc;

use agent_service::Error;
use base::AbsPath;
use composer::service::ComposerHandle;
use host::Dirs;
use project::UnsavedTexts;
use runtime::agent_services::AgentServices;
use runtime::compose::service::open_composer;
use tokio::sync::{Mutex, MutexGuard};

use super::on_disk;

/// The open boards by folder. Clones share them.
#[derive(Clone)]
pub(super) struct Boards {
    dirs: Dirs,
    unsaved: Arc<UnsavedTexts>,
    opened: Arc<Mutex<HashMap<AbsPath, ComposerHandle>>>,
}

impl Boards {
    pub(super) fn new(dirs: &Dirs, unsaved: Arc<UnsavedTexts>) -> Self {
        Self {
            dirs: dirs.clone(),
            unsaved,
            opened: Arc::default(),
        }
    }

    /// The boards that were opened so far.
    pub(super) async fn opened(&self) -> MutexGuard<'_, HashMap<AbsPath, ComposerHandle>> {
        self.opened.lock().await
    }

    /// Runs `work` with the board of a folder, which is opened if necessary, and returns its result.
    pub(super) async fn with<T: Send + 'static>(
        &self,
        services: Arc<AgentServices>,
        root: AbsPath,
        work: impl FnOnce(ComposerHandle) -> Result<T, composer::Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (dirs, unsaved) = (self.dirs.clone(), self.unsaved.clone());
        let mut opened = self.opened.lock().await;
        let known = opened.get(&root).cloned();
        let (root, composer, done) = on_disk(move || {
            let composer = match known {
                Some(composer) => composer,
                None => open_composer(&services, &dirs, &root, unsaved)?,
            };
            let done = work(composer.clone());
            Ok::<_, composer::Error>((root, composer, done))
        })
        .await?;
        opened.insert(root, composer);
        Ok(done?)
    }
}
