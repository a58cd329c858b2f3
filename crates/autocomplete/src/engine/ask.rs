//! Decides when to query a model, and builds the request.
//!
//! A keystroke sends a request after its frame unless one is in flight: its response may still predict what
//! is typed meanwhile, so the request in flight takes the place of a delay. Only one that takes
//! longer than usual gets company, for the text typed since. A response that was wrong, or that
//! validation refused, is replaced at once if it was requested before the current word; within the
//! word, further letters tell the model little, so the engine waits longer. A response that the
//! user has typed past is kept for the cache, because the user may come back. A server that
//! processes one request at a time would first complete that response, so there the request is
//! cancelled at once.

use std::time::Duration;

use model::{CacheMark, TokenCount};
use model::{
    Fim, FimFile, FimForm, Message, ModelId, ModelRequest, Role, Sampling, StreamEvent, SystemBlock,
};
use text::Change;

use super::in_flight::{ActiveRequest, ExpectedReply, RequestPurpose, RequestValue};
use super::{CompletionEngine, CompletionRequest, DebounceMode, EngineEffect, RequestId, TabKind};
use crate::EditorState;
use crate::cache::CaretText;
use crate::context::{ContextSource, EditContext, SnippetReason, WindowLimits, gather};
use crate::format::{self, PromptKind};
use crate::validate::{CompletionStream, StreamControl};

/// Maximum number of concurrent requests.
const MAX_REQUESTS: usize = 2;
/// Delay within a word for which the model was queried in vain.
const WITHIN_WORD: Duration = Duration::from_millis(300);
/// Minimum and maximum time to wait for a response before sending a second request.
const PATIENCE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(3));
/// Percentile of the latencies after which a response takes longer than usual.
const SLOW: usize = 50;
/// Size of the prompt window for fill in the middle, in tokens.
const GAP: WindowLimits = WindowLimits::Gap {
    before: 1_500,
    behind: 500,
};
/// Maximum length of a fill-in-the-middle response, in tokens.
const GAP_OUTPUT: TokenCount = TokenCount(192);

impl CompletionEngine {
    /// Returns when to query the model about the current text; `None` if not at all.
    pub(super) fn due(&self) -> Option<Duration> {
        let (edited, mode) = self.last_edit?;
        let state = self.state.as_ref()?;
        self.options.model.as_ref()?;
        let is_open = self.blocked.is_empty() && !self.has_remote();
        let is_new = self.asked_for != Some((state.snapshot.revision(), state.caret));
        if !is_open || !is_new {
            return None;
        }
        let due = edited + self.delay(mode, state);
        let mut current = self.requests.iter().filter(|request| !request.is_outdated);
        match (current.next(), current.next()) {
            (None, _) => Some(due),
            // The response may still complete the line. Only one that takes longer than usual gets
            // company, and only from a server that would process both.
            (Some(request), None) if !self.is_server_serial() => {
                Some(due.max(request.asked + self.patience()))
            }
            (Some(_), _) => None,
        }
    }

    /// Returns the delay between an edit and its request.
    fn delay(&self, mode: DebounceMode, state: &EditorState) -> Duration {
        match mode {
            DebounceMode::Eager => Duration::ZERO,
            DebounceMode::Typing
                if self.has_missed && self.asked_in_word && is_within_word(state) =>
            {
                WITHIN_WORD
            }
            DebounceMode::Typing => self.cadence.delay(),
        }
    }

    /// Returns how long to wait for a response before sending a second request.
    fn patience(&self) -> Duration {
        self.server.latency(SLOW).clamp(PATIENCE.0, PATIENCE.1)
    }

    /// Whether a response is expected that may complete the current text.
    pub(super) fn is_asking(&self) -> bool {
        self.requests.iter().any(|request| !request.is_outdated)
    }

    /// Whether the model's server processes one request at a time, as configured or as observed.
    pub(super) fn is_server_serial(&self) -> bool {
        let model = self.options.model.as_ref();
        model.is_some_and(|model| model.is_serial) || self.server.is_serial()
    }

    /// Queries the model about the current text if a request is due and no response is cached.
    pub(super) fn ask_if_due(&mut self, is_known: bool, source: &dyn ContextSource) {
        let Some(state) = self.state.clone() else {
            return;
        };
        if is_known {
            self.asked_for = Some((state.snapshot.revision(), state.caret));
            return;
        }
        if self.due().is_none_or(|due| due > self.now) {
            return;
        }
        self.asked_for = Some((state.snapshot.revision(), state.caret));
        if self.is_finished {
            if !self.lookahead_use.is_worthwhile() {
                return;
            }
            self.lookahead_use.requested(CaretText::of(&state));
        }
        self.asked_in_word |= is_within_word(&state);
        self.ask(&state, RequestPurpose::Now, source);
    }

