//! A program that runs elsewhere: its output is fed in, and its input is handed out.
//!
//! Invariant: to a program of an agent, only answers to queries that it makes now are sent back by themselves, and only if
//! it has a terminal. Its requests for the clipboard, notifications and folders are ignored.
//! Invariant: the queries of a user's shell are answered by the process that owns the shell, never here.
//! Start at `AttachedProgram`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use host::Clock;
use host::process::{ProcessExit, TerminalSize};
use terminal::{
    ClipboardAccess, CursorShape, Emulator, EmulatorOptions, SavedTerminal, TerminalEvent, WakeUp,
};

use crate::program::{ProgramControl, TerminalProgram};

/// Bytes of output for which the emulator is locked at once.
const PIECE: usize = 4 << 10;
/// Maximum number of events that wait for the view.
const MAX_EVENTS: usize = 256;

/// An input for the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttachedInput {
    /// Bytes that the user typed.
    Typed(Vec<u8>),
    /// An answer to a query of the program.
    Reply(Vec<u8>),
    /// The size of the terminal.
    Resize(TerminalSize),
    /// The user takes the program over.
    TakeOver,
    /// The user gives the program back.
    GiveBack,
}

/// A shell of the user that another process owns.
pub struct KeptShellLink {
    /// Id of the shell: see `TerminalProgram::kept_id`.
    pub id: String,
    /// Measures the run times of commands.
    pub clock: Arc<dyn Clock>,
    /// Passes inputs on without blocking.
    pub send: Box<dyn Fn(AttachedInput) + Send + Sync>,
    /// Ends the shell and all its descendants, without blocking.
    pub end: Box<dyn Fn() + Send + Sync>,
}

/// The terminal of a program that another engine or process runs: a command of an agent, or a shell of the user. Dropping
/// it leaves the program as it is.
pub struct AttachedProgram {
    state: Mutex<AttachedState>,
    has_terminal: bool,
    /// The shell of the user; `None` for a command of an agent.
    shell: Option<AttachedShell>,
    send: Box<dyn Fn(AttachedInput) + Send + Sync>,
    wake: OnceLock<WakeUp>,
    /// Whether a wake-up was not acknowledged.
    is_woken: AtomicBool,
}

struct AttachedShell {
    id: String,
    clock: Arc<dyn Clock>,
    end: Box<dyn Fn() + Send + Sync>,
}

struct AttachedState {
    emulator: Emulator,
    events: Vec<TerminalEvent>,
    control: ProgramControl,
    exit: Option<ProcessExit>,
    /// The size of the view.
    size: TerminalSize,
    /// Whether the grid has the size of the view. Earlier output of a shell is shown at the sizes for which it was printed.
    has_own_size: bool,
    /// Number of living processes.
    processes: usize,
    /// The last byte of the output.
    last_byte: u8,
}

impl AttachedProgram {
    /// Creates the terminal. `has_terminal` tells whether the program has one, so that it takes input; `send` passes
    /// inputs on without blocking.
    pub fn new(
        size: TerminalSize,
        scrollback: u32,
        has_terminal: bool,
        send: impl Fn(AttachedInput) + Send + Sync + 'static,
    ) -> Self {
        let emulator = Emulator::new(EmulatorOptions {
            size,
            scrollback,
            cursor_shape: CursorShape::Block,
            clipboard: ClipboardAccess::None,
            nonce: None,
            host_name: None,
        });
        let control = if has_terminal {
            ProgramControl::Agent
        } else {
            ProgramControl::WatchOnly
        };
        Self {
            state: Mutex::new(AttachedState::new(emulator, size, control)),
            has_terminal,
            shell: None,
            send: Box::new(send),
            wake: OnceLock::new(),
            is_woken: AtomicBool::new(false),
        }
    }

    /// Creates the terminal of a shell. `options` are those of a terminal of the user, with the nonce of the shell.
    pub fn of_shell(options: EmulatorOptions, link: KeptShellLink) -> Self {
        let size = options.size;
        let mut state = AttachedState::new(Emulator::new(options), size, ProgramControl::WatchOnly);
        state.has_own_size = false;
        let KeptShellLink {
            id,
            clock,
            send,
            end,
        } = link;
        Self {
            state: Mutex::new(state),
            has_terminal: true,
            shell: Some(AttachedShell { id, clock, end }),
            send,
            wake: OnceLock::new(),
            is_woken: AtomicBool::new(false),
        }
    }

