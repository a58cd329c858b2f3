//! Unified diffs, as `diff -u` and git write them, and as models write them.
//!
//! Tolerated: counts in a hunk's header that do not fit its lines, headers without numbers
//! (`@@ ... @@`), lines that stay without their leading space, text before, between and after the
//! files. As for Git, a hunk with nothing behind its changes belongs at the end of the file if its text
//! stands there, and a diff that deletes a file must quote all of it. A last line without its line feed
//! is taken only where it cannot have been cut. Where the lines of a hunk end in `\r\n` and its header
//! does not, the `\r` are part of the lines.
//! A file mode is not changed by an edit; what says so is passed over with a problem.

mod header;

use std::collections::VecDeque;
use std::mem;

use crate::edit::{Change, Grain, Hunk};

use super::lines::{Ending, Line};
use super::sink::{Sink, empty_hunk};
use super::{End, Grammar, Severity, Side};

pub(super) use self::header::HunkHeader;
use self::header::{Names, git_names, name, unquoted};

#[derive(Default)]
pub(super) struct UnifiedDiff {
    /// What headers have said about the file so far.
    names: Names,
    /// Whether the file that the headers speak of was opened.
    is_open: bool,
    hunk: Option<OpenHunk>,
    /// Blank lines: lines that stay, if the hunk goes on.
    held: Vec<Line>,
    has_diff: bool,
    /// Row of the hunk before, for hunks in order.
    last_row: u32,
    /// Whether what follows cannot be read up to the next file.
    is_binary: bool,
    /// Whether the hunk before has fewer lines than its header says.
    is_short: bool,
    /// The last line, where it has no line feed and belongs to no hunk.
    cut: Option<Line>,
}

/// The hunk being read, as its header counts it.
struct OpenHunk {
    header: Line,
    /// Lines still due on either side; `None` where the header has no numbers.
    due: Option<(u32, u32)>,
    /// Whether there were lines beyond those.
    has_too_many: bool,
    first_side: Option<Side>,
    last_side: Option<Side>,
    last_ending: Ending,
    /// Which versions end without a line feed.
    old_is_bare: bool,
    new_is_bare: bool,
}

impl OpenHunk {
    fn is_satisfied(&self) -> bool {
        self.due == Some((0, 0))
    }

    fn has_wrong_counts(&self) -> bool {
        self.has_too_many || self.due.is_some_and(|due| due != (0, 0))
    }

    /// Whether the hunk, with which the text ends, may lack its rest.
    fn is_torn(&self) -> bool {
        let ends_in_change = matches!(self.last_side, Some(Side::Old | Side::New));
        match (self.last_ending, self.due) {
            (Ending::None, _) if self.last_side == Some(Side::New) => true,
            (Ending::None, Some(due)) => due != (0, 0),
            // Lines of one version alone are missing: they are no context.
            (_, Some((0, 1..) | (1.., 0))) => ends_in_change,
            _ => false,
        }
    }

    /// Whether lines that stay come before the changes and none behind them.
    fn is_one_sided(&self) -> bool {
        self.first_side == Some(Side::Both) && self.last_side != Some(Side::Both)
    }

    fn settle_end(&self, hunk: &mut Hunk) {
        hunk.at_end = self.old_is_bare || self.new_is_bare || self.is_one_sided();
        if self.old_is_bare == self.new_is_bare {
            return;
        }
        // The final line feed itself changes, so these are no longer whole lines.
        hunk.grain = Grain::Text;
        for (text, is_bare) in [
            (&mut hunk.old, self.old_is_bare),
            (&mut hunk.new, self.new_is_bare),
        ] {
            if is_bare {
                text.pop();
            }
        }
    }

    fn count(&mut self, side: Side) {
        if let Some((old, new)) = &mut self.due {
            for (due, counts) in [(old, side != Side::New), (new, side != Side::Old)] {
                if counts {
                    self.has_too_many |= *due == 0;
                    *due = due.saturating_sub(1);
                }
            }
        }
    }
}

