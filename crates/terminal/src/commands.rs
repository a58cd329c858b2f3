//! Commands of the shell, from the marks of its integration (OSC 133 and 633).
//!
//! Invariant: at most `MAX_COMMANDS` commands are kept; the oldest are dropped.

use std::collections::VecDeque;
use std::time::Duration;

use base::AbsPath;

use crate::position::{CellPosition, LineNumber};
use crate::scroll_region::RegionScroll;

/// Number of commands that a terminal remembers.
pub const MAX_COMMANDS: usize = 2_000;

/// Identifies a command of one terminal; later commands have greater ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub u64);

/// A command of the shell, from its prompt to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellCommand {
    /// The id of the command.
    pub id: CommandId,
    /// The start of the prompt.
    pub prompt: CellPosition,
    /// The start of the command line, after the prompt.
    pub input: Option<CellPosition>,
    /// The start of the output.
    pub output: Option<CellPosition>,
    /// The end of the output.
    pub end: Option<CellPosition>,
    /// The command line. Exact if the shell told it with the right nonce; otherwise read from the screen when the command
    /// started.
    pub line: Option<CommandLine>,
    /// The folder in which the command started.
    pub folder: Option<AbsPath>,
    /// Time at which the command started, as given to `Emulator::feed`.
    pub started: Option<Duration>,
    /// The run time of the command; `None` while it runs.
    pub duration: Option<Duration>,
    /// The state of the command.
    pub state: CommandState,
}

/// A command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// The text; lines of a command of several lines are separated by newlines.
    pub text: String,
    /// The origin of the text.
    pub source: CommandLineSource,
}

/// The origin of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandLineSource {
    /// The shell reported it with the nonce of its integration: no other output can forge it.
    Shell,
    /// Read from the screen: a program may have changed it. Show it, but never run it without asking.
    Screen,
}

/// The state of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandState {
    /// The prompt is being printed.
    Prompt,
    /// The command line is being edited.
    Editing,
    /// The command runs.
    Running,
    /// The command ended, with this exit code if the shell told one.
    Finished(Option<i32>),
}

/// The commands of a terminal, oldest first.
#[derive(Clone, Debug, Default)]
pub struct CommandLog {
    /// Sorted by id and by prompt.
    commands: VecDeque<ShellCommand>,
    next_id: u64,
}

/// Text of logical lines: rows that wrapped are joined, blanks at the ends of lines are trimmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputText {
    /// The text; lines are separated by newlines.
    pub text: String,
    /// The position of the rest if a cap cut the text.
    pub rest: Option<CellPosition>,
}

/// The last part of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputEnd {
    /// The text, as in `OutputText`.
    pub text: String,
    /// Number of rows of the output before the text, those included that the scrollback no longer has.
    pub omitted_rows: u64,
}

/// Moves positions when lines are renumbered.
pub(crate) trait MovePositions {
    /// Calls `visit` with every position.
    fn for_each_position(&mut self, visit: &mut dyn FnMut(&mut CellPosition));
}

impl ShellCommand {
    /// Returns the last line that belongs to the command as far as it is known.
    fn last_line(&self) -> LineNumber {
        let last = self.end.or(self.output).or(self.input);
        last.unwrap_or(self.prompt).line
    }

    /// Returns whether the command has not started.
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.state, CommandState::Prompt | CommandState::Editing)
    }
}

