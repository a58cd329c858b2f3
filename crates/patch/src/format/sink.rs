//! What readers write into: events, and the file and hunk that are open.

use std::ops::Range;

use base::Row;

use crate::edit::{AnchoredEdit, Change, FileEdit, Grain, Hunk, Occurrences};

use super::lines::Line;
use super::{Event, Problem, Severity, ShellBlock, Side};

/// Collects events; knows which file and hunk are open.
#[derive(Default)]
pub(super) struct Sink {
    events: Vec<Event>,
    file: Option<FileEdit>,
    hunk: Option<Hunk>,
}

impl Sink {
    pub(super) fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Opens a file; the one before it is complete.
    pub(super) fn open_file(&mut self, path: &str, change: Change) {
        self.close_file();
        self.events.push(Event::FileStarted {
            path: path.to_owned(),
        });
        self.file = Some(FileEdit {
            path: path.to_owned(),
            change,
        });
    }

    pub(super) fn file(&mut self) -> Option<&mut FileEdit> {
        self.file.as_mut()
    }

    /// A line of a file given whole, with its end.
    pub(super) fn whole_line(&mut self, line: &str) {
        let Some(FileEdit {
            change: Change::Create { text } | Change::Overwrite { text },
            ..
        }) = &mut self.file
        else {
            return;
        };
        text.push_str(line);
        let shown = line.strip_suffix('\n').unwrap_or(line);
        self.events.push(Event::Line {
            side: Side::New,
            text: shown.strip_suffix('\r').unwrap_or(shown).to_owned(),
        });
    }

    /// Takes the final line feed of a file given whole away.
    pub(super) fn cut_final_newline(&mut self) {
        if let Some(FileEdit {
            change: Change::Create { text } | Change::Overwrite { text },
            ..
        }) = &mut self.file
            && text.ends_with('\n')
        {
            text.pop();
            if text.ends_with('\r') {
                text.pop();
            }
        }
    }

    pub(super) fn open_hunk(&mut self, hunk: Hunk) {
        self.drop_hunk();
        self.events.push(Event::HunkStarted {
            row: hunk.row,
            context: hunk.context.clone(),
        });
        self.hunk = Some(hunk);
    }

    pub(super) fn hunk(&mut self) -> Option<&mut Hunk> {
        self.hunk.as_mut()
    }

    /// A line of the open hunk, without its end; a `\r` that is part of it may come last.
    pub(super) fn line(&mut self, side: Side, text: &str) {
        let Some(hunk) = &mut self.hunk else { return };
        if side != Side::New {
            hunk.old.push_str(text);
            hunk.old.push('\n');
        }
        if side != Side::Old {
            hunk.new.push_str(text);
            hunk.new.push('\n');
        }
        self.events.push(Event::Line {
            side,
            text: text.strip_suffix('\r').unwrap_or(text).to_owned(),
        });
    }

    /// A line that an operation by anchors adds.
    pub(super) fn loose_line(&mut self, side: Side, text: &str) {
        self.events.push(Event::Line {
            side,
            text: text.to_owned(),
        });
    }

    /// The open hunk is complete and ends before the byte `end`.
    pub(super) fn close_hunk(&mut self, end: usize) {
        let Some(mut hunk) = self.hunk.take() else {
            return;
        };
        hunk.source.end = end.max(hunk.source.start);
        self.events.push(Event::HunkDone(hunk.clone()));
        match self.file.as_mut().map(|file| &mut file.change) {
            Some(Change::Update { hunks, .. }) => hunks.push(hunk),
            Some(Change::Delete { content }) => {
                content.get_or_insert_default().push_str(&hunk.old);
            }
            Some(change) if matches!(change, Change::Create { .. }) && !hunk.old.is_empty() => {
                // Against nothing by its name alone: it takes lines away.
                *change = Change::Update {
                    hunks: vec![hunk],
                    move_to: None,
                };
            }
            Some(Change::Create { text }) => text.push_str(&hunk.new),
            _ => {}
        }
    }

