//! All servers together.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use base::AbsPath;
use serde_json::{Map, Value};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::JoinHandle;

use super::answer::{ForeignAnswer, ForeignContent};
use super::call::{Connection, ForeignCall};
use super::catalog::{ForeignPrompt, ForeignResource, PromptMessage};
use super::config::ServerEntry;
use super::dial::{Configured, Dial, Failure, HELLO, Live};
use super::error::{ForeignClass, ForeignError};
use super::guest::Guest;
use super::people::{Approvals, Person, Tokens};
use super::server::{Command, Event, Known, Server, Status};
use super::tool::{ForeignTool, make_unique};
use crate::variables::Variables;

/// How long a call waits for a server that is just being reached.
const GETS_READY: Duration = Duration::from_secs(30);

/// How long servers may take to leave.
const LEAVES: Duration = Duration::from_secs(8);

/// How many events are kept for who is slow.
const EVENTS: usize = 256;

/// How many commands may wait for a server: people do not click faster.
const COMMANDS: usize = 8;

/// What servers are started with.
pub struct Start {
    /// The servers.
    pub servers: Vec<ServerEntry>,
    /// The folders that servers are told about.
    pub roots: Vec<AbsPath>,
    /// Our environment; a process is given only the harmless part of it.
    pub environment: Variables,
    /// What the person approved.
    pub approvals: Arc<dyn Approvals>,
    /// The person.
    pub person: Arc<dyn Person>,
    /// Where tokens lie.
    pub tokens: Arc<dyn Tokens>,
}

/// All servers. Dropping it ends them; `close` lets them go in good manners.
pub struct Hub {
    servers: BTreeMap<String, Handle>,
    events: broadcast::Sender<Event>,
}

/// What is known of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerState {
    /// Its entry.
    pub entry: ServerEntry,
    /// How it is.
    pub status: Status,
    /// How many tools it has.
    pub tools: usize,
    /// Why tools that it lists are not offered, in sentences that name them: untrusted text.
    pub left_out: Vec<String>,
    /// What it wants models to know about itself: untrusted text.
    pub instructions: Option<String>,
}

struct Handle {
    entry: ServerEntry,
    known: watch::Receiver<Known>,
    commands: mpsc::Sender<Command>,
    task: JoinHandle<()>,
}

impl Hub {
    /// Starts all servers that may run. Must be called on a tokio runtime; returns at once.
    pub fn start(start: Start) -> Self {
        let environment = start.environment.clone();
        let tokens = start.tokens.clone();
        Self::start_with(start, move |entry| dial(entry, &environment, &tokens))
    }

    /// The same with another way of reaching servers.
    pub(super) fn start_with(start: Start, dial: impl Fn(&ServerEntry) -> Arc<dyn Dial>) -> Self {
        let (events, _) = broadcast::channel(EVENTS);
        let servers = start.servers.iter().map(|entry| {
            let handle = Handle::start(entry, &start, dial(entry), &events);
            (entry.name.clone(), handle)
        });
        Self {
            servers: servers.collect(),
            events: events.clone(),
        }
    }

    /// What happens from now on. Bounded: who is slow misses the oldest and asks for the states.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    /// How each server is, by name.
    pub fn servers(&self) -> Vec<ServerState> {
        let state = |handle: &Handle| {
            let known = handle.known.borrow();
            ServerState {
                entry: handle.entry.clone(),
                status: known.status.clone(),
                tools: known.tools.len(),
                left_out: known.left_out.clone(),
                instructions: known.instructions.clone(),
            }
        };
        self.servers.values().map(state).collect()
    }

    /// The tools of all servers that are ready, by server, in each server's order.
    pub fn tools(&self) -> Vec<ForeignTool> {
        let of = |handle: &Handle| handle.known.borrow().tools.to_vec();
        let mut tools: Vec<_> = self.servers.values().flat_map(of).collect();
        make_unique(&mut tools);
        tools
    }

    /// Waits until every server that may run is ready or known not to be, at most this long.
    pub async fn settled(&self, patience: Duration) {
        let all = self.servers.values().map(|handle| {
            let mut known = handle.known.clone();
            async move {
                // A task that is gone does not change any more.
                known
                    .wait_for(|known| known.status != Status::Starting)
                    .await
                    .ok();
            }
        });
        tokio::time::timeout(patience, futures::future::join_all(all))
            .await
            .ok();
    }

    /// Calls a tool.
    pub async fn call(&self, call: ForeignCall) -> Result<ForeignAnswer, ForeignError> {
        self.connection(&call.server).await?.call(call).await
    }

    /// What a server offers to read.
    pub async fn resources(&self, server: &str) -> Result<Vec<ForeignResource>, ForeignError> {
        self.connection(server).await?.resources().await
    }

