//! One key changes; everything else stays as it was written.

use serde_json::json;

use super::{EditError, add_to_list, remove_from_list, set_key};

fn check(text: &str, path: &[&str], value: serde_json::Value, expected: &str) {
    assert_eq!(
        set_key(text, path, Some(&value)).unwrap(),
        expected,
        "{path:?}"
    );
}

#[test]
fn comments_order_and_spacing_stay() {
    let text = "// mine\n{\n  // how I like it\n  \"editor\": {\n    \"tab_size\": 4, // four\n    \"font_size\": 15,\n  },\n}\n";
    check(
        text,
        &["editor", "tab_size"],
        json!(2),
        &text.replace("\"tab_size\": 4", "\"tab_size\": 2"),
    );
    let added = set_key(text, &["editor", "soft_wrap"], Some(&json!("window"))).unwrap();
    assert!(
        added.contains("\"font_size\": 15,\n    \"soft_wrap\": \"window\""),
        "{added}"
    );
    assert!(
        added.contains("// four") && added.contains("// how I like it"),
        "{added}"
    );
}

#[test]
fn what_is_missing_is_made() {
    check(
        "",
        &["theme", "dark"],
        json!("Ember"),
        "{\n  \"theme\": {\n    \"dark\": \"Ember\"\n  }\n}\n",
    );
    let two = set_key(
        "{}",
        &["languages", "Rust", "rulers"],
        Some(&json!([80, 100])),
    )
    .unwrap();
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&two).unwrap(),
        json!({ "languages": { "Rust": { "rulers": [80, 100] } } })
    );
}

#[test]
fn a_key_can_be_taken_out() {
    let text = "{\n  \"editor\": {\n    \"tab_size\": 4,\n    \"font_size\": 15\n  }\n}\n";
    let out = set_key(text, &["editor", "tab_size"], None).unwrap();
    assert_eq!(out, "{\n  \"editor\": {\n    \"font_size\": 15\n  }\n}\n");
    assert_eq!(
        set_key(text, &["theme", "dark"], None).unwrap(),
        text,
        "nothing to take out"
    );
}

#[test]
fn what_cannot_be_changed_says_why() {
    assert!(matches!(
        set_key("{ \"a\" ", &["b"], Some(&json!(1))),
        Err(EditError::Syntax(_))
    ));
    let error = set_key(
        "{ \"editor\": 3 }",
        &["editor", "tab_size"],
        Some(&json!(1)),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot change the settings file: \"editor\" is not an object"
    );
    assert!(matches!(
        set_key("[1]", &["a"], Some(&json!(1))),
        Err(EditError::NotAnObject(_))
    ));
}

#[test]
fn what_was_set_is_read() {
    let mut text = crate::builtin::DEFAULT_SETTINGS.to_owned();
    text = set_key(&text, &["editor", "tab_size"], Some(&json!(7))).unwrap();
    text = set_key(&text, &["window", "zoom"], Some(&json!(1.5))).unwrap();
    let (settings, problems) =
        crate::parse(&[(crate::SettingsSource::User, "settings.json", &text)]);
    assert_eq!(problems, []);
    assert_eq!(settings.editor.tab_size, 7);
    assert!((settings.window.zoom - 1.5).abs() < f32::EPSILON);
}

#[test]
fn lists_grow_and_shrink_without_losing_comments() {
    let text = "{\n  // mine\n  \"allow\": [\n    // why\n    \"a\", // first\n  ],\n}\n";
    let more = ["a".to_owned(), "b".to_owned()];
    let added = add_to_list(text, &["allow"], &more).unwrap();
    for kept in ["// mine", "// why", "// first", "\"a\"", "\"b\""] {
        assert_eq!(added.matches(kept).count(), 1, "{kept} in {added}");
    }
    let removed = remove_from_list(&added, &["allow"], "b").unwrap().unwrap();
    assert!(
        removed.contains("// why") && !removed.contains("\"b\""),
        "{removed}"
    );
    assert_eq!(remove_from_list(text, &["allow"], "c").unwrap(), None);
    assert_eq!(remove_from_list(text, &["deny"], "c").unwrap(), None);
}

#[test]
fn lists_are_made_where_they_are_missing() {
    let made = add_to_list("", &["projects", "/a b", "allow"], &["x".to_owned()]).unwrap();
    let value: serde_json::Value = serde_json::from_str(&made).unwrap();
    assert_eq!(value, json!({ "projects": { "/a b": { "allow": ["x"] } } }));
}

#[test]
fn lists_in_broken_texts_are_left_alone() {
    let more = ["x".to_owned()];
    assert!(matches!(
        add_to_list("{ \"allow\": [", &["allow"], &more),
        Err(EditError::Syntax(_))
    ));
    assert!(matches!(
        add_to_list("{ \"allow\": 3 }", &["allow"], &more),
        Err(EditError::NotAList(_))
    ));
    assert!(matches!(
        add_to_list("[]", &["allow"], &more),
        Err(EditError::NotAnObject(_))
    ));
}
