//! One stream of a client: a session, a board, or a list that changes.

use std::pin::pin;
use std::sync::Arc;

use agent_service::board::{BoardConnection, Event};
use agent_service::{
    AgentCommandId, AgentService as _, CommandConnection, CommandFeedEvent, Error,
    SessionConnection,
};
use base::AbsPath;
use futures::stream::{self, Stream, StreamExt as _};
use tokio::sync::mpsc;

use super::BackgroundState;
use super::outbox::Outbox;
use crate::protocol::{MAX_UNREAD_OUTPUT, ServerMessage, StreamCommand, StreamItem, StreamRequest};
use crate::shells::ShellEvent;

/// A stream and its client.
pub(super) struct StreamContext {
    pub(super) state: Arc<BackgroundState>,
    pub(super) client: String,
    pub(super) id: u64,
    pub(super) outbox: Outbox,
}

type Commands = mpsc::UnboundedReceiver<(u64, StreamCommand)>;

/// Sends the items of a stream until it ends.
pub(super) async fn run(context: StreamContext, request: StreamRequest, commands: Commands) {
    let engines = context.state.engines.clone();
    match request {
        StreamRequest::Start(_) | StreamRequest::Session(..) | StreamRequest::Job(..) => {
            context.session(request, commands).await;
        }
        StreamRequest::Board(root) => context.board(root, commands).await,
        StreamRequest::Running => {
            context
                .forward(engines.running(), StreamItem::Running)
                .await
        }
        StreamRequest::Commands => {
            let running = engines.running_commands();
            context.forward(running, StreamItem::Commands).await;
        }
        StreamRequest::Command(id, from) => context.command(id, from, commands).await,
        StreamRequest::Shells(root) => {
            let shells = context.state.shells.list_of(root.as_ref()).await;
            context.outbox.item(context.id, StreamItem::Shells(shells));
        }
        StreamRequest::Shell(id, from) => context.shell(&id, from, commands).await,
        StreamRequest::SessionChanges => {
            let changes = engines.session_changes();
            context.forward(changes, StreamItem::Changed).await;
        }
        StreamRequest::StoredChanges => {
            let changes = engines.stored_changes();
            context.forward(changes, StreamItem::Stored).await;
        }
        StreamRequest::Problems => {
            let problems = engines.problems();
            context.forward(problems, StreamItem::Problem).await;
        }
        StreamRequest::BudgetNotices => {
            let notices = engines.budget_notices();
            context.forward(notices, StreamItem::Budget).await;
        }
        StreamRequest::ToolAlarms => {
            let alarms = engines.tool_alarms();
            context.forward(alarms, StreamItem::Alarm).await;
        }
        StreamRequest::FolderChanges(root, session) => {
            let changes = engines.folder_changes(root, session);
            context.forward(changes, StreamItem::Folder).await;
        }
    }
    let id = context.id;
    context.outbox.send(&ServerMessage::End { id });
}

impl StreamContext {
    async fn forward<T>(
        &self,
        mut items: impl Stream<Item = T> + Unpin,
        to_item: impl Fn(T) -> StreamItem,
    ) {
        while let Some(item) = items.next().await {
            self.outbox.item(self.id, to_item(item));
        }
    }

