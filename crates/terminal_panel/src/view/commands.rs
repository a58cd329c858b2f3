//! Commands of the shell: marks beside their prompts, jumps, and their output.

use std::time::Duration;

use gpui_kit::{ClipboardItem, Context, SharedString, Window};
use terminal::{
    CellPosition, CellSpan, CommandLine, CommandLineSource, CommandState, Emulator, LineNumber,
    ScrollTarget, ShellCommand,
};

use super::contents::CommandMark;
use super::questions::{Question, command_bytes};
use super::scrolling;
use super::{TerminalView, TerminalViewEvent};
use crate::actions::{
    CopyCommand, CopyCommandOutput, NextCommand, PreviousCommand, RunCommandAgain,
    SelectCommandOutput, SendOutputToAgent, SendSelectionToAgent,
};
use crate::program::read_emulator;

/// Most bytes of output that are copied.
const MAX_COPY: usize = 8 << 20;

/// Most bytes of output that are sent to an agent.
const MAX_SENT: usize = 64 << 10;

impl CommandMark {
    /// Returns the text of the mark for a tooltip and for screen readers.
    pub(super) fn description(&self) -> SharedString {
        let state = match self.state {
            CommandState::Prompt | CommandState::Editing => "Prompt".to_owned(),
            CommandState::Running => "Running".to_owned(),
            CommandState::Finished(None) => "Finished".to_owned(),
            CommandState::Finished(Some(0)) => "Finished with code 0".to_owned(),
            CommandState::Finished(Some(code)) => format!("Failed with code {code}"),
        };
        let time = self.duration.map(duration_text);
        let time = time.map(|time| format!(" after {time}"));
        let line = self.line.as_ref().map(|line| format!(": {line}"));
        format!(
            "{state}{}{}",
            time.unwrap_or_default(),
            line.unwrap_or_default()
        )
        .into()
    }
}

