//! Parsing of provider settings, and the reported mistakes.

use crate::{ProviderWire, SettingsSource, parse};

fn read(providers: &str) -> (crate::ModelSettings, Vec<String>) {
    let text = format!("{{ \"models\": {{ \"providers\": {providers} }} }}");
    let (settings, problems) = parse(&[(SettingsSource::User, "settings.json", &text)]);
    let sentences = problems.iter().map(|problem| problem.message.clone());
    (settings.models, sentences.collect())
}

#[test]
fn providers_are_read_with_and_without_a_key() {
    let (models, problems) = read(
        r#"[
            { "name": "desk", "wire": "llama.cpp", "url": "http://127.0.0.1:8080/v1" },
            { "name": "far", "wire": "anthropic", "url": "https://far.example", "key": "FAR_KEY", "models": ["a", "b/c"] },
        ]"#,
    );
    assert_eq!(problems, [] as [String; 0]);
    assert_eq!(models.providers[0].wire, ProviderWire::LlamaCpp);
    assert_eq!(models.providers[0].key, None);
    assert_eq!(models.providers[1].key.as_deref(), Some("FAR_KEY"));
    assert_eq!(models.providers[0].models, [] as [String; 0]);
    assert_eq!(models.providers[1].models, ["a", "b/c"]);
}

#[test]
fn invalid_model_settings_are_reported_in_a_sentence() {
    let cases = [
        (r#"["desk"]"#, "expected an object"),
        (
            r#"[{ "wire": "ollama", "url": "http://a" }]"#,
            "needs a \"name\"",
        ),
        (
            r#"[{ "name": "a", "url": "http://a" }]"#,
            "needs a \"wire\"",
        ),
        (r#"[{ "name": "a", "wire": "ollama" }]"#, "needs a \"url\""),
        (
            r#"[{ "name": "a/b", "wire": "ollama", "url": "http://a" }]"#,
            "before the slash",
        ),
        (
            r#"[{ "name": "a", "wire": "ollama", "url": "a:1" }]"#,
            "is not an address",
        ),
        (
            r#"[{ "name": "a", "wire": "olama", "url": "http://a" }]"#,
            "did you mean \"ollama\"",
        ),
        (
            r#"[{ "nam": "a", "wire": "ollama", "url": "http://a" }]"#,
            "did you mean \"name\"",
        ),
        (
            r#"[{ "name": "a", "wire": "ollama", "url": "http://a", "models": "m" }]"#,
            "\"models\": expected",
        ),
        (
            r#"[{ "name": 3, "wire": "ollama", "url": "http://a" }]"#,
            "\"name\": expected a string",
        ),
    ];
    for (providers, words) in cases {
        let (models, problems) = read(providers);
        assert_eq!(models.providers, [], "{providers}");
        let [sentence] = problems.as_slice() else {
            panic!("{providers}: {problems:?}");
        };
        assert!(sentence.contains(words), "{providers}: {sentence}");
    }
}

#[test]
fn project_cannot_set_the_default_model() {
    let text = r#"{ "models": { "default": "far/model" } }"#;
    let (settings, problems) = parse(&[(SettingsSource::Project, "project", text)]);
    assert_eq!(settings.models.default, "auto");
    assert_eq!(problems.len(), 1);
}