impl Grammar for UnifiedDiff {
    fn lookahead(&self, line: &Line) -> usize {
        match self.hunk {
            Some(_) if line.text.starts_with("--- ") => 2,
            Some(_) if !line.text.is_empty() && !has_sign(line) => 1,
            _ => 0,
        }
    }

    fn line(&mut self, line: Line, next: &mut VecDeque<Line>, sink: &mut Sink) {
        if self.hunk.is_some() && self.is_in_hunk(&line, next) {
            return self.hunk_line(line, sink);
        }
        self.close_hunk(line.source.start, sink);
        self.header(&line, sink);
        self.cut = (line.ending == Ending::None).then_some(line);
    }

    fn end(&mut self, end: &End, _: &mut VecDeque<Line>, sink: &mut Sink) {
        if self.is_torn() {
            self.hunk = None;
            sink.drop_hunk();
            let message = "the diff is cut off: its last hunk lacks lines, or its last line lacks its \
                           line feed; send all of it again";
            sink.problem(end.row, end.offset..end.offset, Severity::Lost, message);
        }
        self.close_hunk(end.offset, sink);
        self.close_file(sink);
        if !self.has_diff {
            let message =
                "there is no diff here: a file begins with \"--- a/path\" and \"+++ b/path\"";
            sink.problem(end.row, end.offset..end.offset, Severity::Lost, message);
        }
    }
}

impl UnifiedDiff {
    fn is_in_hunk(&self, line: &Line, next: &VecDeque<Line>) -> bool {
        let Some(hunk) = &self.hunk else { return false };
        let is_satisfied = hunk.is_satisfied();
        if line.text.is_empty() {
            return !is_satisfied;
        }
        if line.text.starts_with("--- ") && begins_file(next) {
            // A removed `-- a` before an added `++ b` looks the same: the counts tell.
            return hunk.due == Some((1, 1))
                || matches!(hunk.due, Some((old, new)) if old > 1 && new > 1);
        }
        let is_signature = is_satisfied && line.text.trim_end() == "--";
        // After a blank line that was not due, what follows is other text.
        !is_signature && (has_sign(line) || self.lacks_space(line, next.front()))
    }

    /// Whether this is a line of the hunk that stays and lacks the space before it.
    fn lacks_space(&self, line: &Line, next: Option<&Line>) -> bool {
        let due = self.hunk.as_ref().and_then(|hunk| hunk.due);
        let goes_on = next.is_some_and(|next| has_sign(next) && !next.text.starts_with("- "));
        let is_due = match due {
            Some((1, 1)) => true,
            Some((old, new)) => old > 0 && new > 0 && goes_on,
            None => goes_on,
        };
        is_due && !is_header(&line.text)
    }

    fn is_torn(&self) -> bool {
        let names_no_change = self.names.is_git
            && !self.is_open
            && !self.is_binary
            && !self.names.is_mode_only
            && !self.names.says_something();
        let is_cut = self.cut.as_ref().is_some_and(|line| {
            let text = line.text.as_str();
            let is_name = text.starts_with("--- ") || text.starts_with("+++ ");
            let starts = ["diff --git ", "--- ", "+++ ", "@@ -"];
            let may_begin = starts.iter().any(|start| start.starts_with(text));
            let is_header = self.names.is_git && !self.is_open;
            self.has_diff && (is_name || may_begin || is_header)
        });
        let is_torn = self.hunk.as_ref().is_some_and(OpenHunk::is_torn);
        is_torn || names_no_change || is_cut
    }

    fn hunk_line(&mut self, line: Line, sink: &mut Sink) {
        if line.text.is_empty() {
            return self.held.push(line);
        }
        let (side, text) = match line.text.as_bytes().first() {
            Some(b'+') => (Side::New, &line.text[1..]),
            Some(b'-') => (Side::Old, &line.text[1..]),
            Some(b'\\') => return self.bare_end(),
            Some(b' ') => (Side::Both, &line.text[1..]),
            _ => {
                sink.tolerated(&line, "a line that stays lacks the space before it");
                (Side::Both, line.text.as_str())
            }
        };
        for blank in mem::take(&mut self.held) {
            self.take(Side::Both, "", blank.ending, sink);
        }
        self.take(side, text, line.ending, sink);
    }

