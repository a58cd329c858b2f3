//! Unified diffs, as written by `diff -u`, by Git, and by models.
//!
//! Tolerated: counts in a hunk header that do not match its lines, headers without numbers (`@@ ...
//! @@`), unchanged lines without their leading space, text before, between and after the files. As
//! in Git, a hunk without trailing context belongs at the end of the file if its text is there, and
//! a diff that deletes a file must quote all of it. A last line without a line feed is accepted
//! only if it cannot have been cut. If the lines of a hunk end in `\r\n` and its header does not,
//! the `\r` belongs to the lines.
//!
//! Edits do not change file modes; a mode change is ignored and reported as a problem.

mod header;

use std::collections::VecDeque;
use std::mem;

use crate::edit::{Grain, PatchHunk, PatchOperation};

use super::line_splitter::{LineTerminator, SourceLine};
use super::sink::{EventSink, empty_hunk};
use super::{FormatGrammar, HunkSide, Severity, TextEnd};

pub(super) use self::header::HunkHeader;
use self::header::{HeaderNames, git_names, name, unquoted};

/// Parser of unified diffs.
#[derive(Default)]
pub(super) struct UnifiedDiffGrammar {
    /// Content of the file headers so far.
    names: HeaderNames,
    /// Whether the file that the headers describe was opened.
    is_open: bool,
    hunk: Option<OpenHunk>,
    /// Blank lines, which are unchanged lines if the hunk continues.
    held: Vec<SourceLine>,
    has_diff: bool,
    /// Row of the preceding hunk, for hunks in order.
    last_row: u32,
    /// Whether to skip everything up to the next file.
    is_binary: bool,
    /// Whether the preceding hunk has fewer lines than its header says.
    is_short: bool,
    /// The last line, if it has no line feed and belongs to no hunk.
    cut: Option<SourceLine>,
}

/// The current hunk, counted against its header.
struct OpenHunk {
    header: SourceLine,
    /// Remaining lines on either side; `None` if the header has no numbers.
    due: Option<(u32, u32)>,
    /// Whether there were more lines than the header says.
    has_too_many: bool,
    first_side: Option<HunkSide>,
    last_side: Option<HunkSide>,
    last_ending: LineTerminator,
    /// Versions that end without a line feed.
    old_is_bare: bool,
    new_is_bare: bool,
}

impl OpenHunk {
    /// Whether both sides have all lines that the header announces; `false` if it has no numbers.
    fn is_satisfied(&self) -> bool {
        self.due == Some((0, 0))
    }

    /// Whether either side has more or fewer lines than the header announces; `false` if it has no
    /// numbers.
    fn has_wrong_counts(&self) -> bool {
        self.has_too_many || self.due.is_some_and(|due| due != (0, 0))
    }

    /// Whether this hunk at the end of the text may be incomplete.
    fn is_torn(&self) -> bool {
        let ends_in_change = matches!(self.last_side, Some(HunkSide::Old | HunkSide::New));
        match (self.last_ending, self.due) {
            (LineTerminator::None, _) if self.last_side == Some(HunkSide::New) => true,
            (LineTerminator::None, Some(due)) => due != (0, 0),
            // Lines of one version alone are missing, so they are not context.
            (_, Some((0, 1..) | (1.., 0))) => ends_in_change,
            _ => false,
        }
    }

    /// Whether the hunk has leading context but no trailing context.
    fn is_one_sided(&self) -> bool {
        self.first_side == Some(HunkSide::Both) && self.last_side != Some(HunkSide::Both)
    }