    /// Queries the model about an editor state.
    pub(super) fn ask(
        &mut self,
        state: &EditorState,
        purpose: RequestPurpose,
        source: &dyn ContextSource,
    ) {
        let Some(model) = self.options.model.clone() else {
            return;
        };
        let root = self.options.root.as_ref();
        let sampling = Sampling {
            // An alternative must differ from the likeliest response.
            temperature: Some(if purpose == RequestPurpose::Another {
                0.8
            } else {
                0.0
            }),
            top_p: None,
        };
        let asked = match model.kind {
            TabKind::Gap => {
                let context = gather(state, root, GAP, &self.history, source);
                let expected = ExpectedReply::Gap {
                    caret_text: CaretText::of(state),
                    stream: Box::new(CompletionStream::new(state, state.caret)),
                };
                Some((gap(&model.id, context, sampling), expected))
            }
            TabKind::NextEdit(format) => {
                let frame = format::frame(format);
                let context = gather(state, root, frame, &self.history, source);
                let prompt = format::prompt(format, &context);
                prompt.map(|prompt| {
                    let change = Change::none(state.snapshot.revision());
                    let expected = ExpectedReply::NextEdit {
                        format,
                        window: Box::new(context.window),
                        since: (state.snapshot.clone(), change),
                        text: String::new(),
                    };
                    (prompted(&model.id, prompt, sampling), expected)
                })
            }
        };
        let Some((body, expected)) = asked else {
            return;
        };
        self.make_room();
        self.last_request += 1;
        self.requests.push(ActiveRequest {
            id: RequestId(self.last_request),
            purpose,
            model: model.id,
            asked: self.now,
            expected,
            is_outdated: false,
        });
        let request = RequestId(self.last_request);
        self.effects.push(EngineEffect::Ask { request, body });
    }

    /// Handles a streaming event of a response.
    pub(super) fn stream(&mut self, request: RequestId, event: StreamEvent) {
        let ix = self.requests.iter().position(|it| it.id == request);
        // Events of a cancelled request may still arrive.
        let Some(ix) = ix else {
            return;
        };
        match event {
            StreamEvent::TextDelta(piece) => match self.requests[ix].push(&piece) {
                StreamControl::More => self.show_lines(ix),
                StreamControl::Enough => {
                    self.effects.push(EngineEffect::Cancel { request });
                    let request = self.requests.remove(ix);
                    self.finished(request);
                }
            },
            StreamEvent::Restart => self.requests[ix].restart(),
            StreamEvent::Stop { .. } => {
                let request = self.requests.remove(ix);
                self.finished(request);
            }
            StreamEvent::Failed(failure) => {
                self.requests.remove(ix);
                self.failed = Some(failure.message);
            }
            _ => {}
        }
    }

    /// Cancels the requests whose responses are of no use. A response for an earlier position is
    /// kept for the cache, unless it keeps the server from processing the next request.
    pub(super) fn cancel_useless(&mut self) {
        if self.requests.is_empty() {
            return;
        }
        let Some(now) = self.state.as_ref().map(CaretText::of) else {
            self.cancel_all();
            return;
        };
        let is_serial = self.is_server_serial();
        let candidates: Vec<_> = self.candidates.iter().map(|it| it.suggestion.id).collect();
        let effects = &mut self.effects;
        self.requests.retain_mut(|request| {
            let value = request.value(&now, &candidates);
            request.is_outdated = value != RequestValue::Current;
            let is_kept = match value {
                RequestValue::Current => true,
                RequestValue::Later => !is_serial,
                RequestValue::None => false,
            };
            if !is_kept {
                let request = request.id;
                effects.push(EngineEffect::Cancel { request });
            }
            is_kept
        });
    }

    /// Cancels the oldest request if there are as many as are allowed. An outdated one goes first.
    fn make_room(&mut self) {
        if self.requests.len() < MAX_REQUESTS {
            return;
        }
        let outdated = self.requests.iter().position(|request| request.is_outdated);
        let request = self.requests.remove(outdated.unwrap_or(0)).id;
        self.effects.push(EngineEffect::Cancel { request });
    }

    pub(super) fn cancel_all(&mut self) {
        let cancelled = self.requests.drain(..).map(|request| EngineEffect::Cancel {
            request: request.id,
        });
        self.effects.extend(cancelled);
    }
}

/// Whether the caret follows a word character.
pub(super) fn is_within_word(state: &EditorState) -> bool {
    let before = state.snapshot.chars_before(state.caret).next();
    before.is_some_and(|ch| ch.is_alphanumeric() || ch == '_')
}

fn gap(model: &ModelId, context: EditContext, sampling: Sampling) -> CompletionRequest {
    let window = context.window;
    // The most relevant file goes next to the gap. These models continue the text of the prompt, so
    // the prompt has code only.
    let files = context.files.into_iter().rev();
    let code = files.filter(|file| file.why != SnippetReason::Diagnostics);
    let files = code.map(|file| FimFile {
        path: file.path,
        text: file.text,
    });
    CompletionRequest::Fim(Box::new(Fim {
        path: context.path,
        project: context.project,
        files: files.collect(),
        sampling,
        ..Fim::gap(
            model.clone(),
            window.before_region(),
            window.after_region(),
            GAP_OUTPUT,
        )
    }))
}

fn prompted(model: &ModelId, prompt: format::ModelPrompt, sampling: Sampling) -> CompletionRequest {
    let form = match prompt.form {
        PromptKind::Raw => FimForm::Raw,
        PromptKind::Edit => FimForm::Edit,
        PromptKind::Chat { system, prediction } => {
            let messages = vec![Message::text(Role::User, prompt.text)];
            let mut request = ModelRequest::new(model.clone(), messages, prompt.max_output);
            request.system.push(SystemBlock {
                text: system,
                cache: CacheMark::None,
            });
            request.stop = prompt.stop;
            request.sampling = sampling;
            request.prediction = Some(prediction);
            return CompletionRequest::Chat(Box::new(request));
        }
    };
    CompletionRequest::Fim(Box::new(Fim {
        form,
        stop: prompt.stop,
        sampling,
        ..Fim::gap(model.clone(), prompt.text, "", prompt.max_output)
    }))
}
