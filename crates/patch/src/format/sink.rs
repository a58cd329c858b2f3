//! Receives the output of the grammars: events, and the current file and hunk.

use std::ops::Range;

use base::Row;

use crate::edit::{AnchoredEdit, FileEdit, Grain, Occurrences, PatchHunk, PatchOperation};

use super::line_splitter::SourceLine;
use super::{FormatEvent, FormatProblem, HunkSide, Severity, ShellBlock};

/// Collects events and tracks the current file and hunk.
#[derive(Default)]
pub(super) struct EventSink {
    events: Vec<FormatEvent>,
    file: Option<FileEdit>,
    hunk: Option<PatchHunk>,
}

impl EventSink {
    pub(super) fn take(&mut self) -> Vec<FormatEvent> {
        std::mem::take(&mut self.events)
    }

    /// Opens a file and completes the previous one.
    pub(super) fn open_file(&mut self, path: &str, change: PatchOperation) {
        self.close_file();
        self.events.push(FormatEvent::FileStarted {
            path: path.to_owned(),
        });
        self.file = Some(FileEdit {
            path: path.to_owned(),
            change,
        });
    }

    /// Returns the edit of the current file; `None` if no file is open.
    pub(super) fn file(&mut self) -> Option<&mut FileEdit> {
        self.file.as_mut()
    }

    /// Adds a line of a complete file, including its ending.
    pub(super) fn whole_line(&mut self, line: &str) {
        let Some(FileEdit {
            change: PatchOperation::Create { text } | PatchOperation::Overwrite { text },
            ..
        }) = &mut self.file
        else {
            return;
        };
        text.push_str(line);
        let shown = line.strip_suffix('\n').unwrap_or(line);
        self.events.push(FormatEvent::Line {
            side: HunkSide::New,
            text: shown.strip_suffix('\r').unwrap_or(shown).to_owned(),
        });
    }

