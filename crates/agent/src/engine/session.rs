//! A session's state, and its life between turns.

use std::collections::HashMap;
use std::sync::Arc;

use model::policy::{AgentId, TokenEstimator, TurnId};
use model::{Profile, TokenCount, ToolSpec};
use tokio::sync::mpsc;

use super::Start;
use super::hold::Hold;
use super::inbox::{Events, Inbox};
use super::omitting::Omitted;
use super::shared::{Context, Harness};
use crate::ask::Desk;
use crate::hooks::HookEvent;
use crate::locks::Locks;
use crate::loops::Loops;
use crate::purse::Purse;
use crate::record::{Mode, Origin, Record, Stored, Todo, TurnEnd};
use crate::session::{Event, Prompt};
use crate::spawn::SpawnAgent;
use crate::tool::Tool;
use crate::transcript::{Fingerprint, Transcript};

/// Why a turn cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// The person stopped it.
    Stopped,
    /// The ledger cannot be written: what is not written down must not happen.
    Unwritten(String),
}

impl From<super::inbox::Stopped> for Halt {
    fn from(_: super::inbox::Stopped) -> Self {
        Self::Stopped
    }
}

/// Tools as a model is offered them.
#[derive(Default)]
pub(super) struct Offered {
    /// The tools' own names, and how the model sees them, in order.
    pub(super) specs: Vec<(String, ToolSpec)>,
    /// By the model's names for them.
    pub(super) tools: HashMap<String, Arc<dyn Tool>>,
}

/// Something that came about outside the turn: a subagent in the background has answered.
pub(crate) type Late = (Origin, String);

pub(super) struct Session {
    pub(super) id: Arc<str>,
    pub(super) start: Start,
    pub(super) inbox: Inbox,
    pub(super) desk: Desk,
    pub(super) events: Events,
    pub(super) transcript: Transcript,
    pub(super) locks: Locks,
    pub(super) agent: AgentId,
    pub(super) model: String,
    pub(super) mode: Mode,
    pub(super) offered: Offered,
    pub(super) spawn: Option<Arc<SpawnAgent>>,
    pub(super) late: mpsc::Receiver<Late>,
    /// Whether its beginning is written down.
    pub(super) has_begun: bool,
    pub(super) next_seq: u64,
    pub(super) turn: u64,
    /// Whether the turn's prompt is written down.
    pub(super) is_written: bool,
    pub(super) purse: Arc<Purse>,
    pub(super) fingerprint: Fingerprint,
    pub(super) loops: Loops,
    pub(super) estimator: TokenEstimator,
    /// Keeps other processes from going on with it at the same time; `None` before its first record.
    pub(super) hold: Option<Arc<Hold>>,
    /// What the model that is asked does not take.
    pub(super) omitted: Omitted,
    /// The plan as it is now.
    pub(super) todos: Vec<Todo>,
    /// What joins prompts; `None` before the first turn since the session was opened.
    pub(super) context: Option<Box<dyn Context>>,
    /// The records so far, where the session was opened from them and its context not yet.
    pub(super) past: Vec<Record>,
    /// Files that calls read or changed since the last request, relative to the root.
    pub(super) touched: Vec<String>,
    /// What joins the next request.
    pub(super) joining: Vec<(Origin, String)>,
}

impl Session {
    /// The session's life.
    pub(super) async fn run(mut self) {
        loop {
            if let Err(Halt::Unwritten(sentence)) = self.apply_wishes().await {
                log::error!("session {}: {sentence}", self.id);
            }
            if self.inbox.is_closing {
                break;
            }
            match self.inbox.queued.pop_front() {
                Some(prompt) => self.whole_turn(prompt).await,
                None => self.idle().await,
            }
        }
        self.hook(HookEvent::SessionEnd).await;
        self.mind().end_agent(self.agent).await;
        (self.harness().parts.farewell)(&self.id);
        // What was enqueued last should not be lost to a program that ends now.
        if let Err(sentence) = self.store().flush().await {
            log::error!("session {}: {sentence}", self.id);
        }
        // Whoever hears that it is closed may open it again at once, in another process, too.
        self.hold = None;
        self.events.tell(Event::Closed).await;
    }

    async fn idle(&mut self) {
        self.inbox.begin_idle();
        tokio::select! {
            () = self.inbox.wait() => {}
            Some(late) = self.late.recv() => self.joining.push(late),
        }
        if self.inbox.is_stopped() {
            for prompt in self.inbox.give_back() {
                self.events.tell(Event::GivenBack(prompt)).await;
            }
        }
    }

    async fn whole_turn(&mut self, prompt: Prompt) {
        self.inbox.begin_turn();
        self.is_written = false;
        let end = match self.turn(&prompt).await {
            Ok(end) => end,
            Err(Halt::Stopped) => TurnEnd::Stopped,
            Err(Halt::Unwritten(what)) => TurnEnd::Failed {
                class: "ledger".to_owned(),
                what,
            },
        };
        match self.is_written {
            true => self.write_end(&end).await,
            // The turn never was: its prompt is not in the records.
            false => {
                self.turn -= 1;
                self.events.tell(Event::GivenBack(prompt)).await;
            }
        }
        self.mind().end_turn(self.agent, TurnId(self.turn)).await;
        if end == TurnEnd::Stopped {
            for prompt in self.inbox.give_back() {
                self.events.tell(Event::GivenBack(prompt)).await;
            }
        }
        self.inbox.end_turn();
        self.events.tell(Event::Idle(end)).await;
    }

