//! Failed commands of a terminal, which the user asks an agent to explain or to fix.
//!
//! Invariant: nothing is sent from here; the window puts the quote into a prompt, which the user sees and sends.
//! Invariant: a quote is bounded; of a long output it has the end.
//! Start at `failed_command`.

use base::AbsPath;
use gpui_kit::{Context, Window};
use terminal::{CommandState, Emulator, OutputEnd, ShellCommand};

use super::commands::target;
use super::mention::{mention_id, quoted_end};
use super::{TerminalStatus, TerminalView, TerminalViewEvent};
use crate::actions::{ExplainLastFailure, FixLastFailure};
use crate::program::read_emulator;

/// Most bytes of output in a quote.
const MAX_BYTES: usize = 16 << 10;

/// A request about a failed command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureRequest {
    /// Explain why it failed.
    Explain,
    /// Find the cause and correct it.
    Fix,
}

/// A command that ended with another exit code than 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCommand {
    /// Identifies the terminal and the command, as the id of a mention does.
    pub id: String,
    /// The command line, or the title of its terminal; untrusted text.
    pub command: String,
    /// The command line with its folder, the end of its output and its exit code; untrusted text.
    pub quote: String,
}

/// The parts of a quote.
struct Failure {
    /// Number of the command of the shell; `None` for the program of the terminal.
    number: Option<u64>,
    line: String,
    folder: Option<AbsPath>,
    code: i32,
    output: Option<OutputEnd>,
}

/// Returns the command of `terminal` that failed: the one in view, or else the last one. A program that is no shell, such
/// as a task or a command of an agent, counts as one command.
pub(crate) fn failed_command(view: &TerminalView, terminal: u64) -> Option<FailedCommand> {
    let program = view.program()?;
    let failure = read_emulator(&**program, |emulator| match program_failure(view) {
        Some(code) => Some(Failure {
            number: None,
            line: program_line(view),
            folder: view.folder(),
            code,
            output: emulator.output_end(None, MAX_BYTES),
        }),
        None => {
            let command = failure_in_view(emulator).or_else(|| last_failure(emulator))?;
            shell_failure(emulator, command, view.folder())
        }
    })??;
    let title = view.title();
    let command = match failure.line.as_str() {
        "" => title.to_string(),
        line => line.to_owned(),
    };
    Some(FailedCommand {
        id: mention_id(terminal, failure.number),
        command,
        quote: failure.quote(&title),
    })
}

/// Returns whether the command that actions are about failed.
pub(super) fn has_failed(view: &TerminalView) -> bool {
    let shell = || {
        let program = view.program()?;
        read_emulator(&**program, failure_in_view)?
    };
    program_failure(view).is_some() || shell().is_some()
}

/// Handler of an action.
pub(super) fn explain_failure(
    view: &mut TerminalView,
    _: &ExplainLastFailure,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    ask_agent(view, FailureRequest::Explain, cx);
}

/// Handler of an action.
pub(super) fn fix_failure(
    view: &mut TerminalView,
    _: &FixLastFailure,
    _: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    ask_agent(view, FailureRequest::Fix, cx);
}

fn ask_agent(view: &mut TerminalView, request: FailureRequest, cx: &mut Context<TerminalView>) {
    match failed_command(view, cx.entity_id().as_u64()) {
        Some(failed) => cx.emit(TerminalViewEvent::AskAgent(request, failed)),
        None => view.show_notice("No command failed in this terminal", cx),
    }
}

fn failed_code(command: &ShellCommand) -> Option<i32> {
    match command.state {
        CommandState::Finished(code) => code.filter(|code| *code != 0),
        CommandState::Prompt | CommandState::Editing | CommandState::Running => None,
    }
}

/// Returns the command that the other actions of commands are about, if it failed.
fn failure_in_view(emulator: &mut Emulator) -> Option<ShellCommand> {
    target(emulator).filter(|command| failed_code(command).is_some())
}

fn last_failure(emulator: &Emulator) -> Option<ShellCommand> {
    let mut commands = emulator.commands().iter().rev();
    commands
        .find(|command| failed_code(command).is_some())
        .cloned()
}

fn shell_failure(
    emulator: &mut Emulator,
    command: ShellCommand,
    folder: Option<AbsPath>,
) -> Option<Failure> {
    Some(Failure {
        number: Some(command.id.0),
        code: failed_code(&command)?,
        output: emulator.output_end(Some(command.id), MAX_BYTES),
        line: command.line.map(|line| line.text).unwrap_or_default(),
        folder: command.folder.or(folder),
    })
}

/// Returns the exit code of a program that failed and that is no shell.
fn program_failure(view: &TerminalView) -> Option<i32> {
    let is_shell = view.request.program.is_none() && !view.is_agents();
    match view.status() {
        TerminalStatus::Ended(code) if !is_shell => code.filter(|code| *code != 0),
        _ => None,
    }
}

/// Returns the command line of a program that is no shell; empty if only its title is known.
fn program_line(view: &TerminalView) -> String {
    let program = view.request.program.as_ref();
    program.map_or_else(String::new, |program| {
        let words = std::iter::once(&program.name).chain(&program.arguments);
        words.map(String::as_str).collect::<Vec<_>>().join(" ")
    })
}

impl Failure {
    fn quote(&self, title: &str) -> String {
        let folder = self.folder.as_ref();
        let place = folder.map(|folder| format!(" in {}", folder.printable()));
        let place = place.unwrap_or_default();
        let line = match self.line.as_str() {
            "" => String::new(),
            line => format!("$ {line}\n"),
        };
        let output = self.output.as_ref().map(quoted_end).unwrap_or_default();
        let code = self.code;
        format!("Terminal \u{201c}{title}\u{201d}{place}\n{line}{output}\n[exit code {code}]")
    }
}
