//! The schemas name what the readers know.

use super::{keymap_schema, settings_schema, theme_schema};
use crate::Settings;
use crate::theme::COLOR_TOKENS;

#[test]
fn the_settings_schema_names_every_key() {
    let schema = settings_schema();
    let text = schema.to_string();
    for info in Settings::keys() {
        assert!(
            text.contains(&format!("\"{}\":", info.name)),
            "{}",
            info.name
        );
    }
    let editor = schema.pointer("/$defs/EditorSettings").unwrap();
    assert_eq!(
        editor.pointer("/additionalProperties"),
        Some(&serde_json::json!(false))
    );
    assert_eq!(
        editor.pointer("/properties/tab_size/maximum"),
        Some(&serde_json::json!(16))
    );
    assert!(editor.pointer("/properties/tab_size/description").is_some());
    assert_eq!(editor.pointer("/required"), None, "no key must be there");
    let wrap = schema.pointer("/$defs/SoftWrap").unwrap().to_string();
    assert!(
        wrap.contains("\"window\"") && !wrap.contains("\"Window\""),
        "{wrap}"
    );
}

#[test]
fn the_theme_schema_requires_every_colour() {
    let schema = theme_schema();
    let required = schema
        .pointer("/properties/colors/required")
        .unwrap()
        .as_array()
        .unwrap();
    assert_eq!(required.len(), COLOR_TOKENS.len());
}

#[test]
fn the_keymap_schema_names_actions() {
    let schema = keymap_schema([("editor::Undo", "Takes the last step back.")]);
    assert!(schema.to_string().contains("editor::Undo"));
    assert!(keymap_schema([]).to_string().contains("pattern"));
}
