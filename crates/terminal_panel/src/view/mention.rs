//! Quotes of a terminal for a prompt: its last command with exit code and output.
//!
//! Invariant: a quote is bounded; of a long output it has the beginning and the end.

use terminal::{CommandState, Emulator, ShellCommand};

use super::TerminalView;
use crate::program::read_emulator;

/// Most bytes of output that are read for a quote.
const MAX_READ: usize = 1 << 20;
/// Most bytes of output in a quote, from its beginning and from its end.
const MAX_HEAD: usize = 8 << 10;
const MAX_TAIL: usize = 24 << 10;

/// The subject of a quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QuotedCommand {
    /// Distinguishes the command from others of the terminal; `None` for the visible text of a terminal without commands.
    pub(crate) number: Option<u64>,
    /// The command line; empty without one.
    pub(crate) line: String,
    /// The end of the command in a few words.
    pub(crate) state: String,
}

/// Returns the id of the mention of a terminal and one of its commands.
pub(crate) fn mention_id(terminal: u64, command: Option<u64>) -> String {
    match command {
        Some(command) => format!("{terminal}-{command}"),
        None => terminal.to_string(),
    }
}

/// Returns what a mention of this terminal quotes now; `None` before its program runs.
pub(crate) fn quoted_command(view: &TerminalView) -> Option<QuotedCommand> {
    let program = view.program()?;
    let last = read_emulator(&**program, last_command).flatten();
    Some(match last {
        Some(command) => QuotedCommand {
            number: Some(command.id.0),
            line: command.line.map(|line| line.text).unwrap_or_default(),
            state: state_text(command.state),
        },
        None => QuotedCommand {
            number: None,
            line: String::new(),
            state: "visible text".to_owned(),
        },
    })
}

/// Returns the quote of the last command, or of the visible text.
pub(crate) fn quote(view: &TerminalView) -> Option<String> {
    let program = view.program()?;
    let title = view.title();
    let folder = view.folder().map(|folder| folder.printable());
    let quoted = read_emulator(&**program, |emulator| match last_command(emulator) {
        Some(command) => command_quote(emulator, command),
        None => screen_text(emulator),
    })?;
    let place = folder.map(|folder| format!(" in {folder}"));
    Some(format!(
        "Terminal \u{201c}{title}\u{201d}{}\n{quoted}",
        place.unwrap_or_default()
    ))
}

fn last_command(emulator: &mut Emulator) -> Option<ShellCommand> {
    let mut commands = emulator.commands().iter().rev();
    commands.find(|command| command.output.is_some()).cloned()
}

fn command_quote(emulator: &mut Emulator, command: ShellCommand) -> String {
    let output = emulator.command_output(command.id, MAX_READ);
    let output = output.map(|output| output.text).unwrap_or_default();
    let line = command.line.map(|line| line.text).unwrap_or_default();
    let state = state_text(command.state);
    format!("$ {line}\n{}\n[{state}]", shortened(output.trim_end()))
}

fn screen_text(emulator: &mut Emulator) -> String {
    let snapshot = emulator.snapshot();
    let rows = snapshot.rows.iter().map(|row| row.text());
    let rows: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
    shortened(rows.join("\n").trim_end())
}

fn state_text(state: CommandState) -> String {
    match state {
        CommandState::Prompt | CommandState::Editing | CommandState::Running => {
            "still running".to_owned()
        }
        CommandState::Finished(Some(code)) => format!("exit code {code}"),
        CommandState::Finished(None) => "ended".to_owned(),
    }
}

/// Leaves out the middle of a long text.
fn shortened(text: &str) -> String {
    if text.len() <= MAX_HEAD + MAX_TAIL {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(MAX_HEAD);
    let tail = text.ceil_char_boundary(text.len() - MAX_TAIL);
    format!(
        "{}\n[{} bytes left out]\n{}",
        &text[..head],
        tail - head,
        &text[tail..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_output_keeps_both_ends() {
        assert_eq!(shortened("short"), "short");
        let text = format!("first{}last", "\u{e4}".repeat(MAX_TAIL));
        let short = shortened(&text);
        assert!(short.len() < MAX_HEAD + MAX_TAIL + 100);
        assert!(short.starts_with("first") && short.ends_with("last"));
        assert!(short.contains(" bytes left out]\n"));
    }
}
