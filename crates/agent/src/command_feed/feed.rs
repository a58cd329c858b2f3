//! The feed of one command: its latest output, its watchers, and its control.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use host::process::{OutputBacklog, ProcessExit, SpawnedProcess, TerminalSize};
use tokio::sync::{mpsc, watch};

use super::typed::TypedKeys;
use super::{AgentCommand, CommandControl, CommandInput, ControlChange, MAX_BACKLOG};

/// The feed of a command.
pub(crate) struct CommandFeed {
    about: AgentCommand,
    state: Mutex<FeedState>,
    /// Sends after each change of the state.
    changed: watch::Sender<()>,
    is_taken: watch::Sender<bool>,
    changes: mpsc::UnboundedSender<ControlChange>,
}

/// The part of a feed that changes.
pub(super) struct FeedState {
    /// The latest output.
    pub(super) backlog: OutputBacklog,
    pub(super) exit: Option<ProcessExit>,
    /// The process, once it has started.
    process: Weak<SpawnedProcess>,
    /// The attached watchers, in the order in which they came.
    watchers: Vec<u64>,
    next_watcher: u64,
    /// The watcher that has taken the command over.
    controller: Option<u64>,
    typed: TypedKeys,
}

impl CommandFeed {
    pub(super) fn new(about: AgentCommand, changes: mpsc::UnboundedSender<ControlChange>) -> Self {
        Self {
            about,
            state: Mutex::new(FeedState {
                backlog: OutputBacklog::new(MAX_BACKLOG),
                exit: None,
                process: Weak::new(),
                watchers: Vec::new(),
                next_watcher: 0,
                controller: None,
                typed: TypedKeys::default(),
            }),
            changed: watch::Sender::new(()),
            is_taken: watch::Sender::new(false),
            changes,
        }
    }

    pub(super) fn about(&self) -> &AgentCommand {
        &self.about
    }

    /// Adds output.
    pub(crate) fn push(&self, bytes: &[u8]) {
        self.lock().backlog.push(bytes);
        self.changed.send_replace(());
    }

    /// Sets the process, which gets the input of watchers.
    pub(crate) fn set_process(&self, process: &Arc<SpawnedProcess>) {
        self.lock().process = Arc::downgrade(process);
    }

    /// Returns whether the user has the command, now and after each change.
    pub(crate) fn taken(&self) -> watch::Receiver<bool> {
        self.is_taken.subscribe()
    }

    /// Notes the end, and gives the command back if the user has it.
    pub(super) fn end(&self, exit: ProcessExit) {
        let mut state = self.lock();
        state.exit = Some(exit);
        self.release(&mut state);
        drop(state);
        self.changed.send_replace(());
    }

    pub(super) fn has_ended(&self) -> bool {
        self.lock().exit.is_some()
    }

    /// Adds a watcher and returns its number.
    pub(super) fn attach(&self) -> u64 {
        let mut state = self.lock();
        let watcher = state.next_watcher;
        state.next_watcher += 1;
        state.watchers.push(watcher);
        watcher
    }

    /// Removes a watcher. A command that it took over goes back to the agent.
    pub(super) fn detach(&self, watcher: u64) {
        let mut state = self.lock();
        state.watchers.retain(|it| *it != watcher);
        if state.controller == Some(watcher) {
            self.release(&mut state);
        }
        drop(state);
        self.changed.send_replace(());
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Carries out an input of a watcher. A watcher that is not attached any more is ignored, and so is what a command
    /// without a terminal or after its end cannot do.
    pub(super) fn input(&self, watcher: u64, input: CommandInput) {
        match input {
            CommandInput::Typed(bytes) => self.type_in(watcher, bytes),
            CommandInput::Reply(bytes) => {
                if let Some(process) = self.process_of(|state| state.leads(watcher)) {
                    // A program that does not read its input gets no answers.
                    process.write(bytes);
                }
            }
            CommandInput::Resize { rows, columns } => {
                if let Some(process) = self.process_of(|state| state.leads(watcher)) {
                    process.resize(TerminalSize { rows, columns });
                }
            }
            CommandInput::TakeOver => {
                self.take_over(watcher);
            }
            CommandInput::GiveBack => {
                let mut state = self.lock();
                if state.controller == Some(watcher) {
                    self.release(&mut state);
                }
                drop(state);
                self.changed.send_replace(());
            }
        }
    }

    fn type_in(&self, watcher: u64, bytes: Vec<u8>) {
        if bytes.is_empty() || !self.take_over(watcher) {
            return;
        }
        if let Some(process) = self.process_of(|state| state.controller == Some(watcher)) {
            // Before the bytes are there: the program may show its input again at once.
            let is_hidden = process.hides_input();
            // Under the lock: a command that ends by this key is not given back without it.
            let mut state = self.lock();
            if process.write(bytes.clone()) {
                state.typed.push(&bytes, is_hidden);
            }
        }
    }

    /// Gives a watcher the control. Returns whether it has it.
    fn take_over(&self, watcher: u64) -> bool {
        let mut state = self.lock();
        let can =
            self.about.has_terminal && state.exit.is_none() && state.watchers.contains(&watcher);
        if !can {
            return false;
        }
        if state.controller.replace(watcher) == Some(watcher) {
            return true;
        }
        if !self.is_taken.send_replace(true) {
            self.report(None);
        }
        drop(state);
        self.changed.send_replace(());
        true
    }

    /// Gives the command back to the agent, if the user has it.
    fn release(&self, state: &mut FeedState) {
        if state.controller.take().is_some() {
            self.report(Some(state.typed.take_report()));
            self.is_taken.send_replace(false);
        }
    }

    fn report(&self, given_back: Option<super::TypedReport>) {
        // A session that has ended records nothing any more.
        self.changes
            .send(ControlChange {
                call: self.about.id.call.clone(),
                command: self.about.command.clone(),
                given_back,
            })
            .ok();
    }

    /// Returns the process of a running command with a terminal if the state allows the watcher's wish.
    fn process_of(
        &self,
        is_allowed: impl FnOnce(&FeedState) -> bool,
    ) -> Option<Arc<SpawnedProcess>> {
        let state = self.lock();
        let can = self.about.has_terminal && state.exit.is_none() && is_allowed(&state);
        can.then(|| state.process.upgrade()).flatten()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, FeedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FeedState {
    /// Returns the control as a watcher sees it.
    pub(super) fn control(&self, watcher: u64) -> CommandControl {
        match self.controller {
            None => CommandControl::Agent,
            Some(controller) if controller == watcher => CommandControl::You,
            Some(_) => CommandControl::OtherWindow,
        }
    }

    /// Returns whether the answers and the size of a watcher's terminal are those of the command's.
    fn leads(&self, watcher: u64) -> bool {
        let leading = self.controller.or(self.watchers.first().copied());
        leading == Some(watcher)
    }
}
