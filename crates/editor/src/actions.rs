//! The editor's actions that are not caret commands, and their handlers.
//!
//! Two tables: `EDITOR_ACTIONS` apply while the text has the focus, `FIND_ACTIONS` also while the
//! find bar has it. Users write the names in keymaps, so they must not change.

use std::any::TypeId;

use gpui_kit::{Context, Window};

use crate::editor::Editor;

/// An action and its handler.
pub(crate) struct EditorAction {
    /// Type id of the action.
    pub(crate) id: fn() -> TypeId,
    /// Handler of the action.
    pub(crate) run: fn(&mut Editor, &mut Window, &mut Context<Editor>),
}

/// Declares actions and the table that maps them to methods.
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
    /// Actions that apply while the text has the focus.
    EDITOR_ACTIONS:
    Undo => Editor::undo, "Undoes the last edit.";
    Redo => Editor::redo, "Redoes the last undone edit.";
    UndoCaret => Editor::undo_caret, "Moves the carets back to their previous positions.";
    RedoCaret => Editor::redo_caret, "Moves the carets forward to their next positions.";
    Copy => Editor::copy, "Copies the selection, or the rows of the carets.";
    Cut => Editor::cut, "Cuts the selection, or the rows of the carets.";
    Paste => Editor::paste, "Pastes the clipboard, one piece per caret if the counts match.";
    PasteAsIs => Editor::paste_as_is, "Pastes the clipboard without adjusting its indentation.";
    Cancel => Editor::cancel, "Closes the find bar, removes additional carets, or clears the selection.";
    Fold => Editor::fold, "Folds the innermost block at every caret.";
    Unfold => Editor::unfold, "Unfolds the fold at every caret.";
    ToggleFold => Editor::toggle_fold, "Folds or unfolds the block at the caret.";
    FoldAll => Editor::fold_all, "Folds every block of the file.";
    UnfoldAll => Editor::unfold_all, "Unfolds every fold of the file.";
    ToggleSoftWrap => Editor::toggle_soft_wrap, "Turns wrapping of long rows on or off.";
    ToggleWhitespace => Editor::toggle_whitespace, "Shows or hides marks for spaces and tabs.";
    ScrollLineUp => Editor::scroll_line_up, "Scrolls up one row without moving the carets.";
    ScrollLineDown => Editor::scroll_line_down, "Scrolls down one row without moving the carets.";
    ScrollPageUp => Editor::scroll_page_up, "Scrolls up one page without moving the carets.";
    ScrollPageDown => Editor::scroll_page_down, "Scrolls down one page without moving the carets.";
    ScrollToTop => Editor::scroll_to_top, "Scrolls to the start of the file without moving the carets.";
    ScrollToBottom => Editor::scroll_to_bottom, "Scrolls to the end of the file without moving the carets.";
    CenterCaret => Editor::center_caret, "Scrolls the caret to the middle of the window.";
    NextHunk => Editor::next_hunk, "Goes to the next change since the last commit.";
    PreviousHunk => Editor::previous_hunk, "Goes to the previous change since the last commit.";
    AcceptSuggestion => Editor::accept_suggestion, "Accepts the suggestion, or jumps to its location.";
    AcceptSuggestionWord => Editor::accept_suggestion_word, "Accepts the next word of the suggestion.";
    AcceptSuggestionLine => Editor::accept_suggestion_line, "Accepts the next line of the suggestion.";
    DismissSuggestion => Editor::dismiss_suggestion, "Dismisses the suggestion.";
    NextSuggestion => Editor::next_suggestion, "Shows the next alternative suggestion.";
    PreviousSuggestion => Editor::previous_suggestion, "Shows the previous alternative suggestion.";
    RequestSuggestion => Editor::request_suggestion, "Requests a suggestion now.";
    ExpandWord => Editor::expand_word, "Completes the word at the caret; press again to cycle.";
    ExpandWordBack => Editor::expand_word_back, "Completes the word at the caret, cycling backwards.";
    RevertHunk => Editor::revert_hunk, "Reverts the changes at the carets to the last commit.";
    SelectMenu => Editor::open_menu, "Opens the context menu at the caret.";
}

editor_actions! {
    /// Actions that also apply while the find bar has the focus.
    FIND_ACTIONS:
    Find => Editor::open_find, "Opens the find bar with the selected text.";
    Replace => Editor::open_replace, "Opens the find bar with the replacement field.";
    CloseFind => Editor::close_find, "Closes the find bar and returns to the text.";
    FindNext => Editor::find_next, "Goes to the next match.";
    FindPrevious => Editor::find_previous, "Goes to the previous match.";
    FindSelection => Editor::find_selection, "Searches for the selection, or the word at the caret.";
    SelectAllMatches => Editor::select_all_matches, "Selects all matches, with a caret at each.";
    ReplaceNext => Editor::replace_next, "Replaces the match at the caret and goes to the next.";
    ReplaceAll => Editor::replace_all, "Replaces every match.";
    ToggleFindCase => Editor::toggle_find_case, "Matches case in the search, or ignores it.";
    ToggleFindWholeWord => Editor::toggle_find_whole_word, "Matches whole words only, or parts of words.";
    ToggleFindRegex => Editor::toggle_find_regex, "Interprets the search as a regular expression, or literally.";
    ToggleFindInSelection => Editor::toggle_find_in_selection, "Searches within the selection, or in the whole file.";
    ToggleReplaceCase => Editor::toggle_replace_case, "Preserves the case of the replaced text, or not.";
}