    async fn session(&self, request: StreamRequest, mut commands: Commands) {
        let opened = match self.open(request).await {
            Ok(opened) => opened,
            Err(error) => return self.outbox.item(self.id, StreamItem::Failed(error.into())),
        };
        let SessionConnection {
            id,
            root,
            send,
            past,
            mut events,
            notices,
        } = opened;
        let memory = &self.state.memory;
        memory.started(&self.client, self.id, id.clone());
        let opened = StreamItem::Opened {
            id,
            root,
            notices,
            past,
        };
        self.outbox.item(self.id, opened);
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => self.outbox.item(self.id, StreamItem::Event(event)),
                    None => return,
                },
                Some((number, command)) = commands.recv() => {
                    let is_new = memory.begins(&self.client, self.id, number);
                    if let (true, StreamCommand::Session(command)) = (is_new, command) {
                        send(command);
                    }
                    self.handled(number);
                }
            }
        }
    }

    /// Opens the session of a stream. A stream that started a session before the client connected
    /// again opens that one.
    async fn open(&self, request: StreamRequest) -> Result<SessionConnection, Error> {
        let engines = &self.state.engines;
        match request {
            StreamRequest::Start(session) => {
                let started = self.state.memory.session(&self.client, self.id);
                if let Some(id) = started
                    && let Ok(opened) = engines.open(session.root.clone(), id).await
                {
                    return Ok(opened);
                }
                // A session without a prompt is not stored and ends with its last view.
                engines.start(session).await
            }
            StreamRequest::Session(root, id) => engines.open(root, id).await,
            StreamRequest::Job(root, id) => engines.watch(root, id).await,
            _ => Err(Error::Failed("this stream has no session".to_owned())),
        }
    }

    async fn board(&self, root: AbsPath, mut commands: Commands) {
        let BoardConnection { send, mut events } = match self.state.engines.board(root).await {
            Ok(board) => board,
            Err(error) => return self.outbox.item(self.id, StreamItem::Failed(error.into())),
        };
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => self.board_event(event),
                    None => return,
                },
                Some((number, command)) = commands.recv() => {
                    let is_new = self.state.memory.begins(&self.client, self.id, number);
                    if let (true, StreamCommand::Board(command)) = (is_new, command) {
                        send(command);
                    }
                    self.handled(number);
                }
            }
        }
    }

    /// Sends the events of a command.
    async fn command(&self, id: AgentCommandId, from: u64, commands: Commands) {
        let CommandConnection { send, events } = self.state.engines.watch_command(id, from);
        let output_end = |event: &CommandFeedEvent| match event {
            CommandFeedEvent::Output { offset, bytes, .. } => Some(offset + bytes.len() as u64),
            _ => None,
        };
        let input = |command| {
            if let StreamCommand::Command(input) = command {
                send(input);
            }
        };
        let events = events.map(|event| (output_end(&event), StreamItem::Command(event)));
        self.program(from, events, commands, input).await;
    }

    /// Sends the events of a shell.
    async fn shell(&self, id: &str, from: u64, commands: Commands) {
        let Some(watch) = self.state.shells.watch(id, from) else {
            return;
        };
        let send = watch.sender();
        let output_end = |event: &ShellEvent| match event {
            ShellEvent::Output { offset, bytes, .. } => Some(offset + bytes.len() as u64),
            _ => None,
        };
        let input = |command| {
            if let StreamCommand::Shell(input) = command {
                send(input);
            }
        };
        let events = stream::unfold(watch, async |mut watch| Some((watch.next().await?, watch)));
        let events = events.map(|event| (output_end(&event), StreamItem::Shell(event)));
        self.program(from, events, commands, input).await;
    }

    /// Sends the events of a program, each with the offset at which its output ends, if it has output, and passes the
    /// inputs of the client on. Sends nothing more while the client does not read, so that neither the program nor other
    /// streams wait for the client.
    async fn program(
        &self,
        from: u64,
        events: impl Stream<Item = (Option<u64>, StreamItem)>,
        mut commands: Commands,
        input: impl Fn(StreamCommand),
    ) {
        let mut events = pin!(events);
        let (mut sent, mut read) = (from, from);
        loop {
            let has_room = sent.saturating_sub(read) < MAX_UNREAD_OUTPUT;
            tokio::select! {
                event = events.next(), if has_room => {
                    let Some((output_end, item)) = event else {
                        return;
                    };
                    sent = output_end.unwrap_or(sent);
                    self.outbox.item(self.id, item);
                }
                Some((number, command)) = commands.recv() => {
                    let is_new = self.state.memory.begins(&self.client, self.id, number);
                    match command {
                        StreamCommand::Read(offset) => read = read.max(offset),
                        command if is_new => input(command),
                        _ => {}
                    }
                    self.handled(number);
                }
                else => return,
            }
        }
    }

    fn board_event(&self, event: Event) {
        match event {
            Event::Board(board) => self.outbox.item(self.id, StreamItem::Board(board)),
            Event::Undelivered(prompt) => {
                self.outbox.item(self.id, StreamItem::Undelivered(prompt));
            }
            // A window gets only the states of a board and its own messages.
            _ => {}
        }
    }

    fn handled(&self, number: u64) {
        let id = self.id;
        self.outbox.send(&ServerMessage::Handled { id, number });
    }
}
