//! Parses the formats in which models write edits into file edits and problems.
//!
//! All formats use the same line-based reader, whether the text is complete or still streaming:
//! `parse` feeds a `FormatReader` everything at once, so both give the same edits.
//!
//! Must not know: files, or whether an edit applies to a file on disk.
//! Invariant: no text makes a reader panic; unreadable text becomes a `FormatProblem` with its
//! location.
//! Limitations: memory is unbounded; a reader keeps the edit it is parsing.
//! Start at `parse`; the syntax of each format is described in its module.

mod anchors;
mod apply_patch;
mod line_splitter;
mod path;
mod search_replace;
mod sink;
pub mod str_replace;
mod unified;
mod whole_file;

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;

use base::Row;

use crate::edit::{AnchoredEdit, FileEdit, PatchHunk};

use self::line_splitter::{LineSplitter, SourceLine};
use self::sink::EventSink;

/// A format in which a model writes edits in its text: search/replace blocks, patches, diffs, whole
/// files, or anchored lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EditFormat {
    /// Fenced blocks of `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`.
    SearchReplace,
    /// A patch between `*** Begin Patch` and `*** End Patch`.
    ApplyPatch,
    /// Unified diff, as written by `diff -u` and Git.
    UnifiedDiff,
    /// Complete files, each after a line with its path.
    Whole,
    /// Lines identified by number and hash.
    Anchors,
}

impl EditFormat {
    /// All formats, in order of declaration.
    pub const ALL: [Self; 5] = [
        Self::SearchReplace,
        Self::ApplyPatch,
        Self::UnifiedDiff,
        Self::Whole,
        Self::Anchors,
    ];

    /// Returns the name used on the command line and in settings, such as `search-replace`.
    pub fn name(self) -> &'static str {
        match self {
            Self::SearchReplace => "search-replace",
            Self::ApplyPatch => "apply-patch",
            Self::UnifiedDiff => "udiff",
            Self::Whole => "whole",
            Self::Anchors => "anchors",
        }
    }

    fn grammar(self) -> Box<dyn FormatGrammar> {
        match self {
            Self::SearchReplace => Box::new(search_replace::SearchReplaceGrammar::default()),
            Self::ApplyPatch => Box::new(apply_patch::ApplyPatchGrammar::default()),
            Self::UnifiedDiff => Box::new(unified::UnifiedDiffGrammar::default()),
            Self::Whole => Box::new(whole_file::WholeFileGrammar::default()),
            Self::Anchors => Box::new(anchors::AnchorsGrammar::default()),
        }
    }
}

/// Edits and problems parsed from a model's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// Edits in the order written. A path may occur more than once; a later edit refers to the file
    /// as the earlier one left it.
    pub files: Vec<FileEdit>,
    /// Text that could not be parsed, or only leniently.
    pub problems: Vec<FormatProblem>,
    /// Fenced blocks of shell commands, which are not edits.
    pub shell_blocks: Vec<ShellBlock>,
}

impl Parsed {
    /// Whether an intended edit is missing from `files`.
    pub fn has_losses(&self) -> bool {
        let mut problems = self.problems.iter();
        problems.any(|problem| problem.severity == Severity::Lost)
    }
}

/// A part of a model's text that was parsed only leniently or could not be parsed, with a sentence
/// for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatProblem {
    /// Row in the model's text.
    pub row: Row,
    /// Cause and remedy, as a sentence for the model.
    pub message: String,
    /// Bytes of the model's text.
    pub source: Range<usize>,
    /// Whether an edit was lost.
    pub severity: Severity,
}

impl fmt::Display for FormatProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.row.0 + 1, self.message)
    }
}

/// Whether an edit was lost by a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The text was parsed nevertheless.
    Tolerated,
    /// An intended edit is missing.
    Lost,
}

/// A fenced block of shell commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellBlock {
    /// Text between the fences; lines end in `\n`.
    pub text: String,
    /// Bytes of the model's text, including the fences.
    pub source: Range<usize>,
}

/// Version of a file to which a hunk line belongs: old, new, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HunkSide {
    /// The old version only; the line is removed.
    Old,
    /// The new version only; the line is added.
    New,
    /// Both versions; the line is unchanged.
    Both,
}

