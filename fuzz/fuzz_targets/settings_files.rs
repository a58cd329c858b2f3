//! The parsers of settings, keymaps, themes and snippet files accept any text and locate each problem.
#![no_main]

use libfuzzer_sys::fuzz_target;
use settings::{SettingsSource, parse, parse_keymap, parse_snippets, parse_theme, set_key};

fuzz_target!(|text: &str| {
    let (_, mut problems) = parse(&[(SettingsSource::User, "settings.json", text)]);
    problems.extend(parse_keymap("keymap.json", text).1);
    problems.extend(parse_theme("theme.json", text).1);
    problems.extend(parse_snippets("rust.json", text, Some("rust")).1);
    for problem in problems {
        assert!(problem.line > 0 && problem.column > 0);
    }
    let value = serde_json::json!(4);
    if let Ok(edited) = set_key(text, &["editor", "tab_size"], Some(&value)) {
        let (settings, _) = parse(&[(SettingsSource::User, "settings.json", &edited)]);
        assert_eq!(settings.editor.tab_size, 4);
    }
});
