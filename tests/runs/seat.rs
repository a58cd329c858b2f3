//! A session in this process, through the services that the window uses.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::context::OpenFiles;
use agent::engine::SessionChannels;
use agent::record::{SessionMode, SessionRecord, TurnEnd};
use agent::session::{AgentEvent, SessionCommand, UserPrompt};
use agent::user_prompts::PermissionDecision;
use base::AbsPath;
use runtime::agent_services::AgentServices;
use runtime::indexes::IndexRegistry;

use super::world::World;

async fn open_services(world: &World) -> AgentServices {
    let dirs = world.dirs();
    let indexes = IndexRegistry::new(&dirs);
    let services = AgentServices::open(&dirs, Arc::default(), |_| OpenFiles::default(), indexes);
    services.await.expect("the services")
}

/// A session whose permission requests are all granted.
pub(super) struct Seat {
    /// Owns the router and the tools.
    _workshop: AgentServices,
    opened: SessionChannels,
}

impl Seat {
    pub(super) async fn start(world: &World) -> Self {
        let workshop = open_services(world).await;
        assert!(workshop.problems().is_empty(), "{:?}", workshop.problems());
        let root = AbsPath::new(world.project()).expect("absolute");
        let started = workshop.start(root, "mock/m".to_owned(), SessionMode::Build);
        let opened = started.await.expect("a session").opened;
        Self {
            _workshop: workshop,
            opened,
        }
    }

    /// Reopens a session with new services, which know it only from the disk.
    pub(super) async fn resume(world: &World, id: &str) -> Self {
        let workshop = open_services(world).await;
        let opened = workshop.resume(id).await.expect("the session").opened;
        Self {
            _workshop: workshop,
            opened,
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.opened.id
    }

    pub(super) async fn tell(&self, command: SessionCommand) {
        self.opened
            .commands
            .send(command)
            .await
            .expect("the session lives");
    }

    /// Runs a turn to its end.
    pub(super) async fn turn(&mut self, text: &str) -> TurnEnd {
        self.tell(prompt(text)).await;
        loop {
            if let Some(end) = self.next().await {
                return end;
            }
        }
    }

    /// Begins a turn and stops it after a while. Returns its end, and the time from the stop to the
    /// end.
    pub(super) async fn stopped_turn(
        &mut self,
        text: &str,
        after: Duration,
    ) -> (TurnEnd, Duration) {
        self.tell(prompt(text)).await;
        let mut stopped = None;
        let stop = tokio::time::sleep(after);
        tokio::pin!(stop);
        loop {
            tokio::select! {
                biased;
                () = &mut stop, if stopped.is_none() => {
                    stopped = Some(Instant::now());
                    self.opened.commands.send(SessionCommand::Stop).await.expect("the session lives");
                }
                end = next(&mut self.opened) => if let Some(end) = end {
                    return (end, stopped.map_or(Duration::ZERO, |stopped| stopped.elapsed()));
                },
            }
        }
    }

    async fn next(&mut self) -> Option<TurnEnd> {
        next(&mut self.opened).await
    }

    /// Ends the session's task.
    pub(super) async fn leave(mut self) {
        self.tell(SessionCommand::Close).await;
        while !matches!(
            self.opened.events.recv().await,
            None | Some(AgentEvent::Closed)
        ) {}
    }
}

/// Handles the next event; returns the turn's end if the event is one.
async fn next(opened: &mut SessionChannels) -> Option<TurnEnd> {
    let event = opened.events.recv().await.expect("the session lives");
    if let Some(command) = decide(&event) {
        opened
            .commands
            .send(command)
            .await
            .expect("the session lives");
    }
    match event {
        AgentEvent::Idle(end) => Some(end),
        _ => None,
    }
}

fn decide(event: &AgentEvent) -> Option<SessionCommand> {
    match event {
        AgentEvent::Recorded(stored) => match &stored.record {
            SessionRecord::LeaveAsked { call, .. } => Some(SessionCommand::Decide {
                call: call.clone(),
                decision: PermissionDecision::Once,
            }),
            _ => None,
        },
        AgentEvent::Child { session, event } => Some(SessionCommand::Child {
            session: session.as_ref().to_owned(),
            command: Box::new(decide(event)?),
        }),
        _ => None,
    }
}

fn prompt(text: &str) -> SessionCommand {
    SessionCommand::Prompt(UserPrompt {
        text: text.to_owned(),
        images: Vec::new(),
    })
}

/// Runs a story on a new runtime with several threads.
pub(super) fn block_on<T>(story: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(story)
}
