//! Parses a tool call's arguments while they stream: field values are available before the JSON is
//! complete.
//!
//! Knows: JSON. Must not know: any tool.
//! Invariant: for valid JSON, however it is split into fragments, the result equals that of
//! `serde_json` on the whole text.
//! Invariant: for invalid JSON the reader continues as long as the meaning is clear and reports
//! each problem with its position; it never panics and never retracts an event.
//! Start at `ArgumentReader::push`; `ParsedArguments::read` parses a complete text.

use std::fmt;

use serde_json::Value;

mod scan;
mod tree;

use scan::{ScanState, StringState};
pub use tree::ParsedArguments;

/// Parses the JSON arguments of a tool call incrementally, fragment by fragment, and emits events
/// as values become known. Invalid JSON yields problems instead of an error.
#[derive(Debug)]
pub struct ArgumentReader {
    state: ScanState,
    /// Objects and arrays around the current position, outermost first.
    frames: Vec<Container>,
    /// Path to the current position, as passed along with each `ArgumentEvent`.
    path: Vec<ArgumentStep>,
    /// An incomplete key, number or word.
    token: String,
    text: StringState,
    position: Position,
    problems: Vec<ArgumentProblem>,
}

/// One step of the path to a value, from the outermost container inwards: an object key or an array
/// index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentStep {
    /// Enters the value at this object key.
    Key(String),
    /// Enters the array element at this index, from 0.
    Index(usize),
}

/// An event about the JSON value at a path: a container opens or closes, a piece of a string, the
/// end of a string, or another whole value.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentEvent<'a> {
    /// Start of an object or array.
    Open(Container),
    /// A piece of a string, unescaped. Pieces follow the fragments; an empty string has none.
    Text(&'a str),
    /// End of a string.
    TextEnd,
    /// A number, a boolean or null.
    Value(Value),
    /// End of an object or array.
    Close(Container),
}

/// A JSON value that contains others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// Contains values by key.
    Object,
    /// Contains values by index.
    Array,
}

/// A syntax problem in the JSON of a tool call, with its position in the whole text. Its display
/// text is made for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentProblem {
    /// Byte offset of the problem.
    pub offset: usize,
    /// Line number, from 1.
    pub line: usize,
    /// Column in chars, from 1.
    pub column: usize,
    /// Path of the value that contains the problem, such as `edits[0].old_string`; empty at the top
    /// level.
    pub path: String,
    /// Kind of the problem.
    pub kind: ProblemKind,
}

/// Kind of a problem in JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The text ends before the JSON is complete.
    Ends,
    /// A char that is invalid here, with the expected syntax; parsing stops.
    Unexpected(char, &'static str),
    /// An invalid number or word; parsing stops.
    BadToken(String),
    /// Nesting exceeds the depth limit; parsing stops.
    TooDeep,
    /// An unescaped control character in a string; it is kept.
    BareControl(char),
    /// An escape sequence unknown to JSON; its char is kept.
    BadEscape(char),
    /// An unpaired surrogate, replaced by U+FFFD.
    LoneSurrogate,
    /// A comma before the end of an object or array, ignored.
    TrailingComma,
    /// A Python literal, read as its JSON equivalent.
    ForeignWord(String),
    /// Text after the end of the JSON, ignored.
    TrailingText,
}

#[derive(Clone, Copy, Debug)]
struct Position {
    offset: usize,
    line: usize,
    column: usize,
}

/// Maximum number of problems kept; a broken stream would report one per char.
const MAX_PROBLEMS: usize = 32;

/// Maximum nesting depth, the same as that of `serde_json`.
const MAX_DEPTH: usize = 127;

impl Default for ArgumentReader {
    fn default() -> Self {
        Self {
            state: ScanState::Value,
            frames: Vec::new(),
            path: Vec::new(),
            token: String::new(),
            text: StringState::default(),
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
    /// Parses the next fragment. Calls `sink` for each event with its path, in text order. Has no
    /// effect after an error that stops parsing.
    pub fn push(
        &mut self,
        fragment: &str,
        sink: &mut dyn FnMut(&[ArgumentStep], ArgumentEvent<'_>),
    ) {
        let mut rest = fragment;
        while !rest.is_empty() && self.state != ScanState::Broken {
            let taken = self.take(rest, sink);
            self.position.pass(&rest[..taken]);
            rest = &rest[taken..];
        }
    }

    /// Ends the text: emits a top-level number, which only the end completes, and returns all
    /// problems.
    pub fn finish(
        mut self,
        sink: &mut dyn FnMut(&[ArgumentStep], ArgumentEvent<'_>),
    ) -> Vec<ArgumentProblem> {
        if self.state == ScanState::Token && self.frames.is_empty() {
            self.end_token(sink);
        }
        if !matches!(self.state, ScanState::Done | ScanState::Broken) {
            self.note(ProblemKind::Ends);
        }
        self.problems
    }

    /// Returns whether the top-level JSON value has ended. A top-level number or word is complete
    /// only after `finish`.
    pub fn is_complete(&self) -> bool {
        self.state == ScanState::Done
    }

    /// Returns the problems found so far, in text order, at most 32.
    pub fn problems(&self) -> &[ArgumentProblem] {
        &self.problems
    }

    fn note(&mut self, kind: ProblemKind) {
        if self.problems.len() < MAX_PROBLEMS {
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
        self.state = ScanState::Broken;
    }
}

impl ProblemKind {
    /// Returns whether the problem leaves the meaning intact, so that a tool may run on the result.
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

/// Formats a path as in `edits[0].old_string`.
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
                write!(f, "found {found:?}, expected {wanted}")
            }
            ProblemKind::BadToken(token) => write!(f, "{token:?} is not a JSON value"),
            ProblemKind::TooDeep => write!(
                f,
                "objects and arrays are nested more than {MAX_DEPTH} deep"
            ),
            ProblemKind::BareControl(c) => write!(f, "the control character {c:?} is not escaped"),
            ProblemKind::BadEscape(c) => {
                write!(f, "\\{c} is not a JSON escape; write a backslash as \\\\")
            }
            ProblemKind::LoneSurrogate => f.write_str("unpaired surrogate"),
            ProblemKind::TrailingComma => f.write_str("trailing comma"),
            ProblemKind::ForeignWord(word) => write!(f, "{word} must be lower case in JSON"),
            ProblemKind::TrailingText => f.write_str("unexpected text after the end of the JSON"),
        }
    }
}

#[cfg(test)]
mod tests;