    fn take(&mut self, side: Side, text: &str, ending: Ending, sink: &mut Sink) {
        let Some(hunk) = &mut self.hunk else { return };
        hunk.count(side);
        hunk.first_side.get_or_insert(side);
        hunk.last_side = Some(side);
        hunk.last_ending = ending;
        match ending == Ending::CrLf && hunk.header.ending == Ending::Lf {
            true => sink.line(side, &format!("{text}\r")),
            false => sink.line(side, text),
        }
    }

    /// `\ No newline at end of file`: the line before it has no line feed.
    fn bare_end(&mut self) {
        if let Some(hunk) = &mut self.hunk {
            hunk.old_is_bare |= hunk.last_side.is_some_and(|side| side != Side::New);
            hunk.new_is_bare |= hunk.last_side.is_some_and(|side| side != Side::Old);
        }
    }

    fn header(&mut self, line: &Line, sink: &mut Sink) {
        let text = line.text.as_str();
        if let Some(names) = text.strip_prefix("diff --git ") {
            self.close_file(sink);
            self.has_diff = true;
            (self.names.old, self.names.new) = git_names(names);
            self.names.is_git = true;
        } else if let Some(old) = text.strip_prefix("--- ") {
            self.old_name(old, sink);
        } else if let Some(new) = text.strip_prefix("+++ ") {
            self.new_name(new, line, sink);
        } else if text.starts_with("@@") {
            self.hunk_header(line, sink);
        } else if self.names.is_git && !self.is_open {
            self.git_header(line, sink);
        } else if self.is_short && text.starts_with(['+', '-']) && !text.starts_with("- ") {
            self.is_short = false;
            sink.lost(
                line,
                "this line belongs to no hunk: the line before it has none of the signs \" \", \"-\" \
                 and \"+\"",
            );
        }
    }

    fn git_header(&mut self, line: &Line, sink: &mut Sink) {
        let text = line.text.as_str();
        if text.starts_with("new file mode ") {
            self.names.is_new = true;
        } else if text.starts_with("deleted file mode ") {
            self.names.is_gone = true;
        } else if let Some(path) = text.strip_prefix("rename from ") {
            self.names.renamed_from = Some(unquoted(path));
        } else if let Some(path) = text.strip_prefix("rename to ") {
            self.names.renamed_to = Some(unquoted(path));
        } else if text.starts_with("copy from ") {
            self.is_binary = true;
            sink.lost(line, "a copy is not applied; write the new file whole");
        } else if text.starts_with("new mode ") {
            self.names.is_mode_only = true;
            sink.tolerated(line, "the file's mode stays as it is");
        } else if text.starts_with("Binary files ") || text == "GIT binary patch" {
            self.is_binary = true;
            sink.lost(line, "a change of a binary file is not applied");
        }
    }

    fn old_name(&mut self, old: &str, sink: &mut Sink) {
        let is_of_git_header = self.names.is_git && !self.is_open && !self.names.has_old;
        if !is_of_git_header {
            self.close_file(sink);
        }
        self.names.old = name(old);
        self.names.has_old = true;
        self.has_diff = true;
    }

    fn new_name(&mut self, new: &str, line: &Line, sink: &mut Sink) {
        if !self.names.has_old {
            return sink.lost(line, "a \"+++\" line must follow a \"---\" line");
        }
        self.names.new = name(new);
        self.open_file(line, sink);
    }

    fn open_file(&mut self, line: &Line, sink: &mut Sink) {
        self.is_open = true;
        if self.is_binary {
            return;
        }
        let (path, change) = match self.names.target() {
            Ok(target) => target,
            Err(problem) => return sink.lost(line, problem),
        };
        if self.names.differ() {
            sink.tolerated(
                line,
                "the two names differ; the second is the file that changes",
            );
        }
        self.last_row = 0;
        sink.open_file(&path, change);
    }

