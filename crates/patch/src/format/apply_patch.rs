//! The `*** Begin Patch` format.
//!
//! ```text
//! *** Begin Patch
//! *** Add File: path            followed by `+` lines
//! *** Delete File: path
//! *** Update File: path
//! *** Move to: other path       may follow an Update
//! @@ a preceding line           repeatable, the outermost first; or `@@` alone
//!  an unchanged line
//! -a removed line
//! +an added line
//! *** End of File               if the lines end the file
//! *** End Patch
//! ```
//!
//! Text around the patch, such as `apply_patch <<'EOF'`, is ignored. Tolerated: spaces around markers
//! and headers outside of hunks, an indented end marker, blank and other unchanged lines without
//! their leading space, blank lines before headers, `@@ -1,2 +1,2 @@` as in a diff, `---` and `+++`
//! lines after the header of a file, paths in quotes or backticks.
//!
//! Hunks of one file are in order. A hunk that only adds lines and gives no position appends them.

use std::collections::VecDeque;
use std::mem;

use base::Row;

use crate::edit::PatchOperation;

use super::line_splitter::SourceLine;
use super::sink::{EventSink, empty_hunk, empty_update};
use super::unified::HunkHeader;
use super::{FormatGrammar, HunkSide, Severity, TextEnd};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// Parser of patches between `*** Begin Patch` and `*** End Patch`.
#[derive(Default)]
pub(super) struct ApplyPatchGrammar {
    state: ApplyPatchState,
    has_patch: bool,
    /// Whether the current patch contains changes, even unreadable ones.
    has_changes: bool,
    /// `@@` lines read since the last hunk.
    context: Vec<String>,
    row: Option<Row>,
    /// Whether an `@@` line awaits the lines of its hunk.
    has_header: bool,
    /// Whether a hunk of the current file could not be parsed.
    has_skipped: bool,
    /// Blank lines that belong to the current hunk or file if it continues.
    held: Vec<SourceLine>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum ApplyPatchState {
    /// Outside of a patch.
    #[default]
    Outside,
    /// Only a header is expected.
    Headers,
    Add,
    Update(UpdateState),
    /// After unreadable text, up to the next header.
    Lost,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum UpdateState {
    /// Directly after the header of the file.
    NotYet,
    Between,
    InHunk,
    /// The hunk could not be parsed; skips to the next one.
    Skipped,
}

impl FormatGrammar for ApplyPatchGrammar {
    fn lookahead(&self, line: &SourceLine) -> usize {
        let is_name = self.state == ApplyPatchState::Update(UpdateState::NotYet)
            && line.text.starts_with("--- ");
        let may_end = matches!(self.state, ApplyPatchState::Update(_)) && is_padded_end(line);
        usize::from(is_name || may_end)
    }

    fn on_line(&mut self, line: SourceLine, next: &mut VecDeque<SourceLine>, sink: &mut EventSink) {
        match self.state {
            ApplyPatchState::Outside => self.outside(&line, sink),
            ApplyPatchState::Update(UpdateState::NotYet) if names_old(&line, next) => {
                next.pop_front();
            }
            ApplyPatchState::Update(_) => self.update(line, next.front(), sink),
            ApplyPatchState::Add if line.is_blank() => self.held.push(line),
            ApplyPatchState::Add if line.text.starts_with('+') => self.add_line(&line, sink),
            ApplyPatchState::Headers | ApplyPatchState::Lost if line.is_blank() => {}
            ApplyPatchState::Lost if !is_header(line.trimmed()) => {}
            ApplyPatchState::Add if !is_header(line.trimmed()) => self.add_line(&line, sink),
            ApplyPatchState::Add | ApplyPatchState::Headers | ApplyPatchState::Lost => {
                self.header(&line, sink)
            }
        }
    }

    fn on_end(&mut self, end: &TextEnd, _: &mut VecDeque<SourceLine>, sink: &mut EventSink) {
        let source = end.offset..end.offset;
        match self.state {
            ApplyPatchState::Outside if self.has_patch => {}
            ApplyPatchState::Outside => {
                let message = format!("there is no patch here: it begins with \"{BEGIN}\"");
                sink.problem(end.row, source, Severity::Lost, message);
            }
            ApplyPatchState::Headers
            | ApplyPatchState::Add
            | ApplyPatchState::Update(_)
            | ApplyPatchState::Lost => {
                // The current file may be incomplete.
                match self.state {
                    ApplyPatchState::Add => sink.drop_file(),
                    _ => sink.close_file(),
                }
                let message = format!("the patch is cut off: \"{END}\" is missing");
                sink.problem(end.row, source, Severity::Lost, message);
            }
        }
    }
}

impl ApplyPatchGrammar {
    fn outside(&mut self, line: &SourceLine, sink: &mut EventSink) {
        let text = line.trimmed();
        if text == BEGIN {
            self.begin_patch();
        } else if [ADD, DELETE, UPDATE]
            .iter()
            .any(|header| starts(&line.text, header))
        {
            sink.tolerated(line, format!("the patch does not begin with \"{BEGIN}\""));
            self.begin_patch();
            self.header(line, sink);
        }
    }

    fn begin_patch(&mut self) {
        self.has_patch = true;
        self.has_changes = false;
        self.state = ApplyPatchState::Headers;
    }

    /// Handles a line that is not part of the current hunk or added file.
    fn header(&mut self, line: &SourceLine, sink: &mut EventSink) {
        let text = line.trimmed();
        if text == END_OF_FILE {
            return self.end_of_file(line, sink);
        }
        if let Some(path) = path_after(text, MOVE) {
            return self.move_to(path, line, sink);
        }
        self.close_file(line, sink);
        if text == END {
            if !self.has_changes {
                sink.lost(line, "the patch changes nothing");
            }
            self.state = ApplyPatchState::Outside;
        } else if text == BEGIN {
            sink.lost(
                line,
                format!("the patch before this one does not end with \"{END}\""),
            );
            self.begin_patch();
        } else if let Some(path) = path_after(text, ADD) {
            self.open(
                path,
                PatchOperation::Create {
                    text: String::new(),
                },
                ApplyPatchState::Add,
                sink,
            );
        } else if let Some(path) = path_after(text, DELETE) {
            let content = None;
            self.open(
                path,
                PatchOperation::Delete { content },
                ApplyPatchState::Headers,
                sink,
            );
        } else if let Some(path) = path_after(text, UPDATE) {
            self.open(
                path,
                empty_update(),
                ApplyPatchState::Update(UpdateState::NotYet),
                sink,
            );
        } else {
            self.lose(line, sink);
        }
    }

    fn open(
        &mut self,
        path: &str,
        change: PatchOperation,
        state: ApplyPatchState,
        sink: &mut EventSink,
    ) {
        sink.open_file(path, change);
        self.has_changes = true;
        self.state = state;
    }

    fn lose(&mut self, line: &SourceLine, sink: &mut EventSink) {
        self.has_changes = true;
        self.state = ApplyPatchState::Lost;
        sink.lost(
            line,
            format!(
                "\"{}\" is not a header; use \"{ADD}path\", \"{DELETE}path\" or \"{UPDATE}path\"",
                line.trimmed()
            ),
        );
    }

    fn move_to(&mut self, path: &str, line: &SourceLine, sink: &mut EventSink) {
        let is_first = self.state == ApplyPatchState::Update(UpdateState::NotYet);
        match sink.file().map(|file| &mut file.change) {
            Some(PatchOperation::Update { move_to, .. }) if is_first && move_to.is_none() => {
                *move_to = Some(path.to_owned());
            }
            _ => sink.lost(
                line,
                format!("\"{}\" must follow \"{UPDATE}path\"", MOVE.trim()),
            ),
        }
    }

    fn end_of_file(&mut self, line: &SourceLine, sink: &mut EventSink) {
        if let (ApplyPatchState::Update(UpdateState::InHunk), Some(hunk)) =
            (self.state, sink.hunk())
        {
            hunk.at_end = true;
            self.close_hunk(line.source.end, sink);
        }
        // After an added file the marker is redundant.
    }

    fn add_line(&mut self, line: &SourceLine, sink: &mut EventSink) {
        let Some(text) = line.text.strip_prefix('+') else {
            sink.drop_file();
            self.held.clear();
            self.state = ApplyPatchState::Lost;
            return sink.lost(line, "every line of an added file begins with \"+\"");
        };
        for blank in mem::take(&mut self.held) {
            sink.tolerated(&blank, "a blank line of an added file lacks its \"+\"");
            sink.whole_line("\n");
        }
        sink.whole_line(&format!("{text}\n"));
    }

    fn update(&mut self, line: SourceLine, next: Option<&SourceLine>, sink: &mut EventSink) {
        let is_inside = match self.state {
            ApplyPatchState::Update(UpdateState::InHunk | UpdateState::Skipped) => true,
            _ => self.has_header,
        };
        let is_header = if is_inside {
            line.text.starts_with("***") || (is_padded_end(&line) && !goes_on(next))
        } else {
            is_header(line.trimmed()) || line.text.starts_with("***")
        };
        if is_header {
            self.header(&line, sink);
        } else if !line.is_blank() || line.text.starts_with(' ') && is_inside {
            self.update_line(&line, sink);
        } else if self.state == ApplyPatchState::Update(UpdateState::InHunk) {
            self.held.push(line);
        } else if self.has_header {
            // A blank line after `@@` is an unchanged line; between hunks it is ignored.
            self.open_hunk(&line, sink);
            sink.push_line(HunkSide::Both, "");
        }
    }

    fn update_line(&mut self, line: &SourceLine, sink: &mut EventSink) {
        if let Some(header) = line.text.strip_prefix("@@") {
            return self.hunk_header(header, line, sink);
        }
        let (side, text) = match line.text.split_at_checked(1) {
            Some(("+", text)) => (HunkSide::New, text),
            Some(("-", text)) => (HunkSide::Old, text),
            Some((" ", text)) => (HunkSide::Both, text),
            _ if self.state == ApplyPatchState::Update(UpdateState::Between)
                && !self.has_header =>
            {
                return self.skip_hunk(line, sink);
            }
            _ => {
                if self.state != ApplyPatchState::Update(UpdateState::Skipped) {
                    sink.tolerated(line, "an unchanged line lacks its leading space");
                }
                (HunkSide::Both, line.text.as_str())
            }
        };
        match self.state {
            ApplyPatchState::Update(UpdateState::Skipped) => return,
            ApplyPatchState::Update(UpdateState::InHunk) => {}
            _ => self.open_hunk(line, sink),
        }
        for _ in mem::take(&mut self.held) {
            sink.push_line(HunkSide::Both, "");
        }
        sink.push_line(side, text);
    }

    fn skip_hunk(&mut self, line: &SourceLine, sink: &mut EventSink) {
        sink.drop_hunk();
        self.held.clear();
        self.has_header = false;
        self.context.clear();
        self.row = None;
        if self.state != ApplyPatchState::Update(UpdateState::Skipped) {
            sink.lost(
                line,
                "this line belongs to no hunk; a hunk begins with \"@@\", and each of its lines with \
                 \" \" when it stays, \"-\" when it goes away, \"+\" when it appears",
            );
        }
        self.has_skipped = true;
        self.state = ApplyPatchState::Update(UpdateState::Skipped);
    }

    fn hunk_header(&mut self, header: &str, line: &SourceLine, sink: &mut EventSink) {
        self.close_hunk(line.source.start, sink);
        self.state = ApplyPatchState::Update(UpdateState::Between);
        self.has_header = true;
        if let Some(header) = HunkHeader::read(&line.text) {
            self.row = header.row();
        } else if !header.trim().is_empty() {
            let header = header.strip_prefix(' ').unwrap_or(header);
            let header = header.strip_suffix("@@").map_or(header, str::trim_end);
            self.context.push(header.to_owned());
        }
    }

    fn open_hunk(&mut self, line: &SourceLine, sink: &mut EventSink) {
        let mut hunk = empty_hunk(line.source.start);
        hunk.context = mem::take(&mut self.context);
        hunk.row = self.row.take();
        hunk.in_order = true;
        self.has_header = false;
        sink.open_hunk(hunk);
        self.state = ApplyPatchState::Update(UpdateState::InHunk);
    }

    fn close_hunk(&mut self, end: usize, sink: &mut EventSink) {
        // Blank lines before a header are ignored.
        self.held.clear();
        if let Some(hunk) = sink.hunk() {
            let says_no_place = hunk.context.is_empty() && hunk.row.is_none();
            hunk.at_end |= hunk.old.is_empty() && says_no_place;
            sink.close_hunk(end);
        }
        if matches!(self.state, ApplyPatchState::Update(_)) {
            self.state = ApplyPatchState::Update(UpdateState::Between);
        }
    }

    fn close_file(&mut self, line: &SourceLine, sink: &mut EventSink) {
        self.close_hunk(line.source.start, sink);
        let has_header = mem::take(&mut self.has_header);
        self.context.clear();
        self.row = None;
        let is_empty = sink.file().is_some_and(|file| {
            matches!(&file.change, PatchOperation::Update { hunks, move_to: None } if hunks.is_empty())
        });
        if has_header || (is_empty && !self.has_skipped) {
            sink.lost(line, "the update before this line contains no changes");
        }
        self.has_skipped = false;
        sink.close_file();
    }
}

/// Whether this line and the next are the file names of a unified diff.
fn names_old(line: &SourceLine, next: &VecDeque<SourceLine>) -> bool {
    let is_new = next
        .front()
        .is_some_and(|line| line.text.starts_with("+++ "));
    line.text.starts_with("--- ") && is_new
}

/// Whether a line is the end marker with a leading space, which may also be an unchanged line.
fn is_padded_end(line: &SourceLine) -> bool {
    line.trimmed() == END && line.text.starts_with(' ')
}

/// Whether the line after a possible end marker shows that the hunk continues.
fn goes_on(next: Option<&SourceLine>) -> bool {
    next.is_some_and(|line| {
        [" ", "+", "-", "@@", "*** "]
            .iter()
            .any(|start| line.text.starts_with(start))
    })
}

/// Whether a trimmed line is a marker of the format, or the header of a file with a path.
fn is_header(text: &str) -> bool {
    text == END
        || text == BEGIN
        || text == END_OF_FILE
        || [ADD, DELETE, UPDATE, MOVE]
            .iter()
            .any(|header| starts(text, header))
}

/// Whether a line, apart from surrounding white space, is this header with a path after it.
fn starts(text: &str, header: &str) -> bool {
    path_after(text.trim(), header).is_some()
}

/// Returns the path after a header.
fn path_after<'a>(text: &'a str, header: &str) -> Option<&'a str> {
    let path = text.strip_prefix(header.trim_end())?.trim();
    let path = path.trim_matches('*').trim_matches(['`', '"', '\'']).trim();
    (!path.is_empty()).then_some(path)
}