impl CommandLog {
    /// Returns the commands, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &ShellCommand> {
        self.commands.iter()
    }

    /// Returns a command.
    pub fn get(&self, id: CommandId) -> Option<&ShellCommand> {
        let found = self
            .commands
            .binary_search_by_key(&id, |command| command.id);
        self.commands.get(found.ok()?)
    }

    /// Returns the last command, whose prompt may be open.
    pub fn last(&self) -> Option<&ShellCommand> {
        self.commands.back()
    }

    /// Returns the command whose prompt or output contains a line, for a sticky header.
    pub fn at(&self, line: LineNumber) -> Option<&ShellCommand> {
        let after = self
            .commands
            .partition_point(|command| command.prompt.line <= line);
        self.commands.get(after.checked_sub(1)?)
    }

    /// Returns the nearest prompt above a line.
    pub fn prompt_above(&self, line: LineNumber) -> Option<&ShellCommand> {
        let after = self
            .commands
            .partition_point(|command| command.prompt.line < line);
        self.commands.get(after.checked_sub(1)?)
    }

    /// Returns the nearest prompt below a line.
    pub fn prompt_below(&self, line: LineNumber) -> Option<&ShellCommand> {
        let after = self
            .commands
            .partition_point(|command| command.prompt.line <= line);
        self.commands.get(after)
    }

    /// Notes the start of a prompt. A prompt that is printed again, as after a resize, moves the waiting command.
    pub(crate) fn start_prompt(&mut self, position: CellPosition, now: Duration) -> CommandId {
        self.end(position, None, now);
        match self.commands.back_mut() {
            Some(last) if last.is_waiting() => {
                last.prompt = position;
                last.input = None;
                last.line = None;
                last.state = CommandState::Prompt;
                last.id
            }
            _ => self.push(position),
        }
    }

    /// Notes the end of a prompt.
    pub(crate) fn start_input(&mut self, position: CellPosition) {
        if self.commands.back().is_none_or(|last| !last.is_waiting()) {
            self.push(position);
        }
        if let Some(last) = self.commands.back_mut() {
            last.input = Some(position);
            last.state = CommandState::Editing;
        }
    }

    /// Notes the command line that the shell reported, before or just after the command started.
    pub(crate) fn set_line(&mut self, text: String) {
        let is_open =
            |last: &&mut ShellCommand| last.is_waiting() || last.state == CommandState::Running;
        if let Some(last) = self.commands.back_mut().filter(is_open) {
            last.line = Some(CommandLine {
                text,
                source: CommandLineSource::Shell,
            });
        }
    }

    /// Returns the start of the waiting command line if the shell has not reported its text.
    pub(crate) fn unreported_input(&self) -> Option<CellPosition> {
        let last = self.commands.back().filter(|last| last.is_waiting())?;
        last.input.filter(|_| last.line.is_none())
    }

    /// Notes the start of a command. `shown` is its command line as the screen shows it. Returns `None` if a command
    /// already runs.
    pub(crate) fn start_output(
        &mut self,
        position: CellPosition,
        now: Duration,
        shown: Option<String>,
        folder: Option<AbsPath>,
    ) -> Option<CommandId> {
        match self.commands.back().map(|last| last.state) {
            Some(CommandState::Running) => return None,
            Some(CommandState::Prompt | CommandState::Editing) => {}
            Some(CommandState::Finished(_)) | None => {
                self.push(position);
            }
        }
        let last = self.commands.back_mut()?;
        let shown = shown.map(|text| CommandLine {
            text,
            source: CommandLineSource::Screen,
        });
        last.line = last.line.take().or(shown);
        last.output = Some(position);
        last.started = Some(now);
        last.folder = folder;
        last.state = CommandState::Running;
        Some(last.id)
    }

    /// Notes the end of the running command; returns `None` if there is none.
    pub(crate) fn end(
        &mut self,
        position: CellPosition,
        code: Option<i32>,
        now: Duration,
    ) -> Option<CommandId> {
        let last = self.commands.back_mut()?;
        if last.state != CommandState::Running {
            return None;
        }
        last.end = Some(position);
        last.duration = last.started.map(|started| now.saturating_sub(started));
        last.state = CommandState::Finished(code);
        Some(last.id)
    }

    /// Removes the commands whose lines are all above `oldest`.
    pub(crate) fn trim(&mut self, oldest: LineNumber) {
        while self.commands.len() > 1
            && self
                .commands
                .front()
                .is_some_and(|first| first.last_line() < oldest)
        {
            self.commands.pop_front();
        }
    }

    /// Moves the positions with the lines that scroll. A command whose prompt is removed is removed, unless it waits or
    /// runs. Costs as much as there are commands on the screen.
    pub(crate) fn scroll(&mut self, scroll: &RegionScroll) {
        let first = scroll.first();
        let mut ix = self.commands.len();
        while let Some(before) = ix.checked_sub(1) {
            ix = before;
            let command = &mut self.commands[ix];
            if command.last_line() < first {
                break;
            }
            let is_over = matches!(command.state, CommandState::Finished(_));
            if is_over && scroll.moved(command.prompt.line).is_none() {
                self.commands.remove(ix);
            } else {
                command.for_each_position(&mut |position| scroll.move_position(position));
            }
        }
    }

    /// Removes all commands.
    pub(crate) fn clear(&mut self) {
        self.commands.clear();
    }

    fn push(&mut self, prompt: CellPosition) -> CommandId {
        if self.commands.len() >= MAX_COMMANDS {
            self.commands.pop_front();
        }
        let id = CommandId(self.next_id);
        self.next_id += 1;
        self.commands.push_back(ShellCommand {
            id,
            prompt,
            input: None,
            output: None,
            end: None,
            line: None,
            folder: None,
            started: None,
            duration: None,
            state: CommandState::Prompt,
        });
        id
    }
}

impl MovePositions for ShellCommand {
    fn for_each_position(&mut self, visit: &mut dyn FnMut(&mut CellPosition)) {
        visit(&mut self.prompt);
        let rest = [&mut self.input, &mut self.output, &mut self.end];
        rest.into_iter().flatten().for_each(visit);
    }
}

impl MovePositions for CommandLog {
    fn for_each_position(&mut self, visit: &mut dyn FnMut(&mut CellPosition)) {
        for command in &mut self.commands {
            command.for_each_position(visit);
        }
    }
}

#[cfg(test)]
mod tests;
