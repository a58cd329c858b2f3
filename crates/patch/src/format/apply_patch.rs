//! The `*** Begin Patch` format.
//!
//! ```text
//! *** Begin Patch
//! *** Add File: path            then lines with `+`
//! *** Delete File: path
//! *** Update File: path
//! *** Move to: other path       may follow an Update
//! @@ a line before the place    as often as needed, the outermost first; or `@@` alone
//!  a line that stays
//! -a line that goes away
//! +a line that appears
//! *** End of File               where the lines end the file
//! *** End Patch
//! ```
//!
//! Text around the patch, such as `apply_patch <<'EOF'`, is passed over. Tolerated: spaces around
//! markers and headers where no line of a hunk is expected, a last marker with spaces before it, blank
//! lines without their leading space, lines that stay without it, blank lines before headers,
//! `@@ -1,2 +1,2 @@` as in a diff, `---` and `+++` lines behind the header of a file, paths in quotes
//! or backticks.
//! Hunks of one file follow each other. One that only adds and says not where adds at the end.

use std::collections::VecDeque;
use std::mem;

use base::Row;

use crate::edit::Change;

use super::lines::Line;
use super::sink::{Sink, empty_hunk, empty_update};
use super::unified::HunkHeader;
use super::{End, Grammar, Severity, Side};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

#[derive(Default)]
pub(super) struct ApplyPatch {
    state: State,
    has_patch: bool,
    /// Whether the patch that is open changed anything or tried to.
    has_changes: bool,
    /// `@@` lines read since the last hunk.
    context: Vec<String>,
    row: Option<Row>,
    /// Whether an `@@` waits for the lines of its hunk.
    has_header: bool,
    /// Whether a hunk of the file that is open could not be read.
    has_skipped: bool,
    /// Blank lines: part of what is open if it goes on.
    held: Vec<Line>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// Outside of a patch.
    #[default]
    Outside,
    /// Where only a header makes sense.
    Headers,
    Add,
    Update(Lines),
    /// After something that could not be read, up to the next header.
    Lost,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    /// Right behind the header of the file.
    NotYet,
    Between,
    InHunk,
    /// The hunk could not be read; up to the next one.
    Skipped,
}

impl Grammar for ApplyPatch {
    fn lookahead(&self, line: &Line) -> usize {
        let is_name = self.state == State::Update(Lines::NotYet) && line.text.starts_with("--- ");
        let may_end = matches!(self.state, State::Update(_)) && is_padded_end(line);
        usize::from(is_name || may_end)
    }

    fn line(&mut self, line: Line, next: &mut VecDeque<Line>, sink: &mut Sink) {
        match self.state {
            State::Outside => self.outside(&line, sink),
            State::Update(Lines::NotYet) if names_old(&line, next) => {
                next.pop_front();
            }
            State::Update(_) => self.update(line, next.front(), sink),
            State::Add if line.is_blank() => self.held.push(line),
            State::Add if line.text.starts_with('+') => self.add_line(&line, sink),
            State::Headers | State::Lost if line.is_blank() => {}
            State::Lost if !is_header(line.trimmed()) => {}
            State::Add if !is_header(line.trimmed()) => self.add_line(&line, sink),
            State::Add | State::Headers | State::Lost => self.header(&line, sink),
        }
    }

    fn end(&mut self, end: &End, _: &mut VecDeque<Line>, sink: &mut Sink) {
        let source = end.offset..end.offset;
        match self.state {
            State::Outside if self.has_patch => {}
            State::Outside => {
                let message = format!("there is no patch here: it begins with \"{BEGIN}\"");
                sink.problem(end.row, source, Severity::Lost, message);
            }
            State::Headers | State::Add | State::Update(_) | State::Lost => {
                // What was open may lack its rest.
                match self.state {
                    State::Add => sink.drop_file(),
                    _ => sink.close_file(),
                }
                let message = format!("the patch is cut off: \"{END}\" is missing");
                sink.problem(end.row, source, Severity::Lost, message);
            }
        }
    }
}

impl ApplyPatch {
    fn outside(&mut self, line: &Line, sink: &mut Sink) {
        let text = line.trimmed();
        if text == BEGIN {
            self.begin();
        } else if [ADD, DELETE, UPDATE]
            .iter()
            .any(|header| starts(&line.text, header))
        {
            sink.tolerated(line, format!("the patch does not begin with \"{BEGIN}\""));
            self.begin();
            self.header(line, sink);
        }
    }

