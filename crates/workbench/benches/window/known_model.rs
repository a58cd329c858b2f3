//! A model of Tab that knows the text to be typed.

use std::sync::{Mutex, MutexGuard, PoisonError};

use autocomplete::engine::{CompletionRequest, TabKind, TabModel};
use autocomplete::{Suggestion, SuggestionSource};
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{BoxStream, StreamExt as _};
use model::{ModelId, StopReason, StreamEvent};
use workbench::TabModels;

/// A model that knows the line being typed and the next one.
#[derive(Default)]
pub(crate) struct Knowing {
    lines: Mutex<(String, String)>,
    asked: Mutex<usize>,
}

impl Knowing {
    /// Sets the line being typed and the next one.
    pub(crate) fn expect(&self, line: &str, next: &str) {
        *lock(&self.lines) = (line.to_owned(), next.to_owned());
    }

    /// Returns the number of requests.
    pub(crate) fn asked(&self) -> usize {
        *lock(&self.asked)
    }

    fn answer(&self, what: &CompletionRequest) -> String {
        let CompletionRequest::Fim(fim) = what else {
            return String::new();
        };
        let (line, next) = lock(&self.lines).clone();
        let row = fim.prefix.rsplit('\n').next().unwrap_or_default();
        let typed = row.trim_start();
        let indent = &row[..row.len() - typed.len()];
        match line.strip_prefix(typed) {
            Some("") => format!("\n{indent}{next}"),
            Some(rest) => rest.to_owned(),
            None => String::new(),
        }
    }
}

impl TabModels for Knowing {
    fn choose(&self, _: String) -> BoxFuture<'static, Result<Option<TabModel>, workbench::Error>> {
        let id = ModelId::parse("loopback/known").expect("a name");
        let kind = TabKind::Gap;
        std::future::ready(Ok(Some(TabModel {
            id,
            kind,
            is_serial: false,
        })))
        .boxed()
    }

    fn ask(&self, what: CompletionRequest) -> BoxStream<'static, StreamEvent> {
        *lock(&self.asked) += 1;
        let stop = StreamEvent::Stop {
            reason: StopReason::EndTurn,
            raw: "stop".to_owned(),
        };
        let events = [StreamEvent::TextDelta(self.answer(&what)), stop];
        futures::stream::iter(events).boxed()
    }

    fn record_metric(&self, _: &'static str, _: f64, _: String) {}
}

/// Returns whether a suggestion comes from a model.
pub(crate) fn is_of_model(suggestion: &Suggestion) -> bool {
    matches!(
        suggestion.source,
        SuggestionSource::Gap(_) | SuggestionSource::NextEdit(_)
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
