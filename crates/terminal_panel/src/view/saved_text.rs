//! The text of a terminal across restarts of Burin and of its program.

use std::sync::Arc;

use terminal::SavedTerminal;

use super::{ProgramState, TerminalView};
use crate::program::{TerminalProgram, read_emulator};

/// Logical lines that are saved.
const SAVED_LINES: u32 = 1_000;

/// The text of a terminal, to be read in the background.
pub(crate) enum TextToSave {
    /// That of a program.
    Program(Arc<dyn TerminalProgram>),
    /// The text of the last run: its program was not started yet.
    Saved(SavedTerminal),
    /// None.
    Nothing,
}

impl TerminalView {
    /// Returns the text to save.
    pub(crate) fn text_to_save(&self) -> TextToSave {
        match (&self.state, &self.saved) {
            // Its command does not run in another run of Burin.
            _ if self.is_agents() => TextToSave::Nothing,
            (ProgramState::Running { program, .. }, _) => TextToSave::Program(program.clone()),
            (_, Some(saved)) => TextToSave::Saved(saved.clone()),
            _ => TextToSave::Nothing,
        }
    }
}

impl TextToSave {
    /// Reads the text. Call it in the background if the text may be long.
    pub(crate) fn read(self) -> Option<SavedTerminal> {
        match self {
            Self::Program(program) => read_emulator(&*program, |emulator| {
                SavedTerminal::of(emulator, SAVED_LINES)
            }),
            Self::Saved(saved) => Some(saved),
            Self::Nothing => None,
        }
    }
}
