//! One action per caret command, with the command's help text.
//!
//! Start at `CARET_ACTIONS`. A test compares names and help texts with `caret::Command::all`.

use std::any::TypeId;

use caret::{Command, Motion};

/// An action and its caret command.
pub(crate) struct CaretAction {
    /// Type id of the action.
    pub(crate) id: fn() -> TypeId,
    /// Constructor of the command.
    pub(crate) command: fn() -> Command,
}

/// Declares the actions and the table that maps them to commands.
macro_rules! caret_actions {
    ($($name:ident => $command:expr, $doc:literal;)*) => {
        gpui_kit::actions!(editor, [$(#[doc = $doc] $name),*]);

        /// All caret actions with their commands.
        pub(crate) static CARET_ACTIONS: &[CaretAction] = &[
            $(CaretAction { id: TypeId::of::<$name>, command: || $command },)*
        ];

        /// Names of all caret actions, for the test.
        #[cfg(test)]
        pub(crate) static CARET_ACTION_NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

caret_actions! {
    MoveLeft => Command::Move(Motion::Left), "Moves every caret one character to the left.";
    MoveRight => Command::Move(Motion::Right), "Moves every caret one character to the right.";
    MoveUp => Command::Move(Motion::Up), "Moves every caret one row up.";
    MoveDown => Command::Move(Motion::Down), "Moves every caret one row down.";
    MoveWordLeft => Command::Move(Motion::WordLeft), "Moves every caret one word to the left.";
    MoveWordRight => Command::Move(Motion::WordRight), "Moves every caret one word to the right.";
    MoveSubwordLeft => Command::Move(Motion::SubwordLeft), "Moves every caret one part of a word to the left.";
    MoveSubwordRight => Command::Move(Motion::SubwordRight), "Moves every caret one part of a word to the right.";
    MoveRowStart => Command::Move(Motion::RowStart), "Moves every caret to the start of its row.";
    MoveRowEnd => Command::Move(Motion::RowEnd), "Moves every caret to the end of its row.";
    MoveDisplayRowStart => Command::Move(Motion::DisplayRowStart), "Moves every caret to the start of its wrapped row.";
    MoveDisplayRowEnd => Command::Move(Motion::DisplayRowEnd), "Moves every caret to the end of its wrapped row.";
    MoveParagraphUp => Command::Move(Motion::ParagraphUp), "Moves every caret to the start of the paragraph.";
    MoveParagraphDown => Command::Move(Motion::ParagraphDown), "Moves every caret to the end of the paragraph.";
    MovePageUp => Command::Move(Motion::PageUp), "Moves every caret one page up.";
    MovePageDown => Command::Move(Motion::PageDown), "Moves every caret one page down.";
    MoveHalfPageUp => Command::Move(Motion::HalfPageUp), "Moves every caret half a page up.";
    MoveHalfPageDown => Command::Move(Motion::HalfPageDown), "Moves every caret half a page down.";
    MoveFileStart => Command::Move(Motion::FileStart), "Moves every caret to the start of the file.";
    MoveFileEnd => Command::Move(Motion::FileEnd), "Moves every caret to the end of the file.";
    MoveMatchingBracket => Command::Move(Motion::MatchingBracket), "Moves every caret to the matching bracket.";
    SelectLeft => Command::Select(Motion::Left), "Extends every selection one character to the left.";
    SelectRight => Command::Select(Motion::Right), "Extends every selection one character to the right.";
    SelectUp => Command::Select(Motion::Up), "Extends every selection one row up.";
    SelectDown => Command::Select(Motion::Down), "Extends every selection one row down.";
    SelectWordLeft => Command::Select(Motion::WordLeft), "Extends every selection one word to the left.";
    SelectWordRight => Command::Select(Motion::WordRight), "Extends every selection one word to the right.";
    SelectSubwordLeft => Command::Select(Motion::SubwordLeft), "Extends every selection one part of a word to the left.";
    SelectSubwordRight => Command::Select(Motion::SubwordRight), "Extends every selection one part of a word to the right.";
    SelectRowStart => Command::Select(Motion::RowStart), "Extends every selection to the start of its row.";
    SelectRowEnd => Command::Select(Motion::RowEnd), "Extends every selection to the end of its row.";
    SelectDisplayRowStart => Command::Select(Motion::DisplayRowStart), "Extends every selection to the start of its wrapped row.";
    SelectDisplayRowEnd => Command::Select(Motion::DisplayRowEnd), "Extends every selection to the end of its wrapped row.";
    SelectParagraphUp => Command::Select(Motion::ParagraphUp), "Extends every selection to the start of the paragraph.";
    SelectParagraphDown => Command::Select(Motion::ParagraphDown), "Extends every selection to the end of the paragraph.";
    SelectPageUp => Command::Select(Motion::PageUp), "Extends every selection one page up.";
    SelectPageDown => Command::Select(Motion::PageDown), "Extends every selection one page down.";
    SelectHalfPageUp => Command::Select(Motion::HalfPageUp), "Extends every selection half a page up.";
    SelectHalfPageDown => Command::Select(Motion::HalfPageDown), "Extends every selection half a page down.";
    SelectFileStart => Command::Select(Motion::FileStart), "Extends every selection to the start of the file.";
    SelectFileEnd => Command::Select(Motion::FileEnd), "Extends every selection to the end of the file.";
    SelectMatchingBracket => Command::Select(Motion::MatchingBracket), "Extends every selection to the matching bracket.";
    DeleteLeft => Command::Delete(Motion::Left), "Deletes the selections, or the text from every caret one character to the left.";
    DeleteRight => Command::Delete(Motion::Right), "Deletes the selections, or the text from every caret one character to the right.";
    DeleteWordLeft => Command::Delete(Motion::WordLeft), "Deletes the selections, or the text from every caret one word to the left.";
    DeleteWordRight => Command::Delete(Motion::WordRight), "Deletes the selections, or the text from every caret one word to the right.";
    DeleteSubwordLeft => Command::Delete(Motion::SubwordLeft), "Deletes the selections, or the text from every caret one part of a word to the left.";
    DeleteSubwordRight => Command::Delete(Motion::SubwordRight), "Deletes the selections, or the text from every caret one part of a word to the right.";
    DeleteRowStart => Command::Delete(Motion::RowStart), "Deletes the selections, or the text from every caret to the start of its row.";
    DeleteRowEnd => Command::Delete(Motion::RowEnd), "Deletes the selections, or the text from every caret to the end of its row.";
    DeleteParagraphUp => Command::Delete(Motion::ParagraphUp), "Deletes the selections, or the text from every caret to the start of the paragraph.";
    DeleteParagraphDown => Command::Delete(Motion::ParagraphDown), "Deletes the selections, or the text from every caret to the end of the paragraph.";
    DeleteFileStart => Command::Delete(Motion::FileStart), "Deletes the selections, or the text from every caret to the start of the file.";
    DeleteFileEnd => Command::Delete(Motion::FileEnd), "Deletes the selections, or the text from every caret to the end of the file.";
    DeleteMatchingBracket => Command::Delete(Motion::MatchingBracket), "Deletes the selections, or the text from every caret to the matching bracket.";
    Newline => Command::Newline, "Starts a new row with the right indentation; between brackets opens two rows.";
    NewlineAbove => Command::NewlineAbove, "Opens a row above and moves the caret there.";
    NewlineBelow => Command::NewlineBelow, "Opens a row below and moves the caret there.";
    Tab => Command::Tab, "Indents the selected rows, or inserts a tab or spaces up to the next tab stop.";
    Indent => Command::Indent, "Indents the rows of every selection by one step.";
    Outdent => Command::Outdent, "Removes one step of indentation from the rows of every selection.";
    ToggleLineComment => Command::ToggleLineComment, "Comments the selected rows, or uncomments them.";
    ToggleBlockComment => Command::ToggleBlockComment, "Wraps every selection in a block comment, or unwraps it.";
    MoveRowsUp => Command::MoveRowsUp, "Moves the selected rows above the previous row.";
    MoveRowsDown => Command::MoveRowsDown, "Moves the selected rows below the next row.";
    DuplicateUp => Command::DuplicateUp, "Copies the selected rows above themselves.";
    DuplicateDown => Command::DuplicateDown, "Copies the selected rows below themselves.";
    DuplicateSelection => Command::DuplicateSelection, "Duplicates every selection after itself, or the row of an empty one.";
    JoinRows => Command::JoinRows, "Joins the selected rows, or a row with the next, with one space between.";
    SortRows => Command::SortRows, "Sorts the selected rows, or all, from A to Z.";
    SortRowsDescending => Command::SortRowsDescending, "Sorts the selected rows, or all, from Z to A.";
    SortRowsIgnoringCase => Command::SortRowsIgnoringCase, "Sorts the selected rows, or all, ignoring case.";
    UniqueRows => Command::UniqueRows, "Removes selected rows, or any, that repeat an earlier one.";
    UniqueRowsIgnoringCase => Command::UniqueRowsIgnoringCase, "Removes rows that repeat an earlier one, ignoring case.";
    ReverseRows => Command::ReverseRows, "Reverses the order of the selected rows, or all.";
    DeleteRows => Command::DeleteRows, "Deletes every row with a selection on it.";
    Transpose => Command::Transpose, "Swaps the characters around every caret.";
    UpperCase => Command::UpperCase, "Converts the selections, or the words at the carets, to upper case.";
    LowerCase => Command::LowerCase, "Converts the selections, or the words at the carets, to lower case.";
    TitleCase => Command::TitleCase, "Capitalizes the first letter of every word.";
    SnakeCase => Command::SnakeCase, "Turns names into snake_case.";
    CamelCase => Command::CamelCase, "Turns names into camelCase.";
    PascalCase => Command::PascalCase, "Turns names into PascalCase.";
    KebabCase => Command::KebabCase, "Turns names into kebab-case.";
    ScreamingSnakeCase => Command::ScreamingSnakeCase, "Turns names into SCREAMING_SNAKE_CASE.";
    ToggleCase => Command::ToggleCase, "Swaps upper and lower case.";
    DeleteTrailingSpace => Command::DeleteTrailingSpace, "Deletes blanks at the ends of rows in the whole file.";
    IndentWithSpaces => Command::IndentWithSpaces, "Converts the tabs that indent rows to spaces.";
    IndentWithTabs => Command::IndentWithTabs, "Converts the spaces that indent rows to tabs.";
    SelectRow => Command::SelectRow, "Selects whole rows; repeat to add the next row.";
    SelectWord => Command::SelectWord, "Selects the word at every caret.";
    SelectAll => Command::SelectAll, "Selects the whole text.";
    SelectInBrackets => Command::SelectInBrackets, "Selects the text between the brackets around every caret; repeat to include the brackets.";
    ExpandSelection => Command::ExpandSelection, "Expands every selection to the next larger piece of syntax.";
    ShrinkSelection => Command::ShrinkSelection, "Undoes the last expansion of the selections.";
    AddCaretAbove => Command::AddCaretAbove, "Adds a caret on the row above.";
    AddCaretBelow => Command::AddCaretBelow, "Adds a caret on the row below.";
    SelectNextOccurrence => Command::SelectNextOccurrence, "Selects the word at the caret, then adds its next occurrence.";
    SelectPreviousOccurrence => Command::SelectPreviousOccurrence, "Selects the word at the caret, then adds its previous occurrence.";
    SkipOccurrence => Command::SkipOccurrence, "Drops the newest selection and adds the next occurrence instead.";
    SelectAllOccurrences => Command::SelectAllOccurrences, "Selects every occurrence of the selected text.";
    SplitIntoRows => Command::SplitIntoRows, "Splits every selection into one for each row.";
    CaretsAtRowEnds => Command::CaretsAtRowEnds, "Puts a caret at the end of every selected row.";
    CollapseCarets => Command::CollapseCarets, "Keeps the newest selection only; then makes it a caret.";
    SwapEnds => Command::SwapEnds, "Moves every head to the other end of its selection.";
    BoxUp => Command::BoxUp, "Extends the box of selected columns one row up.";
    BoxDown => Command::BoxDown, "Extends the box of selected columns one row down.";
    BoxLeft => Command::BoxLeft, "Extends the box of selected columns one cell to the left.";
    BoxRight => Command::BoxRight, "Extends the box of selected columns one cell to the right.";
}

#[cfg(test)]
mod tests;
