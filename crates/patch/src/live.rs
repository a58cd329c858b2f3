//! Live preview of the edits of one file while the model writes them.
//!
//! After every complete line the hunks so far are planned again, and the difference to the text
//! shown before is emitted as small edits. The final text is therefore the one that `plan` gives
//! for the finished hunks, regardless of intermediate states.
//!
//! Part of a hunk is shown only if its old text so far matches uniquely by one of the stricter
//! strategies.
//!
//! Start at `LiveFile::new`; feed it from the events of `FormatReader` or from tool arguments.

use base::{ByteOffset, Row, Span};

use crate::block::split_lines;
use crate::diff::diff;
use crate::edit::{Grain, Occurrences, PatchHunk, PatchOperation};
use crate::file::FileText;
use crate::find::rows_of_lines;
use crate::format::HunkSide;
use crate::mark::StaleGuard;
use crate::outcome::MatchStrategy;
use crate::plan::{EditPlan, apply, plan, update};

/// The preview of a file while a model is still writing the edit. It turns fragments of hunks into
/// small edits of the shown text.
#[derive(Debug)]
pub struct LiveFile<'a> {
    file: &'a FileText<'a>,
    guard: StaleGuard<'a>,
    done: Vec<PatchHunk>,
    open: Option<PartialHunk>,
    /// Text after the edits emitted so far.
    shown: String,
}

/// The part of a preview that a fragment added: the position of the hunk and the edits to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveProgress {
    /// Row of the original text where the current hunk applies, once it is unambiguous.
    pub row: Option<Row>,
    /// Edits to emit, each in bytes of the text that the preceding ones leave.
    pub edits: Vec<LiveEdit>,
}

/// A small edit of the text shown by a preview.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveEdit {
    /// Span in bytes of the text as earlier edits leave it.
    pub span: Span,
    /// Replacement for the span.
    pub text: String,
}

/// The hunk being written.
#[derive(Debug)]
struct PartialHunk {
    /// The hunk with its old and new text as far as received.
    hunk: PatchHunk,
    /// Whether the old text is complete, so that the missing part of the new text may still keep
    /// it. Never true if old and new lines are interleaved.
    is_old_complete: bool,
    is_mixed: bool,
    row: Option<Row>,
}

impl<'a> LiveFile<'a> {
    /// Creates the preview of an unchanged file. `guard` knows the rows that changed after the
    /// model read them.
    pub fn new(file: &'a FileText<'a>, guard: StaleGuard<'a>) -> Self {
        Self {
            file,
            guard,
            done: Vec::new(),
            open: None,
            shown: file.text().to_owned(),
        }
    }

    /// Begins a hunk. Its old and new text arrive in fragments; its other fields are final.
    pub fn begin_hunk(&mut self, hunk: PatchHunk) {
        self.open = Some(PartialHunk {
            hunk,
            is_old_complete: false,
            is_mixed: false,
            row: None,
        });
    }

    /// Adds a fragment of the current hunk, cut anywhere. New text after old text means that the
    /// old text is complete, unless more old text follows.
    pub fn push(&mut self, side: HunkSide, text: &str) -> LiveProgress {
        let Some(open) = &mut self.open else {
            return LiveProgress::default();
        };
        open.is_mixed |=
            side == HunkSide::Both || (side == HunkSide::Old && !open.hunk.new.is_empty());
        open.is_old_complete = side == HunkSide::New && !open.is_mixed;
        if side != HunkSide::New {
            open.hunk.old.push_str(text);
        }
        if side != HunkSide::Old {
            open.hunk.new.push_str(text);
        }
        if text.contains('\n') {
            self.advance()
        } else {
            self.progress(Vec::new())
        }
    }

    /// Ends the old text of the current hunk and searches for the position of the hunk. Once the
    /// position is known, new text is shown there.
    pub fn end_old(&mut self) -> LiveProgress {
        if let Some(open) = &mut self.open {
            open.is_old_complete = !open.is_mixed;
        }
        self.advance()
    }

    /// Completes the current hunk with its final parsed form, and shows the text with all completed
    /// hunks applied. A refused hunk leaves the text unchanged.
    pub fn finish_hunk(&mut self, hunk: PatchHunk) -> LiveProgress {
        self.open = None;
        self.done.push(hunk);
        let text = self.plan().apply(self.file.text());
        LiveProgress {
            row: None,
            edits: self.show(text),
        }
    }

