//! Tests `auto` with a provider that only the user's settings define.

use serde_json::{Value, json};

use super::home::Home;

/// Creates a home whose only provider is the user's own, without price and profile tables.
fn home(entry: &Value) -> Home {
    let home = Home::new(&json!([{ "reply": [{ "text": "all done" }] }]));
    for name in ["prices.json", "profiles.json"] {
        std::fs::remove_file(home.path("config/models").join(name)).expect("it is there");
    }
    let mut provider = json!({ "name": "own", "url": home.model.url() });
    for (name, value) in entry.as_object().expect("members") {
        provider[name] = value.clone();
    }
    let settings = json!({ "models": { "providers": [provider] } });
    home.write("config/settings.json", &settings.to_string());
    home
}

#[test]
fn auto_takes_the_only_model_that_the_person_set_up() {
    let keyed = json!({ "wire": "anthropic", "key": "MOCK_KEY", "models": ["m"] });
    let keyless = json!({ "wire": "anthropic", "models": ["m", "n"] });
    for entry in [keyed, keyless] {
        let home = home(&entry);
        let left = home.run(&["run", "do it"]);
        assert_eq!(left.code, Some(0), "{left:?}");
        assert!(left.output.contains("all done"), "{left:?}");
        let asked = home.asked();
        assert_eq!(asked.len(), 1, "{left:?}");
        assert_eq!(asked[0]["model"], "m");
        assert!(!asked[0]["tools"].as_array().expect("tools").is_empty());
    }
}

#[test]
fn auto_says_why_a_provider_of_ones_own_offers_nothing() {
    let left = home(&json!({ "wire": "anthropic", "key": "MOCK_KEY" })).run(&["run", "do it"]);
    assert_ne!(left.code, Some(0), "{left:?}");
    assert!(
        left.errors.contains("\"own\" names no models for auto"),
        "{left:?}"
    );
    let entry = json!({ "wire": "anthropic", "key": "NO_SUCH_KEY", "models": ["m"] });
    let left = home(&entry).run(&["run", "do it"]);
    assert_ne!(left.code, Some(0), "{left:?}");
    assert!(left.errors.contains("\"own\" has no key"), "{left:?}");
    assert!(left.errors.contains("NO_SUCH_KEY"), "{left:?}");
}

#[test]
fn configured_model_works_by_name_and_through_auto() {
    let home = home(&json!({ "wire": "anthropic", "key": "MOCK_KEY" }));
    let left = home.run(&["run", "--model", "own/x", "do it"]);
    assert_eq!(left.code, Some(0), "{left:?}");
    let provider =
        json!({ "name": "own", "wire": "anthropic", "url": home.model.url(), "key": "MOCK_KEY" });
    let settings = json!({ "models": { "providers": [provider], "auto": ["own/y"] } });
    home.write("config/settings.json", &settings.to_string());
    let left = home.run(&["run", "do it"]);
    assert_eq!(left.code, Some(0), "{left:?}");
    assert_eq!(home.asked().last().expect("asked")["model"], "y");
}
