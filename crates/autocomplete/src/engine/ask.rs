//! When a model is asked, and what.
//!
//! A request that is under way may still answer what is typed meanwhile, so it is waited for; where the last
//! suggestion was wrong, the rest of the word tells a model nothing new, so the word is waited for.

use std::time::Duration;

use model::{CacheMark, TokenCount};
use model::{Event, Fim, FimFile, FimForm, Message, ModelId, Request, Role, Sampling, SystemBlock};
use text::Change;

use super::flight::{Expected, Flight, Purpose};
use super::{Ask, Effect, Engine, Pace, RequestId, TabKind};
use crate::Scene;
use crate::cache::Place;
use crate::context::{Context, ContextSource, Frame, gather};
use crate::format::{self, Form};
use crate::validate::{Flow, Stream};

/// Requests at once.
const MOST: usize = 2;
/// How long to wait behind a deletion, and within a word that a suggestion was wrong about.
const BEHIND_DELETION: Duration = Duration::from_millis(120);
const WITHIN_WORD: Duration = Duration::from_millis(300);
/// An answer is waited for at least this long, and at most, before another request goes beside it.
const PATIENCE: (Duration, Duration) = (Duration::from_millis(400), Duration::from_secs(3));
/// What a gap's prompt takes of the text, in tokens.
const GAP: Frame = Frame::Gap {
    before: 1_500,
    behind: 500,
};
/// The most that fills a gap, in tokens.
const GAP_OUTPUT: TokenCount = TokenCount(192);

impl Engine {
    /// When a model is to be asked about the text of now; `None` if not at all.
    pub(super) fn due(&self) -> Option<Duration> {
        let (edited, pace) = self.last_edit?;
        let scene = self.scene.as_ref()?;
        self.options.model.as_ref()?;
        let is_open = self.blocked.is_empty() && !self.has_remote();
        let is_new = self.asked_for != Some((scene.snapshot.revision(), scene.caret));
        if !is_open || !is_new || self.flights.len() >= MOST {
            return None;
        }
        let wait = match pace {
            Pace::Eager => Duration::ZERO,
            Pace::Deleting => BEHIND_DELETION,
            Pace::Typing if self.has_missed && is_within_word(scene) => WITHIN_WORD,
            Pace::Typing => self.rhythm.wait(),
        };
        Some((edited + wait).max(self.patient_until()))
    }

    /// Until when a request under way is worth waiting for.
    fn patient_until(&self) -> Duration {
        let patience = self.latencies.percentile(90).mul_f32(1.3);
        let patience = patience.clamp(PATIENCE.0, PATIENCE.1);
        let flights = self.flights.iter();
        let now = flights.filter(|flight| flight.purpose == Purpose::Now);
        now.map(|flight| flight.asked + patience)
            .max()
            .unwrap_or_default()
    }

    /// Asks about the text of now, if it is time and the answer is not known.
    pub(super) fn ask_if_due(&mut self, is_known: bool, source: &dyn ContextSource) {
        let Some(scene) = self.scene.clone() else {
            return;
        };
        if is_known {
            self.asked_for = Some((scene.snapshot.revision(), scene.caret));
            return;
        }
        if self.due().is_some_and(|due| due <= self.now) {
            self.asked_for = Some((scene.snapshot.revision(), scene.caret));
            self.ask(&scene, Purpose::Now, source);
        }
    }

    /// Asks the model about a scene.
    pub(super) fn ask(&mut self, scene: &Scene, purpose: Purpose, source: &dyn ContextSource) {
        let Some(model) = self.options.model.clone() else {
            return;
        };
        let root = self.options.root.as_ref();
        let sampling = Sampling {
            // Another answer than the likeliest.
            temperature: Some(if purpose == Purpose::Another {
                0.8
            } else {
                0.0
            }),
            top_p: None,
        };
        let asked = match model.kind {
            TabKind::Gap => {
                let context = gather(scene, root, GAP, &self.trail, source);
                let expected = Expected::Gap {
                    place: Place::of(scene),
                    at: scene.caret,
                    stream: Box::new(Stream::new(scene, scene.caret)),
                };
                Some((gap(&model.id, context, sampling), expected))
            }
            TabKind::NextEdit(format) => {
                let frame = format::frame(format);
                let context = gather(scene, root, frame, &self.trail, source);
                let prompt = format::prompt(format, &context);
                prompt.map(|prompt| {
                    let change = Change::none(scene.snapshot.revision());
                    let expected = Expected::NextEdit {
                        format,
                        window: Box::new(context.window),
                        since: (scene.snapshot.clone(), change),
                        text: String::new(),
                    };
                    (prompted(&model.id, prompt, sampling), expected)
                })
            }
        };
        let Some((what, expected)) = asked else {
            return;
        };
        self.last_request += 1;
        let request = RequestId(self.last_request);
        self.flights.push(Flight {
            request,
            purpose,
            model: model.id,
            asked: self.now,
            expected,
        });
        self.effects.push(Effect::Ask { request, what });
    }

