//! The actions of the editor view that are no caret commands, and what each one does.
//!
//! Two tables: `EDITOR_ACTIONS` work where the keyboard is in the text, `FIND_ACTIONS` also where it is
//! in the find bar. The names are what people write in keymaps, so they stay as they are.

use std::any::TypeId;

use gpui_kit::{Context, Window};

use crate::editor::Editor;

/// One action and what it does.
pub(crate) struct EditorAction {
    /// The type of the action.
    pub(crate) id: fn() -> TypeId,
    /// What it does.
    pub(crate) run: fn(&mut Editor, &mut Window, &mut Context<Editor>),
}

/// Declares actions and the table that leads from them to methods.
macro_rules! editor_actions {
    ($(#[$meta:meta])* $table:ident: $($name:ident => $run:path, $doc:literal;)*) => {
        gpui_kit::actions!(editor, [$(#[doc = $doc] $name),*]);

        $(#[$meta])*
        pub(crate) static $table: &[EditorAction] = &[
            $(EditorAction { id: TypeId::of::<$name>, run: $run },)*
        ];
    };
}

editor_actions! {
    /// What works where the keyboard is in the text.
    EDITOR_ACTIONS:
    Undo => Editor::undo, "Takes the last step back.";
    Redo => Editor::redo, "Makes a step again that was taken back.";
    UndoCaret => Editor::undo_caret, "Goes back to where the carets were before.";
    RedoCaret => Editor::redo_caret, "Goes forward to where the carets were after.";
    Copy => Editor::copy, "Copies what is selected, or the rows of the carets.";
    Cut => Editor::cut, "Copies what is selected, or the rows of the carets, and deletes it.";
    Paste => Editor::paste, "Inserts what was copied, one piece for each caret where that fits.";
    PasteAsIs => Editor::paste_as_is, "Inserts what was copied without changing its indentation.";
    Cancel => Editor::cancel, "Steps back: closes the find bar, keeps one caret, drops the selection.";
    Fold => Editor::fold, "Folds the innermost block at every caret away.";
    Unfold => Editor::unfold, "Unfolds what is folded away at every caret.";
    ToggleFold => Editor::toggle_fold, "Folds the block at the caret away, or unfolds it.";
    FoldAll => Editor::fold_all, "Folds every block of the file away.";
    UnfoldAll => Editor::unfold_all, "Unfolds everything.";
    ToggleSoftWrap => Editor::toggle_soft_wrap, "Continues long rows below, or lets them run out of sight.";
    ToggleWhitespace => Editor::toggle_whitespace, "Shows spaces and tabs as marks, or hides the marks.";
    ScrollLineUp => Editor::scroll_line_up, "Scrolls one row up and leaves the carets.";
    ScrollLineDown => Editor::scroll_line_down, "Scrolls one row down and leaves the carets.";
    ScrollPageUp => Editor::scroll_page_up, "Scrolls one page up and leaves the carets.";
    ScrollPageDown => Editor::scroll_page_down, "Scrolls one page down and leaves the carets.";
    ScrollToTop => Editor::scroll_to_top, "Scrolls to the start of the file and leaves the carets.";
    ScrollToBottom => Editor::scroll_to_bottom, "Scrolls to the end of the file and leaves the carets.";
    CenterCaret => Editor::center_caret, "Scrolls so that the caret stands in the middle.";
    NextHunk => Editor::next_hunk, "Goes to the next change since the last commit.";
    PreviousHunk => Editor::previous_hunk, "Goes to the previous change since the last commit.";
    AcceptSuggestion => Editor::accept_suggestion, "Takes the suggestion that is shown, or goes to where it is.";
    AcceptSuggestionWord => Editor::accept_suggestion_word, "Takes the next word of the suggestion that is shown.";
    AcceptSuggestionLine => Editor::accept_suggestion_line, "Takes the next line of the suggestion that is shown.";
    DismissSuggestion => Editor::dismiss_suggestion, "Puts the suggestion that is shown away.";
    NextSuggestion => Editor::next_suggestion, "Shows the next of several suggestions.";
    PreviousSuggestion => Editor::previous_suggestion, "Shows the previous of several suggestions.";
    RequestSuggestion => Editor::request_suggestion, "Asks for a suggestion now.";
    ExpandWord => Editor::expand_word, "Writes the word that may stand here; again, the next in its place.";
    ExpandWordBack => Editor::expand_word_back, "As Expand Word, through the words the other way.";
    RevertHunk => Editor::revert_hunk, "Takes the changes at the carets back to what the last commit holds.";
    SelectMenu => Editor::open_menu, "Opens the menu of the text at the caret.";
}

editor_actions! {
    /// What also works where the keyboard is in the find bar.
    FIND_ACTIONS:
    Find => Editor::open_find, "Opens the find bar, with what is selected.";
    Replace => Editor::open_replace, "Opens the find bar with a field for the replacement.";
    CloseFind => Editor::close_find, "Closes the find bar and goes back to the text.";
    FindNext => Editor::find_next, "Goes to the next match.";
    FindPrevious => Editor::find_previous, "Goes to the previous match.";
    FindSelection => Editor::find_selection, "Looks for what is selected, or for the word at the caret.";
    SelectAllMatches => Editor::select_all_matches, "Selects every match, with a caret at each.";
    ReplaceNext => Editor::replace_next, "Replaces the match at the caret and goes to the next.";
    ReplaceAll => Editor::replace_all, "Replaces every match.";
    ToggleFindCase => Editor::toggle_find_case, "Lets capital and small letters differ in a search, or not.";
    ToggleFindWholeWord => Editor::toggle_find_whole_word, "Finds whole words only, or anything.";
    ToggleFindRegex => Editor::toggle_find_regex, "Reads the search as a regular expression, or as it is.";
    ToggleFindInSelection => Editor::toggle_find_in_selection, "Finds within the selection only, or everywhere.";
    ToggleReplaceCase => Editor::toggle_replace_case, "Gives replacements the capital letters of what they replace, or not.";
}
