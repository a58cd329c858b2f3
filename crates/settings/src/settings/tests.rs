//! The struct, the manual and the hints agree.

use std::collections::BTreeSet;

use crate::builtin::DEFAULT_SETTINGS;
use crate::document;
use crate::problem::SourceText;
use crate::{Settings, SettingsSource, parse};

#[test]
fn the_manual_names_every_key_and_nothing_else() {
    let origin = SourceText::new("default.json", DEFAULT_SETTINGS);
    let root = document::parse(&origin).unwrap().unwrap();
    let mut written = BTreeSet::new();
    for section in root
        .as_object()
        .unwrap()
        .iter()
        .filter(|section| section.key != "languages")
    {
        for member in section.value.as_object().unwrap() {
            let fresh = written.insert(format!("{}.{}", section.key, member.key));
            assert!(fresh, "{}.{} is written twice", section.key, member.key);
        }
    }
    let known: BTreeSet<String> = Settings::keys()
        .map(|info| format!("{}.{}", info.section, info.name))
        .collect();
    assert_eq!(written, known);
}

#[test]
fn the_manual_gives_the_defaults() {
    let (settings, problems) = parse(&[]);
    assert_eq!(problems, []);
    let general = Settings {
        languages: std::collections::BTreeMap::new(),
        ..settings
    };
    assert_eq!(general, Settings::default());
}

#[test]
fn every_key_of_the_manual_has_a_comment_above_it() {
    let sections = DEFAULT_SETTINGS.split("\"languages\"").next().unwrap();
    let mut above = "";
    for line in sections.lines().map(str::trim) {
        let is_comment = above.starts_with("//");
        assert!(
            !line.starts_with('"') || is_comment,
            "no comment above {line}"
        );
        above = line;
    }
    assert!(Settings::keys().all(|info| info.doc.ends_with('.') && info.doc.len() > 8));
}

#[test]
fn languages_have_their_own() {
    let settings = Settings::builtin();
    assert!(settings.for_language(Some("Go")).hard_tabs);
    assert!(!settings.for_language(Some("Rust")).hard_tabs);
    assert!(!settings.for_language(None).hard_tabs);
    let (settings, _) = parse(&[
        (
            SettingsSource::User,
            "settings.json",
            r#"{ "languages": { "Go": { "tab_size": 8 } } }"#,
        ),
        (
            SettingsSource::Project,
            "project",
            r#"{ "editor": { "tab_size": 3 } }"#,
        ),
    ]);
    assert_eq!(
        settings.for_language(Some("Go")).tab_size,
        8,
        "a language's own value wins"
    );
    assert!(settings.for_language(Some("Go")).hard_tabs);
    assert_eq!(settings.for_language(Some("Rust")).tab_size, 3);
}
