//! Blocks of the SEARCH/REPLACE format.
//!
//! ````text
//! src/main.rs
//! ```rust
//! <<<<<<< SEARCH
//! the lines to find
//! =======
//! their replacement
//! >>>>>>> REPLACE
//! ```
//! ````
//!
//! The path is on a line of its own before the fence or the first marker, or after the fence on the
//! same line; decoration around it and blank lines after it are ignored. Without a path the file of
//! the preceding block is meant. Markers have five to nine characters. A marker with the length and
//! indentation of the block's first one always counts; another counts only if no such marker
//! follows. Text that contains a line of seven `=` can therefore be written with markers of nine.
//! A block without lines to find creates a file. Fenced shell blocks are reported separately.

use std::collections::VecDeque;

use super::line_splitter::{LineTerminator, SourceLine};
use super::path;
use super::sink::{EventSink, empty_hunk, empty_update};
use super::{FormatGrammar, HunkSide, Severity, ShellBlock, TextEnd};

/// Maximum number of non-blank lines between a path and its block: the path, a closed fence, a
/// fence.
const ABOVE: usize = 3;

/// Parser of SEARCH/REPLACE blocks.
#[derive(Default)]
pub(super) struct SearchReplaceGrammar {
    state: SearchReplaceState,
    /// Latest lines outside of blocks.
    above: VecDeque<SourceLine>,
    /// Path of the preceding block.
    path: Option<String>,
}

#[derive(Default)]
enum SearchReplaceState {
    #[default]
    Prose,
    Shell(ShellBlock),
    /// Between the first marker and the divider.
    Old(BlockSection),
    /// Between the divider and the last marker.
    New(BlockSection),
}

/// One half of a block.
struct BlockSection {
    /// Style of the block's first marker.
    look: MarkerStyle,
    /// Lines from the first possible marker on, which may also be text.
    held: Vec<SourceLine>,
}

/// Style in which a marker is written.
#[derive(Clone, Copy, PartialEq, Eq)]
struct MarkerStyle {
    signs: usize,
    indent: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockMarker {
    Search,
    Divider,
    Replace,
}

/// Parses a line as a marker.
fn marker(line: &SourceLine) -> Option<(BlockMarker, MarkerStyle)> {
    let text = line.trimmed();
    let sign = text.chars().next()?;
    let rest = text.trim_start_matches(sign);
    let marker = match (sign, rest) {
        ('<', " SEARCH" | " SEARCH>") => BlockMarker::Search,
        ('=', "") => BlockMarker::Divider,
        ('>', " REPLACE") => BlockMarker::Replace,
        _ => return None,
    };
    let look = MarkerStyle {
        signs: text.len() - rest.len(),
        indent: line.text.len() - line.text.trim_start().len(),
    };
    (5..=9).contains(&look.signs).then_some((marker, look))
}

/// Whether a line is a marker that opens a block.
fn is_search(line: &SourceLine) -> bool {
    matches!(marker(line), Some((BlockMarker::Search, _)))
}

/// Whether a line is a fence with the language of a shell.
fn opens_shell(line: &SourceLine) -> bool {
    path::fence(line.trimmed()).is_some_and(|(_, _, info)| path::is_shell(info))
}

/// Whether a line opens or closes a fence.
fn is_fence(line: &SourceLine) -> bool {
    path::fence(line.trimmed()).is_some()
}

impl FormatGrammar for SearchReplaceGrammar {
    fn lookahead(&self, line: &SourceLine) -> usize {
        match self.state {
            SearchReplaceState::Prose if opens_shell(line) => 2,
            _ => 0,
        }
    }

    fn on_line(&mut self, line: SourceLine, next: &mut VecDeque<SourceLine>, sink: &mut EventSink) {
        match std::mem::take(&mut self.state) {
            SearchReplaceState::Prose => self.prose(line, next, sink),
            SearchReplaceState::Shell(block) => self.shell(block, &line, sink),
            SearchReplaceState::Old(section) => self.old(section, line, next, sink),
            SearchReplaceState::New(section) => self.new_text(section, line, next, sink),
        }
    }

    fn on_end(&mut self, end: &TextEnd, next: &mut VecDeque<SourceLine>, sink: &mut EventSink) {
        match std::mem::take(&mut self.state) {
            SearchReplaceState::Prose => self.cut_off(end, sink),
            SearchReplaceState::Shell(mut block) => {
                block.source.end = end.offset;
                sink.shell(block);
            }
            SearchReplaceState::Old(section) if has_loose_end(&section.held) => {
                self.split_loosely(section.held, next, sink);
            }
            SearchReplaceState::Old(_) => self.unfinished(end, "=======", sink),
            SearchReplaceState::New(section)
                if section.held.is_empty() || is_torn(&section.held) =>
            {
                self.unfinished(end, ">>>>>>> REPLACE", sink);
            }
            SearchReplaceState::New(section) => self.finish_loosely(section.held, next, sink),
        }
        if next.is_empty() {
            sink.close_file();
        }
    }
}

impl SearchReplaceGrammar {
    fn prose(&mut self, line: SourceLine, next: &VecDeque<SourceLine>, sink: &mut EventSink) {
        if let Some((BlockMarker::Search, look)) = marker(&line) {
            return self.open(&line, look, sink);
        }
        if opens_shell(&line) && !next.iter().take(2).any(is_search) {
            self.above.clear();
            self.state = SearchReplaceState::Shell(ShellBlock {
                text: String::new(),
                source: line.source,
            });
            return;
        }
        self.above.push_back(line);
        let filled = self.above.iter().filter(|line| !line.is_blank()).count();
        if filled > ABOVE || self.above.len() > 2 * ABOVE {
            self.above.pop_front();
        }
    }