    fn hunk_header(&mut self, line: &Line, sink: &mut Sink) {
        if !self.is_open {
            if self.names.new.is_none() {
                return sink.lost(
                    line,
                    "this hunk names no file; write \"--- a/path\" and \"+++ b/path\" first",
                );
            }
            self.open_file(line, sink);
        }
        let header = HunkHeader::read(&line.text);
        let mut hunk = empty_hunk(line.source.start);
        hunk.row = header.as_ref().and_then(HunkHeader::row);
        hunk.in_order = hunk.row.is_none_or(|row| row.0 >= self.last_row);
        self.last_row = hunk.row.map_or(self.last_row, |row| row.0);
        if header.is_none() {
            hunk.context.extend(HunkHeader::words(&line.text));
        }
        self.hunk = Some(OpenHunk {
            header: line.clone(),
            due: header.as_ref().map(|header| (header.old.1, header.new.1)),
            has_too_many: false,
            first_side: None,
            last_side: None,
            last_ending: Ending::Lf,
            old_is_bare: false,
            new_is_bare: false,
        });
        // Where the file cannot change, its hunks are only passed over.
        if sink.file().is_some() {
            sink.open_hunk(hunk);
        }
    }

    fn close_hunk(&mut self, end: usize, sink: &mut Sink) {
        let held = mem::take(&mut self.held);
        let due = self.hunk.as_ref().and_then(|hunk| hunk.due);
        // Of blank lines at the end those are meant that the header counts.
        let stay = due.map_or(0, |(old, new)| old.min(new));
        for (_, blank) in (0..stay).zip(held) {
            self.take(Side::Both, "", blank.ending, sink);
        }
        let Some(open) = self.hunk.take() else { return };
        self.is_short = open.due.is_some_and(|due| due != (0, 0));
        let Some(hunk) = sink.hunk() else { return };
        if hunk.old.is_empty() && hunk.new.is_empty() {
            sink.drop_hunk();
            return sink.lost(&open.header, "this hunk has no lines");
        }
        open.settle_end(hunk);
        let keeps_text = !hunk.new.is_empty();
        let is_deletion = sink
            .file()
            .is_some_and(|file| matches!(file.change, Change::Delete { .. }));
        if is_deletion && keeps_text {
            sink.drop_hunk();
            return sink.lost(
                &open.header,
                "this hunk keeps lines of a file that the diff deletes",
            );
        }
        if open.has_wrong_counts() {
            sink.tolerated(
                &open.header,
                "the counts in this hunk's header do not fit its lines",
            );
        }
        sink.close_hunk(end);
    }

    fn close_file(&mut self, sink: &mut Sink) {
        let names = mem::take(&mut self.names);
        let was_open = mem::take(&mut self.is_open);
        let is_binary = mem::take(&mut self.is_binary);
        if !was_open
            && names.is_git
            && !is_binary
            && names.says_something()
            && let Ok((path, change)) = names.target()
        {
            sink.open_file(&path, change);
        }
        sink.close_file();
    }
}

/// Whether a line begins as those of a hunk do.
fn has_sign(line: &Line) -> bool {
    line.text.starts_with([' ', '+', '-', '\\'])
}

/// Whether a line is one that stands between hunks or files, or around the diff.
fn is_header(text: &str) -> bool {
    const STARTS: [&str; 16] = [
        "@@",
        "diff ",
        "index ",
        "Index: ",
        "====",
        "```",
        "~~~",
        "***",
        "new file mode ",
        "deleted file mode ",
        "old mode ",
        "new mode ",
        "similarity index ",
        "rename ",
        "copy ",
        "Binary files ",
    ];
    STARTS.iter().any(|start| text.starts_with(start))
}

/// Whether a `---` line with these behind it begins a file.
fn begins_file(next: &VecDeque<Line>) -> bool {
    let starts = |ix: usize, start| {
        next.get(ix)
            .is_some_and(|line| line.text.starts_with(start))
    };
    starts(0, "+++ ") && starts(1, "@@")
}