    /// A piece of an answer.
    pub(super) fn stream(&mut self, request: RequestId, event: Event) {
        let ix = self.flights.iter().position(|it| it.request == request);
        // What comes for a request that was cancelled was on its way already.
        let Some(ix) = ix else {
            return;
        };
        match event {
            Event::TextDelta(piece) => match self.flights[ix].push(&piece) {
                Flow::More => self.show_lines(ix),
                Flow::Enough => {
                    self.effects.push(Effect::Cancel { request });
                    let flight = self.flights.remove(ix);
                    self.finished(flight);
                }
            },
            Event::Restart => self.flights[ix].restart(),
            Event::Stop { .. } => {
                let flight = self.flights.remove(ix);
                self.finished(flight);
            }
            Event::Failed(failure) => {
                self.flights.remove(ix);
                self.failed = Some(failure.message);
            }
            _ => {}
        }
    }

    /// Cancels what nobody waits for any more.
    pub(super) fn cancel_unwanted(&mut self) {
        let Some(scene) = self.scene.clone() else {
            self.cancel_all();
            return;
        };
        if self.flights.is_empty() {
            return;
        }
        let now = Place::of(&scene);
        let offers: Vec<_> = self.offers.iter().map(|it| it.suggestion.id).collect();
        let effects = &mut self.effects;
        self.flights.retain_mut(|flight| {
            let is_wanted = flight.is_wanted(&scene, &now, &offers);
            if !is_wanted {
                let request = flight.request;
                effects.push(Effect::Cancel { request });
            }
            is_wanted
        });
    }

    pub(super) fn cancel_all(&mut self) {
        let cancelled = self.flights.drain(..).map(|flight| Effect::Cancel {
            request: flight.request,
        });
        self.effects.extend(cancelled);
    }
}

/// Whether the caret stands behind a letter of a word.
pub(super) fn is_within_word(scene: &Scene) -> bool {
    let before = scene.snapshot.chars_before(scene.caret).next();
    before.is_some_and(|ch| ch.is_alphanumeric() || ch == '_')
}

fn gap(model: &ModelId, context: Context, sampling: Sampling) -> Ask {
    let window = context.window;
    // The most helpful stands next to the gap.
    let files = context.files.into_iter().rev().map(|file| FimFile {
        path: file.path,
        text: file.text,
    });
    Ask::Fim(Box::new(Fim {
        path: context.path,
        project: context.project,
        files: files.collect(),
        sampling,
        ..Fim::gap(model.clone(), window.above(), window.below(), GAP_OUTPUT)
    }))
}

fn prompted(model: &ModelId, prompt: format::Prompt, sampling: Sampling) -> Ask {
    let form = match prompt.form {
        Form::Raw => FimForm::Raw,
        Form::Edit => FimForm::Edit,
        Form::Chat { system } => {
            let messages = vec![Message::text(Role::User, prompt.text)];
            let mut request = Request::new(model.clone(), messages, prompt.max_output);
            request.system.push(SystemBlock {
                text: system,
                cache: CacheMark::None,
            });
            request.stop = prompt.stop;
            request.sampling = sampling;
            return Ask::Chat(Box::new(request));
        }
    };
    Ask::Fim(Box::new(Fim {
        form,
        stop: prompt.stop,
        sampling,
        ..Fim::gap(model.clone(), prompt.text, "", prompt.max_output)
    }))
}