    /// Drops the current hunk, which could not be parsed, and reverts what was shown of it.
    pub fn drop_open(&mut self) -> LiveProgress {
        self.open = None;
        let text = self.plan().apply(self.file.text());
        LiveProgress {
            row: None,
            edits: self.show(text),
        }
    }

    /// Returns the plan for the completed hunks, with their reports.
    pub fn plan(&self) -> EditPlan {
        let change = PatchOperation::Update {
            hunks: self.done.clone(),
            move_to: None,
        };
        plan(self.file, &change, self.guard)
    }

    fn progress(&self, edits: Vec<LiveEdit>) -> LiveProgress {
        LiveProgress {
            row: self.open.as_ref().and_then(|open| open.row),
            edits,
        }
    }

    fn advance(&mut self) -> LiveProgress {
        let Some(open) = &self.open else {
            return LiveProgress::default();
        };
        let row = open.find_row(self.file);
        let so_far = open.so_far();
        if let Some(open) = &mut self.open {
            open.row = row.or(open.row);
        }
        let Some(so_far) = so_far else {
            return self.progress(Vec::new());
        };
        let hunks: Vec<&PatchHunk> = self.done.iter().chain([&so_far]).collect();
        let planned = update(self.file, &hunks, self.guard);
        let report = planned.hunks.last();
        let is_early = |strategy: MatchStrategy| strategy <= MatchStrategy::Reindented;
        let is_shown = report.is_some_and(|report| report.strategy.is_some_and(is_early));
        if !is_shown {
            return self.progress(Vec::new());
        }
        let row = report.and_then(|report| Some(report.rows.as_ref()?.start));
        if let Some(open) = &mut self.open {
            open.row = row.or(open.row);
        }
        let edits = self.show(apply(self.file.text(), &planned.replacements));
        self.progress(edits)
    }

    /// Changes the text shown to `text`.
    fn show(&mut self, text: String) -> Vec<LiveEdit> {
        if text == self.shown {
            return Vec::new();
        }
        let head = common(self.shown.chars(), text.chars());
        let tail = common(self.shown[head..].chars().rev(), text[head..].chars().rev());
        let span = Span::new(ByteOffset(head), ByteOffset(self.shown.len() - tail));
        let edit = LiveEdit {
            span,
            text: text[head..text.len() - tail].to_owned(),
        };
        self.shown = text;
        vec![edit]
    }
}

impl PartialHunk {
    /// Returns the row of the complete old lines if it is unambiguous.
    fn find_row(&self, file: &FileText) -> Option<Row> {
        if self.hunk.occurrences == Occurrences::All || self.hunk.grain == Grain::Text {
            return None;
        }
        let end = self.hunk.old.rfind('\n')? + 1;
        let old = split_lines(&self.hunk.old[..end]);
        let mut rows = rows_of_lines(file, &old);
        match (rows.next(), rows.next()) {
            (Some(row), None) => Some(Row(row as u32)),
            _ => None,
        }
    }

    /// Returns the hunk as if nothing else changed in it. `None` while there is nothing to show.
    fn so_far(&self) -> Option<PatchHunk> {
        let is_shown = self.is_mixed || self.is_old_complete;
        let is_old_whole = self.is_old_complete || self.hunk.old.ends_with('\n');
        if !is_shown || !is_old_whole || self.hunk.old.is_empty() {
            return None;
        }
        let mut hunk = self.hunk.clone();
        let end = hunk.new.rfind('\n').map_or(0, |at| at + 1);
        hunk.new.truncate(end);
        if self.is_old_complete {
            let (old, new) = (split_lines(&hunk.old), split_lines(&hunk.new));
            let runs = diff(old.len(), new.len(), |a, b| old[a] == new[b]);
            // So far, new lines after the last common line replace as many old ones.
            let kept = match runs.last() {
                Some(run) if run.old.end == old.len() => {
                    run.old.start + run.new.len().min(run.old.len())
                }
                _ => old.len(),
            };
            let rest = old.iter().skip(kept).map(|line| format!("{line}\n"));
            hunk.new.extend(rest);
            if !hunk.old.ends_with('\n') {
                hunk.new.pop();
            }
        }
        Some(hunk)
    }
}

/// Returns the length of the common start of two texts, in bytes.
fn common(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    let same = a.zip(b).take_while(|(a, b)| a == b);
    same.map(|(sign, _)| sign.len_utf8()).sum()
}

#[cfg(test)]
mod tests;
