//! Settings, keymaps and themes take any text, and say where each mistake is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use settings::{Source, parse, parse_keymap, parse_theme, set_key};

fuzz_target!(|text: &str| {
    let (_, mut problems) = parse(&[(Source::User, "settings.json", text)]);
    problems.extend(parse_keymap("keymap.json", text).1);
    problems.extend(parse_theme("theme.json", text).1);
    for problem in problems {
        assert!(problem.line > 0 && problem.column > 0);
    }
    let value = serde_json::json!(4);
    if let Ok(edited) = set_key(text, &["editor", "tab_size"], Some(&value)) {
        let (settings, _) = parse(&[(Source::User, "settings.json", &edited)]);
        assert_eq!(settings.editor.tab_size, 4);
    }
});
