//! What joins the prompts of sessions in projects on the disk, as the loop asks for it.

use std::sync::Arc;

use base::AbsPath;
use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::{Context, Joining, Opening, Post, Surroundings, Trust, symbols};
use crate::engine;
use crate::record::{Mode, Record};
use crate::sources::Sources;

/// Makes the context of each session.
pub struct ProjectContexts {
    sources: Arc<Sources>,
    trust: Trust,
    config: Option<AbsPath>,
    surroundings: Arc<SurroundingsOf>,
}

/// Tells what only the window knows of a folder.
pub type SurroundingsOf = dyn Fn(&AbsPath) -> Surroundings + Send + Sync;

impl ProjectContexts {
    /// For sessions that see the world through `sources`. `config` is Burin's folder of settings.
    pub fn new(
        sources: Arc<Sources>,
        trust: Trust,
        config: Option<AbsPath>,
        surroundings: impl Fn(&AbsPath) -> Surroundings + Send + Sync + 'static,
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
struct OfSession {
    /// Out only while a thread works on it, and lost if that thread breaks off.
    context: Option<Context>,
    sources: Arc<Sources>,
    surroundings: Arc<SurroundingsOf>,
    root: AbsPath,
}

impl engine::Contexts for ProjectContexts {
    fn open(
        &self,
        about: engine::About,
        records: Vec<Record>,
    ) -> BoxFuture<'static, (Box<dyn engine::Context>, engine::Joining)> {
        let sources = self.sources.clone();
        let surroundings = self.surroundings.clone();
        let is_trusted = self.trust.of(&about.root);
        let config = self.config.clone();
        let root = about.root.clone();
        let seen = (sources.clone(), surroundings.clone());
        let opened = blocking(move || {
            let opening = Opening {
                sources: &seen.0,
                root: &about.root,
                profile: &about.profile,
                tools: about.tools.clone(),
                post: match about.is_subagent {
                    true => Post::Agent,
                    false => Post::Person,
                },
                mode: about.mode,
                is_trusted,
                config,
                surroundings: (seen.1)(&about.root),
            };
            match records.is_empty() {
                true => opening.begin(),
                false => (opening.resume(&records), Joining::default()),
            }
        });
        async move {
            let (context, joining) = match opened.await {
                Some((context, joining)) => (Some(context), joining),
                None => (None, Joining::default()),
            };
            let context = Box::new(OfSession {
                context,
                sources,
                surroundings,
                root,
            });
            (context as Box<dyn engine::Context>, joining.into())
        }
        .boxed()
    }
}

impl OfSession {
    /// Works on the context on a thread where that may block.
    async fn with(
        &mut self,
        work: impl FnOnce(&mut Context, &Sources) -> Joining + Send + 'static,
    ) -> engine::Joining {
        let Some(mut context) = self.context.take() else {
            return engine::Joining::default();
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
            None => engine::Joining::default(),
        }
    }
}

impl engine::Context for OfSession {
    fn prompt<'a>(&'a mut self, text: &'a str) -> BoxFuture<'a, engine::Joining> {
        async move {
            let found = symbols(&self.sources, &self.root, text).await;
            let around = (self.surroundings)(&self.root);
            let text = text.to_owned();
            self.with(move |context, sources| context.prompt(sources, &around, &text, &found, None))
                .await
        }
        .boxed()
    }

    fn touched(&mut self, paths: Vec<String>) -> BoxFuture<'_, engine::Joining> {
        self.with(move |context, sources| context.touched(sources, &paths))
            .boxed()
    }

    fn mode(&self, mode: Mode) -> Option<String> {
        match self.context.as_ref()?.mode(mode) {
            Record::Joined { text, .. } => Some(text),
            _ => None,
        }
    }
}

impl From<Joining> for engine::Joining {
    fn from(joining: Joining) -> Self {
        Self {
            records: joining.records,
            problems: joining.problems,
        }
    }
}

/// `None` where the thread broke off, which is a defect and reported as one.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Some(done),
        Err(error) => {
            base::report(&format!(
                "what joins a prompt could not be gathered: {error}"
            ));
            None
        }
    }
}
