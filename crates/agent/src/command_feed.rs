//! The commands that agents run, as terminals which users watch, type into, take over and give back.
//!
//! Must not know: tools, turns, records, how a terminal is drawn.
//! Invariant: a feed keeps the last `MAX_BACKLOG` bytes of its command, and there are at most `MAX_FEEDS`: 32 MiB.
//! Invariant: a slow watcher holds up neither the command nor other watchers; it misses what is not kept any more.
//! Start at `CommandFeeds`.

mod feed;
mod typed;
mod watcher;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::AbsPath;
use host::process::{ProcessExit, TerminalSize};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, watch};

pub(crate) use feed::CommandFeed;
pub(crate) use typed::TypedReport;
pub use watcher::CommandWatch;

/// Number of bytes that are kept of a command's output.
pub(crate) const MAX_BACKLOG: usize = 256 << 10;
/// Maximum number of feeds. A command beyond it has none.
const MAX_FEEDS: usize = 128;
/// Number of feeds that are kept after the end of their commands, for watchers whose connection broke.
const MAX_ENDED: usize = 16;

/// Id of a command. Other runs of the program have other ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AgentCommandId {
    /// The session that runs it.
    pub session: String,
    /// The call that started it.
    pub call: String,
    /// Number of the command in this run of the program.
    pub number: u64,
}

/// A command that an agent runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCommand {
    /// Id of the command.
    pub id: AgentCommandId,
    /// Name of the agent, which its engine adds; untrusted text, may be empty.
    pub agent: String,
    /// The command line.
    pub command: String,
    /// The folder in which it started.
    pub folder: AbsPath,
    /// The sandbox in a few words.
    pub sandbox: String,
    /// Whether it runs in a terminal, so that it can be typed into.
    pub has_terminal: bool,
    /// Rows and columns of its terminal at the start.
    pub size: (u16, u16),
}

/// An event of a command, for a watcher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandFeedEvent {
    /// The watcher is attached. Comes first, and again after a broken connection.
    Attached(AgentCommand),
    /// A part of the output. A gap before it is output that is not kept any more.
    Output {
        /// Number of bytes of output before this part.
        offset: u64,
        /// The bytes.
        #[serde(with = "crate::base64_text")]
        bytes: Vec<u8>,
        /// Whether it was printed before the watcher could see it: queries in it were answered or given up.
        is_backlog: bool,
    },
    /// The control of the command: at the beginning, and after each change.
    Control(CommandControl),
    /// The last event: the command ended with this exit code, or a signal killed it (`None`).
    Ended(Option<i32>),
}

/// The control of a command, as one watcher sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandControl {
    /// The agent controls it.
    Agent,
    /// The user took it over in this watcher.
    You,
    /// The user took it over in another watcher.
    OtherWindow,
}

/// An input of a watcher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandInput {
    /// Bytes that the user typed. They take the command over unless that was done before.
    Typed(#[serde(with = "crate::base64_text")] Vec<u8>),
    /// An answer of the watcher's terminal to a query of the program.
    Reply(#[serde(with = "crate::base64_text")] Vec<u8>),
    /// The size of the watcher's terminal. Only that of the leading watcher counts: the one that took the command
    /// over, or else the one that is attached for the longest time.
    Resize {
        /// Height in rows.
        rows: u16,
        /// Width in columns.
        columns: u16,
    },
    /// Take the command over: the agent cannot type into it any more.
    TakeOver,
    /// Give the command back to the agent, which learns what was typed.
    GiveBack,
}

/// A change of the control of a command, for the session that runs it.
#[derive(Debug)]
pub struct ControlChange {
    pub(crate) call: String,
    pub(crate) command: String,
    /// The typed keys of a command that was given back; `None` for one that was taken over.
    pub(crate) given_back: Option<TypedReport>,
}

/// The feeds of all commands of a process.
#[derive(Default)]
pub struct CommandFeeds {
    table: Mutex<FeedTable>,
    running: watch::Sender<Vec<AgentCommand>>,
}

#[derive(Default)]
struct FeedTable {
    next_number: u64,
    /// Oldest first.
    feeds: Vec<Arc<CommandFeed>>,
}

/// A command that is about to start.
pub(crate) struct NewCommand<'a> {
    pub(crate) session: &'a str,
    pub(crate) call: &'a str,
    pub(crate) command: &'a str,
    pub(crate) folder: &'a AbsPath,
    pub(crate) sandbox: String,
    pub(crate) has_terminal: bool,
    pub(crate) size: TerminalSize,
    /// Receives the changes of its control.
    pub(crate) changes: mpsc::UnboundedSender<ControlChange>,
}

impl CommandFeeds {
    /// Adds a command. Returns `None` if too many are running.
    pub(crate) fn open(&self, command: NewCommand<'_>) -> Option<Arc<CommandFeed>> {
        let mut table = self.table();
        if table.feeds.len() >= MAX_FEEDS && !table.forget_oldest_ended() {
            return None;
        }
        let number = table.next_number;
        table.next_number += 1;
        let about = AgentCommand {
            id: AgentCommandId {
                session: command.session.to_owned(),
                call: command.call.to_owned(),
                number,
            },
            agent: String::new(),
            command: command.command.to_owned(),
            folder: command.folder.clone(),
            sandbox: command.sandbox,
            has_terminal: command.has_terminal,
            size: (command.size.rows, command.size.columns),
        };
        let feed = Arc::new(CommandFeed::new(about, command.changes));
        table.feeds.push(Arc::clone(&feed));
        self.publish(&table);
        Some(feed)
    }

    /// Removes a command that did not start.
    pub(crate) fn remove(&self, feed: &CommandFeed) {
        let mut table = self.table();
        table.feeds.retain(|it| it.about().id != feed.about().id);
        self.publish(&table);
    }

    /// Notes the end of a command, and gives it back if the user has it.
    pub(crate) fn end(&self, feed: &CommandFeed, exit: ProcessExit) {
        feed.end(exit);
        let mut table = self.table();
        let ended = table.feeds.iter().filter(|feed| feed.has_ended());
        if ended.count() > MAX_ENDED {
            table.forget_oldest_ended();
        }
        self.publish(&table);
    }

    /// Returns the running commands, oldest first, now and after each change.
    pub fn running(&self) -> watch::Receiver<Vec<AgentCommand>> {
        self.running.subscribe()
    }

    /// Attaches a watcher that has the first `from` bytes of the output. Returns `None` if there is no such command, or
    /// it ended long ago.
    pub fn watch(&self, id: &AgentCommandId, from: u64) -> Option<CommandWatch> {
        let table = self.table();
        let feed = table.feeds.iter().find(|feed| feed.about().id == *id)?;
        Some(CommandWatch::new(Arc::clone(feed), from))
    }

    fn publish(&self, table: &FeedTable) {
        let running = table.feeds.iter().filter(|feed| !feed.has_ended());
        let running = running.map(|feed| feed.about().clone()).collect();
        self.running.send_replace(running);
    }

    fn table(&self) -> MutexGuard<'_, FeedTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FeedTable {
    /// Returns false if no command has ended.
    fn forget_oldest_ended(&mut self) -> bool {
        let oldest = self.feeds.iter().position(|feed| feed.has_ended());
        oldest.map(|at| self.feeds.remove(at)).is_some()
    }
}

#[cfg(test)]
mod tests;
