//! Effects of commands outside the text, which the host carries out in order.
//!
//! Start at `Effect`.

use std::ops::Range;

use base::{ByteOffset, Point, Span};
use caret::find::FindQuery;

/// A request to the embedding editor (see `VimHost`) that results from a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Shows a message in the status bar.
    Message {
        /// Text of the message.
        text: String,
        /// Whether a command failed.
        is_error: bool,
    },
    /// A command was not possible; for a sound or a flash.
    Bell,
    /// Shows lines, such as those of `:registers`.
    Listing(Vec<String>),
    /// Writes the text to its file, or to another.
    Write {
        /// Path as typed; `None` for the file of the text.
        path: Option<String>,
        /// Condition for writing.
        condition: WriteCondition,
    },
    /// Writes all changed texts.
    WriteAll,
    /// Closes the view; with `is_forced`, unsaved changes too.
    Quit {
        /// Whether unsaved changes are given up.
        is_forced: bool,
    },
    /// Closes the window.
    QuitAll {
        /// Whether unsaved changes are given up.
        is_forced: bool,
    },
    /// Opens a file, or reads the own file again without a path.
    Open {
        /// Path as typed; `None` for the file of the text.
        path: Option<String>,
        /// Whether unsaved changes are given up.
        is_forced: bool,
        /// View in which it is opened.
        target: OpenTarget,
    },
    /// Inserts the text of a file below a row; the row 0 is the first, `None` is above it.
    ReadFile {
        /// Path as typed.
        path: String,
        /// Row below which the text goes.
        below: Option<u32>,
    },
    /// Runs a program with rows as its input, and replaces them by its output.
    Filter {
        /// Rows to replace.
        rows: Range<u32>,
        /// Command line of the user's shell.
        command: String,
    },
    /// Runs a program and shows its output.
    Shell(String),
    /// Moves among views, or changes their arrangement.
    Window(WindowCommand),
    /// Goes to another open text.
    Buffer(BufferCommand),
    /// Scrolls the view.
    Scroll(ScrollCommand),
    /// Opens, closes or creates folds.
    Fold(FoldCommand),
    /// The last search changed: its matches are to be highlighted, or none.
    HighlightSearch(Option<FindQuery>),
    /// Highlights yanked text for a moment.
    Yanked(Vec<Span>),
    /// Goes to a place that the language, the project or the panels know.
    Navigate {
        /// Kind of the target.
        target: NavigationTarget,
        /// Count typed before the command, at least 1.
        count: u32,
    },
    /// Continues at an older or newer place, in another text if need be.
    TravelJumps {
        /// Whether the place is newer.
        is_forward: bool,
        /// Number of further places, at least 1.
        count: u32,
    },
    /// Opens the file of a global mark at a point.
    OpenMark {
        /// Path of the file, as `VimHost::file_name` returned it.
        path: String,
        /// Point of the mark when it was set.
        point: Point,
    },
    /// Sets an option that the host owns.
    SetOption {
        /// Full name of the option.
        name: &'static str,
        /// Value; an empty text switches a flag off, and `on` switches it on.
        value: String,
    },
    /// Selects a completion.
    Completion(CompletionCommand),
    /// Offers commands of the palette for an unknown ex command.
    Palette(String),
    /// Looks up the text at an offset.
    LookUp {
        /// Kind of the information.
        kind: LookUpKind,
        /// Offset of the caret.
        at: ByteOffset,
    },
}

/// Condition under which a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteCondition {
    /// Always, unless the file changed on disk.
    Always,
    /// Only if the text is changed.
    IfChanged,
    /// Always, even if the file changed on disk.
    Forced,
}

/// View in which a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenTarget {
    /// In place of the current text.
    Here,
    /// In a new view below.
    Below,
    /// In a new view beside.
    Beside,
    /// In a new tab.
    NewTab,
}

