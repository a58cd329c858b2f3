//! The formats in which models write edits: text in, file edits and problems out.
//!
//! Every format is read line by line by the same machine, whether the text is whole or still being
//! written: `parse` feeds a `Reader` everything at once, so that both see the same edits.
//! Must not know: files, whether an edit fits what is on the disk.
//! Invariant: no text makes a reader panic; what cannot be read becomes a `Problem` that says where.
//! Limits: unbounded; a reader keeps as much as the edit it is in.
//! Start at `parse`; the syntax of each format is described in its module.

mod anchors;
mod apply_patch;
mod lines;
mod path;
mod search_replace;
mod sink;
pub mod str_replace;
mod unified;
mod whole;

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;

use base::Row;

use crate::edit::{AnchoredEdit, FileEdit, Hunk};

use self::lines::{Line, Lines};
use self::sink::Sink;

/// A format in which a model writes edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Fenced blocks of `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`.
    SearchReplace,
    /// `*** Begin Patch` … `*** End Patch`.
    ApplyPatch,
    /// Unified diff, as `diff -u` and git write it.
    UnifiedDiff,
    /// Whole files, each behind a line with its path.
    Whole,
    /// Lines named by number and hash.
    Anchors,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::SearchReplace,
        Self::ApplyPatch,
        Self::UnifiedDiff,
        Self::Whole,
        Self::Anchors,
    ];

    /// The word for it on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::SearchReplace => "search-replace",
            Self::ApplyPatch => "apply-patch",
            Self::UnifiedDiff => "udiff",
            Self::Whole => "whole",
            Self::Anchors => "anchors",
        }
    }

    fn grammar(self) -> Box<dyn Grammar> {
        match self {
            Self::SearchReplace => Box::new(search_replace::SearchReplace::default()),
            Self::ApplyPatch => Box::new(apply_patch::ApplyPatch::default()),
            Self::UnifiedDiff => Box::new(unified::UnifiedDiff::default()),
            Self::Whole => Box::new(whole::Whole::default()),
            Self::Anchors => Box::new(anchors::Anchors::default()),
        }
    }
}

/// What was found in a model's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// In the order written. A path may come more than once; a later edit means the file as the
    /// earlier one left it.
    pub files: Vec<FileEdit>,
    /// What could not be read, or only by way of a tolerance.
    pub problems: Vec<Problem>,
    /// Fenced blocks of shell commands, which are no edits.
    pub shell_blocks: Vec<ShellBlock>,
}

impl Parsed {
    /// Whether something that was meant is missing from `files`.
    pub fn has_losses(&self) -> bool {
        let mut problems = self.problems.iter();
        problems.any(|problem| problem.severity == Severity::Lost)
    }
}

/// Something about a model's text that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The row of the model's text.
    pub row: Row,
    /// What is wrong and what to do, as a sentence for the model.
    pub message: String,
    /// The bytes of the model's text.
    pub source: Range<usize>,
    /// Whether an edit was lost to it.
    pub severity: Severity,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.row.0 + 1, self.message)
    }
}

/// Whether a problem lost an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It was read all the same.
    Tolerated,
    /// Something that was meant is missing.
    Lost,
}

/// A fenced block of shell commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellBlock {
    /// What stands between the fences; lines end in `\n`.
    pub text: String,
    /// The bytes of the model's text, fences included.
    pub source: Range<usize>,
}

/// To which version of a file a line of a hunk belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It is to be found, and goes away.
    Old,
    /// It appears.
    New,
    /// It is to be found, and stays.
    Both,
}

