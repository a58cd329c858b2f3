//! All caret commands, with their names and help texts.
//!
//! The names are stable: keymaps and the palette use them. Start at `Command`.

use base::ByteOffset;

use crate::column_box::ColumnBox;
use crate::motion::Motion;

/// Granularity of selecting with the pointer: characters, words or rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SelectionUnit {
    /// Single graphemes, the default.
    Character,
    /// Whole words, as with a double click.
    Word,
    /// Whole rows with their line endings, as with a triple click.
    Row,
}

/// Declares the commands without data, with their names and help texts.
macro_rules! commands {
    ($($variant:ident, $name:literal, $doc:literal;)*) => {
        /// A command of the editor that applies at every caret at once, as data; `plan` computes
        /// its effect.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Command {
            /// Moves every caret; a selection left or right collapses to its edge.
            Move(Motion),
            /// Moves every head and leaves the anchors.
            Select(Motion),
            /// Deletes the selections, or from each caret to the target of the motion.
            Delete(Motion),
            /// Typed text: replaces selections, closes and skips brackets, surrounds.
            Insert(String),
            /// Literal text: replaces selections without closing brackets. For input methods and
            /// paste.
            InsertLiteral(String),
            /// Selects from one offset to another by characters, words or rows, as with a pointer
            /// drag. Replaces every selection, or only the newest one if `keep_others` is set.
            SelectBetween {
                /// Offset where the button was pressed.
                from: ByteOffset,
                /// Current offset of the pointer.
                to: ByteOffset,
                /// Granularity of the selection.
                unit: SelectionUnit,
                /// Whether to keep the other selections.
                keep_others: bool,
            },
            /// Adds a caret at an offset, or removes the existing one there.
            ToggleCaret(ByteOffset),
            /// Selects a box of display cells.
            SelectBox(ColumnBox),
            $(#[doc = $doc] $variant,)*
        }

        impl Command {
            /// Returns every command without arguments, including motions, for the command palette.
            pub fn all() -> Vec<Command> {
                let moves = Motion::ALL.iter().map(|motion| Command::Move(*motion));
                let selects = Motion::ALL.iter().map(|motion| Command::Select(*motion));
                let deletes = DELETE_MOTIONS.iter().map(|motion| Command::Delete(*motion));
                moves.chain(selects).chain(deletes).chain([$(Command::$variant),*]).collect()
            }

            /// Returns the stable name used in keymaps and the palette, with hyphens.
            // tidy: table
            pub fn name(&self) -> &'static str {
                match self {
                    Command::Move(motion) => motion.move_name(),
                    Command::Select(motion) => motion.select_name(),
                    Command::Delete(motion) => motion.delete_name(),
                    Command::Insert(_) => "insert",
                    Command::InsertLiteral(_) => "insert-literal",
                    Command::SelectBetween { .. } => "select-between",
                    Command::ToggleCaret(_) => "toggle-caret",
                    Command::SelectBox(_) => "select-box",
                    $(Command::$variant => $name,)*
                }
            }

            /// Returns the help text, one sentence.
            // tidy: table
            pub fn doc(&self) -> &'static str {
                match self {
                    Command::Move(motion) => motion.move_doc(),
                    Command::Select(motion) => motion.select_doc(),
                    Command::Delete(motion) => motion.delete_doc(),
                    Command::Insert(_) => "Types text at every caret, closing brackets and quotes.",
                    Command::InsertLiteral(_) => "Inserts text at every caret as it is.",
                    Command::SelectBetween { .. } => "Selects between two places by character, word or row.",
                    Command::ToggleCaret(_) => "Adds a caret at a place, or removes the one there.",
                    Command::SelectBox(_) => "Selects a box of columns.",
                    $(Command::$variant => $doc,)*
                }
            }
        }
    };
}

/// Motions that can be combined with deletion.
const DELETE_MOTIONS: &[Motion] = &[
    Motion::Left,
    Motion::Right,
    Motion::WordLeft,
    Motion::WordRight,
    Motion::SubwordLeft,
    Motion::SubwordRight,
    Motion::RowStart,
    Motion::RowEnd,
    Motion::ParagraphUp,
    Motion::ParagraphDown,
    Motion::FileStart,
    Motion::FileEnd,
    Motion::MatchingBracket,
];

