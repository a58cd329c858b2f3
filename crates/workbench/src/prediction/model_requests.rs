//! Requests to models: the chosen model and the running streams.

use std::collections::HashMap;

use autocomplete::engine::{CompletionRequest, EngineInput, EngineOptions, RequestId, TabModel};
use editor::DocumentModel;
use futures::StreamExt as _;
use gpui_kit::{App, Context, Entity, Task};
use model::StreamEvent;

use super::Prediction;
use super::shown_suggestions::Measurement;
use crate::error::Error;
use crate::tab_models::TextNews;

/// The chosen model and the running requests.
#[derive(Default)]
pub(super) struct TabModelState {
    wanted: String,
    /// Whether the user has typed, so that a model is needed.
    pub(super) is_needed: bool,
    model: Option<TabModel>,
    /// Reason no model is available although one is configured.
    pub(super) problem: Option<String>,
    /// The options last sent to the engine.
    pub(super) options: Option<EngineOptions>,
    streams: HashMap<RequestId, Task<()>>,
    choosing: Option<Task<()>>,
}

impl TabModelState {
    /// Sets the name of the model from the settings. If the name differs from the current one,
    /// drops the chosen model.
    pub(super) fn set_model_name(&mut self, wanted: &str) {
        if self.wanted != wanted {
            wanted.clone_into(&mut self.wanted);
            self.model = None;
        }
    }

    /// Returns the chosen model, or `None` if no model is chosen or available.
    pub(super) fn model(&self) -> Option<&TabModel> {
        self.model.as_ref()
    }

    /// Drops a stream, which closes its socket.
    pub(super) fn cancel(&mut self, request: RequestId) {
        self.streams.remove(&request);
    }
}

impl Prediction {
    /// Ends following a text under its earlier path, and follows it under the present one.
    pub(super) fn follow_path(&mut self, model: &Entity<DocumentModel>, cx: &App) {
        let text = model.read(cx);
        let Some(watched) = self.watched_texts.get_mut(&model.entity_id()) else {
            return;
        };
        if watched.path.as_ref() == text.path() {
            return;
        }
        let old = std::mem::replace(&mut watched.path, text.path().cloned());
        if let (Some(models), Some(old)) = (&self.services.tab, old) {
            models.record_text(old, TextNews::Closed);
        }
        self.record_text(text, TextNews::Opened(text.snapshot()));
    }

    /// Chooses a model once the user types; before that, no model resources are opened.
    pub(super) fn need_model(&mut self, cx: &mut Context<Self>) {
        if !self.model_state.is_needed {
            self.model_state.is_needed = true;
            self.choose_model(cx);
        }
    }

    /// Chooses the model that the settings name, in the background, in place of an earlier choice.
    pub(super) fn choose_model(&mut self, cx: &mut Context<Self>) {
        let Some(models) = self.services.tab.clone() else {
            return;
        };
        let wanted = self.model_state.wanted.clone();
        if wanted == "off" {
            self.model_state.choosing = None;
            self.use_model(Ok(None), cx);
            return;
        }
        let chosen = models.choose(wanted);
        self.model_state.choosing = Some(cx.spawn(async move |this, cx| {
            let chosen = chosen.await;
            // The window may have been closed.
            this.update(cx, |this, cx| this.use_model(chosen, cx)).ok();
        }));
    }

    fn use_model(&mut self, chosen: Result<Option<TabModel>, Error>, cx: &mut Context<Self>) {
        (self.model_state.model, self.model_state.problem) = match chosen {
            Ok(model) => (model, None),
            Err(error) => (None, Some(error.to_string())),
        };
        self.set_options(cx);
        cx.notify();
    }

    /// Sends a request and passes the streamed response to the engine.
    pub(super) fn ask(
        &mut self,
        request: RequestId,
        body: CompletionRequest,
        cx: &mut Context<Self>,
    ) {
        let Some(models) = &self.services.tab else {
            return;
        };
        let mut stream = models.ask(body);
        let task = cx.spawn(async move |this, cx| {
            while let Some(event) = stream.next().await {
                let is_last = matches!(event, StreamEvent::Stop { .. } | StreamEvent::Failed(_));
                let heard = this.update(cx, |this, cx| {
                    this.handle(EngineInput::Stream { request, event }, cx);
                });
                if is_last || heard.is_err() {
                    break;
                }
            }
        });
        self.model_state.streams.insert(request, task);
    }

    /// Records news of a text that has a file, for the measurement of what is kept.
    pub(super) fn record_text(&self, model: &DocumentModel, news: TextNews) {
        if let (Some(models), Some(path)) = (&self.services.tab, model.path()) {
            models.record_text(path.clone(), news);
        }
    }

    /// Records a measurement in the ledger.
    pub(super) fn record_measurement(&self, measured: Measurement) {
        if let Some(models) = &self.services.tab {
            models.record_metric(measured.name, measured.value, measured.tags);
        }
    }
}