    /// Shows the text of an earlier run above the output, as `Emulator::show_saved` does. Comes before all output.
    pub fn show_saved(&self, saved: &SavedTerminal, notice: &str) {
        self.lock().emulator.show_saved(saved, notice);
    }

    /// Sets the size for which the output that follows was printed. Ignored once the program is caught up.
    pub fn set_output_size(&self, size: TerminalSize) {
        let mut state = self.lock();
        if !state.has_own_size {
            state.emulator.resize(size);
        }
    }

    /// Notes that the earlier output was shown. The grid gets the size of the view, and `modes` are fed.
    pub fn note_caught_up(&self, modes: &[u8]) {
        self.feed(modes, true);
        let mut state = self.lock();
        state.has_own_size = true;
        let size = state.size;
        state.emulator.resize(size);
        drop(state);
        self.wake();
    }

    /// Notes the number of living processes.
    pub fn note_processes(&self, count: usize) {
        self.lock().processes = count;
    }

    /// Sets the function that tells the view of news. The view looks once when it is set.
    pub fn connect(&self, wake: WakeUp) {
        if self.wake.set(wake).is_err() {
            base::never!("a program has one view");
        }
    }

    /// Shows output. Queries in a backlog are not answered: the program does not wait for them any more.
    pub fn feed(&self, bytes: &[u8], is_backlog: bool) {
        for piece in bytes.chunks(PIECE) {
            self.feed_piece(piece, is_backlog);
        }
        self.change(is_backlog, |state| {
            // Without a clock, an update that the program does not end is shown with its output.
            if state.emulator.is_updating() {
                state.emulator.end_update(Duration::ZERO);
            }
        });
        self.wake();
    }

    fn feed_piece(&self, piece: &[u8], is_backlog: bool) {
        self.change(is_backlog, |state| {
            if self.has_terminal {
                let clock = self.shell.as_ref().map(|shell| &shell.clock);
                let now = clock.map_or(Duration::ZERO, |clock| clock.elapsed());
                state.emulator.feed(piece, now);
            } else {
                let lines = state.with_carriage_returns(piece);
                state.emulator.feed(&lines, Duration::ZERO);
            }
        });
    }

    /// Changes the emulator and sends its answers.
    fn change(&self, is_backlog: bool, change: impl FnOnce(&mut AttachedState)) {
        let replies = {
            let mut state = self.lock();
            change(&mut state);
            if self.shell.is_some() {
                return state.keep_events_of_shell(is_backlog);
            }
            state.take_replies(is_backlog)
        };
        if self.has_terminal {
            let replies = replies.into_iter();
            replies.for_each(|reply| (self.send)(AttachedInput::Reply(reply)));
        }
    }

    /// Notes that output is missing: begins an empty screen with the number of missing bytes.
    pub fn skip(&self, count: u64) {
        let note = format!("\x1bc\x1b[2m[skipped {count} bytes of output]\x1b[0m\r\n");
        self.change(true, |state| {
            state.emulator.feed(note.as_bytes(), Duration::ZERO);
            state.last_byte = b'\n';
        });
        self.wake();
    }

    /// Sets the control of a program with a terminal.
    pub fn note_control(&self, control: ProgramControl) {
        if self.has_terminal {
            self.lock().control = control;
            self.wake();
        }
    }

    /// Notes the end of the program, unless it is known.
    pub fn end(&self, exit: ProcessExit) {
        let mut state = self.lock();
        if state.exit.is_none() {
            state.exit = Some(exit);
        }
        drop(state);
        self.wake();
    }

