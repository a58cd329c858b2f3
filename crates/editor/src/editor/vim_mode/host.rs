//! The owner of the text for the machine: the document of the model, with the facts about the view.
//!
//! All edits of a key are one change of the model, so display and syntax are those before the key; facts from them are
//! left out once the text has changed. Start at `EditorHost`.

use std::ops::Range;
use std::sync::Arc;

use base::{Bias, ByteOffset, Row, Span};
use caret::{Command, CommandContext, CommandMemory, Motion};
use gpui_kit::{App, ClipboardItem};
use project::Document;
use settings::SoftWrap;
use syntax::{Language, SyntaxSnapshot};
use text::{
    Author, Change, Edit, EditKind, EditOrigin, LineEnding, NodeId, RowHunk, Selection,
    SelectionSet, Snapshot, Timestamp,
};
use ui::primary;
use vim::{
    ClipboardKind, DisplayMotion, FileName, ObjectExtent, SyntaxObject, UndoMove, Viewport, VimHost,
};

use super::{Editor, folds, objects, scrolling};
use crate::model::DocumentModel;

/// Facts that the model knows of the text before the key.
pub(super) struct HostFacts {
    syntax: Option<SyntaxSnapshot>,
    language: Option<Language>,
    hunks: Arc<[RowHunk]>,
}

impl HostFacts {
    /// Takes the facts of a model. The syntax counts only for the text that the view shows.
    pub(super) fn of(model: &DocumentModel, editor: &Editor) -> Self {
        let is_same = |syntax: &&SyntaxSnapshot| syntax.revision() == editor.snapshot.revision();
        Self {
            syntax: model.syntax().filter(is_same).cloned(),
            language: model.language(),
            hunks: model.hunks().clone(),
        }
    }
}

/// The text of a view while a key is carried out.
pub(super) struct EditorHost<'a> {
    facts: HostFacts,
    document: &'a mut Document,
    at: Timestamp,
    view: &'a Editor,
    cx: &'a mut App,
}

impl<'a> EditorHost<'a> {
    pub(super) fn new(
        facts: HostFacts,
        document: &'a mut Document,
        at: Timestamp,
        view: &'a Editor,
        cx: &'a mut App,
    ) -> Self {
        Self {
            facts,
            document,
            at,
            view,
            cx,
        }
    }

    /// Whether the text is still the one that the view shows.
    fn is_fresh(&self) -> bool {
        self.document.buffer().revision() == self.view.snapshot.revision()
    }

    fn plan(&self, command: &Command, carets: &SelectionSet) -> caret::CaretPlan {
        let text = self.document.snapshot();
        let syntax = self.facts.syntax.as_ref().filter(|_| self.is_fresh());
        caret::plan(
            command,
            &CommandContext {
                snapshot: &text,
                selections: carets,
                display: &self.view.display,
                syntax,
                language: self.facts.language.as_ref(),
                options: &self.view.caret_options,
                line_ending: self.document.buffer().line_ending(),
                memory: &CommandMemory::default(),
            },
        )
    }

    fn vertical(&self, from: ByteOffset, rows: u32, is_down: bool) -> Option<ByteOffset> {
        let display = &self.view.display;
        let start = display.to_display(from, Bias::Left);
        let mut at = start;
        for _ in 0..rows {
            at = if is_down {
                display.row_below(at, start.cell)?
            } else {
                display.row_above(at, start.cell)?
            };
        }
        Some(display.to_buffer(at, Bias::Left))
    }
}

