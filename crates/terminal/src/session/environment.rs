//! The environment of a program in a terminal.

use std::ffi::OsString;

/// Variables that the terminal sets.
const SET: [(&str, &str); 3] = [
    ("TERM", "xterm-256color"),
    ("COLORTERM", "truecolor"),
    ("TERM_PROGRAM", "burin"),
];

/// Variables that describe the terminal in which this program was started.
const REMOVED: [&str; 14] = [
    "COLUMNS",
    "INSIDE_EMACS",
    "LINES",
    "SHLVL",
    "STY",
    "TERMCAP",
    "TERMINFO",
    "TERMINFO_DIRS",
    "TERM_PROGRAM_VERSION",
    "TMUX",
    "TMUX_PANE",
    "VTE_VERSION",
    "WINDOWID",
    "ZED_TERM",
];

/// Prefixes of such variables.
const REMOVED_PREFIXES: [&str; 10] = [
    "ALACRITTY_",
    "BURIN_SHELL_",
    "GHOSTTY_",
    "ITERM_",
    "KITTY_",
    "KONSOLE_",
    "TERM_SESSION_",
    "VSCODE_",
    "WEZTERM_",
    "WT_",
];

/// Returns the variables of a program in a terminal.
pub(super) fn terminal_variables(
    mut variables: Vec<(OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    variables.retain(|(name, _)| !name.to_str().is_some_and(is_removed));
    variables.extend(SET.map(|(name, value)| (name.into(), value.into())));
    variables
}

fn is_removed(name: &str) -> bool {
    REMOVED.contains(&name)
        || SET.iter().any(|(set, _)| *set == name)
        || REMOVED_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_surrounding_terminal_are_replaced() {
        let given = [
            ("TERM", "dumb"),
            ("HOME", "/home/u"),
            ("SHLVL", "3"),
            ("ALACRITTY_WINDOW_ID", "1"),
            ("BURIN_TREE_1_2_3_0", "1"),
        ];
        let given = given.map(|(name, value)| (name.into(), value.into()));
        let variables = terminal_variables(given.to_vec());
        let texts: Vec<_> = variables
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        assert_eq!(
            texts,
            [
                "HOME=/home/u",
                "BURIN_TREE_1_2_3_0=1",
                "TERM=xterm-256color",
                "COLORTERM=truecolor",
                "TERM_PROGRAM=burin",
            ]
        );
    }
}
