//! Access to models through the router.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use model::policy::{AgentId, TurnId};
use model::{Price, Profile};
use router::actor::{RouterEvent, RouterHandle, RouterRequest};

/// Answers model requests, and knows the profile and price of each model.
pub trait ModelGateway: Send + Sync {
    /// Sends a request. Nothing happens until the stream is polled; dropping the stream cancels the
    /// request.
    fn ask(&self, ask: RouterRequest) -> BoxStream<'static, RouterEvent>;

    /// Returns the profile of a model: `provider/model`, `auto` or `demo`. An unknown model has a
    /// usual profile, so that this never fails.
    fn profile(&self, model: &str) -> Arc<Profile>;

    /// Returns the price of a model; `None` if it is not known, and for `auto`.
    fn price(&self, model: &str) -> Option<Price>;

    /// Reports the end of a turn, after which the router may forget its state. Does nothing by
    /// default.
    fn end_turn(&self, _agent: AgentId, _turn: TurnId) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Reports the end of an agent, which sends no further requests. Does nothing by default.
    fn end_agent(&self, _agent: AgentId) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Model access through the router.
#[derive(Clone)]
pub struct RouterGateway {
    /// Handle of the router.
    pub router: RouterHandle,
    /// Model profiles by `provider/model`.
    pub profiles: HashMap<String, Arc<Profile>>,
    /// Model prices by `provider/model`.
    pub prices: HashMap<String, Price>,
    /// Profile for `auto` and for unknown models.
    pub usual: Arc<Profile>,
}

impl ModelGateway for RouterGateway {
    fn ask(&self, ask: RouterRequest) -> BoxStream<'static, RouterEvent> {
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