    async fn write_end(&mut self, end: &TurnEnd) {
        let record = Record::TurnEnded {
            turn: self.turn,
            end: end.clone(),
        };
        if let Err(Halt::Unwritten(sentence)) = self.write(vec![record]).await {
            log::error!("session {}: {sentence}", self.id);
        }
    }

    /// Writes records down; they are on the disk when it answers. Then they are part of the transcript, and told.
    pub(super) async fn write(&mut self, records: Vec<Record>) -> Result<(), Halt> {
        let stored = self.number(records);
        if !self.has_begun && self.hold.is_none() {
            self.hold = self.harness().hold(&self.id).map_err(Halt::Unwritten)?;
        }
        let written = match self.has_begun {
            true => self.store().append(&self.id, &stored).await,
            false => {
                let root = self.start.root.as_path().to_string_lossy().into_owned();
                self.store().begin(&self.id, &root, &stored).await
            }
        };
        if let Err(sentence) = written {
            self.next_seq -= stored.len() as u64;
            return Err(Halt::Unwritten(sentence));
        }
        self.has_begun = true;
        self.take(stored).await;
        Ok(())
    }

    /// Has records written soon, in order: for what has happened already, so that nothing is gained by waiting.
    pub(super) async fn note(&mut self, records: Vec<Record>) {
        let stored = self.number(records);
        self.store().enqueue(&self.id, &stored).await;
        self.take(stored).await;
    }

    fn number(&mut self, records: Vec<Record>) -> Vec<Stored> {
        let at_ms = self.harness().parts.sources.clock.wall_ms();
        let first = self.next_seq;
        self.next_seq += records.len() as u64;
        let numbered = (first..).zip(records);
        numbered
            .map(|(seq, record)| Stored { seq, at_ms, record })
            .collect()
    }

    async fn take(&mut self, stored: Vec<Stored>) {
        for stored in stored {
            self.transcript.apply(&stored);
            self.omitted.apply(&stored.record);
            self.events.tell(Event::Recorded(Arc::new(stored))).await;
        }
    }

    /// Runs hooks whose answer changes nothing.
    pub(super) async fn hook(&mut self, event: HookEvent) {
        if let Some(hooks) = &self.start.hooks {
            let told = hooks
                .run(event, self.hook_facts(), serde_json::Map::new())
                .await;
            for problem in told.problems {
                log::warn!("session {}: {problem}", self.id);
            }
        }
    }

    pub(super) fn harness(&self) -> &Arc<Harness> {
        &self.start.harness
    }

    pub(super) fn mind(&self) -> &dyn super::Mind {
        &*self.start.harness.parts.mind
    }

    pub(super) fn store(&self) -> &crate::store::Store {
        &self.start.harness.parts.store
    }

    /// How to speak to the model. Its window is the real one, where that is known.
    pub(super) fn profile(&self) -> Arc<Profile> {
        self.in_window(self.mind().profile(&self.model))
    }

    /// A profile with the window that the provider was found to have.
    pub(super) fn in_window(&self, profile: Arc<Profile>) -> Arc<Profile> {
        match self.omitted.window {
            Some(window) if window < profile.context.0 => Arc::new(Profile {
                context: TokenCount(window),
                max_output: TokenCount(profile.max_output.0.min(window / 4).max(1)),
                ..(*profile).clone()
            }),
            _ => profile,
        }
    }

    /// Offers the tools as the model wants them. The same model is always offered the same, but for what it was
    /// found not to take.
    pub(super) fn offer(&mut self) {
        let spawn = self.spawn.clone().map(|spawn| spawn as Arc<dyn Tool>);
        self.offered = offered(&self.start, &self.profile(), spawn);
        self.omitted.filter(&mut self.offered.specs);
        let Offered { specs, tools } = &mut self.offered;
        tools.retain(|name, _| specs.iter().any(|(_, spec)| spec.name == *name));
    }

    /// Tokens that the model's context has.
    pub(super) fn context_size(&self) -> TokenCount {
        self.profile().context
    }
}

/// The tools of a session as a model of this profile is offered them: those of all sessions, its own, and the one that
/// starts agents last.
pub(super) fn offered(start: &Start, profile: &Profile, spawn: Option<Arc<dyn Tool>>) -> Offered {
    let wanted = start.parent.as_ref().and_then(|it| it.tools.as_ref());
    let mut offered = Offered::default();
    let all = start.harness.parts.tools.iter().chain(&start.tools);
    for tool in all.cloned().chain(spawn) {
        let is_wanted = wanted.is_none_or(|names| names.iter().any(|it| it == tool.name()));
        if is_wanted
            && let Some(spec) = tool.spec(profile)
            && !offered.tools.contains_key(&spec.name)
        {
            offered.tools.insert(spec.name.clone(), tool.clone());
            offered.specs.push((tool.name().to_owned(), spec));
        }
    }
    offered
}
