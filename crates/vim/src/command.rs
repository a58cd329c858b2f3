//! Commands of normal and visual mode as values, and their parser.
//!
//! Start at `NormalCommand` and `parse`.

mod action;
mod motion;
mod object;
mod reader;
mod surround;

use crate::effect::{FoldCommand, NavigationTarget, WindowCommand};
use crate::host::SyntaxObject;
use crate::motion::Motion;
use crate::object::TextObject;

pub(crate) use reader::{Parse, ParseContext, parse};

/// A command with everything typed for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NormalCommand {
    pub(crate) register: Option<char>,
    /// The product of the counts before the operator and before the motion.
    pub(crate) count: Option<u32>,
    pub(crate) operator: Option<Operator>,
    /// The shape forced by `v`, `V` or `Ctrl-V` after an operator.
    pub(crate) force: Option<VisualShape>,
    pub(crate) action: Action,
}

impl NormalCommand {
    pub(crate) fn new(action: Action) -> Self {
        Self {
            register: None,
            count: None,
            operator: None,
            force: None,
            action,
        }
    }

    pub(crate) fn count_or_one(&self) -> u32 {
        self.count.unwrap_or(1)
    }
}

/// The shape of a visual selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisualShape {
    /// Characters.
    Chars,
    /// Whole lines.
    Lines,
    /// A block of columns.
    Block,
}

/// A command that takes a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Delete,
    Change,
    Yank,
    Indent,
    Outdent,
    Reindent,
    Filter,
    SwapCase,
    LowerCase,
    UpperCase,
    Rot13,
    Format {
        keeps_caret: bool,
    },
    Fold,
    FoldOpen {
        deep: bool,
    },
    FoldClose {
        deep: bool,
    },
    Comment,
    Exchange,
    ReplaceWithRegister,
    /// Surrounds with a pair; `on_lines` puts the pair on lines of its own.
    Surround {
        pair: SurroundPair,
        on_lines: bool,
    },
}

impl Operator {
    /// Whether it always takes whole lines, so that a selection does not take in a line break.
    pub(crate) fn is_by_lines(&self) -> bool {
        matches!(
            self,
            Operator::Indent
                | Operator::Outdent
                | Operator::Reindent
                | Operator::Filter
                | Operator::Format { .. }
                | Operator::Fold
                | Operator::FoldOpen { .. }
                | Operator::FoldClose { .. }
                | Operator::Comment
        )
    }

    /// Whether it changes the text, so that `.` repeats it.
    pub(crate) fn is_change(&self) -> bool {
        !matches!(
            self,
            Operator::Yank
                | Operator::Fold
                | Operator::FoldOpen { .. }
                | Operator::FoldClose { .. }
        )
    }
}

/// The texts that surround another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SurroundPair {
    pub(crate) open: String,
    pub(crate) close: String,
}

/// A surrounding to change or delete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SurroundTarget {
    /// Brackets, and whether blanks inside belong to them.
    Brackets {
        open: char,
        close: char,
        with_blanks: bool,
    },
    /// The same sign on both sides, in a line.
    Sign(char),
    Tag,
}

/// An object to select or to operate on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Text(TextObject),
    Syntax(SyntaxObject),
    /// The lines of the comment at the caret.
    CommentLines,
    /// The next match of the last search.
    Match {
        is_forward: bool,
    },
}

/// The place where an insertion begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InsertPlace {
    Here,
    Behind,
    FirstNonBlank,
    LineStart,
    LineEnd,
    LastInsertion,
    NewLineBelow,
    NewLineAbove,
}

/// The way in which a register is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PutStyle {
    pub(crate) before: bool,
    /// Whether the caret goes behind the text.
    pub(crate) caret_behind: bool,
    /// Whether lines get the indentation of the current one.
    pub(crate) reindents: bool,
}

/// The prompt of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandLineKind {
    Ex,
    SearchForward,
    SearchBackward,
}

