//! SEARCH/REPLACE blocks.
//!
//! ````text
//! src/main.rs
//! ```rust
//! <<<<<<< SEARCH
//! the lines to find
//! =======
//! the lines that take their place
//! >>>>>>> REPLACE
//! ```
//! ````
//!
//! The path stands alone on the line before the fence, before the first marker, or behind the fence;
//! decoration around it and blank lines behind it are passed over. Without one the file of the block before is meant. Markers have five to nine signs. A marker with
//! as many signs as the block's first, equally indented, always counts; another counts only where no
//! such marker comes: so a text that itself has a line of seven `=` is given in markers of nine.
//! A block without lines to find creates a file. Blocks fenced as shell are reported apart.

use std::collections::VecDeque;

use super::lines::{Ending, Line};
use super::path;
use super::sink::{Sink, empty_hunk, empty_update};
use super::{End, Grammar, Severity, ShellBlock, Side};

/// How far above a block its path may stand: the path, a closed fence, a fence.
const ABOVE: usize = 3;

#[derive(Default)]
pub(super) struct SearchReplace {
    state: State,
    /// The last lines outside of blocks.
    above: VecDeque<Line>,
    /// The path of the block before.
    path: Option<String>,
}

#[derive(Default)]
enum State {
    #[default]
    Prose,
    Shell(ShellBlock),
    /// Between the first marker and the divider.
    Old(Section),
    /// Between the divider and the last marker.
    New(Section),
}

/// One half of a block.
struct Section {
    /// How the block's first marker looks.
    look: Look,
    /// Lines from the first marker on that may be one, and may be text.
    held: Vec<Line>,
}

/// How a marker is written.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Look {
    signs: usize,
    indent: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Marker {
    Search,
    Divider,
    Replace,
}

/// The marker that a line may be.
fn marker(line: &Line) -> Option<(Marker, Look)> {
    let text = line.trimmed();
    let sign = text.chars().next()?;
    let rest = text.trim_start_matches(sign);
    let marker = match (sign, rest) {
        ('<', " SEARCH" | " SEARCH>") => Marker::Search,
        ('=', "") => Marker::Divider,
        ('>', " REPLACE") => Marker::Replace,
        _ => return None,
    };
    let look = Look {
        signs: text.len() - rest.len(),
        indent: line.text.len() - line.text.trim_start().len(),
    };
    (5..=9).contains(&look.signs).then_some((marker, look))
}

fn is_search(line: &Line) -> bool {
    matches!(marker(line), Some((Marker::Search, _)))
}

fn opens_shell(line: &Line) -> bool {
    path::fence(line.trimmed()).is_some_and(|(_, _, info)| path::is_shell(info))
}

fn is_fence(line: &Line) -> bool {
    path::fence(line.trimmed()).is_some()
}

impl Grammar for SearchReplace {
    fn lookahead(&self, line: &Line) -> usize {
        match self.state {
            State::Prose if opens_shell(line) => 2,
            _ => 0,
        }
    }

    fn line(&mut self, line: Line, next: &mut VecDeque<Line>, sink: &mut Sink) {
        match std::mem::take(&mut self.state) {
            State::Prose => self.prose(line, next, sink),
            State::Shell(block) => self.shell(block, &line, sink),
            State::Old(section) => self.old(section, line, next, sink),
            State::New(section) => self.new_text(section, line, next, sink),
        }
    }

    fn end(&mut self, end: &End, next: &mut VecDeque<Line>, sink: &mut Sink) {
        match std::mem::take(&mut self.state) {
            State::Prose => self.cut_off(end, sink),
            State::Shell(mut block) => {
                block.source.end = end.offset;
                sink.shell(block);
            }
            State::Old(section) if has_loose_end(&section.held) => {
                self.split_loosely(section.held, next, sink);
            }
            State::Old(_) => self.unfinished(end, "=======", sink),
            State::New(section) if section.held.is_empty() || is_torn(&section.held) => {
                self.unfinished(end, ">>>>>>> REPLACE", sink);
            }
            State::New(section) => self.finish_loosely(section.held, next, sink),
        }
        if next.is_empty() {
            sink.close_file();
        }
    }
}

