//! One request to the model and its response: sent, streamed to the view, recorded.

use futures::StreamExt;
use model::policy::route::{RequestedModel, RouteDecision};
use model::{
    Assembler, Failure, FailureClass, ModelResponse, PartContent, StopReason, StreamEvent as Piece,
    Usage,
};
use router::actor::RouterEvent;

use super::prompt::TurnProgress;
use super::session::{SessionTask, TurnStop};
use crate::record::{SessionRecord, StoredContent, StoredPart, StoredUsage, TurnEnd};
use crate::session::AgentEvent;
use crate::stored_parts;

/// The next action that a response asks for; each failure is one to which the turn can react.
#[derive(Debug)]
pub(super) enum AnswerAction {
    /// Run these calls: id, the model's name for the tool, arguments.
    Calls(Vec<(String, String, String)>),
    /// Nothing more: the model is done.
    Done(StopReason),
    /// The conversation is too long for the model; there was no output.
    TooLong(Failure),
    /// The provider refused the request; there was no output.
    Refused(Failure),
    /// The request failed for another reason.
    Failed(Failure),
}

/// A response as received from the stream.
struct ReceivedAnswer {
    answer: ModelResponse,
    /// Model that produced the response.
    model: String,
    is_stopped: bool,
}

impl SessionTask {
    /// Sends the next request, streams the response to the view and records it. `step` counts the
    /// requests of the turn, `prompt` is the user's text, which a router may judge, and `standing`
    /// the turn's progress. A failure that a retry without parts may cure is an action, not an end.
    pub(super) async fn ask(
        &mut self,
        step: u64,
        prompt: &str,
        standing: TurnProgress,
    ) -> Result<AnswerAction, TurnStop> {
        let request = self.request();
        let fingerprint = self.transcript.fingerprint(&self.offered.specs);
        let same_bytes = fingerprint.same_bytes(&self.fingerprint);
        let bytes = fingerprint.bytes();
        let asked = SessionRecord::Asked {
            turn: self.turn,
            step,
            model: self.model.clone(),
            prompt: fingerprint.hash(),
            bytes,
            same_bytes,
        };
        self.fingerprint = fingerprint;
        self.write(vec![asked]).await?;
        let came = self.receive_answer(request, prompt, standing).await;
        self.record_answer(step, bytes, came).await
    }

    async fn receive_answer(
        &mut self,
        request: model::ModelRequest,
        prompt: &str,
        standing: TurnProgress,
    ) -> ReceivedAnswer {
        let mut assembler = Assembler::new(&request.messages).with_used(self.transcript.call_ids());
        let mut model = request.model.to_string();
        let gateway = self.start.harness.parts.models.clone();
        let mut told = gateway.ask(self.router_request(request, prompt, standing));
        loop {
            let next = self.inbox.during(told.next()).await;
            let (is_stopped, next) = match next {
                Ok(next) => (false, next),
                Err(super::inbox::TurnStopped) => (true, None),
            };
            let Some(next) = next else {
                // Dropping the stream closes its socket.
                drop(told);
                return ReceivedAnswer {
                    answer: assembler.finish(),
                    model,
                    is_stopped,
                };
            };
            match next {
                RouterEvent::Decided(decision) => {
                    if let Some(route) = &decision.chosen {
                        model = route.model.to_string();
                        self.note_route(&model, &decision).await;
                    }
                    self.events.send_lossy(AgentEvent::Decided(decision));
                }
                RouterEvent::Waiting { failure, pause } => {
                    self.events.send_lossy(AgentEvent::Waiting {
                        why: failure.message,
                        pause,
                    })
                }
                RouterEvent::Event(piece) => self.show_piece(&mut assembler, piece),
            }
        }
    }

    /// Records the choice of the router for a session that left it to the router, unless the turn
    /// already works with this model.
    async fn note_route(&mut self, model: &str, decision: &RouteDecision) {
        if decision.wanted != RequestedModel::Auto {
            return;
        }
        let routed = (self.turn, model.to_owned());
        if self.routed.as_ref() == Some(&routed) {
            return;
        }
        let record = SessionRecord::Routed {
            turn: self.turn,
            model: model.to_owned(),
            reason: decision.reason_clause(),
        };
        self.routed = Some(routed);
        self.write_later(vec![record]).await;
    }

    fn show_piece(&self, assembler: &mut Assembler, piece: Piece) {
        let call = assembler.push(&piece).map(str::to_owned);
        let event = match (piece, call) {
            (Piece::TextDelta(text), _) => AgentEvent::Text(text),
            (Piece::ReasoningDelta(text), _) => AgentEvent::Thought(text),
            (Piece::Restart, _) => AgentEvent::Restarted,
            (Piece::ToolStart { name, .. }, Some(call)) => AgentEvent::CallDelta {
                call,
                name,
                fragment: String::new(),
            },
            (Piece::ToolArgsDelta { fragment, .. }, Some(call)) => AgentEvent::CallDelta {
                call,
                name: String::new(),
                fragment,
            },
            _ => return,
        };
        self.events.send_lossy(event);
    }

