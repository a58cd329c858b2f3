//! Decides when to query a model, and builds the request.
//!
//! A request in flight may still predict what is typed meanwhile, so the engine waits for it. After
//! a wrong suggestion, further letters of the same word tell the model little, so the engine waits
//! longer within the word.

use std::time::Duration;

use model::{CacheMark, TokenCount};
use model::{
    Fim, FimFile, FimForm, Message, ModelId, ModelRequest, Role, Sampling, StreamEvent, SystemBlock,
};
use text::Change;

use super::in_flight::{ActiveRequest, ExpectedReply, RequestPurpose};
use super::{CompletionEngine, CompletionRequest, DebounceMode, EngineEffect, RequestId, TabKind};
use crate::EditorState;
use crate::cache::CaretText;
use crate::context::{ContextSource, EditContext, WindowLimits, gather};
use crate::format::{self, PromptKind};
use crate::validate::{CompletionStream, StreamControl};

/// Maximum number of concurrent requests.
const MAX_REQUESTS: usize = 2;
/// Delay after a deletion, and within a word that the last suggestion got wrong.
const BEHIND_DELETION: Duration = Duration::from_millis(120);
const WITHIN_WORD: Duration = Duration::from_millis(300);
/// Minimum and maximum time to wait for a response before sending a second request.
const PATIENCE: (Duration, Duration) = (Duration::from_millis(400), Duration::from_secs(3));
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
        if !is_open || !is_new || self.requests.len() >= MAX_REQUESTS {
            return None;
        }
        let wait = match mode {
            DebounceMode::Eager => Duration::ZERO,
            DebounceMode::Deleting => BEHIND_DELETION,
            DebounceMode::Typing if self.has_missed && is_within_word(state) => WITHIN_WORD,
            DebounceMode::Typing => self.cadence.wait(),
        };
        Some((edited + wait).max(self.patient_until()))
    }

    /// Returns until when to wait for the request in flight.
    fn patient_until(&self) -> Duration {
        let patience = self.latencies.percentile(90).mul_f32(1.3);
        let patience = patience.clamp(PATIENCE.0, PATIENCE.1);
        let requests = self.requests.iter();
        let now = requests.filter(|request| request.purpose == RequestPurpose::Now);
        now.map(|request| request.asked + patience)
            .max()
            .unwrap_or_default()
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
        if self.due().is_some_and(|due| due <= self.now) {
            self.asked_for = Some((state.snapshot.revision(), state.caret));
            self.ask(&state, RequestPurpose::Now, source);
        }
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
                    at: state.caret,
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
        self.last_request += 1;
        self.requests.push(ActiveRequest {
            id: RequestId(self.last_request),
            purpose,
            model: model.id,
            asked: self.now,
            expected,
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

    /// Cancels the requests that are no longer needed.
    pub(super) fn cancel_unwanted(&mut self) {
        let Some(state) = self.state.clone() else {
            self.cancel_all();
            return;
        };
        if self.requests.is_empty() {
            return;
        }
        let now = CaretText::of(&state);
        let candidates: Vec<_> = self.candidates.iter().map(|it| it.suggestion.id).collect();
        let effects = &mut self.effects;
        self.requests.retain_mut(|request| {
            let is_wanted = request.is_wanted(&state, &now, &candidates);
            if !is_wanted {
                let request = request.id;
                effects.push(EngineEffect::Cancel { request });
            }
            is_wanted
        });
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
    // The most relevant file goes next to the gap.
    let files = context.files.into_iter().rev().map(|file| FimFile {
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
        PromptKind::Chat { system } => {
            let messages = vec![Message::text(Role::User, prompt.text)];
            let mut request = ModelRequest::new(model.clone(), messages, prompt.max_output);
            request.system.push(SystemBlock {
                text: system,
                cache: CacheMark::None,
            });
            request.stop = prompt.stop;
            request.sampling = sampling;
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
