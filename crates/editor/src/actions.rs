//! The editor's actions that are not caret commands.
//!
//! Users write the names in keymaps, so they must not change. `action_scope` maps them to their
//! handlers.

use gpui_kit::Action;
use gpui_kit::private::schemars::{self, JsonSchema};
use serde::Deserialize;

gpui_kit::actions!(
    editor,
    [
        /// Undoes the last edit.
        Undo,
        /// Redoes the last undone edit.
        Redo,
        /// Moves the carets back to their previous positions.
        UndoCaret,
        /// Moves the carets forward to their next positions.
        RedoCaret,
        /// Copies the selection, or the rows of the carets.
        Copy,
        /// Cuts the selection, or the rows of the carets.
        Cut,
        /// Pastes the clipboard, one piece per caret if the counts match.
        Paste,
        /// Pastes the clipboard without adjusting its indentation.
        PasteAsIs,
        /// Closes the find bar, removes additional carets, or clears the selection.
        Cancel,
        /// Folds the innermost block at every caret.
        Fold,
        /// Unfolds the fold at every caret.
        Unfold,
        /// Folds or unfolds the block at the caret.
        ToggleFold,
        /// Folds every block of the file.
        FoldAll,
        /// Unfolds every fold of the file.
        UnfoldAll,
        /// Turns wrapping of long rows on or off.
        ToggleSoftWrap,
        /// Shows or hides marks for spaces and tabs.
        ToggleWhitespace,
        /// Scrolls up one row without moving the carets.
        ScrollLineUp,
        /// Scrolls down one row without moving the carets.
        ScrollLineDown,
        /// Scrolls up one page without moving the carets.
        ScrollPageUp,
        /// Scrolls down one page without moving the carets.
        ScrollPageDown,
        /// Scrolls to the start of the file without moving the carets.
        ScrollToTop,
        /// Scrolls to the end of the file without moving the carets.
        ScrollToBottom,
        /// Scrolls the caret to the middle of the window.
        CenterCaret,
        /// Goes to the next change since the last commit.
        NextHunk,
        /// Goes to the previous change since the last commit.
        PreviousHunk,
        /// Goes to the next diagnostic and shows it.
        NextDiagnostic,
        /// Goes to the previous diagnostic and shows it.
        PreviousDiagnostic,
        /// Shows information about the text at the caret.
        ShowHover,
        /// Closes the hover card.
        CloseHover,
        /// Shows the signature of the call around the caret.
        ShowSignatureHelp,
        /// Closes the card with the signature.
        CloseSignatureHelp,
        /// Shows the next signature of the call.
        NextSignature,
        /// Shows the previous signature of the call.
        PreviousSignature,
        /// Shows or hides inlay hints.
        ToggleInlayHints,
        /// Runs the code lens of the line.
        RunCodeLens,
        /// Accepts the suggestion, or jumps to its location.
        AcceptSuggestion,
        /// Accepts the next word of the suggestion.
        AcceptSuggestionWord,
        /// Accepts the next line of the suggestion.
        AcceptSuggestionLine,
        /// Dismisses the suggestion.
        DismissSuggestion,
        /// Shows the next alternative suggestion.
        NextSuggestion,
        /// Shows the previous alternative suggestion.
        PreviousSuggestion,
        /// Requests a suggestion now.
        RequestSuggestion,
        /// Completes the word at the caret; press again to cycle.
        ExpandWord,
        /// Completes the word at the caret, cycling backwards.
        ExpandWordBack,
        /// Shows the completion list for the word at the caret.
        ShowCompletions,
        /// Closes the completion list.
        HideCompletions,
        /// Selects the next completion item.
        NextCompletion,
        /// Selects the previous completion item.
        PreviousCompletion,
        /// Selects a completion item one page below.
        NextCompletionPage,
        /// Selects a completion item one page above.
        PreviousCompletionPage,
        /// Accepts the completion item in place of the typed word.
        AcceptCompletion,
        /// Accepts the completion item in place of the whole word at the caret.
        AcceptCompletionReplacing,
        /// Moves to the next tab stop of the snippet.
        NextTabStop,
        /// Moves to the previous tab stop of the snippet.
        PreviousTabStop,
        /// Stops filling in the snippet and keeps its text.
        LeaveSnippet,
        /// Reverts the changes at the carets to the last commit.
        RevertHunk,
        /// Opens the context menu at the caret.
        SelectMenu,
        /// Opens the find bar with the selected text.
        Find,
        /// Opens the find bar with the replacement field.
        Replace,
        /// Closes the find bar and returns to the text.
        CloseFind,
        /// Goes to the next match.
        FindNext,
        /// Goes to the previous match.
        FindPrevious,
        /// Searches for the selection, or the word at the caret.
        FindSelection,
        /// Selects all matches, with a caret at each.
        SelectAllMatches,
        /// Replaces the match at the caret and goes to the next.
        ReplaceNext,
        /// Replaces every match.
        ReplaceAll,
        /// Matches case in the search, or ignores it.
        ToggleFindCase,
        /// Matches whole words only, or parts of words.
        ToggleFindWholeWord,
        /// Interprets the search as a regular expression, or literally.
        ToggleFindRegex,
        /// Searches within the selection, or in the whole file.
        ToggleFindInSelection,
        /// Preserves the case of the replaced text, or not.
        ToggleReplaceCase,
    ]
);

/// Presses keys in Vim's notation, such as `<C-d>` or `ciw`, while the keys of Vim are on.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Action)]
#[action(namespace = vim, name = "Press")]
#[schemars(crate = "schemars")]
pub struct PressVimKeys(pub String);
