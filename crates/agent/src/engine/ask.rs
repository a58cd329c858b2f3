//! One question to a model and its answer: sent, shown while it streams, written down.

use futures::StreamExt;
use model::{Answer, Assembler, Content, Event as Piece, Failure, FailureClass, StopReason, Usage};
use router::actor::Told;

use super::prompt::Standing;
use super::session::{Halt, Session};
use crate::parts;
use crate::record::{Record, StoredContent, StoredPart, StoredUsage, TurnEnd};
use crate::session::Event;

/// What an answer asks for.
#[derive(Debug)]
pub(super) enum Heard {
    /// These calls: id, the model's name for the tool, arguments.
    Calls(Vec<(String, String, String)>),
    /// Nothing: it is done.
    Done(StopReason),
    /// The conversation is too long for the model; nothing was said.
    TooLong(Failure),
    /// The provider does not take the request as it is; nothing was said.
    Refused(Failure),
    /// It failed.
    Failed(Failure),
}

/// An answer as it came.
struct Came {
    answer: Answer,
    /// Who answered.
    model: String,
    is_stopped: bool,
}

impl Session {
    /// Asks for the next answer and writes down what came.
    pub(super) async fn ask(
        &mut self,
        step: u64,
        prompt: &str,
        standing: Standing,
    ) -> Result<Heard, Halt> {
        let request = self.request();
        let fingerprint = self.transcript.fingerprint(&self.offered.specs);
        let same_bytes = fingerprint.same_bytes(&self.fingerprint);
        let bytes = fingerprint.bytes();
        let asked = Record::Asked {
            turn: self.turn,
            step,
            model: self.model.clone(),
            prompt: fingerprint.hash(),
            bytes,
            same_bytes,
        };
        self.fingerprint = fingerprint;
        self.write(vec![asked]).await?;
        let came = self.listen(request, prompt, standing).await;
        self.heard(step, bytes, came).await
    }

    async fn listen(&mut self, request: model::Request, prompt: &str, standing: Standing) -> Came {
        let mut assembler = Assembler::new(&request.messages).with_used(self.transcript.call_ids());
        let mut model = request.model.to_string();
        let mind = self.start.harness.parts.mind.clone();
        let mut told = mind.ask(self.question(request, prompt, standing));
        loop {
            let next = self.inbox.during(told.next()).await;
            let (is_stopped, next) = match next {
                Ok(next) => (false, next),
                Err(super::inbox::Stopped) => (true, None),
            };
            let Some(next) = next else {
                // Dropping the stream closes its socket.
                drop(told);
                return Came {
                    answer: assembler.finish(),
                    model,
                    is_stopped,
                };
            };
            match next {
                Told::Decided(decision) => {
                    if let Some(lane) = &decision.chosen {
                        model = lane.model.to_string();
                    }
                    self.events.show(Event::Decided(decision));
                }
                Told::Waiting { failure, pause } => self.events.show(Event::Waiting {
                    why: failure.message,
                    pause,
                }),
                Told::Event(piece) => self.show(&mut assembler, piece),
            }
        }
    }

    fn show(&self, assembler: &mut Assembler, piece: Piece) {
        let call = assembler.push(&piece).map(str::to_owned);
        let event = match (piece, call) {
            (Piece::TextDelta(text), _) => Event::Text(text),
            (Piece::ReasoningDelta(text), _) => Event::Thought(text),
            (Piece::Restart, _) => Event::Restarted,
            (Piece::ToolStart { name, .. }, Some(call)) => Event::CallDelta {
                call,
                name,
                fragment: String::new(),
            },
            (Piece::ToolArgsDelta { fragment, .. }, Some(call)) => Event::CallDelta {
                call,
                name: String::new(),
                fragment,
            },
            _ => return,
        };
        self.events.show(event);
    }

