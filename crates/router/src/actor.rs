//! The model router: decides which request is sent to which model, and when.
//!
//! One task owns the state (`state`) and applies the policies of `model::policy`. The streams that
//! callers hold ask it for permission, send their requests themselves, and report the outcome
//! (`routed_stream`). So an event passes from a provider to its reader without a detour, and dropping a
//! stream closes its socket at once.
//!
//! Invariant: a request is sent only if limits, health and budgets allow it at that moment.
//! Invariant: reservations of a request are released exactly once, however it ends.
//! Invariant: a caller's stream ends with exactly one last event, and the part before a `Restart`
//! never contained a complete tool call.
//! Start at `Router::start` and `RouterHandle::submit`; `routed_stream` explains the handling of
//! interrupted answers.

mod day;
mod estimate;
mod messages;
mod request;
mod route;
mod route_selector;
mod routed_stream;
mod run;
mod state;
mod usage_store;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use model::policy::route::{Abilities, RouteDecision};
use model::policy::{AgentId, Caps, PrefixHash, RequestClass, Retry, TurnId};
use model::{ModelId, PartContent};
use tokio::sync::{mpsc, oneshot};

pub use request::{ModelChoice, RequestPayload, RouterEvent, RouterRequest, RoutingOptions};
pub use route::{RouteConfig, RouteHealth, StallLimits};
pub use usage_store::{CallRecord, CallReservation, NoUsageStore, UsageStore};

use estimate::RequestSize;
use messages::{RouterCommand, StreamReport, Submission, SubmissionId};
use routed_stream::RoutedStream;
use run::RouterTask;

/// Capacity of the command channel. Callers wait when it is full; the task handles a command in
/// microseconds.
const COMMAND_CAPACITY: usize = 256;
/// Providers do not cache shorter prefixes (in tokens), so no request waits for a leader to write
/// them.
const MIN_PREFIX_TOKENS: u64 = 1_024;

/// Configuration of a router.
pub struct RouterConfig {
    /// All routes; of two to the same model the preferred one comes first.
    pub routes: Vec<RouteConfig>,
    /// Models available to `ModelChoice::Auto`; if empty, all models that are not deprecated.
    pub auto: Vec<ModelId>,
    /// Budget caps on money and tokens.
    pub caps: Caps,
    /// Retry rules while another route could take over.
    pub retry: Retry,
    /// Retry rules for a request without an alternative route, such as `patient_retry()`.
    pub retry_alone: Retry,
    /// Records calls and decisions.
    pub usage_store: Arc<dyn UsageStore>,
    /// Provides the time in milliseconds since 1970. Waits are measured by tokio's clock.
    pub clock: WallClock,
    /// Seed of the jitter in waits.
    pub seed: u64,
}

/// A source of wall clock time.
#[derive(Clone)]
pub struct WallClock(Arc<dyn Fn() -> u64 + Send + Sync>);

/// Handle of a running router. Clones share it; its task ends when all handles and streams are
/// gone.
#[derive(Clone, Debug)]
pub struct RouterHandle {
    commands: mpsc::Sender<RouterCommand>,
    reports: mpsc::UnboundedSender<StreamReport>,
    last: Arc<AtomicU64>,
}

/// Entry point to start a router.
#[derive(Debug)]
pub struct Router;

impl Router {
    /// Starts the task on tokio's current runtime, which must have its timers enabled.
    pub fn start(config: RouterConfig) -> RouterHandle {
        let (commands, command_receiver) = mpsc::channel(COMMAND_CAPACITY);
        let (reports, report_receiver) = mpsc::unbounded_channel();
        let task = RouterTask::new(
            config,
            command_receiver,
            report_receiver,
            reports.downgrade(),
        );
        tokio::spawn(task.run());
        RouterHandle {
            commands,
            reports,
            last: Arc::new(AtomicU64::new(0)),
        }
    }
}

