//! The models of inline edits, reached by the agents' engines.

use futures::StreamExt as _;
use futures::future::FutureExt as _;
use futures::stream::{self, BoxStream};
use rewrite::{RewriteEvent, RewriteQuery};
use tokio::sync::mpsc;
use workbench::RewriteModels;

use crate::agents::EngineServices;

impl RewriteModels for EngineServices {
    fn rewrite(&self, query: RewriteQuery) -> BoxStream<'static, RewriteEvent> {
        let events = self.with(move |services| async move {
            // Unbounded: an answer has few events. The request runs on the engines' runtime, which the
            // thread that polls the returned stream does not have.
            let (sender, receiver) = mpsc::unbounded_channel();
            tokio::spawn(async move {
                let forward = async {
                    let mut events = services.rewrite(query).await;
                    while let Some(event) = events.next().await {
                        if sender.send(event).is_err() {
                            return;
                        }
                    }
                };
                // The request is cancelled when nothing receives its events any more.
                tokio::select! {
                    () = forward => {}
                    () = sender.closed() => {}
                }
            });
            Ok(receiver)
        });
        let events = events.map(|events| match events {
            Ok(events) => received(events),
            Err(error) => {
                let failed = RewriteEvent::Failed(error.to_string());
                stream::once(std::future::ready(failed)).boxed()
            }
        });
        events.flatten_stream().boxed()
    }
}

fn received(events: mpsc::UnboundedReceiver<RewriteEvent>) -> BoxStream<'static, RewriteEvent> {
    let next = |mut events: mpsc::UnboundedReceiver<RewriteEvent>| async move {
        let event = events.recv().await?;
        Some((event, events))
    };
    stream::unfold(events, next).boxed()
}
