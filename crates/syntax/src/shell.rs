//! Reads a line of bash without running it: its simple commands with their words, and what the shell does by itself.
//!
//! Invariant: a line of which any part is not understood has no answer at all; nothing is guessed.
//! Limits: aliases, the values of variables, what globs match and what functions do when they are called are not known.
//! Arithmetic commands (`((`), `coproc` and `$[` are not understood.
//! Start at `read`; words and expansions are in `words`.

mod commands;
mod words;

/// The longest line that is read, in bytes.
const LONGEST: usize = 64 << 10;
/// The deepest nesting.
const DEEPEST: usize = 50;

/// All that a line would run, in the order written, with the contents of substitutions, loops and functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellLine {
    /// The simple commands.
    pub commands: Vec<SimpleCommand>,
    /// Files that the shell opens for `<` and `>`.
    pub redirects: Vec<Redirect>,
    /// Variables that are set for the rest of the line, by loops as well.
    pub assignments: Vec<Assignment>,
    /// What the shell does by itself beside that, as it is written: arithmetic with names, subscripts, indirect
    /// expansions, which can all run commands, and the names of functions that are defined.
    pub effects: Vec<String>,
}

/// A command with its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Variables that are set for it alone.
    pub assignments: Vec<Assignment>,
    /// Its name and arguments; at least one.
    pub words: Vec<Word>,
    /// Its standard input.
    pub input: Input,
}

/// The standard input of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// That of the shell.
    #[default]
    Inherited,
    /// A text in the line.
    Text(Word),
    /// A pipe or a file.
    Other,
}

/// A variable that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// The variable's name.
    pub name: String,
    /// The value; not known where a loop or an array sets it.
    pub value: Word,
}

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Without quotes and backslashes. Expansions stay as they are written.
    pub text: String,
    /// Whether it has no expansions but globs and `~`. A word with braces such as `{a,b}` is several.
    pub is_known: bool,
    /// Whether it has globs outside of quotes.
    pub has_globs: bool,
    /// Whether it has a `~` outside of quotes that may stand for a folder.
    pub has_tilde: bool,
}

/// A file that the shell itself opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Whether it is written.
    pub is_write: bool,
    /// The file.
    pub target: Word,
}

impl SimpleCommand {
    /// The texts of its words.
    pub fn texts(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.text.as_str()).collect()
    }
}

impl Word {
    /// Whether the program gets exactly `text`.
    pub fn is_certain(&self) -> bool {
        self.is_known && !self.has_globs && !self.has_tilde
    }
}

/// Reads a line of bash. `None` where it is not understood as a whole.
pub fn read(line: &str) -> Option<ShellLine> {
    if line.len() > LONGEST || line.contains('\0') || joins_within_words(line) {
        return None;
    }
    let mut reader = Reader::new(line, 0);
    reader.whole()?;
    Some(reader.finished())
}

/// Whether a backslash before a line feed follows anything but a blank. Bash joins such lines before it looks for words
/// and operators, even within them.
fn joins_within_words(line: &str) -> bool {
    let mut joins = line.match_indices("\\\n");
    joins.any(|(at, _)| !line[..at].ends_with([' ', '\t']))
}

/// Reads the characters of a line from left to right.
struct Reader {
    letters: Vec<char>,
    at: usize,
    depth: usize,
    line: ShellLine,
    /// Here-documents whose bodies begin after the next line feed.
    pending: Vec<HereDocument>,
    /// Bodies of here-documents by number; `Input::Text` names them until the end.
    bodies: Vec<Word>,
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

impl Reader {
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
                command.input = Input::Text(body.clone());
            }
        }
        line
    }

    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += 1;
        Some(letter)
    }

    fn looks_at(&self, text: &str) -> bool {
        let rest = self.letters.get(self.at..).unwrap_or_default();
        let mut rest = rest.iter();
        text.chars().all(|letter| rest.next() == Some(&letter))
    }

    /// Passes over a text, if it is next.
    fn take(&mut self, text: &str) -> bool {
        let is_next = self.looks_at(text);
        if is_next {
            self.at += text.chars().count();
        }
        is_next
    }

    fn slice(&self, from: usize, to: usize) -> String {
        let slice = self.letters.get(from..to).unwrap_or_default();
        slice.iter().collect()
    }

    /// Reads something nested; `None` where that is too deep.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.depth += 1;
        let found = match self.depth > DEEPEST {
            true => None,
            false => read(self),
        };
        self.depth -= 1;
        found
    }
}

#[cfg(test)]
mod tests;