    fn shell(&mut self, mut block: ShellBlock, line: &SourceLine, sink: &mut EventSink) {
        block.source.end = line.source.end;
        if is_fence(line) {
            sink.shell(block);
        } else {
            block.text.push_str(&line.text);
            block.text.push('\n');
            self.state = SearchReplaceState::Shell(block);
        }
    }

    fn open(&mut self, line: &SourceLine, look: MarkerStyle, sink: &mut EventSink) {
        let named = self.path_above().or_else(|| self.path.clone());
        self.above.clear();
        if let Some(path) = &named {
            let is_open = sink.file().is_some_and(|file| file.path == *path);
            if !is_open {
                sink.open_file(path, empty_update());
            }
            sink.open_hunk(empty_hunk(line.source.start));
        } else {
            sink.lost(
                line,
                "this block names no file; put its path alone on the line before the fence",
            );
        }
        self.path = named;
        self.state = SearchReplaceState::Old(BlockSection {
            look,
            held: Vec::new(),
        });
    }

    /// Returns the path from the nearest lines above: any fences, and the first other line. Beyond
    /// a blank line only an unmistakable path counts.
    fn path_above(&self) -> Option<String> {
        let mut found = Vec::new();
        let mut has_blank = false;
        for line in self.above.iter().rev() {
            has_blank |= line.is_blank();
            let named = path::named_in(&line.text);
            let named = named.filter(|path| {
                if has_blank {
                    path::is_alone(path)
                } else {
                    path::is_plausible(path)
                }
            });
            found.extend(named);
            if !path::is_fence(line.trimmed()) && !line.is_blank() {
                break;
            }
        }
        let with_extension = found.iter().find(|path| path.contains('.'));
        with_extension
            .or_else(|| found.first())
            .map(|path| (*path).to_owned())
    }

    fn old(
        &mut self,
        mut section: BlockSection,
        line: SourceLine,
        next: &mut VecDeque<SourceLine>,
        sink: &mut EventSink,
    ) {
        match marker(&line) {
            Some((BlockMarker::Divider, look)) if look == section.look => {
                flush(HunkSide::Old, &mut section.held, sink);
                self.state = SearchReplaceState::New(section);
                return;
            }
            Some((BlockMarker::Search, look)) if look == section.look => {
                if has_loose_end(&section.held) {
                    section.held.push(line);
                    return self.split_loosely(section.held, next, sink);
                }
                sink.drop_hunk();
                sink.lost(
                    &line,
                    "the block before this one has no \"=======\" and no \">>>>>>> REPLACE\"",
                );
                return self.open(&line, look, sink);
            }
            Some((BlockMarker::Replace, look)) if look == section.look => {
                return self.split(&section.held, &line, sink);
            }
            Some((BlockMarker::Divider, _)) => section.held.push(line),
            _ if section.held.is_empty() => sink.push_line(HunkSide::Old, &line.text),
            _ => section.held.push(line),
        }
        self.state = SearchReplaceState::Old(section);
    }

    /// Splits the block at markers that differ in style from its first one, if both others are
    /// present.
    fn split_loosely(
        &mut self,
        held: Vec<SourceLine>,
        next: &mut VecDeque<SourceLine>,
        sink: &mut EventSink,
    ) {
        let is_end = |line: &SourceLine| matches!(marker(line), Some((BlockMarker::Replace, _)));
        let end = held.iter().position(is_end).unwrap_or(held.len());
        if let Some(line) = held.get(end) {
            self.split(&held[..end], line, sink);
        }
        for line in held.into_iter().skip(end + 1).rev() {
            next.push_front(line);
        }
    }

    /// Ends a block without a divider in the style of its first marker: a single divider of another
    /// style is accepted.
    fn split(&mut self, held: &[SourceLine], end: &SourceLine, sink: &mut EventSink) {
        let is_divider =
            |line: &&SourceLine| matches!(marker(line), Some((BlockMarker::Divider, _)));
        match held.iter().filter(is_divider).count() {
            1 => {
                for line in &held[1..] {
                    sink.push_line(HunkSide::New, &line.text);
                }
                self.complete(end, sink);
            }
            0 => {
                sink.drop_hunk();
                sink.lost(
                    end,
                    "this block has no \"=======\" between its two halves; write it once, \
                     with as many signs as the \"<<<<<<< SEARCH\" above it",
                );
            }
            _ => self.refuse_two_dividers(end, sink),
        }
    }