    async fn heard(&mut self, step: u64, bytes: u64, came: Came) -> Result<Heard, Halt> {
        let Came {
            answer,
            model,
            is_stopped,
        } = came;
        for problem in &answer.problems {
            log::warn!("session {}: {model}: {problem}", self.id);
        }
        let calls = calls(&answer);
        let (stop, failure) = (answer.stop, answer.failure.clone());
        let parts = kept(&answer);
        let says_something = !parts.is_empty();
        if says_something || stop.is_some() {
            let word = match stop {
                Some(stop) => stop_word(stop),
                None if is_stopped => "stopped",
                None => "broken",
            };
            let usage = answer.usage.unwrap_or_else(|| self.guess(bytes, &answer));
            let cost = self
                .mind()
                .price(&model)
                .and_then(|price| price.cost(&usage));
            self.purse.pay(cost);
            if answer.usage.is_some() {
                self.estimator.observe(bytes, usage.prompt());
            }
            self.measure_answer(&model, &usage);
            self.note(vec![Record::Answered {
                turn: self.turn,
                step,
                model: model.clone(),
                parts,
                usage: StoredUsage {
                    input: usage.input.0,
                    cache_read: usage.cache_read.0,
                    cache_write: usage.cache_write_5m.plus(usage.cache_write_1h).0,
                    output: usage.output.0,
                    reasoning: usage.reasoning.0,
                },
                cost_nano: cost.map(|cost| cost.0),
                stop: word.to_owned(),
            }])
            .await;
            self.events.show(Event::Fill {
                used: usage.total().0,
                limit: self.context_size().0,
                cost_nano: self.purse.spent().map(|cost| cost.0),
            });
        }
        if is_stopped {
            self.abort_unbegun(&calls).await;
            return Err(Halt::Stopped);
        }
        // What was completed stands, however the answer ended: its calls run.
        if !calls.is_empty() {
            return Ok(Heard::Calls(calls));
        }
        match (stop, failure) {
            (Some(stop), _) => Ok(Heard::Done(stop)),
            (None, failure) => {
                let failure = failure.unwrap_or_else(|| {
                    Failure::new(FailureClass::Torn, "The answer broke off without a reason.")
                });
                self.failed(step, says_something, failure).await
            }
        }
    }

    /// What an answer used of which nobody said so: it was stopped, or broke off.
    fn guess(&self, bytes: u64, answer: &Answer) -> Usage {
        let said = answer.message.parts.iter().map(|part| match &part.content {
            Content::Text(text) | Content::Reasoning(text) => text.len() as u64,
            Content::ToolCall { arguments, .. } => arguments.len() as u64,
            _ => 0,
        });
        Usage {
            input: self.estimator.estimate(bytes),
            output: self.estimator.estimate(said.sum()),
            ..Usage::default()
        }
    }

    async fn failed(
        &mut self,
        step: u64,
        says_something: bool,
        failure: Failure,
    ) -> Result<Heard, Halt> {
        if failure.class == FailureClass::ContextOverflow && !says_something {
            return Ok(Heard::TooLong(failure));
        }
        if failure.class == FailureClass::InvalidRequest && !says_something {
            return Ok(Heard::Refused(failure));
        }
        self.note_failure(step, &failure).await;
        Ok(Heard::Failed(failure))
    }

    /// Writes down that a question failed.
    pub(super) async fn note_failure(&mut self, step: u64, failure: &Failure) {
        self.note(vec![Record::Failed {
            turn: self.turn,
            step,
            class: failure.class.name().to_owned(),
            message: failure.message.clone(),
        }])
        .await;
    }
}

/// The complete calls of an answer.
fn calls(answer: &Answer) -> Vec<(String, String, String)> {
    let calls = answer.calls();
    calls
        .map(|(id, name, arguments)| {
            let name = if name.is_empty() { UNNAMED } else { name };
            (id.to_owned(), name.to_owned(), arguments.to_owned())
        })
        .collect()
}

/// What a call without a name is called, since no wire takes an empty name back.
const UNNAMED: &str = "unnamed";

/// What is kept of an answer: all but calls that broke off.
fn kept(answer: &Answer) -> Vec<StoredPart> {
    let message = answer.clone().into_history();
    let kept = message.parts.iter().filter_map(|part| {
        let mut kept = parts::stored(part)?;
        if let StoredContent::Call { name, .. } = &mut kept.content
            && name.is_empty()
        {
            UNNAMED.clone_into(name);
        }
        Some(kept)
    });
    kept.collect()
}

/// How a turn ends whose model failed.
pub(super) fn failed_end(failure: Failure) -> TurnEnd {
    match failure.class {
        FailureClass::Budget => TurnEnd::OutOfBudget {
            what: failure.message,
        },
        FailureClass::Cancelled => TurnEnd::Stopped,
        class => TurnEnd::Failed {
            class: class.name().to_owned(),
            what: failure.message,
        },
    }
}

fn stop_word(stop: StopReason) -> &'static str {
    match stop {
        StopReason::EndTurn => "end_turn",
        StopReason::ToolUse => "tool_use",
        StopReason::MaxTokens => "max_tokens",
        StopReason::StopText => "stop_text",
        StopReason::Refusal => "refusal",
        StopReason::Pause => "pause",
    }
}
