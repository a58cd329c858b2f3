//! Asking models: which one, and the streams that are under way.

use std::collections::HashMap;

use autocomplete::engine::{Ask, Input, Options, RequestId, TabModel};
use futures::StreamExt as _;
use gpui_kit::{Context, Task};
use model::Event;

use super::Prediction;
use super::learn::Measured;

/// Whom is asked, and what is under way.
#[derive(Default)]
pub(super) struct Asking {
    wanted: String,
    /// Whether somebody typed, so that a model is of use.
    pub(super) is_needed: bool,
    model: Option<TabModel>,
    /// Why there is none though one was wanted.
    pub(super) problem: Option<String>,
    /// What the engine was told last.
    pub(super) options: Option<Options>,
    streams: HashMap<RequestId, Task<()>>,
    choosing: Option<Task<()>>,
}

impl Asking {
    pub(super) fn want(&mut self, wanted: &str) {
        if self.wanted != wanted {
            wanted.clone_into(&mut self.wanted);
            self.model = None;
        }
    }

    pub(super) fn model(&self) -> Option<&TabModel> {
        self.model.as_ref()
    }

    /// Drops a stream, which closes its socket.
    pub(super) fn cancel(&mut self, request: RequestId) {
        self.streams.remove(&request);
    }
}

impl Prediction {
    /// Looks for a model once somebody types: until then nothing of models is opened.
    pub(super) fn need_model(&mut self, cx: &mut Context<Self>) {
        if !self.asking.is_needed {
            self.asking.is_needed = true;
            self.choose_model(cx);
        }
    }

    pub(super) fn choose_model(&mut self, cx: &mut Context<Self>) {
        let Some(models) = self.services.tab.clone() else {
            return;
        };
        let wanted = self.asking.wanted.clone();
        if wanted == "off" {
            self.asking.choosing = None;
            self.use_model(Ok(None), cx);
            return;
        }
        let chosen = models.choose(wanted);
        self.asking.choosing = Some(cx.spawn(async move |this, cx| {
            let chosen = chosen.await;
            // The window may be gone.
            this.update(cx, |this, cx| this.use_model(chosen, cx)).ok();
        }));
    }

    fn use_model(&mut self, chosen: Result<Option<TabModel>, String>, cx: &mut Context<Self>) {
        (self.asking.model, self.asking.problem) = match chosen {
            Ok(model) => (model, None),
            Err(problem) => (None, Some(problem)),
        };
        self.set_options(cx);
        cx.notify();
    }

    /// Sends a question and hands in what streams back.
    pub(super) fn ask(&mut self, request: RequestId, what: Ask, cx: &mut Context<Self>) {
        let Some(models) = &self.services.tab else {
            return;
        };
        let mut stream = models.ask(what);
        let task = cx.spawn(async move |this, cx| {
            while let Some(event) = stream.next().await {
                let is_last = matches!(event, Event::Stop { .. } | Event::Failed(_));
                let heard = this.update(cx, |this, cx| {
                    this.feed(Input::Stream { request, event }, cx);
                });
                if is_last || heard.is_err() {
                    break;
                }
            }
        });
        self.asking.streams.insert(request, task);
    }

    /// Puts a measurement into the ledger.
    pub(super) fn write_down(&self, measured: Measured) {
        if let Some(models) = &self.services.tab {
            models.note(measured.name, measured.value, measured.tags);
        }
    }
}
