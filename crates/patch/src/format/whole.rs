//! Whole files.
//!
//! ````text
//! src/main.rs
//! ```rust
//! the whole content
//! ```
//! ````
//!
//! or, where no fence is wanted,
//!
//! ```text
//! *** Write File: src/main.rs
//! the whole content
//! *** End of File
//! ```
//!
//! A fence is closed by one of the same sign that is at least as long, so that a text with fences is
//! given between longer ones. A fence may be indented, and its content along with it. The path may also stand behind the fence: "```rust src/main.rs".
//! `\ No newline at end of file` on the line after either form means just that. Line feeds are kept
//! as written. Any number of files may follow each other, with text between them.

use std::collections::VecDeque;

use crate::edit::Change;

use super::lines::{Ending, Line};
use super::path;
use super::sink::{Sink, without_margin};
use super::{End, Grammar, Severity, ShellBlock};

const WRITE: &str = "*** Write File:";
const END_OF_FILE: &str = "*** End of File";
const NO_NEWLINE: &str = "\\ No newline at end of file";

#[derive(Default)]
pub(super) struct Whole {
    state: State,
    /// The last line, where it may name the file of a fence that follows.
    above: Option<Line>,
    has_blocks: bool,
}

#[derive(Default)]
enum State {
    #[default]
    Prose,
    /// Between fences, and how the first looks.
    Fenced {
        fence: Fence,
        /// Behind an indented fence, all lines so far: whether they are indented along is not known yet.
        held: String,
    },
    /// Between the lines that begin with `***`.
    Raw,
    /// A file is complete; the next line may say that it has no final line feed.
    After,
    Shell {
        block: ShellBlock,
        fence: Fence,
    },
    /// In a block that belongs to no file.
    Nameless(Fence),
}

/// How the fence that opens a block looks.
#[derive(Clone, Copy)]
struct Fence {
    sign: char,
    length: usize,
    margin: usize,
}

impl Fence {
    fn closes(self, line: &Line) -> bool {
        let text = line.text.trim_end();
        let fence = text.trim_start_matches(' ');
        // The last line may be cut in the middle of a fence that is no end.
        let is_whole = line.ending != Ending::None || fence.len() >= self.length;
        is_whole
            && text.len() - fence.len() <= self.margin
            && path::fence(fence).is_some_and(|(sign, length, info)| {
                sign == self.sign && length >= self.length && info.is_empty()
            })
    }
}

impl Grammar for Whole {
    fn line(&mut self, line: Line, _: &mut VecDeque<Line>, sink: &mut Sink) {
        match std::mem::take(&mut self.state) {
            State::Prose => self.prose(line, sink),
            State::After if line.trimmed() == NO_NEWLINE => {
                sink.cut_final_newline();
                sink.close_file();
            }
            State::After => {
                sink.close_file();
                self.prose(line, sink);
            }
            State::Fenced { fence, held } if fence.closes(&line) => {
                let text = without_margin(held, fence.margin);
                text.split_inclusive('\n')
                    .for_each(|line| sink.whole_line(line));
                self.state = State::After;
            }
            State::Raw if line.trimmed() == END_OF_FILE => self.state = State::After,
            State::Nameless(fence) if fence.closes(&line) => {}
            State::Fenced { fence, mut held } if fence.margin > 0 => {
                held.push_str(&line.raw());
                self.state = State::Fenced { fence, held };
            }
            state @ (State::Fenced { .. } | State::Raw) => {
                sink.whole_line(&line.raw());
                self.state = state;
            }
            state @ State::Nameless(_) => self.state = state,
            State::Shell { mut block, fence } => {
                block.source.end = line.source.end;
                if fence.closes(&line) {
                    return sink.shell(block);
                }
                block.text.push_str(&line.text);
                block.text.push('\n');
                self.state = State::Shell { block, fence };
            }
        }
    }

    fn end(&mut self, end: &End, _: &mut VecDeque<Line>, sink: &mut Sink) {
        let source = end.offset..end.offset;
        match std::mem::take(&mut self.state) {
            State::Prose | State::After => {
                sink.close_file();
                if !self.has_blocks {
                    let message = "there is no file here: write its path on a line, and then its \
                                   whole content between fences";
                    sink.problem(end.row, source, Severity::Lost, message);
                }
            }
            State::Fenced { fence, .. } => {
                sink.drop_file();
                let fence = fence.sign.to_string().repeat(fence.length);
                let message =
                    format!("the last file is cut off: the closing \"{fence}\" is missing");
                sink.problem(end.row, source, Severity::Lost, message);
            }
            State::Raw => {
                sink.drop_file();
                let message = format!("the last file is cut off: \"{END_OF_FILE}\" is missing");
                sink.problem(end.row, source, Severity::Lost, message);
            }
            State::Shell { block, .. } => sink.shell(block),
            State::Nameless(_) => {}
        }
    }
}

impl Whole {
    fn prose(&mut self, line: Line, sink: &mut Sink) {
        if let Some(path) = line.trimmed().strip_prefix(WRITE) {
            self.above = None;
            self.has_blocks = true;
            self.state = State::Raw;
            return open(path.trim(), sink);
        }
        let Some((sign, length, info)) = path::fence(line.trimmed()) else {
            // A blank line may stand between a path and its fence.
            if !line.is_blank() {
                self.above = Some(line);
            }
            return;
        };
        self.has_blocks = true;
        let margin = line.text.len() - line.text.trim_start_matches(' ').len();
        let fence = Fence {
            sign,
            length,
            margin,
        };
        let above = self.above.take();
        let above = above.as_ref().and_then(|line| path::named_in(&line.text));
        let named = path::named_in(&line.text)
            .or(above)
            .filter(|path| path::is_plausible(path));
        if let Some(path) = named {
            let held = String::new();
            self.state = State::Fenced { fence, held };
            return open(path, sink);
        }
        if path::is_shell(info) {
            self.state = State::Shell {
                block: ShellBlock {
                    text: String::new(),
                    source: line.source,
                },
                fence,
            };
            return;
        }
        sink.lost(
            &line,
            "this block names no file; put its path alone on the line before the fence",
        );
        self.state = State::Nameless(fence);
    }
}

fn open(path: &str, sink: &mut Sink) {
    let text = String::new();
    sink.open_file(path, Change::Overwrite { text });
}
