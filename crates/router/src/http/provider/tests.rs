//! Tests of provider configurations.

use serde_json::json;

use super::*;

fn own(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

#[test]
fn built_in_providers_are_valid() {
    let (providers, problems) = Providers::builtin();
    assert_eq!(problems, Vec::<String>::new());
    let ids: Vec<&str> = providers.all.keys().map(String::as_str).collect();
    let expected = [
        "anthropic",
        "deepseek",
        "gemini",
        "groq",
        "inception",
        "llama.cpp",
        "lmstudio",
        "mistral",
        "ollama",
        "openai",
        "openrouter",
        "vllm",
        "xai",
    ];
    assert_eq!(ids, expected);
    for (id, config) in &providers.all {
        let options = crate::wire::WireOptions::layered([&config.options]);
        assert!(options.is_ok(), "{id}: {options:?}");
        assert!(
            config.url(&EndpointPath::Base("x".to_owned())).is_ok(),
            "{id}"
        );
        assert!(!config.key_env.is_empty(), "{id}");
        assert_eq!(config.needs_key, !is_loopback(config.host()), "{id}");
        assert_eq!(config.probe.is_some(), is_loopback(config.host()), "{id}");
    }
    assert!(
        providers
            .key_variables()
            .contains(&"ANTHROPIC_API_KEY".to_owned())
    );
    for format in [
        "qwen",
        "starcoder",
        "code_llama",
        "deepseek_coder",
        "codestral",
        "glm",
        "granite",
        "mellum",
    ] {
        assert!(providers.template(format).is_some(), "{format}");
    }
}

#[test]
fn user_providers() {
    let (mut providers, _) = Providers::builtin();
    let problems = providers.add(&own(json!({
        "ollama": { "base_url": "http://127.0.0.1:9999/v1" },
        "work": { "wire": "chat", "dialect": "vllm", "base_url": "https://models.work.example/v1", "key": [{ "environment": "WORK_KEY" }] },
        "bare": { "wire": "chat" },
        "odd": { "wire": "telegraph", "base_url": "x" },
        "lost": { "wire": "chat", "base_url": "https://x", "dialect": "klingon" },
        "typo": { "wire": "chat", "base_url": "https://x", "kei": [{ "value": "sk-canary" }] },
        "leak": { "wire": "chat", "base_url": "https://x", "needs_key": "sk-canary" },
        "flat": 3,
    })));
    let text = problems.join("\n");
    assert_eq!(problems.len(), 6, "{text}");
    for word in ["bare", "base_url", "odd", "lost", "klingon", "typo", "flat"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(!text.contains("sk-canary"), "{text}");
    let ollama = &providers.all["ollama"];
    assert_eq!(
        (ollama.name.as_str(), ollama.host()),
        ("Ollama", "127.0.0.1:9999")
    );
    assert!(providers.key_variables().contains(&"WORK_KEY".to_owned()));
    assert_eq!(providers.all["work"].name, "work");
}

#[test]
fn addresses() {
    let (mut providers, _) = Providers::builtin();
    providers.apply_environment(|name| match name {
        "ANTHROPIC_BASE_URL" => Some("http://127.0.0.1:7000/".to_owned()),
        "OLLAMA_HOST" => Some("0.0.0.0:4000".to_owned()),
        "OPENAI_BASE_URL" => Some(" ".to_owned()),
        _ => None,
    });
    let url = |id: &str, path: EndpointPath| providers.all[id].url(&path).expect("an address");
    let root = |path: &str| EndpointPath::Root(path.to_owned());
    let base = |path: &str| EndpointPath::Base(path.to_owned());
    assert_eq!(
        url("anthropic", root("v1/messages")),
        "http://127.0.0.1:7000/v1/messages"
    );
    assert_eq!(
        url("ollama", base("chat/completions")),
        "http://127.0.0.1:4000/v1/chat/completions"
    );
    assert_eq!(
        url("ollama", root("api/generate")),
        "http://127.0.0.1:4000/api/generate"
    );
    assert_eq!(
        url("openai", base("responses")),
        "https://api.openai.com/v1/responses"
    );
    assert_eq!(
        url("deepseek", root("beta/completions")),
        "https://api.deepseek.com/beta/completions"
    );
}

#[test]
fn plain_http_stays_on_this_machine() {
    let (mut providers, _) = Providers::builtin();
    let problems = providers.add(&own(json!({
        "far": { "wire": "chat", "base_url": "http://10.0.0.7:8000/v1" },
        "allowed": { "wire": "chat", "base_url": "http://10.0.0.7:8000/v1", "allow_plain_http": true },
        "file": { "wire": "chat", "base_url": "file:///etc", "allow_plain_http": true },
    })));
    assert_eq!(problems, Vec::<String>::new());
    let url = |id: &str| providers.all[id].url(&EndpointPath::Base("x".to_owned()));
    let failure = url("far").expect_err("plain");
    assert!(failure.message.contains("allow_plain_http"), "{failure}");
    assert!(url("allowed").is_ok());
    assert!(url("file").is_err());
}

#[test]
fn keyless_server_does_not_query_the_keychain() {
    let (providers, _) = Providers::builtin();
    let has_keychain = |id: &str| {
        let sources = providers.all[id].key_sources();
        sources
            .iter()
            .any(|source| matches!(source, KeySource::Keychain))
    };
    assert!(has_keychain("anthropic"));
    assert!(!has_keychain("ollama"));
}
