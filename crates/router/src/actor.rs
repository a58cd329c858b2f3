//! The one running router: it decides who may send what to whom, and when.
//!
//! One task holds all of that (`board`), judged by the machines of `model::policy`; streams that callers hold ask
//! it for leave, send for themselves, and report what they saw (`drive`). So an event passes from a provider to
//! its reader without a hop, and dropping a stream closes its socket at once.
//!
//! Invariant: nothing is sent that limits, health and budgets do not allow at that moment.
//! Invariant: what is held for a request is given back exactly once, however it ends.
//! Invariant: a caller's stream ends with exactly one last event, and what came before a `Restart` was never a
//! complete tool call.
//! Start at `Router::start` and `RouterHandle::submit`; what happens when an answer breaks off is told in `drive`.

mod ask;
mod board;
mod book;
mod choose;
mod day;
mod drive;
mod estimate;
mod lane;
mod post;
mod run;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use model::policy::route::{Abilities, RouteDecision};
use model::policy::{AgentId, Caps, Class, PrefixHash, Retry, TurnId};
use model::{Client, Content, Event, Fim, ModelId, Request};
use tokio::sync::{mpsc, oneshot};

pub use ask::{Ask, Choice, Question, Terms, Told};
pub use book::{Book, CallRecord, NoBook, Reserved};
pub use lane::{LaneConfig, LaneHealth, StallLimits};

use drive::Drive;
use estimate::Size;
use post::{Command, QuestionId, Report, Submission};
use run::Task;

/// Commands on the way to the task. Callers wait when it is full: the task takes one in microseconds.
const COMMANDS: usize = 256;
/// Prefixes below so many tokens are not cached by anybody, so nobody follows anybody for them.
const SMALLEST_PREFIX: u64 = 1_024;

/// What a router is started with.
pub struct RouterConfig {
    /// Every way to a model, the preferred of two to the same model first.
    pub lanes: Vec<LaneConfig>,
    /// What `Choice::Auto` may choose from; everything that is not deprecated where it is empty.
    pub auto: Vec<ModelId>,
    /// The budgets.
    pub caps: Caps,
    /// The rules of retrying while another lane could take over.
    pub retry: Retry,
    /// The rules where none could: `patient`, unless a test wants others.
    pub retry_alone: Retry,
    /// Where calls and decisions are written down.
    pub book: Arc<dyn Book>,
    /// Tells milliseconds since 1970. Waits are measured by tokio's clock.
    pub wall: Wall,
    /// What the small random parts of waits are drawn from.
    pub seed: u64,
}

/// The wall clock.
#[derive(Clone)]
pub struct Wall(Arc<dyn Fn() -> u64 + Send + Sync>);

/// The way to a running router. Clones reach the same; its task ends when all of them and all streams are gone.
#[derive(Clone, Debug)]
pub struct RouterHandle {
    commands: mpsc::Sender<Command>,
    reports: mpsc::UnboundedSender<Report>,
    last: Arc<AtomicU64>,
    /// On whose behalf the handle asks as a `Client`.
    caller: model::policy::Caller,
}

/// Starts routers.
#[derive(Debug)]
pub struct Router;

impl Router {
    /// Starts the task on tokio's current runtime, which must have its timers enabled.
    pub fn start(config: RouterConfig) -> RouterHandle {
        let (commands, obeyed) = mpsc::channel(COMMANDS);
        let (reports, taken) = mpsc::unbounded_channel();
        let task = Task::new(config, obeyed, taken, reports.downgrade());
        tokio::spawn(task.run());
        RouterHandle {
            commands,
            reports,
            last: Arc::new(AtomicU64::new(0)),
            caller: model::policy::Caller {
                class: Class::Turn,
                agent: AgentId(0),
                turn: TurnId(0),
            },
        }
    }
}