    fn settle_end(&self, hunk: &mut PatchHunk) {
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

    fn count(&mut self, side: HunkSide) {
        if let Some((old, new)) = &mut self.due {
            for (due, counts) in [(old, side != HunkSide::New), (new, side != HunkSide::Old)] {
                if counts {
                    self.has_too_many |= *due == 0;
                    *due = due.saturating_sub(1);
                }
            }
        }
    }
}

impl FormatGrammar for UnifiedDiffGrammar {
    fn lookahead(&self, line: &SourceLine) -> usize {
        match self.hunk {
            Some(_) if line.text.starts_with("--- ") => 2,
            Some(_) if !line.text.is_empty() && !has_sign(line) => 1,
            _ => 0,
        }
    }

    fn on_line(&mut self, line: SourceLine, next: &mut VecDeque<SourceLine>, sink: &mut EventSink) {
        if self.hunk.is_some() && self.is_in_hunk(&line, next) {
            return self.hunk_line(line, sink);
        }
        self.close_hunk(line.source.start, sink);
        self.header(&line, sink);
        self.cut = (line.ending == LineTerminator::None).then_some(line);
    }

    fn on_end(&mut self, end: &TextEnd, _: &mut VecDeque<SourceLine>, sink: &mut EventSink) {
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

impl UnifiedDiffGrammar {
    /// Whether a line belongs to the open hunk; `false` if none is open. `next` are the lines after
    /// it, as many as `lookahead` asked for.
    fn is_in_hunk(&self, line: &SourceLine, next: &VecDeque<SourceLine>) -> bool {
        let Some(hunk) = &self.hunk else { return false };
        let is_satisfied = hunk.is_satisfied();
        if line.text.is_empty() {
            return !is_satisfied;
        }
        if line.text.starts_with("--- ") && begins_file(next) {
            // A removed `-- a` before an added `++ b` looks the same; the counts decide.
            return hunk.due == Some((1, 1))
                || matches!(hunk.due, Some((old, new)) if old > 1 && new > 1);
        }
        let is_signature = is_satisfied && line.text.trim_end() == "--";
        // Text after an unexpected blank line does not belong to the hunk.
        !is_signature && (has_sign(line) || self.lacks_space(line, next.front()))
    }

    /// Whether this is an unchanged line of the hunk without its leading space.
    fn lacks_space(&self, line: &SourceLine, next: Option<&SourceLine>) -> bool {
        let due = self.hunk.as_ref().and_then(|hunk| hunk.due);
        let goes_on = next.is_some_and(|next| has_sign(next) && !next.text.starts_with("- "));
        let is_due = match due {
            Some((1, 1)) => true,
            Some((old, new)) => old > 0 && new > 0 && goes_on,
            None => goes_on,
        };
        is_due && !is_header(&line.text)
    }

    /// Whether the text may end in the middle of the diff: in a hunk, in the headers of a file, or
    /// in a last line without line feed.
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

    fn hunk_line(&mut self, line: SourceLine, sink: &mut EventSink) {
        if line.text.is_empty() {
            return self.held.push(line);
        }
        let (side, text) = match line.text.as_bytes().first() {
            Some(b'+') => (HunkSide::New, &line.text[1..]),
            Some(b'-') => (HunkSide::Old, &line.text[1..]),
            Some(b'\\') => return self.bare_end(),
            Some(b' ') => (HunkSide::Both, &line.text[1..]),
            _ => {
                sink.tolerated(&line, "an unchanged line lacks its leading space");
                (HunkSide::Both, line.text.as_str())
            }
        };
        for blank in mem::take(&mut self.held) {
            self.take(HunkSide::Both, "", blank.ending, sink);
        }
        self.take(side, text, line.ending, sink);
    }

    fn take(&mut self, side: HunkSide, text: &str, ending: LineTerminator, sink: &mut EventSink) {
        let Some(hunk) = &mut self.hunk else { return };
        hunk.count(side);
        hunk.first_side.get_or_insert(side);
        hunk.last_side = Some(side);
        hunk.last_ending = ending;
        if ending == LineTerminator::CrLf && hunk.header.ending == LineTerminator::Lf {
            sink.push_line(side, &format!("{text}\r"))
        } else {
            sink.push_line(side, text)
        }
    }

    /// Handles `\ No newline at end of file`: the line before it has no line feed.
    fn bare_end(&mut self) {
        if let Some(hunk) = &mut self.hunk {
            hunk.old_is_bare |= hunk.last_side.is_some_and(|side| side != HunkSide::New);
            hunk.new_is_bare |= hunk.last_side.is_some_and(|side| side != HunkSide::Old);
        }
    }

    fn header(&mut self, line: &SourceLine, sink: &mut EventSink) {
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
                "this line belongs to no hunk: the line before it has none of the characters \" \", \"-\" \
                 and \"+\"",
            );
        }
    }

