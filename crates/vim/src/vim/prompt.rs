//! The command line: ex commands and searches as they are typed.
//!
//! Start at `key`.

use super::exec::Exec;
use super::region::Region;
use super::{State, ex, normal, searching, visual};
use crate::command::{Action, CommandLineKind, NormalCommand};
use crate::digraph;
use crate::error::{Done, Error};
use crate::globals::History;
use crate::key::Key;
use crate::lines::{next_grapheme, prev_grapheme};
use crate::motion::{Motion, SearchMotion};

/// A command line being edited.
#[derive(Clone, Debug)]
pub(super) struct Prompt {
    kind: CommandLineKind,
    text: String,
    /// Byte of the cursor.
    cursor: usize,
    /// The command that waits for a search.
    command: Option<NormalCommand>,
    count: Option<u32>,
    /// The line of the history that is shown.
    history: Option<usize>,
    /// The text before the history was shown.
    typed: String,
    waiting: PromptWait,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PromptWait {
    #[default]
    Nothing,
    Register,
    Literal,
    Digraph(Option<char>),
}

/// A command line for the host to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptView<'a> {
    /// Sign before the text.
    pub sign: char,
    /// Text as typed so far.
    pub text: &'a str,
    /// Byte of the cursor in the text.
    pub cursor: usize,
}

impl Prompt {
    fn new(kind: CommandLineKind) -> Self {
        Self {
            kind,
            text: String::new(),
            cursor: 0,
            command: None,
            count: None,
            history: None,
            typed: String::new(),
            waiting: PromptWait::Nothing,
        }
    }

    fn with_text(kind: CommandLineKind, text: String) -> Self {
        Self {
            cursor: text.len(),
            text,
            ..Self::new(kind)
        }
    }

    pub(super) fn kind(&self) -> CommandLineKind {
        self.kind
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn view(&self) -> PromptView<'_> {
        PromptView {
            sign: match self.kind {
                CommandLineKind::Ex => ':',
                CommandLineKind::SearchForward => '/',
                CommandLineKind::SearchBackward => '?',
            },
            text: &self.text,
            cursor: self.cursor,
        }
    }

    fn insert(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    fn remove_to(&mut self, start: usize) {
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    /// The start of the word before the cursor.
    fn word_start(&self) -> usize {
        let before = self.text[..self.cursor].trim_end();
        let class = before.chars().next_back().map(crate::chars::class);
        let start = before
            .char_indices()
            .rev()
            .take_while(|(_, char)| Some(crate::chars::class(*char)) == class);
        start.last().map_or(0, |(ix, _)| ix)
    }
}

/// Opens a command line. A count becomes a range of an ex command.
pub(super) fn open(exec: &mut Exec, kind: CommandLineKind, count: Option<u32>) {
    let text = match (kind, count) {
        (CommandLineKind::Ex, Some(1)) => ".".to_owned(),
        (CommandLineKind::Ex, Some(count)) => format!(".,.+{}", count.saturating_sub(1)),
        _ => String::new(),
    };
    let mut prompt = Prompt::with_text(kind, text);
    prompt.count = count;
    exec.vim.prompt = Some(prompt);
}

/// Opens a command line for the lines of the selection.
pub(super) fn open_for_selection(exec: &mut Exec) {
    visual::leave(exec);
    let prompt = Prompt::with_text(CommandLineKind::Ex, "'<,'>".to_owned());
    exec.vim.prompt = Some(prompt);
}

/// Opens a search whose match is the end of an operator's text.
pub(super) fn open_for_motion(exec: &mut Exec, kind: CommandLineKind, command: &NormalCommand) {
    let mut prompt = Prompt::new(kind);
    prompt.command = Some(command.clone());
    prompt.count = command.count;
    exec.vim.prompt = Some(prompt);
}

/// Opens a command line for a program that filters lines.
pub(super) fn open_filter(exec: &mut Exec, region: &Region) {
    let (first, rows) = (region.start.row, region.rows());
    exec.set_row(first);
    let text = match rows {
        1 => ".!".to_owned(),
        _ => format!(".,.+{}!", rows - 1),
    };
    exec.vim.state = State::Normal;
    exec.vim.prompt = Some(Prompt::with_text(CommandLineKind::Ex, text));
}

/// Carries out a key of the command line.
pub(super) fn key(exec: &mut Exec, key: Key) -> Done {
    let Some(mut prompt) = exec.vim.prompt.take() else {
        return Ok(());
    };
    match std::mem::take(&mut prompt.waiting) {
        PromptWait::Nothing => {}
        waiting => {
            let done = argument(exec, &mut prompt, waiting, key);
            exec.vim.prompt = Some(prompt);
            return done.or(Ok(()));
        }
    }
    match key {
        Key::Escape | Key::Ctrl('c') => {
            cancel(exec, &prompt);
            return Ok(());
        }
        Key::Backspace if prompt.text.is_empty() => {
            cancel(exec, &prompt);
            return Ok(());
        }
        Key::Enter | Key::Ctrl('j') => return accept(exec, prompt),
        _ => {}
    }
    edit(exec, &mut prompt, key);
    exec.vim.prompt = Some(prompt);
    Ok(())
}

fn cancel(exec: &mut Exec, prompt: &Prompt) {
    let text = prompt.text.clone();
    history(exec, prompt.kind).push(&text);
}

fn history<'a>(exec: &'a mut Exec, kind: CommandLineKind) -> &'a mut History {
    match kind {
        CommandLineKind::Ex => &mut exec.globals.ex_history,
        _ => &mut exec.globals.search_history,
    }
}

