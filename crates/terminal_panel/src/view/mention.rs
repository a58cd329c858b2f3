//! Quotes of a terminal for a prompt: its last command with exit code and output.
//!
//! Invariant: a quote is bounded; of a long output it has the end, and says how much is left out.

use terminal::{CommandState, Emulator, OutputEnd, ShellCommand};

use super::TerminalView;
use crate::program::read_emulator;

/// Bytes of output in a quote, at most.
const MAX_QUOTE: usize = 32 << 10;

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
    let output = match emulator.output_end(Some(command.id), MAX_QUOTE) {
        Some(end) => quoted_end(&end),
        None => "[The terminal no longer has the output.]".to_owned(),
    };
    let line = command.line.map(|line| line.text).unwrap_or_default();
    format!("$ {line}\n{output}\n[{}]", state_text(command.state))
}

fn screen_text(emulator: &mut Emulator) -> String {
    let snapshot = emulator.snapshot();
    let rows = snapshot.rows.iter().map(|row| row.text());
    let rows: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
    last_rows(rows.join("\n").trim_end())
}

/// Returns the last rows of a screen, as many as a quote may have.
fn last_rows(text: &str) -> String {
    let rows: Vec<&str> = text.lines().collect();
    let mut room = MAX_QUOTE;
    let fits = |row: &&&str| {
        let left = room.checked_sub(row.len() + 1);
        room = left.unwrap_or(0);
        left.is_some()
    };
    let kept = rows.iter().rev().take_while(fits).count();
    let omitted = rows.len() - kept;
    let rows = rows[omitted..].join("\n");
    format!("{}{rows}", omission(omitted as u64, "screen"))
}

/// Returns the end of an output, after a sentence about the rows that are left out.
pub(super) fn quoted_end(end: &OutputEnd) -> String {
    let omitted = omission(end.omitted_rows, "output");
    format!("{omitted}{}", end.text.trim_end())
}

/// Returns a sentence about the rows that a quote lacks; empty if it lacks none.
fn omission(rows: u64, whole: &str) -> String {
    match rows {
        0 => String::new(),
        1 => format!("[The first line of the {whole} is left out.]\n"),
        rows => format!("[The first {rows} lines of the {whole} are left out.]\n"),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_screen_keeps_its_end() {
        assert_eq!(last_rows(""), "");
        assert_eq!(last_rows("one\n\ntwo"), "one\n\ntwo");
        let row = "\u{e4}".repeat(1_000);
        let text = format!("first\n{row}\n{}", format!("{row}\n").repeat(20));
        let short = last_rows(&text);
        let (sentence, rest) = short.split_once('\n').expect("several lines");
        assert_eq!(sentence, "[The first 6 lines of the screen are left out.]");
        assert!(rest.len() <= MAX_QUOTE);
        assert_eq!(rest.lines().count(), 16);
    }
}