    fn wake(&self) {
        if !self.is_woken.swap(true, Ordering::SeqCst)
            && let Some(wake) = self.wake.get()
        {
            wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, AttachedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AttachedState {
    fn new(emulator: Emulator, size: TerminalSize, control: ProgramControl) -> Self {
        Self {
            emulator,
            events: Vec::new(),
            control,
            exit: None,
            size,
            has_own_size: true,
            processes: 1,
            last_byte: 0,
        }
    }

    /// Keeps the events of a shell for the view. The owner of the shell answers its queries. Of a backlog, nothing is asked,
    /// copied or rung again.
    fn keep_events_of_shell(&mut self, is_backlog: bool) {
        for event in self.emulator.take_events() {
            match event {
                TerminalEvent::Reply(_) | TerminalEvent::ColorQuery(_) => {}
                TerminalEvent::ClipboardWrite { .. }
                | TerminalEvent::ClipboardRead(_)
                | TerminalEvent::Notification(_)
                | TerminalEvent::CommandEnded(_)
                | TerminalEvent::Bell
                    if is_backlog => {}
                event => self.events.push(event),
            }
        }
        self.forget_old_events();
    }

    fn forget_old_events(&mut self) {
        let over = self.events.len().saturating_sub(MAX_EVENTS);
        self.events.drain(..over);
    }

    /// Returns output of a pipe as a terminal shows it: line feeds begin a new line.
    fn with_carriage_returns(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut lines = Vec::with_capacity(bytes.len() + bytes.len() / 8);
        for byte in bytes {
            if *byte == b'\n' && self.last_byte != b'\r' {
                lines.push(b'\r');
            }
            lines.push(*byte);
            self.last_byte = *byte;
        }
        lines
    }

    /// Keeps the events for the view, and returns the answers to queries. Of a backlog, nothing is answered and nothing
    /// rings.
    fn take_replies(&mut self, is_backlog: bool) -> Vec<Vec<u8>> {
        let mut replies = Vec::new();
        for event in self.emulator.take_events() {
            match event {
                TerminalEvent::Reply(bytes) => replies.push(bytes),
                // The emulator passes no clipboard on. Where the user's shells start, and what the system shows, is not
                // for programs of agents.
                TerminalEvent::ClipboardWrite { .. }
                | TerminalEvent::ClipboardRead(_)
                | TerminalEvent::Folder(_)
                | TerminalEvent::Notification(_) => {}
                TerminalEvent::Bell | TerminalEvent::ColorQuery(_) if is_backlog => {}
                event => self.events.push(event),
            }
        }
        self.forget_old_events();
        if is_backlog {
            replies.clear();
        }
        replies
    }
}

impl TerminalProgram for AttachedProgram {
    fn acknowledge(&self) {
        self.is_woken.store(false, Ordering::SeqCst);
    }

    fn take_events(&self) -> Vec<TerminalEvent> {
        std::mem::take(&mut self.lock().events)
    }

    fn visit_emulator(&self, read: &mut dyn FnMut(&mut Emulator)) {
        read(&mut self.lock().emulator);
    }

    fn write(&self, bytes: Vec<u8>) -> bool {
        let takes_input = self.has_terminal && self.exit().is_none();
        if takes_input {
            (self.send)(AttachedInput::Typed(bytes));
        }
        takes_input
    }

    fn reply(&self, bytes: Vec<u8>) -> bool {
        let takes_input = self.has_terminal && self.exit().is_none();
        if takes_input {
            (self.send)(AttachedInput::Reply(bytes));
        }
        takes_input
    }

    fn resize_grid(&self, size: TerminalSize) {
        let mut state = self.lock();
        state.size = size;
        if state.has_own_size {
            state.emulator.resize(size);
        }
    }

    fn resize_program(&self) {
        let size = self.lock().size;
        if self.has_terminal {
            (self.send)(AttachedInput::Resize(size));
        }
    }

    fn exit(&self) -> Option<ProcessExit> {
        self.lock().exit
    }

    fn process_count(&self) -> usize {
        let state = self.lock();
        if state.exit.is_some() {
            0
        } else {
            state.processes
        }
    }

    /// Ends a shell of the user. Does nothing to a command of an agent: its session ends it.
    fn stop(&self) {
        if let Some(shell) = &self.shell {
            (shell.end)();
        }
    }

    fn kept_id(&self) -> Option<String> {
        self.shell.as_ref().map(|shell| shell.id.clone())
    }

    fn close(&self) {
        self.stop();
    }

    fn control(&self) -> Option<ProgramControl> {
        let control = self.lock().control;
        self.shell.is_none().then_some(control)
    }

    fn set_control(&self, is_users: bool) {
        let input = if is_users {
            AttachedInput::TakeOver
        } else {
            AttachedInput::GiveBack
        };
        if self.has_terminal && self.shell.is_none() {
            (self.send)(input);
        }
    }
}

#[cfg(test)]
mod tests;
