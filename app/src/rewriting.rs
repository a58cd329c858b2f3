//! The models of inline edits, reached by the agents' engines.

use futures::StreamExt as _;
use futures::future::FutureExt as _;
use futures::stream::{self, BoxStream};
use rewrite::{RewriteEvent, RewriteQuery};
use workbench::RewriteModels;

use crate::agents::EngineServices;

impl RewriteModels for EngineServices {
    fn rewrite(&self, query: RewriteQuery) -> BoxStream<'static, RewriteEvent> {
        let events = self.with(move |services| async move { Ok(services.rewrite(query).await) });
        let events = events.map(|events| match events {
            Ok(events) => events,
            Err(error) => {
                let failed = RewriteEvent::Failed(error.to_string());
                stream::once(std::future::ready(failed)).boxed()
            }
        });
        events.flatten_stream().boxed()
    }
}
