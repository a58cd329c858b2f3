//! A stream of the background process, which goes on over several connections.
//!
//! Invariant: a record reaches the view once, although a new connection sends all of them again; output of a command
//! or shell goes on where it was cut.

use std::collections::{HashMap, VecDeque};

use agent::AgentEvent;
use agent::command_feed::CommandFeedEvent;
use agent::session::SessionCommand;
use agent_service::NewSession;
use futures::channel::mpsc::UnboundedSender;

use crate::protocol::{ClientMessage, StreamCommand, StreamItem, StreamRequest};
use crate::shells::ShellEvent;

/// A stream that a view has open.
pub(super) struct LinkedStream {
    request: StreamRequest,
    items: UnboundedSender<StreamItem>,
    /// The session that was opened.
    session: Option<String>,
    next_number: u64,
    /// The commands that were not acknowledged, oldest first.
    unacknowledged: VecDeque<(u64, StreamCommand)>,
    has_items: bool,
    /// Number of the latest record that the view has, by the session's subagents on the way.
    latest: HashMap<String, u64>,
}

/// The state of a stream after an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamFate {
    Open,
    /// The session is the known one, and takes the commands that were held.
    Resumed,
    Ended,
}

impl LinkedStream {
    pub(super) fn new(request: StreamRequest, items: UnboundedSender<StreamItem>) -> Self {
        Self {
            request,
            items,
            session: None,
            next_number: 1,
            unacknowledged: VecDeque::new(),
            has_items: false,
            latest: HashMap::new(),
        }
    }

    /// Whether the view has something of the stream.
    pub(super) fn has_begun(&self) -> bool {
        self.has_items
    }

    /// Whether the stream needs the process: without it there is no session, no board and no shell.
    pub(super) fn needs_process(&self) -> bool {
        matches!(
            self.request,
            StreamRequest::Start(_)
                | StreamRequest::Session(..)
                | StreamRequest::Job(..)
                | StreamRequest::Board(_)
                | StreamRequest::Shell(..)
        )
    }

    /// Queues a command and returns its message.
    pub(super) fn command(&mut self, id: u64, command: StreamCommand) -> ClientMessage {
        let number = self.next_number;
        self.next_number += 1;
        self.unacknowledged.push_back((number, command.clone()));
        ClientMessage::Send {
            id,
            number,
            command,
        }
    }

    /// Notes that the commands up to `number` were carried out.
    pub(super) fn acknowledge(&mut self, number: u64) {
        while self.unacknowledged.front().is_some_and(|it| it.0 <= number) {
            self.unacknowledged.pop_front();
        }
    }

    /// Returns the messages that open the stream over a new connection. Commands for a session that may
    /// have ended without records are held until it is known to be the same.
    pub(super) fn reopen(&mut self, id: u64) -> Vec<ClientMessage> {
        let stream = self.request.clone();
        let mut messages = vec![ClientMessage::Open { id, stream }];
        if !self.holds_commands() {
            messages.extend(self.unacknowledged(id));
        }
        messages
    }

    /// Returns the messages of the commands that were not acknowledged.
    pub(super) fn unacknowledged(&self, id: u64) -> impl Iterator<Item = ClientMessage> {
        let commands = self.unacknowledged.iter().cloned();
        commands.map(move |(number, command)| ClientMessage::Send {
            id,
            number,
            command,
        })
    }

    fn holds_commands(&self) -> bool {
        matches!(self.request, StreamRequest::Start(_)) && self.session.is_some()
    }

    /// Gives back what another run of the process may or may not have carried out, and drops it:
    /// nothing is done twice.
    pub(super) fn give_back(&mut self) {
        for (_, command) in std::mem::take(&mut self.unacknowledged) {
            let StreamCommand::Session(command) = command else {
                continue;
            };
            if let Some(prompt) = SessionCommand::into_prompt(command) {
                self.send(StreamItem::Event(AgentEvent::GivenBack(prompt)));
            }
        }
    }