    /// Records a response that has content or a stop reason, books its cost, and decides how the
    /// turn goes on; complete calls run, however it ended. `bytes` is the size of the request.
    /// Fails with `TurnStop::Stopped` if the user stopped it, after answering its calls.
    async fn record_answer(
        &mut self,
        step: u64,
        bytes: u64,
        came: ReceivedAnswer,
    ) -> Result<AnswerAction, TurnStop> {
        let ReceivedAnswer {
            answer,
            model,
            is_stopped,
        } = came;
        let calls = complete_calls(&answer);
        let (stop, failure) = (answer.stop, answer.failure.clone());
        let parts = stored_parts(&answer);
        let says_something = !parts.is_empty();
        if says_something || stop.is_some() {
            let word = match stop {
                Some(stop) => stop_word(stop),
                None if is_stopped => "stopped",
                None => "broken",
            };
            let usage = answer
                .usage
                .unwrap_or_else(|| self.estimate_usage(bytes, &answer));
            let cost = self
                .models()
                .price(&model)
                .and_then(|price| price.cost(&usage));
            self.budget.spend(cost);
            self.budget.count_tokens(usage.prompt().plus(usage.output));
            let is_counted =
                answer.usage.is_some() && self.estimator.observe(bytes, usage.prompt());
            self.measure_answer(&model, &usage);
            self.write_later(vec![SessionRecord::Answered {
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
            if is_counted {
                self.note_count(usage.total().0);
            }
            self.report_fill();
        }
        self.note_damage(&model, &answer.problems).await;
        if is_stopped {
            self.abort_unstarted(&calls).await;
            return Err(TurnStop::Stopped);
        }
        // Completed calls run, however the response ended.
        if !calls.is_empty() {
            return Ok(AnswerAction::Calls(calls));
        }
        match (stop, failure) {
            (Some(stop), _) => Ok(AnswerAction::Done(stop)),
            (None, failure) => {
                let failure = failure.unwrap_or_else(|| {
                    Failure::new(
                        FailureClass::Torn,
                        "The response broke off without a reason.",
                    )
                });
                self.on_failure(step, says_something, failure).await
            }
        }
    }

    /// Records where the stream of an answer violated its protocol, for the user.
    async fn note_damage(&mut self, model: &str, problems: &[String]) {
        let notes = problems.iter().map(|problem| SessionRecord::Noted {
            text: format!(
                "{model} did not answer as its protocol asks: {problem}; if a part of the answer is missing, ask again"
            ),
        });
        let notes: Vec<SessionRecord> = notes.collect();
        if !notes.is_empty() {
            self.write_later(notes).await;
        }
    }

    /// Estimates the usage of a response without usage data: it was stopped, or broke off.
    fn estimate_usage(&self, bytes: u64, answer: &ModelResponse) -> Usage {
        let said = answer.message.parts.iter().map(|part| match &part.content {
            PartContent::Text(text) | PartContent::Reasoning(text) => text.len() as u64,
            PartContent::ToolCall { arguments, .. } => arguments.len() as u64,
            _ => 0,
        });
        Usage {
            input: self.estimator.estimate(bytes),
            output: self.estimator.estimate(said.sum()),
            ..Usage::default()
        }
    }

    /// Decides how the turn goes on after a failure. If the response was empty, `ContextOverflow`
    /// gives `TooLong` and `InvalidRequest` gives `Refused`, which a retry may cure; any other
    /// failure is recorded and gives `Failed`. Always `Ok`.
    async fn on_failure(
        &mut self,
        step: u64,
        says_something: bool,
        failure: Failure,
    ) -> Result<AnswerAction, TurnStop> {
        if failure.class == FailureClass::ContextOverflow && !says_something {
            return Ok(AnswerAction::TooLong(failure));
        }
        if failure.class == FailureClass::InvalidRequest && !says_something {
            return Ok(AnswerAction::Refused(failure));
        }
        self.note_failure(step, &failure).await;
        Ok(AnswerAction::Failed(failure))
    }

    /// Records a failed request without waiting for the disk.
    pub(super) async fn note_failure(&mut self, step: u64, failure: &Failure) {
        self.write_later(vec![SessionRecord::Failed {
            turn: self.turn,
            step,
            class: failure.class.name().to_owned(),
            message: failure.message.clone(),
        }])
        .await;
    }
}

/// Returns the complete calls of a response.
fn complete_calls(answer: &ModelResponse) -> Vec<(String, String, String)> {
    let calls = answer.calls();
    calls
        .map(|(id, name, arguments)| {
            let name = if name.is_empty() { UNNAMED_TOOL } else { name };
            (id.to_owned(), name.to_owned(), arguments.to_owned())
        })
        .collect()
}

/// Name for a call without one, since no wire accepts an empty name.
const UNNAMED_TOOL: &str = "unnamed";

/// Returns the parts of a response to store: everything but incomplete calls.
fn stored_parts(answer: &ModelResponse) -> Vec<StoredPart> {
    let message = answer.clone().into_history();
    let kept = message.parts.iter().filter_map(|part| {
        let mut kept = stored_parts::to_stored(part)?;
        if let StoredContent::Call { name, .. } = &mut kept.content
            && name.is_empty()
        {
            UNNAMED_TOOL.clone_into(name);
        }
        Some(kept)
    });
    kept.collect()
}

/// Returns the end of a turn whose request failed: out of budget, stopped, or failed, by the class.
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
