//! Layers, what mistakes cost, and what is said about them.

use crate::{Autosave, Settings, SettingsSource, SettingsStore, SoftWrap, parse};

/// Problems of a user file, printed.
fn check(text: &str, expected: &[&str]) -> Settings {
    let (settings, problems) = parse(&[(SettingsSource::User, "settings.json", text)]);
    let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(shown, expected, "{text}");
    settings
}

#[test]
fn later_layers_win() {
    let (settings, problems) = parse(&[
        (
            SettingsSource::Project,
            ".burin/settings.json",
            r#"{ "editor": { "tab_size": 2 } }"#,
        ),
        (
            SettingsSource::User,
            "settings.json",
            r#"{ "editor": { "tab_size": 8, "soft_wrap": "window" } }"#,
        ),
    ]);
    assert_eq!(problems, []);
    assert_eq!(
        (settings.editor.tab_size, settings.editor.soft_wrap),
        (2, SoftWrap::Window)
    );
}

#[test]
fn mistakes_are_reported_with_position_and_contained() {
    let settings = check(
        "{\n  \"editor\": {\n    \"tabSize\": 2,\n    \"font_size\": 400,\n    \"soft_wrap\": \"windw\",\n    \"hard_tabs\": \"yes\",\n    \"rulers\": [80, \"x\"],\n    \"ligatures\": true\n  },\n  \"tab_size\": 2,\n  \"edtor\": {},\n  \"files\": 3\n}",
        &[
            "settings.json:3:5: unknown key \"tabSize\" in \"editor\"; did you mean \"tab_size\"?",
            "settings.json:4:18: editor.font_size: 400 is out of range: choose a number from 6 to 72",
            "settings.json:5:18: editor.soft_wrap: \"windw\" is not one of \"off\", \"window\", \"column\"; did you mean \"window\"?",
            "settings.json:6:18: editor.hard_tabs: expected true or false, found a string",
            "settings.json:7:15: editor.rulers: expected a number, found a string",
            "settings.json:10:3: \"tab_size\" belongs inside \"editor\": { … }",
            "settings.json:11:3: unknown section \"edtor\"; did you mean \"editor\"?",
            "settings.json:12:3: \"files\" is a section and takes an object { … }, found a number",
        ],
    );
    assert!(settings.editor.ligatures, "what is right is taken");
    assert_eq!(settings.editor.tab_size, 4);
}

#[test]
fn key_in_the_wrong_section_names_the_right_one() {
    check(
        r#"{ "editor": { "autosave": "off" } }"#,
        &["settings.json:1:15: \"autosave\" belongs inside \"files\": { … }"],
    );
}

#[test]
fn whole_numbers_are_whole() {
    check(
        r#"{ "editor": { "tab_size": 2.5 } }"#,
        &["settings.json:1:27: editor.tab_size: expected a whole number, found 2.5"],
    );
}

#[test]
fn nothing_is_no_mistake() {
    for text in ["", "  \n", "// nothing\n", "{}", "{ \"$schema\": \"x\" }"] {
        assert_eq!(check(text, &[]), Settings::builtin());
    }
    check(
        "[]",
        &["settings.json:1:1: settings are an object { … }, found a list"],
    );
}

#[test]
fn the_last_good_values_stay() {
    let mut store = SettingsStore::new();
    store.set_layer(
        SettingsSource::User,
        "settings.json",
        r#"{ "editor": { "tab_size": 7 }, "files": { "autosave": "after_delay" } }"#,
    );
    assert_eq!(store.settings().editor.tab_size, 7);

    store.set_layer(
        SettingsSource::User,
        "settings.json",
        r#"{ "editor": { "tab_size": 7 "#,
    );
    assert_eq!(
        store.settings().editor.tab_size,
        7,
        "a syntax error keeps everything"
    );
    assert_eq!(store.problems().count(), 1);
    assert!(
        store
            .problems()
            .all(|problem| problem.message.contains("last good settings stay"))
    );

    store.set_layer(
        SettingsSource::User,
        "settings.json",
        r#"{ "editor": { "tab_size": 99 } }"#,
    );
    assert_eq!(
        store.settings().editor.tab_size,
        7,
        "a bad value keeps that value"
    );
    assert_eq!(
        store.settings().files.autosave,
        Autosave::Off,
        "what was taken out is gone"
    );

    store.set_layer(SettingsSource::User, "settings.json", "{}");
    assert_eq!(store.settings().editor.tab_size, 4);
    assert_eq!(store.problems().count(), 0);
}

