//! The models that complete and predict edits, reached by the agents' engines.

use std::sync::Arc;

use autocomplete::engine::{CompletionRequest, TabModel};
use background::{EngineServices, Metric};
use base::{AbsPath, LogErr as _};
use composer_panel::Error;
use futures::StreamExt as _;
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::BoxStream;
use host::{Clock as _, RealClock};
use model::{Failure, FailureClass, StreamEvent};
use runtime::text_recorder::{RecordedEdit, TextRecorder};
use workbench::{TabModels, TextNews};

/// The models of Tab in the engines of this program.
pub(crate) struct TabService {
    engines: Arc<EngineServices>,
    /// Follows what is written in open texts; `None` if the system starts no thread.
    texts: Option<TextRecorder>,
}

impl TabService {
    /// Creates the service, which records what is kept of suggestions in the ledger.
    pub(crate) fn new(engines: Arc<EngineServices>) -> Self {
        let clock = RealClock::default();
        let run = format!("{}-{}", clock.wall_ms(), std::process::id());
        let recording = engines.clone();
        let texts = TextRecorder::start(run, Arc::new(clock), move |rows| {
            recording.record_later(move |services| services.record_quality(rows));
        });
        Self {
            engines,
            texts: texts.log_err(),
        }
    }
}

impl TabModels for TabService {
    fn choose(
        &self,
        wanted: String,
    ) -> BoxFuture<'static, Result<Option<TabModel>, workbench::Error>> {
        let chosen = self.engines.with(move |services| async move {
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
            .engines
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
        self.engines.record(Metric { name, value, tags });
    }

    fn record_text(&self, path: AbsPath, news: TextNews) {
        let Some(texts) = &self.texts else {
            return;
        };
        match news {
            TextNews::Opened(text) => texts.opened(path, text),
            TextNews::Edited {
                change,
                after,
                cause,
            } => {
                let edit = RecordedEdit {
                    change,
                    after,
                    cause,
                };
                texts.edited(path, edit);
            }
            TextNews::Closed => texts.closed(path),
        }
    }
}
