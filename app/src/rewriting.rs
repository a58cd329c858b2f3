//! The models of inline edits, reached by the agents' engines.

use std::sync::Arc;

use background::EngineServices;
use futures::StreamExt as _;
use futures::future::FutureExt as _;
use futures::stream::{self, BoxStream};
use rewrite::{RewriteEvent, RewriteQuery};
use tokio::sync::mpsc;
use workbench::RewriteModels;

/// The models of inline edits in the engines of this program.
pub(crate) struct RewriteService(pub(crate) Arc<EngineServices>);

impl RewriteModels for RewriteService {
    fn rewrite(&self, query: RewriteQuery) -> BoxStream<'static, RewriteEvent> {
        let events = self.0.with(move |services| async move {
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

#[cfg(test)]
mod tests {
    use base::AbsPath;
    use futures::executor::block_on;
    use host::{Dirs, TempFolder};
    use runtime::indexes::IndexRegistry;

    use super::*;

    /// Asks a model to rewrite the second row of a Python text, and returns the events.
    fn rewrite(
        engines: &RewriteService,
        root: &AbsPath,
        model: &str,
    ) -> Vec<rewrite::RewriteEvent> {
        let text = text::Snapshot::new("def a():\n    b()\n");
        let rows = text::RowSpan {
            start: base::Row(1),
            end: base::Row(2),
        };
        let query = rewrite::RewriteQuery {
            rewrite: rewrite::LineRewrite {
                path: "a.py".to_owned(),
                language: Some("Python".to_owned()),
                region: rewrite::RewriteRegion::new(&text, rows, text::LineEnding::Lf),
                problems: Vec::new(),
                rules: Vec::new(),
                earlier: Vec::new(),
                instruction: "explain it".to_owned(),
            },
            model: Some(model.to_owned()),
            file: Some(root.join("a.py")),
            root: Some(root.clone()),
        };
        block_on(engines.rewrite(query).collect())
    }

    #[test]
    fn demo_model_rewrites_lines() {
        let folder = TempFolder::new().expect("a folder");
        let dirs = Dirs::under(&folder.path().join("own"));
        dirs.create().expect("folders");
        let engines = EngineServices::new(dirs.clone(), Arc::default(), IndexRegistry::new(&dirs));
        let engines = RewriteService(Arc::new(engines));
        let mut events = rewrite(&engines, folder.path(), "demo");
        let lines = ["    # Demo model, a script: explain it", "    b()"];
        let expected = rewrite::RewriteEvent::Done(lines.map(str::to_owned).to_vec());
        assert_eq!(events.pop(), Some(expected));
        assert!(!events.is_empty(), "the lines arrive one by one");
        let failed = rewrite(&engines, folder.path(), "nonsense");
        let [rewrite::RewriteEvent::Failed(sentence)] = failed.as_slice() else {
            panic!("{failed:?}");
        };
        assert!(sentence.contains("is not a model"), "{sentence}");
    }
}
