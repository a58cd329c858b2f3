//! The copy of what is in view, taken when something changed.

use std::time::Duration;

use gpui_kit::Context;
use host::process::TerminalSize;
use terminal::{
    CellSpan, CommandId, CommandState, Emulator, LineNumber, ScrollState, ShellCommand,
    TerminalModes, TerminalSearch, TerminalSnapshot,
};

use super::TerminalView;
use crate::program::read_emulator;

/// The visible rows with everything drawn beside them.
pub(crate) struct ViewContents {
    pub(crate) snapshot: TerminalSnapshot,
    /// Whether the terminal changed since the copy was taken.
    pub(super) is_stale: bool,
    /// The commands whose prompts are in view.
    pub(super) commands: Vec<CommandMark>,
    /// Whether the shell marks its commands.
    pub(super) has_commands: bool,
    /// The command whose output fills the first row, if its prompt is above the view.
    pub(super) sticky: Option<StickyCommand>,
    /// Marks beside the scrollbar: lines counted from the oldest one, with the state of their command.
    pub(crate) overview: Vec<(u32, CommandState)>,
    /// Matches of the search in view.
    pub(crate) matches: Vec<CellSpan>,
}

/// A command with its prompt in view.
pub(super) struct CommandMark {
    pub(super) id: CommandId,
    /// The row of the snapshot.
    pub(super) row: u16,
    pub(super) state: CommandState,
    pub(super) line: Option<String>,
    pub(super) duration: Option<Duration>,
}

/// A command whose prompt is above the view.
pub(super) struct StickyCommand {
    pub(super) prompt: LineNumber,
    pub(super) line: String,
}

impl ViewContents {
    /// Returns the contents of a terminal without a program.
    pub(super) fn empty(size: TerminalSize) -> Self {
        Self {
            snapshot: TerminalSnapshot {
                size,
                first_line: LineNumber(0),
                rows: Vec::new(),
                cursor: None,
                is_copying: false,
                selection: None,
                scroll: ScrollState::default(),
                modes: TerminalModes::default(),
                colors: Vec::new(),
            },
            is_stale: true,
            commands: Vec::new(),
            has_commands: false,
            sticky: None,
            overview: Vec::new(),
            matches: Vec::new(),
        }
    }

    fn read(emulator: &mut Emulator, search: Option<&mut TerminalSearch>) -> Self {
        let snapshot = emulator.snapshot();
        let mut contents = Self::empty(snapshot.size);
        contents.is_stale = false;
        if let Some(search) = search {
            contents.matches = emulator.matches_in_view(search);
        }
        contents.has_commands = emulator.commands().last().is_some();
        if !snapshot.modes.is_alternate_screen {
            contents.read_commands(&snapshot, emulator);
        }
        contents.snapshot = snapshot;
        contents
    }

    fn read_commands(&mut self, snapshot: &TerminalSnapshot, emulator: &Emulator) {
        let first = snapshot.first_line;
        let last = first.below(snapshot.rows.len() as u64);
        let ScrollState { offset, history } = snapshot.scroll;
        let oldest = first.above(u64::from(history - offset.min(history)));
        for command in emulator.commands().iter() {
            let line = command.prompt.line;
            if has_started(command) {
                let from_oldest = line.0.saturating_sub(oldest.0);
                let from_oldest = u32::try_from(from_oldest).unwrap_or(u32::MAX);
                self.overview.push((from_oldest, command.state));
            }
            if (first..last).contains(&line) {
                self.commands.push(CommandMark {
                    id: command.id,
                    row: u16::try_from(line.0 - first.0).unwrap_or(u16::MAX),
                    state: command.state,
                    line: command.line.as_ref().map(|line| line.text.clone()),
                    duration: command.duration,
                });
            }
        }
        let above = emulator.commands().at(first);
        self.sticky = above
            .filter(|command| command.prompt.line < first && has_started(command))
            .and_then(|command| {
                Some(StickyCommand {
                    prompt: command.prompt.line,
                    line: command.line.as_ref()?.text.clone(),
                })
            });
    }
}

/// Returns whether a command runs or ended; a prompt alone has no mark.
fn has_started(command: &ShellCommand) -> bool {
    matches!(
        command.state,
        CommandState::Running | CommandState::Finished(_)
    )
}

impl TerminalView {
    /// Takes a new copy if the terminal changed.
    pub(crate) fn refresh(&mut self, _: &mut Context<Self>) {
        if !self.contents.is_stale {
            return;
        }
        self.contents.is_stale = false;
        if let Some(program) = self.program().cloned() {
            let search = self.search.pattern_mut();
            let read = |emulator: &mut Emulator| ViewContents::read(emulator, search);
            if let Some(contents) = read_emulator(&*program, read) {
                self.contents = contents;
            }
        } else {
            self.contents.snapshot.size = self.size;
        }
    }
}
