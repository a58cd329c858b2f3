//! The commands that agents run, with the names of their agents, and connections to them.

use std::collections::HashMap;
use std::sync::Arc;

use agent_service::{AgentCommand, AgentCommandId, CommandConnection, CommandInput};
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use futures::stream::{self, StreamExt as _};
use runtime::agent_services::AgentServices;
use runtime::live_sessions::LiveSessions;

use super::on_disk;

/// Streams the running commands: now, and after each change. Must be called on the engines' runtime;
/// the stream may be read on any thread.
pub(super) fn running(services: Arc<AgentServices>) -> UnboundedReceiver<Vec<AgentCommand>> {
    // The channel is unbounded because a list is sent only when a command starts or ends.
    let (sender, receiver) = unbounded();
    tokio::spawn(async move {
        let mut list = services.factory().command_feeds().running();
        loop {
            let now = list.borrow_and_update().clone();
            let named = named(&services, now).await;
            if sender.unbounded_send(named).is_err() || list.changed().await.is_err() {
                return;
            }
        }
    });
    receiver
}

/// Adds the names of the agents: the titles of their sessions.
async fn named(
    services: &Arc<AgentServices>,
    mut commands: Vec<AgentCommand>,
) -> Vec<AgentCommand> {
    if commands.is_empty() {
        return commands;
    }
    let store = services.factory().store().clone();
    let reading = on_disk(move || store.sessions(usize::MAX).map_err(super::failed));
    let titles: HashMap<String, String> = match reading.await {
        Ok(sessions) => sessions.into_iter().map(|it| (it.id, it.title)).collect(),
        Err(error) => {
            log::warn!("the names of agents: {error}");
            HashMap::new()
        }
    };
    for command in &mut commands {
        let title = titles.get(&command.id.session);
        command.agent = title.cloned().unwrap_or_default();
    }
    commands
}

/// Attaches to a command, which keeps its session open until the command ends or the connection is dropped; `services`
/// are `None` before the first session.
pub(super) fn connection(
    services: Option<&Arc<AgentServices>>,
    sessions: &LiveSessions,
    id: &AgentCommandId,
    from: u64,
) -> CommandConnection {
    let watch = services.and_then(|it| it.factory().command_feeds().watch(id, from));
    let Some(watch) = watch else {
        return CommandConnection {
            send: Arc::new(|_: CommandInput| {}),
            events: stream::empty().boxed(),
        };
    };
    let send = Arc::new(watch.sender());
    // A subagent's session, and one of the board, has its own end.
    let hold = sessions.hold(&id.session);
    let events = stream::unfold((watch, hold), |(mut watch, hold)| async move {
        let event = watch.next().await?;
        Some((event, (watch, hold)))
    });
    CommandConnection {
        send,
        events: events.boxed(),
    }
}
