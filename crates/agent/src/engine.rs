//! The turn machine: one task for each session, commands in, events out.
//!
//! A turn asks a model, runs the calls of its answer, and asks again with their results, until the model stops,
//! the person stops it, or something forbids to go on. Whatever happens, it is written down first.
//! Knows: records, the transcript, tools as a trait, the router as a trait. Must not know: windows, which tools
//! there are, how rules are written.
//! Invariant: a call's beginning is on the disk before the call begins, and a question before it is sent.
//! Invariant: however a turn ends, every call of it has ended and the transcript is valid for every wire.
//! Start at `start`; what sessions share is a `Harness`; the turn itself is in `turn`.

mod ask;
mod calls;
mod compacting;
mod hold;
mod hooked;
pub(crate) mod inbox;
mod measured;
mod mind;
mod omitting;
mod open;
mod prompt;
pub(crate) mod session;
mod shared;
mod turn;
mod wishes;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use base::AbsPath;
use model::{Cost, Effort};
use tokio::sync::mpsc;

use crate::confine::Sandbox;
use crate::hooks::Hooks;
use crate::leave::Judge;
use crate::locks::Locks;
use crate::purse::Purse;
use crate::record::{Mode, Parent};
use crate::session::{Command, Event};
use crate::tool::Tool;

pub use mind::{Mind, RouterMind, ScriptedMind};
pub use open::{fork, listing, repairs, resume, start, start_as};
pub use shared::{
    About, Ask, Compaction, Compactor, Context, Contexts, Finish, Harness, HarnessParts, Joining,
    Limits, NoContext, PlainCompactor, Room, SummaryWanted,
};

/// What one session is started with.
#[derive(Clone)]
pub struct Start {
    /// What it shares with the others.
    pub harness: Arc<Harness>,
    /// Tools of its own, offered behind those of the harness in this order for as long as it is open.
    pub tools: Vec<Arc<dyn Tool>>,
    /// The folder it works below; a real path without links.
    pub root: AbsPath,
    /// The model: `provider/model`, `auto` or `demo`.
    pub model: String,
    /// How it works.
    pub mode: Mode,
    /// How hard models think; the provider decides where it is `None`.
    pub effort: Option<Effort>,
    /// Who judges its calls.
    pub judge: Arc<dyn Judge>,
    /// Whether somebody is there to be asked. Without, what needs leave is refused.
    pub has_person: bool,
    /// The most that it and its subagents may cost; the next request after it is not sent.
    pub budget: Option<Cost>,
    /// What the project or the person hooked in.
    pub hooks: Option<Arc<Hooks>>,
    /// What keeps its commands in bounds; without, they run with the person's rights.
    pub sandbox: Option<Arc<dyn Sandbox>>,
    /// Whose child it is.
    pub parent: Option<Parentage>,
}

/// Where a subagent comes from.
#[derive(Clone)]
pub struct Parentage {
    /// The session and the call.
    pub parent: Parent,
    /// The locks of the folder that both work in.
    pub locks: Locks,
    /// What it spends counts against this one, too.
    pub purse: Arc<Purse>,
    /// How many sessions lie above it; the person's own has none.
    pub depth: u32,
    /// The tools it is offered, by their own names; all where it is `None`.
    pub tools: Option<Vec<String>>,
}

/// A session that runs. Its task ends when it is told to, or when the sender is gone.
pub struct Opened {
    /// Its name.
    pub id: Arc<str>,
    /// The way in. Bounded: who tells more than the session takes waits.
    pub commands: mpsc::Sender<Command>,
    /// The way out. Bounded: a session whose records nobody takes waits; what is for eyes only is dropped.
    pub events: mpsc::Receiver<Event>,
}