    fn new_text(
        &mut self,
        mut section: BlockSection,
        line: SourceLine,
        next: &mut VecDeque<SourceLine>,
        sink: &mut EventSink,
    ) {
        match marker(&line) {
            Some((BlockMarker::Replace, look)) if look == section.look => {
                let first = section.held.first().and_then(marker);
                if matches!(first, Some((BlockMarker::Divider, _))) {
                    let is_doubled = section.held.len() == 1 && !ends_in_title(look, sink);
                    return if is_doubled {
                        self.finish_loosely(section.held, next, sink)
                    } else {
                        self.refuse_two_dividers(&line, sink)
                    };
                }
                flush(HunkSide::New, &mut section.held, sink);
                return self.complete(&line, sink);
            }
            Some((BlockMarker::Search, look)) if look == section.look => {
                if section.held.is_empty() {
                    sink.drop_hunk();
                    sink.lost(
                        &line,
                        "the block before this one has no \">>>>>>> REPLACE\"",
                    );
                    return self.open(&line, look, sink);
                }
                section.held.push(line);
                return self.finish_loosely(section.held, next, sink);
            }
            Some((BlockMarker::Replace, _)) => section.held.push(line),
            Some((BlockMarker::Divider, look)) if look == section.look => section.held.push(line),
            _ if section.held.is_empty() => sink.push_line(HunkSide::New, &line.text),
            _ => section.held.push(line),
        }
        self.state = SearchReplaceState::New(section);
    }

    /// Ends the block at the first held line; the others are read again.
    fn finish_loosely(
        &mut self,
        held: Vec<SourceLine>,
        next: &mut VecDeque<SourceLine>,
        sink: &mut EventSink,
    ) {
        let mut held = held.into_iter();
        if let Some(end) = held.next() {
            if matches!(marker(&end), Some((BlockMarker::Divider, _))) {
                sink.tolerated(
                    &end,
                    "this block ends in \"=======\" instead of \">>>>>>> REPLACE\"",
                );
            }
            self.complete(&end, sink);
        }
        for line in held.rev() {
            next.push_front(line);
        }
    }

    fn complete(&mut self, end: &SourceLine, sink: &mut EventSink) {
        self.state = SearchReplaceState::Prose;
        let finds_nothing = sink.hunk().is_some_and(|hunk| hunk.old.is_empty());
        if finds_nothing {
            let margin = end.text.len() - end.text.trim_start_matches(' ').len();
            sink.hunk_is_whole_file(end.source.end, margin);
        } else {
            sink.close_hunk(end.source.end);
        }
    }

    fn refuse_two_dividers(&mut self, end: &SourceLine, sink: &mut EventSink) {
        self.state = SearchReplaceState::Prose;
        sink.drop_hunk();
        sink.lost(
            end,
            "this block has more than one \"=======\", so that it is unclear where its second half \
             begins; write its three markers with nine signs, as in \"<<<<<<<<< SEARCH\"",
        );
    }

    /// Reports a last line that is the beginning of a first marker.
    fn cut_off(&mut self, end: &TextEnd, sink: &mut EventSink) {
        let last = self.above.back();
        if last.is_some_and(|line| {
            line.ending == LineTerminator::None && line.text.starts_with("<<<<<")
        }) {
            self.unfinished(end, "=======", sink);
        }
    }

    fn unfinished(&mut self, end: &TextEnd, missing: &str, sink: &mut EventSink) {
        let start = sink.hunk().map_or(end.offset, |hunk| hunk.source.start);
        sink.drop_hunk();
        sink.problem(
            end.row,
            start..end.offset,
            Severity::Lost,
            format!("the last block is not complete: \"{missing}\" is missing"),
        );
    }
}

/// Whether the text may end inside the new text, since a divider can also underline a title. A
/// block that is complete closes at least its fence.
fn is_torn(held: &[SourceLine]) -> bool {
    let is_divider = matches!(
        held.first().and_then(marker),
        Some((BlockMarker::Divider, _))
    );
    let mut behind = held.iter().skip(1).filter(|line| !line.is_blank());
    is_divider && !behind.next().is_some_and(is_fence)
}

/// Whether a held line is a marker that closes a block, of any length and indentation.
fn has_loose_end(held: &[SourceLine]) -> bool {
    let is_end = |line: &SourceLine| matches!(marker(line), Some((BlockMarker::Replace, _)));
    held.iter().any(is_end)
}

/// Whether the last new line may be a title that the divider after it underlines.
fn ends_in_title(look: MarkerStyle, sink: &mut EventSink) -> bool {
    let title = sink.hunk().and_then(|hunk| hunk.new.lines().next_back());
    title.is_some_and(|title| title.trim().chars().count() == look.signs)
}

fn flush(side: HunkSide, held: &mut Vec<SourceLine>, sink: &mut EventSink) {
    for line in held.drain(..) {
        sink.push_line(side, &line.text);
    }
}
