//! Entry point: plans a command in its context.
//!
//! Start at `plan`.

use text::{EditKind, Selection, SelectionSet};

use crate::boxes::BoxDirection;
use crate::case::{NameSpelling, change_case};
use crate::command::Command;
use crate::context::{CaretPlan, CommandContext, CommandMemory};
use crate::rows::{RowDirection, RowOrder};
use crate::{
    boxes, comment, delete, expand, indent, insert, motion, newline, occurrences, rows, select,
};

/// Plans a command. Has no side effects; the caller applies the edits and sets the selections.
// tidy: table
pub fn plan(command: &Command, ctx: &CommandContext) -> CaretPlan {
    match command {
        Command::Move(motion) => motion::move_carets(ctx, *motion),
        Command::Select(motion) => motion::extend(ctx, *motion),
        Command::Delete(motion) => delete::delete(ctx, *motion),
        Command::Insert(text) => insert::insert(ctx, text),
        Command::InsertLiteral(text) => insert::insert_literal(ctx, text),
        Command::SelectBetween {
            from,
            to,
            unit,
            keep_others,
        } => CaretPlan::select(select::between(ctx, *from, *to, *unit, *keep_others)),
        Command::ToggleCaret(offset) => CaretPlan::select(select::toggle_caret(ctx, *offset)),
        Command::SelectBox(column_box) => boxes::select(ctx, *column_box),
        Command::Newline => newline::newline(ctx),
        Command::NewlineAbove => newline::newline_above(ctx),
        Command::NewlineBelow => newline::newline_below(ctx),
        Command::Tab => indent::tab(ctx),
        Command::Indent => indent::indent_rows(ctx),
        Command::Outdent => indent::outdent_rows(ctx),
        Command::ToggleLineComment => comment::toggle_line_comment(ctx),
        Command::ToggleBlockComment => comment::toggle_block_comment(ctx),
        Command::MoveRowsUp => rows::move_rows(ctx, RowDirection::Up),
        Command::MoveRowsDown => rows::move_rows(ctx, RowDirection::Down),
        Command::DuplicateUp => rows::duplicate_rows(ctx, RowDirection::Up),
        Command::DuplicateDown => rows::duplicate_rows(ctx, RowDirection::Down),
        Command::DuplicateSelection => rows::duplicate_selections(ctx),
        Command::JoinRows => rows::join_rows(ctx),
        Command::SortRows => rows::reorder_rows(ctx, RowOrder::Ascending),
        Command::SortRowsDescending => rows::reorder_rows(ctx, RowOrder::Descending),
        Command::SortRowsIgnoringCase => rows::reorder_rows(ctx, RowOrder::IgnoringCase),
        Command::UniqueRows => rows::reorder_rows(ctx, RowOrder::Unique),
        Command::UniqueRowsIgnoringCase => rows::reorder_rows(ctx, RowOrder::UniqueIgnoringCase),
        Command::ReverseRows => rows::reorder_rows(ctx, RowOrder::Reversed),
        Command::DeleteRows => rows::delete_rows(ctx),
        Command::Transpose => rows::transpose(ctx),
        Command::UpperCase => change_case(ctx, NameSpelling::Upper),
        Command::LowerCase => change_case(ctx, NameSpelling::Lower),
        Command::TitleCase => change_case(ctx, NameSpelling::Title),
        Command::SnakeCase => change_case(ctx, NameSpelling::Snake),
        Command::CamelCase => change_case(ctx, NameSpelling::Camel),
        Command::PascalCase => change_case(ctx, NameSpelling::Pascal),
        Command::KebabCase => change_case(ctx, NameSpelling::Kebab),
        Command::ScreamingSnakeCase => change_case(ctx, NameSpelling::ScreamingSnake),
        Command::ToggleCase => change_case(ctx, NameSpelling::Toggled),
        Command::DeleteTrailingSpace => indent::delete_trailing_space(ctx),
        Command::IndentWithSpaces => indent::convert(ctx, false),
        Command::IndentWithTabs => indent::convert(ctx, true),
        Command::SelectRow => CaretPlan::select(rows::select_rows(ctx)),
        Command::SelectWord => CaretPlan::select(select::words_at_carets(ctx)),
        Command::SelectAll => CaretPlan::select(select::all(ctx)),
        Command::SelectInBrackets => expand::in_brackets(ctx),
        Command::ExpandSelection => expand::expand(ctx),
        Command::ShrinkSelection => expand::shrink(ctx),
        Command::AddCaretAbove => CaretPlan::select(select::add_carets(ctx, RowDirection::Up)),
        Command::AddCaretBelow => CaretPlan::select(select::add_carets(ctx, RowDirection::Down)),
        Command::SelectNextOccurrence => {
            occurrences::add(ctx, occurrences::SearchDirection::Forward)
        }
        Command::SelectPreviousOccurrence => {
            occurrences::add(ctx, occurrences::SearchDirection::Backward)
        }
        Command::SkipOccurrence => occurrences::skip(ctx),
        Command::SelectAllOccurrences => occurrences::all(ctx),
        Command::SplitIntoRows => CaretPlan::select(select::split_into_rows(ctx)),
        Command::CaretsAtRowEnds => CaretPlan::select(select::at_row_ends(ctx)),
        Command::CollapseCarets => CaretPlan::select(select::collapse(ctx)),
        Command::SwapEnds => CaretPlan::select(ctx.selections.transform(swapped)),
        Command::BoxUp => boxes::grow(ctx, BoxDirection::Up),
        Command::BoxDown => boxes::grow(ctx, BoxDirection::Down),
        Command::BoxLeft => boxes::grow(ctx, BoxDirection::Left),
        Command::BoxRight => boxes::grow(ctx, BoxDirection::Right),
    }
}

fn swapped(selection: &Selection) -> Selection {
    Selection::new(selection.head, selection.anchor)
}

impl CaretPlan {
    /// Returns a plan that leaves the text unchanged and keeps selections and memory.
    pub fn nothing(ctx: &CommandContext) -> CaretPlan {
        CaretPlan {
            edits: Vec::new(),
            selections: ctx.selections.clone(),
            kind: EditKind::Other,
            memory: ctx.memory.clone(),
            unfold: Vec::new(),
            fold: Vec::new(),
        }
    }

    /// Returns a plan that only sets the selections, and resets the memory.
    pub(crate) fn select(selections: SelectionSet) -> CaretPlan {
        CaretPlan {
            edits: Vec::new(),
            selections,
            kind: EditKind::Other,
            memory: CommandMemory::default(),
            unfold: Vec::new(),
            fold: Vec::new(),
        }
    }

    /// Returns a plan that sets the selections and the memory for the next command.
    pub(crate) fn select_and_remember(
        ctx: &CommandContext,
        selections: SelectionSet,
        memory: CommandMemory,
    ) -> CaretPlan {
        let memory = CommandMemory {
            valid_for: Some((ctx.snapshot.revision(), selections.clone())),
            ..memory
        };
        CaretPlan {
            memory,
            ..CaretPlan::select(selections)
        }
    }
}
