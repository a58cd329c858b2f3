//! Problems that tools print.

use base::AbsPath;

/// A problem that a tool printed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaskProblem {
    /// The file, which existed when the problem was found.
    pub path: AbsPath,
    /// The part of the file.
    pub range: ProblemRange,
    /// The severity.
    pub severity: ProblemSeverity,
    /// The message.
    pub message: String,
    /// The code, such as `E0308`.
    pub code: Option<String>,
    /// The tool, such as `rustc`.
    pub source: Option<String>,
}

/// A part of a file as a tool counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProblemRange {
    /// The start.
    pub start: ProblemPosition,
    /// The end, exclusive; `None` if the tool prints none.
    pub end: Option<ProblemPosition>,
    /// The unit of columns.
    pub unit: ColumnUnit,
}

/// A position as a tool counts it, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProblemPosition {
    /// The line, counted from 0.
    pub line: u32,
    /// The column, counted from 0; `None` if the tool prints none.
    pub column: Option<u32>,
}

/// The unit in which a tool counts columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ColumnUnit {
    /// Bytes of UTF-8.
    Bytes,
    /// Code units of UTF-16.
    #[default]
    Utf16,
    /// Unicode scalar values.
    Chars,
}

/// The severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemSeverity {
    /// The build fails.
    Error,
    /// The text is suspicious.
    Warning,
    /// A remark.
    Information,
}

impl ProblemSeverity {
    /// Parses the word of a tool; `None` for other words.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "error" | "e" | "fatal" | "fatal error" | "err" => Some(Self::Error),
            "warning" | "warn" | "w" => Some(Self::Warning),
            "info" | "information" | "note" | "i" | "hint" => Some(Self::Information),
            _ => None,
        }
    }
}

/// A problem before its file is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawProblem {
    /// Places, the best first: the first one in a file of the project counts.
    pub(crate) places: Vec<RawPlace>,
    pub(crate) severity: Option<ProblemSeverity>,
    pub(crate) message: String,
    pub(crate) code: Option<String>,
}

/// A place as a tool prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawPlace {
    pub(crate) file: String,
    pub(crate) start: ProblemPosition,
    pub(crate) end: Option<ProblemPosition>,
}