impl RouterHandle {
    /// Asks a question. Nothing happens until the stream is polled; dropping it takes the question back.
    pub fn submit(&self, ask: Ask) -> BoxStream<'static, Told> {
        let (verdict, answer) = oneshot::channel();
        let size = Size::of(&ask.what);
        let submission = Submission {
            question: QuestionId(self.last.fetch_add(1, Ordering::Relaxed) + 1),
            caller: ask.caller,
            model: ask.what.model().clone(),
            abilities: abilities(&ask.what, &ask.terms),
            size,
            prefix: prefix(&ask.what, &size, ask.caller.class),
            conversation: match &ask.what {
                Question::Chat(request) => request.conversation.clone(),
                Question::Fim(_) => None,
            },
            terms: ask.terms,
            verdict,
            reports: self.reports.clone(),
        };
        let drive = Drive::new(
            ask.what,
            submission,
            answer,
            self.commands.clone(),
            self.reports.clone(),
        );
        stream::unfold(drive, Drive::next).boxed()
    }

    /// The same router, asked on this caller's behalf where it is used as a `Client`.
    pub fn on_behalf_of(&self, caller: model::policy::Caller) -> Self {
        Self {
            caller,
            ..self.clone()
        }
    }

    /// A turn is over: its budget's account is closed.
    pub async fn end_turn(&self, agent: AgentId, turn: TurnId) {
        self.tell(Command::EndTurn(agent, turn)).await;
    }

    /// An agent is gone: its budget's accounts are closed.
    pub async fn end_agent(&self, agent: AgentId) {
        self.tell(Command::EndAgent(agent)).await;
    }

    /// Sets the budgets anew. What was spent stays spent.
    pub async fn set_caps(&self, caps: Caps) {
        self.tell(Command::SetCaps(caps)).await;
    }

    /// The latest decisions, the oldest first. Empty when the router has ended.
    pub async fn decisions(&self) -> Vec<Arc<RouteDecision>> {
        let (answer, decisions) = oneshot::channel();
        self.tell(Command::Decisions(answer)).await;
        decisions.await.unwrap_or_default()
    }

    /// How each lane fares. Empty when the router has ended.
    pub async fn health(&self) -> Vec<LaneHealth> {
        let (answer, health) = oneshot::channel();
        self.tell(Command::Health(answer)).await;
        health.await.unwrap_or_default()
    }

    /// Waits until nothing is queued and nothing under way, and every call has been written to the book.
    pub async fn idle(&self) {
        let (answer, idle) = oneshot::channel();
        self.tell(Command::Idle(answer)).await;
        // An error means that the task has ended, which is as idle as can be.
        idle.await.ok();
    }

    async fn tell(&self, command: Command) {
        // A task that has ended needs to be told nothing.
        self.commands.send(command).await.ok();
    }

    fn events(&self, what: Question) -> BoxStream<'static, Event> {
        let ask = Ask {
            what,
            caller: self.caller,
            terms: Terms::named(),
        };
        let told = self.submit(ask);
        told.filter_map(|told| async {
            match told {
                Told::Event(event) => Some(event),
                Told::Decided(_) | Told::Waiting { .. } => None,
            }
        })
        .boxed()
    }
}

/// Rules for a request that nobody else can take: a provider's bad minutes are waited out rather than a turn lost.
pub fn patient() -> Retry {
    Retry {
        per_lane: 12,
        in_all: 20,
        patience: Duration::from_secs(10 * 60),
        ..Retry::default()
    }
}

/// Asks the model that the request names.
impl Client for RouterHandle {
    fn send(&self, request: Request) -> BoxStream<'static, Event> {
        self.events(Question::Chat(Box::new(request)))
    }

    fn complete(&self, request: Fim) -> BoxStream<'static, Event> {
        self.events(Question::Fim(Box::new(request)))
    }
}

impl Wall {
    /// A clock that answers what `now_ms` answers: milliseconds since 1970.
    pub fn new(now_ms: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now_ms))
    }

    pub(crate) fn now_ms(&self) -> u64 {
        (self.0)()
    }
}

impl fmt::Debug for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wall(…)")
    }
}

fn abilities(question: &Question, terms: &Terms) -> Abilities {
    match question {
        Question::Chat(request) => Abilities {
            tools: !request.tools.is_empty(),
            vision: request.messages.iter().any(has_image),
            edits: terms.edits,
            fim: false,
        },
        Question::Fim(_) => Abilities {
            fim: true,
            ..Abilities::default()
        },
    }
}

fn has_image(message: &model::Message) -> bool {
    let mut contents = message.parts.iter().map(|part| &part.content);
    contents.any(|content| match content {
        Content::Image { .. } => true,
        Content::ToolResult { content, .. } => {
            let mut inner = content.iter();
            inner.any(|content| matches!(content, Content::Image { .. }))
        }
        _ => false,
    })
}

/// The hash of a prefix that is worth waiting for. A completion waits for nobody.
fn prefix(question: &Question, size: &Size, class: Class) -> Option<PrefixHash> {
    let Question::Chat(request) = question else {
        return None;
    };
    let is_worth_it = class != Class::Tab && size.prefix.0 >= SMALLEST_PREFIX;
    is_worth_it.then(|| PrefixHash::of(request))
}

#[cfg(test)]
mod tests;