    /// Removes the final line feed of a complete file.
    pub(super) fn cut_final_newline(&mut self) {
        if let Some(FileEdit {
            change: PatchOperation::Create { text } | PatchOperation::Overwrite { text },
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

    pub(super) fn open_hunk(&mut self, hunk: PatchHunk) {
        self.drop_hunk();
        self.events.push(FormatEvent::HunkStarted {
            row: hunk.row,
            context: hunk.context.clone(),
        });
        self.hunk = Some(hunk);
    }

    /// Returns the current hunk; `None` if no hunk is open.
    pub(super) fn hunk(&mut self) -> Option<&mut PatchHunk> {
        self.hunk.as_mut()
    }

    /// Adds a line of the current hunk, without its ending; a `\r` that belongs to it may come
    /// last.
    pub(super) fn push_line(&mut self, side: HunkSide, text: &str) {
        let Some(hunk) = &mut self.hunk else { return };
        if side != HunkSide::New {
            hunk.old.push_str(text);
            hunk.old.push('\n');
        }
        if side != HunkSide::Old {
            hunk.new.push_str(text);
            hunk.new.push('\n');
        }
        self.events.push(FormatEvent::Line {
            side,
            text: text.strip_suffix('\r').unwrap_or(text).to_owned(),
        });
    }

    /// Reports a line added by an anchored edit.
    pub(super) fn loose_line(&mut self, side: HunkSide, text: &str) {
        self.events.push(FormatEvent::Line {
            side,
            text: text.to_owned(),
        });
    }

    /// Completes the current hunk, which ends before the byte `end`.
    pub(super) fn close_hunk(&mut self, end: usize) {
        let Some(mut hunk) = self.hunk.take() else {
            return;
        };
        hunk.source.end = end.max(hunk.source.start);
        self.events.push(FormatEvent::HunkDone(hunk.clone()));
        match self.file.as_mut().map(|file| &mut file.change) {
            Some(PatchOperation::Update { hunks, .. }) => hunks.push(hunk),
            Some(PatchOperation::Delete { content }) => {
                content.get_or_insert_default().push_str(&hunk.old);
            }
            Some(change)
                if matches!(change, PatchOperation::Create { .. }) && !hunk.old.is_empty() =>
            {
                // A hunk with old lines is not a new file, although the diff's names say so.
                *change = PatchOperation::Update {
                    hunks: vec![hunk],
                    move_to: None,
                };
            }
            Some(PatchOperation::Create { text }) => text.push_str(&hunk.new),
            _ => {}
        }
    }

    /// Turns the current hunk into a complete file: the current file if it has no other changes, or
    /// a further edit of the same path. A margin of spaces common to all lines is removed.
    pub(super) fn hunk_is_whole_file(&mut self, end: usize, margin: usize) {
        let Some(mut hunk) = self.hunk.take() else {
            return;
        };
        let Some(file) = &mut self.file else { return };
        hunk.source.end = end.max(hunk.source.start);
        self.events.push(FormatEvent::HunkDone(hunk.clone()));
        let text = without_margin(hunk.new, margin);
        let change = PatchOperation::Create { text };
        if matches!(&file.change, PatchOperation::Update { hunks, move_to: None } if hunks.is_empty())
        {
            file.change = change;
        } else {
            let path = file.path.clone();
            self.open_file(&path, change);
        }
        self.close_file();
    }

    pub(super) fn drop_hunk(&mut self) {
        if self.hunk.take().is_some() {
            self.events.push(FormatEvent::HunkDropped);
        }
    }

    pub(super) fn operation(&mut self, edit: AnchoredEdit) {
        if let Some(FileEdit {
            change: PatchOperation::Anchored { operations },
            ..
        }) = &mut self.file
        {
            self.events.push(FormatEvent::OperationDone(edit.clone()));
            operations.push(edit);
        }
    }

    /// Completes the current file, or drops it if it contains no changes.
    pub(super) fn close_file(&mut self) {
        self.drop_hunk();
        let Some(file) = self.file.take() else { return };
        let is_empty = match &file.change {
            PatchOperation::Update { hunks, move_to } => hunks.is_empty() && move_to.is_none(),
            PatchOperation::Anchored { operations } => operations.is_empty(),
            PatchOperation::Create { .. }
            | PatchOperation::Delete { .. }
            | PatchOperation::Overwrite { .. } => false,
        };
        self.events.push(if is_empty {
            FormatEvent::FileDropped
        } else {
            FormatEvent::FileDone(file)
        });
    }

    pub(super) fn drop_file(&mut self) {
        self.drop_hunk();
        if self.file.take().is_some() {
            self.events.push(FormatEvent::FileDropped);
        }
    }

    pub(super) fn shell(&mut self, block: ShellBlock) {
        self.events.push(FormatEvent::Shell(block));
    }

    /// Reports an edit that was lost at `line`.
    pub(super) fn lost(&mut self, line: &SourceLine, message: impl Into<String>) {
        self.problem(line.row, line.source.clone(), Severity::Lost, message);
    }

    /// Reports a deviation at `line` that was tolerated.
    pub(super) fn tolerated(&mut self, line: &SourceLine, message: impl Into<String>) {
        self.problem(line.row, line.source.clone(), Severity::Tolerated, message);
    }

    pub(super) fn problem(
        &mut self,
        row: Row,
        source: Range<usize>,
        severity: Severity,
        message: impl Into<String>,
    ) {
        self.events.push(FormatEvent::Problem(FormatProblem {
            row,
            message: message.into(),
            source,
            severity,
        }));
    }
}

/// Removes a margin of spaces from all lines, if every non-blank line has it.
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

/// Returns an empty hunk of whole lines.
pub(super) fn empty_hunk(start: usize) -> PatchHunk {
    PatchHunk {
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

/// Returns an update without changes.
pub(super) fn empty_update() -> PatchOperation {
    PatchOperation::Update {
        hunks: Vec::new(),
        move_to: None,
    }
}
