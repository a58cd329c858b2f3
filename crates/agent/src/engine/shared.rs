//! What the sessions of a process share: the border to models, tools, context and the ledger.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use base::AbsPath;
use futures::future::BoxFuture;
use model::policy::{AgentId, TokenEstimator};
use model::{Message, ModelId, Profile, Request, Role, TokenCount};

use super::hold::Hold;
use super::mind::Mind;
use crate::record::{Mode, Origin, PromptPlace, Record, Todo};
use crate::sources::Sources;
use crate::store::Store;
use crate::tool::Tool;
use crate::transcript::{View, ViewKind};

/// What a harness is made of.
pub struct HarnessParts {
    /// Where records are kept.
    pub store: Store,
    /// Files, time, search.
    pub sources: Arc<Sources>,
    /// The way to models.
    pub mind: Arc<dyn Mind>,
    /// Every tool, in the order in which models are offered them.
    pub tools: Vec<Arc<dyn Tool>>,
    /// What joins prompts that nobody typed.
    pub contexts: Arc<dyn Contexts>,
    /// What gives way when a conversation grows too long.
    pub compactor: Arc<dyn Compactor>,
    /// The bounds.
    pub limits: Limits,
    /// Told the name of each session that has ended, so that what its tools left behind can go.
    pub farewell: Arc<dyn Fn(&str) + Send + Sync>,
}

/// What the sessions of a process share.
pub struct Harness {
    pub(crate) parts: HarnessParts,
    last: AtomicU64,
    /// The sessions that this process has open, as far as other processes are to know.
    holds: Mutex<HashMap<String, Weak<Hold>>>,
}

/// Bounds of every session.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// How long a call that is stopped may take to say what it did.
    pub grace: Duration,
    /// The most tokens of a result.
    pub output_tokens: u64,
    /// From which part of the model's context on the conversation is made shorter.
    pub compact_at: f64,
    /// Who writes summaries, as `provider/model`; the session's own model where it is `None`.
    pub summary_model: Option<String>,
    /// The most subagents above one another.
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // Longer than a command is given to end by itself, so that it has been killed when the turn ends.
            grace: Duration::from_millis(190),
            output_tokens: 10_000,
            compact_at: 0.8,
            summary_model: None,
            depth: 2,
        }
    }
}

impl Harness {
    /// Puts a harness together.
    pub fn new(parts: HarnessParts) -> Arc<Self> {
        Arc::new(Self {
            parts,
            last: AtomicU64::new(0),
            holds: Mutex::default(),
        })
    }

    // A panic while it was held has left nothing half done.
    pub(super) fn holds(&self) -> MutexGuard<'_, HashMap<String, Weak<Hold>>> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where records are kept.
    pub fn store(&self) -> &Store {
        &self.parts.store
    }

    /// A name for a new session: names sort by the time at which they were made.
    pub(crate) fn new_id(&self) -> Arc<str> {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        let now = self.parts.sources.clock.wall_ms();
        format!("{now:011x}-{:x}-{number:x}", std::process::id()).into()
    }

    /// A number for a new agent at the router; 0 is nobody's.
    pub(crate) fn new_agent(&self) -> AgentId {
        AgentId(self.last.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// What joins a prompt, and what could not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Joining {
    /// `Record::Joined` entries in their order.
    pub records: Vec<Record>,
    /// What could not join, in sentences for the person.
    pub problems: Vec<String>,
}

/// What a session's context is made for.
#[derive(Clone, Debug)]
pub struct About {
    /// The folder it works below.
    pub root: AbsPath,
    /// Of the model that it begins with.
    pub profile: Arc<Profile>,
    /// The tools on offer: their own names and the model's names for them.
    pub tools: Vec<(String, String)>,
    /// Whether it works for another agent.
    pub is_subagent: bool,
    /// How it works.
    pub mode: Mode,
}

/// Makes the context of each session.
pub trait Contexts: Send + Sync {
    /// The context of a session with these records, and what joins at its beginning: nothing where there are records.
    fn open(
        &self,
        about: About,
        records: Vec<Record>,
    ) -> BoxFuture<'static, (Box<dyn Context>, Joining)>;
}

/// Knows what joins one session's prompts: instructions, the state of the project, what is mentioned.
///
/// A future that is dropped half way may leave out what it was about to say, never say it twice.
pub trait Context: Send {
    /// What goes in front of a message of the person.
    fn prompt<'a>(&'a mut self, text: &'a str) -> BoxFuture<'a, Joining>;

    /// What goes behind results because these files were read or changed; paths are relative to the root.
    fn touched(&mut self, paths: Vec<String>) -> BoxFuture<'_, Joining>;

    /// What the model is told where another mode begins.
    fn mode(&self, mode: Mode) -> Option<String>;
}

/// Adds one system block, and nothing else.
#[derive(Clone, Debug)]
pub struct NoContext(pub String);

impl Contexts for NoContext {
    fn open(
        &self,
        about: About,
        records: Vec<Record>,
    ) -> BoxFuture<'static, (Box<dyn Context>, Joining)> {
        let mut joining = Joining::default();
        if records.is_empty() {
            joining.records.push(Record::Joined {
                place: PromptPlace::System,
                origin: Origin::Pack {
                    name: "plain".to_owned(),
                },
                text: self.0.clone(),
            });
            let note = crate::leave::mode_note(about.mode, None);
            joining.records.extend(note.map(|text| Record::Joined {
                place: PromptPlace::BeforePrompt,
                origin: Origin::Harness,
                text,
            }));
        }
        Box::pin(std::future::ready((
            Box::new(self.clone()) as Box<dyn Context>,
            joining,
        )))
    }
}

impl Context for NoContext {
    fn prompt<'a>(&'a mut self, _text: &'a str) -> BoxFuture<'a, Joining> {
        Box::pin(std::future::ready(Joining::default()))
    }

