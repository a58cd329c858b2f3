//! The `ContextProvider` of the turn engine for projects on the disk.

use std::sync::Arc;

use base::AbsPath;
use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::sources::texts_of;
use super::{
    AgentRole, MentionContents, PromptAdditions, PromptContext, SessionEnvironment, SessionOpening,
    TrustedFolders, symbols,
};
use crate::engine;
use crate::prompt_sources::PromptSources;
use crate::record::{SessionMode, SessionRecord};
use crate::services::SessionServices;

/// Creates the context of each session from the files of its root and of the settings folder.
pub struct ProjectContexts {
    sources: Arc<SessionServices>,
    trust: TrustedFolders,
    config: Option<AbsPath>,
    surroundings: Arc<EnvironmentProvider>,
}

/// Returns the environment of a folder that only the window knows.
pub type EnvironmentProvider = dyn Fn(&AbsPath) -> SessionEnvironment + Send + Sync;

impl ProjectContexts {
    /// Creates contexts that read through `sources`. `config` is Burin's settings folder.
    pub fn new(
        sources: Arc<SessionServices>,
        trust: TrustedFolders,
        config: Option<AbsPath>,
        surroundings: impl Fn(&AbsPath) -> SessionEnvironment + Send + Sync + 'static,
    ) -> Self {
        Self {
            sources,
            trust,
            config,
            surroundings: Arc::new(surroundings),
        }
    }
}

/// The context of one session.
struct ProjectSessionContext {
    /// `None` only while a thread works on it; lost if that thread panics.
    context: Option<PromptContext>,
    sources: Arc<SessionServices>,
    surroundings: Arc<EnvironmentProvider>,
    prompt_sources: Option<Arc<dyn PromptSources>>,
    root: AbsPath,
}

impl engine::ContextProvider for ProjectContexts {
    fn open(
        &self,
        about: engine::ContextRequest,
        records: Vec<SessionRecord>,
    ) -> BoxFuture<'static, (Box<dyn engine::SessionContext>, engine::ContextAdditions)> {
        let sources = self.sources.clone();
        let surroundings = self.surroundings.clone();
        let is_trusted = self.trust.is_trusted(&about.root);
        let config = self.config.clone();
        let root = about.root.clone();
        let prompt_sources = about.prompt_sources.clone();
        let seen = (sources.clone(), surroundings.clone());
        let opened = blocking(move || {
            let opening = SessionOpening {
                sources: &seen.0,
                root: &about.root,
                profile: &about.profile,
                tools: about.tools.clone(),
                role: if about.is_subagent {
                    AgentRole::Subagent
                } else {
                    AgentRole::Main
                },
                mode: about.mode,
                is_trusted,
                config,
                surroundings: (seen.1)(&about.root),
            };
            if records.is_empty() {
                opening.build()
            } else {
                (opening.resume(&records), PromptAdditions::default())
            }
        });
        async move {
            let (context, joining) = match opened.await {
                Some((context, joining)) => (Some(context), joining),
                None => (None, PromptAdditions::default()),
            };
            let context = Box::new(ProjectSessionContext {
                context,
                sources,
                surroundings,
                prompt_sources,
                root,
            });
            (context as Box<dyn engine::SessionContext>, joining.into())
        }
        .boxed()
    }
}

impl ProjectSessionContext {
    /// Runs a closure on the context on a blocking thread.
    async fn with_context(
        &mut self,
        work: impl FnOnce(&mut PromptContext, &SessionServices) -> PromptAdditions + Send + 'static,
    ) -> engine::ContextAdditions {
        let Some(mut context) = self.context.take() else {
            return engine::ContextAdditions::default();
        };
        let sources = self.sources.clone();
        let done = blocking(move || {
            let joining = work(&mut context, &sources);
            (context, joining)
        });
        match done.await {
            Some((context, joining)) => {
                self.context = Some(context);
                joining.into()
            }
            None => engine::ContextAdditions::default(),
        }
    }
}

impl engine::SessionContext for ProjectSessionContext {
    fn prompt<'a>(&'a mut self, text: &'a str) -> BoxFuture<'a, engine::ContextAdditions> {
        async move {
            let found = symbols(&self.sources, &self.root, text).await;
            let read = texts_of(self.prompt_sources.as_ref(), &self.root, text).await;
            let around = (self.surroundings)(&self.root);
            let text = text.to_owned();
            self.with_context(move |context, sources| {
                let read = MentionContents {
                    code: &found,
                    sources: &read,
                };
                context.prompt(sources, &around, &text, read)
            })
            .await
        }
        .boxed()
    }

    fn touched(&mut self, paths: Vec<String>) -> BoxFuture<'_, engine::ContextAdditions> {
        self.with_context(move |context, sources| context.touched(sources, &paths))
            .boxed()
    }

    fn mode(&self, mode: SessionMode) -> Option<String> {
        match self.context.as_ref()?.mode(mode) {
            SessionRecord::Joined { text, .. } => Some(text),
            _ => None,
        }
    }
}

impl From<PromptAdditions> for engine::ContextAdditions {
    fn from(joining: PromptAdditions) -> Self {
        Self {
            records: joining.records,
            problems: joining.problems,
        }
    }
}

/// Returns `None` if the thread panicked, which is a bug and reported as one.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Some(done),
        Err(error) => {
            base::report(&format!("cannot gather the prompt context: {error}"));
            None
        }
    }
}