/// Formats the run time of a command.
fn duration_text(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{:.1} s", duration.as_secs_f64()),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Returns the command that actions are about: the one in view if the view is scrolled back, otherwise the last one
/// that ran.
pub(super) fn target(emulator: &mut Emulator) -> Option<ShellCommand> {
    let snapshot = emulator.snapshot();
    let log = emulator.commands();
    let in_view = (snapshot.scroll.offset > 0).then(|| log.at(snapshot.first_line));
    let has_output = |command: &&ShellCommand| command.output.is_some();
    let last = || log.iter().rev().find(has_output);
    in_view.flatten().filter(has_output).or_else(last).cloned()
}

/// Returns the cells of a command's output; `None` if it has none.
fn output_span(command: &ShellCommand, cursor: CellPosition, columns: u16) -> Option<CellSpan> {
    let start = command.output?;
    let end = command.end.unwrap_or(cursor);
    let last = match end.column.checked_sub(1) {
        Some(column) => CellPosition::new(end.line, column),
        None => CellPosition::new(end.line.above(1), columns.saturating_sub(1)),
    };
    (start <= last).then_some(CellSpan { start, last })
}

fn with_target<T>(
    view: &mut TerminalView,
    cx: &mut Context<TerminalView>,
    read: impl FnOnce(&mut Emulator, ShellCommand) -> Option<T>,
) -> Option<T> {
    let found = view.change_emulator(cx, |emulator| {
        let command = target(emulator)?;
        read(emulator, command)
    });
    let found = found.flatten();
    if found.is_none() {
        view.show_notice("There is no command with output", cx);
    }
    found
}

/// Handler of an action: shows the nearest prompt above the view.
pub(super) fn previous_command(
    view: &mut TerminalView,
    _: &PreviousCommand,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    let first = view.contents.snapshot.first_line;
    show_prompt(view, cx, |emulator| {
        emulator
            .commands()
            .prompt_above(first)
            .map(|it| it.prompt.line)
    });
}

/// Handler of an action: shows the nearest prompt below the first line in view.
pub(super) fn next_command(
    view: &mut TerminalView,
    _: &NextCommand,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    let first = view.contents.snapshot.first_line;
    show_prompt(view, cx, |emulator| {
        emulator
            .commands()
            .prompt_below(first)
            .map(|it| it.prompt.line)
    });
}

fn show_prompt(
    view: &mut TerminalView,
    cx: &mut Context<TerminalView>,
    find: impl FnOnce(&Emulator) -> Option<LineNumber>,
) {
    let program = view.program().cloned();
    let line = program.and_then(|program| read_emulator(&*program, |it| find(it)));
    match line.flatten() {
        Some(line) => show_line(view, line, cx),
        None => view.show_notice("There is no other command", cx),
    }
}

/// Shows a line in the first row.
pub(super) fn show_line(view: &mut TerminalView, line: LineNumber, cx: &mut Context<TerminalView>) {
    scrolling::scroll_emulator(view, ScrollTarget::LineAtTop(line), cx);
}

/// Handler of an action.
pub(super) fn copy_command(
    view: &mut TerminalView,
    _: &CopyCommand,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    let line = with_target(view, cx, |_, command| command.line);
    if let Some(line) = line {
        cx.write_to_clipboard(ClipboardItem::new_string(line.text));
    }
}

/// Handler of an action.
pub(super) fn select_output(
    view: &mut TerminalView,
    _: &SelectCommandOutput,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    let columns = view.size.columns;
    with_target(view, cx, |emulator, command| {
        let span = output_span(&command, emulator.cursor(), columns)?;
        emulator.select(span);
        Some(())
    });
}

/// Handler of an action.
pub(super) fn copy_output(
    view: &mut TerminalView,
    _: &CopyCommandOutput,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    let output = with_target(view, cx, |emulator, command| {
        emulator.command_output(command.id, MAX_COPY)
    });
    if let Some(output) = output {
        cx.write_to_clipboard(ClipboardItem::new_string(output.text));
    }
}

/// Handler of an action: runs a command again. Asks first if a program could have changed its line.
pub(super) fn run_again(
    view: &mut TerminalView,
    _: &RunCommandAgain,
    window: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    if view.is_busy() || view.running_program().is_none() {
        view.show_notice("Wait for the running command", cx);
        return;
    }
    let line = with_target(view, cx, |_, command| command.line);
    match line {
        Some(CommandLine {
            text,
            source: CommandLineSource::Shell,
        }) => view.send(command_bytes(&text), cx),
        Some(line) => view.ask(Question::run(&line.text, cx), window, cx),
        None => {}
    }
}

/// Handler of an action: sends a command and its output to the agent.
pub(super) fn send_output(
    view: &mut TerminalView,
    _: &SendOutputToAgent,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    let text = with_target(view, cx, |emulator, command| {
        let output = emulator.command_output(command.id, MAX_SENT)?;
        let line = command.line.map(|line| line.text).unwrap_or_default();
        let rest = if output.rest.is_some() {
            "\n\u{2026}"
        } else {
            ""
        };
        Some(format!("$ {line}\n{}{rest}", output.text))
    });
    if let Some(text) = text {
        cx.emit(TerminalViewEvent::SendToAgent(text));
    }
}

/// Handler of an action.
pub(super) fn send_selection(
    view: &mut TerminalView,
    _: &SendSelectionToAgent,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    match view.selected_text() {
        Some(text) => cx.emit(TerminalViewEvent::SendToAgent(text)),
        None => view.show_notice("Nothing is selected", cx),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::duration_text;

    #[test]
    fn run_times_are_short() {
        assert_eq!(duration_text(Duration::from_millis(340)), "0.3 s");
        assert_eq!(duration_text(Duration::from_secs(125)), "2 min 5 s");
        assert_eq!(duration_text(Duration::from_secs(7260)), "2 h 1 min");
    }
}
