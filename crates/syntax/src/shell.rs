//! Parses a line of bash without running it: its simple commands with their words, and the side
//! effects of the shell itself.
//!
//! Invariant: if any part of a line is not understood, there is no result at all; nothing is
//! guessed.
//! Limits: aliases, the values of variables, the matches of globs and the effects of called
//! functions are unknown. Arithmetic commands (`((`), `coproc` and `$[` are not supported.
//! Start at `read`; words and expansions are in `words`.

mod commands;
mod words;

/// Maximum length of a line, in bytes.
const LONGEST: usize = 64 << 10;
/// Maximum depth of nesting.
const DEEPEST: usize = 50;

/// Everything that a line of bash would run, in source order, including substitutions, loops and
/// functions. Used to decide on permissions, without running any command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellLine {
    /// Simple commands in source order.
    pub commands: Vec<SimpleCommand>,
    /// Files that the shell opens for `<` and `>`.
    pub redirects: Vec<Redirect>,
    /// Variables set for the rest of the line, including by loops.
    pub assignments: Vec<ShellAssignment>,
    /// Further effects of the shell itself, in source form: arithmetic with names, subscripts and
    /// indirect expansions, which can all run commands, and the names of defined functions.
    pub effects: Vec<String>,
}

/// A command of a shell line, with its words, variables and standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Variables set for this command only.
    pub assignments: Vec<ShellAssignment>,
    /// Command name and arguments; at least one.
    pub words: Vec<ShellWord>,
    /// Standard input of the command.
    pub input: ShellInput,
}

/// The standard input of a command, as far as the line determines it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ShellInput {
    /// Inherited from the shell.
    #[default]
    Inherited,
    /// A literal text in the line.
    Text(ShellWord),
    /// A pipe or a file.
    Other,
}

/// A variable that a shell line sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellAssignment {
    /// Name of the variable.
    pub name: String,
    /// The value; unknown if a loop or an array sets it.
    pub value: ShellWord,
}

/// A word of a command, and whether its value is known before the command runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellWord {
    /// The text without quotes and backslashes. Expansions keep their source form.
    pub text: String,
    /// Whether it has no expansions but globs and `~`. A word with braces such as `{a,b}` is several.
    pub is_known: bool,
    /// Whether it has globs outside of quotes.
    pub has_globs: bool,
    /// Whether it has an unquoted `~` that may expand to a folder.
    pub has_tilde: bool,
}

/// A file that the shell itself opens for a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Whether the file is opened for writing.
    pub is_write: bool,
    /// Path of the file.
    pub target: ShellWord,
}

impl SimpleCommand {
    /// Returns the texts of the command's words, the name of the command first.
    pub fn texts(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.text.as_str()).collect()
    }
}

impl ShellWord {
    /// Returns whether the program receives exactly `text`.
    pub fn is_certain(&self) -> bool {
        self.is_known && !self.has_globs && !self.has_tilde
    }
}

/// Parses a line of bash. Returns `None` if the line is very long or any part of it is not
/// understood, so that a caller can be strict.
pub fn read(line: &str) -> Option<ShellLine> {
    if line.len() > LONGEST || line.contains('\0') || joins_within_words(line) {
        return None;
    }
    let mut reader = ShellReader::new(line, 0);
    reader.parse_line()?;
    Some(reader.finished())
}

/// Whether a backslash before a line feed follows anything but a blank. Bash joins such lines
/// before it looks for words and operators, even within them.
fn joins_within_words(line: &str) -> bool {
    let mut joins = line.match_indices("\\\n");
    joins.any(|(at, _)| !line[..at].ends_with([' ', '\t']))
}

/// Reads the characters of a line from left to right.
struct ShellReader {
    letters: Vec<char>,
    at: usize,
    depth: usize,
    line: ShellLine,
    /// Here-documents whose bodies begin after the next line feed.
    pending: Vec<HereDocument>,
    /// Bodies of here-documents by number; `fed` refers to them until `finished`.
    bodies: Vec<ShellWord>,
    /// Commands whose input is a here-document, with its number.
    fed: Vec<(usize, usize)>,
    /// Whether commands read from a pipe.
    is_piped: bool,
}

struct HereDocument {
    number: usize,
    end: String,
    is_literal: bool,
    strips_tabs: bool,
}

impl ShellReader {
    fn new(line: &str, depth: usize) -> Self {
        Self {
            letters: line.chars().collect(),
            at: 0,
            depth,
            line: ShellLine::default(),
            pending: Vec::new(),
            bodies: Vec::new(),
            fed: Vec::new(),
            is_piped: false,
        }
    }

    fn finished(self) -> ShellLine {
        let mut line = self.line;
        for (command, body) in self.fed {
            if let (Some(command), Some(body)) =
                (line.commands.get_mut(command), self.bodies.get(body))
            {
                command.input = ShellInput::Text(body.clone());
            }
        }
        line
    }

    /// Returns the next character; `None` at the end of the text.
    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    /// Returns the character `ahead` places after the next one; `None` past the end of the text.
    fn peek_at(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    /// Consumes the next character and returns it; `None` at the end of the text.
    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += 1;
        Some(letter)
    }

    /// Whether `text` is next.
    fn starts_with(&self, text: &str) -> bool {
        let rest = self.letters.get(self.at..).unwrap_or_default();
        let mut rest = rest.iter();
        text.chars().all(|letter| rest.next() == Some(&letter))
    }

    /// Consumes `text` if it is next, and returns whether it was.
    fn take(&mut self, text: &str) -> bool {
        let is_next = self.starts_with(text);
        if is_next {
            self.at += text.chars().count();
        }
        is_next
    }

    fn slice(&self, from: usize, to: usize) -> String {
        let slice = self.letters.get(from..to).unwrap_or_default();
        slice.iter().collect()
    }

    /// Parses a nested construct; `None` if it is nested too deeply.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.depth += 1;
        let found = if self.depth > DEEPEST {
            None
        } else {
            read(self)
        };
        self.depth -= 1;
        found
    }
}

#[cfg(test)]
mod tests;
