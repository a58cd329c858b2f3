//! Settings of the terminals.

use std::collections::BTreeMap;

use crate::document::SpannedValue;
use crate::section::{Limits, SettingValue, ValueError, choices, section};

section! {
    /// Terminals: shell, look and keys.
    TerminalSettings {
        /// Program of the shell, followed by its arguments; empty means your login shell.
        shell: Vec<String> = Vec::new();
        /// Font family; empty means the one of the editor.
        font_family: String = String::new();
        /// Font size, in pixels at zoom 1.
        font_size: f32 = 13.0, 6.0..=72.0;
        /// Height of a line as a multiple of the font size.
        line_height: f32 = 1.3, 1.0..=3.0;
        /// Shape of the cursor unless the program sets one.
        cursor_shape: TerminalCursorShape = TerminalCursorShape::Block;
        /// Whether the cursor blinks. It never does with reduced motion or without a GPU.
        blinking: TerminalBlinking = TerminalBlinking::Program;
        /// Number of lines that can be scrolled back.
        scrollback_lines: u32 = 10_000, 0..=100_000;
        /// Copies text to the clipboard when you select it.
        copy_on_select: bool = false;
        /// Sends Alt, or Option on a Mac, as Meta even if the key produces a character with it.
        option_as_meta: bool = false;
        /// Sends every key to the program, also those bound to commands. Toggle it with `terminal::ToggleSendAllKeys`.
        send_all_keys_to_shell: bool = false;
        /// Lets the shell mark its commands and its folder, for jumps between commands and links to files.
        shell_integration: bool = true;
        /// Asks before closing a terminal in which a command runs.
        confirm_close: bool = true;
        /// Keeps your shells running when the window is closed or killed; the next window shows them again. Only with "agents.background".
        keep_running: bool = true;
        /// Environment variables to set for the shell, by name.
        env: EnvironmentVariables = EnvironmentVariables::default();
    }
}

choices! {
    /// Shape of a terminal's cursor.
    TerminalCursorShape {
        /// A filled cell.
        Block = "block",
        /// A thin line before the character.
        Bar = "bar",
        /// A line under the character.
        Underline = "underline",
    }
}

choices! {
    /// Whether a terminal's cursor blinks.
    TerminalBlinking {
        /// If the program asks for it.
        Program = "program",
        /// Always.
        On = "on",
        /// Never.
        Off = "off",
    }
}

/// Environment variables by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, schemars::JsonSchema)]
pub struct EnvironmentVariables(pub BTreeMap<String, String>);

impl SettingValue for EnvironmentVariables {
    fn read(node: &SpannedValue, limits: Limits) -> Result<Self, ValueError> {
        let Some(members) = node.as_object() else {
            return Err(ValueError::Type {
                expected: "an object with names and values".to_owned(),
                found: node.kind(),
            });
        };
        let mut variables = BTreeMap::new();
        for member in members {
            let name = member.key.clone();
            if name.is_empty() || name.contains(['=', '\0']) {
                let message = format!("\"{name}\" cannot be the name of a variable");
                return Err(ValueError::Invalid(message));
            }
            let value = String::read(&member.value, limits)
                .map_err(|error| ValueError::Invalid(format!("\"{name}\": {error}")))?;
            variables.insert(name, value);
        }
        Ok(Self(variables))
    }

    /// Adds the variables of the later layer.
    fn merge(&mut self, later: Self) {
        self.0.extend(later.0);
    }
}

#[cfg(test)]
mod tests {
    use super::{TerminalBlinking, TerminalCursorShape};
    use crate::{Settings, SettingsSource, parse};

    fn read(text: &str) -> (Settings, Vec<String>) {
        let (settings, problems) = parse(&[(SettingsSource::User, "settings.json", text)]);
        (settings, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_shell_and_its_look_are_read() {
        let text = r#"{ "terminal": { "shell": ["fish", "-l"], "cursor_shape": "bar", "blinking": "off",
            "scrollback_lines": 500, "env": { "PAGER": "less" } } }"#;
        let (settings, problems) = read(text);
        assert_eq!(problems, Vec::<String>::new());
        let terminal = settings.terminal;
        assert_eq!(terminal.shell, ["fish", "-l"]);
        assert_eq!(terminal.cursor_shape, TerminalCursorShape::Bar);
        assert_eq!(terminal.blinking, TerminalBlinking::Off);
        assert_eq!(terminal.scrollback_lines, 500);
        assert_eq!(terminal.env.0["PAGER"], "less");
    }

    #[test]
    fn wrong_values_keep_the_defaults() {
        for (value, part) in [
            (r#""scrollback_lines": 1000000"#, "out of range"),
            (r#""cursor_shape": "beam""#, "is not one of"),
            (r#""env": { "A=B": "x" }"#, "cannot be the name"),
            (r#""env": { "A": 1 }"#, "\"A\": expected a string"),
            (r#""env": []"#, "an object"),
        ] {
            let (settings, problems) = read(&format!(r#"{{ "terminal": {{ {value} }} }}"#));
            assert_eq!(settings.terminal, super::TerminalSettings::default());
            let [problem] = problems.as_slice() else {
                panic!("{value}: {problems:?}");
            };
            assert!(problem.contains(part), "{value}: {problem}");
        }
    }

    #[test]
    fn a_project_chooses_no_shell() {
        let text = r#"{ "terminal": { "shell": ["./evil"], "env": { "PATH": "." } } }"#;
        let (settings, _) = parse(&[(SettingsSource::Project, "project", text)]);
        assert_eq!(settings.terminal, super::TerminalSettings::default());
    }
}