    fn git_header(&mut self, line: &SourceLine, sink: &mut EventSink) {
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

    fn old_name(&mut self, old: &str, sink: &mut EventSink) {
        let is_of_git_header = self.names.is_git && !self.is_open && !self.names.has_old;
        if !is_of_git_header {
            self.close_file(sink);
        }
        self.names.old = name(old);
        self.names.has_old = true;
        self.has_diff = true;
    }

    fn new_name(&mut self, new: &str, line: &SourceLine, sink: &mut EventSink) {
        if !self.names.has_old {
            return sink.lost(line, "a \"+++\" line must follow a \"---\" line");
        }
        self.names.new = name(new);
        self.open_file(line, sink);
    }

    fn open_file(&mut self, line: &SourceLine, sink: &mut EventSink) {
        self.is_open = true;
        if self.is_binary {
            return;
        }
        let Some((path, change)) = self.names.target() else {
            return sink.lost(line, "neither \"---\" nor \"+++\" names a file");
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

    fn hunk_header(&mut self, line: &SourceLine, sink: &mut EventSink) {
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
            hunk.context.extend(HunkHeader::header_text(&line.text));
        }
        self.hunk = Some(OpenHunk {
            header: line.clone(),
            due: header.as_ref().map(|header| (header.old.1, header.new.1)),
            has_too_many: false,
            first_side: None,
            last_side: None,
            last_ending: LineTerminator::Lf,
            old_is_bare: false,
            new_is_bare: false,
        });
        // Without an open file its hunks are skipped.
        if sink.file().is_some() {
            sink.open_hunk(hunk);
        }
    }

    fn close_hunk(&mut self, end: usize, sink: &mut EventSink) {
        let held = mem::take(&mut self.held);
        let due = self.hunk.as_ref().and_then(|hunk| hunk.due);
        // Trailing blank lines count as context as far as the header includes them.
        let stay = due.map_or(0, |(old, new)| old.min(new));
        for (_, blank) in (0..stay).zip(held) {
            self.take(HunkSide::Both, "", blank.ending, sink);
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
            .is_some_and(|file| matches!(file.change, PatchOperation::Delete { .. }));
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
                "the counts in this hunk's header do not match its lines",
            );
        }
        sink.close_hunk(end);
    }

    fn close_file(&mut self, sink: &mut EventSink) {
        let names = mem::take(&mut self.names);
        let was_open = mem::take(&mut self.is_open);
        let is_binary = mem::take(&mut self.is_binary);
        if !was_open
            && names.is_git
            && !is_binary
            && names.says_something()
            && let Some((path, change)) = names.target()
        {
            sink.open_file(&path, change);
        }
        sink.close_file();
    }
}

/// Whether a line begins with a hunk marker character.
fn has_sign(line: &SourceLine) -> bool {
    line.text.starts_with([' ', '+', '-', '\\'])
}

/// Whether a line occurs between hunks or files, or around the diff.
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

/// Whether a `---` line followed by these lines begins a file.
fn begins_file(next: &VecDeque<SourceLine>) -> bool {
    let starts = |ix: usize, start| {
        next.get(ix)
            .is_some_and(|line| line.text.starts_with(start))
    };
    starts(0, "+++ ") && starts(1, "@@")
}