    /// The open hunk turned out to be the whole of a file: the open file, where nothing else was
    /// said of it, or else a further edit of the same path.
    /// Its lines lie behind a margin where all of them begin with so many spaces.
    pub(super) fn hunk_is_whole_file(&mut self, end: usize, margin: usize) {
        let Some(mut hunk) = self.hunk.take() else {
            return;
        };
        let Some(file) = &mut self.file else { return };
        hunk.source.end = end.max(hunk.source.start);
        self.events.push(Event::HunkDone(hunk.clone()));
        let text = without_margin(hunk.new, margin);
        let change = Change::Create { text };
        if matches!(&file.change, Change::Update { hunks, move_to: None } if hunks.is_empty()) {
            file.change = change;
        } else {
            let path = file.path.clone();
            self.open_file(&path, change);
        }
        self.close_file();
    }

    pub(super) fn drop_hunk(&mut self) {
        if self.hunk.take().is_some() {
            self.events.push(Event::HunkDropped);
        }
    }

    pub(super) fn operation(&mut self, edit: AnchoredEdit) {
        if let Some(FileEdit {
            change: Change::Anchored { operations },
            ..
        }) = &mut self.file
        {
            self.events.push(Event::OperationDone(edit.clone()));
            operations.push(edit);
        }
    }

    /// The open file is complete. One without any change in it is dropped.
    pub(super) fn close_file(&mut self) {
        self.drop_hunk();
        let Some(file) = self.file.take() else { return };
        let is_empty = match &file.change {
            Change::Update { hunks, move_to } => hunks.is_empty() && move_to.is_none(),
            Change::Anchored { operations } => operations.is_empty(),
            Change::Create { .. } | Change::Delete { .. } | Change::Overwrite { .. } => false,
        };
        self.events.push(match is_empty {
            true => Event::FileDropped,
            false => Event::FileDone(file),
        });
    }

    pub(super) fn drop_file(&mut self) {
        self.drop_hunk();
        if self.file.take().is_some() {
            self.events.push(Event::FileDropped);
        }
    }

    pub(super) fn shell(&mut self, block: ShellBlock) {
        self.events.push(Event::Shell(block));
    }

    /// An edit was lost at `line`.
    pub(super) fn lost(&mut self, line: &Line, message: impl Into<String>) {
        self.problem(line.row, line.source.clone(), Severity::Lost, message);
    }

    /// Something at `line` was read by way of a tolerance.
    pub(super) fn tolerated(&mut self, line: &Line, message: impl Into<String>) {
        self.problem(line.row, line.source.clone(), Severity::Tolerated, message);
    }

    pub(super) fn problem(
        &mut self,
        row: Row,
        source: Range<usize>,
        severity: Severity,
        message: impl Into<String>,
    ) {
        self.events.push(Event::Problem(Problem {
            row,
            message: message.into(),
            source,
            severity,
        }));
    }
}

/// A text without so many spaces before its lines, if all that are not blank have them.
pub(super) fn without_margin(text: String, margin: usize) -> String {
    let blanks = " ".repeat(margin);
    let mut filled = text.lines().filter(|line| !line.trim().is_empty());
    if margin == 0 || !filled.all(|line| line.starts_with(&blanks)) {
        return text;
    }
    let lines = text.split_inclusive('\n');
    let cut = lines.map(|line| match line.strip_prefix(&blanks) {
        Some(rest) => rest,
        None => line.trim_start_matches(' '),
    });
    cut.collect()
}

/// A hunk of whole lines with nothing in it yet.
pub(super) fn empty_hunk(start: usize) -> Hunk {
    Hunk {
        old: String::new(),
        new: String::new(),
        grain: Grain::Lines,
        occurrences: Occurrences::One,
        context: Vec::new(),
        row: None,
        at_end: false,
        in_order: false,
        source: start..start,
    }
}

/// An update with nothing in it yet.
pub(super) fn empty_update() -> Change {
    Change::Update {
        hunks: Vec::new(),
        move_to: None,
    }
}
