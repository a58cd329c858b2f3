//! Synonyms of commands, as other editors call them.

/// Synonyms of each action that occur in neither its name nor its help text.
const SYNONYMS: &[(&str, &str)] = &[
    ("agents::NewSession", "chat with ai assistant start"),
    (
        "agents::ShowAutomations",
        "scheduled tasks cron routines triggers background",
    ),
    (
        "agents::ShowMcpServers",
        "model context protocol connectors oauth",
    ),
    (
        "agents::ShowPermissions",
        "allow deny ask settings approvals security",
    ),
    (
        "agents::ShowQuality",
        "statistics keep rate alarms experiments satisfaction errors",
    ),
    (
        "agents::ShowSpending",
        "spend price usage budget dollars tokens",
    ),
    ("agents::ShowTrust", "security workspace consent claude.md"),
    ("agents::TogglePanel", "ai chat assistant sidebar"),
    ("app::About", "version info"),
    ("app::NewWindow", "open second"),
    (
        "app::OpenDefaultKeymap",
        "all keyboard shortcuts hotkeys keybindings list cheat sheet",
    ),
    ("app::OpenDefaultSettings", "all preferences options"),
    (
        "app::OpenKeymap",
        "keyboard shortcuts hotkeys keybindings edit change customize",
    ),
    (
        "app::OpenSettings",
        "preferences options configuration edit change",
    ),
    ("app::Quit", "exit close program application"),
    (
        "app::SelectTheme",
        "change color colour scheme appearance dark light mode",
    ),
    (
        "editor::AddCaretAbove",
        "multiple cursors multicursor insert cursor",
    ),
    (
        "editor::AddCaretBelow",
        "multiple cursors multicursor insert cursor",
    ),
    (
        "editor::CaretsAtRowEnds",
        "multiple cursors multicursor line",
    ),
    ("editor::DeleteRows", "remove kill cut line"),
    (
        "editor::DeleteTrailingSpace",
        "trim strip trailing whitespace spaces",
    ),
    ("editor::DuplicateDown", "duplicate copy clone line"),
    ("editor::DuplicateSelection", "duplicate copy clone line"),
    ("editor::DuplicateUp", "duplicate copy clone line"),
    (
        "editor::ExpandWord",
        "autocomplete complete word completion",
    ),
    ("editor::Find", "search in this file"),
    ("editor::Fold", "collapse code region"),
    ("editor::FoldAll", "collapse all code regions"),
    ("editor::Indent", "shift right increase indentation"),
    (
        "editor::IndentWithSpaces",
        "convert tabs to spaces indentation",
    ),
    (
        "editor::IndentWithTabs",
        "convert spaces to tabs indentation",
    ),
    ("editor::JoinRows", "join merge lines"),
    ("editor::LowerCase", "lowercase lower transform"),
    (
        "editor::MoveMatchingBracket",
        "go to jump bracket parenthesis brace",
    ),
    ("editor::NextHunk", "git diff next change"),
    (
        "editor::Outdent",
        "unindent dedent shift left decrease indentation",
    ),
    ("editor::PreviousHunk", "git diff previous change"),
    ("editor::Replace", "search substitute in this file"),
    (
        "editor::RequestSuggestion",
        "trigger autocomplete completion",
    ),
    ("editor::RevertHunk", "git discard undo change restore"),
    ("editor::ReverseRows", "reverse flip lines order"),
    (
        "editor::SelectAllOccurrences",
        "change all multiple cursors multicursor rename",
    ),
    (
        "editor::SelectNextOccurrence",
        "multiple cursors multicursor add selection",
    ),
    (
        "editor::ShowSignatureHelp",
        "parameter hints arguments call function",
    ),
    ("editor::SortRows", "order alphabetically ascending"),
    ("editor::SortRowsDescending", "order alphabetically reverse"),
    (
        "editor::SortRowsIgnoringCase",
        "order alphabetically case insensitive",
    ),
    (
        "editor::SplitIntoRows",
        "multiple cursors multicursor lines",
    ),
    (
        "editor::ToggleInlayHints",
        "show types parameter names type hints",
    ),
    ("editor::ToggleLineComment", "comment uncomment out line"),
    (
        "editor::ToggleSoftWrap",
        "word wrap line wrapping long lines text",
    ),
    (
        "editor::ToggleWhitespace",
        "show invisibles render whitespace spaces",
    ),
    ("editor::Transpose", "swap characters"),
    ("editor::Unfold", "expand code region"),
    ("editor::UnfoldAll", "expand all code regions"),
    (
        "editor::UniqueRows",
        "remove delete duplicate lines deduplicate",
    ),
    (
        "editor::UniqueRowsIgnoringCase",
        "remove delete duplicate lines deduplicate",
    ),
    ("editor::UpperCase", "uppercase upper capitals transform"),
    ("file::CloseFolder", "project workspace"),
    ("file::CopyPath", "full absolute filename"),
    ("file::CopyRelativePath", "filename"),
    ("file::New", "file untitled create document"),
    ("file::Open", "file"),
    ("file::OpenFolder", "project workspace directory"),
    (
        "file::OpenRecent",
        "projects folders history switch project workspace",
    ),
    ("file::ReopenWithEncoding", "change charset utf8"),
    (
        "file::Revert",
        "discard changes reload undo all restore file",
    ),
    ("file::RevealInTree", "sidebar explorer"),
    ("file::SaveAs", "copy rename file"),
    ("file::SaveWithEncoding", "change charset utf8"),
    (
        "file::SelectIndentation",
        "change indentation tab size width indent using",
    ),
    (
        "file::SelectLanguage",
        "change language mode syntax highlighting file type",
    ),
    (
        "file::SelectLineEnding",
        "change end of line eol crlf lf line endings",
    ),
    ("go::Back", "navigate previous location cursor position"),
    ("go::FindFile", "quick open go to file jump switch"),
    (
        "go::FindProjectSymbol",
        "workspace go to definition class function method",
    ),
    ("go::FindSymbol", "go to outline function method class"),
    ("go::Forward", "navigate next location cursor position"),
    ("go::Search", "everywhere anything"),
    ("go::ShowCommands", "command palette"),
    ("go::ToLine", "jump goto line number"),
    ("pane::CloseTab", "file editor"),
    ("pane::FocusNext", "switch split editor group"),
    ("pane::ReopenClosedTab", "undo close file editor"),
    ("pane::SplitDown", "split editor horizontal"),
    ("pane::SplitRight", "split editor vertical side by side"),
    ("pane::SwitchTab", "open files editors"),
    ("project_search::Show", "find in files folder grep"),
    (
        "project_search::ShowReplace",
        "find in files folder grep substitute",
    ),
    ("project_tree::Delete", "remove file trash"),
    ("project_tree::NewFile", "create add"),
    ("project_tree::NewFolder", "create add directory"),
    ("project_tree::Rename", "rename move file"),
    ("project_tree::ToggleIgnored", "hidden gitignore files"),
    (
        "suggestions::Toggle",
        "autocomplete copilot completion disable enable",
    ),
    ("view::DismissNotifications", "clear messages close"),
    ("view::ResetZoom", "font size default"),
    ("view::ShowNotifications", "messages log"),
    ("view::ToggleFullScreen", "fullscreen maximize"),
    (
        "view::ToggleProjectTree",
        "sidebar explorer file tree files",
    ),
    ("view::ZoomIn", "increase bigger font text size"),
    ("view::ZoomOut", "decrease smaller font text size"),
];

/// Returns the synonyms of an action, separated by spaces, or an empty string if there are no
/// synonyms.
pub(super) fn synonyms(action: &str) -> &'static str {
    let found = SYNONYMS.iter().find(|(name, _)| *name == action);
    found.map_or("", |(_, words)| words)
}

/// Returns the actions with synonyms, for the test that they exist.
#[cfg(test)]
pub(crate) fn actions() -> impl Iterator<Item = &'static str> {
    SYNONYMS.iter().map(|(action, _)| *action)
}
