//! Complete files in fenced or marked blocks.
//!
//! ````text
//! src/main.rs
//! ```rust
//! the whole content
//! ```
//! ````
//!
//! or, without a fence,
//!
//! ```text
//! *** Write File: src/main.rs
//! the whole content
//! *** End of File
//! ```
//!
//! A fence is closed by one of the same character that is at least as long, so text that contains
//! fences needs longer ones. A fence may be indented together with its content. The path may also
//! follow the fence on the same line: "```rust src/main.rs". `\ No newline at end of file` on the
//! line after either form removes the final line feed. Line endings are kept as written. Any number
//! of files may follow each other, with text between them.

use std::collections::VecDeque;

use crate::edit::PatchOperation;

use super::line_splitter::{LineTerminator, SourceLine};
use super::path;
use super::sink::{EventSink, without_margin};
use super::{FormatGrammar, Severity, ShellBlock, TextEnd};

const WRITE: &str = "*** Write File:";
const END_OF_FILE: &str = "*** End of File";
const NO_NEWLINE: &str = "\\ No newline at end of file";

/// Parser of complete files in fences, each after a line with its path.
#[derive(Default)]
pub(super) struct WholeFileGrammar {
    state: WholeFileState,
    /// The last line, which may name the file of a following fence.
    above: Option<SourceLine>,
    has_blocks: bool,
}

#[derive(Default)]
enum WholeFileState {
    #[default]
    Prose,
    /// Inside a fence, with its opening.
    Fenced {
        fence: Fence,
        /// Lines after an indented fence, kept until it is known whether they share its
        /// indentation.
        held: String,
    },
    /// Between the `***` lines.
    Raw,
    /// After a complete file, whose next line may say that it has no final line feed.
    After,
    Shell {
        block: ShellBlock,
        fence: Fence,
    },
    /// In a block that belongs to no file.
    Nameless(Fence),
}

/// Opening of a fenced block.
#[derive(Clone, Copy)]
struct Fence {
    sign: char,
    length: usize,
    margin: usize,
}

impl Fence {
    /// Whether a line closes this fence: with the same character at least as often, at most
    /// `margin` spaces before it, and no text after it.
    fn closes(self, line: &SourceLine) -> bool {
        let text = line.text.trim_end();
        let fence = text.trim_start_matches(' ');
        // The last line may be cut in the middle of a longer fence.
        let is_whole = line.ending != LineTerminator::None || fence.len() >= self.length;
        is_whole
            && text.len() - fence.len() <= self.margin
            && path::fence(fence).is_some_and(|(sign, length, info)| {
                sign == self.sign && length >= self.length && info.is_empty()
            })
    }
}

impl FormatGrammar for WholeFileGrammar {
    fn on_line(&mut self, line: SourceLine, _: &mut VecDeque<SourceLine>, sink: &mut EventSink) {
        match std::mem::take(&mut self.state) {
            WholeFileState::Prose => self.prose(line, sink),
            WholeFileState::After if line.trimmed() == NO_NEWLINE => {
                sink.cut_final_newline();
                sink.close_file();
            }
            WholeFileState::After => {
                sink.close_file();
                self.prose(line, sink);
            }
            WholeFileState::Fenced { fence, held } if fence.closes(&line) => {
                let text = without_margin(held, fence.margin);
                text.split_inclusive('\n')
                    .for_each(|line| sink.whole_line(line));
                self.state = WholeFileState::After;
            }
            WholeFileState::Raw if line.trimmed() == END_OF_FILE => {
                self.state = WholeFileState::After
            }
            WholeFileState::Nameless(fence) if fence.closes(&line) => {}
            WholeFileState::Fenced { fence, mut held } if fence.margin > 0 => {
                held.push_str(&line.raw());
                self.state = WholeFileState::Fenced { fence, held };
            }
            state @ (WholeFileState::Fenced { .. } | WholeFileState::Raw) => {
                sink.whole_line(&line.raw());
                self.state = state;
            }
            state @ WholeFileState::Nameless(_) => self.state = state,
            WholeFileState::Shell { mut block, fence } => {
                block.source.end = line.source.end;
                if fence.closes(&line) {
                    return sink.shell(block);
                }
                block.text.push_str(&line.text);
                block.text.push('\n');
                self.state = WholeFileState::Shell { block, fence };
            }
        }
    }

    fn on_end(&mut self, end: &TextEnd, _: &mut VecDeque<SourceLine>, sink: &mut EventSink) {
        let source = end.offset..end.offset;
        match std::mem::take(&mut self.state) {
            WholeFileState::Prose | WholeFileState::After => {
                sink.close_file();
                if !self.has_blocks {
                    let message = "there is no file here: write its path on a line, and then its \
                                   whole content between fences";
                    sink.problem(end.row, source, Severity::Lost, message);
                }
            }
            WholeFileState::Fenced { fence, .. } => {
                sink.drop_file();
                let fence = fence.sign.to_string().repeat(fence.length);
                let message =
                    format!("the last file is cut off: the closing \"{fence}\" is missing");
                sink.problem(end.row, source, Severity::Lost, message);
            }
            WholeFileState::Raw => {
                sink.drop_file();
                let message = format!("the last file is cut off: \"{END_OF_FILE}\" is missing");
                sink.problem(end.row, source, Severity::Lost, message);
            }
            WholeFileState::Shell { block, .. } => sink.shell(block),
            WholeFileState::Nameless(_) => {}
        }
    }
}

impl WholeFileGrammar {
    fn prose(&mut self, line: SourceLine, sink: &mut EventSink) {
        if let Some(path) = line.trimmed().strip_prefix(WRITE) {
            self.above = None;
            self.has_blocks = true;
            self.state = WholeFileState::Raw;
            return open(path.trim(), sink);
        }
        let Some((sign, length, info)) = path::fence(line.trimmed()) else {
            // A blank line may separate a path from its fence.
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
            self.state = WholeFileState::Fenced { fence, held };
            return open(path, sink);
        }
        if path::is_shell(info) {
            self.state = WholeFileState::Shell {
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
        self.state = WholeFileState::Nameless(fence);
    }
}

fn open(path: &str, sink: &mut EventSink) {
    let text = String::new();
    sink.open_file(path, PatchOperation::Overwrite { text });
}
