//! Edits of lines identified by number and hash, as shown when the file was read.
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
//! An anchor is `LINE#HASH`: the one-based line number, and the hash of its text as it was read. All
//! anchors of a file refer to the file as it was read, regardless of preceding operations.
//! `FIRST..LAST` includes both. Added lines begin with `+`. `replace` without lines is refused, so
//! that truncated text deletes nothing; `delete` takes no lines. Fences and blank lines between
//! operations are ignored, and so is text before the first file.

use std::collections::VecDeque;
use std::ops::Range;

use base::Row;

use crate::edit::{AnchoredAction, AnchoredEdit, LineAnchor, PatchOperation};

use super::line_splitter::SourceLine;
use super::path;
use super::sink::EventSink;
use super::{FormatGrammar, HunkSide, Severity, TextEnd};

const FILE: &str = "*** File:";

/// Parser of edits by anchored lines.
#[derive(Default)]
pub(super) struct AnchorsGrammar {
    operation: Option<AnchorOperation>,
    has_file: bool,
    /// Whether the operation could not be parsed, so that its lines are skipped.
    is_skipping: bool,
}

struct AnchorOperation {
    word: AnchorVerb,
    first: LineAnchor,
    last: LineAnchor,
    text: String,
    line: SourceLine,
    source: Range<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AnchorVerb {
    Replace,
    Delete,
    Before,
    After,
}

impl FormatGrammar for AnchorsGrammar {
    fn on_line(&mut self, line: SourceLine, _: &mut VecDeque<SourceLine>, sink: &mut EventSink) {
        if let Some(path) = line.trimmed().strip_prefix(FILE) {
            self.close_operation(sink);
            self.is_skipping = false;
            self.has_file = true;
            let operations = Vec::new();
            let path = path.trim().trim_matches('*').trim_matches('`');
            sink.open_file(path, PatchOperation::Anchored { operations });
        } else if !self.has_file {
            // Text before the first file is ignored.
        } else if let Some(text) = line.text.strip_prefix('+') {
            self.text(text, &line, sink);
        } else if line.is_blank() || path::fence(line.trimmed()).is_some() {
            // Blank lines and fences are ignored.
        } else {
            self.close_operation(sink);
            self.open_operation(line, sink);
        }
    }

    fn on_end(&mut self, end: &TextEnd, _: &mut VecDeque<SourceLine>, sink: &mut EventSink) {
        self.close_operation(sink);
        sink.close_file();
        if !self.has_file {
            let message = format!("there is no edit here: a file begins with \"{FILE} path\"");
            sink.problem(end.row, end.offset..end.offset, Severity::Lost, message);
        }
    }
}

impl AnchorsGrammar {
    fn text(&mut self, text: &str, line: &SourceLine, sink: &mut EventSink) {
        match &mut self.operation {
            Some(operation) if operation.word != AnchorVerb::Delete => {
                operation.text.push_str(text);
                operation.text.push('\n');
                operation.source.end = line.source.end;
                sink.loose_line(HunkSide::New, text);
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
                    "these lines belong to no operation; write the operation before them",
                );
            }
        }
    }

    fn open_operation(&mut self, line: SourceLine, sink: &mut EventSink) {
        let Some((word, first, last)) = operation(line.trimmed()) else {
            self.is_skipping = true;
            return sink.lost(
                &line,
                "this is not an operation; write \"replace 12#a3f..14#0c9\", \"delete 12#a3f\", \
                 \"before 12#a3f\" or \"after 12#a3f\"",
            );
        };
        self.is_skipping = false;
        self.operation = Some(AnchorOperation {
            word,
            first,
            last,
            text: String::new(),
            source: line.source.clone(),
            line,
        });
    }

    fn close_operation(&mut self, sink: &mut EventSink) {
        let Some(operation) = self.operation.take() else {
            return;
        };
        if operation.text.is_empty() && operation.word != AnchorVerb::Delete {
            return sink.lost(
                &operation.line,
                "no lines follow this operation; added lines begin with \"+\", and \
                 \"delete\" takes lines away",
            );
        }
        sink.operation(AnchoredEdit {
            first: operation.first,
            last: operation.last,
            action: match operation.word {
                AnchorVerb::Replace | AnchorVerb::Delete => AnchoredAction::Replace(operation.text),
                AnchorVerb::Before => AnchoredAction::InsertBefore(operation.text),
                AnchorVerb::After => AnchoredAction::InsertAfter(operation.text),
            },
            source: operation.source,
        });
    }
}

/// Parses an operation, such as `replace 15#9bc..17#0d1`, as its verb and its first and last
/// anchor, which are equal for a single line. `None` if it is invalid or its lines are reversed.
fn operation(text: &str) -> Option<(AnchorVerb, LineAnchor, LineAnchor)> {
    let (word, place) = text.split_once(char::is_whitespace)?;
    let word = match word {
        "replace" => AnchorVerb::Replace,
        "delete" => AnchorVerb::Delete,
        "before" => AnchorVerb::Before,
        "after" => AnchorVerb::After,
        _ => return None,
    };
    let place = place.trim().trim_end_matches(':');
    let (first, last) = match place.split_once("..") {
        Some((first, last)) => (anchor(first)?, anchor(last)?),
        None => (anchor(place)?, anchor(place)?),
    };
    (first.row <= last.row).then_some((word, first, last))
}

/// Parses an anchor, such as `12#a3f`; its row counts from 0. `None` if it is invalid, or its line
/// is 0.
fn anchor(text: &str) -> Option<LineAnchor> {
    let (line, hash) = text.trim().split_once('#')?;
    let line: u32 = line.parse().ok()?;
    let is_hash = !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_hash.then_some(LineAnchor {
        row: Row(line.checked_sub(1)?),
        hash: hash.to_owned(),
    })
}
