//! A test double for model access. An ordinary module, since the tests of other crates use it.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use model::{ModelClient, Price, Profile, ScriptedClient};
use router::actor::{RequestPayload, RouterEvent, RouterRequest};

use super::gateway::ModelGateway;

/// A test double for every model, which plays a script.
#[derive(Clone)]
pub struct ScriptedGateway {
    /// Client that plays the script.
    pub client: ScriptedClient,
    /// Profile of every model.
    pub profile: Arc<Profile>,
    /// Price of every model.
    pub price: Option<Price>,
}

impl ScriptedGateway {
    /// Plays the client's script; every model supports tools and is free.
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

impl ModelGateway for ScriptedGateway {
    fn ask(&self, ask: RouterRequest) -> BoxStream<'static, RouterEvent> {
        let events = match ask.payload {
            RequestPayload::Chat(request) => self.client.send(*request),
            RequestPayload::Fim(fim) => self.client.complete(*fim),
        };
        events.map(RouterEvent::Event).boxed()
    }

    fn profile(&self, _model: &str) -> Arc<Profile> {
        self.profile.clone()
    }

    fn price(&self, _model: &str) -> Option<Price> {
        self.price.clone()
    }
}
