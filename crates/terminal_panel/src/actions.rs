//! All actions of the terminals. The first line of each is its help text.
//!
//! Key contexts: `TerminalPanel` is the whole panel, and `TerminalTab` a tab among the texts of the window; `Terminal` is
//! the text of one terminal, in which every key that has
//! no binding goes to the program. `Terminal` has the flags `alternate_screen`, `selection`, `searching`, `ended`,
//! `send_all_keys`, `copy_mode`, and for programs of agents `watching` and `taken`. `TerminalSearch` is the search bar,
//! `TerminalQuestion` a question over the text.
//!
//! Keys of the window that stay available in `Terminal` are those of keymap blocks without the condition `!Terminal`:
//! the palette, the panels, moves of the focus and the zoom.

use gpui_kit::Action;
use gpui_kit::private::schemars::{self, JsonSchema};
use serde::Deserialize;

gpui_kit::actions!(
    terminal,
    [
        /// Show or hide the terminals.
        TogglePanel,
        /// Focus the terminal, or return to the editor.
        FocusPanel,
        /// Open a new terminal.
        NewTerminal,
        /// Open a new terminal as a tab among the texts.
        NewTerminalInEditorArea,
        /// Move this terminal out of the panel into a tab among the texts. Its program goes on.
        MoveTerminalIntoEditorArea,
        /// Move this terminal from its tab among the texts into the panel. Its program goes on.
        MoveTerminalIntoPanel,
        /// Open a new terminal beside this one.
        SplitTerminal,
        /// Close this terminal.
        CloseTerminal,
        /// Close all terminals.
        CloseAllTerminals,
        /// Go to the next terminal.
        NextTerminal,
        /// Go to the previous terminal.
        PreviousTerminal,
        /// Focus the next terminal of this tab.
        FocusNextSplit,
        /// Rename this terminal.
        RenameTerminal,
        /// Start the program of this terminal again after it ended.
        RestartTerminal,
        /// Take the command of this terminal over from the agent that runs it: the agent waits.
        TakeOver,
        /// Give the command of this terminal back to its agent, which learns what you typed.
        GiveBack,
        /// Copy the selected text.
        Copy,
        /// Paste the clipboard.
        Paste,
        /// Select all text of the terminal.
        SelectAll,
        /// Remove the scrollback and the screen above the prompt.
        Clear,
        /// Search in the terminal.
        Find,
        /// Go to the next match.
        FindNext,
        /// Go to the previous match.
        FindPrevious,
        /// Close the search bar and return to the terminal.
        CloseFind,
        /// Toggle whether the case of letters matters in the search.
        ToggleFindCase,
        /// Toggle whether the search finds whole words only.
        ToggleFindWholeWord,
        /// Toggle whether the search pattern is a regular expression.
        ToggleFindRegex,
        /// Scroll up by a line.
        ScrollLineUp,
        /// Scroll down by a line.
        ScrollLineDown,
        /// Scroll up by a page.
        ScrollPageUp,
        /// Scroll down by a page.
        ScrollPageDown,
        /// Scroll to the oldest line.
        ScrollToTop,
        /// Scroll to the newest line and follow the output.
        ScrollToBottom,
        /// Scroll to the previous command.
        PreviousCommand,
        /// Scroll to the next command.
        NextCommand,
        /// Copy the command line of the command in view, or of the last command.
        CopyCommand,
        /// Select the output of the command in view, or of the last command.
        SelectCommandOutput,
        /// Copy the output of the command in view, or of the last command.
        CopyCommandOutput,
        /// Run the command in view, or the last command, again.
        RunCommandAgain,
        /// Send the output of the command in view, or of the last command, to the agent.
        SendOutputToAgent,
        /// Send the selected text to the agent.
        SendSelectionToAgent,
        /// Ask the agent why the command in view, or the last failed one, failed.
        ExplainLastFailure,
        /// Ask the agent to find and fix the cause of the failed command in view, or of the last one.
        FixLastFailure,
        /// Send every key to the program, or stop doing so.
        ToggleSendAllKeys,
        /// Select text by keys, with the motions of the editor and of Vim, or stop doing so.
        ToggleCopyMode,
        /// Answer the question over the terminal with its default answer.
        ConfirmQuestion,
        /// Dismiss the question over the terminal.
        DismissQuestion,
        /// Open the menu of the terminal.
        OpenMenu,
    ]
);

/// Type a text into the program, as if it came from the keyboard.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Action)]
#[action(namespace = terminal)]
#[schemars(crate = "schemars")]
pub struct SendText(pub String);

/// Send a key to the program, written as in a keymap, such as `ctrl-w`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Action)]
#[action(namespace = terminal)]
#[schemars(crate = "schemars")]
pub struct SendKeystroke(pub String);
