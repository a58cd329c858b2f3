//! What joins the prompts of real sessions: the state of each is kept while it runs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::AbsPath;
use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::{Context, Joining, Opening, Post, Surroundings, Trust, symbols};
use crate::engine::{About, Context as EngineContext, Joining as Joined};
use crate::record::{Mode, Origin, PromptPlace, Record};
use crate::sources::Sources;

/// What joins the prompts of sessions in projects on the disk.
#[derive(Clone)]
pub struct ProjectContext(Arc<Kept>);

struct Kept {
    sources: Arc<Sources>,
    trust: Trust,
    config: Option<AbsPath>,
    surroundings: Box<dyn Fn(&AbsPath) -> Surroundings + Send + Sync>,
    /// By the sessions' names.
    sessions: Mutex<HashMap<String, Context>>,
}

impl ProjectContext {
    /// For sessions that see the world through `sources`. `config` is Burin's folder of settings; `surroundings`
    /// tells what only the window knows of a folder.
    pub fn new(
        sources: Arc<Sources>,
        trust: Trust,
        config: Option<AbsPath>,
        surroundings: impl Fn(&AbsPath) -> Surroundings + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Kept {
            sources,
            trust,
            config,
            surroundings: Box::new(surroundings),
            sessions: Mutex::default(),
        }))
    }

    /// Does something on a thread where it may block.
    fn blocking<T: Default + Send + 'static>(
        &self,
        work: impl FnOnce(&Kept) -> T + Send + 'static,
    ) -> BoxFuture<'static, T> {
        let kept = self.0.clone();
        async move {
            let task = tokio::task::spawn_blocking(move || work(&kept));
            task.await.unwrap_or_else(|error| {
                base::report(&format!(
                    "what joins a prompt could not be gathered: {error}"
                ));
                T::default()
            })
        }
        .boxed()
    }
}

impl Kept {
    /// The beginning of a session, in the mode that needs no words: those of the others are the engine's own.
    fn opening<R>(&self, about: &About, with: impl FnOnce(Opening<'_>) -> R) -> R {
        with(Opening {
            sources: &self.sources,
            root: &about.root,
            profile: &about.profile,
            tools: about.tools.clone(),
            post: match about.is_subagent {
                true => Post::Agent,
                false => Post::Person,
            },
            mode: Mode::Build,
            is_trusted: self.trust.of(&about.root),
            config: self.config.clone(),
            surroundings: (self.surroundings)(&about.root),
        })
    }

    fn keep(&self, session: &str, context: Context) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.insert(session.to_owned(), context);
    }

    /// A session's context, taken out while it is worked on. One that is not known begins anew.
    fn context(&self, about: &About) -> Context {
        let known = {
            let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            sessions.remove(&*about.session)
        };
        known.unwrap_or_else(|| self.opening(about, |opening| opening.resume([])))
    }
}

impl EngineContext for ProjectContext {
    fn opening(&self, about: About) -> BoxFuture<'static, Vec<Joined>> {
        self.blocking(move |kept| {
            let (context, joining) = kept.opening(&about, |opening| opening.begin());
            kept.keep(&about.session, context);
            engine_joining(joining)
        })
    }

    fn resumed(&self, about: About, joined: Vec<Joined>) -> BoxFuture<'static, ()> {
        self.blocking(move |kept| {
            let records: Vec<Record> = joined.into_iter().map(record).collect();
            let context = kept.opening(&about, |opening| opening.resume(&records));
            kept.keep(&about.session, context);
        })
    }

    fn before_prompt(
        &self,
        about: About,
        prompt: &str,
        _is_first: bool,
    ) -> BoxFuture<'static, Vec<Joined>> {
        let (this, prompt) = (self.clone(), prompt.to_owned());
        async move {
            let found = symbols(&this.0.sources, &about.root, &prompt).await;
            let work = this.blocking(move |kept| {
                let mut context = kept.context(&about);
                let around = (kept.surroundings)(&about.root);
                let joining = context.prompt(&kept.sources, &around, &prompt, &found, None);
                kept.keep(&about.session, context);
                engine_joining(joining)
            });
            work.await
        }
        .boxed()
    }

    fn touched(&self, about: About, paths: Vec<String>) -> BoxFuture<'static, Vec<Joined>> {
        self.blocking(move |kept| {
            let mut context = kept.context(&about);
            let joining = context.touched(&kept.sources, &paths);
            kept.keep(&about.session, context);
            engine_joining(joining)
        })
    }

    fn end(&self, session: &str) {
        let mut sessions = self
            .0
            .sessions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        sessions.remove(session);
    }
}

fn engine_joining(joining: Joining) -> Vec<Joined> {
    for problem in &joining.problems {
        log::warn!("{problem}");
    }
    let joined = joining
        .records
        .into_iter()
        .filter_map(|record| match record {
            Record::Joined {
                place,
                origin,
                text,
            } => Some(Joined {
                place,
                origin,
                text,
            }),
            _ => None,
        });
    // A mention that cannot be read is told to the model too: it knows what the person meant.
    let problems = joining.problems.into_iter().map(|problem| Joined {
        place: PromptPlace::BeforePrompt,
        origin: Origin::Harness,
        text: format!("Note: {problem}.\n"),
    });
    joined.chain(problems).collect()
}

fn record(joined: Joined) -> Record {
    Record::Joined {
        place: joined.place,
        origin: joined.origin,
        text: joined.text,
    }
}