    /// Passes an item on to the view.
    pub(super) fn receive(&mut self, item: StreamItem) -> StreamFate {
        self.has_items = true;
        match item {
            StreamItem::Opened {
                id,
                root,
                notices,
                past,
            } => {
                match &self.session {
                    None => {
                        self.session = Some(id.clone());
                        self.send(StreamItem::Opened {
                            id,
                            root,
                            notices,
                            past,
                        });
                    }
                    // The text that was streaming comes again, or is recorded by now.
                    Some(known) if *known == id => {
                        self.send(StreamItem::Event(AgentEvent::Restarted));
                        if self.holds_commands() {
                            return StreamFate::Resumed;
                        }
                    }
                    // A session without records ended with the connection, and another one began.
                    Some(_) => {
                        self.give_back();
                        self.send(StreamItem::Event(AgentEvent::Closed));
                        return StreamFate::Ended;
                    }
                }
                StreamFate::Open
            }
            StreamItem::Failed(failure) => {
                self.send(if self.session.is_some() {
                    StreamItem::Event(AgentEvent::Closed)
                } else {
                    StreamItem::Failed(failure)
                });
                StreamFate::Ended
            }
            StreamItem::Event(event) => {
                if self.is_new(&event) {
                    self.continue_session();
                    self.send(StreamItem::Event(event));
                }
                StreamFate::Open
            }
            StreamItem::Command(event) => {
                if let (
                    StreamRequest::Command(_, from),
                    CommandFeedEvent::Output { offset, bytes, .. },
                ) = (&mut self.request, &event)
                {
                    *from = offset + bytes.len() as u64;
                }
                self.send(StreamItem::Command(event));
                StreamFate::Open
            }
            StreamItem::Shell(event) => {
                if let (StreamRequest::Shell(_, from), ShellEvent::Output { offset, bytes, .. }) =
                    (&mut self.request, &event)
                {
                    *from = offset + bytes.len() as u64;
                }
                self.send(StreamItem::Shell(event));
                StreamFate::Open
            }
            item => {
                self.send(item);
                StreamFate::Open
            }
        }
    }

    /// Makes a new connection open the session that was started, which has records.
    fn continue_session(&mut self) {
        if let (StreamRequest::Start(NewSession { root, .. }), Some(session)) =
            (&self.request, &self.session)
            && !self.latest.is_empty()
        {
            self.request = StreamRequest::Session(root.clone(), session.clone());
        }
    }

    /// Whether the view does not have this event yet; always true for one without a number.
    fn is_new(&mut self, event: &AgentEvent) -> bool {
        let mut path = String::new();
        let mut inner = event;
        while let AgentEvent::Child { session, event } = inner {
            path.push_str(session);
            path.push(' ');
            inner = event;
        }
        let AgentEvent::Recorded(stored) = inner else {
            return true;
        };
        let latest = self.latest.get(&path).copied();
        let is_new = latest.is_none_or(|latest| stored.seq > latest);
        if is_new {
            self.latest.insert(path, stored.seq);
        }
        is_new
    }

