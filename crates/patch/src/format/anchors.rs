//! Lines named by number and hash, as they were shown when the file was read.
//!
//! ```text
//! *** File: src/main.rs
//! replace 12#a3f
//! +the line that takes its place
//! replace 15#9bc..17#0d1
//! +these lines
//! +take the place of three
//! delete 20#77e
//! before 3#5c0
//! +a line before line 3
//! after 40#e19
//! +a line after line 40
//! ```
//!
//! An anchor is `LINE#HASH`: the line's number counted from 1, and the hash of its text as the file
//! was read. All anchors of a file mean the file as it was read, whatever stands above them here.
//! `FIRST..LAST` includes both. Lines that appear begin with `+`. `replace` without lines is refused,
//! so that a text that was cut off deletes nothing; `delete` takes none. Fences and blank lines
//! between operations are passed over, and so is text before the first file.

use std::collections::VecDeque;
use std::ops::Range;

use base::Row;

use crate::edit::{AnchoredAction, AnchoredEdit, Change, LineAnchor};

use super::lines::Line;
use super::path;
use super::sink::Sink;
use super::{End, Grammar, Severity, Side};

const FILE: &str = "*** File:";

#[derive(Default)]
pub(super) struct Anchors {
    operation: Option<Operation>,
    has_file: bool,
    /// Whether the operation could not be read, so that its lines are passed over.
    is_skipping: bool,
}

struct Operation {
    word: Word,
    first: LineAnchor,
    last: LineAnchor,
    text: String,
    line: Line,
    source: Range<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Replace,
    Delete,
    Before,
    After,
}

impl Grammar for Anchors {
    fn line(&mut self, line: Line, _: &mut VecDeque<Line>, sink: &mut Sink) {
        if let Some(path) = line.trimmed().strip_prefix(FILE) {
            self.close_operation(sink);
            self.is_skipping = false;
            self.has_file = true;
            let operations = Vec::new();
            let path = path.trim().trim_matches('*').trim_matches('`');
            sink.open_file(path, Change::Anchored { operations });
        } else if !self.has_file {
            // Text before the first file.
        } else if let Some(text) = line.text.strip_prefix('+') {
            self.text(text, &line, sink);
        } else if line.is_blank() || path::fence(line.trimmed()).is_some() {
            // For the eye.
        } else {
            self.close_operation(sink);
            self.open_operation(line, sink);
        }
    }

    fn end(&mut self, end: &End, _: &mut VecDeque<Line>, sink: &mut Sink) {
        self.close_operation(sink);
        sink.close_file();
        if !self.has_file {
            let message = format!("there is no edit here: a file begins with \"{FILE} path\"");
            sink.problem(end.row, end.offset..end.offset, Severity::Lost, message);
        }
    }
}

impl Anchors {
    fn text(&mut self, text: &str, line: &Line, sink: &mut Sink) {
        match &mut self.operation {
            Some(operation) if operation.word != Word::Delete => {
                operation.text.push_str(text);
                operation.text.push('\n');
                operation.source.end = line.source.end;
                sink.loose_line(Side::New, text);
            }
            _ if self.is_skipping => {}
            Some(_) => {
                self.operation = None;
                self.is_skipping = true;
                sink.lost(line, "\"delete\" takes no lines; use \"replace\"");
            }
            None => {
                self.is_skipping = true;
                sink.lost(
                    line,
                    "these lines belong to no operation; say where they go first",
                );
            }
        }
    }

    fn open_operation(&mut self, line: Line, sink: &mut Sink) {
        let Some((word, first, last)) = operation(line.trimmed()) else {
            self.is_skipping = true;
            return sink.lost(
                &line,
                "this is no operation; write \"replace 12#a3f..14#0c9\", \"delete 12#a3f\", \
                 \"before 12#a3f\" or \"after 12#a3f\"",
            );
        };
        self.is_skipping = false;
        self.operation = Some(Operation {
            word,
            first,
            last,
            text: String::new(),
            source: line.source.clone(),
            line,
        });
    }

    fn close_operation(&mut self, sink: &mut Sink) {
        let Some(operation) = self.operation.take() else {
            return;
        };
        if operation.text.is_empty() && operation.word != Word::Delete {
            return sink.lost(
                &operation.line,
                "no lines follow this operation; lines that appear begin with \"+\", and \
                 \"delete\" takes lines away",
            );
        }
        sink.operation(AnchoredEdit {
            first: operation.first,
            last: operation.last,
            action: match operation.word {
                Word::Replace | Word::Delete => AnchoredAction::Replace(operation.text),
                Word::Before => AnchoredAction::InsertBefore(operation.text),
                Word::After => AnchoredAction::InsertAfter(operation.text),
            },
            source: operation.source,
        });
    }
}

fn operation(text: &str) -> Option<(Word, LineAnchor, LineAnchor)> {
    let (word, place) = text.split_once(char::is_whitespace)?;
    let word = match word {
        "replace" => Word::Replace,
        "delete" => Word::Delete,
        "before" => Word::Before,
        "after" => Word::After,
        _ => return None,
    };
    let place = place.trim().trim_end_matches(':');
    let (first, last) = match place.split_once("..") {
        Some((first, last)) => (anchor(first)?, anchor(last)?),
        None => (anchor(place)?, anchor(place)?),
    };
    (first.row <= last.row).then_some((word, first, last))
}

fn anchor(text: &str) -> Option<LineAnchor> {
    let (line, hash) = text.trim().split_once('#')?;
    let line: u32 = line.parse().ok()?;
    let is_hash = !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_hash.then_some(LineAnchor {
        row: Row(line.checked_sub(1)?),
        hash: hash.to_owned(),
    })
}
