//! JSON schemas, for completion and validation of configuration files in other tools.

use schemars::{Schema, json_schema, schema_for};
use serde_json::{Map, Value, json};

use crate::sections::{
    AgentSettings, CompletionSettings, EditorSettings, FileSettings, GitSettings,
    InlineEditSettings, KeymapSettings, LspSettings, ModelSettings, SearchSettings, TabSettings,
    TerminalSettings, ThemeSettings, UiSettings, VimSettings, WindowSettings,
};
use crate::theme::{AGENTS, COLOR_TOKENS, SYNTAX_NAMES, terminal_color_names};

/// Shape of a settings file; parsed into `Settings`.
#[derive(schemars::JsonSchema)]
#[schemars(title = "Burin settings", deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape matters")]
struct SettingsFile {
    /// URL of this schema.
    #[schemars(rename = "$schema")]
    schema: Option<String>,
    /// Display of text and behaviour of typing.
    editor: Option<EditorSettings>,
    /// Visibility and saving of files.
    files: Option<FileSettings>,
    /// Git in the window.
    git: Option<GitSettings>,
    /// Search in the project.
    search: Option<SearchSettings>,
    /// Parts of the window.
    window: Option<WindowSettings>,
    /// Colour theme for light and dark mode.
    theme: Option<ThemeSettings>,
    /// Base keymap to start from.
    keymap: Option<KeymapSettings>,
    /// Fonts and animations of the interface.
    ui: Option<UiSettings>,
    /// Models, providers and budgets.
    models: Option<ModelSettings>,
    /// Agents in the window.
    agents: Option<AgentSettings>,
    /// Completions and edit predictions.
    tab: Option<TabSettings>,
    /// Inline edits.
    inline_edit: Option<InlineEditSettings>,
    /// The list of completions.
    completions: Option<CompletionSettings>,
    /// Language servers.
    lsp: Option<LspSettings>,
    /// Terminals.
    terminal: Option<TerminalSettings>,
    /// Keys of Vim in texts.
    vim: Option<VimSettings>,
    /// Changes to `editor` for a language, by its name.
    languages: Option<std::collections::BTreeMap<String, EditorSettings>>,
}

/// Returns the JSON schema of `settings.json`, for completion and checks in editors.
pub fn settings_schema() -> Value {
    schema_for!(SettingsFile).to_value()
}

/// Returns the JSON schema of a keymap, given the names and help texts of all actions. Without
/// actions, any name of the right form is valid.
pub fn keymap_schema<'a>(actions: impl IntoIterator<Item = (&'a str, &'a str)>) -> Value {
    let names: Vec<Value> = actions
        .into_iter()
        .map(|(name, doc)| json!({ "const": name, "description": doc }))
        .collect();
    let name = if names.is_empty() {
        json!({ "type": "string", "pattern": "^\\w+(::\\w+)+$" })
    } else {
        json!({ "anyOf": names })
    };
    let schema: Schema = json_schema!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Burin keymap",
        "type": "array",
        "items": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "context": { "type": "string", "description": "Where the bindings hold, such as Editor && !menu." },
                "use_key_equivalents": { "type": "boolean", "description": "Whether macOS moves the keys to their equivalents on keyboard layouts that cannot type them. No effect on Linux." },
                "bindings": {
                    "type": "object",
                    "description": "Keystrokes, separated by spaces, and what they do. null removes keys.",
                    "additionalProperties": {
                        "anyOf": [
                            { "type": "null" },
                            name,
                            { "type": "array", "minItems": 1, "maxItems": 2, "prefixItems": [name] },
                        ],
                    },
                },
            },
        },
    });
    schema.to_value()
}

/// Returns the JSON schema of a theme.
pub fn theme_schema() -> Value {
    let color = json!({ "type": "string", "description": "#rrggbb, #rrggbbaa or a name of the palette; /percent for opacity." });
    let mut colors: Map<String, Value> = COLOR_TOKENS
        .iter()
        .map(|(name, doc)| {
            (
                (*name).to_owned(),
                json!({ "$ref": "#/$defs/color", "description": doc.trim() }),
            )
        })
        .collect();
    colors.extend(terminal_color_names().map(|name| {
        let color = json!({ "$ref": "#/$defs/color", "description": "Colour of terminals." });
        (name, color)
    }));
    let styles: Map<String, Value> = SYNTAX_NAMES
        .iter()
        .map(|name| ((*name).to_owned(), json!({ "$ref": "#/$defs/style" })))
        .collect();
    let required: Vec<&str> = COLOR_TOKENS.iter().map(|(name, _)| *name).collect();
    let schema: Schema = json_schema!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Burin theme",
        "type": "object",
        "additionalProperties": false,
        "required": ["name", "appearance", "colors", "agents", "syntax"],
        "properties": {
            "$schema": { "type": "string" },
            "name": { "type": "string" },
            "appearance": { "enum": ["light", "dark"] },
            "palette": { "type": "object", "additionalProperties": { "$ref": "#/$defs/color" } },
            "colors": {
                "type": "object", "additionalProperties": false, "properties": colors, "required": required,
            },
            "agents": {
                "type": "array", "minItems": AGENTS, "maxItems": AGENTS, "items": { "$ref": "#/$defs/color" },
            },
            "syntax": { "type": "object", "additionalProperties": false, "properties": styles },
        },
        "$defs": {
            "color": color,
            "style": {
                "anyOf": [
                    { "$ref": "#/$defs/color" },
                    {
                        "type": "object",
                        "additionalProperties": false,
                        "required": ["color"],
                        "properties": {
                            "color": { "$ref": "#/$defs/color" },
                            "bold": { "type": "boolean" },
                            "italic": { "type": "boolean" },
                            "underline": { "type": "boolean" },
                            "strikethrough": { "type": "boolean" },
                        },
                    },
                ],
            },
        },
    });
    schema.to_value()
}

#[cfg(test)]
mod tests;