    /// Reads something that a server offers.
    pub async fn read(&self, server: &str, uri: &str) -> Result<Vec<ForeignContent>, ForeignError> {
        self.connection(server).await?.read(uri).await
    }

    /// The prompts that a server offers.
    pub async fn prompts(&self, server: &str) -> Result<Vec<ForeignPrompt>, ForeignError> {
        self.connection(server).await?.prompts().await
    }

    /// A prompt of a server, spelled out.
    pub async fn prompt(
        &self,
        server: &str,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Vec<PromptMessage>, ForeignError> {
        self.connection(server)
            .await?
            .spell_out(name, arguments)
            .await
    }

    /// Looks again whether a server may run, and reaches it anew: after an approval, or because a person asks.
    pub async fn restart(&self, server: &str) -> Result<(), ForeignError> {
        self.command(server, Command::Start).await
    }

    /// Lets the person sign in to a server that wants it.
    pub async fn sign_in(&self, server: &str) -> Result<(), ForeignError> {
        self.command(server, Command::SignIn).await
    }

    /// Ends all servers in good manners, at most some seconds. Calls find them closed afterwards.
    pub async fn close(&self) {
        let all = self.servers.values().map(|handle| async {
            // One that is gone needs no word.
            handle.commands.send(Command::Close).await.ok();
            let mut known = handle.known.clone();
            // A task that is gone has closed its server.
            known
                .wait_for(|known| known.status == Status::Closed)
                .await
                .ok();
        });
        tokio::time::timeout(LEAVES, futures::future::join_all(all))
            .await
            .ok();
    }

    async fn command(&self, server: &str, command: Command) -> Result<(), ForeignError> {
        let handle = self.handle(server)?;
        let gone = |_| Status::Closed.refusal(server);
        handle.commands.send(command).await.map_err(gone)
    }

    async fn connection(&self, server: &str) -> Result<Arc<Connection>, ForeignError> {
        let mut known = self.handle(server)?.known.clone();
        let settled = known.wait_for(|known| known.status != Status::Starting);
        // In either case what is known now says what to do.
        tokio::time::timeout(GETS_READY, settled).await.ok();
        let known = self.handle(server)?.known.borrow().clone();
        known.connection.ok_or_else(|| known.status.refusal(server))
    }

    fn handle(&self, server: &str) -> Result<&Handle, ForeignError> {
        self.servers.get(server).ok_or_else(|| {
            let names: Vec<_> = self.servers.keys().map(String::as_str).collect();
            let text = format!(
                "There is no server \"{server}\"; there are: {}",
                names.join(", ")
            );
            ForeignError::new(ForeignClass::NotThere, text)
        })
    }
}

impl Handle {
    fn start(
        entry: &ServerEntry,
        start: &Start,
        dial: Arc<dyn Dial>,
        events: &broadcast::Sender<Event>,
    ) -> Self {
        // Room for one notice of each kind: more of them would say the same.
        let (changes, changed) = mpsc::channel(3);
        let (sender, commands) = mpsc::channel(COMMANDS);
        let (known, seen) = watch::channel(Known::new());
        let guest = Guest {
            server: entry.name.clone(),
            roots: start.roots.clone(),
            person: start.person.clone(),
            events: events.clone(),
            changed: changes,
            followed: Default::default(),
        };
        let server = Server {
            entry: entry.clone(),
            dial,
            guest: Arc::new(guest),
            changed,
            commands,
            known,
            events: events.clone(),
            approvals: start.approvals.clone(),
            person: start.person.clone(),
            tokens: start.tokens.clone(),
        };
        Self {
            entry: entry.clone(),
            known: seen,
            commands: sender,
            task: tokio::spawn(server.run()),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// How an entry is reached.
fn dial(entry: &ServerEntry, environment: &Variables, tokens: &Arc<dyn Tokens>) -> Arc<dyn Dial> {
    match &entry.reach {
        Ok(reach) => Arc::new(Configured {
            reach: reach.clone(),
            environment: environment.clone(),
            tokens: tokens.clone(),
            hello: HELLO.max(entry.startup.unwrap_or_default()),
            is_old: AtomicBool::new(false),
        }),
        Err(why) => Arc::new(Unreachable(why.clone())),
    }
}

/// An entry that makes no sense.
struct Unreachable(String);

impl Dial for Unreachable {
    fn dial(&self, _: Arc<Guest>) -> futures::future::BoxFuture<'_, Result<Live, Failure>> {
        Box::pin(std::future::ready(Err(Failure::Lasting(self.0.clone()))))
    }
}

#[cfg(test)]
mod tests;