    fn touched(&mut self, _paths: Vec<String>) -> BoxFuture<'_, Joining> {
        Box::pin(std::future::ready(Joining::default()))
    }

    fn mode(&self, mode: Mode) -> Option<String> {
        crate::leave::mode_note(mode, Some(Mode::Build))
    }
}

/// How much room a conversation has.
#[derive(Clone, Copy, Debug)]
pub struct Room<'a> {
    /// The profile of the model that reads it.
    pub profile: &'a Profile,
    /// Bytes of what is sent besides the conversation: system prompt and tools.
    pub fixed_bytes: u64,
    /// Bytes of the conversation.
    pub bytes: u64,
    /// Tells tokens from bytes.
    pub estimator: &'a TokenEstimator,
    /// Whether all that can be summarised is to be.
    pub is_for_another: bool,
    /// The plan as it is now, the goal's companion: it stays as it is.
    pub todos: &'a [Todo],
}

/// What gives way, and to what.
#[derive(Default)]
pub struct Compaction {
    /// Results that are sent in a shorter form: call and text.
    pub reduced: Vec<(String, String)>,
    /// Calls that are no longer sent, with their results.
    pub dropped: Vec<String>,
    /// What is summarised.
    pub summary: Option<SummaryWanted>,
}

/// A summary that is to be written.
pub struct SummaryWanted {
    /// The last record that the summary stands for.
    pub through: u64,
    /// What a model is asked for it.
    pub question: Box<Ask>,
    /// The text that stands for what is summarised, from the model's answer; or without one, where no model could
    /// write it.
    pub beginning: Box<Finish>,
}

/// Makes the question for a summary, for the model that is asked.
pub type Ask = dyn Fn(ModelId) -> Request + Send + Sync;
/// Makes of a model's answer, or of none, the text that stands for what was summarised.
pub type Finish = dyn Fn(Option<&str>) -> String + Send + Sync;

/// Decides what gives way when a conversation has grown too long. Pure.
pub trait Compactor: Send + Sync {
    /// `None` where nothing can.
    fn plan(&self, view: &View<'_>, room: Room<'_>) -> Option<Compaction>;
}

/// Cuts old results to their ends, and has the rest summarised where that does not suffice.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainCompactor;

/// Bytes that are left of an old result at each end.
const END: usize = 300;
/// Pieces at the end of the conversation that stay as they are.
const RECENT: usize = 8;
/// The most tokens of a summary.
const SUMMARY: TokenCount = TokenCount(4_096);

impl Compactor for PlainCompactor {
    fn plan(&self, view: &View<'_>, room: Room<'_>) -> Option<Compaction> {
        let recent = view.items.len().saturating_sub(RECENT);
        let old = &view.items[..recent];
        let mut plan = Compaction::default();
        let mut left = room.bytes;
        for item in old {
            if let (ViewKind::Result { .. }, Some(call)) = (&item.kind, item.call)
                && item.text.len() > 3 * END
            {
                let short = ends(item.text);
                left = left.saturating_sub(item.bytes.saturating_sub(short.len() as u64));
                plan.reduced.push((call.to_owned(), short));
            }
        }
        if (left > room.bytes / 2 || room.is_for_another)
            && let Some(last) = old.last()
        {
            plan.reduced.clear();
            plan.summary = Some(summary(view, old.len(), last.seq));
        }
        let is_some = plan.summary.is_some() || !plan.reduced.is_empty();
        is_some.then_some(plan)
    }
}

fn summary(view: &View<'_>, old: usize, through: u64) -> SummaryWanted {
    let goal = view.items.iter().find(|item| {
        matches!(
            item.kind,
            ViewKind::Said(Origin::Person) | ViewKind::Said(Origin::Summary)
        )
    });
    let goal = goal.map_or("", |item| item.text).to_owned();
    let mut told = String::new();
    for item in &view.items[..old] {
        let who = match &item.kind {
            ViewKind::Said(_) => "told",
            ViewKind::Model => "model",
            ViewKind::Thought => continue,
            ViewKind::Call { name, .. } => name,
            ViewKind::Result { .. } => "result",
        };
        told.push_str(&format!("{who}: {}\n", ends(item.text)));
    }
    let question = format!(
        "Below is the beginning of a conversation between a person and a coding agent. Summarise for the agent that \
         goes on: what is wanted, what was found out, what was changed in which files, what is left to do. Name \
         files, commands and errors exactly.\n\n{told}"
    );
    SummaryWanted {
        through,
        question: Box::new(move |model| {
            let message = Message::text(Role::User, question.as_str());
            Request::new(model, vec![message], SUMMARY)
        }),
        beginning: Box::new(move |answer| {
            let said = answer.unwrap_or("What happened since cannot be told; look at the files.");
            format!(
                "The beginning of this conversation was summarised. It began with:\n{goal}\n\n{said}"
            )
        }),
    }
}

/// Both ends of a text, cut between letters.
fn ends(text: &str) -> String {
    if text.len() <= 2 * END {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(END);
    let tail = text.ceil_char_boundary(text.len() - END);
    format!(
        "{}\n[{} bytes left out]\n{}",
        &text[..head],
        tail - head,
        &text[tail..]
    )
}