/// What a reader made out of the text so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A file is spoken of; what follows, up to its end, is about it.
    FileStarted {
        /// The path as written.
        path: String,
    },
    /// A hunk begins.
    HunkStarted {
        /// Where the model says it is.
        row: Option<Row>,
        /// Lines that come before the place.
        context: Vec<String>,
    },
    /// A line of a hunk, or of a file given whole, without its end.
    Line {
        /// Whose it is.
        side: Side,
        /// Its text.
        text: String,
    },
    /// The hunk is complete.
    HunkDone(Hunk),
    /// The hunk that was begun cannot be used; a problem says why.
    HunkDropped,
    /// An edit by anchors is complete.
    OperationDone(AnchoredEdit),
    /// The file's edit is complete.
    FileDone(FileEdit),
    /// The file that was begun cannot be used; a problem says why.
    FileDropped,
    /// A block of shell commands.
    Shell(ShellBlock),
    /// Something is not as it should be.
    Problem(Problem),
}

/// Reads a text that is still being written.
pub struct Reader {
    lines: Lines,
    /// Complete lines that wait for the ones behind them.
    waiting: VecDeque<Line>,
    grammar: Box<dyn Grammar>,
    sink: Sink,
}

impl Reader {
    /// A reader of one text in `format`.
    pub fn new(format: Format) -> Self {
        Self {
            lines: Lines::default(),
            waiting: VecDeque::new(),
            grammar: format.grammar(),
            sink: Sink::default(),
        }
    }

    /// Takes the next piece of the text, cut anywhere, and says what it completes. A line counts
    /// when its line feed was seen.
    pub fn feed(&mut self, piece: &str) -> Vec<Event> {
        self.waiting.extend(self.lines.feed(piece));
        self.read(Rest::ToCome);
        self.sink.take()
    }

    /// Says what the end of the text completes or leaves incomplete.
    pub fn finish(mut self) -> Vec<Event> {
        self.waiting.extend(self.lines.finish());
        let end = self.lines.place();
        // Lines that a grammar gives back at the end are read once more; each round closes what
        // held them, so there is an end to it.
        loop {
            self.read(Rest::Complete);
            self.grammar.end(&end, &mut self.waiting, &mut self.sink);
            if self.waiting.is_empty() {
                return self.sink.take();
            }
        }
    }

    fn read(&mut self, rest: Rest) {
        while let Some(line) = self.waiting.front() {
            let is_early = self.waiting.len() <= self.grammar.lookahead(line);
            if rest == Rest::ToCome && is_early {
                return;
            }
            if let Some(line) = self.waiting.pop_front() {
                self.grammar.line(line, &mut self.waiting, &mut self.sink);
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    ToCome,
    Complete,
}

/// The end of a text: a row and an offset.
struct End {
    row: Row,
    offset: usize,
}

/// One format, as a machine over lines.
trait Grammar {
    /// How many lines must follow `line` before it can be understood.
    fn lookahead(&self, _line: &Line) -> usize {
        0
    }

    /// Takes a line. `next` holds the lines known to follow; some may be put back in front.
    fn line(&mut self, line: Line, next: &mut VecDeque<Line>, sink: &mut Sink);

    /// No line follows. Lines put into `next` are read, and then the end comes again.
    fn end(&mut self, end: &End, next: &mut VecDeque<Line>, sink: &mut Sink);
}

/// Reads a whole text.
pub fn parse(format: Format, text: &str) -> Parsed {
    let mut reader = Reader::new(format);
    let mut events = reader.feed(text);
    events.extend(reader.finish());
    collect(events)
}

/// What the events of one reader, in order, amount to.
pub fn collect(events: impl IntoIterator<Item = Event>) -> Parsed {
    let mut parsed = Parsed::default();
    for event in events {
        match event {
            Event::FileDone(file) => parsed.files.push(file),
            Event::Problem(problem) => parsed.problems.push(problem),
            Event::Shell(block) => parsed.shell_blocks.push(block),
            Event::FileStarted { .. }
            | Event::HunkStarted { .. }
            | Event::Line { .. }
            | Event::HunkDone(_)
            | Event::HunkDropped
            | Event::OperationDone(_)
            | Event::FileDropped => {}
        }
    }
    parsed
}

#[cfg(test)]
mod tests;
