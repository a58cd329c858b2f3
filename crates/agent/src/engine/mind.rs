//! The way to models: the router, or a script.

use std::collections::HashMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use model::policy::{AgentId, TurnId};
use model::{Client, Price, Profile, ScriptedClient};
use router::actor::{Ask, Question, RouterHandle, Told};

/// Answers questions, and knows how each model wants to be asked.
pub trait Mind: Send + Sync {
    /// Asks. Nothing happens until the stream is polled; dropping it takes the question back.
    fn ask(&self, ask: Ask) -> BoxStream<'static, Told>;

    /// How to speak to a model: `provider/model`, `auto` or `demo`.
    fn profile(&self, model: &str) -> Arc<Profile>;

    /// What it costs, where that is known.
    fn price(&self, model: &str) -> Option<Price>;

    /// A turn is over.
    fn end_turn(&self, _agent: AgentId, _turn: TurnId) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    /// An agent is gone.
    fn end_agent(&self, _agent: AgentId) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Asks the router.
#[derive(Clone)]
pub struct RouterMind {
    /// The way to it.
    pub router: RouterHandle,
    /// Profiles by `provider/model`.
    pub profiles: HashMap<String, Arc<Profile>>,
    /// Prices by `provider/model`.
    pub prices: HashMap<String, Price>,
    /// The profile of `auto`, and of models of which nothing is known.
    pub usual: Arc<Profile>,
}

impl Mind for RouterMind {
    fn ask(&self, ask: Ask) -> BoxStream<'static, Told> {
        self.router.submit(ask)
    }

    fn profile(&self, model: &str) -> Arc<Profile> {
        self.profiles.get(model).unwrap_or(&self.usual).clone()
    }

    fn price(&self, model: &str) -> Option<Price> {
        self.prices.get(model).cloned()
    }

    fn end_turn(&self, agent: AgentId, turn: TurnId) -> BoxFuture<'static, ()> {
        let router = self.router.clone();
        Box::pin(async move { router.end_turn(agent, turn).await })
    }

    fn end_agent(&self, agent: AgentId) -> BoxFuture<'static, ()> {
        let router = self.router.clone();
        Box::pin(async move { router.end_agent(agent).await })
    }
}

/// Plays scripts: the double of every model, for tests and for nothing else.
#[derive(Clone)]
pub struct ScriptedMind {
    /// What it plays.
    pub client: ScriptedClient,
    /// The profile of every model.
    pub profile: Arc<Profile>,
    /// The price of every model.
    pub price: Option<Price>,
}

impl ScriptedMind {
    /// Plays what the client is given; every model calls tools and is free.
    pub fn new(client: ScriptedClient) -> Self {
        Self {
            client,
            profile: Arc::new(Profile {
                tools: Some(true),
                context: model::TokenCount(200_000),
                parallel: model::ParallelTools::Allowed,
                ..Profile::harmless()
            }),
            price: Some(Price::FREE),
        }
    }
}

impl Mind for ScriptedMind {
    fn ask(&self, ask: Ask) -> BoxStream<'static, Told> {
        let events = match ask.what {
            Question::Chat(request) => self.client.send(*request),
            Question::Fim(fim) => self.client.complete(*fim),
        };
        events.map(Told::Event).boxed()
    }

    fn profile(&self, _model: &str) -> Arc<Profile> {
        self.profile.clone()
    }

    fn price(&self, _model: &str) -> Option<Price> {
        self.price.clone()
    }
}