/// Carries out a key that edits the line.
fn edit(exec: &mut Exec, prompt: &mut Prompt, key: Key) {
    match key {
        Key::Char(char) => prompt.insert(&char.to_string()),
        Key::Tab => {}
        Key::Backspace => {
            let start = prev_grapheme(&prompt.text, prompt.cursor);
            prompt.remove_to(start);
        }
        Key::Delete => {
            let end = next_grapheme(&prompt.text, prompt.cursor);
            prompt.text.replace_range(prompt.cursor..end, "");
        }
        Key::Ctrl('w') => prompt.remove_to(prompt.word_start()),
        Key::Ctrl('u') => prompt.remove_to(0),
        Key::Left => prompt.cursor = prev_grapheme(&prompt.text, prompt.cursor),
        Key::Right => prompt.cursor = next_grapheme(&prompt.text, prompt.cursor),
        Key::WordLeft => prompt.cursor = prompt.word_start(),
        Key::WordRight => {
            let rest = &prompt.text[prompt.cursor..];
            let blank = rest.find(' ').map_or(rest.len(), |ix| ix + 1);
            prompt.cursor += blank;
        }
        Key::Home | Key::Ctrl('b') => prompt.cursor = 0,
        Key::End | Key::Ctrl('e') => prompt.cursor = prompt.text.len(),
        Key::Up | Key::PageUp | Key::Ctrl('p') => recall(exec, prompt, true),
        Key::Down | Key::PageDown | Key::Ctrl('n') => recall(exec, prompt, false),
        Key::Ctrl('r') => prompt.waiting = PromptWait::Register,
        Key::Ctrl('v' | 'q') => prompt.waiting = PromptWait::Literal,
        Key::Ctrl('k') => prompt.waiting = PromptWait::Digraph(None),
        _ => {}
    }
}

/// Shows an older or newer line of the history that starts as the typed text does.
fn recall(exec: &mut Exec, prompt: &mut Prompt, is_older: bool) {
    if prompt.history.is_none() {
        prompt.typed = prompt.text.clone();
    }
    let typed = prompt.typed.clone();
    let history = history(exec, prompt.kind);
    let from = prompt.history.unwrap_or(history.len());
    let found = if is_older {
        history.older(from, &typed)
    } else {
        history.newer(from, &typed)
    };
    let line = found.and_then(|ix| history.get(ix)).map(str::to_owned);
    match line {
        Some(line) => {
            prompt.history = found;
            prompt.text = line;
        }
        None if !is_older => {
            prompt.history = None;
            prompt.text = typed;
        }
        None => {}
    }
    prompt.cursor = prompt.text.len();
}

/// Takes the argument of a key.
fn argument(exec: &mut Exec, prompt: &mut Prompt, waiting: PromptWait, key: Key) -> Done {
    match (waiting, key) {
        (PromptWait::Register, Key::Ctrl('w')) => {
            let (_, word, _) = searching::word_at(&exec.lines, exec.pos()).ok_or(Error::NoWord)?;
            prompt.insert(&word);
        }
        (PromptWait::Register, Key::Ctrl('l')) => {
            let line = exec.lines.line(exec.pos().row).into_owned();
            prompt.insert(&line);
        }
        (PromptWait::Register, Key::Ctrl('r' | 'o' | 'p')) => prompt.waiting = waiting,
        (PromptWait::Register, Key::Char(name)) => {
            let text = exec.read_register(Some(name))?.flat();
            let text = text.strip_suffix('\n').unwrap_or(&text);
            prompt.insert(&text.replace('\n', "\r"));
        }
        (PromptWait::Literal, key) => prompt.insert(&key.to_char().to_string()),
        (PromptWait::Digraph(None), Key::Char(char)) => {
            prompt.waiting = PromptWait::Digraph(Some(char));
        }
        (PromptWait::Digraph(Some(first)), Key::Char(char)) => {
            prompt.insert(&digraph::lookup(first, char).to_string());
        }
        _ => {}
    }
    Ok(())
}

/// Carries out the line.
fn accept(exec: &mut Exec, prompt: Prompt) -> Done {
    let line = prompt.text.clone();
    history(exec, prompt.kind).push(&line);
    if prompt.kind == CommandLineKind::Ex {
        if !line.is_empty() {
            exec.globals.registers.command.clone_from(&line);
        }
        return ex::run_line(exec, &line);
    }
    let search = SearchMotion {
        is_forward: prompt.kind == CommandLineKind::SearchForward,
        line,
    };
    let command = prompt.command.unwrap_or_else(|| {
        let mut command = NormalCommand::new(Action::Redraw);
        command.count = prompt.count;
        command
    });
    let command = NormalCommand {
        action: Action::Motion(Motion::Search(Box::new(search))),
        ..command
    };
    normal::run(exec, &command)
}