    /// Sends an item; a view that is gone gets nothing.
    fn send(&self, item: StreamItem) {
        self.items.unbounded_send(item).ok();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agent::record::SessionRecord;
    use agent::session::UserPrompt;
    use agent::{SessionCommand, Stored};
    use base::AbsPath;
    use futures::channel::mpsc::{UnboundedReceiver, unbounded};

    use super::*;

    fn stream() -> (LinkedStream, UnboundedReceiver<StreamItem>) {
        let root = AbsPath::new("/p").expect("absolute");
        let (sender, items) = unbounded();
        let request = StreamRequest::Session(root, "s".to_owned());
        (LinkedStream::new(request, sender), items)
    }

    fn recorded(seq: u64) -> AgentEvent {
        let text = String::new();
        AgentEvent::Recorded(Arc::new(Stored {
            seq,
            at_ms: 0,
            record: SessionRecord::Noted { text },
        }))
    }

    fn of_child(event: AgentEvent) -> AgentEvent {
        AgentEvent::Child {
            session: "c".into(),
            event: Box::new(event),
        }
    }

    fn numbers(items: &mut UnboundedReceiver<StreamItem>) -> Vec<u64> {
        let mut numbers = Vec::new();
        while let Ok(item) = items.try_recv() {
            if let StreamItem::Event(AgentEvent::Recorded(stored)) = item {
                numbers.push(stored.seq);
            }
        }
        numbers
    }

    fn prompt(text: &str) -> StreamCommand {
        StreamCommand::Session(SessionCommand::Prompt(UserPrompt {
            text: text.to_owned(),
            images: Vec::new(),
        }))
    }

    #[test]
    fn records_that_come_again_are_dropped() {
        let (mut stream, mut items) = stream();
        for seq in [0, 1, 2, 0, 1, 2, 3] {
            stream.receive(StreamItem::Event(recorded(seq)));
        }
        // A subagent has numbers of its own.
        stream.receive(StreamItem::Event(of_child(recorded(0))));
        assert!(!stream.is_new(&of_child(recorded(0))));
        assert!(stream.is_new(&of_child(recorded(1))));
        assert_eq!(numbers(&mut items), [0, 1, 2, 3]);
    }

    #[test]
    fn commands_are_sent_again_until_they_are_acknowledged() {
        let (mut stream, _items) = stream();
        for text in ["one", "two", "three"] {
            stream.command(7, prompt(text));
        }
        stream.acknowledge(2);
        let again = stream.reopen(7);
        assert!(matches!(
            again.as_slice(),
            [
                ClientMessage::Open { id: 7, .. },
                ClientMessage::Send { number: 3, .. }
            ]
        ));
    }

    #[test]
    fn commands_are_held_until_a_started_session_is_the_same() {
        let root = AbsPath::new("/p").expect("absolute");
        let start = || {
            let (sender, items) = unbounded();
            let session = NewSession {
                root: root.clone(),
                model: "demo".to_owned(),
                mode: agent::record::SessionMode::Build,
            };
            (
                LinkedStream::new(StreamRequest::Start(session), sender),
                items,
            )
        };
        let opened = |id: &str| StreamItem::Opened {
            id: id.to_owned(),
            root: root.clone(),
            notices: Vec::new(),
            past: None,
        };
        let (mut stream, _items) = start();
        assert_eq!(stream.receive(opened("a")), StreamFate::Open);
        stream.command(1, prompt("one"));
        assert_eq!(stream.reopen(1).len(), 1);
        assert_eq!(stream.receive(opened("a")), StreamFate::Resumed);
        assert_eq!(stream.unacknowledged(1).count(), 1);
        // Once the session has records it is opened by its id.
        stream.receive(StreamItem::Event(recorded(0)));
        assert_eq!(stream.reopen(1).len(), 2);
        let (mut stream, mut items) = start();
        stream.receive(opened("a"));
        stream.command(1, prompt("one"));
        assert_eq!(stream.receive(opened("b")), StreamFate::Ended);
        let mut received = std::iter::from_fn(|| items.try_recv().ok());
        assert!(received.any(|item| matches!(
            item,
            StreamItem::Event(AgentEvent::GivenBack(UserPrompt { text, .. })) if text == "one"
        )));
    }

    #[test]
    fn the_output_of_a_command_goes_on_where_it_was_cut() {
        let id = agent::command_feed::AgentCommandId {
            session: "s".to_owned(),
            call: "c".to_owned(),
            number: 1,
        };
        let (sender, mut items) = unbounded();
        let mut stream = LinkedStream::new(StreamRequest::Command(id, 0), sender);
        assert!(!stream.needs_process());
        for (offset, text) in [(0, "one"), (3, "two"), (900, "late")] {
            stream.receive(StreamItem::Command(CommandFeedEvent::Output {
                offset,
                bytes: text.as_bytes().to_vec(),
                is_backlog: false,
            }));
            assert!(matches!(items.try_recv(), Ok(StreamItem::Command(_))));
        }
        assert!(matches!(
            stream.reopen(1).as_slice(),
            [ClientMessage::Open {
                stream: StreamRequest::Command(_, 904),
                ..
            }]
        ));
    }

    #[test]
    fn another_run_of_the_process_gets_no_old_commands() {
        let (mut stream, mut items) = stream();
        stream.command(1, prompt("one"));
        stream.command(1, StreamCommand::Session(SessionCommand::Stop));
        stream.give_back();
        assert_eq!(stream.reopen(1).len(), 1);
        let given = items.try_recv().expect("the prompt");
        assert!(matches!(
            given,
            StreamItem::Event(AgentEvent::GivenBack(UserPrompt { text, .. })) if text == "one"
        ));
        assert!(items.try_recv().is_err());
    }
}
