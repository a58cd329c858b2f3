//! The models that complete and predict edits, reached by the agents' engines.

use autocomplete::engine::{Ask, TabModel};
use futures::StreamExt as _;
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::BoxStream;
use model::{Event, Failure, FailureClass};
use workbench::TabModels;

use crate::agents::Engines;

impl TabModels for Engines {
    fn choose(&self, wanted: String) -> BoxFuture<'static, Result<Option<TabModel>, String>> {
        self.with(move |workshop| async move { workshop.tab_model(&wanted) })
    }

    fn ask(&self, what: Ask) -> BoxStream<'static, Event> {
        // Who was chosen was chosen by an open workshop, so this waits for nothing.
        let stream = self.with(move |workshop| async move { Ok(workshop.ask_for_tab(what)) });
        let stream = stream.map(|stream| match stream {
            Ok(stream) => stream,
            Err(sentence) => {
                let failure = Failure::new(FailureClass::Offline, sentence);
                futures::stream::iter([Event::Failed(failure)]).boxed()
            }
        });
        stream.flatten_stream().boxed()
    }

    fn note(&self, name: &'static str, value: f64, tags: String) {
        let noted = self.with(move |workshop| async move {
            workshop.measure(name, value, tags);
            Ok(())
        });
        // It runs by itself on the engines' runtime; there is nothing to hear of it.
        drop(noted);
    }
}