/// A command that concerns views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowCommand {
    /// Focuses the view to the left.
    FocusLeft,
    /// Focuses the view below.
    FocusDown,
    /// Focuses the view above.
    FocusUp,
    /// Focuses the view to the right.
    FocusRight,
    /// Focuses the next view.
    FocusNext,
    /// Focuses the previous view.
    FocusPrevious,
    /// Moves the view to the left.
    MoveLeft,
    /// Moves the view down.
    MoveDown,
    /// Moves the view up.
    MoveUp,
    /// Moves the view to the right.
    MoveRight,
    /// Shows the text in another view below.
    SplitBelow,
    /// Shows the text in another view beside.
    SplitBeside,
    /// Closes the view.
    Close,
    /// Closes all other views.
    Only,
    /// Gives all views the same size.
    Equalize,
    /// Goes to the next tab, by a count.
    NextTab(u32),
    /// Goes to the previous tab, by a count.
    PreviousTab(u32),
    /// Goes to a tab by its number, counted from 1.
    GoToTab(u32),
    /// Opens an empty tab.
    NewTab,
    /// Closes the tab.
    CloseTab,
    /// Closes all other tabs.
    OnlyTab,
}

/// A command that concerns open texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BufferCommand {
    /// The next one, by a count.
    Next(u32),
    /// The previous one, by a count.
    Previous(u32),
    /// The first one.
    First,
    /// The last one.
    Last,
    /// The one shown before.
    Alternate,
    /// The one whose name contains a text.
    Named(String),
    /// Closes the text.
    Delete {
        /// Whether unsaved changes are given up.
        is_forced: bool,
    },
    /// Lists all of them.
    List,
}

/// A command that scrolls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScrollCommand {
    /// Shows a row at the top.
    RowToTop(u32),
    /// Shows a row in the middle.
    RowToMiddle(u32),
    /// Shows a row at the bottom.
    RowToBottom(u32),
    /// Scrolls sideways by cells; positive shows what is to the right.
    Cells(i32),
    /// Scrolls sideways until the caret is at the left edge.
    CaretToLeft,
    /// Scrolls sideways until the caret is at the right edge.
    CaretToRight,
}

/// A command that concerns folds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoldCommand {
    /// Opens or closes the fold at a row.
    Toggle(u32),
    /// Opens or closes the fold at a row with all inner ones.
    ToggleDeep(u32),
    /// Opens folds of rows, one level.
    Open(Range<u32>),
    /// Opens folds of rows with all inner ones.
    OpenDeep(Range<u32>),
    /// Closes folds of rows, one level.
    Close(Range<u32>),
    /// Closes folds of rows with all outer ones.
    CloseDeep(Range<u32>),
    /// Opens all folds.
    OpenAll,
    /// Closes all folds.
    CloseAll,
    /// Opens folds so that a row is visible.
    Reveal(u32),
    /// Opens one more level everywhere.
    More,
    /// Closes one more level everywhere.
    Less,
    /// Folds rows.
    Create(Range<u32>),
    /// Removes the fold at a row.
    Delete(u32),
}

/// Kind of a place to go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NavigationTarget {
    /// Definition of the name at the caret.
    Definition,
    /// Declaration of the name at the caret.
    Declaration,
    /// Type of the name at the caret.
    TypeDefinition,
    /// Implementations of the name at the caret.
    Implementation,
    /// Uses of the name at the caret.
    References,
    /// File whose name is at the caret.
    File,
    /// Link at the caret.
    Link,
    /// Symbols of the text.
    Symbols,
    /// Next diagnostic.
    NextDiagnostic,
    /// Previous diagnostic.
    PreviousDiagnostic,
    /// Next changed hunk.
    NextChange,
    /// Previous changed hunk.
    PreviousChange,
    /// Next search result of the project.
    NextResult,
    /// Previous search result of the project.
    PreviousResult,
}

/// Kind of information about the text at the caret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookUpKind {
    /// Documentation of the name.
    Documentation,
    /// Renames the name.
    Rename,
    /// Code actions.
    Actions,
}

/// A command for the list of completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionCommand {
    /// Opens the list, or selects the next item.
    Next,
    /// Opens the list, or selects the previous item.
    Previous,
    /// Accepts the selected item.
    Accept,
    /// Closes the list without accepting.
    Cancel,
}
