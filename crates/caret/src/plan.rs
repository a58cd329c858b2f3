//! The one entrance: a command and its context in, a plan out.
//!
//! Start at `plan`.

use text::{EditKind, Selection, SelectionSet, Snapshot};

use crate::boxes::{self, Side};
use crate::case::{Spelling, change_case};
use crate::command::Command;
use crate::context::{Context, Memory, Plan};
use crate::rows::{self, Order, Way};
use crate::{comment, delete, expand, indent, insert, motion, newline, occurrences, select};

/// What `command` would do. Changes nothing; the caller applies the edits and sets the selections.
// tidy: table
pub fn plan(command: &Command, ctx: &Context) -> Plan {
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
        } => Plan::select(select::between(ctx, *from, *to, *unit, *keep_others)),
        Command::ToggleCaret(offset) => Plan::select(select::toggle_caret(ctx, *offset)),
        Command::SelectBox(column_box) => boxes::select(ctx, *column_box),
        Command::Newline => newline::newline(ctx),
        Command::NewlineAbove => newline::newline_above(ctx),
        Command::NewlineBelow => newline::newline_below(ctx),
        Command::Tab => indent::tab(ctx),
        Command::Indent => indent::indent_rows(ctx),
        Command::Outdent => indent::outdent_rows(ctx),
        Command::ToggleLineComment => comment::toggle_line_comment(ctx),
        Command::ToggleBlockComment => comment::toggle_block_comment(ctx),
        Command::MoveRowsUp => rows::move_rows(ctx, Way::Up),
        Command::MoveRowsDown => rows::move_rows(ctx, Way::Down),
        Command::DuplicateUp => rows::duplicate_rows(ctx, Way::Up),
        Command::DuplicateDown => rows::duplicate_rows(ctx, Way::Down),
        Command::DuplicateSelection => rows::duplicate_selections(ctx),
        Command::JoinRows => rows::join_rows(ctx),
        Command::SortRows => rows::reorder_rows(ctx, Order::Ascending),
        Command::SortRowsDescending => rows::reorder_rows(ctx, Order::Descending),
        Command::SortRowsIgnoringCase => rows::reorder_rows(ctx, Order::IgnoringCase),
        Command::UniqueRows => rows::reorder_rows(ctx, Order::Unique),
        Command::UniqueRowsIgnoringCase => rows::reorder_rows(ctx, Order::UniqueIgnoringCase),
        Command::ReverseRows => rows::reorder_rows(ctx, Order::Reversed),
        Command::DeleteRows => rows::delete_rows(ctx),
        Command::Transpose => rows::transpose(ctx),
        Command::UpperCase => change_case(ctx, Spelling::Upper),
        Command::LowerCase => change_case(ctx, Spelling::Lower),
        Command::TitleCase => change_case(ctx, Spelling::Title),
        Command::SnakeCase => change_case(ctx, Spelling::Snake),
        Command::CamelCase => change_case(ctx, Spelling::Camel),
        Command::PascalCase => change_case(ctx, Spelling::Pascal),
        Command::KebabCase => change_case(ctx, Spelling::Kebab),
        Command::ScreamingSnakeCase => change_case(ctx, Spelling::ScreamingSnake),
        Command::ToggleCase => change_case(ctx, Spelling::Toggled),
        Command::DeleteTrailingSpace => indent::delete_trailing_space(ctx),
        Command::IndentWithSpaces => indent::convert(ctx, false),
        Command::IndentWithTabs => indent::convert(ctx, true),
        Command::SelectRow => Plan::select(rows::select_rows(ctx)),
        Command::SelectWord => Plan::select(select::words(ctx)),
        Command::SelectAll => Plan::select(select::all(ctx)),
        Command::SelectInBrackets => expand::in_brackets(ctx),
        Command::ExpandSelection => expand::expand(ctx),
        Command::ShrinkSelection => expand::shrink(ctx),
        Command::AddCaretAbove => Plan::select(select::add_carets(ctx, Way::Up)),
        Command::AddCaretBelow => Plan::select(select::add_carets(ctx, Way::Down)),
        Command::SelectNextOccurrence => occurrences::add(ctx, occurrences::Way::Forward),
        Command::SelectPreviousOccurrence => occurrences::add(ctx, occurrences::Way::Backward),
        Command::SkipOccurrence => occurrences::skip(ctx),
        Command::SelectAllOccurrences => occurrences::all(ctx),
        Command::SplitIntoRows => Plan::select(select::split_into_rows(ctx)),
        Command::CaretsAtRowEnds => Plan::select(select::at_row_ends(ctx)),
        Command::CollapseCarets => Plan::select(select::collapse(ctx)),
        Command::SwapEnds => Plan::select(ctx.selections.transform(swapped)),
        Command::BoxUp => boxes::grow(ctx, Side::Up),
        Command::BoxDown => boxes::grow(ctx, Side::Down),
        Command::BoxLeft => boxes::grow(ctx, Side::Left),
        Command::BoxRight => boxes::grow(ctx, Side::Right),
    }
}

fn swapped(selection: &Selection) -> Selection {
    Selection::new(selection.head, selection.anchor)
}

/// The same selections on grapheme borders of a text: for after edits that joined characters, such
/// as a letter typed before a combining mark.
pub fn settle(snapshot: &Snapshot, selections: &SelectionSet) -> SelectionSet {
    let is_settled = |offset| motion::on_border(snapshot, offset) == offset;
    if selections
        .iter()
        .all(|selection| is_settled(selection.anchor) && is_settled(selection.head))
    {
        return selections.clone();
    }
    selections.transform(|selection| Selection {
        anchor: motion::border_behind(snapshot, selection.anchor),
        head: motion::border_behind(snapshot, selection.head),
        goal: selection.goal,
    })
}

impl Plan {
    /// Leaves everything as it is.
    pub fn nothing(ctx: &Context) -> Plan {
        Plan {
            edits: Vec::new(),
            selections: ctx.selections.clone(),
            kind: EditKind::Other,
            memory: ctx.memory.clone(),
            unfold: Vec::new(),
            fold: Vec::new(),
        }
    }

    /// Other selections, no edits.
    pub(crate) fn select(selections: SelectionSet) -> Plan {
        Plan {
            edits: Vec::new(),
            selections,
            kind: EditKind::Other,
            memory: Memory::default(),
            unfold: Vec::new(),
            fold: Vec::new(),
        }
    }

    /// Other selections, and what the next command should know of them.
    pub(crate) fn select_and_remember(
        ctx: &Context,
        selections: SelectionSet,
        memory: Memory,
    ) -> Plan {
        let memory = Memory {
            valid_for: Some((ctx.snapshot.revision(), selections.clone())),
            ..memory
        };
        Plan {
            memory,
            ..Plan::select(selections)
        }
    }
}