/// An event of a `FormatReader`: the start, a line, or the end of an edit, a problem, or a block of
/// shell commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatEvent {
    /// An edit of a file begins; the following events belong to it.
    FileStarted {
        /// Path as the model wrote it.
        path: String,
    },
    /// A hunk of the file begins.
    HunkStarted {
        /// Row according to the model.
        row: Option<Row>,
        /// Lines that precede the position.
        context: Vec<String>,
    },
    /// A line of a hunk or of a complete file, without its ending.
    Line {
        /// Version that the line belongs to.
        side: HunkSide,
        /// Text of the line.
        text: String,
    },
    /// The hunk is complete.
    HunkDone(PatchHunk),
    /// The current hunk is unusable; a problem gives the reason.
    HunkDropped,
    /// An anchored edit is complete.
    OperationDone(AnchoredEdit),
    /// The edit of the file is complete.
    FileDone(FileEdit),
    /// The current file is unusable; a problem gives the reason.
    FileDropped,
    /// A block of shell commands.
    Shell(ShellBlock),
    /// A problem with the text.
    Problem(FormatProblem),
}

/// Incremental reader of a model's text in one format. `feed` takes the text in fragments and
/// `finish` ends it; both return the events that became complete. Only edits, shell blocks and
/// problems are events, not the prose around them.
pub struct FormatReader {
    lines: LineSplitter,
    /// Complete lines that wait for lookahead.
    waiting: VecDeque<SourceLine>,
    grammar: Box<dyn FormatGrammar>,
    sink: EventSink,
}

impl FormatReader {
    /// Creates a reader for one text in `format`.
    pub fn new(format: EditFormat) -> Self {
        Self {
            lines: LineSplitter::default(),
            waiting: VecDeque::new(),
            grammar: format.grammar(),
            sink: EventSink::default(),
        }
    }

    /// Adds a fragment of the text, which may be cut at any byte, and returns the events that the
    /// fragment completes. A line is complete once its line feed arrives. Edits that arrive in the
    /// same text later may not be known yet.
    pub fn feed(&mut self, piece: &str) -> Vec<FormatEvent> {
        self.waiting.extend(self.lines.feed(piece));
        self.read(InputPhase::ToCome);
        self.sink.take()
    }

    /// Returns the events that the end of the text completes or leaves incomplete.
    pub fn finish(mut self) -> Vec<FormatEvent> {
        self.waiting.extend(self.lines.finish());
        let end = self.lines.position();
        // Lines that a grammar returns at the end are read again; each round closes the construct
        // that held them, so the loop terminates.
        loop {
            self.read(InputPhase::Complete);
            self.grammar.on_end(&end, &mut self.waiting, &mut self.sink);
            if self.waiting.is_empty() {
                return self.sink.take();
            }
        }
    }

    /// Parses the waiting lines; if more text may follow, only up to a line that lacks lookahead.
    fn read(&mut self, rest: InputPhase) {
        while let Some(line) = self.waiting.front() {
            let is_early = self.waiting.len() <= self.grammar.lookahead(line);
            if rest == InputPhase::ToCome && is_early {
                return;
            }
            if let Some(line) = self.waiting.pop_front() {
                self.grammar
                    .on_line(line, &mut self.waiting, &mut self.sink);
            }
        }
    }
}

/// Whether more of the text may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InputPhase {
    ToCome,
    Complete,
}

/// End of a text, as row and offset.
struct TextEnd {
    row: Row,
    offset: usize,
}

/// Parser of one format, driven by lines.
trait FormatGrammar {
    /// Number of lines that must follow `line` before it can be parsed.
    fn lookahead(&self, _line: &SourceLine) -> usize {
        0
    }

    /// Parses a line. `next` contains the known following lines; the grammar may push lines back.
    fn on_line(&mut self, line: SourceLine, next: &mut VecDeque<SourceLine>, sink: &mut EventSink);

    /// Handles the end of the text. Lines pushed to `next` are read, and the end is then reported
    /// again.
    fn on_end(&mut self, end: &TextEnd, next: &mut VecDeque<SourceLine>, sink: &mut EventSink);
}

/// Parses a complete text in `format`. Never fails: unreadable parts become problems, and text
/// outside of edits is skipped.
pub fn parse(format: EditFormat, text: &str) -> Parsed {
    let mut reader = FormatReader::new(format);
    let mut events = reader.feed(text);
    events.extend(reader.finish());
    collect(events)
}

/// Collects the complete file edits, shell blocks and problems from the events of one reader. Drops
/// all other events.
pub fn collect(events: impl IntoIterator<Item = FormatEvent>) -> Parsed {
    let mut parsed = Parsed::default();
    for event in events {
        match event {
            FormatEvent::FileDone(file) => parsed.files.push(file),
            FormatEvent::Problem(problem) => parsed.problems.push(problem),
            FormatEvent::Shell(block) => parsed.shell_blocks.push(block),
            FormatEvent::FileStarted { .. }
            | FormatEvent::HunkStarted { .. }
            | FormatEvent::Line { .. }
            | FormatEvent::HunkDone(_)
            | FormatEvent::HunkDropped
            | FormatEvent::OperationDone(_)
            | FormatEvent::FileDropped => {}
        }
    }
    parsed
}

#[cfg(test)]
mod tests;
