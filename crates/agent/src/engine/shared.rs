//! What the sessions of a process share: the border to models, tools, context and the ledger.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base::AbsPath;
use futures::future::BoxFuture;
use model::Profile;
use model::policy::AgentId;

use super::mind::Mind;
use crate::record::{Mode, Origin, PromptPlace};
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
    pub context: Arc<dyn Context>,
    /// What gives way when a conversation grows too long.
    pub compactor: Arc<dyn Compactor>,
    /// The bounds.
    pub limits: Limits,
}

/// What the sessions of a process share.
pub struct Harness {
    pub(crate) parts: HarnessParts,
    last: AtomicU64,
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
    /// To which part of it.
    pub compact_to: f64,
    /// Who writes summaries, as `provider/model`; the session's own model where it is `None`.
    pub summary_model: Option<String>,
    /// The most subagents above one another.
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            grace: Duration::from_millis(100),
            output_tokens: 10_000,
            compact_at: 0.8,
            compact_to: 0.4,
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
        })
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

/// A text that joins a prompt and that nobody typed.
#[derive(Clone, Debug, PartialEq)]
pub struct Joining {
    /// Where it goes.
    pub place: PromptPlace,
    /// Where it comes from.
    pub origin: Origin,
    /// The text as the model reads it.
    pub text: String,
}

/// Knows what joins prompts: instructions, the state of the project, what is mentioned.
pub trait Context: Send + Sync {
    /// What a session begins with: the system prompt's blocks and the header.
    fn opening(
        &self,
        root: &AbsPath,
        profile: Arc<Profile>,
        mode: Mode,
    ) -> BoxFuture<'static, Vec<Joining>>;

    /// What goes in front of a prompt. `is_first` is the session's first prompt.
    fn before_prompt(
        &self,
        root: &AbsPath,
        profile: Arc<Profile>,
        prompt: &str,
        is_first: bool,
    ) -> BoxFuture<'static, Vec<Joining>>;
}

/// Adds one system block, and nothing else.
#[derive(Clone, Debug)]
pub struct NoContext(pub String);

impl Context for NoContext {
    fn opening(
        &self,
        _root: &AbsPath,
        _profile: Arc<Profile>,
        _mode: Mode,
    ) -> BoxFuture<'static, Vec<Joining>> {
        let block = Joining {
            place: PromptPlace::System,
            origin: Origin::Pack {
                name: "plain".to_owned(),
            },
            text: self.0.clone(),
        };
        Box::pin(std::future::ready(vec![block]))
    }

    fn before_prompt(
        &self,
        _root: &AbsPath,
        _profile: Arc<Profile>,
        _prompt: &str,
        _is_first: bool,
    ) -> BoxFuture<'static, Vec<Joining>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

/// How much a compaction is to save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactLimits {
    /// Bytes of the conversation now.
    pub bytes: u64,
    /// Bytes that it may have.
    pub target: u64,
}

/// What gives way, and to what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compaction {
    /// Results that are sent in a shorter form: call and text.
    pub reduced: Vec<(String, String)>,
    /// Calls that are no longer sent, with their results.
    pub dropped: Vec<String>,
    /// What is summarised.
    pub summary: Option<SummaryWanted>,
}

/// A summary that is to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryWanted {
    /// The last record that the summary stands for.
    pub through: u64,
    /// What a model is asked, all of it.
    pub question: String,
    /// What stands in front of the summary as it is: goal, rules, plan, open files.
    pub verbatim: String,
    /// What stands for the summary where no model can write one.
    pub fallback: String,
}

/// Decides what gives way when a conversation grows too long. Pure.
pub trait Compactor: Send + Sync {
    /// `None` where nothing can.
    fn plan(&self, view: &View<'_>, limits: CompactLimits) -> Option<Compaction>;
}

/// Cuts old results to their ends, and has the rest summarised where that does not suffice.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainCompactor;

/// Bytes that are left of an old result at each end.
const END: usize = 300;
/// Pieces at the end of the conversation that stay as they are.
const RECENT: usize = 8;

impl Compactor for PlainCompactor {
    fn plan(&self, view: &View<'_>, limits: CompactLimits) -> Option<Compaction> {
        let recent = view.items.len().saturating_sub(RECENT);
        let old = &view.items[..recent];
        let mut plan = Compaction::default();
        let mut left = limits.bytes;
        for item in old {
            if let (ViewKind::Result { .. }, Some(call)) = (&item.kind, item.call)
                && item.text.len() > 3 * END
            {
                let short = ends(item.text);
                left = left.saturating_sub(item.bytes.saturating_sub(short.len() as u64));
                plan.reduced.push((call.to_owned(), short));
            }
        }
        if left > limits.target
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
    let goal = goal.map_or("", |item| item.text);
    let mut told = String::new();
    for item in &view.items[..old] {
        let who = match &item.kind {
            ViewKind::Said(_) => "told",
            ViewKind::Model => "model",
            ViewKind::Thought => continue,
            ViewKind::Call { name } => name,
            ViewKind::Result { .. } => "result",
        };
        told.push_str(&format!("{who}: {}\n", ends(item.text)));
    }
    SummaryWanted {
        through,
        question: format!(
            "Below is the beginning of a conversation between a person and a coding agent. Summarise for the agent \
             that goes on: what is wanted, what was found out, what was changed in which files, what is left to do. \
             Name files, commands and errors exactly.\n\n{told}"
        ),
        verbatim: format!(
            "The beginning of this conversation was summarised. It began with:\n{goal}\n"
        ),
        fallback: "What happened since cannot be told; look at the files.".to_owned(),
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
