//! Reads a tool call's arguments while they stream: field values come out before the JSON is complete.
//!
//! Knows: JSON. Must not know: any tool.
//! Invariant: for valid JSON, however it is cut, what comes out is what `serde_json` reads from the whole.
//! Invariant: for anything else it goes on as long as it can tell what is meant, and says what was wrong and where;
//! it never panics and never takes back what it told.
//! Start at `ArgumentReader::push`; the whole at once is read by `Arguments::read`.

use std::fmt;

use serde_json::Value;

mod scan;
mod tree;

use scan::{State, Text};
pub use tree::Arguments;

/// Reads JSON piece by piece.
#[derive(Debug)]
pub struct ArgumentReader {
    state: State,
    /// Objects and arrays around the current place, the outermost first.
    frames: Vec<Container>,
    /// The current place, as `ArgumentEvent`s are told it.
    path: Vec<ArgumentStep>,
    /// A key, a number or a word that is not complete yet.
    token: String,
    text: Text,
    position: Position,
    problems: Vec<ArgumentProblem>,
}

/// A step of the way to a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentStep {
    /// Into an object.
    Key(String),
    /// Into an array, from 0.
    Index(usize),
}

/// What is told of the value at a path.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentEvent<'a> {
    /// An object or an array begins.
    Open(Container),
    /// A string goes on, unescaped. The pieces are as the fragments were cut; an empty string has none.
    Text(&'a str),
    /// A string is complete.
    TextEnd,
    /// A number, a boolean or null.
    Value(Value),
    /// An object or an array is complete.
    Close(Container),
}

/// What holds values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// By key.
    Object,
    /// By index.
    Array,
}

/// What is wrong with JSON, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentProblem {
    /// The byte at which it was found.
    pub offset: usize,
    /// Its line, from 1.
    pub line: usize,
    /// Its char within the line, from 1.
    pub column: usize,
    /// The value in which it was found, such as `edits[0].old_string`; empty at the top.
    pub path: String,
    /// What it is.
    pub kind: ProblemKind,
}

/// What is wrong with JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// It ends before it is complete.
    Ends,
    /// A char that cannot stand here; nothing behind it is read.
    Unexpected(char, &'static str),
    /// A number or a word that is none; nothing behind it is read.
    BadToken(String),
    /// Too many objects and arrays within one another; nothing behind is read.
    TooDeep,
    /// A control character in a string, which is taken as it is.
    BareControl(char),
    /// An escape that JSON lacks, which is taken as it is.
    BadEscape(char),
    /// Half of a pair of surrogates, which becomes U+FFFD.
    LoneSurrogate,
    /// A comma before the end of an object or an array, which is passed over.
    TrailingComma,
    /// A word of Python, which is taken for that of JSON.
    ForeignWord(String),
    /// Text behind the end, which is passed over.
    TrailingText,
}

#[derive(Clone, Copy, Debug)]
struct Position {
    offset: usize,
    line: usize,
    column: usize,
}

/// Problems kept; a broken stream would make one per char.
const MOST_PROBLEMS: usize = 32;

/// As deep as `serde_json` reads.
const MOST_DEPTH: usize = 127;

impl Default for ArgumentReader {
    fn default() -> Self {
        Self {
            state: State::Value,
            frames: Vec::new(),
            path: Vec::new(),
            token: String::new(),
            text: Text::default(),
            position: Position {
                offset: 0,
                line: 1,
                column: 1,
            },
            problems: Vec::new(),
        }
    }
}

impl ArgumentReader {
    /// Reads on. `sink` is told of each value with its path, in the order of the text.
    pub fn push(
        &mut self,
        fragment: &str,
        sink: &mut dyn FnMut(&[ArgumentStep], ArgumentEvent<'_>),
    ) {
        let mut rest = fragment;
        while !rest.is_empty() && self.state != State::Broken {
            let taken = self.take(rest, sink);
            self.position.pass(&rest[..taken]);
            rest = &rest[taken..];
        }
    }

    /// The text is over: tells of a number at the top, which only its end completes, and returns all problems.
    pub fn finish(
        mut self,
        sink: &mut dyn FnMut(&[ArgumentStep], ArgumentEvent<'_>),
    ) -> Vec<ArgumentProblem> {
        if self.state == State::Token && self.frames.is_empty() {
            self.end_token(sink);
        }
        if !matches!(self.state, State::Done | State::Broken) {
            self.note(ProblemKind::Ends);
        }
        self.problems
    }

    /// Whether the JSON is complete.
    pub fn is_complete(&self) -> bool {
        self.state == State::Done
    }

    /// What was wrong so far.
    pub fn problems(&self) -> &[ArgumentProblem] {
        &self.problems
    }

    fn note(&mut self, kind: ProblemKind) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(ArgumentProblem {
                offset: self.position.offset,
                line: self.position.line,
                column: self.position.column,
                path: path_text(&self.path),
                kind,
            });
        }
    }

    fn fail(&mut self, kind: ProblemKind) {
        self.note(kind);
        self.state = State::Broken;
    }
}

impl ProblemKind {
    /// Whether what was read is all that was meant, so that a tool may run on it.
    pub fn is_harmless(&self) -> bool {
        match self {
            Self::BareControl(_) | Self::TrailingComma | Self::ForeignWord(_) => true,
            Self::Ends
            | Self::Unexpected(..)
            | Self::BadToken(_)
            | Self::TooDeep
            | Self::BadEscape(_)
            | Self::LoneSurrogate
            | Self::TrailingText => false,
        }
    }
}

impl Position {
    fn pass(&mut self, text: &str) {
        self.offset += text.len();
        match text.rfind('\n') {
            Some(at) => {
                self.line += text.bytes().filter(|byte| *byte == b'\n').count();
                self.column = text[at + 1..].chars().count() + 1;
            }
            None => self.column += text.chars().count(),
        }
    }
}

/// `edits[0].old_string`.
fn path_text(path: &[ArgumentStep]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            ArgumentStep::Key(key) if text.is_empty() => text.push_str(key),
            ArgumentStep::Key(key) => {
                text.push('.');
                text.push_str(key);
            }
            ArgumentStep::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

impl fmt::Display for ArgumentProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, " (in {})", self.path)?;
        }
        f.write_str(": ")?;
        match &self.kind {
            ProblemKind::Ends => f.write_str("the JSON ends before it is complete"),
            ProblemKind::Unexpected(found, wanted) => {
                write!(f, "{found:?} stands where {wanted} should")
            }
            ProblemKind::BadToken(token) => write!(f, "{token:?} is no JSON value"),
            ProblemKind::TooDeep => write!(
                f,
                "more than {MOST_DEPTH} objects and arrays within one another"
            ),
            ProblemKind::BareControl(c) => write!(f, "the control character {c:?} is not escaped"),
            ProblemKind::BadEscape(c) => {
                write!(f, "\\{c} is no escape of JSON; a backslash is written \\\\")
            }
            ProblemKind::LoneSurrogate => f.write_str("half of a surrogate pair stands alone"),
            ProblemKind::TrailingComma => f.write_str("a comma stands before the end"),
            ProblemKind::ForeignWord(word) => write!(f, "{word} is written in lower case in JSON"),
            ProblemKind::TrailingText => f.write_str("text follows the end of the JSON"),
        }
    }
}

#[cfg(test)]
mod tests;
