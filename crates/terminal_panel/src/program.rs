//! The program of a terminal as a view uses it.

use std::time::Duration;

use host::process::{ProcessExit, TerminalSize};
use terminal::{Emulator, TerminalEvent, TerminalSession};

/// Time that a program has to end by itself when it is stopped.
const GRACE: Duration = Duration::from_millis(500);

/// A program in a terminal: `terminal::TerminalSession`, or a double for tests. Dropping the last reference ends the
/// program, unless it has a `kept_id` or an agent runs it.
///
/// The methods have the meaning of those of `TerminalSession`.
pub trait TerminalProgram: Send + Sync {
    /// Allows the next wake-up. Call it before reading.
    fn acknowledge(&self);

    /// Takes the events since the last call.
    fn take_events(&self) -> Vec<TerminalEvent>;

    /// Calls `read` once with the emulator. Output waits meanwhile. Use `read_emulator`, which returns a value.
    fn visit_emulator(&self, read: &mut dyn FnMut(&mut Emulator));

    /// Writes input to the program; returns false if the program ended or does not read its input.
    fn write(&self, bytes: Vec<u8>) -> bool;

    /// Sends an answer of the terminal to the program, which no user typed. Returns as `write` does.
    fn reply(&self, bytes: Vec<u8>) -> bool {
        self.write(bytes)
    }

    /// Changes the size of the grid at once.
    fn resize_grid(&self, size: TerminalSize);

    /// Tells the program the size of the grid.
    fn resize_program(&self);

    /// Returns the end of the program; `None` while it runs.
    fn exit(&self) -> Option<ProcessExit>;

    /// Returns the number of living processes.
    fn process_count(&self) -> usize;

    /// Stops the program and all its descendants. Blocks for a moment.
    fn stop(&self);

    /// Returns the id by which a later window finds the program again; `None` for one that ends with its last reference.
    fn kept_id(&self) -> Option<String> {
        None
    }

    /// Ends the program because the user closed its terminal. Does nothing for one that ends with its last reference, or
    /// that an agent runs.
    fn close(&self) {}

    /// Returns the control of a program that an agent runs; `None` for one of the user.
    fn control(&self) -> Option<ProgramControl> {
        None
    }

    /// Takes the program over from its agent, or gives it back. Does nothing for a program of the user.
    fn set_control(&self, _is_users: bool) {}
}

/// The control of a program that an agent runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramControl {
    /// The program has no terminal, so that it takes no input.
    WatchOnly,
    /// The agent controls it. Typed text takes it over.
    Agent,
    /// The user took it over in this view.
    You,
    /// The user took it over in another window.
    OtherWindow,
}

impl TerminalProgram for TerminalSession {
    fn acknowledge(&self) {
        self.acknowledge();
    }

    fn take_events(&self) -> Vec<TerminalEvent> {
        self.take_events()
    }

    fn visit_emulator(&self, read: &mut dyn FnMut(&mut Emulator)) {
        self.with_emulator(read);
    }

    fn write(&self, bytes: Vec<u8>) -> bool {
        self.write(bytes)
    }

    fn resize_grid(&self, size: TerminalSize) {
        self.resize_grid(size);
    }

    fn resize_program(&self) {
        self.resize_program();
    }

    fn exit(&self) -> Option<ProcessExit> {
        self.exit().map(|report| report.exit)
    }

    fn process_count(&self) -> usize {
        self.members().len()
    }

    fn stop(&self) {
        self.stop(GRACE);
    }
}

/// Calls `read` with the emulator of a program and returns its result. Output waits meanwhile.
pub(crate) fn read_emulator<T>(
    program: &dyn TerminalProgram,
    read: impl FnOnce(&mut Emulator) -> T,
) -> Option<T> {
    let (mut read, mut result) = (Some(read), None);
    program.visit_emulator(&mut |emulator| {
        if let Some(read) = read.take() {
            result = Some(read(emulator));
        }
    });
    result
}