    fn begin(&mut self) {
        self.has_patch = true;
        self.has_changes = false;
        self.state = State::Headers;
    }

    /// A line that is not part of the hunk or added file that is open.
    fn header(&mut self, line: &Line, sink: &mut Sink) {
        let text = line.trimmed();
        if text == END_OF_FILE {
            return self.end_of_file(line, sink);
        }
        if let Some(path) = rest(text, MOVE) {
            return self.move_to(path, line, sink);
        }
        self.close_file(line, sink);
        if text == END {
            if !self.has_changes {
                sink.lost(line, "the patch changes nothing");
            }
            self.state = State::Outside;
        } else if text == BEGIN {
            sink.lost(
                line,
                format!("the patch before this one does not end with \"{END}\""),
            );
            self.begin();
        } else if let Some(path) = rest(text, ADD) {
            self.open(
                path,
                Change::Create {
                    text: String::new(),
                },
                State::Add,
                sink,
            );
        } else if let Some(path) = rest(text, DELETE) {
            let content = None;
            self.open(path, Change::Delete { content }, State::Headers, sink);
        } else if let Some(path) = rest(text, UPDATE) {
            self.open(path, empty_update(), State::Update(Lines::NotYet), sink);
        } else {
            self.lose(line, sink);
        }
    }

    fn open(&mut self, path: &str, change: Change, state: State, sink: &mut Sink) {
        sink.open_file(path, change);
        self.has_changes = true;
        self.state = state;
    }

    fn lose(&mut self, line: &Line, sink: &mut Sink) {
        self.has_changes = true;
        self.state = State::Lost;
        sink.lost(
            line,
            format!(
                "\"{}\" is no header; use \"{ADD}path\", \"{DELETE}path\" or \"{UPDATE}path\"",
                line.trimmed()
            ),
        );
    }

    fn move_to(&mut self, path: &str, line: &Line, sink: &mut Sink) {
        let is_first = self.state == State::Update(Lines::NotYet);
        match sink.file().map(|file| &mut file.change) {
            Some(Change::Update { move_to, .. }) if is_first && move_to.is_none() => {
                *move_to = Some(path.to_owned());
            }
            _ => sink.lost(
                line,
                format!("\"{}\" must follow \"{UPDATE}path\"", MOVE.trim()),
            ),
        }
    }

    fn end_of_file(&mut self, line: &Line, sink: &mut Sink) {
        if let (State::Update(Lines::InHunk), Some(hunk)) = (self.state, sink.hunk()) {
            hunk.at_end = true;
            self.close_hunk(line.source.end, sink);
        }
        // Behind an added file it says what is true anyway.
    }

    fn add_line(&mut self, line: &Line, sink: &mut Sink) {
        let Some(text) = line.text.strip_prefix('+') else {
            sink.drop_file();
            self.held.clear();
            self.state = State::Lost;
            return sink.lost(line, "every line of an added file begins with \"+\"");
        };
        for blank in mem::take(&mut self.held) {
            sink.tolerated(&blank, "a blank line of an added file lacks its \"+\"");
            sink.whole_line("\n");
        }
        sink.whole_line(&format!("{text}\n"));
    }

    fn update(&mut self, line: Line, next: Option<&Line>, sink: &mut Sink) {
        let is_inside = match self.state {
            State::Update(Lines::InHunk | Lines::Skipped) => true,
            _ => self.has_header,
        };
        let is_header = match is_inside {
            true => line.text.starts_with("***") || (is_padded_end(&line) && !goes_on(next)),
            false => is_header(line.trimmed()) || line.text.starts_with("***"),
        };
        if is_header {
            self.header(&line, sink);
        } else if !line.is_blank() || line.text.starts_with(' ') && is_inside {
            self.update_line(&line, sink);
        } else if self.state == State::Update(Lines::InHunk) {
            self.held.push(line);
        } else if self.has_header {
            // Behind `@@` a blank line is one that stays; between hunks it is for the eye.
            self.open_hunk(&line, sink);
            sink.line(Side::Both, "");
        }
    }

