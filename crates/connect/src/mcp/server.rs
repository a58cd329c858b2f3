//! One server as a task: it is reached, kept, reached again, until it is closed.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::FusedFuture;
use rmcp::model::{ServerCapabilities, SubscriptionFilter};
use rmcp::service::RunningServiceCancellationToken;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::{Instant, sleep};

use super::call::Connection;
use super::config::{Origin, Reach, ServerEntry};
use super::dial::{Dial, Failure, Live};
use super::error::{ForeignClass, ForeignError};
use super::guest::{Changed, Guest};
use super::people::{Approval, Approvals, Person, Tokens};
use super::sign_in::sign_in;
use super::tool::ForeignTool;

/// How long is waited for more notices before a list is asked for anew.
const SETTLES: Duration = Duration::from_millis(150);

/// The first pause before a server is reached again; each next one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// How often a server is reached again before somebody has to ask for it.
const ATTEMPTS: u32 = 6;

/// A server that was up this long counts as well again.
const WELL: Duration = Duration::from_secs(60);

/// How a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The person switched it off.
    Disabled,
    /// The project names it and nobody has approved that yet.
    Unapproved,
    /// The person does not want it.
    Refused,
    /// It is being reached.
    Starting,
    /// It works.
    Ready {
        /// The version of the protocol that it speaks.
        protocol: String,
        /// What it calls itself.
        program: Option<String>,
    },
    /// The person has to sign in.
    NeedsSignIn {
        /// Why signing in failed the last time, as a sentence.
        why: Option<String>,
    },
    /// It does not work.
    Broken {
        /// Why, as a sentence.
        why: String,
        /// When it is tried again by itself.
        again: Option<Duration>,
    },
    /// It was closed.
    Closed,
}

/// Something happened. What lasts can be asked of the hub at any time; who is slow misses the oldest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A server is in another state.
    Status {
        /// The server.
        server: String,
        /// How it is now.
        status: Status,
    },
    /// Its tools are others now.
    Tools {
        /// The server.
        server: String,
    },
    /// Its resources are others now.
    Resources {
        /// The server.
        server: String,
    },
    /// Its prompts are others now.
    Prompts {
        /// The server.
        server: String,
    },
    /// It said something for people.
    Said {
        /// The server.
        server: String,
        /// Whether it complains.
        is_complaint: bool,
        /// What.
        text: String,
    },
}

/// What is told to a server's task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Look again whether it may run, and reach it anew.
    Start,
    /// Let the person sign in.
    SignIn,
    /// End.
    Close,
}

/// What is known of a server.
#[derive(Clone)]
pub(super) struct Known {
    pub(super) status: Status,
    pub(super) connection: Option<Arc<Connection>>,
    pub(super) tools: Arc<[ForeignTool]>,
    /// Why tools that it lists are not offered, in sentences that name them.
    pub(super) left_out: Vec<String>,
    pub(super) instructions: Option<String>,
}

/// The tools of a server that are of use, and why the others are not, in sentences.
type Listed = (Arc<[ForeignTool]>, Vec<String>);

/// A server's task.
pub(super) struct Server {
    pub(super) entry: ServerEntry,
    pub(super) dial: Arc<dyn Dial>,
    pub(super) guest: Arc<Guest>,
    pub(super) changed: mpsc::Receiver<Changed>,
    pub(super) commands: mpsc::Receiver<Command>,
    pub(super) known: watch::Sender<Known>,
    pub(super) events: broadcast::Sender<Event>,
    pub(super) approvals: Arc<dyn Approvals>,
    pub(super) person: Arc<dyn Person>,
    pub(super) tokens: Arc<dyn Tokens>,
}

impl Known {
    pub(super) fn new() -> Self {
        Self {
            status: Status::Starting,
            connection: None,
            tools: Arc::new([]),
            left_out: Vec::new(),
            instructions: None,
        }
    }
}

impl Status {
    /// Why a call cannot go to the server.
    pub(super) fn refusal(&self, server: &str) -> ForeignError {
        use ForeignClass::{Gone, NeedsPerson, NotThere, Timeout};
        let (class, why) = match self {
            Status::Disabled => (NotThere, "is switched off".to_owned()),
            Status::Unapproved => (NeedsPerson, "waits for its approval".to_owned()),
            Status::Refused => (NotThere, "was refused by the person".to_owned()),
            Status::Starting | Status::Ready { .. } => (Timeout, "is not ready yet".to_owned()),
            Status::NeedsSignIn { .. } => (NeedsPerson, "wants the person to sign in".to_owned()),
            Status::Broken { why, .. } => (Gone, format!("does not work: {why}")),
            Status::Closed => (Gone, "was closed".to_owned()),
        };
        ForeignError::new(class, format!("The server \"{server}\" {why}"))
    }
}