#[test]
fn project_cannot_set_user_only_keys() {
    let text = r#"{
  "editor": { "tab_size": 2, "font_size": 40 },
  "files": { "autosave": "after_delay", "exclude": ["x"] },
  "theme": { "mode": "light" },
  "languages": { "Rust": { "font_family": "Comic", "tab_size": 3 } },
  "search": { "context_lines": 3, "second_look": "stranger/model" }
}"#;
    let (settings, problems) = parse(&[(SettingsSource::Project, ".burin/settings.json", text)]);
    let mut expected = Settings::builtin();
    expected.editor.tab_size = 2;
    for editor in expected.languages.values_mut() {
        if editor.tab_size == 4 {
            editor.tab_size = 2;
        }
    }
    expected.files.exclude = vec!["x".to_owned()];
    expected.search.context_lines = 3;
    let mut rust = expected.editor.clone();
    rust.tab_size = 3;
    expected.languages.insert("Rust".to_owned(), rust);
    assert_eq!(settings, expected);
    let told: Vec<(u32, u32)> = problems
        .iter()
        .map(|problem| (problem.line, problem.column))
        .collect();
    assert_eq!(told, [(2, 30), (3, 14), (4, 14), (5, 28), (6, 35)]);
    assert!(
        problems
            .iter()
            .all(|problem| problem.message.contains("your own settings"))
    );
}

/// Checks which of some keys a problem of a text leaves out.
fn check_left_out(text: &str, expected: &[&str]) {
    let mut store = SettingsStore::new();
    store.set_layer(SettingsSource::User, "settings.json", text);
    let keys = [
        "lsp.check_landings",
        "lsp",
        "editor.tab_size",
        "languages.*.tab_size",
    ];
    let found = keys.into_iter().filter(|key| {
        let path: Vec<&str> = key.split('.').collect();
        assert!(store.problem_at(SettingsSource::Project, &path).is_none());
        store.problem_at(SettingsSource::User, &path).is_some()
    });
    assert_eq!(found.collect::<Vec<_>>(), expected, "{text}");
}

#[test]
fn a_problem_names_what_it_leaves_out() {
    let all = [
        "lsp.check_landings",
        "lsp",
        "editor.tab_size",
        "languages.*.tab_size",
    ];
    let section = ["lsp.check_landings", "lsp"];
    check_left_out("", &[]);
    check_left_out(r#"{ "lsp": { "check_landings": true }, "x": 1 }"#, &[]);
    check_left_out(r#"{ "lsp": {"#, &all);
    check_left_out("7", &all);
    let mut store = SettingsStore::new();
    store.set_layer(SettingsSource::User, "settings.json", "{");
    let problem = store.problem_at(SettingsSource::User, &["lsp"]);
    let message = problem.expect("a problem").message;
    assert!(!message.contains("last good"), "{message}");
    check_left_out(r#"{ "lsp": true }"#, &section);
    check_left_out(r#"{ "lsp": { "check_landings": "yes" } }"#, &section);
    check_left_out(r#"{ "lsp": { "servers": 7 } }"#, &["lsp"]);
    check_left_out(r#"{ "editor": { "tab_size": {} } }"#, &["editor.tab_size"]);
    let language = r#"{ "languages": { "C": { "tab_size": {} } } }"#;
    check_left_out(language, &["languages.*.tab_size"]);
    check_left_out(r#"{ "languages": { "C": 7 } }"#, &["languages.*.tab_size"]);
}

/// Texts made by damaging the manual: reading never panics, and always gives settings.
#[test]
fn damaged_texts_give_settings() {
    let whole = crate::builtin::DEFAULT_SETTINGS;
    let mut seed: u64 = 0x5eed;
    for _ in 0..300 {
        // A small linear generator is random enough to choose where to cut.
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let at = usize::try_from(seed >> 33).unwrap_or(0) % whole.len();
        let mut start = at;
        while !whole.is_char_boundary(start) {
            start -= 1;
        }
        let wounds = [
            whole[..start].to_owned(),
            format!("{}\"{}", &whole[..start], &whole[start..]),
        ];
        for text in wounds {
            let (settings, _) = parse(&[(SettingsSource::User, "settings.json", &text)]);
            assert!(settings.editor.tab_size > 0, "cut at {at}");
        }
    }
}