impl RouterHandle {
    /// Submits a request and returns its events. The first poll of the stream submits the request;
    /// dropping the stream cancels the request. The stream waits, retries and changes routes by
    /// itself, so its last event is final, even if it is a failure.
    pub fn submit(&self, request: RouterRequest) -> BoxStream<'static, RouterEvent> {
        let (reply, answer) = oneshot::channel();
        let size = RequestSize::of(&request.payload);
        let submission = Submission {
            question: SubmissionId(self.last.fetch_add(1, Ordering::Relaxed) + 1),
            caller: request.caller,
            model: request.payload.model().clone(),
            abilities: abilities(&request.payload, &request.options),
            size,
            prefix: prefix(&request.payload, &size, request.caller.class),
            conversation: match &request.payload {
                RequestPayload::Chat(chat) => chat.conversation.clone(),
                RequestPayload::Fim(_) => None,
            },
            options: request.options,
            reply,
            reports: self.reports.clone(),
        };
        let routed = RoutedStream::new(
            request.payload,
            submission,
            answer,
            self.commands.clone(),
            self.reports.clone(),
        );
        stream::unfold(routed, RoutedStream::next).boxed()
    }

    /// Ends a turn and closes its budget account. Waits only until the router takes the command.
    /// Has no effect after the router has ended.
    pub async fn end_turn(&self, agent: AgentId, turn: TurnId) {
        self.send_command(RouterCommand::EndTurn(agent, turn)).await;
    }

    /// Ends an agent and closes its budget accounts.
    pub async fn end_agent(&self, agent: AgentId) {
        self.send_command(RouterCommand::EndAgent(agent)).await;
    }

    /// Replaces the budget caps for later calls. Past spending still counts, so a new cap may be
    /// exhausted at once.
    pub async fn set_caps(&self, caps: Caps) {
        self.send_command(RouterCommand::SetCaps(caps)).await;
    }

    /// Returns the latest routing decisions and failovers, at most 256, oldest first. A decision
    /// says which route was chosen and why. Empty if there are none yet or the router has ended.
    pub async fn decisions(&self) -> Vec<Arc<RouteDecision>> {
        let (answer, decisions) = oneshot::channel();
        self.send_command(RouterCommand::Decisions(answer)).await;
        decisions.await.unwrap_or_default()
    }

    /// Returns the health of every route, in the order of the configuration. Returns an empty list
    /// if the router has ended.
    pub async fn health(&self) -> Vec<RouteHealth> {
        let (answer, health) = oneshot::channel();
        self.send_command(RouterCommand::Health(answer)).await;
        health.await.unwrap_or_default()
    }

    /// Waits until no request is queued or in flight and every call has been passed to the usage store.
    pub async fn idle(&self) {
        let (answer, idle) = oneshot::channel();
        self.send_command(RouterCommand::Idle(answer)).await;
        // An error means that the task has ended, so it is idle.
        idle.await.ok();
    }

    async fn send_command(&self, command: RouterCommand) {
        // A task that has ended needs no commands.
        self.commands.send(command).await.ok();
    }
}

/// Returns retry rules for a request without an alternative route. With these rules, a provider's
/// outage of up to ten minutes delays a turn instead of ending it.
pub fn patient_retry() -> Retry {
    Retry {
        per_route: 12,
        in_all: 20,
        max_total_wait: Duration::from_secs(10 * 60),
        ..Retry::default()
    }
}

impl WallClock {
    /// Creates a clock from a function that returns milliseconds since 1970.
    pub fn new(now_ms: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now_ms))
    }

    /// Returns the time in milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> u64 {
        (self.0)()
    }
}

impl fmt::Debug for WallClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WallClock(…)")
    }
}

fn abilities(payload: &RequestPayload, options: &RoutingOptions) -> Abilities {
    match payload {
        RequestPayload::Chat(request) => Abilities {
            tools: !request.tools.is_empty(),
            vision: request.messages.iter().any(has_image),
            edits: options.edits,
            fim: false,
        },
        RequestPayload::Fim(_) => Abilities {
            fim: true,
            ..Abilities::default()
        },
    }
}

/// Returns whether a message contains an image, as its own content or within a tool's result.
fn has_image(message: &model::Message) -> bool {
    let mut contents = message.parts.iter().map(|part| &part.content);
    contents.any(|content| match content {
        PartContent::Image { .. } => true,
        PartContent::ToolResult { content, .. } => {
            let mut inner = content.iter();
            inner.any(|content| matches!(content, PartContent::Image { .. }))
        }
        _ => false,
    })
}

/// Returns the hash of a prefix worth waiting for. Completions never wait.
fn prefix(payload: &RequestPayload, size: &RequestSize, class: RequestClass) -> Option<PrefixHash> {
    let RequestPayload::Chat(request) = payload else {
        return None;
    };
    let is_worth_waiting = class != RequestClass::Tab && size.prefix.0 >= MIN_PREFIX_TOKENS;
    is_worth_waiting.then(|| PrefixHash::of(request))
}

#[cfg(test)]
mod tests;
