//! A program that runs elsewhere: its output is fed in, and its input is handed out.
//!
//! Invariant: only answers to queries that the program makes now are sent back by themselves, and only to a program with
//! a terminal. Its requests for the clipboard, notifications and folders are ignored.
//! Start at `AttachedProgram`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use host::process::{ProcessExit, TerminalSize};
use terminal::{ClipboardAccess, CursorShape, Emulator, EmulatorOptions, TerminalEvent, WakeUp};

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

/// The terminal of a program that an agent runs. Dropping it leaves the program as it is.
pub struct AttachedProgram {
    state: Mutex<AttachedState>,
    has_terminal: bool,
    send: Box<dyn Fn(AttachedInput) + Send + Sync>,
    wake: OnceLock<WakeUp>,
    /// Whether a wake-up was not acknowledged.
    is_woken: AtomicBool,
}

struct AttachedState {
    emulator: Emulator,
    events: Vec<TerminalEvent>,
    control: ProgramControl,
    exit: Option<ProcessExit>,
    /// The size of the grid.
    size: TerminalSize,
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
            state: Mutex::new(AttachedState {
                emulator,
                events: Vec::new(),
                control,
                exit: None,
                size,
                last_byte: 0,
            }),
            has_terminal,
            send: Box::new(send),
            wake: OnceLock::new(),
            is_woken: AtomicBool::new(false),
        }
    }

    /// Sets the function that tells the view of news. The view looks once when it is set.
    pub(crate) fn connect(&self, wake: WakeUp) {
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
                state.emulator.feed(piece, Duration::ZERO);
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
        let over = self.events.len().saturating_sub(MAX_EVENTS);
        self.events.drain(..over);
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
        state.emulator.resize(size);
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
        usize::from(self.exit().is_none())
    }

    /// Does nothing: the agent's session ends its commands.
    fn stop(&self) {}

    fn control(&self) -> Option<ProgramControl> {
        Some(self.lock().control)
    }

    fn set_control(&self, is_users: bool) {
        let input = if is_users {
            AttachedInput::TakeOver
        } else {
            AttachedInput::GiveBack
        };
        if self.has_terminal {
            (self.send)(input);
        }
    }
}

#[cfg(test)]
mod tests;