impl SearchReplace {
    fn prose(&mut self, line: Line, next: &VecDeque<Line>, sink: &mut Sink) {
        if let Some((Marker::Search, look)) = marker(&line) {
            return self.open(&line, look, sink);
        }
        if opens_shell(&line) && !next.iter().take(2).any(is_search) {
            self.above.clear();
            self.state = State::Shell(ShellBlock {
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

    fn shell(&mut self, mut block: ShellBlock, line: &Line, sink: &mut Sink) {
        block.source.end = line.source.end;
        if is_fence(line) {
            sink.shell(block);
        } else {
            block.text.push_str(&line.text);
            block.text.push('\n');
            self.state = State::Shell(block);
        }
    }

    fn open(&mut self, line: &Line, look: Look, sink: &mut Sink) {
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
        self.state = State::Old(Section {
            look,
            held: Vec::new(),
        });
    }

    /// The nearest lines above, as long as they are fences, and one that is none. Beyond a blank line
    /// a path stands alone, or it is a sentence.
    fn path_above(&self) -> Option<String> {
        let mut found = Vec::new();
        let mut has_blank = false;
        for line in self.above.iter().rev() {
            has_blank |= line.is_blank();
            let named = path::named_in(&line.text);
            let named = named.filter(|path| match has_blank {
                true => path::is_alone(path),
                false => path::is_plausible(path),
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
        mut section: Section,
        line: Line,
        next: &mut VecDeque<Line>,
        sink: &mut Sink,
    ) {
        match marker(&line) {
            Some((Marker::Divider, look)) if look == section.look => {
                flush(Side::Old, &mut section.held, sink);
                self.state = State::New(section);
                return;
            }
            Some((Marker::Search, look)) if look == section.look => {
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
            Some((Marker::Replace, look)) if look == section.look => {
                return self.split(&section.held, &line, sink);
            }
            Some((Marker::Divider, _)) => section.held.push(line),
            _ if section.held.is_empty() => sink.line(Side::Old, &line.text),
            _ => section.held.push(line),
        }
        self.state = State::Old(section);
    }

    /// No marker of the block looks like its first, but there are both others.
    fn split_loosely(&mut self, held: Vec<Line>, next: &mut VecDeque<Line>, sink: &mut Sink) {
        let is_end = |line: &Line| matches!(marker(line), Some((Marker::Replace, _)));
        let end = held.iter().position(is_end).unwrap_or(held.len());
        if let Some(line) = held.get(end) {
            self.split(&held[..end], line, sink);
        }
        for line in held.into_iter().skip(end + 1).rev() {
            next.push_front(line);
        }
    }

    /// The block is over and no divider looked like its first marker: another one may do.
    fn split(&mut self, held: &[Line], end: &Line, sink: &mut Sink) {
        let is_divider = |line: &&Line| matches!(marker(line), Some((Marker::Divider, _)));
        match held.iter().filter(is_divider).count() {
            1 => {
                for line in &held[1..] {
                    sink.line(Side::New, &line.text);
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
        mut section: Section,
        line: Line,
        next: &mut VecDeque<Line>,
        sink: &mut Sink,
    ) {
        match marker(&line) {
            Some((Marker::Replace, look)) if look == section.look => {
                let first = section.held.first().and_then(marker);
                if matches!(first, Some((Marker::Divider, _))) {
                    let is_doubled = section.held.len() == 1 && !ends_in_title(look, sink);
                    return match is_doubled {
                        true => self.finish_loosely(section.held, next, sink),
                        false => self.refuse_two_dividers(&line, sink),
                    };
                }
                flush(Side::New, &mut section.held, sink);
                return self.complete(&line, sink);
            }
            Some((Marker::Search, look)) if look == section.look => {
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
            Some((Marker::Replace, _)) => section.held.push(line),
            Some((Marker::Divider, look)) if look == section.look => section.held.push(line),
            _ if section.held.is_empty() => sink.line(Side::New, &line.text),
            _ => section.held.push(line),
        }
        self.state = State::New(section);
    }

    /// The first line held was the end of the block after all; the others are read again.
    fn finish_loosely(&mut self, held: Vec<Line>, next: &mut VecDeque<Line>, sink: &mut Sink) {
        let mut held = held.into_iter();
        if let Some(end) = held.next() {
            if matches!(marker(&end), Some((Marker::Divider, _))) {
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

    fn complete(&mut self, end: &Line, sink: &mut Sink) {
        self.state = State::Prose;
        let finds_nothing = sink.hunk().is_some_and(|hunk| hunk.old.is_empty());
        if finds_nothing {
            let margin = end.text.len() - end.text.trim_start_matches(' ').len();
            sink.hunk_is_whole_file(end.source.end, margin);
        } else {
            sink.close_hunk(end.source.end);
        }
    }

    fn refuse_two_dividers(&mut self, end: &Line, sink: &mut Sink) {
        self.state = State::Prose;
        sink.drop_hunk();
        sink.lost(
            end,
            "this block has more than one \"=======\", so that it is unclear where its second half \
             begins; write its three markers with nine signs, as in \"<<<<<<<<< SEARCH\"",
        );
    }

    /// Reports a last line that begins the first marker of a block.
    fn cut_off(&mut self, end: &End, sink: &mut Sink) {
        let last = self.above.back();
        if last.is_some_and(|line| line.ending == Ending::None && line.text.starts_with("<<<<<")) {
            self.unfinished(end, "=======", sink);
        }
    }

    fn unfinished(&mut self, end: &End, missing: &str, sink: &mut Sink) {
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

/// Whether the text ends behind what may be a line of the new text: a title is underlined so. A block
/// that ends there at least closes its fence.
fn is_torn(held: &[Line]) -> bool {
    let is_divider = matches!(held.first().and_then(marker), Some((Marker::Divider, _)));
    let mut behind = held.iter().skip(1).filter(|line| !line.is_blank());
    is_divider && !behind.next().is_some_and(is_fence)
}

fn has_loose_end(held: &[Line]) -> bool {
    let is_end = |line: &Line| matches!(marker(line), Some((Marker::Replace, _)));
    held.iter().any(is_end)
}

/// Whether the last line that appears may be a title, and the divider behind it its underline.
fn ends_in_title(look: Look, sink: &mut Sink) -> bool {
    let title = sink.hunk().and_then(|hunk| hunk.new.lines().next_back());
    title.is_some_and(|title| title.trim().chars().count() == look.signs)
}

fn flush(side: Side, held: &mut Vec<Line>, sink: &mut Sink) {
    for line in held.drain(..) {
        sink.line(side, &line.text);
    }
}