impl VimHost for EditorHost<'_> {
    fn snapshot(&self) -> Snapshot {
        self.document.snapshot()
    }

    fn edit(&mut self, edits: &[Edit]) -> Change {
        let origin = EditOrigin::new(Author::User, EditKind::Other, self.at);
        let buffer = self.document.buffer_mut();
        match edits {
            [edit] => buffer.replace(edit.span, &edit.text, &origin),
            edits => buffer.edit(edits, &origin),
        }
    }

    fn begin_step(&mut self) {
        let buffer = self.document.buffer_mut();
        buffer.note_selections_before(&self.view.selections);
        buffer.begin_step();
    }

    fn end_step(&mut self) {
        self.document.buffer_mut().end_step();
    }

    fn travel(&mut self, to: UndoMove) -> Option<Change> {
        if self.is_read_only() {
            return None;
        }
        let buffer = self.document.buffer_mut();
        let outcome = match to {
            UndoMove::Undo => buffer.undo(),
            UndoMove::Redo => buffer.redo(),
            UndoMove::To(state) => buffer.go_to(NodeId(state)),
        };
        outcome.map(|outcome| outcome.change)
    }

    fn undo_state(&self) -> u32 {
        self.document.buffer().history().current().0
    }

    fn is_read_only(&self) -> bool {
        !self.document.can_edit()
    }

    fn line_ending(&self) -> LineEnding {
        self.document.buffer().line_ending()
    }

    fn clipboard(&mut self, kind: ClipboardKind) -> Option<String> {
        let item = match kind {
            ClipboardKind::Primary if primary::EXISTS => primary::read(self.cx),
            _ => self.cx.read_from_clipboard(),
        };
        Some(item?.text()?.replace("\r\n", "\n"))
    }

    fn set_clipboard(&mut self, kind: ClipboardKind, text: &str) {
        let item = ClipboardItem::new_string(text.to_owned());
        match kind {
            ClipboardKind::Primary if primary::EXISTS => primary::write(item, self.cx),
            _ => self.cx.write_to_clipboard(item),
        }
    }

    fn viewport(&self) -> Viewport {
        scrolling::viewport(self.view)
    }

    fn closed_fold(&self, row: u32) -> Option<Range<u32>> {
        let is_known = self.is_fresh() && row <= self.view.snapshot.last_row().0;
        let rows = is_known.then(|| self.view.display.joined_rows(Row(row)))?;
        (rows.end.0 > rows.start.0 + 1).then_some(rows.start.0..rows.end.0)
    }

    fn folds(&self) -> Vec<Range<u32>> {
        let syntax = self.facts.syntax.as_ref().filter(|_| self.is_fresh());
        syntax.map_or_else(Vec::new, |syntax| folds::known(syntax, &self.view.snapshot))
    }

    fn display_motion(&self, from: ByteOffset, motion: DisplayMotion) -> Option<ByteOffset> {
        if self.view.soft_wrap() == SoftWrap::Off || !self.is_fresh() {
            return None;
        }
        let display = &self.view.display;
        let row = display.to_display(from, Bias::Left).row;
        let at = |cell: u32| display.to_buffer(display::DisplayPoint { row, cell }, Bias::Left);
        match motion {
            DisplayMotion::Down(rows) => self.vertical(from, rows, true),
            DisplayMotion::Up(rows) => self.vertical(from, rows, false),
            DisplayMotion::Start => Some(at(0)),
            DisplayMotion::FirstNonBlank => {
                let start = at(0);
                let blanks = self.view.snapshot.chars_at(start);
                let blanks = blanks.take_while(|char| matches!(char, ' ' | '\t')).count();
                Some((start + blanks).min(at(u32::MAX)))
            }
            DisplayMotion::End => Some(at(u32::MAX)),
            DisplayMotion::Middle => {
                let geometry = self.view.geometry.as_ref()?;
                let middle = f32::from(geometry.text.size.width) / geometry.advance / 2.0;
                Some(at(middle as u32))
            }
        }
    }

    fn indent_for(&self, row: u32) -> Option<String> {
        let syntax = self
            .facts
            .syntax
            .as_ref()
            .filter(|syntax| syntax.has_tree())?;
        if !self.view.caret_options.smart_indent {
            return None;
        }
        let (before, now) = (&self.view.snapshot, self.document.snapshot());
        let is_same_row = now.row_count() == before.row_count();
        // A line was opened here unless the rows are the same: then the row above counts.
        let known = match is_same_row.then_some(row) {
            Some(row) => Row(row),
            None => Row(row.checked_sub(1)?),
        };
        // Earlier edits of the same key, such as those of a macro, may have moved the rows.
        if before.row_text(known).trim_start() != now.row_text(known).trim_start() {
            return None;
        }
        let hint = if is_same_row {
            syntax.suggested_indent(before, Row(row))?
        } else {
            syntax.indent_for_new_line(before, before.row_end(known))
        };
        Some(blanks_of(&self.view.caret_options, &now, &hint))
    }

    fn comment_markers(&self, row: u32) -> Option<(String, String)> {
        let syntax = self.facts.syntax.as_ref().filter(|_| self.is_fresh());
        let comments = match syntax {
            Some(syntax) => {
                let text = &self.view.snapshot;
                syntax.comments_at(text, text.row_start(Row(row)))
            }
            None => self.facts.language.as_ref()?.comments(),
        };
        let line = comments.line.map(|line| (line.to_owned(), String::new()));
        line.or_else(|| {
            comments
                .block
                .map(|(open, close)| (open.to_owned(), close.to_owned()))
        })
    }

    fn syntax_object(&self, kind: SyntaxObject, extent: ObjectExtent, span: Span) -> Option<Span> {
        let text = &self.view.snapshot;
        if !self.is_fresh() {
            return None;
        }
        if kind == SyntaxObject::Hunk {
            return objects::hunk(&self.facts.hunks, text, span);
        }
        objects::syntax_object(self.facts.syntax.as_ref()?, text, kind, extent, span)
    }

    fn pair_behind(&self, caret: ByteOffset) -> usize {
        if !self.is_fresh() {
            return 0;
        }
        let carets = SelectionSet::single(Selection::caret(caret));
        let plan = self.plan(&Command::Delete(Motion::Left), &carets);
        let ends = plan.edits.iter().map(|edit| edit.span.end);
        ends.filter(|end| *end > caret)
            .map(|end| end - caret)
            .max()
            .unwrap_or(0)
    }

    fn plan_typing(&self, carets: &SelectionSet, text: &str) -> Option<(Vec<Edit>, SelectionSet)> {
        let command = match text {
            "\n" => Command::Newline,
            text => Command::Insert(text.to_owned()),
        };
        let plan = self.plan(&command, carets);
        Some((plan.edits, plan.selections))
    }

    fn file_name(&self, which: FileName) -> Option<String> {
        match which {
            FileName::Current => Some(base::path_text(self.document.path()?.as_path())),
            FileName::Alternate => None,
        }
    }
}

/// The blanks of a hint about indentation.
fn blanks_of(options: &caret::CaretOptions, text: &Snapshot, hint: &syntax::IndentHint) -> String {
    let width = options.tab_width.max(1);
    let start = text.row_start(hint.base);
    let blanks = text
        .chars_at(start)
        .take_while(|char| matches!(char, ' ' | '\t'));
    let cells = blanks.fold(0, |cells: u32, char| match char {
        '\t' => (cells / width + 1) * width,
        _ => cells + 1,
    });
    let levels = i64::from(hint.levels) * i64::from(width) + i64::from(hint.columns);
    let cells = u32::try_from((i64::from(cells) + levels).max(0)).unwrap_or(0) as usize;
    let width = width as usize;
    if options.hard_tabs {
        "\t".repeat(cells / width) + &" ".repeat(cells % width)
    } else {
        " ".repeat(cells)
    }
}