    fn update_line(&mut self, line: &Line, sink: &mut Sink) {
        if let Some(header) = line.text.strip_prefix("@@") {
            return self.hunk_header(header, line, sink);
        }
        let (side, text) = match line.text.split_at_checked(1) {
            Some(("+", text)) => (Side::New, text),
            Some(("-", text)) => (Side::Old, text),
            Some((" ", text)) => (Side::Both, text),
            _ if self.state == State::Update(Lines::Between) && !self.has_header => {
                return self.skip_hunk(line, sink);
            }
            _ => {
                if self.state != State::Update(Lines::Skipped) {
                    sink.tolerated(line, "a line that stays lacks the space before it");
                }
                (Side::Both, line.text.as_str())
            }
        };
        match self.state {
            State::Update(Lines::Skipped) => return,
            State::Update(Lines::InHunk) => {}
            _ => self.open_hunk(line, sink),
        }
        for _ in mem::take(&mut self.held) {
            sink.line(Side::Both, "");
        }
        sink.line(side, text);
    }

    fn skip_hunk(&mut self, line: &Line, sink: &mut Sink) {
        sink.drop_hunk();
        self.held.clear();
        self.has_header = false;
        self.context.clear();
        self.row = None;
        if self.state != State::Update(Lines::Skipped) {
            sink.lost(
                line,
                "this line belongs to no hunk; a hunk begins with \"@@\", and each of its lines with \
                 \" \" when it stays, \"-\" when it goes away, \"+\" when it appears",
            );
        }
        self.has_skipped = true;
        self.state = State::Update(Lines::Skipped);
    }

    fn hunk_header(&mut self, header: &str, line: &Line, sink: &mut Sink) {
        self.close_hunk(line.source.start, sink);
        self.state = State::Update(Lines::Between);
        self.has_header = true;
        if let Some(header) = HunkHeader::read(&line.text) {
            self.row = header.row();
        } else if !header.trim().is_empty() {
            let header = header.strip_prefix(' ').unwrap_or(header);
            let header = header.strip_suffix("@@").map_or(header, str::trim_end);
            self.context.push(header.to_owned());
        }
    }

    fn open_hunk(&mut self, line: &Line, sink: &mut Sink) {
        let mut hunk = empty_hunk(line.source.start);
        hunk.context = mem::take(&mut self.context);
        hunk.row = self.row.take();
        hunk.in_order = true;
        self.has_header = false;
        sink.open_hunk(hunk);
        self.state = State::Update(Lines::InHunk);
    }

    fn close_hunk(&mut self, end: usize, sink: &mut Sink) {
        // Blank lines before a header are there for the eye.
        self.held.clear();
        if let Some(hunk) = sink.hunk() {
            let says_no_place = hunk.context.is_empty() && hunk.row.is_none();
            hunk.at_end |= hunk.old.is_empty() && says_no_place;
            sink.close_hunk(end);
        }
        if matches!(self.state, State::Update(_)) {
            self.state = State::Update(Lines::Between);
        }
    }

    fn close_file(&mut self, line: &Line, sink: &mut Sink) {
        self.close_hunk(line.source.start, sink);
        let has_header = mem::take(&mut self.has_header);
        self.context.clear();
        self.row = None;
        let is_empty = sink.file().is_some_and(|file| {
            matches!(&file.change, Change::Update { hunks, move_to: None } if hunks.is_empty())
        });
        if has_header || (is_empty && !self.has_skipped) {
            sink.lost(
                line,
                "the update before this line lacks lines that say what changes",
            );
        }
        self.has_skipped = false;
        sink.close_file();
    }
}

/// Whether this line and the next are those by which a diff names a file.
fn names_old(line: &Line, next: &VecDeque<Line>) -> bool {
    let is_new = next
        .front()
        .is_some_and(|line| line.text.starts_with("+++ "));
    line.text.starts_with("--- ") && is_new
}

fn is_padded_end(line: &Line) -> bool {
    line.trimmed() == END && line.text.starts_with(' ')
}

/// Whether a line that follows what may be the last marker shows that the hunk is not over.
fn goes_on(next: Option<&Line>) -> bool {
    next.is_some_and(|line| {
        [" ", "+", "-", "@@", "*** "]
            .iter()
            .any(|start| line.text.starts_with(start))
    })
}

fn is_header(text: &str) -> bool {
    text == END
        || text == BEGIN
        || text == END_OF_FILE
        || [ADD, DELETE, UPDATE, MOVE]
            .iter()
            .any(|header| starts(text, header))
}

fn starts(text: &str, header: &str) -> bool {
    rest(text.trim(), header).is_some()
}

/// The path behind a header.
fn rest<'a>(text: &'a str, header: &str) -> Option<&'a str> {
    let path = text.strip_prefix(header.trim_end())?.trim();
    let path = path.trim_matches('*').trim_matches(['`', '"', '\'']).trim();
    (!path.is_empty()).then_some(path)
}
