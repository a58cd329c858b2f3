//! The models that complete and predict edits, reached by the agents' engines.

use std::sync::Arc;

use autocomplete::engine::{CompletionRequest, TabModel};
use background::{EngineServices, Metric};
use composer_panel::Error;
use futures::StreamExt as _;
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::BoxStream;
use model::{Failure, FailureClass, StreamEvent};
use workbench::TabModels;

/// The models of Tab in the engines of this program.
pub(crate) struct TabService(pub(crate) Arc<EngineServices>);

impl TabModels for TabService {
    fn choose(
        &self,
        wanted: String,
    ) -> BoxFuture<'static, Result<Option<TabModel>, workbench::Error>> {
        let chosen = self.0.with(move |services| async move {
            services
                .tab_model(&wanted)
                .map_err(|error| Error::Failed(error.to_string()))
        });
        let chosen = chosen.map(|chosen| {
            chosen.map_err(|error| workbench::Error::ModelUnavailable(error.to_string()))
        });
        chosen.boxed()
    }

    fn ask(&self, request: CompletionRequest) -> BoxStream<'static, StreamEvent> {
        // If a model was chosen, the services are open, so this does not wait.
        let stream = self
            .0
            .with(move |services| async move { Ok(services.ask_for_tab(request)) });
        let stream = stream.map(|stream| match stream {
            Ok(stream) => stream,
            Err(error) => {
                let failure = Failure::new(FailureClass::Offline, error.to_string());
                futures::stream::iter([StreamEvent::Failed(failure)]).boxed()
            }
        });
        stream.flatten_stream().boxed()
    }

    fn record_metric(&self, name: &'static str, value: f64, tags: String) {
        self.0.record(Metric { name, value, tags });
    }
}
