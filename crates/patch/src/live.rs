//! Edits of one file shown while the model still writes them.
//!
//! After every complete line the hunks so far are planned anew, and what changes against the text
//! shown last goes out as small edits. What is shown at the end is therefore what `plan` gives for
//! the finished hunks, whatever was shown on the way.
//! A piece of a hunk is shown only where its old text so far has one place by an early rung.
//! Start at `LiveFile::new`; feed it from the events of `format::Reader` or from tool arguments.

use base::{ByteOffset, Row, Span};

use crate::block::lines;
use crate::diff::diff;
use crate::edit::{Change, Grain, Hunk, Occurrences};
use crate::file::FileText;
use crate::find::rows_of_lines;
use crate::format::Side;
use crate::mark::Guard;
use crate::outcome::Rung;
use crate::plan::{Planned, apply, plan, update};

/// A file whose edit is being written.
#[derive(Debug)]
pub struct LiveFile<'a> {
    file: &'a FileText<'a>,
    guard: Guard<'a>,
    done: Vec<Hunk>,
    open: Option<Open>,
    /// The text after the edits that went out so far.
    shown: String,
}

/// What a fragment brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The row of the text before where the open hunk belongs, as soon as there is one alone.
    pub row: Option<Row>,
    /// Each in bytes of the text that the ones before it leave.
    pub edits: Vec<LiveEdit>,
}

/// A small edit of the text as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveEdit {
    /// In bytes of the text as earlier edits leave it.
    pub span: Span,
    /// What takes its place.
    pub text: String,
}

/// The hunk being written.
#[derive(Debug)]
struct Open {
    /// With what is known of it; old and new as far as they were written.
    hunk: Hunk,
    /// Whether the whole old text is there, so that what is missing of the new one may still keep
    /// it. Where old and new lines come mixed it never is.
    is_old_complete: bool,
    is_mixed: bool,
    row: Option<Row>,
}

impl<'a> LiveFile<'a> {
    /// A file of which nothing is changed yet.
    pub fn new(file: &'a FileText<'a>, guard: Guard<'a>) -> Self {
        Self {
            file,
            guard,
            done: Vec::new(),
            open: None,
            shown: file.text().to_owned(),
        }
    }

    /// A hunk begins. Its old and new text come in pieces; the rest of it counts already.
    pub fn begin(&mut self, hunk: Hunk) {
        self.open = Some(Open {
            hunk,
            is_old_complete: false,
            is_mixed: false,
            row: None,
        });
    }

    /// A fragment of the open hunk, cut anywhere. New text after old text says that the old text
    /// is complete, unless old text follows again.
    pub fn push(&mut self, side: Side, text: &str) -> Progress {
        let Some(open) = &mut self.open else {
            return Progress::default();
        };
        open.is_mixed |= side == Side::Both || (side == Side::Old && !open.hunk.new.is_empty());
        open.is_old_complete = side == Side::New && !open.is_mixed;
        if side != Side::New {
            open.hunk.old.push_str(text);
        }
        if side != Side::Old {
            open.hunk.new.push_str(text);
        }
        match text.contains('\n') {
            true => self.advance(),
            false => self.progress(Vec::new()),
        }
    }

    /// No more old text comes: its place is looked for.
    pub fn end_old(&mut self) -> Progress {
        if let Some(open) = &mut self.open {
            open.is_old_complete = !open.is_mixed;
        }
        self.advance()
    }

    /// The open hunk is complete, and this is it as it was read.
    pub fn end(&mut self, hunk: Hunk) -> Progress {
        self.open = None;
        self.done.push(hunk);
        let text = self.plan().apply(self.file.text());
        Progress {
            row: None,
            edits: self.show(text),
        }
    }

    /// The open hunk could not be read: what was shown of it goes away.
    pub fn drop_open(&mut self) -> Progress {
        self.open = None;
        let text = self.plan().apply(self.file.text());
        Progress {
            row: None,
            edits: self.show(text),
        }
    }

    /// The plan for the hunks that are complete.
    pub fn plan(&self) -> Planned {
        let change = Change::Update {
            hunks: self.done.clone(),
            move_to: None,
        };
        plan(self.file, &change, self.guard)
    }

    fn progress(&self, edits: Vec<LiveEdit>) -> Progress {
        Progress {
            row: self.open.as_ref().and_then(|open| open.row),
            edits,
        }
    }

    fn advance(&mut self) -> Progress {
        let Some(open) = &self.open else {
            return Progress::default();
        };
        let row = open.place(self.file);
        let so_far = open.so_far();
        if let Some(open) = &mut self.open {
            open.row = row.or(open.row);
        }
        let Some(so_far) = so_far else {
            return self.progress(Vec::new());
        };
        let hunks: Vec<&Hunk> = self.done.iter().chain([&so_far]).collect();
        let planned = update(self.file, &hunks, self.guard);
        let report = planned.hunks.last();
        let is_early = |rung: Rung| rung <= Rung::Reindented;
        let is_shown = report.is_some_and(|report| report.rung.is_some_and(is_early));
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

    /// Turns what is shown into `text`.
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

impl Open {
    /// Where the complete lines of the old text stand, if in one place alone.
    fn place(&self, file: &FileText) -> Option<Row> {
        if self.hunk.occurrences == Occurrences::All || self.hunk.grain == Grain::Text {
            return None;
        }
        let end = self.hunk.old.rfind('\n')? + 1;
        let old = lines(&self.hunk.old[..end]);
        let mut rows = rows_of_lines(file, &old);
        match (rows.next(), rows.next()) {
            (Some(row), None) => Some(Row(row as u32)),
            _ => None,
        }
    }

    /// The hunk as if nothing else were to change in it. `None` while there is nothing to show.
    fn so_far(&self) -> Option<Hunk> {
        let is_shown = self.is_mixed || self.is_old_complete;
        let is_old_whole = self.is_old_complete || self.hunk.old.ends_with('\n');
        if !is_shown || !is_old_whole || self.hunk.old.is_empty() {
            return None;
        }
        let mut hunk = self.hunk.clone();
        let end = hunk.new.rfind('\n').map_or(0, |at| at + 1);
        hunk.new.truncate(end);
        if self.is_old_complete {
            let (old, new) = (lines(&hunk.old), lines(&hunk.new));
            let runs = diff(old.len(), new.len(), |a, b| old[a] == new[b]);
            // New lines behind the last that both have stand for as many old ones, so far.
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

fn common(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    let same = a.zip(b).take_while(|(a, b)| a == b);
    same.map(|(sign, _)| sign.len_utf8()).sum()
}

#[cfg(test)]
mod tests;