impl Server {
    /// Runs until it is closed.
    pub(super) async fn run(mut self) {
        loop {
            let next = match self.refusal() {
                Some(status) => {
                    self.tell(status);
                    self.command().await
                }
                None => self.keep().await,
            };
            if next == Command::Close {
                self.tell(Status::Closed);
                return;
            }
        }
    }

    /// Why it may not run.
    fn refusal(&self) -> Option<Status> {
        if self.entry.is_disabled {
            return Some(Status::Disabled);
        }
        if self.entry.origin == Origin::Person {
            return None;
        }
        match self.approvals.approval(&self.entry) {
            Approval::Allowed => None,
            Approval::Refused => Some(Status::Refused),
            Approval::Unasked => Some(Status::Unapproved),
        }
    }

    /// Reaches it again and again, until a command says something else.
    async fn keep(&mut self) -> Command {
        let mut failures = 0;
        loop {
            self.tell(Status::Starting);
            let dial = self.dial.clone();
            let guest = self.guest.clone();
            let reached = tokio::select! {
                reached = dial.dial(guest) => reached,
                command = self.command() => return command,
            };
            let why = match reached {
                Ok(live) => {
                    let since = Instant::now();
                    match self.serve(live).await {
                        Ok(command) => return command,
                        Err(Failure::NeedsSignIn(challenge)) => {
                            match self.wait_for_person(challenge).await {
                                Some(command) => return command,
                                None => continue,
                            }
                        }
                        Err(Failure::Passing(why) | Failure::Lasting(why)) => {
                            failures = match since.elapsed() > WELL {
                                true => 0,
                                false => failures,
                            };
                            why
                        }
                    }
                }
                Err(Failure::NeedsSignIn(challenge)) => {
                    match self.wait_for_person(challenge).await {
                        Some(command) => return command,
                        None => continue,
                    }
                }
                Err(Failure::Lasting(why)) => {
                    self.tell(Status::Broken { why, again: None });
                    return self.command().await;
                }
                Err(Failure::Passing(why)) => why,
            };
            let again = (failures < ATTEMPTS).then(|| FIRST_PAUSE * 2u32.pow(failures));
            failures += 1;
            self.tell(Status::Broken { why, again });
            let pause = async {
                match again {
                    Some(pause) => sleep(pause).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = pause => {}
                command = self.command() => return command,
            }
        }
    }

    /// Waits until the person signed in; `None` when they did.
    async fn wait_for_person(&mut self, challenge: Option<String>) -> Option<Command> {
        let mut why = None;
        loop {
            self.tell(Status::NeedsSignIn { why: why.take() });
            let command = self.command().await;
            let (Command::SignIn, Ok(Reach::Http { url, client, .. })) =
                (command, self.entry.reach.clone())
            else {
                return Some(command);
            };
            let (person, tokens) = (self.person.clone(), self.tokens.clone());
            let name = self.entry.name.clone();
            let signing = sign_in(
                &name,
                &url,
                &client,
                challenge.as_deref(),
                &*person,
                &tokens,
            );
            tokio::select! {
                signed = signing => match signed {
                    Ok(()) => return None,
                    Err(failed) => why = Some(failed),
                },
                command = self.commands.recv() => match command {
                    Some(Command::SignIn) => {}
                    other => return Some(other.unwrap_or(Command::Close)),
                },
            }
        }
    }

    /// Serves calls until the server is gone or wants more of the person, or a command comes.
    async fn serve(&mut self, live: Live) -> Result<Command, Failure> {
        let Live { service, child } = live;
        let (challenges, mut challenged) = mpsc::channel(1);
        let connection = Arc::new(Connection {
            peer: service.peer().clone(),
            guest: self.guest.clone(),
            child: child.clone(),
            challenges,
        });
        let info = service.peer().peer_info();
        let capabilities = info
            .as_ref()
            .map(|info| info.capabilities.clone())
            .unwrap_or_default();
        let token = service.cancellation_token();
        // Fused: it may be waited for again once the server is gone.
        let mut ended = Box::pin(service.waiting().fuse());
        let (tools, left_out) = match capabilities.tools {
            Some(_) => match self.tools(&connection).await {
                Ok(listed) => listed,
                Err(error) => {
                    return Err(match challenged.try_recv() {
                        Ok(challenge) => Failure::NeedsSignIn(Some(challenge)),
                        Err(_) => Failure::Passing(error.message),
                    });
                }
            },
            None => Listed::default(),
        };
        let status = Status::Ready {
            protocol: info
                .as_ref()
                .map_or(String::new(), |info| info.protocol_version.to_string()),
            program: info
                .as_ref()
                .and_then(|info| Some(info.server_info.as_ref()?.name.clone())),
        };
        self.known.send_modify(|known| {
            known.connection = Some(connection.clone());
            known.tools = tools;
            known.left_out = left_out;
            known.instructions = info.as_ref().and_then(|info| info.instructions.clone());
        });
        self.tell(status);
        let listening = listen(&connection, &capabilities);
        tokio::pin!(listening);
        let mut is_listening = true;
        let result = loop {
            tokio::select! {
                biased;
                // Before the end: a server that wants more of the person may hang up, too.
                Some(challenge) = challenged.recv() => {
                    break Err(Failure::NeedsSignIn(Some(challenge)));
                }
                _ = &mut ended => {
                    break Err(Failure::Passing(match &child {
                        Some(child) => child.obituary("it").await,
                        None => "it closed the connection".to_owned(),
                    }));
                }
                Some(changed) = self.changed.recv() => self.refresh(&connection, changed).await,
                () = &mut listening, if is_listening => is_listening = false,
                command = self.commands.recv() => {
                    // Without a hub nobody needs the server.
                    let command = command.unwrap_or(Command::Close);
                    if command != Command::SignIn {
                        break Ok(command);
                    }
                }
            }
        };
        self.known.send_modify(|known| {
            known.connection = None;
            known.tools = Arc::new([]);
        });
        leave(token, ended, child).await;
        result
    }

    /// Asks anew for what changed, once the notices have settled.
    async fn refresh(&mut self, connection: &Connection, first: Changed) {
        sleep(SETTLES).await;
        let mut all = vec![first];
        while let Ok(changed) = self.changed.try_recv() {
            if !all.contains(&changed) {
                all.push(changed);
            }
        }
        let server = self.entry.name.clone();
        for changed in all {
            let event = match changed {
                Changed::Tools => match self.tools(connection).await {
                    Ok((tools, left_out)) => {
                        self.known.send_modify(|known| {
                            known.tools = tools;
                            known.left_out = left_out;
                        });
                        Event::Tools {
                            server: server.clone(),
                        }
                    }
                    Err(error) => Event::Said {
                        server: server.clone(),
                        is_complaint: true,
                        text: error.message,
                    },
                },
                Changed::Resources => Event::Resources {
                    server: server.clone(),
                },
                Changed::Prompts => Event::Prompts {
                    server: server.clone(),
                },
            };
            // Nobody may be listening.
            self.events.send(event).ok();
        }
    }

    async fn tools(&self, connection: &Connection) -> Result<Listed, ForeignError> {
        let (mut tools, mut left_out) = (Vec::new(), Vec::new());
        for written in connection.tools().await? {
            match ForeignTool::read(&self.entry.name, &written) {
                Ok(tool) => tools.push(tool),
                Err(why) => left_out.push(why),
            }
        }
        Ok((tools.into(), left_out))
    }

    async fn command(&mut self) -> Command {
        // Without a hub nobody needs the server.
        self.commands.recv().await.unwrap_or(Command::Close)
    }

    fn tell(&self, status: Status) {
        self.known
            .send_modify(|known| known.status = status.clone());
        let server = self.entry.name.clone();
        // Nobody may be listening.
        self.events.send(Event::Status { server, status }).ok();
    }
}

/// Hears what a stateless server tells only those who ask for it. Ends where there is nothing to hear.
async fn listen(connection: &Connection, capabilities: &ServerCapabilities) {
    let is_stateless = connection
        .peer
        .peer_info()
        .is_some_and(|info| !info.protocol_version.has_initialize());
    if !is_stateless {
        return;
    }
    let mut filter = SubscriptionFilter::new();
    let wants = |told: Option<bool>| (told == Some(true)).then_some(true);
    filter.tools_list_changed = capabilities
        .tools
        .as_ref()
        .and_then(|it| wants(it.list_changed));
    filter.prompts_list_changed = capabilities
        .prompts
        .as_ref()
        .and_then(|it| wants(it.list_changed));
    filter.resources_list_changed = capabilities
        .resources
        .as_ref()
        .and_then(|it| wants(it.list_changed));
    if filter == SubscriptionFilter::new() {
        return;
    }
    let mut pause = FIRST_PAUSE;
    for _ in 0..ATTEMPTS {
        if let Ok(mut subscription) = connection.peer.listen(filter.clone()).await {
            while let Ok(Some(notice)) = subscription.next().await {
                connection.guest.notified(&notice);
            }
        }
        sleep(pause).await;
        pause *= 2;
    }
}

/// Ends a connection in good manners: the input is closed, and a process has a moment to go by itself.
async fn leave<T>(
    token: RunningServiceCancellationToken,
    ended: impl FusedFuture<Output = T>,
    child: Option<Arc<crate::child::Child>>,
) {
    token.cancel();
    tokio::time::timeout(Duration::from_secs(2), ended)
        .await
        .ok();
    if let Some(child) = child {
        child.leave().await;
    }
}