commands! {
    Newline, "newline", "Starts a new row with the right indentation; between brackets opens two rows.";
    NewlineAbove, "newline-above", "Opens a row above and moves the caret there.";
    NewlineBelow, "newline-below", "Opens a row below and moves the caret there.";
    Tab, "tab", "Indents the selected rows, or inserts a tab or spaces up to the next tab stop.";
    Indent, "indent", "Indents the rows of every selection by one step.";
    Outdent, "outdent", "Removes one step of indentation from the rows of every selection.";
    ToggleLineComment, "toggle-line-comment", "Comments the selected rows, or uncomments them.";
    ToggleBlockComment, "toggle-block-comment", "Wraps every selection in a block comment, or unwraps it.";
    MoveRowsUp, "move-rows-up", "Moves the selected rows above the previous row.";
    MoveRowsDown, "move-rows-down", "Moves the selected rows below the next row.";
    DuplicateUp, "duplicate-up", "Copies the selected rows above themselves.";
    DuplicateDown, "duplicate-down", "Copies the selected rows below themselves.";
    DuplicateSelection, "duplicate-selection", "Duplicates every selection after itself, or the row of an empty one.";
    JoinRows, "join-rows", "Joins the selected rows, or a row with the next, with one space between.";
    SortRows, "sort-rows", "Sorts the selected rows, or all, from A to Z.";
    SortRowsDescending, "sort-rows-descending", "Sorts the selected rows, or all, from Z to A.";
    SortRowsIgnoringCase, "sort-rows-ignoring-case", "Sorts the selected rows, or all, ignoring case.";
    UniqueRows, "unique-rows", "Removes selected rows, or any, that repeat an earlier one.";
    UniqueRowsIgnoringCase, "unique-rows-ignoring-case", "Removes rows that repeat an earlier one, ignoring case.";
    ReverseRows, "reverse-rows", "Reverses the order of the selected rows, or all.";
    DeleteRows, "delete-rows", "Deletes every row with a selection on it.";
    Transpose, "transpose", "Swaps the characters around every caret.";
    UpperCase, "upper-case", "Converts the selections, or the words at the carets, to upper case.";
    LowerCase, "lower-case", "Converts the selections, or the words at the carets, to lower case.";
    TitleCase, "title-case", "Capitalizes the first letter of every word.";
    SnakeCase, "snake-case", "Turns names into snake_case.";
    CamelCase, "camel-case", "Turns names into camelCase.";
    PascalCase, "pascal-case", "Turns names into PascalCase.";
    KebabCase, "kebab-case", "Turns names into kebab-case.";
    ScreamingSnakeCase, "screaming-snake-case", "Turns names into SCREAMING_SNAKE_CASE.";
    ToggleCase, "toggle-case", "Swaps upper and lower case.";
    DeleteTrailingSpace, "delete-trailing-space", "Deletes blanks at the ends of rows in the whole file.";
    IndentWithSpaces, "indent-with-spaces", "Converts the tabs that indent rows to spaces.";
    IndentWithTabs, "indent-with-tabs", "Converts the spaces that indent rows to tabs.";
    SelectRow, "select-row", "Selects whole rows; repeat to add the next row.";
    SelectWord, "select-word", "Selects the word at every caret.";
    SelectAll, "select-all", "Selects the whole text.";
    SelectInBrackets, "select-in-brackets", "Selects the text between the brackets around every caret; repeat to include the brackets.";
    ExpandSelection, "expand-selection", "Expands every selection to the next larger piece of syntax.";
    ShrinkSelection, "shrink-selection", "Undoes the last expansion of the selections.";
    AddCaretAbove, "add-caret-above", "Adds a caret on the row above.";
    AddCaretBelow, "add-caret-below", "Adds a caret on the row below.";
    SelectNextOccurrence, "select-next-occurrence", "Selects the word at the caret, then adds its next occurrence.";
    SelectPreviousOccurrence, "select-previous-occurrence", "Selects the word at the caret, then adds its previous occurrence.";
    SkipOccurrence, "skip-occurrence", "Drops the newest selection and adds the next occurrence instead.";
    SelectAllOccurrences, "select-all-occurrences", "Selects every occurrence of the selected text.";
    SplitIntoRows, "split-into-rows", "Splits every selection into one for each row.";
    CaretsAtRowEnds, "carets-at-row-ends", "Puts a caret at the end of every selected row.";
    CollapseCarets, "collapse-carets", "Keeps the newest selection only; then makes it a caret.";
    SwapEnds, "swap-ends", "Moves every head to the other end of its selection.";
    BoxUp, "box-up", "Extends the box of selected columns one row up.";
    BoxDown, "box-down", "Extends the box of selected columns one row down.";
    BoxLeft, "box-left", "Extends the box of selected columns one cell to the left.";
    BoxRight, "box-right", "Extends the box of selected columns one cell to the right.";
}
