//! The text of a terminal, saved across restarts.
//!
//! Invariant: reading never executes anything: rows are data, not output.
//! Start at `SavedTerminal`.

mod codec;
mod replay;

use alacritty_terminal::Term;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::Line;
use base::AbsPath;

use crate::cells::TerminalRow;
use crate::commands::CommandState;
use crate::emulator::Emulator;
use crate::frame::copy_row;
use crate::grid_text::is_wrapped;

/// Bytes of a saved terminal, at most.
pub const MAX_SAVED_BYTES: usize = 1 << 20;

/// A terminal as it was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedTerminal {
    /// Rows from the oldest to the newest; wrapped rows of a logical line follow each other. Hyperlinks are not saved.
    pub rows: Vec<TerminalRow>,
    /// The width of the grid in columns.
    pub columns: u16,
    /// The folder of the shell.
    pub folder: Option<AbsPath>,
    /// The title.
    pub title: Option<String>,
    /// The commands whose prompts are in `rows`, oldest first.
    pub commands: Vec<SavedCommand>,
}

/// A command of a saved terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedCommand {
    /// The index of the prompt's row.
    pub row: u32,
    /// The command line.
    pub line: Option<String>,
    /// The exit code; `None` if the command did not end or told none.
    pub exit: Option<i32>,
    /// Whether the command still ran.
    pub was_running: bool,
}

/// A saved terminal that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// The bytes are not a saved terminal.
    #[error("the file is not a saved terminal")]
    NotATerminal,
    /// Another version of the program wrote it.
    #[error("the saved terminal has the unknown version {0}")]
    UnknownVersion(u16),
    /// The bytes end early, or a value is out of range.
    #[error("the saved terminal is damaged at byte {0}")]
    Damaged(usize),
    /// The bytes exceed the limit.
    #[error("the saved terminal is larger than {MAX_SAVED_BYTES} bytes")]
    TooLarge,
}

impl SavedTerminal {
    /// Takes the last `lines` logical lines of a terminal, fewer if they exceed `MAX_SAVED_BYTES`. The alternate screen is
    /// not saved.
    pub fn of(emulator: &mut Emulator, lines: u32) -> Self {
        let title = emulator.title().map(str::to_owned);
        let folder = emulator.folder().cloned();
        emulator.with_core(|term, state| {
            let budget = MAX_SAVED_BYTES - codec::fixed_size(title.as_deref(), folder.as_ref());
            let (first, rows) = last_rows(term, lines, budget);
            let first = state.lines.number(term, first);
            let commands = state.log.iter().filter_map(|command| {
                let row = command.prompt.line.0.checked_sub(first.0)?;
                Some(SavedCommand {
                    row: u32::try_from(row).ok()?,
                    line: command.line.as_ref().map(|line| line.text.clone()),
                    exit: match command.state {
                        CommandState::Finished(code) => code,
                        _ => None,
                    },
                    was_running: command.state == CommandState::Running,
                })
            });
            let mut saved = Self {
                columns: term.columns() as u16,
                folder,
                title,
                commands: commands
                    .filter(|command| (command.row as usize) < rows.len())
                    .collect(),
                rows,
            };
            saved.shrink();
            saved
        })
    }

    /// Drops the oldest rows until the bytes fit the limit.
    fn shrink(&mut self) {
        let mut size = codec::size(self);
        let mut dropped = 0;
        while size > MAX_SAVED_BYTES && dropped < self.rows.len() {
            size -= codec::row_size(&self.rows[dropped]);
            let is_dropped = |command: &&SavedCommand| command.row as usize == dropped;
            let gone = self.commands.iter().filter(is_dropped);
            size -= gone.map(codec::command_size).sum::<usize>();
            dropped += 1;
        }
        self.rows.drain(..dropped);
        self.commands.retain_mut(|command| {
            let row = (command.row as usize).checked_sub(dropped);
            command.row = row.unwrap_or_default() as u32;
            row.is_some()
        });
    }

    /// Returns the bytes to store.
    pub fn to_bytes(&self) -> Vec<u8> {
        codec::encode(self)
    }

    /// Reads stored bytes.
    ///
    /// # Errors
    /// The bytes are not a saved terminal of this version, or are damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RestoreError> {
        codec::decode(bytes)
    }
}

impl Emulator {
    /// Prints the rows of a saved terminal, faint, and `notice` below them as a line of its own. Later rows scroll them
    /// away like other output. Commands of the saved terminal are not restored.
    pub fn show_saved(&mut self, saved: &SavedTerminal, notice: &str) {
        self.with_core(|term, state| replay::print(term, state, saved, notice));
    }
}

/// Returns the rows of the last `lines` logical lines down to the cursor, and the line of the first of them. Stops before
/// the rows exceed `budget` bytes.
fn last_rows<T>(term: &Term<T>, lines: u32, budget: usize) -> (Line, Vec<TerminalRow>) {
    let cursor = term.grid().cursor.point.line;
    let mut rows = Vec::new();
    let mut first = cursor + 1_i32;
    let mut left = lines;
    let mut size = 0;
    while first > term.topmost_line() {
        let line = first - 1_i32;
        let row = &term.grid()[line];
        if !is_wrapped(row) || line == cursor {
            if left == 0 {
                break;
            }
            left -= 1;
        }
        let mut copy = copy_row(row);
        copy.runs.iter_mut().for_each(|run| run.link = None);
        codec::join_runs(&mut copy.runs);
        size += codec::row_size(&copy);
        if size > budget {
            break;
        }
        rows.push(copy);
        first = line;
    }
    rows.reverse();
    (first, rows)
}

#[cfg(test)]
mod tests;
