//! A client that plays scripts: the test double of every model.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::{self, BoxFuture};
use futures::stream::{self, BoxStream, StreamExt};

use crate::{
    Failure, FailureClass, Fim, ModelClient, ModelRequest, StopReason, StreamEvent, TokenCount,
    Usage,
};

/// A model for tests. Answers each request, chat or fill-in-the-middle, with the next script, and
/// records the request. Clones share the scripts and the records.
#[derive(Clone, Debug, Default)]
pub struct ScriptedClient {
    shared: Arc<Mutex<ScriptedState>>,
}

/// The scripted answer to one request: events and waits, played in order.
#[derive(Debug, Default)]
pub struct ResponseScript {
    steps: VecDeque<ScriptStep>,
}

/// One step of an answer.
pub enum ScriptStep {
    /// Emits an event at once.
    Event(StreamEvent),
    /// Waits for the future: a sleep of a paused clock, a channel, or forever.
    Until(BoxFuture<'static, ()>),
}

#[derive(Debug, Default)]
struct ScriptedState {
    scripts: VecDeque<ResponseScript>,
    requests: Vec<ModelRequest>,
    fims: Vec<Fim>,
    open: usize,
    cancelled: usize,
}

impl ScriptedClient {
    /// Creates a client that plays `scripts` in order. Further requests fail with a message.
    pub fn new(scripts: impl IntoIterator<Item = ResponseScript>) -> Self {
        let client = Self::default();
        client.lock().scripts.extend(scripts);
        client
    }

    /// Appends a script to the queue.
    pub fn push_script(&self, script: ResponseScript) {
        self.lock().scripts.push_back(script);
    }

    /// Returns the chat requests so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.lock().requests.clone()
    }

    /// Returns the fill-in-the-middle requests so far.
    pub fn fims(&self) -> Vec<Fim> {
        self.lock().fims.clone()
    }

    /// Returns the number of streams that are neither finished nor dropped.
    pub fn open(&self) -> usize {
        self.lock().open
    }

    /// Returns the number of streams dropped before their last event.
    pub fn cancelled(&self) -> usize {
        self.lock().cancelled
    }

    /// Returns the number of scripts not played yet.
    pub fn remaining_scripts(&self) -> usize {
        self.lock().scripts.len()
    }

    // A test that panicked while holding the lock has already failed; the script remains intact.
    fn lock(&self) -> MutexGuard<'_, ScriptedState> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn play(&self) -> BoxStream<'static, StreamEvent> {
        let mut shared = self.lock();
        shared.open += 1;
        let script = shared.scripts.pop_front().unwrap_or_else(|| {
            ResponseScript::fails(Failure::new(
                FailureClass::InvalidRequest,
                "no script left for this request; add one to the test",
            ))
        });
        let playing = ScriptPlayback {
            client: self.clone(),
            steps: script.steps,
            is_over: false,
        };
        stream::unfold(playing, ScriptPlayback::next).boxed()
    }
}

impl ModelClient for ScriptedClient {
    fn send(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        self.lock().requests.push(request);
        self.play()
    }

    fn complete(&self, request: Fim) -> BoxStream<'static, StreamEvent> {
        self.lock().fims.push(request);
        self.play()
    }
}

impl ResponseScript {
    /// Creates a script of these events, verbatim.
    pub fn events(events: impl IntoIterator<Item = StreamEvent>) -> Self {
        Self {
            steps: events.into_iter().map(ScriptStep::Event).collect(),
        }
    }

    /// Creates an answer with a single text.
    pub fn text(text: &str) -> Self {
        Self::events([
            start(),
            StreamEvent::TextDelta(text.to_owned()),
            usage(text.len()),
            StreamEvent::Stop {
                reason: StopReason::EndTurn,
                raw: "end_turn".to_owned(),
            },
        ])
    }

    /// Creates an answer with only tool calls, each an id, a name and its arguments.
    pub fn calls(calls: &[(&str, &str, &str)]) -> Self {
        let mut events = vec![start()];
        let mut written = 0;
        for (index, (id, name, arguments)) in (0..).zip(calls) {
            written += arguments.len();
            events.extend([
                StreamEvent::ToolStart {
                    index,
                    id: (*id).to_owned(),
                    name: (*name).to_owned(),
                },
                StreamEvent::ToolArgsDelta {
                    index,
                    fragment: (*arguments).to_owned(),
                },
                StreamEvent::ToolEnd { index },
            ]);
        }
        events.push(usage(written));
        events.push(StreamEvent::Stop {
            reason: StopReason::ToolUse,
            raw: "tool_use".to_owned(),
        });
        Self::events(events)
    }

    /// Creates a script whose only event is this failure.
    pub fn fails(failure: Failure) -> Self {
        Self::events([StreamEvent::Failed(failure)])
    }

    /// Appends silence until the caller gives up.
    pub fn then_silence(self) -> Self {
        self.then_until(future::pending())
    }

    /// Appends silence until `future` completes.
    pub fn then_until(mut self, future: impl Future<Output = ()> + Send + 'static) -> Self {
        self.steps.push_back(ScriptStep::Until(Box::pin(future)));
        self
    }

    /// Appends these events to the script.
    pub fn then_events(mut self, events: impl IntoIterator<Item = StreamEvent>) -> Self {
        self.steps.extend(events.into_iter().map(ScriptStep::Event));
        self
    }
}

impl std::fmt::Debug for ScriptStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Event(event) => event.fmt(f),
            Self::Until(_) => f.write_str("Until(…)"),
        }
    }
}

fn start() -> StreamEvent {
    StreamEvent::Start {
        id: "scripted".to_owned(),
        model: "scripted".to_owned(),
    }
}

fn usage(bytes: usize) -> StreamEvent {
    StreamEvent::Usage(Usage {
        input: TokenCount(100),
        output: TokenCount(1 + bytes as u64 / 4),
        ..Usage::default()
    })
}

struct ScriptPlayback {
    client: ScriptedClient,
    steps: VecDeque<ScriptStep>,
    is_over: bool,
}

impl ScriptPlayback {
    /// Plays the script up to its next event and returns that event with the rest; `None` after the
    /// last event. A script that ends without a last event ends with the failure `Torn`.
    async fn next(mut self) -> Option<(StreamEvent, Self)> {
        loop {
            match self.steps.pop_front() {
                Some(ScriptStep::Until(future)) => future.await,
                Some(ScriptStep::Event(event)) if !self.is_over => {
                    self.is_over = event.is_last();
                    return Some((event, self));
                }
                Some(ScriptStep::Event(_)) => {}
                None if self.is_over => return None,
                // A stream must have a last event; a script without one is a torn stream.
                None => {
                    self.is_over = true;
                    let failure =
                        Failure::new(FailureClass::Torn, "the script ends without a last event");
                    return Some((StreamEvent::Failed(failure), self));
                }
            }
        }
    }
}

impl Drop for ScriptPlayback {
    fn drop(&mut self) {
        let mut shared = self.client.lock();
        shared.open -= 1;
        shared.cancelled += usize::from(!self.is_over);
    }
}

#[cfg(test)]
mod tests;