/// The part of a command behind register, count and operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Motion(Motion),
    Object {
        kind: ObjectKind,
        is_around: bool,
    },
    /// Lines from the caret on, by the count, for a doubled operator.
    WholeLines,
    /// An operator for the visual selection.
    Operate(Operator),
    Prompt(CommandLineKind),
    Insert(InsertPlace),
    Replace {
        is_virtual: bool,
    },
    DeleteChar,
    DeleteCharBefore,
    DeleteToEnd,
    ChangeToEnd,
    Substitute,
    SubstituteLines,
    YankLine,
    Join {
        with_spaces: bool,
    },
    Put(PutStyle),
    ReplaceChar {
        char: char,
    },
    SwapCaseChar,
    Add {
        sign: i64,
        is_progressive: bool,
    },
    Undo,
    Redo,
    UndoLine,
    OlderState,
    NewerState,
    Repeat,
    RepeatSubstitute {
        everywhere: bool,
    },
    Record(char),
    StopRecording,
    Play(char),
    RepeatPlay,
    PlayRecorded,
    SetMark(char),
    Visual(VisualShape),
    Select(VisualShape),
    Reselect,
    JumpOlder,
    JumpNewer,
    ChangeOlder,
    ChangeNewer,
    ScrollLines {
        down: bool,
    },
    ScrollTo {
        place: ScrollPlace,
        to_text: bool,
    },
    ScrollCells {
        left: bool,
        half: bool,
    },
    Fold(FoldAction),
    Window(WindowCommand),
    Navigate(NavigationTarget),
    LookUp(crate::effect::LookUpKind),
    Alternate,
    WriteQuit,
    QuitForced,
    ShowChar,
    ShowPosition,
    BlankLine {
        above: bool,
    },
    DeleteSurround(SurroundTarget),
    ChangeSurround(SurroundTarget, SurroundPair),
    ClearExchange,
    /// Ends pending input or visual mode; in normal mode, extra carets.
    Escape,
    /// Visual: goes to the other end.
    SwapEnds {
        same_line: bool,
    },
    /// Visual: operators on whole lines (`X`, `Y`, `C`, `S`, `D`, `R`).
    OperateLines(Operator),
    /// Visual: to the ends of the lines of a block (`D`, `C` in a block).
    OperateToEnds(Operator),
    /// Visual: inserts at the start or the end of each line of the selection.
    BlockInsert {
        at_end: bool,
    },
    /// Visual: joins and case.
    ReplaceSelection {
        char: char,
    },
    /// Adds a caret at the next or previous match of the word.
    AddCaret {
        is_forward: bool,
    },
    Redraw,
}

/// The row of the view at which the caret's line is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScrollPlace {
    Top,
    Middle,
    Bottom,
    /// The next page begins at the line below the view (`z+`).
    NextPage,
    PreviousPage,
    CaretLeft,
    CaretRight,
}

/// A command for folds, without its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoldAction {
    Toggle,
    ToggleDeep,
    Open,
    OpenDeep,
    Close,
    CloseDeep,
    OpenAll,
    CloseAll,
    Reveal,
    More,
    Less,
    CreateLines,
    Delete,
}

impl FoldAction {
    /// The command for the host, for the rows from a caret's.
    pub(crate) fn command(self, rows: std::ops::Range<u32>) -> FoldCommand {
        match self {
            FoldAction::Toggle => FoldCommand::Toggle(rows.start),
            FoldAction::ToggleDeep => FoldCommand::ToggleDeep(rows.start),
            FoldAction::Open => FoldCommand::Open(rows),
            FoldAction::OpenDeep => FoldCommand::OpenDeep(rows),
            FoldAction::Close => FoldCommand::Close(rows),
            FoldAction::CloseDeep => FoldCommand::CloseDeep(rows),
            FoldAction::OpenAll => FoldCommand::OpenAll,
            FoldAction::CloseAll => FoldCommand::CloseAll,
            FoldAction::Reveal => FoldCommand::Reveal(rows.start),
            FoldAction::More => FoldCommand::More,
            FoldAction::Less => FoldCommand::Less,
            FoldAction::CreateLines => FoldCommand::Create(rows),
            FoldAction::Delete => FoldCommand::Delete(rows.start),
        }
    }
}

#[cfg(test)]
mod tests;
