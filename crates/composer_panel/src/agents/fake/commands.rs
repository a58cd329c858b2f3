//! The running commands of fake engines.

use std::collections::HashMap;
use std::sync::Arc;

use futures::channel::mpsc;
use futures::stream::{BoxStream, StreamExt as _};

use super::super::{
    AgentCommand, AgentCommandId, CommandConnection, CommandFeedEvent, CommandInput,
};
use super::FakeAgents;

/// The commands, and what views did with them.
#[derive(Default)]
pub(super) struct FakeCommands {
    running: Vec<AgentCommand>,
    lists: Vec<mpsc::UnboundedSender<Vec<AgentCommand>>>,
    /// The latest watcher of each command.
    watchers: HashMap<AgentCommandId, mpsc::UnboundedSender<CommandFeedEvent>>,
    inputs: Vec<CommandInput>,
}

impl FakeCommands {
    /// Streams the list: now, and after each change.
    pub(super) fn follow(&mut self) -> BoxStream<'static, Vec<AgentCommand>> {
        let (sender, lists) = mpsc::unbounded();
        // The receiver is here.
        sender.unbounded_send(self.running.clone()).ok();
        self.lists.push(sender);
        lists.boxed()
    }
}

impl FakeAgents {
    /// Sets the running commands.
    pub fn set_running_commands(&self, commands: &[AgentCommand]) {
        self.with(|state| {
            let state = &mut state.running_commands;
            state.running = commands.to_vec();
            let sent = |it: &mpsc::UnboundedSender<_>| it.unbounded_send(commands.to_vec()).is_ok();
            state.lists.retain(sent);
        });
    }

    /// Sends an event to the latest watcher of a command. Returns whether it is attached.
    pub fn send_command_event(&self, id: &AgentCommandId, event: CommandFeedEvent) -> bool {
        self.with(|state| {
            let watcher = state.running_commands.watchers.get(id);
            watcher.is_some_and(|watcher| watcher.unbounded_send(event).is_ok())
        })
    }

    /// Takes the inputs of commands since the last call.
    pub fn take_command_inputs(&self) -> Vec<CommandInput> {
        self.with(|state| std::mem::take(&mut state.running_commands.inputs))
    }

    pub(super) fn connect_command(&self, id: AgentCommandId, _from: u64) -> CommandConnection {
        let (sender, events) = mpsc::unbounded();
        self.with(|state| state.running_commands.watchers.insert(id, sender));
        let this = self.clone();
        CommandConnection {
            send: Arc::new(move |input| {
                this.with(|state| state.running_commands.inputs.push(input))
            }),
            events: events.boxed(),
        }
    }
}
