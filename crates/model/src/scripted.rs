//! A client that plays scripts: the double of every model, for tests and for nothing else.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::{self, BoxFuture};
use futures::stream::{self, BoxStream, StreamExt};

use crate::{Client, Event, Failure, FailureClass, Fim, Request, StopReason, TokenCount, Usage};

/// Answers each request with the next script and remembers what was asked. Clones share both.
#[derive(Clone, Debug, Default)]
pub struct ScriptedClient {
    shared: Arc<Mutex<Shared>>,
}

/// One answer, step by step.
#[derive(Debug, Default)]
pub struct Script {
    steps: VecDeque<ScriptStep>,
}

/// One step of an answer.
pub enum ScriptStep {
    /// This event comes.
    Event(Event),
    /// Nothing comes until the future is done: a sleep of a paused clock, a channel, or for ever.
    Until(BoxFuture<'static, ()>),
}

#[derive(Debug, Default)]
struct Shared {
    scripts: VecDeque<Script>,
    requests: Vec<Request>,
    fims: Vec<Fim>,
    open: usize,
    cancelled: usize,
}

impl ScriptedClient {
    /// A client that plays `scripts` in order. A request beyond the last fails and says so.
    pub fn new(scripts: impl IntoIterator<Item = Script>) -> Self {
        let client = Self::default();
        client.lock().scripts.extend(scripts);
        client
    }

    /// Adds a script.
    pub fn then(&self, script: Script) {
        self.lock().scripts.push_back(script);
    }

    /// What was asked so far.
    pub fn requests(&self) -> Vec<Request> {
        self.lock().requests.clone()
    }

    /// Which gaps were to be filled so far.
    pub fn fims(&self) -> Vec<Fim> {
        self.lock().fims.clone()
    }

    /// How many streams are neither over nor dropped.
    pub fn open(&self) -> usize {
        self.lock().open
    }

    /// How many streams were dropped before their last event.
    pub fn cancelled(&self) -> usize {
        self.lock().cancelled
    }

    /// How many scripts were not played.
    pub fn left(&self) -> usize {
        self.lock().scripts.len()
    }

    // A test that panicked while it held the lock has failed already; the script is still whole.
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn play(&self) -> BoxStream<'static, Event> {
        let mut shared = self.lock();
        shared.open += 1;
        let script = shared.scripts.pop_front().unwrap_or_else(|| {
            Script::fails(Failure::new(
                FailureClass::InvalidRequest,
                "the script has no answer to this request; add one to the test",
            ))
        });
        let playing = Playing {
            client: self.clone(),
            steps: script.steps,
            is_over: false,
        };
        stream::unfold(playing, Playing::next).boxed()
    }
}

impl Client for ScriptedClient {
    fn send(&self, request: Request) -> BoxStream<'static, Event> {
        self.lock().requests.push(request);
        self.play()
    }

    fn complete(&self, request: Fim) -> BoxStream<'static, Event> {
        self.lock().fims.push(request);
        self.play()
    }
}

impl Script {
    /// These events, as they are.
    pub fn events(events: impl IntoIterator<Item = Event>) -> Self {
        Self {
            steps: events.into_iter().map(ScriptStep::Event).collect(),
        }
    }

    /// An answer of one text.
    pub fn text(text: &str) -> Self {
        Self::events([
            start(),
            Event::TextDelta(text.to_owned()),
            usage(text.len()),
            Event::Stop {
                reason: StopReason::EndTurn,
                raw: "end_turn".to_owned(),
            },
        ])
    }

    /// An answer of tool calls alone, each an id, a name and its arguments.
    pub fn calls(calls: &[(&str, &str, &str)]) -> Self {
        let mut events = vec![start()];
        let mut written = 0;
        for (index, (id, name, arguments)) in (0..).zip(calls) {
            written += arguments.len();
            events.extend([
                Event::ToolStart {
                    index,
                    id: (*id).to_owned(),
                    name: (*name).to_owned(),
                },
                Event::ToolArgsDelta {
                    index,
                    fragment: (*arguments).to_owned(),
                },
                Event::ToolEnd { index },
            ]);
        }
        events.push(usage(written));
        events.push(Event::Stop {
            reason: StopReason::ToolUse,
            raw: "tool_use".to_owned(),
        });
        Self::events(events)
    }

    /// No answer.
    pub fn fails(failure: Failure) -> Self {
        Self::events([Event::Failed(failure)])
    }

    /// Then nothing comes, until the caller gives up.
    pub fn then_silence(self) -> Self {
        self.then_until(future::pending())
    }

    /// Then nothing comes until `future` is done.
    pub fn then_until(mut self, future: impl Future<Output = ()> + Send + 'static) -> Self {
        self.steps.push_back(ScriptStep::Until(Box::pin(future)));
        self
    }

    /// Then these events come.
    pub fn then_events(mut self, events: impl IntoIterator<Item = Event>) -> Self {
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

fn start() -> Event {
    Event::Start {
        id: "scripted".to_owned(),
        model: "scripted".to_owned(),
    }
}

fn usage(bytes: usize) -> Event {
    Event::Usage(Usage {
        input: TokenCount(100),
        output: TokenCount(1 + bytes as u64 / 4),
        ..Usage::default()
    })
}

struct Playing {
    client: ScriptedClient,
    steps: VecDeque<ScriptStep>,
    is_over: bool,
}

impl Playing {
    async fn next(mut self) -> Option<(Event, Self)> {
        loop {
            match self.steps.pop_front() {
                Some(ScriptStep::Until(future)) => future.await,
                Some(ScriptStep::Event(event)) if !self.is_over => {
                    self.is_over = event.is_last();
                    return Some((event, self));
                }
                Some(ScriptStep::Event(_)) => {}
                None if self.is_over => return None,
                // The contract wants a last event; a script without one is a torn stream.
                None => {
                    self.is_over = true;
                    let failure =
                        Failure::new(FailureClass::Torn, "the script ends without a last event");
                    return Some((Event::Failed(failure), self));
                }
            }
        }
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        let mut shared = self.client.lock();
        shared.open -= 1;
        shared.cancelled += usize::from(!self.is_over);
    }
}

#[cfg(test)]
mod tests;
